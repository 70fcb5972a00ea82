//! A whole Markdown text to a list of top-level blocks. Owns the options of the parser; `write` writes the tree, `link`
//! decides which addresses become links.

pub(crate) mod link;
pub(crate) mod write;

use std::sync::LazyLock;

use comrak::nodes::NodeValue;
use comrak::{Arena, Node, Options, parse_document};

use crate::escape::{Spell, plain_lines, show_into};
use crate::wall;
use write::Reading;

/// In bytes. A tree takes many times the memory of its text, so a longer text is parsed in windows of this size.
const WINDOW: usize = 256 * 1024;

/// In bytes. Of a longer text, as much of its definitions of link references is known in every window.
const MOST_DEFINITIONS: usize = 16 * 1024;

/// The HTML of each top-level block of a text. Raw HTML appears as text; footnote syntax stays text.
pub fn markdown(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    markdown_into(&mut blocks, text);
    blocks
}

/// The same, for a list that keeps its blocks in another way.
pub fn markdown_into(blocks: &mut impl Extend<String>, text: &str) {
    in_windows(blocks, &plain_lines(text), WINDOW);
}

/// A window ends with a line. Its last block is parsed again with the next window, because it may go on there; nothing
/// before it can change. A block longer than its window gets a larger one.
fn in_windows(blocks: &mut impl Extend<String>, text: &str, window: usize) {
    let mut definitions = String::new();
    if text.len() > window {
        define(&mut definitions, text, MOST_DEFINITIONS);
        // A quoted line right after a definition would be its title.
        definitions.push('\n');
    }
    // The parser counts lines from 1.
    let first_line = line_ends(&definitions).count() + 1;
    let (mut from, mut size) = (0_usize, window);
    loop {
        let end = window_end(text, from.saturating_add(size));
        let part = &text[from..end];
        let arena = Arena::new();
        let source = format!("{definitions}{part}");
        let root = parse(&arena, &source);
        let write = |block| wall::checked(write::block(block, Reading::default()), part).html;
        if end == text.len() {
            blocks.extend(root.children().map(write));
            return;
        }
        let last = root.last_child().map_or(first_line, |block| block.data().sourcepos.start.line);
        let place = start_of_line(part, last.saturating_sub(first_line));
        if place == 0 {
            size *= 2;
            continue;
        }
        let settled = root.children().count() - 1;
        blocks.extend(root.children().take(settled).map(write));
        (from, size) = (from + place, window);
    }
}

/// The end of the line at a place, or of the text.
fn window_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter().position(|&byte| byte == b'\n').map_or(text.len(), |line| at + line + 1)
}

/// Where the lines of a text end, as the parser reads them.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(is_end).map(|at| at + 1)
}

fn start_of_line(text: &str, line: usize) -> usize {
    let Some(before) = line.checked_sub(1) else { return 0 };
    line_ends(text).nth(before).unwrap_or(text.len())
}

/// Adds the definitions of link references in a text, up to a number of bytes.
pub(crate) fn define(definitions: &mut String, text: &str, most: usize) {
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with('[')
            && line.contains("]:")
            && definitions.len() + line.len() < most
            // A line that is not a definition would be visible wherever these are put.
            && parse(&Arena::new(), line).first_child().is_none()
        {
            definitions.push_str(line);
            definitions.push('\n');
        }
    }
}

/// A user's text as it was written: its lines in paragraphs that keep every break and blank. Closed fences and words
/// between backticks are code.
pub fn as_written(text: &str) -> Vec<String> {
    let text = &plain_lines(text);
    let arena = Arena::new();
    let mut lines: Vec<usize> = vec![0];
    lines.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let start_of = |line: usize| lines.get(line).copied().unwrap_or(text.len());
    let mut blocks = Vec::new();
    let mut from = 0;
    for block in parse(&arena, text).children() {
        let is_fence =
            matches!(&block.data().value, NodeValue::CodeBlock(code) if code.fenced && code.closed);
        if is_fence {
            let place = block.data().sourcepos;
            paragraphs(&text[from..start_of(place.start.line - 1)], &mut blocks);
            blocks.push(wall::checked(write::block(block, Reading::default()), text).html);
            from = start_of(place.end.line);
        }
    }
    paragraphs(&text[from..], &mut blocks);
    blocks
}

