//! Error codes and the body that HTTP and the socket both render.

use serde::{Deserialize, Serialize};

/// What went wrong, permanently named. `docs/errors.md` lists them all, and a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ErrorCode {
    /// Not the contract's shape.
    InvalidMessage,
    /// No credential, or a wrong one.
    Unauthorized,
    /// The directory is missing, not a directory, not readable, or `/`.
    ProjectPathInvalid,
    /// The same directory is a project already, however spelled.
    ProjectDuplicate,
    /// No such project.
    ProjectNotFound,
    /// The request must name a project.
    ProjectIdRequired,
    /// No such session.
    SessionNotFound,
    /// A turn is running.
    SessionBusy,
    /// The agent runs but refused to make a session.
    SessionCreateFailed,
    /// No such agent in the catalogue.
    UnsupportedCliType,
    /// Not installed, won't start, no handshake, or disconnected after five tries.
    AgentUnavailable,
    /// The agent wants a login.
    AuthRequired,
    /// The process ended under a running turn or a send.
    ProcessCrash,
    /// The agent answered a prompt with an error of its own or of its model's.
    AgentProtocolError,
    /// The agent broke the protocol.
    ProtocolError,
    /// A canonical event from outside failed validation.
    InvalidStreamEvent,
    /// No answer to a cancel in time.
    InterruptFailed,
    /// Answered elsewhere, cancelled, or the agent left.
    PermissionClosed,
    /// A file of ours can't be read.
    StoreCorrupt,
    /// No room to write.
    StoreFull,
    /// A bug of ours.
    InternalError,
}

impl ErrorCode {
    /// Every code, in the order of the contract.
    pub const ALL: [Self; 21] = [
        Self::InvalidMessage,
        Self::Unauthorized,
        Self::ProjectPathInvalid,
        Self::ProjectDuplicate,
        Self::ProjectNotFound,
        Self::ProjectIdRequired,
        Self::SessionNotFound,
        Self::SessionBusy,
        Self::SessionCreateFailed,
        Self::UnsupportedCliType,
        Self::AgentUnavailable,
        Self::AuthRequired,
        Self::ProcessCrash,
        Self::AgentProtocolError,
        Self::ProtocolError,
        Self::InvalidStreamEvent,
        Self::InterruptFailed,
        Self::PermissionClosed,
        Self::StoreCorrupt,
        Self::StoreFull,
        Self::InternalError,
    ];

    /// As it travels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidMessage => "INVALID_MESSAGE",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::ProjectPathInvalid => "PROJECT_PATH_INVALID",
            Self::ProjectDuplicate => "PROJECT_DUPLICATE",
            Self::ProjectNotFound => "PROJECT_NOT_FOUND",
            Self::ProjectIdRequired => "PROJECT_ID_REQUIRED",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionBusy => "SESSION_BUSY",
            Self::SessionCreateFailed => "SESSION_CREATE_FAILED",
            Self::UnsupportedCliType => "UNSUPPORTED_CLI_TYPE",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::AuthRequired => "AUTH_REQUIRED",
            Self::ProcessCrash => "PROCESS_CRASH",
            Self::AgentProtocolError => "AGENT_PROTOCOL_ERROR",
            Self::ProtocolError => "PROTOCOL_ERROR",
            Self::InvalidStreamEvent => "INVALID_STREAM_EVENT",
            Self::InterruptFailed => "INTERRUPT_FAILED",
            Self::PermissionClosed => "PERMISSION_CLOSED",
            Self::StoreCorrupt => "STORE_CORRUPT",
            Self::StoreFull => "STORE_FULL",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    /// The status HTTP answers with.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidMessage
            | Self::ProjectPathInvalid
            | Self::ProjectIdRequired
            | Self::UnsupportedCliType => 400,
            Self::Unauthorized => 401,
            Self::ProjectNotFound | Self::SessionNotFound => 404,
            Self::ProjectDuplicate | Self::SessionBusy | Self::PermissionClosed => 409,
            Self::StoreCorrupt | Self::InternalError => 500,
            Self::SessionCreateFailed
            | Self::ProcessCrash
            | Self::AgentProtocolError
            | Self::ProtocolError
            | Self::InvalidStreamEvent
            | Self::InterruptFailed => 502,
            Self::AgentUnavailable | Self::AuthRequired => 503,
            Self::StoreFull => 507,
        }
    }

    /// Whether the same request may succeed later without the user changing it.
    pub const fn retryable(self) -> bool {
        match self {
            Self::SessionBusy
            | Self::SessionCreateFailed
            | Self::AgentUnavailable
            | Self::AuthRequired
            | Self::ProcessCrash
            | Self::AgentProtocolError
            | Self::ProtocolError
            | Self::InterruptFailed
            | Self::StoreFull => true,
            Self::InvalidMessage
            | Self::Unauthorized
            | Self::ProjectPathInvalid
            | Self::ProjectDuplicate
            | Self::ProjectNotFound
            | Self::ProjectIdRequired
            | Self::SessionNotFound
            | Self::UnsupportedCliType
            | Self::InvalidStreamEvent
            | Self::PermissionClosed
            | Self::StoreCorrupt
            | Self::InternalError => false,
        }
    }
}

/// What an error says beyond its sentence. Everything in it is shown to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Details {
    /// What to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The last the agent wrote to stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// How the agent can be logged in to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Vec<AuthMethod>>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The file or directory it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// One way to log in to an agent, as the agent offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AuthMethod {
    /// The agent's id of it.
    pub id: String,
    /// What to call it.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// An error as HTTP answers it; the socket's `error` message carries the same fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ErrorBody {
    /// What went wrong.
    pub code: ErrorCode,
    /// What the user reads: what happened and what to do next.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// The evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn every_code_is_spelled_as_it_travels() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
