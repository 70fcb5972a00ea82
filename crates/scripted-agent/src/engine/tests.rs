use super::{chop, words};

#[test]
fn text_is_chopped_at_characters_and_nothing_is_lost() {
    assert_eq!(chop("abcdefg", 3), ["abc", "def", "g"]);
    assert_eq!(chop("äöü", 2), ["äö", "ü"]);
    assert_eq!(chop("ab", 0), ["a", "b"]);
    assert_eq!(chop("", 3), Vec::<&str>::new());
}

#[test]
fn words_keep_the_space_behind_them() {
    assert_eq!(words("one two\n\nthree "), ["one ", "two\n\n", "three "]);
    assert_eq!(words("  lead"), ["  ", "lead"]);
    assert_eq!(words(""), Vec::<&str>::new());
    let text = include_str!("../demo/texts/long.md");
    assert_eq!(words(text).concat(), text);
}
