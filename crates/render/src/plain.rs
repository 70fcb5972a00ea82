//! Markdown and terminal output as plain text, for titles and exports.

use comrak::arena_tree::NodeEdge;
use comrak::nodes::NodeValue;
use comrak::{Arena, Node};

use crate::markdown::parse;
use crate::terminal::screen::each_line;

/// Markdown as plain text, without its marks. One line per block, list item and table row.
pub fn text(markdown: &str) -> String {
    let arena = Arena::new();
    let mut plain = String::with_capacity(markdown.len());
    for edge in parse(&arena, markdown).traverse() {
        match edge {
            NodeEdge::Start(node) => match &node.data().value {
                NodeValue::Text(text) => plain.push_str(text),
                NodeValue::Code(code) => plain.push_str(&code.literal),
                NodeValue::HtmlInline(html) => plain.push_str(html),
                NodeValue::FootnoteReference(note) => plain.push_str(&format!("[^{}]", note.name)),
                NodeValue::FootnoteDefinition(note) => {
                    plain.push_str(&format!("[^{}]: ", note.name));
                }
                NodeValue::CodeBlock(code) => plain.push_str(&code.literal),
                NodeValue::HtmlBlock(html) => plain.push_str(&html.literal),
                NodeValue::SoftBreak | NodeValue::LineBreak => plain.push('\n'),
                NodeValue::TableCell if node.previous_sibling().is_some() => plain.push('\t'),
                _ => {}
            },
            NodeEdge::End(node) => match &node.data().value {
                NodeValue::Paragraph
                | NodeValue::Heading(_)
                | NodeValue::TableRow(_)
                | NodeValue::CodeBlock(_)
                | NodeValue::HtmlBlock(_) => end_line(&mut plain),
                _ => {}
            },
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// The last paragraph of a Markdown text, as plain text in one line; one within a list or a quotation only if there is
/// no other. Headings, tables and code are none.
pub fn last_paragraph(markdown: &str) -> Option<String> {
    let arena = Arena::new();
    let root = parse(&arena, markdown);
    let own = root.children().filter_map(paragraph).last();
    own.or_else(|| root.descendants().filter_map(paragraph).last())
}

fn paragraph(node: Node<'_>) -> Option<String> {
    if !matches!(node.data().value, NodeValue::Paragraph) {
        return None;
    }
    let mut plain = String::new();
    for inner in node.descendants() {
        match &inner.data().value {
            NodeValue::Text(text) => plain.push_str(text),
            NodeValue::Code(code) => plain.push_str(&code.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => plain.push(' '),
            _ => {}
        }
    }
    plain.contains(char::is_alphanumeric).then_some(plain)
}

/// Terminal output as plain text: without control sequences, and progress lines in their final state.
pub fn terminal_text(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    each_line(output, |cells| {
        plain.extend(cells.iter().map(|cell| cell.character));
        plain.push('\n');
    });
    plain.truncate(plain.trim_end_matches('\n').len());
    plain
}

fn end_line(plain: &mut String) {
    if !plain.is_empty() && !plain.ends_with('\n') {
        plain.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::last_paragraph;

    #[test]
    fn an_answer_ends_with_its_last_paragraph_whatever_is_around_it() {
        let table = "| a | b |\n|---|---|\n| 1 | 2 |";
        for (text, last) in [
            (format!("# Sums\n\nTwo\n**files** in `a`.\n\n{table}"), Some("Two files in a.")),
            (format!("First.\n\n{table}\n\nLast.\n\n```\ncode\n```\n"), Some("Last.")),
            ("Changed:\n\n- one\n- two".to_owned(), Some("Changed:")),
            ("- one\n- two".to_owned(), Some("two")),
            (format!("# Sums\n\n{table}\n\n---"), None),
            ("Done.\n\n…".to_owned(), Some("Done.")),
        ] {
            assert_eq!(last_paragraph(&text).as_deref(), last, "{text}");
        }
    }
}
