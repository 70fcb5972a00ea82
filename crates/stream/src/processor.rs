//! The upsert processor: canonical events in, upserts, growth and turn events out. The only place in the stream that
//! deals with time, and time is an argument.
//!
//! It owns accumulation, pacing, the correlation of tool calls, the ends of items and turns, and the size limit of an
//! item. It does not number, render, store or send anything.
//!
//! **Order.** Deltas and updates of tool calls are paced. Every other event first emits the items that wait, so
//! emissions are in the agent's order, and items first appear in the order of their first events.
//!
//! **Size.** A text or a tool's output over 4 MB continues in a new item of the same kind, whose id is the agent's with
//! `+1`, `+2`, … appended; together the items hold all of it. Arguments and parts are never split.
//!
//! **After a turn.** The processor remembers the ids of the last 256 ended turns, and those of their items that may
//! still change: calls without an output, permissions without an answer, open notices. A late event about one of those
//! updates it in its old turn, found by item id or call id, even if the event has the id of a newer turn. At most 64
//! such items and 8 MB of their text (measured when a turn ends) are kept; those of the oldest turn are dropped first.
//! Any other late event is not emitted; [`UpsertProcessor::too_late`] counts it, so that it can be logged.

mod handle;
mod item;
mod pacing;
mod tool_call;
mod turn;

use std::collections::VecDeque;
use std::time::Duration;

use liminal_contract::{
    Details, SessionId, Timestamp, TurnEvent, TurnEventKind, TurnId, TurnOrigin, TurnStatus, Usage,
};

pub use self::pacing::Pacing;

use self::handle::Handled;
use self::item::Step;
use self::turn::{TurnEnd, TurnItems};
use crate::{AgentError, Growth, ItemFailure, Patch, Payload, ResponseStatus, StreamEvent, Upsert};

/// Bytes of text in one item.
const ITEM_LIMIT: usize = 4_000_000;

const ENDED_TURNS: usize = 256;

/// Items of ended turns that can still be updated.
const LATE_ITEMS: usize = 64;

/// Bytes of text they hold together.
const LATE_BYTES: usize = 8_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Monotonic. Deadlines use the same scale.
    pub mono: Duration,
    /// Wall-clock time, for `emittedAt`.
    pub wall: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Emission {
    /// The whole state of an item.
    Put(Upsert),
    Grew(Growth),
    Turn(TurnEvent),
}

/// Turns the events of one session into upserts and turn events.
#[derive(Debug)]
pub struct UpsertProcessor {
    session_id: SessionId,
    pacing: Pacing,
    item_limit: usize,
    /// The running turn, and ended ones that still have items, oldest first.
    turns: Vec<TurnItems>,
    /// Oldest first.
    ended: VecDeque<TurnId>,
    too_late: u64,
}

impl UpsertProcessor {
    pub fn new(session_id: SessionId, pacing: Pacing) -> Self {
        Self {
            session_id,
            pacing,
            item_limit: ITEM_LIMIT,
            turns: Vec::new(),
            ended: VecDeque::new(),
            too_late: 0,
        }
    }

    /// Changes the limit for the text of one item, 4 MB by default, so that tests reach it with short texts. At least
    /// 4 bytes, so that any character fits.
    pub fn with_item_limit(self, bytes: usize) -> Self {
        Self { item_limit: bytes.max(4), ..self }
    }

    /// From now on, emits a growing item at most once per `interval`, or per `of_much` if at least 32 characters wait.
    /// For [`Pacing::paced`].
    pub fn set_interval(&mut self, interval: Duration, of_much: Duration) {
        self.pacing.set_wait(interval, of_much);
    }

    /// Events of another session are counted as [`too_late`](Self::too_late) and not emitted.
    pub fn process(&mut self, event: StreamEvent, now: Now) -> Vec<Emission> {
        let mut out = Vec::new();
        if event.session_id != self.session_id {
            self.too_late += 1;
            return out;
        }
        let StreamEvent { timestamp, turn_id, payload, .. } = event;
        match payload {
            Payload::ResponseStart { model_id, provider_id, origin } => {
                self.start_turn(turn_id, model_id, provider_id, origin, now, &mut out);
            }
            Payload::ResponseDone { status, finish_reason, stop_reason, error, usage } => {
                let stop_reason = stop_reason.or(finish_reason);
                let end = match status {
                    ResponseStatus::Completed => {
                        TurnEnding::complete(TurnStatus::Completed, usage, stop_reason)
                    }
                    ResponseStatus::Cancelled => {
                        TurnEnding::complete(TurnStatus::Cancelled, usage, stop_reason)
                    }
                    ResponseStatus::Error => {
                        TurnEnding::Failed(error.unwrap_or_else(|| unexplained(stop_reason)))
                    }
                };
                self.end_turn(turn_id, end, now, &mut out);
            }
            Payload::ResponseError { error } => {
                self.end_turn(turn_id, TurnEnding::Failed(error), now, &mut out);
            }
            about_item @ (Payload::ItemStart { .. }
            | Payload::ItemDelta { .. }
            | Payload::ItemUpdate { .. }
            | Payload::ItemDone { .. }
            | Payload::ItemError { .. }
            | Payload::ItemCancelled { .. }) => {
                self.handle_item(turn_id, about_item, timestamp, now, &mut out);
            }
        }
        self.emit_due(now, &mut out);
        out
    }

