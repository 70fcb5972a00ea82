//! Projects and agents, as the sidebar and the pickers show them.

use serde::{Deserialize, Serialize};

use crate::{CliType, ProjectId, Timestamp};

/// A directory the user added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Project {
    /// Stays the same when the directory is removed and added again.
    pub id: ProjectId,
    /// Canonical and absolute.
    pub path: String,
    /// The last component of the path.
    pub name: String,
    /// Sidebar order.
    pub added_at: Timestamp,
}

/// Where an agent's process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AgentStatus {
    /// Not running, and not needed now. The next message starts it.
    Idle,
    /// Its first start is under way.
    Starting,
    /// Running, handshake done.
    Connected,
    /// Gone, and not coming back by itself.
    Disconnected,
    /// Gone, and being started again.
    Reconnecting,
}

/// Whether an agent can be used on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Readiness {
    /// Its program was found.
    Ready,
    /// Its program was not found.
    Missing,
    /// Not looked for yet.
    Unknown,
}

/// One agent of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Agent {
    /// Its id in the catalogue.
    pub cli_type: CliType,
    /// What to call it.
    pub name: String,
    /// Its process.
    pub status: AgentStatus,
    /// Its program.
    pub ready: Readiness,
    /// What its program says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What to type to install it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// What to type to log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// False for those of `agents.json`.
    pub builtin: bool,
}
