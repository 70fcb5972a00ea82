//! Bodies of the HTTP routes.

use serde::{Deserialize, Serialize};

use crate::{CliType, Policy, ProjectId, SessionId, Timestamp, TurnId};

/// `POST /api/session/create`. One of `projectDir` and `projectId` names the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateSession {
    /// With which agent. Checked against the catalogue, so that an odd one is `UNSUPPORTED_CLI_TYPE`.
    pub cli_type: String,
    /// A project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<String>,
    /// A project's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// The answer to create and load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHandle {
    /// The session.
    pub session_id: SessionId,
    /// Its agent.
    pub cli_type: CliType,
}

/// `GET /api/session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// Sessions attached to an agent.
    pub sessions: Vec<AttachedSession>,
}

/// One session that is attached to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSession {
    /// The session.
    pub session_id: SessionId,
    /// Its agent.
    pub cli_type: CliType,
    /// Its project.
    pub project_id: ProjectId,
    /// Its attachment.
    pub status: AttachedState,
    /// Its title.
    pub title: String,
    /// Changes on send and on turn end.
    pub last_active_at: Timestamp,
}

/// A session's attachment to its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachedState {
    /// The agent knows it.
    Open,
    /// Being attached.
    Loading,
    /// The agent is gone.
    Dead,
}

/// `GET /api/session/:id/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// The session.
    pub session_id: SessionId,
    /// Its agent.
    pub cli_type: CliType,
    /// Whether the agent's process lives.
    pub is_alive: bool,
    /// Its attachment.
    pub state: AttachedState,
}

/// `POST /api/session/:id/send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// Markdown.
    pub content: String,
    /// Only a UUID is deduplicated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The answer to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendAccepted {
    /// In every event of that turn.
    pub turn_id: TurnId,
}

/// `POST /api/login`: one of the two.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// One use, thirty seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The credential itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The answer to login.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The credential.
    pub token: String,
}

/// `GET /api/prove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// HMAC over the page's nonce and the server's own address, keyed by the credential.
    pub proof: String,
}

/// `GET /api/health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Of the program.
    pub version: String,
}

/// `GET /api/about`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// Of the program.
    pub version: String,
    /// Where projects, sessions and transcripts are kept.
    pub data_dir: String,
}