/// Blank lines around a text are dropped. A very long one becomes several paragraphs, which a page lays out one by one.
fn paragraphs(text: &str, blocks: &mut Vec<String>) {
    const LONG: usize = 8 * 1024;
    let first = text.lines().take_while(|line| line.trim().is_empty()).map(|line| line.len() + 1);
    let mut rest = text.get(first.sum()..).unwrap_or_default().trim_end();
    while !rest.is_empty() {
        let end = rest.get(LONG..).and_then(|_| {
            let near = rest.floor_char_boundary(LONG);
            rest[..near].rfind('\n').or_else(|| Some(near + rest[near..].find('\n')?))
        });
        let (piece, after) = end.map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
        let mut html = String::from("<p>");
        with_code(&mut html, piece);
        html.push_str("</p>");
        blocks.push(html);
        rest = after;
    }
}

/// Writes a text with its code. Backticks that are not clearly around code stay as they are.
fn with_code(html: &mut String, text: &str) {
    let mut rest = text;
    while let Some((before, code, after)) = first_code(rest) {
        show_into(html, before, Spell::Controls);
        html.push_str("<code>");
        show_into(html, code, Spell::Controls);
        html.push_str("</code>");
        rest = after;
    }
    show_into(html, rest, Spell::Controls);
}

/// What stands between two single backticks of a line that are at no letter and at no other backtick on the outside.
fn first_code(text: &str) -> Option<(&str, &str, &str)> {
    let at_word = |c: Option<char>| c.is_some_and(|c| c == '`' || c.is_alphanumeric());
    text.match_indices('`').find_map(|(at, _)| {
        let (before, inside) = (&text[..at], &text[at + 1..]);
        let end = inside.find(['`', '\n'])?;
        let (code, after) = (&inside[..end], inside[end..].strip_prefix('`')?);
        let is_code = !code.is_empty() && code.trim() == code;
        let is_apart = !at_word(before.chars().next_back()) && !at_word(after.chars().next());
        (is_code && is_apart).then_some((before, code, after))
    })
}

pub(crate) fn parse<'a>(arena: &'a Arena<'a>, text: &str) -> Node<'a> {
    parse_document(arena, text, &OPTIONS)
}

/// GitHub's dialect. Footnotes are parsed only to be written as plain text: otherwise `[^1]: word` would be the
/// definition of a link.
static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.parse.leave_footnote_definitions = true;
    options
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::in_windows;

    fn blocks(text: &str, window: usize) -> Vec<String> {
        let mut blocks = Vec::new();
        in_windows(&mut blocks, text, window);
        blocks
    }

    const LINES: [&str; 24] = [
        "word *of* it",
        "another `line`",
        "",
        "   ",
        "- item",
        "  - below",
        "    indented",
        "1. first",
        "3. third",
        "> quoted",
        "```",
        "```rust",
        "~~~",
        "| a | b |",
        "| --- | --- |",
        "# Heading",
        "===",
        "---",
        "<div>",
        "</div>",
        "a\rb",
        "\r",
        "\u{e4}\u{1F600}",
        "\t\ttabs",
    ];

    proptest! {
        #![proptest_config(liminal_hostile::cases(400))]

        #[test]
        fn a_text_in_windows_is_the_same_as_the_whole(
            lines in proptest::collection::vec(0..LINES.len(), 0..40),
            window in 1_usize..60,
        ) {
            let lines: Vec<&str> = lines.into_iter().map(|line| LINES[line]).collect();
            let text = lines.join("\n");
            prop_assert_eq!(blocks(&text, window), blocks(&text, usize::MAX / 2), "{:?}", text);
        }
    }

    #[test]
    fn a_definition_counts_in_every_window() {
        let text = "[a] and [b]\n\n\"no title\"\n\n[b]: https://b.dev\n\n[a]: https://a.dev\n\n[a] again\n";
        assert_eq!(blocks(text, 10), blocks(text, 1_000));
    }
}
