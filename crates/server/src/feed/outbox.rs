//! Everything still to be written to one browser: replies in order, and for every session it follows the newest state
//! of each item.
//!
//! An upsert contains the whole item, so a newer one replaces one that was not written yet, and is queued at the end;
//! tails of one item that wait become one. Frames of one session are therefore written in strictly ascending `seq`,
//! and the cost of a slow browser is bounded by the items, not by the updates. Turn events and replies are never
//! dropped. The outbox doesn't know about sockets: their owner asks for the [`next`](Outbox::next) text.

mod followed;
mod tail;
mod update;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use liminal_contract::{Frame, ItemId, NowRow, ServerMessage, SessionId};
use serde::Serialize;
use tokio::sync::Notify;

pub use followed::Follow;
use followed::{Followed, History};
pub use tail::{SharedTail, Tail};
pub use update::Update;

/// In bytes. A browser for which more than this waits is dropped; it reconnects with its cursors.
const MOST_WAITING: usize = 4 * 1024 * 1024;

/// Unless it is only a few frames: a single frame may have any length, and a browser dropped for it would reconnect and
/// get the same frame again.
const FEW_FRAMES: usize = 3;

/// While more than this waits, no further request is read from this browser: a flood of requests waits for its own
/// answers, instead of getting the browser dropped.
const ENOUGH_WAITING: usize = MOST_WAITING / 4;

/// Why a connection ends. The numbers are part of `docs/protocol.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    Stopping,
    /// A message was too long even to be read and dropped.
    TooLong,
    /// Too much waited for this browser. It should reconnect with its cursors.
    TooSlow,
    /// Its credential is no longer valid. It should get a new one.
    CredentialVoid,
}

impl Closing {
    pub const fn code(self) -> u16 {
        match self {
            Self::Stopping => 1001,
            Self::TooLong => 1009,
            Self::TooSlow => 4000,
            Self::CredentialVoid => 4001,
        }
    }

    pub const fn reason(self) -> &'static str {
        match self {
            Self::Stopping => "Liminal Builder stopped",
            Self::TooLong => "a message was longer than 64 MiB",
            Self::TooSlow => "the browser reads too slowly",
            Self::CredentialVoid => "this login is no longer valid",
        }
    }
}

/// Anyone may add to it; a single writer takes.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Notify,
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    replies: VecDeque<Bytes>,
    followed: Vec<Followed>,
    /// The session of each page that is being read; see [`Reading`].
    reading: Vec<SessionId>,
    /// Where to look first in `followed`, so that one busy session does not keep the others waiting.
    next_followed: usize,
    /// The newest row of each session in Now that was not sent yet, `None` if it is gone. Absent: doesn't follow it.
    now: Option<BTreeMap<SessionId, Option<Arc<NowRow>>>>,
    bytes: usize,
    closing: Option<Closing>,
}

impl Outbox {
    /// Queues a frame that is not part of a followed session.
    pub fn reply(&self, frame: &Frame) {
        self.push(to_text_of(frame, size(frame)));
    }

    /// Like [`reply`](Self::reply), for a frame that was serialised once for many browsers.
    pub fn push(&self, text: Bytes) {
        self.change(|state| {
            state.bytes += text.len();
            state.replies.push_back(text);
        });
    }

    /// An opening was requested. [`follow`](Self::follow) completes it, unless the session is closed first.
    pub fn expect(&self, session: &SessionId, follow: Follow) {
        self.change(|state| {
            if state.find(session).is_none() {
                state.followed.push(Followed::new(session.clone(), 0, follow));
            }
        });
    }

    /// Starts or restarts following a session: queued updates are dropped, and new ones are held back until
    /// [`history`](Self::history) says from which `seq` on they are needed. `opening` identifies this opening, so that
    /// the history of an earlier one is recognised as too late.
    pub fn follow(&self, session: &SessionId, opening: u64, follow: Follow) {
        self.change(|state| {
            state.forget(session);
            state.followed.push(Followed::new(session.clone(), opening, follow));
        });
    }

