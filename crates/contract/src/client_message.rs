//! What a browser asks over the socket.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CliType, Cursor, ItemId, Policy, ProjectId, SessionId};

/// A message and the id its reply will carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Request {
    /// Only a UUID is deduplicated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What is asked.
    #[serde(flatten)]
    pub message: ClientMessage,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ClientMessage {
    /// All projects.
    #[serde(rename = "project:list")]
    ProjectList {},
    /// Make a directory a project.
    #[serde(rename = "project:add")]
    ProjectAdd {
        /// Absolute, or beginning with `~`.
        path: String,
    },
    /// Forget a project; its sessions are kept.
    #[serde(rename = "project:remove")]
    ProjectRemove {
        /// The project.
        project_id: ProjectId,
    },
    /// The sessions of a project, newest first.
    #[serde(rename = "session:list")]
    SessionList {
        /// The project.
        project_id: ProjectId,
        /// The archived ones instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
    },
    /// A new conversation.
    #[serde(rename = "session:create")]
    SessionCreate {
        /// Where it works.
        project_id: ProjectId,
        /// With which agent.
        cli_type: CliType,
        /// Absent: the server's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<Policy>,
    },
    /// Read a session and follow it.
    #[serde(rename = "session:open")]
    SessionOpen {
        /// The session.
        session_id: SessionId,
        /// How far it was seen before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Cursor>,
        /// Open at this item instead of the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        around: Option<ItemId>,
        /// Send a growing item as what came after what was sent last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tails: Option<bool>,
    },
    /// Say something to the agent.
    #[serde(rename = "session:send")]
    SessionSend {
        /// The session.
        session_id: SessionId,
        /// Markdown.
        content: String,
    },
    /// Stop the running turn.
    #[serde(rename = "session:cancel")]
    SessionCancel {
        /// The session.
        session_id: SessionId,
    },
    /// Hide a session.
    #[serde(rename = "session:archive")]
    SessionArchive {
        /// The session.
        session_id: SessionId,
    },
    /// Start a disconnected agent again.
    #[serde(rename = "session:reconnect")]
    SessionReconnect {
        /// The agent.
        cli_type: CliType,
        /// Of an agent with a process per session: which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    },
    /// Stop following.
    #[serde(rename = "session:close")]
    SessionClose {
        /// The session.
        session_id: SessionId,
    },
    /// The entries above.
    #[serde(rename = "session:older")]
    SessionOlder {
        /// The session.
        session_id: SessionId,
        /// Entries whose index is less than this.
        #[cfg_attr(test, ts(type = "number"))]
        before: u64,
    },
    /// The entries below.
    #[serde(rename = "session:newer")]
    SessionNewer {
        /// The session.
        session_id: SessionId,
        /// Entries whose index is greater than this.
        #[cfg_attr(test, ts(type = "number"))]
        after: u64,
    },
    /// Answer a permission.
    #[serde(rename = "session:permission")]
    SessionPermission {
        /// The session.
        session_id: SessionId,
        /// The permission.
        item_id: ItemId,
        /// Absent: cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option_id: Option<String>,
        /// Answers to questions, by question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<BTreeMap<String, String>>,
    },
    /// Give a session a title.
    #[serde(rename = "session:rename")]
    SessionRename {
        /// The session.
        session_id: SessionId,
        /// The title.
        title: String,
    },
    /// Show an archived session again.
    #[serde(rename = "session:unarchive")]
    SessionUnarchive {
        /// The session.
        session_id: SessionId,
    },
    /// Remove a session and its transcript for good.
    #[serde(rename = "session:delete")]
    SessionDelete {
        /// The session.
        session_id: SessionId,
    },
    /// Change what happens when the agent asks.
    #[serde(rename = "session:policy")]
    SessionPolicy {
        /// The session.
        session_id: SessionId,
        /// From now on.
        policy: Policy,
    },
    /// The catalogue.
    #[serde(rename = "agents:list")]
    AgentsList {},
    /// Directories that begin so.
    #[serde(rename = "path:complete")]
    PathComplete {
        /// What was typed so far.
        prefix: String,
    },
    /// Find something said in any session.
    #[serde(rename = "search")]
    Search {
        /// Words, "phrases", and prefixes.
        query: String,
        /// At most this many hits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
}
