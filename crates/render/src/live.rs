//! A text that grows: what changed in its blocks, and from where on.

use crate::markdown::markdown;

/// From where on the blocks of a text differ from what they were: everything before stays. The smaller of two changes
/// covers both, so changes that were not sent yet merge by `min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The first block that differs.
    pub blocks_from: usize,
    /// How much of the previous HTML of that block stays, in UTF-16 units.
    pub keep: usize,
    /// The same in bytes, for cutting here.
    pub keep_bytes: usize,
}

/// The blocks of one text while it grows.
#[derive(Debug, Default)]
pub struct Renderer {
    blocks: Vec<String>,
}

impl Renderer {
    /// No text yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text has grown to this; `None` if that changes nothing to be seen. It must begin with the text of the last
    /// call; a shorter or other text starts anew.
    pub fn update(&mut self, text: &str) -> Option<Change> {
        self.replace(markdown(text))
    }

    /// The text is complete: the blocks are now exactly those of [`markdown`].
    pub fn finish(&mut self, text: &str) -> Option<Change> {
        self.replace(markdown(text))
    }

    /// All blocks.
    pub fn blocks(&self) -> &[String] {
        &self.blocks
    }

    /// Gives the blocks away.
    pub fn into_blocks(self) -> Vec<String> {
        self.blocks
    }

    /// What to send for a change (or for several, merged): the rest of block `blocks_from` after what stays of it, and
    /// all blocks after it. Empty when the text lost its last blocks.
    pub fn since(&self, change: Change) -> Vec<String> {
        let mut blocks = self.blocks.get(change.blocks_from..).unwrap_or_default().to_vec();
        if let Some(first) = blocks.first_mut() {
            first.drain(..change.keep_bytes);
        }
        blocks
    }

    fn replace(&mut self, blocks: Vec<String>) -> Option<Change> {
        let change = difference(&self.blocks, &blocks);
        self.blocks = blocks;
        change
    }
}

/// Where two lists of blocks begin to differ.
fn difference(before: &[String], after: &[String]) -> Option<Change> {
    let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    let (keep_bytes, keep) = match (before.get(same), after.get(same)) {
        (None, None) => return None,
        (Some(before), Some(after)) => common_prefix(before, after),
        _ => (0, 0),
    };
    Some(Change { blocks_from: same, keep, keep_bytes })
}

/// How much two texts have in common at their start, in bytes and in UTF-16 units.
fn common_prefix(a: &str, b: &str) -> (usize, usize) {
    let mut bytes = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(bytes) {
        bytes -= 1;
    }
    (bytes, a[..bytes].encode_utf16().count())
}
