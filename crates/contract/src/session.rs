//! Sessions as lists show them, and the cursor with which a browser resumes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ChangeCounts, CliType, ProjectId, SessionId, Timestamp};

/// What happens to permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Policy {
    /// **Ask before acting**: the user decides.
    #[default]
    Ask,
    /// **Approve everything**: allowed once, immediately, if the agent offers that.
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SessionState {
    Idle,
    /// Its agent is being started.
    Starting,
    /// A turn is running.
    Running,
    /// A permission is waiting for the user.
    Waiting,
    /// Its last turn failed.
    Failed,
    /// The server ended during its last turn.
    Interrupted,
}

/// How far a browser has seen a session: the last `seq` of the `stream` it followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cursor {
    /// If it changed, discard what you have.
    pub stream: String,
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
}

/// One row of the sidebar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SessionListItem {
    pub id: SessionId,
    pub project_id: ProjectId,
    /// "New Session" until the first message.
    pub title: String,
    /// Changes when a message is sent and when a turn ends.
    pub last_active_at: Timestamp,
    pub created_at: Timestamp,
    pub cli_type: CliType,
    /// Hidden from the sidebar.
    pub archived: bool,
    pub state: SessionState,
    /// A turn ended that the user has not looked at.
    pub unread: bool,
    /// Absent if it works in the project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// Where it works, if neither in the project's directory nor in a worktree of its own: where it was made outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Of its branch against the base in a worktree, else of the files that it named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<ChangeCounts>,
    /// Absent if it was not made from another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_of: Option<BranchOf>,
    /// The session that replaced this one, which can only be read. It is not in the sidebar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<SessionId>,
}

/// Where a session was cut to make another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum BranchAt {
    Before,
    After,
}

/// Why a session was made from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum BranchKind {
    /// It replaces the other one, which can only be read from then on.
    Edit,
    /// Both go on.
    Branch,
}

/// How the agent of such a session knows what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Memory {
    /// It remembers.
    Own,
    /// It gets the transcript as text with the first message.
    Transcript,
    /// Nothing was said before.
    Nothing,
}

/// The session that another one was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BranchOf {
    pub session_id: SessionId,
    /// At that time.
    pub title: String,
    #[serde(rename = "as")]
    pub kind: BranchKind,
    pub memory: Memory,
}

/// A checkout of the project's repository that a session has to itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Worktree {
    pub path: String,
    pub branch: String,
    /// The branch that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The directory in it that the session works in, if the project is not the repository's topmost one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}

impl Worktree {
    /// Where the session works.
    pub fn directory(&self) -> PathBuf {
        let path = Path::new(&self.path);
        // Joined with nothing, it would end in a slash.
        self.below.as_ref().map_or_else(|| path.to_owned(), |below| path.join(below))
    }
}

/// Where a new session works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum WorkspaceChoice {
    /// In the project's directory.
    Project {},
    /// In a new worktree.
    Worktree {
        /// A branch. Absent: the last commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// For its directory and its branch. Absent: a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Copies what is not committed in the project, if it is made from the current branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bring: Option<bool>,
        /// A command to run in it before the first message, kept for the project's next worktrees. Absent: the one
        /// that is kept; empty: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        setup: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::Worktree;

    #[test]
    fn a_session_works_in_its_worktree_or_below_it() {
        let directory = |below: Option<&str>| {
            let text = serde_json::json!({ "path": "/trees/shop/one", "branch": "liminal/one", "below": below });
            serde_json::from_value::<Worktree>(text).unwrap().directory().display().to_string()
        };
        assert_eq!(directory(None), "/trees/shop/one");
        assert_eq!(directory(Some("crates/web")), "/trees/shop/one/crates/web");
    }
}
