//! Errors of sessions, as the user gets them.

use liminal_agents::ProviderError;
use liminal_contract::{ErrorCode, SessionId};

use crate::failure::Failure;
use crate::journal::JournalError;

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error.details() {
            Some(details) => failure.with_details(details),
            None => failure,
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let what_to_do =
            "Try again; if it keeps failing, `liminal doctor` shows whether the file is damaged.";
        Self::new(ErrorCode::StoreCorrupt, format!("{error}. {what_to_do}"))
    }
}

pub fn not_found(session: &SessionId) -> Failure {
    Failure::new(
        ErrorCode::SessionNotFound,
        "Session not found. It may have been deleted in another window.",
    )
    .about(session.clone())
}

/// A newer version replaced the session.
pub fn read_only(session: &SessionId) -> Failure {
    let message = "This is an earlier version, which can only be read. Continue in the newer one, or branch from here.";
    Failure::new(ErrorCode::SessionReadOnly, message).about(session.clone())
}

/// The same `requestId` arrived with a different message.
pub fn other_content(session: &SessionId) -> Failure {
    Failure::invalid("this `requestId` was used before with other content; send with a new one")
        .about(session.clone())
}

/// The session's task ended during a request. The next request starts it again.
pub fn task_ended(session: &SessionId) -> Failure {
    let message = "Unexpected server error in this session. No messages were lost; try again.";
    Failure::new(ErrorCode::InternalError, message).about(session.clone())
}
