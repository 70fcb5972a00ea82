//! Markdown and terminal output as plain text, for titles and exports.

use comrak::Arena;
use comrak::arena_tree::NodeEdge;
use comrak::nodes::NodeValue;

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
