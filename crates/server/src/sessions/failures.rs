//! How what can go wrong with a session is told to the user.

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
            "Try again; if it stays so, `liminal doctor` says whether the file is damaged.";
        Self::new(ErrorCode::StoreCorrupt, format!("{error}. {what_to_do}"))
    }
}

/// No session of that id.
pub fn not_found(session: &SessionId) -> Failure {
    Failure::new(
        ErrorCode::SessionNotFound,
        "Session not found. It may have been deleted in another window.",
    )
    .about(session.clone())
}

/// The same `requestId` came with other words.
pub fn other_content(session: &SessionId) -> Failure {
    Failure::invalid("`requestId` was used before with other content; send with a new one")
        .about(session.clone())
}

/// The task of a session ended under a request. It is made anew by the next one.
pub fn task_ended(session: &SessionId) -> Failure {
    let message = "Unexpected server error in this session. Nothing said was lost; try again.";
    Failure::new(ErrorCode::InternalError, message).about(session.clone())
}
