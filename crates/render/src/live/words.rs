//! Plain words at the end of a text: appended as they are, without reading anything again.

use super::{Change, Renderer};
use crate::escape::{Spell, show_into};

/// How far back the start of the last word is looked for.
const LONGEST_WORD: usize = 200;

impl Renderer {
    /// Appends what is new, if it is nothing but words and the place for them is known.
    pub(super) fn append_words(&mut self, text: &str) -> Option<Change> {
        let end = self.end?;
        let new = &text[self.seen..];
        if !new.bytes().all(is_plain) || is_address(&text.as_bytes()[..self.seen], new.as_bytes()) {
            return None;
        }
        let last = self.blocks.len().checked_sub(1)?;
        let mut html = String::with_capacity(new.len());
        show_into(&mut html, new, Spell::Controls);
        self.blocks[last].insert_str(end.bytes, &html);
        self.end = Some(end.after(&html));
        Some(Change { blocks_from: last, keep: end.units, keep_bytes: end.bytes })
    }
}

/// Whether a byte means nothing to the parser in the middle of a line.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..
        | b' ' | b',' | b'.' | b';' | b'\'' | b'"' | b'(' | b')' | b'!' | b'?' | b'-' | b'+' | b'=' | b'%' | b'$' | b'#' | b'{' | b'}' | b'^')
}

/// Whether the word that goes on, or one of those that come, is or may become a web address or a character reference.
fn is_address(before: &[u8], new: &[u8]) -> bool {
    let from = before.len().saturating_sub(LONGEST_WORD);
    let begun = before[from..].rsplit(|b| b.is_ascii_whitespace()).next().unwrap_or_default();
    begun.iter().any(|b| matches!(b, b':' | b'@' | b'&'))
        || has_www(begun)
        || has_www(new)
        || begun.last().is_some_and(|b| matches!(b, b'w' | b'W')) && new.starts_with(b"w")
}

fn has_www(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|window| window.eq_ignore_ascii_case(b"www"))
}
