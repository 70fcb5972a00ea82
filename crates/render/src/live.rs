//! The blocks of a growing text.
//!
//! Each update parses the last top-level block again from its first line, with the same parser as a finished text.
//! `repair` completes the unfinished end first. That may be approximate, because a complete text is rendered once more
//! as a whole.

mod edit;
mod inline;
mod repair;

use std::borrow::Cow;

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use crate::code::UpTo;
use crate::markdown::write::{LastLine, Reading};
use crate::markdown::{define, parse, write};
use crate::{HEAVY, wall};

pub use edit::Edit;

/// In bytes. A longer block is parsed again only when it has grown by a sixteenth, so that an endless block costs a
/// constant number of full parses.
const LONG: usize = 64 * 1024;

/// Definitions of link references are remembered up to this many bytes.
const MOST_DEFINITIONS: usize = 4 * 1024;

/// A text that arrives piece by piece. Keeps only the part that can still change.
#[derive(Debug, Default)]
pub struct Renderer {
    /// The number of blocks that can no longer change.
    settled: usize,
    /// The text after them.
    open: String,
    /// The blocks of the open text.
    blocks: Vec<String>,
    /// The length of the open text when it was last parsed.
    parsed: usize,
    /// Definitions of link references in the settled blocks: later text may use them.
    definitions: String,
}

impl Renderer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what changed in the blocks.
    pub fn append(&mut self, text: &str) -> Edit {
        self.open.push_str(text);
        let is_due =
            self.open.len() <= LONG || self.open.len() - self.parsed >= self.open.len() / 16;
        if text.is_empty() || !is_due {
            return Edit { from: self.settled + self.blocks.len(), ..Edit::default() };
        }
        self.parse_open_text()
    }

    fn parse_open_text(&mut self) -> Edit {
        self.parsed = self.open.len();
        let lines = only_line_feeds(&self.open);
        let repaired = repair::repair(&lines);
        let last_line =
            if repaired.ends_with('\n') { LastLine::Finished } else { LastLine::Unfinished };
        let source = format!("{}{repaired}", self.definitions);
        let arena = Arena::new();
        let root = parse(&arena, &source);
        let reading = Reading { colours: UpTo(HEAVY), open_fence: Some(last_line) };
        let blocks: Vec<String> = root
            .children()
            .map(|block| wall::checked_while_growing(write::block(block, reading), &source).html)
            .collect();
        let edit = Edit::between(&self.blocks, &blocks, self.settled);
        self.blocks = blocks;
        self.settle(root);
        edit
    }

    /// Finds the last block that starts on a finished line. Nothing before it can change any more.
    fn settle<'a>(&mut self, root: &'a AstNode<'a>) {
        let part = &self.open;
        let mut starts = vec![0];
        starts.extend(part.match_indices('\n').map(|(at, _)| at + 1));
        // The parser counts lines from 1 and gets the definitions first.
        let first_line = self.definitions.matches('\n').count() + 1;
        let start_of = |line: usize| starts.get(line.checked_sub(first_line)?).copied();
        let is_finished = |line: usize| line + 1 < first_line + starts.len();
        let begins = |block: &&AstNode<'a>| is_finished(block.data().sourcepos.start.line);

        let finished = root.children().take_while(begins).count();
        let Some(last) = root.children().take_while(begins).last() else { return };
        let (line, end) = (last.data().sourcepos.start.line, last.data().sourcepos.end.line);
        let is_closed = is_finished(end)
            && is_closed(last, || {
                start_of(end + 1)
                    .is_some_and(|from| is_finished(end + 1) && is_blank(&part[from..]))
            });
        let (blocks, place) =
            if is_closed { (finished, start_of(end + 1)) } else { (finished - 1, start_of(line)) };
        let Some(place) = place else { return };
        let settled: String = self.open.drain(..place).collect();
        define(&mut self.definitions, &settled, MOST_DEFINITIONS);
        self.settled += blocks;
        self.blocks.drain(..blocks);
        self.parsed -= place;
    }
}

/// Whether a top-level block whose last line is finished can no longer grow.
fn is_closed<'a>(block: &'a AstNode<'a>, before_blank_line: impl FnOnce() -> bool) -> bool {
    match &block.data().value {
        NodeValue::CodeBlock(code) => code.fenced && code.closed,
        NodeValue::Heading(heading) => !heading.setext,
        NodeValue::ThematicBreak => true,
        NodeValue::Paragraph | NodeValue::Table(_) => before_blank_line(),
        _ => false,
    }
}

fn is_blank(text: &str) -> bool {
    text.lines().next().is_none_or(|line| line.trim().is_empty())
}

/// The text, at the same length, with `\n` as the only line end: the parser would also end lines at `\r`.
fn only_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace('\r', " ").into() } else { text.into() }
}