    /// Emits the items that are due. Call it at [`next_deadline`](Self::next_deadline).
    pub fn flush(&mut self, now: Now) -> Vec<Emission> {
        let mut out = Vec::new();
        self.emit_due(now, &mut out);
        out
    }

    /// Emits all waiting items, due or not: for a pause in listening.
    pub fn flush_all(&mut self, now: Now) -> Vec<Emission> {
        let mut out = Vec::new();
        self.each_turn(now, &mut out, |turn, step| turn.flush(step));
        out
    }

    /// When [`flush`](Self::flush) will have something to emit, on the scale of [`Now::mono`].
    pub fn next_deadline(&self) -> Option<Duration> {
        self.turns.iter().filter_map(TurnItems::wake).min()
    }

    /// Ends everything because of a failure: open items are emitted as `error` with all their content, and the running
    /// turn ends with `turn_error`. Nothing becomes `complete`. Waiting items of earlier turns are emitted as they are,
    /// and open permissions are void. The session task doesn't need it: it ends a turn with an event of that turn. It
    /// was specified, and `docs/acceptance.md` names its test.
    pub fn destroy(&mut self, failure: ItemFailure, now: Now) -> Vec<Emission> {
        let mut out = Vec::new();
        let running: Vec<TurnId> =
            self.turns.iter().filter(|turn| !turn.over).map(|turn| turn.id.clone()).collect();
        self.each_turn(now, &mut out, |turn, step| {
            let end = if turn.over { TurnEnd::Cancelled } else { TurnEnd::Failed(failure.clone()) };
            turn.end(&end, step);
            turn.void_permissions(&failure, step);
        });
        for turn_id in running {
            self.say_turn(&turn_id, turn_error(failure.clone(), None), &mut out);
            self.remember(turn_id);
        }
        self.turns.clear();
        out
    }

    /// The number of events that came too late to be emitted.
    pub fn too_late(&self) -> u64 {
        self.too_late
    }

