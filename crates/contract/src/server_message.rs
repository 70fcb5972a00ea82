//! Messages from the server to a browser, over the socket.

use serde::{Deserialize, Serialize};

use crate::changes::is_false;
use crate::{
    ActPath, Agent, AgentOffer, AgentStatus, ChangeAct, ChangeCounts, ChangeScope, ChangedFile,
    CliType, Compare, Details, DiffPart, DiscardedWorkspace, Entry, ErrorCode, FactsChange, ItemId,
    KeepingProgress, MovedComment, NowRow, OutsideCount, OutsideDirectory, OutsideSession,
    Pictures, Policy, Project, ProjectId, SessionFacts, SessionId, SessionListItem, SessionState,
    Timestamp, Turn, TurnEvent, TurnId, UpsertObject,
};

/// A message. A reply also has the id of its request, but only for the browser that sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// Derived, its type in TypeScript would repeat every message.
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ requestId?: string } & ServerMessage"))]
pub struct Frame {
    /// The request this is the reply to.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(flatten)]
    pub message: ServerMessage,
}

/// Only `session:history`, `upsert`, `turn`, `older`, `newer` and, on request, `tail` carry conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ServerMessage {
    /// In the order in which they were added.
    #[serde(rename = "project:list")]
    ProjectList { projects: Vec<Project> },
    /// Sent to all browsers.
    #[serde(rename = "project:added")]
    ProjectAdded { project: Project },
    /// Sent to all browsers.
    #[serde(rename = "project:removed")]
    ProjectRemoved { project_id: ProjectId },
    /// Newest first.
    #[serde(rename = "session:list")]
    SessionList { project_id: ProjectId, sessions: Vec<SessionListItem> },
    /// Sent to all browsers.
    #[serde(rename = "session:created")]
    SessionCreated { session_id: SessionId, project_id: ProjectId, session: SessionListItem },
    /// The end of a transcript, or the changes since a cursor.
    #[serde(rename = "session:history")]
    SessionHistory {
        session_id: SessionId,
        /// In index order.
        #[cfg_attr(test, ts(as = "Vec<crate::UpsertObject>"))]
        entries: Vec<Entry>,
        /// If it changed, discard what you have.
        stream: String,
        /// The last `seq` included.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
        /// The turns of these entries.
        turns: Vec<Turn>,
        mode: HistoryMode,
        /// Whether there are older entries.
        older: bool,
        /// There are newer entries: the session was opened around an item far from the end. New upserts still arrive,
        /// but they don't directly follow these entries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        newer: Option<bool>,
        policy: Policy,
        #[serde(default)]
        facts: SessionFacts,
    },
    /// The agent reported something about the session.
    #[serde(rename = "session:facts")]
    SessionFacts {
        session_id: SessionId,
        /// The facts that changed, each in full.
        facts: FactsChange,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
    },
    /// An item's whole state.
    #[serde(rename = "session:upsert")]
    SessionUpsert {
        session_id: SessionId,
        payload: UpsertObject,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
    },
    /// A turn started or ended.
    #[serde(rename = "session:turn")]
    SessionTurn {
        session_id: SessionId,
        payload: TurnEvent,
        /// When it started or ended, as the journal has it.
        at: Timestamp,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
    },
    /// Sent to all browsers.
    #[serde(rename = "session:title-updated")]
    SessionTitleUpdated { session_id: SessionId, title: String },
    /// Sent to all browsers.
    #[serde(rename = "session:archived")]
    SessionArchived { session_id: SessionId },
    /// Sent to all browsers, and on connect.
    #[serde(rename = "agent:status")]
    AgentStatus {
        cli_type: CliType,
        status: AgentStatus,
        /// Which session, for an agent with one process per session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Counts the attempts to restart it.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// The time of the next attempt.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
    #[serde(rename = "error")]
    Error {
        code: ErrorCode,
        /// For the user.
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Whether a retry may help.
        retryable: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
    /// The new text of an item since it was last sent. Offsets count UTF-16 units.
    #[serde(rename = "session:tail")]
    SessionTail {
        session_id: SessionId,
        item_id: ItemId,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
        /// Where `text` starts in the content of the message or thinking.
        #[cfg_attr(test, ts(type = "number"))]
        from: u64,
        text: String,
        /// The index of the first block that changed.
        #[cfg_attr(test, ts(type = "number"))]
        blocks_from: u64,
        /// How much of that block's previous HTML stays.
        #[cfg_attr(test, ts(type = "number"))]
        keep: u64,
        /// The new rest of that block, then whole blocks.
        blocks: Vec<String>,
    },
    /// The message is saved and on its way to the agent.
    #[serde(rename = "session:accepted")]
    SessionAccepted {
        session_id: SessionId,
        /// The turn it started.
        turn_id: TurnId,
    },
    /// The message is saved and waits for its turn. `session:accepted` follows when that starts.
    #[serde(rename = "session:queued")]
    SessionQueued {
        session_id: SessionId,
        /// The server's id of the message.
        message: String,
    },
    /// What a task has written so far.
    #[serde(rename = "session:task-output")]
    SessionTaskOutput {
        session_id: SessionId,
        task_id: String,
        /// Without control characters. Only the end of a long one.
        text: String,
        /// There was more before it.
        cut: bool,
    },
    #[serde(rename = "session:older")]
    SessionOlder {
        session_id: SessionId,
        /// In index order.
        #[cfg_attr(test, ts(as = "Vec<crate::UpsertObject>"))]
        entries: Vec<Entry>,
        /// The turns of these entries.
        turns: Vec<Turn>,
        /// As in the request. A page that has moved on since then ignores the reply.
        #[cfg_attr(test, ts(type = "number"))]
        before: u64,
        /// Whether there are older entries.
        older: bool,
    },
    #[serde(rename = "outside:list")]
    OutsideList {
        /// As in the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<ProjectId>,
        /// Newest first.
        sessions: Vec<OutsideSession>,
        /// Only without a project: the projects that have any.
        #[serde(default)]
        projects: Vec<OutsideCount>,
        /// Only without a project: directories that are no project.
        directories: Vec<OutsideDirectory>,
        /// Whether new ones in projects are kept without being asked for.
        #[serde(default)]
        automatic: bool,
    },
    #[serde(rename = "outside:found")]
    OutsideFound {
        /// As in the request.
        query: String,
        /// Newest first. Only those of projects.
        sessions: Vec<OutsideSession>,
    },
    /// How far keeping sessions is. Sent to all browsers.
    #[serde(rename = "outside:progress")]
    OutsideProgress {
        #[serde(flatten)]
        progress: KeepingProgress,
    },
    /// Only agents that had a session before.
    #[serde(rename = "session:offer")]
    SessionOffer { project_id: ProjectId, agents: Vec<AgentOffer> },
    #[serde(rename = "workspace:offer")]
    WorkspaceOffer {
        project_id: ProjectId,
        /// The branch that is checked out in the project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        current: Option<String>,
        /// The last used first.
        branches: Vec<String>,
        /// Files in the project that are not committed.
        uncommitted: usize,
        /// The command that is run in each new worktree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        setup: Option<String>,
    },
    #[serde(rename = "changes:list")]
    ChangesList {
        session_id: SessionId,
        scope: ChangeScope,
        /// Absent while no branch is checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The repository's topmost directory.
        root: String,
        /// What the branch is compared with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// The state that the changes lead to, for `session:looked`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// What the list lacks, for the user.
        notes: Vec<String>,
        /// Comments whose lines are elsewhere by now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<MovedComment>>"))]
        moved: Vec<MovedComment>,
        /// The titles of other sessions that work in this directory.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
        others: Vec<String>,
        /// Of a turn: there is nothing to undo, as every file that it changed is as it was before.
        #[serde(default, skip_serializing_if = "is_false")]
        #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
        undone: bool,
        /// By path.
        files: Vec<ChangedFile>,
        /// How many files are not listed because there are too many.
        more: usize,
    },
    /// How many bytes the checkpoints of all sessions take, and may take.
    #[serde(rename = "changes:storage")]
    ChangesStorage {
        #[cfg_attr(test, ts(type = "number"))]
        bytes: u64,
        #[cfg_attr(test, ts(type = "number"))]
        most: u64,
    },
    /// Sent to all browsers.
    #[serde(rename = "changes:changed")]
    ChangesChanged { session_id: SessionId, counts: ChangeCounts },
    #[serde(rename = "changes:file")]
    ChangesFile {
        session_id: SessionId,
        scope: ChangeScope,
        path: String,
        /// A part of the difference; empty if there is a `note` instead.
        html: String,
        /// As asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        split: Option<bool>,
        /// The row that it begins with.
        from: usize,
        /// How many rows the whole difference has.
        rows: usize,
        /// Where its parts begin.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<DiffPart>>"))]
        parts: Vec<DiffPart>,
        /// Parts that have the same belong together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pictures: Option<Pictures>,
    },
    /// What an act would do.
    #[serde(rename = "changes:preview")]
    ChangesPreview {
        session_id: SessionId,
        act: ChangeAct,
        summary: String,
        paths: Vec<ActPath>,
        /// What the act does besides, such as running hooks.
        notes: Vec<String>,
        /// What it can't do.
        cannot: Vec<String>,
        /// A proposed message, with a line for its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// What to type where the act can't be carried out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Whether one click undoes it.
        can_undo: bool,
        /// To be sent back with the act.
        expect: String,
    },
    /// An act was carried out.
    #[serde(rename = "changes:done")]
    ChangesDone {
        session_id: SessionId,
        act: ChangeAct,
        summary: String,
        /// For `undo-act`. Absent if it can't be undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<String>,
        /// To what was made elsewhere. `https`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
    },
    #[serde(rename = "workspace:discarded")]
    WorkspaceDiscarded { workspaces: Vec<DiscardedWorkspace> },
    #[serde(rename = "session:newer")]
    SessionNewer {
        session_id: SessionId,
        /// In index order.
        #[cfg_attr(test, ts(as = "Vec<crate::UpsertObject>"))]
        entries: Vec<Entry>,
        /// The turns of these entries.
        turns: Vec<Turn>,
        /// As in the request. A page that has moved on since then ignores the reply.
        #[cfg_attr(test, ts(type = "number"))]
        after: u64,
        /// Whether there are newer entries.
        newer: bool,
    },
    /// Sent to all browsers.
    #[serde(rename = "session:state")]
    SessionState {
        session_id: SessionId,
        project_id: ProjectId,
        state: SessionState,
        /// Changes when a message is sent and when a turn ends.
        last_active_at: Timestamp,
        /// A turn ended that the user has not looked at.
        unread: bool,
    },
    /// Sent to all browsers: the user has seen the session, in whichever browser.
    #[serde(rename = "session:looked")]
    SessionLooked { session_id: SessionId },
    /// Sent to all browsers.
    #[serde(rename = "session:unarchived")]
    SessionUnarchived { session_id: SessionId, session: SessionListItem },
    /// Sent to all browsers: the session was replaced by a newer version, or no longer is.
    #[serde(rename = "session:changed")]
    SessionChanged { session_id: SessionId, session: SessionListItem },
    /// Sent to all browsers.
    #[serde(rename = "session:deleted")]
    SessionDeleted { session_id: SessionId },
    /// Sent to all browsers.
    #[serde(rename = "session:policy")]
    SessionPolicy { session_id: SessionId, policy: Policy },
    /// Only to browsers that follow: all rows in the reply to `now:follow`, later those that changed.
    #[serde(rename = "now:summary")]
    NowSummary {
        sessions: Vec<NowRow>,
        /// Sessions that need no attention any more.
        gone: Vec<SessionId>,
    },
    /// Every comparison, the newest first.
    #[serde(rename = "compare:list")]
    CompareList { compares: Vec<Compare> },
    /// Sent to all browsers.
    #[serde(rename = "compare:changed")]
    CompareChanged { compare: Compare },
    #[serde(rename = "agents:list")]
    AgentsList { agents: Vec<Agent> },
    /// Directories that start with `prefix`.
    #[serde(rename = "path:completions")]
    PathCompletions {
        /// As in the request.
        prefix: String,
        /// Complete paths.
        entries: Vec<String>,
        /// The directory that `~` stands for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        home: Option<String>,
    },
    #[serde(rename = "files:found")]
    FilesFound {
        /// As in the request.
        query: String,
        /// Best first.
        entries: Vec<FileEntry>,
        /// Whether more match.
        more: bool,
    },
    #[serde(rename = "search:results")]
    SearchResults {
        /// As in the request.
        query: String,
        /// Best first.
        hits: Vec<Hit>,
        /// Whether there are more hits.
        more: bool,
        /// The index is not up to date yet. The complete reply follows with the same `requestId`, unless the browser
        /// starts another search first.
        behind: bool,
    },
    /// The reply to requests that have no reply of their own.
    #[serde(rename = "ok")]
    Ok {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum HistoryMode {
    /// Replaces what the browser has.
    Snapshot,
    /// The changes since the cursor.
    Since,
}

/// A file or directory of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileEntry {
    /// Relative to the workspace.
    pub path: String,
    pub kind: FileKind,
    /// The characters that match, counted in code points.
    #[serde(rename = "match")]
    pub matched: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FileKind {
    File,
    Directory,
}

/// An item that matches a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hit {
    pub session_id: SessionId,
    pub project_id: ProjectId,
    pub title: String,
    pub cli_type: CliType,
    pub item_id: ItemId,
    /// The item's position in the transcript.
    #[cfg_attr(test, ts(type = "number"))]
    pub index: u64,
    pub at: Timestamp,
    /// The item's `type`.
    pub kind: String,
    pub snippet: Vec<Snippet>,
}

/// A piece of a hit's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Snippet {
    /// Plain text.
    pub text: String,
    /// Whether this piece matches the query.
    #[serde(rename = "match")]
    pub matched: bool,
}
