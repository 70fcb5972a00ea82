//! What changed in a session's files.

use serde::{Deserialize, Serialize};

use crate::{BranchAt, ItemId, ProjectId, SessionId, Timestamp, TurnId};

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
    /// With `meanwhile`: the title of another session in this directory, whose calls named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What the user wrote about some lines, and has not sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comment {
    pub id: String,
    /// As listed.
    pub path: String,
    pub side: DiffSide,
    /// The first and the last, counted from 1.
    pub lines: [u32; 2],
    /// These lines, as they were.
    pub snippet: String,
    pub text: String,
}

/// A comment to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewComment {
    /// The one that it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub path: String,
    pub side: DiffSide,
    pub lines: [u32; 2],
    pub snippet: String,
    pub text: String,
}

/// Which version has the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum DiffSide {
    Old,
    New,
}

/// A comment whose lines are no longer where they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct MovedComment {
    pub id: String,
    /// Where the first of them is now. Absent: the code has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Where a session works, as far as git knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Workspace {
    pub kind: WorkspaceKind,
    pub path: String,
    /// Absent while no branch is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What the branch is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Commits that only the branch has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u32>,
    /// Commits that only the base has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u32>,
    pub state: WorkspaceState,
    /// With `busy`: what git is in the middle of, for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// With `missing`: it was discarded, and can be brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded: Option<DiscardedWorkspace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WorkspaceKind {
    /// The project's directory.
    Project,
    /// A worktree of its own.
    Worktree,
    /// Where the session ran before it was adopted.
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WorkspaceState {
    Ok,
    /// The directory no longer exists.
    Missing,
    /// In the middle of a merge, a rebase or the like.
    Busy,
    NoGit,
}

/// The command that prepares a new worktree, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Setup {
    /// As the user typed it.
    pub command: String,
    pub state: SetupState,
    /// The end of what it printed.
    pub output: String,
    /// Absent if it runs, or was ended by something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// The first message waits while it is `running` or `failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SetupState {
    Running,
    Done,
    Failed,
    /// The user wants to start without it.
    Skipped,
}

/// What to do about a setup command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SetupAct {
    /// Don't wait for it. One that runs goes on.
    Skip,
    Again,
}

/// How much a session changed, in files and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeCounts {
    pub files: usize,
    pub added: usize,
    pub removed: usize,
}

/// Where a part of a difference begins: its first row, and the next line of either version, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiffPart {
    pub row: usize,
    pub old: usize,
    pub new: usize,
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
pub(crate) fn is_false(flag: &bool) -> bool {
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
    /// Puts files back to the state at a point of the conversation.
    RestoreFiles {
        item_id: ItemId,
        /// Before or after the item, where a turn begins or ends.
        at: BranchAt,
        /// Absent: those that tool calls have named since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
    },
    /// Undoes one of these acts, by the `undo` of `changes:done`.
    UndoAct { undo: String },
    Commit {
        message: String,
        /// Absent: all that is not committed; in a directory that other sessions work in too, the files that this
        /// session's tool calls named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
    },
    /// Brings a worktree's branch into its base.
    Land {
        how: LandHow,
        /// Of the commit that is made. Absent: the proposed one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Begins to merge the base into the worktree, which leaves the conflicts there for the agent to resolve.
    StartMerge {},
    /// Ends a merge that is not complete, as if it had not begun.
    AbortMerge {},
    /// Pushes a worktree's branch and opens a pull request with `gh`.
    PullRequest { title: String, body: String },
    /// Removes the session's worktree. It is kept for 30 days, ignored files included.
    DiscardWorkspace { branch: BranchFate },
    /// Puts a discarded worktree where it was. The session may have been deleted.
    BringBack {
        /// As in `workspace:discarded`.
        saved: String,
    },
}

/// What becomes of the branch of a discarded worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum BranchFate {
    Keep,
    /// Bringing the worktree back brings it back too.
    Remove,
}

/// What becomes of the worktree of a deleted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WorktreeFate {
    #[default]
    Keep,
    /// As with `discard-workspace`; the branch stays.
    Discard,
}

/// A worktree that was discarded and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiscardedWorkspace {
    /// For `bring-back`.
    pub saved: String,
    /// It may have been deleted.
    pub session_id: SessionId,
    pub project_id: ProjectId,
    /// The project's name then.
    pub project: String,
    /// The session's title then.
    pub title: String,
    /// Where it was.
    pub path: String,
    pub branch: String,
    pub at: Timestamp,
    pub until: Timestamp,
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
    /// Why it is left alone, or not ticked.
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
    /// It is in no commit, and kept with the discarded worktree.
    Save,
    /// Nothing happens to it, and `why` says why.
    Leave,
    /// Both branches changed it in the same place.
    Conflict,
}
