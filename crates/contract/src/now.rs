//! Sessions that need attention, across all projects.

use serde::{Deserialize, Serialize};

use crate::{PlanStatus, SessionListItem, Timestamp, UpsertObject};

/// A session that waits for the user, works, or has ended a turn that the user has not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NowRow {
    #[serde(flatten)]
    pub session: SessionListItem,
    /// What the agent says or does, what it said, or why it stopped. Plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// When it began to wait or to work, or when it ended.
    pub since: Timestamp,
    /// The status of each step of the turn's plan; empty without a plan.
    pub plan: Vec<PlanStatus>,
    /// The permission that has waited longest, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Box<UpsertObject>>,
    /// When a stopped session continues by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The message that a stopped turn was about, to send it again. Absent if it is very long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}
