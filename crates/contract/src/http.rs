//! Request and response bodies of the HTTP routes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AttachmentRef, CliType, OptionValue, Policy, ProjectId, SessionId, Timestamp, TurnId};

/// `POST /api/session/create`. Either `projectDir` or `projectId` names the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateSession {
    /// A plain string, so that an invalid one is answered with `UNSUPPORTED_CLI_TYPE`.
    pub cli_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Values of the agent's own options, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, OptionValue>,
    /// A choice among the options that skips questions is meant. Needed once per project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
}

/// The response to create and load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHandle {
    pub session_id: SessionId,
    pub cli_type: CliType,
}

/// `GET /api/session/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// Only sessions that are attached to an agent.
    pub sessions: Vec<AttachedSession>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSession {
    pub session_id: SessionId,
    pub cli_type: CliType,
    pub project_id: ProjectId,
    pub status: AttachedState,
    pub title: String,
    /// Changes when a message is sent and when a turn ends.
    pub last_active_at: Timestamp,
}

/// Whether a session is attached to its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachedState {
    /// Attached.
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
    pub session_id: SessionId,
    pub cli_type: CliType,
    /// Whether the agent's process is running.
    pub is_alive: bool,
    pub state: AttachedState,
}

/// `POST /api/session/:id/send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// Markdown.
    pub content: String,
    /// Beside the files that the content mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentRef>,
    /// Only a UUID is deduplicated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The response to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendAccepted {
    /// The turn this message started.
    pub turn_id: TurnId,
}

/// `POST /api/login`: `code` or `token`, and `key` or `pageSecret`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Login {
    /// Valid once, for 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The uncompressed point of an ECDSA P-256 public key, in base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// For browsers without keys: 64 hexadecimal digits that the page keeps in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_secret: Option<String>,
    /// The previous id of this browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// The response to login.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    /// The id of this browser.
    pub browser: String,
    /// The key with which the server proves its identity to this browser.
    pub proof_key: String,
}

/// `POST /api/challenge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskChallenge {
    /// The id of this browser.
    pub browser: String,
    /// Random; part of the server's proof.
    pub nonce: String,
}

/// The response to `POST /api/challenge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// Valid once, for 30 seconds.
    pub challenge: String,
    /// HMAC over nonce, origin and challenge, keyed by the `proofKey` of the login.
    pub proof: String,
}

/// `POST /api/ticket`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskTicket {
    /// The id of this browser.
    pub browser: String,
    /// As received.
    pub challenge: String,
    /// A signature in base64url, or an HMAC in hexadecimal under the `pageSecret`.
    pub answer: String,
}

/// The response to `POST /api/ticket`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// Replaces the token, but only at the address that requested it.
    pub ticket: String,
    /// How long new connections and requests may use it.
    pub seconds: u64,
    /// Seals what the page keeps in the browser. It changes only with the token, and the page never stores it.
    pub storage_key: String,
}

/// `GET /api/browsers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Browsers {
    /// Logged-in browsers, the most recently seen first.
    pub browsers: Vec<BrowserEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserEntry {
    pub id: String,
    /// Such as `Firefox on Linux`.
    pub name: String,
    /// The address it logged in at.
    pub origin: String,
    /// When it first logged in.
    pub first_seen: Timestamp,
    /// When it last asked for a ticket, to the minute.
    pub last_seen: Timestamp,
    /// Whether it sent this request.
    pub is_current: bool,
    /// Whether its login outlives the page.
    pub is_lasting: bool,
}

/// `GET /api/prove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// HMAC over the page's nonce and the server's address, keyed by the token.
    pub proof: String,
}

/// `GET /api/health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    pub version: String,
}

/// `GET /api/about`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub version: String,
    pub data_dir: String,
}

/// `POST /api/outside/keep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeepOutside {
    /// Absolute. Empty: the projects there are.
    #[serde(default)]
    pub directories: Vec<String>,
}
