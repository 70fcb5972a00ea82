//! What a request failed with, as the user is told over the socket and over HTTP alike.
//!
//! Every boundary has its own error enum; each becomes a `Failure` in one place, next to the enum.

use liminal_contract::{Details, ErrorBody, ErrorCode, ServerMessage, SessionId};

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The permanent name.
    pub code: ErrorCode,
    /// What happened and what to do next.
    pub message: String,
    /// The session it is about.
    pub session_id: Option<SessionId>,
    /// The evidence. Boxed, because most have none and every `Result` carries the room.
    pub details: Option<Box<Details>>,
}

impl Failure {
    /// A failure that its sentence explains.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), session_id: None, details: None }
    }

    /// A request that is not of the contract's shape; `what` names the field and what is wrong with it.
    pub fn invalid(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::InvalidMessage, format!("Invalid request payload: {what}."))
    }

    /// A defect of ours. What it was is in the log.
    pub fn unexpected() -> Self {
        let message =
            "Unexpected server error. Try again; what liminal printed in its terminal says more.";
        Self::new(ErrorCode::InternalError, message)
    }

    /// The same, with evidence.
    pub fn with_details(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }

    /// The same, about a session.
    pub fn about(self, session_id: SessionId) -> Self {
        Self { session_id: Some(session_id), ..self }
    }

    /// As the socket says it.
    pub fn into_message(self) -> ServerMessage {
        ServerMessage::Error {
            code: self.code,
            message: self.message,
            session_id: self.session_id,
            retryable: self.code.retryable(),
            details: self.details.map(|details| *details),
        }
    }

    /// As HTTP says it.
    pub fn into_body(self) -> ErrorBody {
        ErrorBody {
            code: self.code,
            message: self.message,
            retryable: self.code.retryable(),
            details: self.details.map(|details| *details),
        }
    }
}
