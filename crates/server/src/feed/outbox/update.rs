//! A committed change, serialised once for all browsers.

use std::sync::Arc;

use bytes::Bytes;
use liminal_contract::{
    Body, FactsChange, Frame, ItemId, ItemStatus, ServerMessage, Timestamp, TurnEvent,
    TurnEventKind, UpsertObject,
};
use serde::Serialize;

use super::{to_text, to_text_of};

#[derive(Debug, Clone)]
pub enum Update {
    /// An item's whole state.
    Item {
        item: ItemId,
        stage: Stage,
        frame: Bytes,
    },
    Turn {
        is_end: bool,
        frame: Bytes,
    },
    /// Serialised when it is sent, because changes that wait become one.
    Facts(Arc<FactsChange>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The first state of a tool call.
    Invocation,
    Open,
    Final,
}

/// `session:upsert` of a borrowed item, which may be large.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Upsert<'a> {
    r#type: &'static str,
    session_id: &'a liminal_contract::SessionId,
    payload: &'a UpsertObject,
    seq: u64,
}

impl Stage {
    fn of(item: &UpsertObject) -> Self {
        match (item.status, &item.body) {
            (ItemStatus::Create, Body::ToolCall { .. }) => Self::Invocation,
            (status, _) if status.is_final() => Self::Final,
            _ => Self::Open,
        }
    }
}

impl Update {
    pub fn item(seq: u64, item: &UpsertObject) -> Self {
        let session_id = &item.session_id;
        let upsert = Upsert { r#type: "session:upsert", session_id, payload: item, seq };
        let frame = to_text_of(&upsert, size(item));
        Self::Item { item: item.item_id.clone(), stage: Stage::of(item), frame }
    }

    /// `at` is when the turn started or ended.
    pub fn turn(seq: u64, event: TurnEvent, at: Timestamp) -> Self {
        let is_end = !matches!(event.kind, TurnEventKind::TurnStarted { .. });
        let session_id = event.session_id.clone();
        let message = ServerMessage::SessionTurn { session_id, payload: event, at, seq };
        Self::Turn { is_end, frame: to_text(&Frame { request_id: None, message }) }
    }

    /// Its approximate size, in bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Item { frame, .. } | Self::Turn { frame, .. } => frame.len(),
            // Most of it is descriptions of commands and choices.
            Self::Facts(facts) => {
                let commands = facts.commands.as_ref().map_or(0, Vec::len);
                let choices = facts.options.iter().flatten().map(|option| option.choices.len() + 1);
                256 * (1 + commands + choices.sum::<usize>())
            }
        }
    }
}

/// About as many bytes as the frame of an item will have: for a long text a little more, because growing a large buffer
/// takes twice its memory.
fn size(item: &UpsertObject) -> usize {
    match &item.body {
        Body::Message { content, blocks, .. } | Body::Thinking { content, blocks, .. } => {
            1024 + (content.len() + blocks.bytes()) / 8 * 9 + blocks.iter().count() * 3
        }
        _ => 1024,
    }
}
