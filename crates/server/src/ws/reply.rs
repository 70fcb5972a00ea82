//! The answer to one request.

use std::sync::Arc;

use liminal_contract::{Frame, ServerMessage};

use crate::failure::Failure;
use crate::feed::Outbox;

/// Sent exactly once: if it is dropped unanswered, because a task panicked or forgot, the browser gets an error instead
/// of waiting forever.
#[derive(Debug)]
pub struct Reply {
    outbox: Arc<Outbox>,
    request_id: Option<String>,
    is_owed: bool,
}

impl Reply {
    pub fn new(outbox: Arc<Outbox>, request_id: Option<String>) -> Self {
        Self { outbox, request_id, is_owed: true }
    }

    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    pub fn with(mut self, message: ServerMessage) {
        self.give(message);
    }

    pub fn fail(self, failure: impl Into<Failure>) {
        self.with(failure.into().into_message());
    }

    pub fn settle<E: Into<Failure>>(self, outcome: Result<ServerMessage, E>) {
        match outcome {
            Ok(message) => self.with(message),
            Err(error) => self.fail(error),
        }
    }

    /// For a request that is answered elsewhere: an opening is answered by its history, which must stay in order with
    /// the updates after it.
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
            tracing::error!(request_id = ?self.request_id, "a request got no answer");
            self.give(Failure::unexpected().into_message());
        }
    }
}

#[cfg(test)]
mod tests {
    use liminal_contract::ErrorCode;

    use super::*;

    #[tokio::test]
    async fn a_request_that_nothing_answers_gets_an_internal_error() {
        let outbox = Arc::new(Outbox::default());
        let reply = Reply::new(outbox.clone(), Some("7".into()));
        let forgets = tokio::spawn(async move {
            let _kept = reply;
            panic!("as the test wants");
        });
        assert!(forgets.await.is_err());
        let frame: Frame = serde_json::from_slice(&outbox.next().await.unwrap()).unwrap();
        assert_eq!(frame.request_id.as_deref(), Some("7"));
        let ServerMessage::Error { code, retryable, .. } = frame.message else {
            panic!("no error")
        };
        assert_eq!((code, retryable), (ErrorCode::InternalError, code.retryable()));
    }
}
