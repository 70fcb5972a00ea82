//! Facts about a session that are not conversation. They go beside the processor, not through it.

use liminal_contract::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something an agent told about the session itself.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionFact {
    /// The agent's own title for it.
    Title(String),
    /// The model that answers.
    Model(String),
    /// The modes there are and the one that is on.
    Modes {
        /// The one that is on.
        current: String,
        /// All of them; empty when only the current one was told.
        available: Vec<Mode>,
    },
    /// The agent's slash commands.
    Commands(Vec<SlashCommand>),
    /// What the session has cost so far, and how full its context is.
    Usage(Usage),
    /// The agent decides by itself what it may do, and could not be made to ask.
    DecidesByItself,
    /// How far the agent's own history goes, so that what is added to it elsewhere can be told from what is ours.
    HistoryMark(HistoryMark),
    /// Anything else, kept as it came.
    Other {
        /// The agent's name for it.
        kind: String,
        /// All of it.
        value: Value,
    },
}

/// A mode of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// The agent's id of it.
    pub id: String,
    /// What to call it.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A slash command of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// What to type after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How far an agent's own history file goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryMark {
    /// Bytes read.
    pub bytes: u64,
    /// The id of the last record read.
    pub last_id: String,
}
