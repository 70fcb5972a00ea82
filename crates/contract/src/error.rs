//! Error codes, and the error body of both HTTP and the socket.

use serde::{Deserialize, Serialize};

use crate::{SessionId, Timestamp};

/// A code never changes its name. `docs/errors.md` lists them all; a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ErrorCode {
    /// The message doesn't match the contract.
    InvalidMessage,
    /// No credential, or a wrong one.
    Unauthorized,
    /// No such browser is logged in.
    BrowserNotFound,
    /// The directory is missing, not a directory, not readable, or `/`.
    ProjectPathInvalid,
    /// The directory is already a project, perhaps under another spelling.
    ProjectDuplicate,
    ProjectNotFound,
    /// The request must name a project.
    ProjectIdRequired,
    SessionNotFound,
    SessionBusy,
    /// A newer version replaced the session.
    SessionReadOnly,
    /// Somebody works on the session in another program.
    SessionElsewhere,
    /// The agent is running but refused to create a session.
    SessionCreateFailed,
    /// The catalogue has no such agent.
    UnsupportedCliType,
    /// Not installed, won't start, no handshake, or disconnected after five attempts.
    AgentUnavailable,
    /// The user must log in to the agent.
    AuthRequired,
    /// The process ended during a turn or a send.
    ProcessCrash,
    /// The agent or its model answered a prompt with an error.
    AgentProtocolError,
    /// The agent broke the protocol.
    ProtocolError,
    /// A canonical event from outside failed validation.
    InvalidStreamEvent,
    /// The agent didn't react to a cancel in time.
    InterruptFailed,
    /// The permission was answered elsewhere or cancelled, or the agent is gone.
    PermissionClosed,
    /// The agent doesn't offer that value of an option, or refused it.
    OptionRefused,
    /// The choice skips questions, and the user has not confirmed it in this project.
    OptionUnconfirmed,
    /// The session's directory isn't in a git repository.
    NotARepository,
    /// git failed; the message has its own words.
    GitFailed,
    /// The repository or the worktree is not in a state for it; the message says why.
    ActRefused,
    CompareNotFound,
    /// A turn runs in this directory.
    WorkspaceBusy,
    /// The files, the branch or the base changed since the preview.
    ChangedMeanwhile,
    /// The branch and its base changed the same lines.
    LandConflict,
    /// The queued message was sent, removed or changed in the meantime.
    QueueGone,
    /// An attachment has more bytes or pixels than agents take.
    AttachmentTooLarge,
    /// Neither a picture nor text, or not what this agent takes.
    AttachmentUnsupported,
    /// The attachment was never uploaded, was deleted in the meantime, or the file is gone.
    AttachmentNotFound,
    /// One of our own files can't be read.
    StoreCorrupt,
    /// The disk is full.
    StoreFull,
    /// A bug in Liminal.
    InternalError,
}

