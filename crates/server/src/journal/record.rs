//! The journal's records: items with their source, and turns.

use std::sync::Arc;

use liminal_contract::{
    Blocks, Details, ErrorCode, FactsChange, ItemId, Timestamp, TurnId, TurnOrigin, TurnOutcome,
    Usage,
};
use liminal_stream::{Growth, HistoryMark, Upsert};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its whole state, not rendered.
    pub upsert: Upsert,
    /// Its position in the transcript.
    pub index: u64,
    /// Its last change.
    pub seq: u64,
    /// The id of the send that created it.
    pub request_id: Option<String>,
    /// Its rendered blocks, if they were kept.
    pub blocks: Option<KeptBlocks>,
}

/// Rendered blocks: a cache, valid only for the renderer that made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptBlocks {
    pub version: u32,
    pub html: Blocks,
}

/// The blocks of an item that was rendered after it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub item: ItemId,
    /// The change that was rendered.
    pub seq: u64,
    pub blocks: KeptBlocks,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    pub turn_id: TurnId,
    /// Its last change.
    pub seq: u64,
    pub origin: TurnOrigin,
    pub started_at: Timestamp,
    /// Absent while it runs.
    pub ended_at: Option<Timestamp>,
    /// Absent while it runs.
    pub outcome: Option<TurnOutcome>,
    /// In the agent's own words.
    pub stop_reason: Option<String>,
    /// The model that answered.
    pub model_id: Option<String>,
    pub usage: Option<Usage>,
    /// Of a failed turn.
    pub error_code: Option<ErrorCode>,
    /// Of a failed turn.
    pub error_message: Option<String>,
    /// The evidence of a failed turn.
    pub details: Option<Details>,
}

/// The state of a session's files at one moment, as a git tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Empty for [`Moment::Looked`].
    pub turn_id: TurnId,
    pub moment: Moment,
    pub tree: String,
    /// The agent may have worked already.
    pub is_late: bool,
    /// Paths that are not in the tree.
    pub left_out: Vec<String>,
    /// What was checked out.
    pub branch: Option<String>,
    pub head: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before a turn.
    Before,
    /// After a turn.
    After,
    /// When the user last looked at the changes.
    Looked,
}

/// An accepted send, kept so that it is not sent twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The turn it started.
    pub turn_id: TurnId,
    pub content: String,
}

/// One change of a session.
#[derive(Debug, Clone)]
pub enum Change {
    /// The whole state of an item, new or changed. Its tails are folded into it.
    Item(Box<Item>),
    /// Text was appended to an item; nothing else of it changed.
    Grew {
        growth: Arc<Growth>,
        seq: u64,
    },
    /// The whole state of a turn.
    Turn(Box<TurnRow>),
    /// How far the agent's own history goes.
    Mark(HistoryMark),
    /// The session was active. `sessions.json` gets this when the program stops.
    Active(Timestamp),
    /// The facts that changed.
    Facts(Box<FactsChange>),
    Checkpoint(Box<CheckpointRow>),
    /// A new transcript starts: browsers drop the one they have. The old one stays readable.
    Stream(String),
    /// An image in an item.
    Image {
        /// Its name in the item's URL.
        name: String,
        /// `image/png` and the like.
        mime_type: String,
        data: Vec<u8>,
    },
}

impl Change {
    /// The `seq` that an item or turn has after this change.
    pub(super) fn seq(&self) -> Option<u64> {
        match self {
            Self::Item(item) => Some(item.seq),
            Self::Grew { seq, .. } => Some(*seq),
            Self::Turn(turn) => Some(turn.seq),
            Self::Mark(_)
            | Self::Active(_)
            | Self::Facts(_)
            | Self::Checkpoint(_)
            | Self::Stream(_)
            | Self::Image { .. } => None,
        }
    }
}

impl TurnRow {
    /// A turn that just started.
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

    pub fn end(&mut self, at: Timestamp, outcome: TurnOutcome) {
        self.ended_at = Some(at);
        self.outcome = Some(outcome);
    }
}
