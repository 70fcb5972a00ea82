//! One session as one browser follows it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use liminal_contract::{FactsChange, Frame, ItemId, ServerMessage, SessionId};

use super::tail::{SharedTail, Tails};
use super::to_text;
use super::update::{Stage, Update};

/// In bytes of text. A growing item that is longer is sent whole again only when it has grown by a quarter, so that the
/// bytes sent stay proportional to the text.
const LONG: usize = 64 * 1024;

/// How a browser receives items that grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Whole, every time.
    Whole,
    /// Only the part added since the last frame.
    Tails,
}

#[derive(Debug)]
pub struct History {
    /// The serialised frame.
    pub text: Bytes,
    /// The request that it answers.
    pub request_id: Option<String>,
}

#[derive(Debug)]
pub struct Followed {
    session: SessionId,
    opening: u64,
    follow: Follow,
    /// While the history is being read, updates are held back.
    held: bool,
    history: Option<History>,
    /// The history contains every change up to this one.
    history_seq: u64,
    queue: BTreeMap<u64, Queued>,
    /// The growing items whose whole state this browser has, or will have when it has read its queue.
    items: HashMap<ItemId, Known>,
    /// The place in the queue of the waiting change of facts.
    waiting_facts: Option<u64>,
    bytes: usize,
}

#[derive(Debug)]
enum Queued {
    Update(Update),
    /// They follow the item's whole state, here or at the browser.
    Tails(Tails),
}

#[derive(Debug)]
struct Known {
    /// The place of its whole state in the queue, if it waits.
    whole: Option<u64>,
    /// The places of what was added since, as far as it waits.
    tails: Vec<u64>,
    /// The length of its text when it was last queued whole.
    length: usize,
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
            history_seq: 0,
            queue: BTreeMap::new(),
            items: HashMap::new(),
            waiting_facts: None,
            bytes: 0,
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub fn follow(&self) -> Follow {
        self.follow
    }

    /// The size of the largest waiting frame.
    pub fn largest(&self) -> usize {
        self.queue.values().map(Queued::weight).max().unwrap_or_default()
    }

    /// The approximate size of the queue. The history doesn't count: there is at most one, and it was requested.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The history was read at `seq` and contains everything up to it. Returns the bytes freed from the queue, or gives
    /// back the history of an earlier opening.
    pub fn begin(&mut self, opening: u64, seq: u64, history: History) -> Result<usize, History> {
        if opening != self.opening {
            return Err(history);
        }
        let before = self.bytes;
        let newer = self.queue.split_off(&(seq + 1));
        for (seq, queued) in std::mem::replace(&mut self.queue, newer) {
            self.bytes -= queued.weight();
            match queued {
                // The history's rendering of an unfinished text may differ, so no tail can follow it.
                Queued::Update(Update::Item { item, .. }) => {
                    self.items.retain(|known, at| *known != item || at.whole != Some(seq));
                }
                Queued::Update(Update::Facts(_)) => self.waiting_facts = None,
                Queued::Update(Update::Turn { .. }) | Queued::Tails(_) => {}
            }
        }
        self.history = Some(history);
        self.history_seq = seq;
        self.held = false;
        Ok(before - self.bytes)
    }

    pub fn begin_without_history(&mut self) {
        self.held = false;
    }

    /// The history, if it was not written yet.
    pub fn into_history(self) -> Option<History> {
        self.history
    }

    /// Queues a change and returns by how many bytes the queue has grown.
    pub fn queue(&mut self, seq: u64, mut update: Update) -> isize {
        // The journal may show a change to a reader before the session's task learns that it is committed.
        if seq <= self.history_seq {
            return 0;
        }
        let before = self.bytes;
        match &mut update {
            Update::Item { item, .. } => {
                let new = Known { whole: Some(seq), tails: Vec::new(), length: 0 };
                if let Some(old) = self.items.insert(item.clone(), new) {
                    let stays =
                        |place: &u64| self.queue.get(place).is_some_and(Queued::is_invocation);
                    let whole = old.whole.filter(|place| !stays(place));
                    whole.into_iter().chain(old.tails).for_each(|place| drop(self.take(place)));
                }
            }
            Update::Facts(facts) => {
                let replaced = self.waiting_facts.replace(seq).and_then(|place| self.take(place));
                if let Some(Queued::Update(Update::Facts(before))) = replaced {
                    let both = Arc::unwrap_or_clone(before).then(FactsChange::clone(facts));
                    *facts = Arc::new(both);
                }
            }
            Update::Turn { .. } => {}
        }
        self.insert(seq, Queued::Update(update));
        self.bytes.cast_signed() - before.cast_signed()
    }

