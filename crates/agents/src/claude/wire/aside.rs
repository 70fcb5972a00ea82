//! What Claude Code says about itself: commands, tasks, notes.

use serde::Deserialize;

/// A slash command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Without the slash.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// What to type after it.
    #[serde(default)]
    pub argument_hint: String,
}

/// Of a sub-agent or background task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskLine {
    /// The task.
    pub task_id: String,
    /// Whether the turn goes on without waiting for it.
    pub is_backgrounded: Option<bool>,
    /// Housekeeping that never ends by itself.
    pub ambient: bool,
    /// How it ended.
    pub status: Option<String>,
    /// What it did.
    pub summary: String,
    /// Not for the user's eyes.
    pub skip_transcript: bool,
    /// What changed.
    pub patch: TaskPatch,
}

/// What changed about a task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskPatch {
    /// How it stands.
    pub status: Option<String>,
    /// Whether the turn goes on without waiting for it.
    pub is_backgrounded: Option<bool>,
}

/// The conversation so far was summed up.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Compacted {
    /// `manual` or `auto`.
    pub trigger: String,
    /// Tokens before.
    #[serde(alias = "preTokens")]
    pub pre_tokens: u64,
}

/// Something for the user to read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The subtype.
    #[serde(skip)]
    pub kind: String,
    /// What it says.
    #[serde(alias = "text", alias = "error")]
    pub content: Option<String>,
    /// `info`, `notice`, `suggestion`, `warning`.
    pub level: Option<String>,
    /// Of a notification.
    pub priority: Option<String>,
    /// Of a fallback: the model that answers now.
    pub fallback_model: Option<String>,
    /// Of a fallback: the model that refused.
    pub original_model: Option<String>,
}
