//! What changed in a session's files.

use serde::{Deserialize, Serialize};

use crate::TurnId;

/// Which changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ChangeScope {
    /// The files before and after a turn, or now while it runs.
    Turn {
        /// Absent: the last turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
    },
    /// What the user has not looked at (`session:looked`).
    SinceLooked {},
    /// The files against the last commit.
    Uncommitted {},
    /// The files against the commit where the branch left its base.
    Branch {},
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ChangedFile {
    /// From the repository's topmost directory. A path that is no plain text is in quotes, as git prints it.
    pub path: String,
    pub status: ChangeStatus,
    /// Where a renamed file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines; absent for what has none, such as a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Differs whenever the new file does.
    pub version: String,
    /// In a turn: no tool call named it, so perhaps the agent did not change it.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub meanwhile: bool,
}

/// How much a session changed, in files and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeCounts {
    pub files: usize,
    pub added: usize,
    pub removed: usize,
}

/// A changed picture, in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Pictures {
    /// png, jpeg, gif or webp.
    pub mime_type: String,
    /// Absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Absent if it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ChangeStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    /// A submodule's commit.
    Submodule,
    /// In conflict.
    Unmerged,
}

/// What to do with changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ChangeAct {
    /// Puts one file back to where the scope begins.
    RevertFile {
        scope: ChangeScope,
        /// As listed.
        path: String,
    },
    /// The same for one block of changed lines.
    RevertHunk {
        scope: ChangeScope,
        path: String,
        /// `<first old line>,<how many>:<first new line>,<how many>`, counted from 1.
        hunk: String,
    },
    /// Puts files back to the state before a turn.
    UndoTurn {
        /// Absent: the last turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
        /// Absent: those that its tool calls named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
    },
    /// Undoes one of these acts, by the `undo` of `changes:done`.
    UndoAct { undo: String },
    Commit {
        message: String,
        /// Absent: all that is not committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
    },
    /// Brings a worktree's branch into its base.
    Land {
        how: LandHow,
        /// Of the commit that is made. Needed to squash, or if files are not committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Begins to merge the base into the worktree, which leaves the conflicts there for the agent to resolve.
    StartMerge {},
    /// Ends a merge that is not complete, as if it had not begun.
    AbortMerge {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum LandHow {
    /// As one commit.
    Squash,
    /// With its commits.
    Merge,
}

/// What an act would do to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ActPath {
    pub path: String,
    pub what: PathFate,
    /// Why it is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether the act includes it if the user chooses nothing else.
    pub ticked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PathFate {
    /// Gets its former content back.
    Restore,
    /// A file that was deleted comes back.
    Create,
    /// A file that was new goes.
    Remove,
    /// It changed since, elsewhere in the file: those changes stay.
    Merge,
    Commit,
    /// Nothing happens to it, and `why` says why.
    Leave,
    /// Both branches changed it in the same place.
    Conflict,
}