    /// An item has grown to `length` bytes of text. `whole` is for a browser without the state that the tail follows.
    pub fn grow(
        &mut self,
        seq: u64,
        tail: &Arc<SharedTail>,
        length: usize,
        whole: &dyn Fn() -> Update,
    ) -> isize {
        if seq <= self.history_seq {
            return 0;
        }
        // The queue of an opening may lose its beginning to the history, so no tail may depend on it.
        let known = if self.held { None } else { self.items.get_mut(tail.item()) };
        match (known, self.follow) {
            (Some(known), Follow::Tails) => {
                let queue = &self.queue;
                let last = known.tails.pop_if(|place| has_room(queue.get(&*place), tail));
                known.tails.push(seq);
                self.append(seq, last, tail)
            }
            (Some(known), Follow::Whole)
                if length > LONG && length < known.length + known.length / 4 =>
            {
                0
            }
            (Some(_) | None, Follow::Tails | Follow::Whole) => {
                let grown = self.queue(seq, whole());
                if let Some(known) = self.items.get_mut(tail.item()) {
                    known.length = length;
                }
                grown
            }
        }
    }

    /// An item stays at `length` bytes of text, of which this browser may lack the end.
    pub fn settle(
        &mut self,
        seq: u64,
        item: &ItemId,
        length: usize,
        whole: &dyn Fn() -> Update,
    ) -> isize {
        let is_behind = |known: &Known| length > LONG && known.length < length;
        if self.follow == Follow::Whole && self.items.get(item).is_some_and(is_behind) {
            self.queue(seq, whole())
        } else {
            0
        }
    }

    /// Queues a tail, as one with those that wait at `last`.
    fn append(&mut self, seq: u64, last: Option<u64>, tail: &Arc<SharedTail>) -> isize {
        let before = self.bytes;
        let tails = match last.and_then(|place| self.take(place)) {
            Some(Queued::Tails(waiting)) => waiting.then(tail.clone()),
            Some(Queued::Update(_)) | None => tail.clone().into(),
        };
        self.insert(seq, Queued::Tails(tails));
        self.bytes.cast_signed() - before.cast_signed()
    }

    fn insert(&mut self, seq: u64, queued: Queued) {
        self.bytes += queued.weight();
        self.queue.insert(seq, queued);
    }

    fn take(&mut self, place: u64) -> Option<Queued> {
        let taken = self.queue.remove(&place)?;
        self.bytes -= taken.weight();
        Some(taken)
    }

    /// The next text to write, and the bytes it frees.
    pub fn pop(&mut self) -> Option<(Bytes, usize)> {
        if self.held {
            return None;
        }
        if let Some(history) = self.history.take() {
            return Some((history.text, 0));
        }
        let (seq, queued) = self.queue.pop_first()?;
        let weight = queued.weight();
        self.bytes -= weight;
        let text = match queued {
            Queued::Update(Update::Item { item, stage, frame }) => {
                if stage == Stage::Final {
                    self.items.remove(&item);
                } else if let Some(known) = self.items.get_mut(&item) {
                    known.whole = known.whole.filter(|place| *place != seq);
                }
                frame
            }
            Queued::Tails(tails) => {
                if let Some(known) = self.items.get_mut(tails.item()) {
                    known.tails.retain(|place| *place != seq);
                }
                tails.frame(&self.session, seq)
            }
            Queued::Update(Update::Turn { is_end, frame }) => {
                if is_end {
                    self.items.retain(|_, known| known.whole.is_some() || !known.tails.is_empty());
                }
                frame
            }
            Queued::Update(Update::Facts(facts)) => {
                self.waiting_facts = None;
                let (session_id, facts) = (self.session.clone(), Arc::unwrap_or_clone(facts));
                let message = ServerMessage::SessionFacts { session_id, facts, seq };
                to_text(&Frame { request_id: None, message })
            }
        };
        Some((text, weight))
    }
}

impl Queued {
    /// Browsers get the invocation of a tool, however soon its result follows.
    fn is_invocation(&self) -> bool {
        matches!(self, Self::Update(Update::Item { stage: Stage::Invocation, .. }))
    }

    fn weight(&self) -> usize {
        match self {
            Self::Update(update) => update.weight(),
            Self::Tails(tails) => tails.weight(),
        }
    }
}

/// Whether what waits at a place can be sent as one with the next tail.
fn has_room(waiting: Option<&Queued>, next: &SharedTail) -> bool {
    matches!(waiting, Some(Queued::Tails(tails)) if tails.have_room_for(next))
}
