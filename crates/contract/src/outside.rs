//! Sessions that agents' own programs keep.

use serde::{Deserialize, Serialize};

use crate::{CliType, ProjectId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct OutsideSession {
    pub cli_type: CliType,
    /// The agent's own id. Adopted, the session is called `{cliType}:{ref}` here.
    #[serde(rename = "ref")]
    pub agent_ref: String,
    pub title: String,
    /// The first line of the first message, if it is not the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Where the agent worked when it began.
    pub directory: String,
    /// The project that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Of the program that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub began: Timestamp,
    pub changed: Timestamp,
    /// When the agent deletes it, if nothing is added before. Absent: never, or not soon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}

/// A directory in which agents worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutsideDirectory {
    pub path: String,
    /// How many sessions.
    pub count: usize,
    /// The newest of them.
    pub changed: Timestamp,
}

/// How many sessions of a project were made outside and are not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutsideCount {
    pub project_id: ProjectId,
    pub count: usize,
    /// Of these, how many the agent deletes soon.
    pub due: usize,
}

/// How far keeping sessions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeepingProgress {
    pub state: KeepingState,
    pub done: usize,
    pub total: usize,
    /// Of those that are done, how many could not be read. They are listed, and read when they are opened.
    pub failed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum KeepingState {
    /// Nothing is being kept; what was is done.
    #[default]
    Done,
    Keeping,
    /// The user stopped it. What was kept until then stays.
    Stopped,
}