    /// The history for an opening, read when the session was at `seq`. It is too late if the session was closed or
    /// opened again since; the request is answered in any case.
    pub fn history(&self, session: &SessionId, opening: u64, seq: u64, frame: &Frame) {
        let history =
            History { text: to_text_of(frame, size(frame)), request_id: frame.request_id.clone() };
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

    /// Sends what [`follow`](Self::follow) holds back, if no history will come.
    pub fn begin_without_history(&self, session: &SessionId) {
        self.change(|state| {
            if let Some(followed) = state.find(session) {
                followed.begin_without_history();
            }
        });
    }

    /// A page of a session's transcript is about to be read for this browser.
    pub fn read_page(self: &Arc<Self>, session: &SessionId) -> Reading {
        self.change(|state| state.reading.push(session.clone()));
        Reading { outbox: self.clone(), session: session.clone() }
    }

    pub fn unfollow(&self, session: &SessionId) {
        self.change(|state| state.forget(session));
    }

    /// A committed change of a session, which this browser may follow.
    pub fn tell(&self, session: &SessionId, seq: u64, update: &Update) {
        self.change(|state| {
            let Some(followed) = state.find(session) else { return };
            let grown = followed.queue(seq, update.clone());
            state.bytes = state.bytes.saturating_add_signed(grown);
        });
    }

    /// A committed growth of an item to `length` bytes of text; `whole` is its whole state after that.
    pub fn grow(
        &self,
        session: &SessionId,
        seq: u64,
        tail: &Arc<SharedTail>,
        length: usize,
        whole: &dyn Fn() -> Update,
    ) {
        self.change(|state| {
            let Some(followed) = state.find(session) else { return };
            let grown = followed.grow(seq, tail, length, whole);
            state.bytes = state.bytes.saturating_add_signed(grown);
        });
    }

    /// An item stays at `length` bytes of text. A browser that was not sent all of them gets it whole.
    pub fn settle(
        &self,
        session: &SessionId,
        seq: u64,
        item: &ItemId,
        length: usize,
        whole: &dyn Fn() -> Update,
    ) {
        self.change(|state| {
            let Some(followed) = state.find(session) else { return };
            let grown = followed.settle(seq, item, length, whole);
            state.bytes = state.bytes.saturating_add_signed(grown);
        });
    }

    /// How this browser follows a session, if it does.
    pub fn follows(&self, session: &SessionId) -> Option<Follow> {
        self.lock().find(session).map(|followed| followed.follow())
    }

    /// Follows Now from this answer on, which has every row.
    pub fn follow_now(&self, answer: &Frame) {
        self.change(|state| state.now = Some(BTreeMap::new()));
        self.reply(answer);
    }

    pub fn leave_now(&self) {
        self.change(|state| state.now = None);
    }

    pub fn follows_now(&self) -> bool {
        self.lock().now.is_some()
    }

    /// Rows that changed, and `None` for those that are gone.
    pub fn tell_now(&self, rows: &[(SessionId, Option<Arc<NowRow>>)]) {
        self.change(|state| {
            if let Some(now) = &mut state.now {
                now.extend(rows.iter().cloned());
            }
        });
    }

    /// Ends the connection. Frames that still wait are dropped.
    pub fn close(&self, why: Closing) {
        self.lock().close(why);
        self.changed.notify_one();
        self.taken.notify_one();
    }

    /// The next frame to write, or why the connection ends. For the single writer.
    pub async fn next(&self) -> Result<Bytes, Closing> {
        loop {
            if let Some(next) = self.lock().next() {
                self.taken.notify_one();
                return next;
            }
            self.changed.notified().await;
        }
    }

    /// Waits until the browser has read enough for its next request to be accepted. For the single reader.
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
        if state.bytes > MOST_WAITING && state.bytes > FEW_FRAMES * state.largest() {
            state.close(Closing::TooSlow);
        }
        drop(state);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change leaves the state consistent, so a panic while the lock was held does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds back a session's changes until a page of it was read and queued. Otherwise the browser could get a change of
/// an item that it doesn't have, ignore it, and then get the page with the item's state before that change.
#[derive(Debug)]
pub struct Reading {
    outbox: Arc<Outbox>,
    session: SessionId,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.outbox.change(|state| {
            if let Some(at) = state.reading.iter().position(|session| *session == self.session) {
                state.reading.swap_remove(at);
            }
        });
    }
}

impl State {
    fn next(&mut self) -> Option<Result<Bytes, Closing>> {
        if let Some(why) = self.closing {
            return Some(Err(why));
        }
        if let Some(text) = self.replies.pop_front() {
            self.bytes = self.bytes.saturating_sub(text.len());
            return Some(Ok(text));
        }
        if let Some(text) = self.now.as_mut().and_then(summary) {
            return Some(Ok(text));
        }
        let count = self.followed.len();
        for step in 0..count {
            let at = (self.next_followed + step) % count;
            if self.reading.contains(self.followed[at].session()) {
                continue;
            }
            if let Some((text, freed)) = self.followed[at].pop() {
                self.next_followed = at + 1;
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
        self.reading.clear();
        self.now = None;
        self.bytes = 0;
    }

    /// The size of the largest waiting frame.
    fn largest(&self) -> usize {
        let replies = self.replies.iter().map(Bytes::len);
        replies.chain(self.followed.iter().map(Followed::largest)).max().unwrap_or_default()
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

    /// A history that is no longer wanted still has a request to answer.
    fn answer_without(&mut self, history: History) {
        let Some(request_id) = history.request_id else { return };
        let ok = Frame { request_id: Some(request_id), message: ServerMessage::Ok {} };
        let text = to_text(&ok);
        self.bytes += text.len();
        self.replies.push_back(text);
    }
}

/// One frame with every row that waits.
fn summary(now: &mut BTreeMap<SessionId, Option<Arc<NowRow>>>) -> Option<Bytes> {
    if now.is_empty() {
        return None;
    }
    let (mut sessions, mut gone) = (Vec::new(), Vec::new());
    for (id, row) in std::mem::take(now) {
        match row {
            Some(row) => sessions.push(Arc::unwrap_or_clone(row)),
            None => gone.push(id),
        }
    }
    let message = ServerMessage::NowSummary { sessions, gone };
    Some(to_text(&Frame { request_id: None, message }))
}

pub(super) fn to_text(frame: &impl Serialize) -> Bytes {
    to_text_of(frame, 128)
}

/// About as many bytes as a frame will have: those of a page are its entries.
fn size(frame: &Frame) -> usize {
    match &frame.message {
        ServerMessage::SessionHistory { entries, .. }
        | ServerMessage::SessionOlder { entries, .. }
        | ServerMessage::SessionNewer { entries, .. } => {
            4096 + entries.iter().map(|entry| entry.size() + 1).sum::<usize>()
        }
        _ => 128,
    }
}

/// For a frame of about this many bytes.
fn to_text_of(frame: &impl Serialize, size: usize) -> Bytes {
    let mut json = Vec::with_capacity(size);
    if let Err(error) = serde_json::to_writer(&mut json, frame) {
        // Only a map with keys that are not strings could do this, and the contract has none.
        tracing::error!(%error, "a frame could not be written as JSON");
        json.clear();
    }
    json.into()
}

#[cfg(test)]
mod tests;
