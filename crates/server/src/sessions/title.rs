//! A session's title: the first message, one line, about fifty characters, cut at a word.

/// What a session without a message is called.
pub const NEW_SESSION: &str = "New Session";

const ABOUT: usize = 50;

/// The title a first message gives. `None` when it has no words.
pub fn derive(message: &str) -> Option<String> {
    let text = liminal_render::text(message);
    let line = liminal_render::visible(text.lines().map(str::trim).find(|line| !line.is_empty())?);
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut title = String::new();
    for word in &words {
        let longer = title.chars().count() + 1 + word.chars().count();
        if !title.is_empty() && longer > ABOUT {
            title.push('…');
            return Some(title);
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    Some(match title.char_indices().nth(ABOUT) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title,
    })
}

#[cfg(test)]
mod tests {
    use super::derive;

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
    fn a_word_longer_than_a_title_is_cut() {
        assert_eq!(derive(&"é".repeat(80)).map(|title| title.chars().count()), Some(51));
    }
}
