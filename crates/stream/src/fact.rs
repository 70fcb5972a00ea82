//! Facts: things an agent reports about a session beside the conversation. They don't go through the processor.

use liminal_contract::{
    AgentTask, Asks, McpServer, SessionOption, SlashCommand, Steers, Usage, UsageLimit,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub enum SessionFact {
    /// The agent's own title for the session.
    Title(String),
    Model(String),
    /// The agent's settings. Replaces the whole list.
    Options(Vec<SessionOption>),
    /// Replaces the whole list.
    Commands(Vec<SlashCommand>),
    /// The total so far.
    Usage(Usage),
    /// The limits of the account. Replaces the whole list.
    Limits(Vec<UsageLimit>),
    Asks(Asks),
    /// Whether a prompt may contain pictures.
    TakesPictures(bool),
    Steers(Steers),
    /// What runs beside the conversation. Replaces the whole list.
    Tasks(Vec<AgentTask>),
    /// The agent's version.
    Version(String),
    /// Whose account it uses, for the user.
    Account(String),
    /// Replaces the whole list.
    Mcp {
        servers: Vec<McpServer>,
        /// They can be reconnected and switched on and off.
        controls: bool,
    },
    /// Whether somebody works on the session in another program right now.
    Elsewhere(bool),
    /// The agent's new id for the session.
    AgentRef(String),
    /// How far the agent's own history goes, so that additions from elsewhere can be told apart from ours.
    HistoryMark(HistoryMark),
}

/// A position in an agent's own history file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryMark {
    /// Bytes read.
    pub bytes: u64,
    /// The id of the last record read; empty at the start of the file.
    pub last_id: String,
}

impl HistoryMark {
    /// Nothing was read yet.
    pub const START: Self = Self { bytes: 0, last_id: String::new() };
}
