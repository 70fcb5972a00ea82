//! The answer one request is owed.

use std::sync::Arc;

use liminal_contract::{Frame, ServerMessage};

use super::outbox::Outbox;
use crate::failure::Failure;

/// Owed to one request, and given exactly once: when it is dropped unanswered, because a task panicked or forgot,
/// the browser is told so instead of waiting for ever.
#[derive(Debug)]
pub struct Reply {
    outbox: Arc<Outbox>,
    request_id: Option<String>,
    is_owed: bool,
}

impl Reply {
    /// To a request with this id.
    pub fn new(outbox: Arc<Outbox>, request_id: Option<String>) -> Self {
        Self { outbox, request_id, is_owed: true }
    }

    /// The id the asker gave.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Answers.
    pub fn with(mut self, message: ServerMessage) {
        self.give(message);
    }

    /// Answers that it failed.
    pub fn fail(self, failure: impl Into<Failure>) {
        self.with(failure.into().into_message());
    }

    /// Answers with what became of it.
    pub fn settle<E: Into<Failure>>(self, outcome: Result<ServerMessage, E>) {
        match outcome {
            Ok(message) => self.with(message),
            Err(error) => self.fail(error),
        }
    }

    /// For a request whose answer went another way: an opening's is its history, which must stay in order with what
    /// follows it.
    pub fn none(mut self) {
        self.is_owed = false;
    }

    fn give(&mut self, message: ServerMessage) {
        self.is_owed = false;
        self.outbox.reply(&Frame { request_id: self.request_id.take(), message });
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.is_owed {
            tracing::error!(request_id = ?self.request_id, "a request was dropped unanswered");
            self.give(Failure::unexpected().into_message());
        }
    }
}
