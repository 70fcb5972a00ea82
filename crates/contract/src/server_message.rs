//! What the server says over the socket.

use serde::{Deserialize, Serialize};

use crate::{
    Agent, AgentStatus, CliType, Details, ErrorCode, ItemId, Policy, Project, ProjectId, SessionId,
    SessionListItem, SessionState, Timestamp, Turn, TurnEvent, TurnId, UpsertObject,
};

/// A message and, on the asker's copy of a reply, the id of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Frame {
    /// Of the request this answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What is said.
    #[serde(flatten)]
    pub message: ServerMessage,
}

/// What is said. Conversation travels only in `session:history`, `upsert`, `turn`, `older`, `newer` and, when asked for,
/// `tail`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ServerMessage {
    /// All projects, in the order added.
    #[serde(rename = "project:list")]
    ProjectList {
        /// The projects.
        projects: Vec<Project>,
    },
    /// To all.
    #[serde(rename = "project:added")]
    ProjectAdded {
        /// The project.
        project: Project,
    },
    /// To all.
    #[serde(rename = "project:removed")]
    ProjectRemoved {
        /// The project.
        project_id: ProjectId,
    },
    /// Newest first.
    #[serde(rename = "session:list")]
    SessionList {
        /// The project.
        project_id: ProjectId,
        /// Its sessions.
        sessions: Vec<SessionListItem>,
    },
    /// To all.
    #[serde(rename = "session:created")]
    SessionCreated {
        /// The session.
        session_id: SessionId,
        /// Its project.
        project_id: ProjectId,
        /// Its row.
        session: SessionListItem,
    },
    /// The end of a transcript, or what changed since a cursor.
    #[serde(rename = "session:history")]
    SessionHistory {
        /// The session.
        session_id: SessionId,
        /// In index order.
        entries: Vec<UpsertObject>,
        /// A newer one means: forget what you have.
        stream: String,
        /// What it was read at.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
        /// The turns of these entries.
        turns: Vec<Turn>,
        /// Whether this replaces what the browser has.
        mode: HistoryMode,
        /// There is more before.
        older: bool,
        /// There is more after these entries: it was opened around an item far from the end. What is said meanwhile comes
        /// all the same, and is not next to these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        newer: Option<bool>,
        /// Of the session.
        policy: Policy,
    },
    /// An item's whole state.
    #[serde(rename = "session:upsert")]
    SessionUpsert {
        /// The session.
        session_id: SessionId,
        /// The item.
        payload: UpsertObject,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
    },
    /// A turn began or ended.
    #[serde(rename = "session:turn")]
    SessionTurn {
        /// The session.
        session_id: SessionId,
        /// What happened.
        payload: TurnEvent,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
    },
    /// To all.
    #[serde(rename = "session:title-updated")]
    SessionTitleUpdated {
        /// The session.
        session_id: SessionId,
        /// The title.
        title: String,
    },
    /// To all.
    #[serde(rename = "session:archived")]
    SessionArchived {
        /// The session.
        session_id: SessionId,
    },
    /// To all, and on connect.
    #[serde(rename = "agent:status")]
    AgentStatus {
        /// The agent.
        cli_type: CliType,
        /// Its process.
        status: AgentStatus,
        /// Of an agent with a process per session: which.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Which try this is.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// When the next try is.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
        /// The evidence.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
    /// Something failed.
    #[serde(rename = "error")]
    Error {
        /// What went wrong.
        code: ErrorCode,
        /// What the user reads.
        message: String,
        /// The session it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Whether trying again may help.
        retryable: bool,
        /// The evidence.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
    /// What came after what was sent last of an item. Offsets count UTF-16 units.
    #[serde(rename = "session:tail")]
    SessionTail {
        /// The session.
        session_id: SessionId,
        /// The item.
        item_id: ItemId,
        /// Ascending within a session.
        #[cfg_attr(test, ts(type = "number"))]
        seq: u64,
        /// Where `text` begins in the content of the message or thought.
        #[cfg_attr(test, ts(type = "number"))]
        from: u64,
        /// What to put there.
        text: String,
        /// The first block that changed.
        #[cfg_attr(test, ts(type = "number"))]
        blocks_from: u64,
        /// How much of the previous HTML of that block stays.
        #[cfg_attr(test, ts(type = "number"))]
        keep: u64,
        /// What follows what stays: the rest of that block, then whole blocks.
        blocks: Vec<String>,
    },
    /// The message is on disk and on its way.
    #[serde(rename = "session:accepted")]
    SessionAccepted {
        /// The session.
        session_id: SessionId,
        /// The turn it began.
        turn_id: TurnId,
    },
    /// The entries above.
    #[serde(rename = "session:older")]
    SessionOlder {
        /// The session.
        session_id: SessionId,
        /// In index order.
        entries: Vec<UpsertObject>,
        /// The turns of these entries.
        turns: Vec<Turn>,
        /// The index that was asked about: a page that holds something else by now has no use for these.
        #[cfg_attr(test, ts(type = "number"))]
        before: u64,
        /// There is more before.
        older: bool,
    },
    /// Entries below an index.
    #[serde(rename = "session:newer")]
    SessionNewer {
        /// The session.
        session_id: SessionId,
        /// In index order.
        entries: Vec<UpsertObject>,
        /// The turns of these entries.
        turns: Vec<Turn>,
        /// The index that was asked about: a page that holds something else by now has no use for these.
        #[cfg_attr(test, ts(type = "number"))]
        after: u64,
        /// There is more after these.
        newer: bool,
    },
    /// To all.
    #[serde(rename = "session:state")]
    SessionState {
        /// The session.
        session_id: SessionId,
        /// Its project.
        project_id: ProjectId,
        /// What it is doing.
        state: SessionState,
        /// Changes on send and on turn end.
        last_active_at: Timestamp,
    },
    /// To all.
    #[serde(rename = "session:unarchived")]
    SessionUnarchived {
        /// The session.
        session_id: SessionId,
        /// Its row.
        session: SessionListItem,
    },
    /// To all.
    #[serde(rename = "session:deleted")]
    SessionDeleted {
        /// The session.
        session_id: SessionId,
    },
    /// To all.
    #[serde(rename = "session:policy")]
    SessionPolicy {
        /// The session.
        session_id: SessionId,
        /// From now on.
        policy: Policy,
    },
    /// The catalogue.
    #[serde(rename = "agents:list")]
    AgentsList {
        /// The agents.
        agents: Vec<Agent>,
    },
    /// Directories that begin so.
    #[serde(rename = "path:completions")]
    PathCompletions {
        /// What was asked.
        prefix: String,
        /// Whole paths.
        entries: Vec<String>,
    },
    /// What was found.
    #[serde(rename = "search:results")]
    SearchResults {
        /// What was asked.
        query: String,
        /// Best first.
        hits: Vec<Hit>,
        /// There are more.
        more: bool,
    },
    /// Reply to requests without one of their own.
    #[serde(rename = "ok")]
    Ok {},
}

/// Whether a history replaces what the browser has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum HistoryMode {
    /// It does.
    Snapshot,
    /// It is what changed since the cursor.
    Since,
}

/// One item found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hit {
    /// The session.
    pub session_id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its title.
    pub title: String,
    /// Its agent.
    pub cli_type: CliType,
    /// The item.
    pub item_id: ItemId,
    /// The item's place.
    #[cfg_attr(test, ts(type = "number"))]
    pub index: u64,
    /// When it began.
    pub at: Timestamp,
    /// The item's `type`.
    pub kind: String,
    /// The words around the match.
    pub snippet: Vec<Snippet>,
}

/// A run of a hit's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Snippet {
    /// Plain text.
    pub text: String,
    /// Whether this run is what was looked for.
    #[serde(rename = "match")]
    pub matched: bool,
}
