//! What waits to be written to one browser.
//!
//! Anyone may push, one writer takes. A browser that does not read is dropped with a code that makes it come back;
//! it never slows down who has something to say.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use axum::extract::ws::Utf8Bytes;
use liminal_contract::Frame;
use tokio::sync::Notify;

/// A browser that lets more than this wait is dropped.
const MOST_WAITING: usize = 4 * 1024 * 1024;

/// While more than this waits, no further request is read from this browser: a flood of questions waits for its
/// own answers, instead of being dropped for them.
const ENOUGH_WAITING: usize = MOST_WAITING / 4;

/// Why a connection ends. The numbers are part of `docs/protocol.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The program stops.
    Stopping,
    /// A message was too long even to be drained.
    TooLong,
    /// Too much waited for this browser. It should come back with its cursors.
    TooSlow,
    /// The credential it came with is void. It should ask for a new one.
    CredentialVoid,
}

impl Closing {
    /// The WebSocket close code.
    pub const fn code(self) -> u16 {
        match self {
            Self::Stopping => 1001,
            Self::TooLong => 1009,
            Self::TooSlow => 4000,
            Self::CredentialVoid => 4001,
        }
    }

    /// The WebSocket close reason.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Stopping => "Liminal Builder stopped",
            Self::TooLong => "a message over 64 MiB",
            Self::TooSlow => "too much waited to be read",
            Self::CredentialVoid => "the token was replaced",
        }
    }
}

/// The queue of one connection.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Notify,
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Utf8Bytes>,
    bytes: usize,
    closing: Option<Closing>,
}

impl Outbox {
    /// Says something to this browser.
    pub fn reply(&self, frame: &Frame) {
        if let Some(text) = to_text(frame) {
            self.push(text);
        }
    }

    /// The same, for a frame that was serialised once for many.
    pub fn push(&self, text: Utf8Bytes) {
        let mut state = self.lock();
        if state.closing.is_some() {
            return;
        }
        if !state.queue.is_empty() && state.bytes + text.len() > MOST_WAITING {
            state.close(Closing::TooSlow);
        } else {
            state.bytes += text.len();
            state.queue.push_back(text);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Ends the connection. What waits is not written any more.
    pub fn close(&self, why: Closing) {
        self.lock().close(why);
        self.changed.notify_one();
        self.taken.notify_one();
    }

    /// The next frame to write, or why there is none any more. For the one writer.
    pub async fn next(&self) -> Result<Utf8Bytes, Closing> {
        loop {
            {
                let mut state = self.lock();
                if let Some(why) = state.closing {
                    return Err(why);
                }
                if let Some(text) = state.queue.pop_front() {
                    state.bytes -= text.len();
                    self.taken.notify_one();
                    return Ok(text);
                }
            }
            self.changed.notified().await;
        }
    }

    /// Waits until the browser has read enough for its next request to be taken. For the one reader.
    pub async fn room(&self) {
        while self.lock().bytes > ENOUGH_WAITING {
            self.taken.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn close(&mut self, why: Closing) {
        self.closing.get_or_insert(why);
        self.queue.clear();
        self.bytes = 0;
    }
}

/// A frame as it travels.
pub(super) fn to_text(frame: &Frame) -> Option<Utf8Bytes> {
    match serde_json::to_string(frame) {
        Ok(json) => Some(json.into()),
        Err(error) => {
            // Only a map with keys that are not strings could do this, and the contract has none.
            tracing::error!(%error, "a frame could not be written as JSON");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Utf8Bytes {
        "x".repeat(length).into()
    }

    #[tokio::test]
    async fn frames_leave_in_the_order_they_came() {
        let outbox = Outbox::default();
        outbox.push("one".into());
        outbox.push("two".into());
        assert_eq!(outbox.next().await.unwrap().as_str(), "one");
        assert_eq!(outbox.next().await.unwrap().as_str(), "two");
    }

    #[tokio::test]
    async fn a_browser_that_does_not_read_is_dropped() {
        let outbox = Outbox::default();
        outbox.push(text(MOST_WAITING));
        outbox.push("one too many".into());
        assert_eq!(outbox.next().await, Err(Closing::TooSlow));
        outbox.push("ignored".into());
        assert_eq!(outbox.next().await, Err(Closing::TooSlow));
    }

    #[tokio::test]
    async fn one_long_frame_alone_is_written() {
        let outbox = Outbox::default();
        outbox.push(text(MOST_WAITING + 1));
        assert_eq!(outbox.next().await.unwrap().len(), MOST_WAITING + 1);
    }

    #[tokio::test]
    async fn the_first_reason_to_close_is_the_one_told() {
        let outbox = Outbox::default();
        outbox.push("never written".into());
        outbox.close(Closing::CredentialVoid);
        outbox.close(Closing::Stopping);
        assert_eq!(outbox.next().await, Err(Closing::CredentialVoid));
    }

    #[tokio::test]
    async fn there_is_room_again_when_enough_was_read() {
        let outbox = Outbox::default();
        outbox.room().await;
        outbox.push(text(ENOUGH_WAITING));
        outbox.push(text(1));
        let waits = async {
            outbox.room().await;
            "room"
        };
        let reads = async {
            outbox.next().await.unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            room = waits => assert_eq!(room, "room"),
            () = reads => {}
        }
    }
}
