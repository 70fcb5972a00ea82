//! Code to HTML with a dozen classes. Owns the frame of a code block, and decides when colours are worth their cost;
//! `colour` assigns classes to words, `language` finds a grammar by name.

pub(crate) mod colour;
mod language;

use crate::PLAIN_ABOVE;
use crate::escape::{Spell, plain_lines, show_into};

/// A code block as HTML. An unknown language, or very long code, is plain.
pub fn code(text: &str, language: &str) -> String {
    let mut html = String::new();
    write(&mut html, &plain_lines(text), language, UpTo(PLAIN_ABOVE));
    html
}

/// Code up to this many bytes gets colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UpTo(pub usize);

/// Appends a code block: a frame with the language in `data-lang`, and the code in it.
pub(crate) fn write(html: &mut String, text: &str, language: &str, colours: UpTo) {
    open(html, language);
    let coloured = text.len() <= colours.0 && colour::write(html, text, language);
    if !coloured {
        show_into(html, text, Spell::Bidi);
    }
    html.push_str(CLOSE);
}

pub(crate) const CLOSE: &str = "</code></pre></div>";

pub(crate) fn open(html: &mut String, language: &str) {
    html.push_str("<div class=\"code\"");
    let label: String = language
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .filter(|c| c.is_ascii_alphanumeric() || "+#._-".contains(*c))
        .take(32)
        .collect();
    if !label.is_empty() {
        html.push_str(" data-lang=\"");
        html.push_str(&label);
        html.push('"');
    }
    html.push_str("><pre><code>");
}

/// The language of a file: its extension, or its name if that has none.
pub(crate) fn language_of_file(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name)
}

/// The language in the info string of a fence: its first word, without attributes.
pub(crate) fn language_of(info: &str) -> &str {
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':'))
        .next()
        .unwrap_or_default()
}
