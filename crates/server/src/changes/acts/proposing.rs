//! The message that is proposed for a landing or a pull request.

use super::ActPlace;

/// The subject of the only commit, or a title with all of them.
pub fn proposed(title: &str, subjects: &[String]) -> String {
    match subjects {
        [] => title.to_owned(),
        [one] => one.clone(),
        many => {
            let lines: Vec<_> = many.iter().rev().map(|subject| format!("- {subject}")).collect();
            format!("{title}\n\n{}", lines.join("\n"))
        }
    }
}

/// What the branch is for: the session's title, if the branch was named after it or after nothing; else its name.
pub fn title_of(place: &ActPlace, branch: &str) -> String {
    let owner = place.owner.as_ref().filter(|owner| owner.is_named);
    let words = words_of(branch);
    let title = owner.map(|owner| owner.task.trim_end_matches('…').trim());
    match title.filter(|title| is_after(&words, title)) {
        Some(title) => capitalised(title),
        None => words,
    }
}

/// Whether the words of a branch are those of a title, as far as both go; or only random ones.
fn is_after(words: &str, title: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let (words, title) = (letters(words), letters(title));
    let random = words.strip_prefix("work").filter(|random| random.len() == 6);
    let is_random =
        random.is_some_and(|random| random.bytes().all(|letter| letter.is_ascii_hexdigit()));
    let is_same = !words.is_empty() && (title.starts_with(&words) || words.starts_with(&title));
    !title.is_empty() && (is_random || is_same)
}

fn capitalised(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// What a branch is named for.
pub fn words_of(branch: &str) -> String {
    branch.strip_prefix("liminal/").unwrap_or(branch).replace('-', " ")
}

#[cfg(test)]
mod tests {
    use super::{capitalised, is_after};

    #[test]
    fn a_branch_is_named_after_a_title_that_begins_like_it() {
        for (words, title, expected) in [
            ("add a file", "add a file: `a.txt`, then stop", true),
            ("add a file then stop", "Add a file, then", true),
            ("work 1f2e3d", "Fix the loop", true),
            ("worktrees", "Fix the loop", false),
            ("fix", "Mend the loop", false),
            ("fix", "修复", false),
            ("", "Fix", false),
        ] {
            assert_eq!(is_after(words, title), expected, "{words}, {title}");
        }
        assert_eq!(capitalised("ändern"), "Ändern");
    }
}
