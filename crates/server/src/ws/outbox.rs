//! What waits to be written to one browser: replies in order, and of every session it follows the newest state of
//! each item.
//!
//! An upsert replaces the one before it, so a state that was not written yet gives way to a newer one, which takes
//! its place at the end. Frames of one session therefore leave in strictly ascending `seq`, and what a slow browser
//! costs is bounded by the items, not by the updates. Turn events and replies are never dropped. The outbox knows
//! nothing of sockets: whoever owns one asks for the [`next`](Outbox::next) text.

mod followed;
mod tail;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use liminal_contract::{Frame, ServerMessage, SessionId, UpsertObject};
use tokio::sync::Notify;

pub use followed::{Follow, Told};
use followed::{Followed, History};

/// A browser that lets more than this wait is dropped; it comes back with its cursors.
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

/// What waits for one browser. Anyone may add to it, one writer takes.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Notify,
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    replies: VecDeque<Utf8Bytes>,
    followed: Vec<Followed>,
    /// Whose turn it is, so that one busy session does not keep the others waiting.
    turn: usize,
    bytes: usize,
    closing: Option<Closing>,
}

impl Outbox {
    /// Says something to this browser that is not part of a followed conversation.
    pub fn reply(&self, frame: &Frame) {
        if let Some(text) = to_text(frame) {
            self.push(text);
        }
    }

    /// The same, for a frame that was serialised once for many.
    pub fn push(&self, text: Utf8Bytes) {
        self.change(|state| {
            state.bytes += text.len();
            state.replies.push_back(text);
        });
    }

    /// An opening was asked for. Unless the session is closed before, [`follow`](Self::follow) takes it up.
    pub fn expect(&self, session: &SessionId, follow: Follow) {
        self.change(|state| {
            if state.find(session).is_none() {
                state.followed.push(Followed::new(session.clone(), 0, follow));
            }
        });
    }

    /// Begins to follow a session, or follows it anew: what was queued for it goes, and what comes is held back until
    /// [`history`](Self::history) says from where on it is wanted. `opening` names this opening: the history of an
    /// earlier one comes too late.
    pub fn follow(&self, session: &SessionId, opening: u64, follow: Follow) {
        self.change(|state| {
            state.forget(session);
            state.followed.push(Followed::new(session.clone(), opening, follow));
        });
    }

    /// The history that an opening asked for, read when the session was at `seq`. Where the session was closed or opened
    /// again meanwhile it comes too late; the request is answered in any case.
    pub fn history(&self, session: &SessionId, opening: u64, seq: u64, frame: &Frame) {
        let Some(text) = to_text(frame) else { return };
        let history = History { text, request_id: frame.request_id.clone() };
        self.change(|state| {
            let begun = match state.find(session) {
                Some(followed) => followed.begin(opening, seq, history),
                None => Err(history),
            };
            match begun {
                Ok(freed) => state.bytes = state.bytes.saturating_sub(freed),
                Err(too_late) => state.answer_without(too_late),
            }
        });
    }

    /// Stops following.
    pub fn unfollow(&self, session: &SessionId) {
        self.change(|state| state.forget(session));
    }

    /// A committed change of a session that may be followed here.
    pub fn tell(&self, session: &SessionId, seq: u64, told: &Told) {
        self.change(|state| {
            let Some(followed) = state.find(session) else { return };
            let grown = followed.queue(seq, told.clone());
            state.bytes = state.bytes.saturating_add_signed(grown);
        });
    }

    /// How this browser follows a session; `None` when it does not.
    pub fn follows(&self, session: &SessionId) -> Option<Follow> {
        self.lock().find(session).map(|followed| followed.follow())
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
            if let Some(next) = self.lock().next() {
                self.taken.notify_one();
                return next;
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

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        if state.closing.is_some() {
            return;
        }
        change(&mut state);
        // One thing alone may be as long as it is: dropping the browser for it would only bring it back for the same.
        if state.bytes > MOST_WAITING && state.waiting() > 1 {
            state.close(Closing::TooSlow);
        }
        drop(state);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change leaves the state whole, so a panic elsewhere while it was held does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Option<Result<Utf8Bytes, Closing>> {
        if let Some(why) = self.closing {
            return Some(Err(why));
        }
        if let Some(text) = self.replies.pop_front() {
            self.bytes = self.bytes.saturating_sub(text.len());
            return Some(Ok(text));
        }
        let count = self.followed.len();
        for step in 0..count {
            let at = (self.turn + step) % count;
            if let Some((text, freed)) = self.followed[at].pop() {
                self.turn = at + 1;
                self.bytes = self.bytes.saturating_sub(freed);
                return Some(Ok(text));
            }
        }
        None
    }

    fn close(&mut self, why: Closing) {
        self.closing.get_or_insert(why);
        self.replies.clear();
        self.followed.clear();
        self.bytes = 0;
    }

    fn waiting(&self) -> usize {
        self.replies.len() + self.followed.iter().map(Followed::len).sum::<usize>()
    }

    fn find(&mut self, session: &SessionId) -> Option<&mut Followed> {
        self.followed.iter_mut().find(|followed| followed.session() == session)
    }

    fn forget(&mut self, session: &SessionId) {
        if let Some(at) = self.followed.iter().position(|followed| followed.session() == session) {
            let gone = self.followed.swap_remove(at);
            self.bytes = self.bytes.saturating_sub(gone.bytes());
            if let Some(unsent) = gone.into_history() {
                self.answer_without(unsent);
            }
        }
    }

    /// A history that nobody wants any more was asked for all the same.
    fn answer_without(&mut self, history: History) {
        let Some(request_id) = history.request_id else { return };
        let ok = Frame { request_id: Some(request_id), message: ServerMessage::Ok {} };
        if let Some(text) = to_text(&ok) {
            self.bytes += text.len();
            self.replies.push_back(text);
        }
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

/// About how much an item weighs while it waits.
fn weight(item: &Arc<UpsertObject>) -> usize {
    use liminal_contract::{Body, Part};
    let of_blocks = |blocks: &[String]| blocks.iter().map(String::len).sum::<usize>();
    let of_parts = |parts: &[Part]| {
        parts
            .iter()
            .map(|part| match part {
                Part::Text { html }
                | Part::Code { html }
                | Part::Diff { html }
                | Part::Terminal { html } => html.len(),
                Part::Image { url } => url.len(),
            })
            .sum::<usize>()
    };
    let body = match &item.body {
        Body::Message { content, blocks, .. } | Body::Thinking { content, blocks, .. } => {
            content.len() + of_blocks(blocks)
        }
        Body::ToolCall { tool_output, parts, .. } => {
            tool_output.as_ref().map_or(0, String::len) + of_parts(parts)
        }
        Body::Permission { parts, .. } => of_parts(parts),
        Body::Plan { .. } | Body::Notice { .. } => 0,
    };
    body + 512
}

#[cfg(test)]
mod tests;
