//! Comments on lines: where those lines are now, and the message that the agent gets.

use std::fmt::Write;

use liminal_contract::{Comment, DiffSide, MovedComment};
use liminal_git::Repository;

/// The comments whose lines are no longer where they were. Removed lines have no place in the present files.
pub async fn moved(repository: &Repository, comments: &[Comment]) -> Vec<MovedComment> {
    let mut moved = Vec::new();
    for comment in comments.iter().filter(|comment| comment.side == DiffSide::New) {
        let text = repository.text_now(&comment.path).await.unwrap_or_default();
        match place(&text, comment) {
            Place::AsWritten => {}
            Place::At(line) => {
                moved.push(MovedComment { id: comment.id.clone(), line: Some(line) });
            }
            Place::Gone => moved.push(MovedComment { id: comment.id.clone(), line: None }),
        }
    }
    moved
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    AsWritten,
    At(u32),
    Gone,
}

/// Where the lines of a comment are in this text: the nearest place that has them all.
fn place(text: &str, comment: &Comment) -> Place {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = comment.snippet.lines().collect();
    let first = comment.lines[0] as usize;
    let is_here = |at: usize| lines.get(at - 1..at - 1 + wanted.len()) == Some(&wanted[..]);
    if wanted.is_empty() || first == 0 || is_here(first) {
        return Place::AsWritten;
    }
    let found = (1..=lines.len()).filter(|&at| is_here(at)).min_by_key(|at| at.abs_diff(first));
    found.map_or(Place::Gone, |at| Place::At(u32::try_from(at).unwrap_or(u32::MAX)))
}

/// All comments as one message, by file, in Markdown.
pub fn message(comments: &[Comment]) -> String {
    let mut message = match comments {
        [_] => "A comment on the changes:".to_owned(),
        _ => "Comments on the changes:".to_owned(),
    };
    let mut by_place: Vec<&Comment> = comments.iter().collect();
    by_place.sort_by(|one, other| (&one.path, one.lines).cmp(&(&other.path, other.lines)));
    for Comment { path, side, lines: [first, last], snippet, text, .. } in by_place {
        let which = match (side, first == last) {
            (DiffSide::New, true) => format!("line {first}"),
            (DiffSide::New, false) => format!("lines {first}-{last}"),
            (DiffSide::Old, true) => format!("removed line {first}"),
            (DiffSide::Old, false) => format!("removed lines {first}-{last}"),
        };
        let fence = fence(snippet);
        let snippet = snippet.trim_end_matches('\n');
        let _a_string_never_fails =
            write!(message, "\n\n`{path}`, {which}:\n\n{fence}\n{snippet}\n{fence}\n\n{text}");
    }
    message
}

/// Longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(path: &str, side: DiffSide, lines: [u32; 2], snippet: &str) -> Comment {
        let (path, snippet) = (path.to_owned(), snippet.to_owned());
        Comment { id: "c".to_owned(), path, side, lines, snippet, text: "Why?".to_owned() }
    }

    #[test]
    fn lines_are_found_where_they_are_now() {
        let about = comment("a", DiffSide::New, [2, 3], "b\nc");
        assert_eq!(place("a\nb\nc\n", &about), Place::AsWritten);
        assert_eq!(place("new\na\nb\nc\n", &about), Place::At(3));
        assert_eq!(place("b\nc\nx\nb\nc\n", &about), Place::At(1), "the nearest, the first of two");
        assert_eq!(place("a\nb\nd\n", &about), Place::Gone);
        assert_eq!(place("", &about), Place::Gone);
    }

    #[test]
    fn the_message_names_file_and_lines_and_quotes_them() {
        let two = [
            comment("b.md", DiffSide::Old, [7, 7], "```"),
            comment("a.rs", DiffSide::New, [2, 3], "b\nc\n"),
        ];
        let expected = "Comments on the changes:\n\n`a.rs`, lines 2-3:\n\n```\nb\nc\n```\n\nWhy?\n\n\
                        `b.md`, removed line 7:\n\n````\n```\n````\n\nWhy?";
        assert_eq!(message(&two), expected);
    }
}
