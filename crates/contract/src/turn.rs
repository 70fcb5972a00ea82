//! Turns: one message from the user and everything until the agent stops; or a turn the agent started.

use serde::{Deserialize, Serialize};

use crate::{Details, ErrorCode, SessionId, Timestamp, TurnId};

/// Who started a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnOrigin {
    /// The user, with a message.
    User,
    /// The agent on its own, for example because a background task ended.
    Agent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnOutcome {
    /// The agent finished.
    Completed,
    Cancelled,
    Failed,
    /// Our server ended during the turn.
    Interrupted,
}

/// Tokens and money a turn used.
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
    /// The part of `inputTokens` that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_creation_input_tokens: Option<u64>,
    /// As reported by the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens used in the context window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_used: Option<u64>,
    /// Size of the context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_size: Option<u64>,
}

/// Everything known about a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Turn {
    pub turn_id: TurnId,
    /// The `seq` of its last change.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    pub origin: TurnOrigin,
    pub started_at: Timestamp,
    /// Absent while the turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Absent while the turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// Why it stopped, in the agent's own term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Only of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Only of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Only of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// A turn started or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TurnEvent {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    #[serde(flatten)]
    pub kind: TurnEventKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum TurnEventKind {
    /// The agent started to answer.
    TurnStarted {
        /// Empty if the agent doesn't report it.
        model_id: String,
        /// The provider that drives the agent.
        provider_id: String,
        origin: TurnOrigin,
    },
    /// The turn ended without an error.
    TurnComplete {
        status: TurnStatus,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Why it stopped, in the agent's own term.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
    },
    /// The turn failed. This is the only event that ends a failed turn.
    TurnError {
        error_code: ErrorCode,
        /// For the user.
        error_message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
}

/// How a turn ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TurnStatus {
    Completed,
    Cancelled,
}
