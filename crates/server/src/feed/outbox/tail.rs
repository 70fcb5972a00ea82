//! What was added at the end of a growing item.

use std::sync::OnceLock;

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

/// A tail, serialised once for all browsers that get it as it is.
#[derive(Debug)]
pub struct SharedTail {
    tail: Tail,
    frame: OnceLock<Bytes>,
}

impl SharedTail {
    pub fn new(tail: Tail) -> Self {
        Self { tail, frame: OnceLock::new() }
    }

    pub fn item(&self) -> &ItemId {
        &self.tail.item
    }

    /// This tail and the one after it as one.
    pub fn then(&self, next: &Self) -> Self {
        Self::new(Tail {
            item: self.tail.item.clone(),
            from: self.tail.from,
            text: format!("{}{}", self.tail.text, next.tail.text),
            edit: self.tail.edit.clone().then(next.tail.edit.clone()),
        })
    }

    /// Its approximate size, in bytes.
    pub fn weight(&self) -> usize {
        256 + self.tail.text.len() + self.tail.edit.blocks.iter().map(String::len).sum::<usize>()
    }

    pub fn frame(&self, session: &SessionId, seq: u64) -> Bytes {
        let write = || {
            let Tail { item, from, text, edit } = self.tail.clone();
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
        };
        self.frame.get_or_init(write).clone()
    }
}
