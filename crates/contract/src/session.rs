//! Sessions as lists show them, and the cursor a browser comes back with.

use serde::{Deserialize, Serialize};

use crate::{CliType, ProjectId, SessionId, Timestamp};

/// What happens when an agent asks for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Policy {
    /// The user decides.
    #[default]
    Ask,
    /// Allowed once, at once, where the agent offers that.
    Auto,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SessionState {
    /// Ready for a message.
    Idle,
    /// Its agent is being started for it.
    Starting,
    /// A turn runs.
    Running,
    /// A permission waits for the user.
    Waiting,
    /// Its last turn failed.
    Failed,
}

/// How far a browser has seen a session: the last `seq` of the `stream` it followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cursor {
    /// A newer one means: forget what you have.
    pub stream: String,
    /// The last `seq` seen.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
}

/// One row of the sidebar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SessionListItem {
    /// The session.
    pub id: SessionId,
    /// Where it works.
    pub project_id: ProjectId,
    /// "New Session" until the first message.
    pub title: String,
    /// Changes on send and on turn end.
    pub last_active_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// Which agent.
    pub cli_type: CliType,
    /// Hidden from the sidebar.
    pub archived: bool,
    /// What it is doing.
    pub state: SessionState,
}
