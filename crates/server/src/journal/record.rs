//! What the journal keeps: items with their source, and turns.

use liminal_contract::{
    Details, ErrorCode, ItemId, ItemStatus, Timestamp, TurnId, TurnOrigin, TurnOutcome, Usage,
};
use liminal_stream::{HistoryMark, Upsert};

/// One item as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its whole state in source form.
    pub upsert: Upsert,
    /// Its place in the transcript.
    pub index: u64,
    /// Of its last change.
    pub seq: u64,
    /// Of the send it came with.
    pub request_id: Option<String>,
    /// Its rendered blocks, where they were kept.
    pub blocks: Option<Blocks>,
}

/// Rendered blocks: a cache, valid only for the renderer that made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Which renderer.
    pub version: u32,
    /// Safe HTML, one per top-level block.
    pub html: Vec<String>,
}

/// What an item was rendered to after it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Which.
    pub item: ItemId,
    /// Of its change that was rendered.
    pub seq: u64,
    /// How it looks.
    pub blocks: Blocks,
}

/// One turn as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    /// The turn.
    pub turn_id: TurnId,
    /// Of its last change.
    pub seq: u64,
    /// Who began it.
    pub origin: TurnOrigin,
    /// When.
    pub started_at: Timestamp,
    /// Absent while it runs.
    pub ended_at: Option<Timestamp>,
    /// Absent while it runs.
    pub outcome: Option<TurnOutcome>,
    /// The agent's word for why it stopped.
    pub stop_reason: Option<String>,
    /// The model that answered.
    pub model_id: Option<String>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// Of a failed turn.
    pub error_code: Option<ErrorCode>,
    /// Of a failed turn.
    pub error_message: Option<String>,
    /// The evidence of a failed turn.
    pub details: Option<Details>,
}

/// A send that was accepted, so that the same one is not sent twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The turn it began.
    pub turn_id: TurnId,
    /// What it said.
    pub content: String,
}

/// One change of a session.
#[derive(Debug, Clone)]
pub enum Change {
    /// The whole state of an item, new or rewritten. A final one is folded.
    Item(Box<Item>),
    /// An item's text grew at its end, and nothing else of it changed.
    Grew {
        /// Which.
        item: ItemId,
        /// Of this change.
        seq: u64,
        /// Where it is in its life.
        status: ItemStatus,
        /// When the agent said it.
        source_timestamp: Timestamp,
        /// When we passed it on.
        emitted_at: Timestamp,
        /// What was added.
        text: String,
    },
    /// The whole state of a turn.
    Turn(Box<TurnRow>),
    /// How far the agent's own history goes.
    Mark(HistoryMark),
    /// The session's derived title and its last activity, which `sessions.json` may not have yet.
    Meta {
        /// The title.
        title: Option<String>,
        /// Changes on send and on turn end.
        last_active_at: Timestamp,
    },
    /// From here on a new transcript: browsers forget what they have. What was there stays readable.
    Stream(String),
    /// A picture an item shows.
    Image {
        /// Its name in the item's URL.
        name: String,
        /// `image/png` and the like.
        mime_type: String,
        /// The bytes.
        data: Vec<u8>,
    },
}

impl TurnRow {
    /// A turn that just began.
    pub fn started(turn_id: TurnId, seq: u64, origin: TurnOrigin, at: Timestamp) -> Self {
        Self {
            turn_id,
            seq,
            origin,
            started_at: at,
            ended_at: None,
            outcome: None,
            stop_reason: None,
            model_id: None,
            usage: None,
            error_code: None,
            error_message: None,
            details: None,
        }
    }

    /// The turn is over.
    pub fn end(&mut self, at: Timestamp, outcome: TurnOutcome) {
        self.ended_at = Some(at);
        self.outcome = Some(outcome);
    }
}
