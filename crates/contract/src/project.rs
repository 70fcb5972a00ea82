//! Projects and agents, as the sidebar and the menus show them.

use serde::{Deserialize, Serialize};

use crate::{CliType, ProjectId, Timestamp};

/// A directory that agents work in.
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
    /// The sidebar sorts by this.
    pub added_at: Timestamp,
}

/// The state of an agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AgentStatus {
    /// Not running, and not needed now. The next message starts it.
    Idle,
    /// Starting for the first time.
    Starting,
    /// Running, and the handshake is done.
    Connected,
    /// Ended, and not restarted automatically.
    Disconnected,
    /// Ended, and being restarted automatically.
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
    /// Not checked yet.
    Unknown,
}

/// One agent in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Agent {
    pub cli_type: CliType,
    pub name: String,
    pub status: AgentStatus,
    pub ready: Readiness,
    /// As reported by the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether somebody is logged in, if the program says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_in: Option<bool>,
    /// The command that installs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The command that logs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// False for agents from `agents.json`.
    pub builtin: bool,
    /// Installed, or shown to every user. The others are under "More agents".
    pub offered: bool,
    /// The mode of its own that its first session here starts in, because it asks in it; by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_mode: Option<String>,
}
