//! What was added at the end of a growing item.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use liminal_contract::{Frame, ItemId, ServerMessage, SessionId};
use liminal_render::Edit;

use super::to_text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    pub item: ItemId,
    /// Where `text` starts, in UTF-16 units.
    pub from: usize,
    pub text: String,
    /// What changed in the blocks.
    pub edit: Edit,
}

/// A tail, in memory and serialised once for all browsers.
#[derive(Debug)]
pub struct SharedTail {
    tail: Tail,
    frame: OnceLock<Bytes>,
}

/// Consecutive tails of one item that wait for a browser, to be sent as one. Until then they are shared with the other
/// browsers that wait for them.
#[derive(Debug)]
pub struct Tails {
    first: Arc<SharedTail>,
    rest: Vec<Arc<SharedTail>>,
    bytes: usize,
}

/// In bytes. Tails that wait are sent as one up to this size: what is written for one browser alone stays small.
const MOST_AS_ONE: usize = 16 * 1024;

impl SharedTail {
    pub fn new(tail: Tail) -> Self {
        Self { tail, frame: OnceLock::new() }
    }

    pub fn item(&self) -> &ItemId {
        &self.tail.item
    }

    fn bytes(&self) -> usize {
        self.tail.text.len() + self.tail.edit.blocks.iter().map(String::len).sum::<usize>()
    }
}

impl Tails {
    pub fn item(&self) -> &ItemId {
        self.first.item()
    }

    pub fn have_room_for(&self, next: &SharedTail) -> bool {
        self.bytes + next.bytes() <= MOST_AS_ONE
    }

    pub fn then(mut self, next: Arc<SharedTail>) -> Self {
        self.bytes += next.bytes();
        self.rest.push(next);
        self
    }

    /// Their approximate size as one frame.
    pub fn weight(&self) -> usize {
        256 + self.bytes
    }

    pub fn frame(&self, session: &SessionId, seq: u64) -> Bytes {
        if self.rest.is_empty() {
            let tail = &self.first.tail;
            return self.first.frame.get_or_init(|| frame(session, seq, tail.clone())).clone();
        }
        let mut one = self.first.tail.clone();
        for SharedTail { tail, .. } in self.rest.iter().map(Arc::as_ref) {
            one.text.push_str(&tail.text);
            one.edit = one.edit.then(tail.edit.clone());
        }
        frame(session, seq, one)
    }
}

impl From<Arc<SharedTail>> for Tails {
    fn from(first: Arc<SharedTail>) -> Self {
        Self { bytes: first.bytes(), first, rest: Vec::new() }
    }
}

fn frame(session: &SessionId, seq: u64, tail: Tail) -> Bytes {
    let Tail { item, from, text, edit } = tail;
    let message = ServerMessage::SessionTail {
        session_id: session.clone(),
        item_id: item,
        seq,
        from: from as u64,
        text,
        blocks_from: edit.from as u64,
        keep: edit.keep_units as u64,
        blocks: edit.blocks,
    };
    to_text(&Frame { request_id: None, message })
}
