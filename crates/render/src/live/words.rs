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
        if !are_plain(&text.as_bytes()[..self.seen], new.as_bytes()) {
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

/// Whether new words mean nothing to the parser where they stand: no marks, no web address, no character reference.
fn are_plain(before: &[u8], new: &[u8]) -> bool {
    let from = before.len().saturating_sub(LONGEST_WORD);
    let begun = before[from..].rsplit(|b| b.is_ascii_whitespace()).next().unwrap_or_default();
    if begun.iter().any(|b| matches!(b, b'@' | b'&'))
        || begun.windows(2).any(|two| two == b"//")
        || has_www(begun)
    {
        return false;
    }
    let mut last = before.last().copied().unwrap_or(b' ');
    new.iter().all(|byte| {
        let between = (last, *byte);
        last = *byte;
        is_plain(*byte)
            && between != (b':', b'/')
            && between != (b'/', b'/')
            && !matches!(between, (b'w' | b'W', b'w' | b'W'))
    })
}

/// Whether a byte means nothing to the parser in the middle of a line.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..
        | b' ' | b',' | b'.' | b';' | b':' | b'\'' | b'"' | b'(' | b')' | b'/' | b'!' | b'?' | b'-' | b'+' | b'=' | b'%' | b'$' | b'#' | b'{' | b'}' | b'^')
}

fn has_www(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|three| three.eq_ignore_ascii_case(b"www"))
}
