//! One session as one browser follows it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use liminal_contract::{
    Frame, ItemId, ServerMessage, SessionId, TurnEvent, TurnEventKind, UpsertObject,
};

use super::{tail, to_text, weight};

/// How a browser wants growing items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Whole, every time.
    Whole,
    /// As what came after what was sent last.
    Tails,
}

/// A committed change.
#[derive(Debug, Clone)]
pub enum Told {
    /// An item's whole state.
    Item(Arc<UpsertObject>),
    /// A turn began or ended.
    Turn(Arc<TurnEvent>),
}

/// A history that was read, and the request it answers.
#[derive(Debug)]
pub struct History {
    /// As it travels.
    pub text: Utf8Bytes,
    /// Of the opening that asked for it.
    pub request_id: Option<String>,
}

/// What waits for one browser of one session.
#[derive(Debug)]
pub struct Followed {
    session: SessionId,
    opening: u64,
    follow: Follow,
    /// The history is being read: what comes meanwhile is held.
    held: bool,
    history: Option<History>,
    queue: BTreeMap<u64, Told>,
    /// Where the waiting state of an item stands in the queue.
    waiting: HashMap<ItemId, u64>,
    /// What was sent last of each open item.
    sent: HashMap<ItemId, Arc<UpsertObject>>,
    bytes: usize,
}

impl Followed {
    /// Holds everything back until [`begin`](Self::begin).
    pub fn new(session: SessionId, opening: u64, follow: Follow) -> Self {
        Self {
            session,
            opening,
            follow,
            held: true,
            history: None,
            queue: BTreeMap::new(),
            waiting: HashMap::new(),
            sent: HashMap::new(),
            bytes: 0,
        }
    }

    /// Which session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// How growing items are wanted.
    pub fn follow(&self) -> Follow {
        self.follow
    }

    /// How many frames wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// What waits here weighs this much. The history does not count: there is at most one, and it was asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The history was read at `seq`: what is older is in it. Returns the bytes that need not wait any more, or
    /// gives back the history of an earlier opening.
    pub fn begin(&mut self, opening: u64, seq: u64, history: History) -> Result<usize, History> {
        if opening != self.opening {
            return Err(history);
        }
        let before = self.bytes;
        let newer = self.queue.split_off(&(seq + 1));
        for told in std::mem::replace(&mut self.queue, newer).into_values() {
            self.bytes -= told.weight();
            if let Told::Item(item) = told {
                self.waiting.remove(&item.item_id);
            }
        }
        self.history = Some(history);
        self.held = false;
        Ok(before - self.bytes)
    }

    /// The history, if it was not taken yet.
    pub fn into_history(self) -> Option<History> {
        self.history
    }

    /// Queues a change and returns by how much what waits has grown.
    pub fn queue(&mut self, seq: u64, told: Told) -> isize {
        let before = self.bytes;
        if let Told::Item(item) = &told
            && let Some(old) = self.waiting.insert(item.item_id.clone(), seq)
            && let Some(replaced) = self.queue.remove(&old)
        {
            self.bytes -= replaced.weight();
        }
        self.bytes += told.weight();
        self.queue.insert(seq, told);
        self.bytes.cast_signed() - before.cast_signed()
    }

    /// The next text to write, and what it weighed.
    pub fn pop(&mut self) -> Option<(Utf8Bytes, usize)> {
        if self.held {
            return None;
        }
        if let Some(history) = self.history.take() {
            return Some((history.text, 0));
        }
        let (seq, told) = self.queue.pop_first()?;
        let weight = told.weight();
        self.bytes -= weight;
        let message = match told {
            Told::Item(item) => {
                self.waiting.remove(&item.item_id);
                self.item(seq, item)
            }
            Told::Turn(event) => self.turn(seq, &event),
        };
        to_text(&Frame { request_id: None, message }).map(|text| (text, weight))
    }

    fn item(&mut self, seq: u64, item: Arc<UpsertObject>) -> ServerMessage {
        let is_final = item.status.is_final();
        let before = if is_final || self.follow == Follow::Whole {
            self.sent.remove(&item.item_id)
        } else {
            self.sent.insert(item.item_id.clone(), item.clone())
        };
        // A final state is sent whole, so that whatever a tail left out (times, failure) is right in the end.
        let tail = before
            .filter(|_| !is_final && self.follow == Follow::Tails)
            .and_then(|before| tail::between(&before, &item, seq));
        tail.unwrap_or_else(|| ServerMessage::SessionUpsert {
            session_id: self.session.clone(),
            payload: Arc::unwrap_or_clone(item),
            seq,
        })
    }

    fn turn(&mut self, seq: u64, event: &TurnEvent) -> ServerMessage {
        if !matches!(event.kind, TurnEventKind::TurnStarted { .. }) {
            self.sent.clear();
        }
        ServerMessage::SessionTurn { session_id: self.session.clone(), payload: event.clone(), seq }
    }
}

impl Told {
    fn weight(&self) -> usize {
        match self {
            Self::Item(item) => weight(item),
            Self::Turn(_) => 256,
        }
    }
}
