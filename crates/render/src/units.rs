//! Text lengths as a browser counts them, in UTF-16 units. Works on bytes, because it runs each time a text grows.

/// The length of a text in UTF-16 units.
pub fn units(text: &str) -> usize {
    // One for each first byte of a character, and one more where four bytes make a surrogate pair.
    text.bytes().map(|b| usize::from(b & 0xC0 != 0x80) + usize::from(b >= 0xF0)).sum()
}

/// The length of the common start of two texts, in bytes and in UTF-16 units.
pub fn common_start(a: &str, b: &str) -> (usize, usize) {
    // In large chunks: the common part may be long.
    let same = a.as_bytes().chunks(64).zip(b.as_bytes().chunks(64)).take_while(|(a, b)| a == b);
    let stretches: usize = same.map(|(stretch, _)| stretch.len()).sum();
    let rest = a.bytes().skip(stretches).zip(b.bytes().skip(stretches));
    let mut bytes = stretches + rest.take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(bytes) {
        bytes -= 1;
    }
    (bytes, units(&a[..bytes]))
}

#[cfg(test)]
mod tests {
    use super::{common_start, units};

    #[test]
    fn a_text_is_as_long_as_a_browser_counts_it() {
        for text in ["", "a", "é", "日本", "🦀", "a\u{301}🦀é\u{10ffff}\u{ffff}\u{7ff}\u{800}"]
        {
            assert_eq!(units(text), text.encode_utf16().count(), "{text:?}");
        }
    }

    #[test]
    fn what_two_texts_share_ends_at_a_character() {
        let long = "🦀".repeat(40);
        assert_eq!(common_start("é", "è"), (0, 0));
        assert_eq!(common_start("one two", "one tree"), (5, 5));
        assert_eq!(common_start(&format!("{long}é"), &format!("{long}è")), (160, 80));
        assert_eq!(common_start(&long, &format!("{long}!")), (160, 80));
    }
}
