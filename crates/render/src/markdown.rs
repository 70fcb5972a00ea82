//! A whole Markdown text to a list of top-level blocks. Owns how GFM is read; how its tree is written is `write`, which
//! addresses may be followed is `link`.

pub(crate) mod link;
pub(crate) mod write;

use std::sync::LazyLock;

use comrak::{Arena, Options, parse_document};

use crate::wall;
use write::{Reading, Written};

/// The HTML of each top-level block of a text. Raw HTML appears as text; footnote syntax stays text.
pub fn markdown(text: &str) -> Vec<String> {
    blocks(text, &Reading::default()).into_iter().map(|block| block.html).collect()
}

/// As [`markdown`], with what the writer noticed on the way, for who renders a text that still grows.
pub(crate) fn blocks(text: &str, reading: &Reading<'_>) -> Vec<Written> {
    let arena = Arena::new();
    let root = parse_document(&arena, text, &OPTIONS);
    root.children().map(|block| wall::checked(write::block(block, reading), text)).collect()
}

/// GitHub's dialect. Footnotes are recognised only to be written as the text they are: otherwise `[^1]: word` would be
/// read as the definition of a link.
pub(crate) static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.parse.leave_footnote_definitions = true;
    options
});
