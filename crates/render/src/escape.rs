//! Escaping for HTML, and for readers whom invisible characters could deceive. Knows nothing about Markdown.

use std::borrow::Cow;

/// Text as HTML text or attribute value. Every other function in this crate that writes text uses this.
pub(crate) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    escape_into(&mut html, text);
    html
}

/// Text with every character that hides or reorders others spelled out, such as `\u{202E}`: bidi controls, zero-width
/// characters, control characters. Plain text, **not** HTML: for titles, commands, paths, and everything that needs the
/// user's permission. Tabs and line ends stay, including `\r\n`, and joiners where a script or an emoji needs them.
pub fn visible(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str().chars().next();
        let ends_line = c == '\r' && after == Some('\n');
        let hides = is_control(c) || is_bidi(c) || is_zero_width(c) || is_reserved(c);
        if hides && !ends_line && !joins(plain.chars().next_back(), c, after) {
            spell(&mut plain, c)
        } else {
            plain.push(c)
        }
    }
    plain
}

/// Whether an invisible character changes how its neighbours look, as their script or an emoji needs it.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{200C}' => needs_joiners(before) && after.is_some_and(needs_joiners),
        '\u{200D}' => {
            let in_script = needs_joiners(before) && after.is_some_and(needs_joiners);
            let in_emoji = is_emoji(before) || before == '\u{FE0F}';
            in_script || in_emoji && after.is_some_and(is_emoji)
        }
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(before) || matches!(before, '0'..='9' | '#' | '*'),
        _ => false,
    }
}

/// Letters of scripts in which joiners choose between forms: Arabic, Syriac, N'Ko, those of India and its neighbours,
/// Tibetan, Myanmar, Khmer, Mongolian.
fn needs_joiners(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}' | '\u{0F00}'..='\u{109F}'
        | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{17FF}' | '\u{1820}'..='\u{18AF}'
        | '\u{A840}'..='\u{A87F}' | '\u{FB50}'..='\u{FDCF}')
        && !is_bidi(c)
        && c.is_alphabetic()
        || is_virama(c)
}

fn is_virama(c: char) -> bool {
    matches!(
        c,
        '\u{094D}'
            | '\u{09CD}'
            | '\u{0A4D}'
            | '\u{0ACD}'
            | '\u{0B4D}'
            | '\u{0BCD}'
            | '\u{0C4D}'
            | '\u{0CCD}'
            | '\u{0D4D}'
            | '\u{0DCA}'
            | '\u{1039}'
            | '\u{103A}'
            | '\u{17D2}'
    )
}

/// Characters that may be shown as pictures.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{00A9}' | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{2460}'..='\u{24FF}'
        | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// As [`escape`], appended. A non-breaking space becomes a reference, because a parser would serialise it like that.
pub(crate) fn escape_into(html: &mut String, text: &str) {
    write_into(html, text, Place::Attribute);
}

/// As [`escape_into`] for text between tags, where quotation marks need no escaping.
pub(crate) fn escape_text_into(html: &mut String, text: &str) {
    write_into(html, text, Place::Text);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Attribute,
    Text,
}

fn write_into(html: &mut String, text: &str, place: Place) {
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let (reference, width) = match byte {
            b'&' => ("&amp;", 1),
            b'<' => ("&lt;", 1),
            b'>' => ("&gt;", 1),
            b'"' if place == Place::Attribute => ("&quot;", 1),
            0xC2 if text.as_bytes().get(at + 1) == Some(&0xA0) => ("&nbsp;", 2),
            _ => continue,
        };
        html.push_str(&text[plain_from..at]);
        html.push_str(reference);
        plain_from = at + width;
    }
    html.push_str(&text[plain_from..]);
}

/// Which characters of a text are spelled out before it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spell {
    /// Control characters: prose, where a right-to-left language may need its marks.
    Controls,
    /// Also bidi controls: code, where they can make a line read as another.
    Bidi,
}

/// Text between tags, with the characters that `spell` names spelled out.
pub(crate) fn show_into(html: &mut String, text: &str, spell_out: Spell) {
    let deceives =
        |c: char| is_control(c) || is_reserved(c) || (spell_out == Spell::Bidi && is_bidi(c));
    // Most text has nothing to spell out. A scan of bytes finds out: a C0 control or DEL, or the first byte of the two-
    // or three-byte sequences of the others (C1: C2; ALM: D8; the rest: E2, EF).
    let suspect = |b: u8| matches!(b, 0..=8 | 0x0B..=0x1F | 0x7F | 0xC2 | 0xD8 | 0xE2 | 0xEF);
    if !text.bytes().any(suspect) {
        return escape_text_into(html, text);
    }
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| deceives(*c)) {
        escape_text_into(html, &rest[..at]);
        if is_reserved(c) {
            html.push(char::REPLACEMENT_CHARACTER)
        } else {
            spell(html, c)
        }
        rest = &rest[at + c.len_utf8()..];
    }
    escape_text_into(html, rest);
}

/// Text with `\n` as the only line end. A carriage return that ends no line stays, to be spelled out.
pub(crate) fn plain_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Three noncharacters that never get from an agent's text into our HTML, so that the renderer can use them as markers.
/// They are as long as the replacement character, in UTF-8 and in UTF-16.
pub(crate) fn is_reserved(c: char) -> bool {
    matches!(c, '\u{FDD0}'..='\u{FDD2}')
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200D}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

fn spell(out: &mut String, c: char) {
    out.push_str(&format!("\\u{{{:04X}}}", c as u32));
}
