//! Turns: one user message and all that follows until the agent stops.

use serde::{Deserialize, Serialize};

use crate::{Details, ErrorCode, SessionId, Timestamp, TurnId};

/// Who began a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnOrigin {
    /// A message of the user's.
    User,
    /// The agent by itself, for example when a background task of its ended.
    Agent,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnOutcome {
    /// The agent stopped by itself.
    Completed,
    /// The user stopped it.
    Cancelled,
    /// It ended in an error.
    Failed,
    /// Our server ended under it.
    Interrupted,
}

/// What a turn cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Usage {
    /// Tokens read.
    #[cfg_attr(test, ts(type = "number"))]
    pub input_tokens: u64,
    /// Tokens written.
    #[cfg_attr(test, ts(type = "number"))]
    pub output_tokens: u64,
    /// Of those read, from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_read_input_tokens: Option<u64>,
    /// Written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_creation_input_tokens: Option<u64>,
    /// Money, as the agent counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens of the context window in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_used: Option<u64>,
    /// Size of the context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_size: Option<u64>,
}

/// All that is known of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Turn {
    /// The turn.
    pub turn_id: TurnId,
    /// Of its last change.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// Who began it.
    pub origin: TurnOrigin,
    /// When.
    pub started_at: Timestamp,
    /// Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// The agent's word for why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The evidence of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// A turn began or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TurnEvent {
    /// The turn.
    pub turn_id: TurnId,
    /// Its session.
    pub session_id: SessionId,
    /// What happened.
    #[serde(flatten)]
    pub kind: TurnEventKind,
}

/// What happened to a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum TurnEventKind {
    /// The agent began to answer.
    TurnStarted {
        /// The model that answers; empty when the agent does not say.
        model_id: String,
        /// Which provider of ours drives the agent.
        provider_id: String,
        /// Who began the turn.
        origin: TurnOrigin,
    },
    /// The turn ended without an error.
    TurnComplete {
        /// By itself, or because the user stopped it.
        status: TurnStatus,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The agent's word for why it stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
    },
    /// The turn failed. A failed turn is only ever this.
    TurnError {
        /// What went wrong.
        error_code: ErrorCode,
        /// What the user reads.
        error_message: String,
        /// The evidence.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
}

/// How a turn ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnStatus {
    /// By itself.
    Completed,
    /// The user stopped it.
    Cancelled,
}
