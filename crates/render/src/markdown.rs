//! A whole Markdown text to a list of top-level blocks. Owns how GFM is read; how its tree is written is `write`, which
//! addresses may be followed is `link`.

pub(crate) mod link;
pub(crate) mod write;

use std::sync::LazyLock;

use comrak::{Arena, Node, Options, parse_document};

use crate::escape::plain_lines;
use crate::wall;
use write::Reading;

/// The HTML of each top-level block of a text. Raw HTML appears as text; footnote syntax stays text.
pub fn markdown(text: &str) -> Vec<String> {
    let text = &plain_lines(text);
    let arena = Arena::new();
    let root = parse(&arena, text);
    root.children()
        .map(|block| wall::checked(write::block(block, Reading::default()), text).html)
        .collect()
}

/// The tree of a text.
pub(crate) fn parse<'a>(arena: &'a Arena<'a>, text: &str) -> Node<'a> {
    parse_document(arena, text, &OPTIONS)
}

/// GitHub's dialect. Footnotes are recognised only to be written as the text they are: otherwise `[^1]: word` would be
/// read as the definition of a link.
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