    fn start_turn(
        &mut self,
        turn_id: TurnId,
        model_id: String,
        provider_id: String,
        origin: TurnOrigin,
        now: Now,
        out: &mut Vec<Emission>,
    ) {
        self.each_turn(now, out, |turn, step| turn.flush(step));
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.id == turn_id && !turn.over) {
            // A repeated start; a turn that an item opened gets its provider now.
            turn.provider_id = provider_id;
            return;
        }
        if self.has_ended(&turn_id) {
            self.too_late += 1;
            return;
        }
        let started =
            TurnEventKind::TurnStarted { model_id, provider_id: provider_id.clone(), origin };
        self.say_turn(&turn_id, started, out);
        self.turns.push(TurnItems::new(turn_id, provider_id));
    }

    fn end_turn(&mut self, turn_id: TurnId, end: TurnEnding, now: Now, out: &mut Vec<Emission>) {
        if self.has_ended(&turn_id) {
            self.too_late += 1;
            return;
        }
        let (for_items, event) = end.split();
        // A turn that never started, such as a send that failed immediately, still ends.
        self.each_turn(now, out, |turn, step| {
            if turn.id == turn_id {
                turn.end(&for_items, step);
                turn.keep_what_outlives_it();
            } else {
                turn.flush(step);
            }
        });
        self.say_turn(&turn_id, event, out);
        self.remember(turn_id);
        self.forget_beyond_limits();
    }

    fn handle_item(
        &mut self,
        turn_id: TurnId,
        payload: Payload,
        at: Timestamp,
        now: Now,
        out: &mut Vec<Emission>,
    ) {
        let Some(index) = self.turn_of(&turn_id, &payload, out) else {
            self.too_late += 1;
            return;
        };
        let mut step = Step {
            session_id: &self.session_id,
            pacing: &self.pacing,
            item_limit: self.item_limit,
            now,
            out,
        };
        if !grows(&payload) {
            let others = self.turns.iter_mut().enumerate().filter(|&(other, _)| other != index);
            others.for_each(|(_, turn)| turn.flush(&mut step));
        }
        let turn = &mut self.turns[index];
        if turn.handle(payload, at, &mut step) == Handled::TooLate {
            self.too_late += 1;
        }
        if turn.over {
            turn.keep_what_outlives_it();
            if turn.items.is_empty() {
                self.turns.remove(index);
            }
        }
    }

    /// The turn that an event about an item belongs to. An item of an unknown turn opens that turn, as one the agent
    /// started; `None` if the turn has ended and the item with it.
    fn turn_of(
        &mut self,
        turn_id: &TurnId,
        payload: &Payload,
        out: &mut Vec<Emission>,
    ) -> Option<usize> {
        let own = self.turns.iter().position(|turn| turn.id == *turn_id && !turn.over);
        if own.is_some_and(|own| self.turns[own].about(payload).is_some()) {
            return own;
        }
        // Newest first: some agents restart the numbering of calls in every turn.
        let late = self.turns.iter().rposition(|turn| turn.over && turn.takes_late(payload));
        if late.is_some() || own.is_some() {
            return late.or(own);
        }
        if self.has_ended(turn_id) {
            return None;
        }
        let started = TurnEventKind::TurnStarted {
            model_id: String::new(),
            provider_id: String::new(),
            origin: TurnOrigin::Agent,
        };
        self.say_turn(turn_id, started, out);
        self.turns.push(TurnItems::new(turn_id.clone(), String::new()));
        Some(self.turns.len() - 1)
    }

    fn emit_due(&mut self, now: Now, out: &mut Vec<Emission>) {
        self.each_turn(now, out, |turn, step| {
            if turn.wake().is_some_and(|wake| wake <= now.mono) {
                turn.sweep(step);
            }
        });
    }

    fn each_turn(
        &mut self,
        now: Now,
        out: &mut Vec<Emission>,
        mut what: impl FnMut(&mut TurnItems, &mut Step<'_>),
    ) {
        let mut step = Step {
            session_id: &self.session_id,
            pacing: &self.pacing,
            item_limit: self.item_limit,
            now,
            out,
        };
        for turn in &mut self.turns {
            what(turn, &mut step);
        }
    }

    fn say_turn(&self, turn_id: &TurnId, kind: TurnEventKind, out: &mut Vec<Emission>) {
        let (turn_id, session_id) = (turn_id.clone(), self.session_id.clone());
        out.push(Emission::Turn(TurnEvent { turn_id, session_id, kind }));
    }

    fn has_ended(&self, turn_id: &TurnId) -> bool {
        self.ended.contains(turn_id) || self.turns.iter().any(|t| t.over && t.id == *turn_id)
    }

    fn remember(&mut self, turn_id: TurnId) {
        if self.ended.len() == ENDED_TURNS {
            self.ended.pop_front();
        }
        self.ended.push_back(turn_id);
    }

    fn forget_beyond_limits(&mut self) {
        self.turns.retain(|turn| !turn.over || !turn.items.is_empty());
        let (mut items, mut bytes) = (0, 0);
        let mut newest_first = std::mem::take(&mut self.turns);
        newest_first.reverse();
        newest_first.retain(|turn| {
            if turn.over {
                items += turn.items.len();
                bytes += turn.items.iter().map(item::Item::weight).sum::<usize>();
            }
            !turn.over || (items <= LATE_ITEMS && bytes <= LATE_BYTES)
        });
        newest_first.reverse();
        self.turns = newest_first;
    }
}

/// Whether an event is of a kind that comes in floods and is paced.
fn grows(payload: &Payload) -> bool {
    matches!(payload, Payload::ItemDelta { .. } | Payload::ItemUpdate { patch: Patch::Tool(_), .. })
}

enum TurnEnding {
    Complete { status: TurnStatus, usage: Option<Usage>, stop_reason: Option<String> },
    Failed(AgentError),
}

impl TurnEnding {
    fn complete(status: TurnStatus, usage: Option<Usage>, stop_reason: Option<String>) -> Self {
        Self::Complete { status, usage, stop_reason }
    }

    /// What it means for the turn's items, and the event for the turn itself.
    fn split(self) -> (TurnEnd, TurnEventKind) {
        match self {
            Self::Complete { status, usage, stop_reason } => {
                let for_items = match status {
                    TurnStatus::Completed => TurnEnd::Completed,
                    TurnStatus::Cancelled => TurnEnd::Cancelled,
                };
                (for_items, TurnEventKind::TurnComplete { status, usage, stop_reason })
            }
            Self::Failed(error) => {
                let failure = ItemFailure::from(&error);
                (TurnEnd::Failed(failure.clone()), turn_error(failure, error.details))
            }
        }
    }
}

fn turn_error(failure: ItemFailure, details: Option<Details>) -> TurnEventKind {
    TurnEventKind::TurnError { error_code: failure.code, error_message: failure.message, details }
}

/// For a turn that failed without an error.
fn unexplained(reason: Option<String>) -> AgentError {
    let message = match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The agent stopped with an error: {reason}"),
        None => "The agent stopped with an error and gave no reason. Try again.".to_owned(),
    };
    AgentError { code: String::new(), message, details: None }
}