impl ErrorCode {
    /// Every code, in the order of the contract.
    pub const ALL: [Self; 37] = [
        Self::InvalidMessage,
        Self::Unauthorized,
        Self::BrowserNotFound,
        Self::ProjectPathInvalid,
        Self::ProjectDuplicate,
        Self::ProjectNotFound,
        Self::ProjectIdRequired,
        Self::SessionNotFound,
        Self::SessionBusy,
        Self::SessionReadOnly,
        Self::SessionElsewhere,
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
        Self::OptionRefused,
        Self::OptionUnconfirmed,
        Self::NotARepository,
        Self::GitFailed,
        Self::ActRefused,
        Self::ChangedMeanwhile,
        Self::CompareNotFound,
        Self::LandConflict,
        Self::WorkspaceBusy,
        Self::QueueGone,
        Self::AttachmentTooLarge,
        Self::AttachmentUnsupported,
        Self::AttachmentNotFound,
        Self::StoreCorrupt,
        Self::StoreFull,
        Self::InternalError,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidMessage => "INVALID_MESSAGE",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::BrowserNotFound => "BROWSER_NOT_FOUND",
            Self::ProjectPathInvalid => "PROJECT_PATH_INVALID",
            Self::ProjectDuplicate => "PROJECT_DUPLICATE",
            Self::ProjectNotFound => "PROJECT_NOT_FOUND",
            Self::ProjectIdRequired => "PROJECT_ID_REQUIRED",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionBusy => "SESSION_BUSY",
            Self::SessionReadOnly => "SESSION_READ_ONLY",
            Self::SessionElsewhere => "SESSION_ELSEWHERE",
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
            Self::OptionRefused => "OPTION_REFUSED",
            Self::OptionUnconfirmed => "OPTION_UNCONFIRMED",
            Self::NotARepository => "NOT_A_REPOSITORY",
            Self::GitFailed => "GIT_FAILED",
            Self::ActRefused => "ACT_REFUSED",
            Self::CompareNotFound => "COMPARE_NOT_FOUND",
            Self::WorkspaceBusy => "WORKSPACE_BUSY",
            Self::ChangedMeanwhile => "CHANGED_MEANWHILE",
            Self::LandConflict => "LAND_CONFLICT",
            Self::QueueGone => "QUEUE_GONE",
            Self::AttachmentTooLarge => "ATTACHMENT_TOO_LARGE",
            Self::AttachmentUnsupported => "ATTACHMENT_UNSUPPORTED",
            Self::AttachmentNotFound => "ATTACHMENT_NOT_FOUND",
            Self::StoreCorrupt => "STORE_CORRUPT",
            Self::StoreFull => "STORE_FULL",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidMessage
            | Self::ProjectPathInvalid
            | Self::ProjectIdRequired
            | Self::UnsupportedCliType => 400,
            Self::Unauthorized => 401,
            Self::BrowserNotFound
            | Self::ProjectNotFound
            | Self::SessionNotFound
            | Self::CompareNotFound
            | Self::AttachmentNotFound => 404,
            Self::ProjectDuplicate
            | Self::SessionBusy
            | Self::SessionReadOnly
            | Self::SessionElsewhere
            | Self::PermissionClosed
            | Self::OptionRefused
            | Self::OptionUnconfirmed
            | Self::NotARepository
            | Self::ActRefused
            | Self::WorkspaceBusy
            | Self::ChangedMeanwhile
            | Self::LandConflict
            | Self::QueueGone => 409,
            Self::AttachmentTooLarge => 413,
            Self::AttachmentUnsupported => 415,
            Self::StoreCorrupt | Self::InternalError => 500,
            Self::SessionCreateFailed
            | Self::ProcessCrash
            | Self::AgentProtocolError
            | Self::ProtocolError
            | Self::InvalidStreamEvent
            | Self::InterruptFailed
            | Self::GitFailed => 502,
            Self::AgentUnavailable | Self::AuthRequired => 503,
            Self::StoreFull => 507,
        }
    }

    /// Whether the same request may succeed later without the user changing it.
    pub const fn retryable(self) -> bool {
        match self {
            Self::SessionBusy
            | Self::WorkspaceBusy
            | Self::SessionElsewhere
            | Self::SessionCreateFailed
            | Self::AgentUnavailable
            | Self::AuthRequired
            | Self::ProcessCrash
            | Self::AgentProtocolError
            | Self::ProtocolError
            | Self::InterruptFailed
            | Self::GitFailed
            | Self::StoreFull => true,
            Self::InvalidMessage
            | Self::Unauthorized
            | Self::BrowserNotFound
            | Self::ProjectPathInvalid
            | Self::ProjectDuplicate
            | Self::ProjectNotFound
            | Self::ProjectIdRequired
            | Self::SessionNotFound
            | Self::SessionReadOnly
            | Self::UnsupportedCliType
            | Self::InvalidStreamEvent
            | Self::PermissionClosed
            | Self::OptionRefused
            | Self::OptionUnconfirmed
            | Self::NotARepository
            | Self::ActRefused
            | Self::CompareNotFound
            | Self::ChangedMeanwhile
            | Self::LandConflict
            | Self::QueueGone
            | Self::AttachmentTooLarge
            | Self::AttachmentUnsupported
            | Self::AttachmentNotFound
            | Self::StoreCorrupt
            | Self::InternalError => false,
        }
    }
}

/// What to show below an error message. The user sees all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Details {
    /// A command to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The last lines the agent wrote to stderr, or to stdout outside its protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Ways to log in to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Vec<AuthMethod>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// When a used-up limit of the account is lifted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// The file or directory the error is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The other sessions that the same process was working on when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Vec<SessionId>>,
    /// The files in conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Vec<String>>,
    /// To what an act made elsewhere, such as a pull request. `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The act on changes that a notice tells of, for `undo-act`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The act that this one undid: its notice offers no Undo any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
}

/// One way to log in to an agent, as the agent offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AuthMethod {
    /// The agent's own id.
    pub id: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A command to type, for one that runs in a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The body of an HTTP error. The socket's `error` message has the same fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ErrorBody {
    pub code: ErrorCode,
    /// For the user: what happened and what to do next.
    pub message: String,
    /// Whether a retry may help.
    pub retryable: bool,
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
