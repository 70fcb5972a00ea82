//! Halves of characters in JSON. A JavaScript program that cuts a text in the middle of an emoji writes the half that
//! is left as an escape, such as `\ud83c`. No Rust string can hold that, so `serde_json` rejects the whole line.
//!
//! Knows only escapes, not JSON: other damage is left to the parser.

use memchr::memmem::Finder;

/// The bytes of `\uXXXX`.
const LENGTH: usize = 6;

/// Replaces each half by U+FFFD, in place. Whole characters stay as they are, and so does text that only looks like an
/// escape, such as `\\ud83c`.
pub fn mend(json: &mut [u8]) {
    let escape = Finder::new(br"\u");
    let mut from = 0;
    while let Some(at) = escape.find(&json[from..]).map(|at| from + at) {
        from = at + 2;
        let Some(which) = half(&json[at..]).filter(|_| !is_escaped(json, at)) else { continue };
        if which == Half::First && half(&json[at + LENGTH..]) == Some(Half::Second) {
            from = at + 2 * LENGTH;
        } else {
            json[at..at + LENGTH].copy_from_slice(br"\ufffd");
        }
    }
}

#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Which half the escape at the beginning of this text is.
fn half(text: &[u8]) -> Option<Half> {
    match text {
        [b'\\', b'u', b'd' | b'D', which, a, b, ..]
            if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() =>
        {
            match which {
                b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Half::First),
                b'c'..=b'f' | b'C'..=b'F' => Some(Half::Second),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the backslash at `at` is the second of a pair, which stands for one backslash.
fn is_escaped(json: &[u8], at: usize) -> bool {
    json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests;
