//! Lines outside the conversation: commands, tasks, notes.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A slash command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Without the slash.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Its arguments, as shown to the user.
    #[serde(default)]
    pub argument_hint: String,
}

/// About a sub-agent or background task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskLine {
    pub task_id: String,
    /// What it does.
    pub description: String,
    /// `local_bash`, `local_agent`, …
    pub task_type: String,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// Whether the turn continues without waiting for it.
    pub is_backgrounded: Option<bool>,
    /// Housekeeping that never ends on its own.
    pub ambient: bool,
    pub status: Option<String>,
    pub summary: String,
    /// Must not be shown.
    pub skip_transcript: bool,
    pub patch: TaskPatch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskPatch {
    pub status: Option<String>,
    /// Whether the turn continues without waiting for it.
    pub is_backgrounded: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Compacted {
    /// Tokens before the summary.
    #[serde(alias = "preTokens")]
    pub pre_tokens: Option<u64>,
    /// Tokens after it.
    #[serde(alias = "postTokens")]
    pub post_tokens: Option<u64>,
}

/// `system/status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `requesting`, `compacting`, or nothing.
    pub status: Option<String>,
    /// Whether a compaction that just ended succeeded.
    pub compact_result: Option<String>,
    /// The mode from now on.
    #[serde(rename = "permissionMode")]
    pub permission_mode: Option<String>,
}

/// `rate_limit_event`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RateLimitInfo {
    /// `allowed`, `allowed_warning` or `rejected`.
    pub status: String,
    /// Which limit the status is about: `five_hour`, `seven_day`, …
    pub rate_limit_type: Option<String>,
    /// In seconds since 1970.
    pub resets_at: Option<u64>,
    pub unified_windows: BTreeMap<String, LimitWindow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LimitWindow {
    /// 1 if it is used up.
    pub utilization: f64,
    /// In seconds since 1970.
    pub resets_at: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The subtype.
    #[serde(skip)]
    pub kind: String,
    #[serde(alias = "text", alias = "error")]
    pub content: Option<String>,
    /// `info`, `notice`, `suggestion`, `warning`.
    pub level: Option<String>,
    /// Only of a notification.
    pub priority: Option<String>,
    /// After a fallback, the model that answers now.
    pub fallback_model: Option<String>,
    /// After a fallback, the model that refused.
    pub original_model: Option<String>,
}
