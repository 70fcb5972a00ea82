//! Why a request failed, in the same words over the socket and over HTTP.
//!
//! Every boundary has its own error enum; each becomes a `Failure` in one place, next to the enum.

use liminal_contract::{AuthMethod, Details, ErrorBody, ErrorCode, ServerMessage, SessionId};
use liminal_render::{terminal_text, visible};

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: ErrorCode,
    /// What happened and what to do next.
    pub message: String,
    pub session_id: Option<SessionId>,
    /// The evidence. Boxed, because most failures have none and every `Result` would carry its size.
    pub details: Option<Box<Details>>,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), session_id: None, details: None }
    }

    /// A request that doesn't match the contract; `what` names the field and the problem.
    pub fn invalid(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::InvalidMessage, format!("Invalid request payload: {what}."))
    }

    /// A bug of ours. The log has the cause.
    pub fn unexpected() -> Self {
        let message = "Unexpected server error. Try again; liminal's terminal output says more.";
        Self::new(ErrorCode::InternalError, message)
    }

    pub fn with_details(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }

    pub fn about(self, session_id: SessionId) -> Self {
        Self { session_id: Some(session_id), ..self }
    }

    /// For the socket.
    pub fn into_message(self) -> ServerMessage {
        ServerMessage::Error {
            code: self.code,
            message: visible(&self.message),
            session_id: self.session_id,
            retryable: self.code.retryable(),
            details: self.details.map(|details| shown(*details)),
        }
    }

    /// For HTTP.
    pub fn into_body(self) -> ErrorBody {
        ErrorBody {
            code: self.code,
            message: visible(&self.message),
            retryable: self.code.retryable(),
            details: self.details.map(|details| shown(*details)),
        }
    }
}

/// Details as users get them: what agents wrote there hides and reorders nothing.
pub fn shown(details: Details) -> Details {
    let method = |method: AuthMethod| AuthMethod {
        id: method.id,
        name: visible(&method.name),
        description: method.description.as_deref().map(visible),
        command: method.command.as_deref().map(visible),
    };
    Details {
        command: details.command.as_deref().map(visible),
        stderr_tail: details.stderr_tail.map(|tail| visible(&terminal_text(&tail))),
        auth_methods: details.auth_methods.map(|them| them.into_iter().map(method).collect()),
        hint: details.hint.as_deref().map(visible),
        path: details.path.as_deref().map(visible),
        interrupted: details.interrupted,
        resets_at: details.resets_at,
        conflicts: details.conflicts.map(|them| them.iter().map(|path| visible(path)).collect()),
        undo: details.undo,
        undone: details.undone,
        link: details.link,
    }
}
