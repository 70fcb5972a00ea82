//! The demo's texts are wrapped in their files; an answer must not be, because line breaks are shown.

/// The text with every paragraph and list item on one line. Code, tables and quotes stay as they are.
pub(super) fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    let mut flows = false;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let is_fence = words.starts_with("```");
        let starts_block = words.starts_with(['#', '|', '>', '-']) || is_numbered(words);
        let is_prose = !is_code && !is_fence && !words.is_empty();
        if flows && is_prose && !starts_block {
            out.truncate(out.trim_end().len());
            out.push(' ');
            out.push_str(line.trim_start());
        } else {
            out.push_str(line);
        }
        flows = is_prose && !words.starts_with(['#', '|', '>']);
        is_code ^= is_fence;
    }
    out
}

fn is_numbered(words: &str) -> bool {
    words.split_once(". ").is_some_and(|(n, _)| n.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn only_the_lines_of_a_paragraph_or_an_item_are_joined() {
    assert_eq!(
        unwrapped(
            "# One\nTwo\nthree.\n\n- four\n  five\n- six\n1. seven\n\n```\na\nb\n```\n| x |\n| y |\n"
        ),
        "# One\nTwo three.\n\n- four five\n- six\n1. seven\n\n```\na\nb\n```\n| x |\n| y |\n"
    );
}
