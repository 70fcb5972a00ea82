//! A session's title: the first line of its first message, cut at a word after about fifty characters.

pub const NEW_SESSION: &str = "New Session";

const ABOUT: usize = 50;

/// As long as the subject of a commit may be.
const SUBJECT: usize = 72;

/// A title without marks of Markdown. Those from elsewhere may have some.
pub fn plain(title: &str) -> String {
    let text = liminal_render::text(title);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| title.to_owned(), str::to_owned)
}

/// The title from a first message. `None` if it has no words.
pub fn derive(message: &str) -> Option<String> {
    first_line(message, ABOUT)
}

/// The subject of a commit that does what a first message asks for.
pub fn subject(message: &str) -> Option<String> {
    first_line(message, SUBJECT).map(|line| line.trim_end_matches('…').to_owned())
}

/// Cut at a word after about so many characters.
fn first_line(message: &str, about: usize) -> Option<String> {
    let text = liminal_render::text(message);
    let line = liminal_render::visible(text.lines().map(str::trim).find(|line| !line.is_empty())?);
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut title = String::new();
    for word in &words {
        let longer = title.chars().count() + 1 + word.chars().count();
        if !title.is_empty() && longer > about {
            title.push('…');
            return Some(title);
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    Some(match cut(&title, about) {
        Some(start) => format!("{start}…"),
        None => title,
    })
}

/// The start of a title that is one long word, cut where no character continues the one before it.
fn cut(title: &str, about: usize) -> Option<&str> {
    let chars: Vec<(usize, char)> = title.char_indices().collect();
    let continues = |n: usize| {
        let joins = |c: char| matches!(c, '\u{200C}' | '\u{200D}');
        joins(chars[n].1)
            || joins(chars[n - 1].1)
            || matches!(chars[n].1, '\u{FE0E}' | '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{0300}'..='\u{036F}')
    };
    let mut at = chars.get(about).map(|_| about)?;
    while at > 1 && continues(at) {
        at -= 1;
    }
    Some(&title[..chars[at].0])
}

#[cfg(test)]
mod tests {
    use super::{derive, plain, subject};

    #[test]
    fn a_title_is_the_first_line_cut_at_a_word() {
        let cases = [
            ("Fix the bug", Some("Fix the bug")),
            ("\n\n  Fix   the bug \nand then", Some("Fix the bug")),
            (
                "Payments that hit the ten second gateway timeout are lost, retry them",
                Some("Payments that hit the ten second gateway timeout…"),
            ),
            ("   ", None),
        ];
        for (message, title) in cases {
            assert_eq!(derive(message).as_deref(), title, "{message:?}");
        }
    }

    #[test]
    fn a_subject_has_more_of_the_line_and_ends_with_a_word() {
        let long =
            "Payments that hit the ten second gateway timeout are lost, retry them for an hour";
        let cut = "Payments that hit the ten second gateway timeout are lost, retry them";
        for (message, expected) in [(long, cut), (cut, cut), ("Fix it.\nNow", "Fix it.")] {
            assert_eq!(subject(message).as_deref(), Some(expected), "{message:?}");
        }
    }

    #[test]
    fn emoji_and_scripts_that_need_joiners_keep_them_and_are_not_cut_apart() {
        let family = "👩‍👩‍👧‍👦";
        let persian = "می‌خواهم";
        assert_eq!(derive(&format!("{family} {persian}")), Some(format!("{family} {persian}")));
        assert_eq!(derive(&family.repeat(20)), Some(format!("{}…", family.repeat(7))));
        assert_eq!(derive("a\u{200D}b").as_deref(), Some("a\\u{200D}b"));
    }

    #[test]
    fn a_title_is_named_without_its_marks() {
        assert_eq!(plain("**Fix** the `loop`."), "Fix the loop.");
        assert_eq!(plain("Fix 2 * 3"), "Fix 2 * 3");
        assert_eq!(plain("***"), "***");
    }

    #[test]
    fn a_word_longer_than_a_title_is_cut() {
        assert_eq!(derive(&"é".repeat(80)).map(|title| title.chars().count()), Some(51));
    }
}
