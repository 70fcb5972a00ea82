//! The changes of a session on their way to disk, and the followers that get them afterwards.
//!
//! A change is applied in memory, handed to the journal as a [`Batch`], and sent to the followers only once it is
//! committed: memory may be ahead of the journal, a browser never is. `T` is an action to take after the commit, which
//! the recorder stores without looking inside.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::Arc;

use liminal_agents::Charge;
use liminal_contract::{
    FactsChange, ItemId, Outcome, SessionId, Timestamp, TurnEvent, TurnEventKind, TurnId,
    TurnOrigin, TurnOutcome, TurnStatus,
};
use liminal_stream::{Growth, Upsert};

use super::news::{Growing, News};
use super::transcript::{Applied, Transcript};
use super::view;
use crate::feed::{Follow, Outbox};
use crate::journal::{Change, TurnRow};

/// Our own notices are numbered from here, so that their ids never clash with a provider's.
const FIRST_NOTE: usize = 1_000_000;

pub struct Recorder<T> {
    session: SessionId,
    transcript: Transcript,
    growing: Growing,
    /// Turns that have not ended.
    turns: HashMap<TurnId, TurnRow>,
    uncommitted: VecDeque<Uncommitted<T>>,
    /// For outputs that led to no change yet.
    charges: Vec<Charge>,
    /// Messages sent since this task started, with a hash of their text: recognises a repeat even before the commit.
    requests: HashMap<String, (TurnId, u64)>,
    followers: Vec<Arc<Outbox>>,
    openings: u64,
    notes: usize,
    is_in_journal: bool,
}

/// Changes that are committed together, and the news to send once they are.
#[derive(Default)]
pub struct Step {
    pub changes: Vec<Change>,
    news: Vec<(u64, News, Audience)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Audience {
    Followers,
    Nobody,
}

/// Changes for the journal, with the session's last `seq`.
pub struct Batch {
    pub seq: u64,
    pub changes: Vec<Change>,
}

/// A send with a `requestId` that was seen before.
#[derive(Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The same message, which began this turn.
    Same(TurnId),
    /// A different message under the same id.
    Other,
}

struct Uncommitted<T> {
    news: Vec<(u64, News, Audience)>,
    then: Vec<T>,
    _charges: Vec<Charge>,
}

impl Step {
    /// A change that is not sent to browsers.
    pub fn quiet(change: Change) -> Self {
        Self { changes: vec![change], news: Vec::new() }
    }

    /// The same changes, without sending them to browsers.
    pub fn untold(mut self) -> Self {
        self.news.iter_mut().for_each(|(_, _, audience)| *audience = Audience::Nobody);
        self
    }

    pub fn append(&mut self, next: Self) {
        self.changes.extend(next.changes);
        self.news.extend(next.news);
    }
}

impl From<Applied> for Step {
    fn from(Applied { seq, changes, news }: Applied) -> Self {
        let news = news.map(|news| (seq, news, Audience::Followers));
        Self { changes, news: news.into_iter().collect() }
    }
}

impl<T> Recorder<T> {
    /// Continues from the state in the journal, which knows the session only if `is_in_journal`.
    pub fn new(session: SessionId, transcript: Transcript, is_in_journal: bool) -> Self {
        Self {
            session,
            transcript,
            growing: Growing::default(),
            turns: HashMap::new(),
            uncommitted: VecDeque::new(),
            charges: Vec::new(),
            requests: HashMap::new(),
            followers: Vec::new(),
            openings: 0,
            notes: 0,
            is_in_journal,
        }
    }

    /// Whether the session can be opened without its agent.
    pub fn is_in_journal(&self) -> bool {
        self.is_in_journal
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    pub fn item(&mut self, upsert: Upsert, request_id: Option<String>) -> Step {
        if upsert.status.is_final() {
            self.growing.forget(&upsert.item_id);
        }
        self.transcript.put(upsert, request_id).into()
    }

    pub fn grew(&mut self, growth: Growth) -> Step {
        self.transcript.grow(growth).map(Step::from).unwrap_or_default()
    }

    /// An item of a history that nobody follows yet.
    pub fn retold(&mut self, upsert: Upsert) -> Step {
        self.transcript.retell(upsert).into()
    }

    /// An id for one of our own notices.
    pub fn note_id(&mut self, turn: &TurnId) -> ItemId {
        self.notes += 1;
        ItemId::note(turn, FIRST_NOTE + self.notes)
    }

    pub fn facts(&mut self, change: FactsChange) -> Step {
        let seq = self.transcript.next_seq();
        let news = vec![(seq, News::Facts(Box::new(change.clone())), Audience::Followers)];
        Step { changes: vec![Change::Facts(Box::new(change))], news }
    }

    /// The user starts a turn.
    pub fn begin_turn(&mut self, turn: &TurnId, at: Timestamp) -> Step {
        let seq = self.transcript.next_seq();
        let row = TurnRow::started(turn.clone(), seq, TurnOrigin::User, at);
        self.turns.insert(turn.clone(), row.clone());
        Step::quiet(Change::Turn(Box::new(row)))
    }

    /// A turn began or ended. `origin` overrides what was assumed when it began.
    pub fn turn(&mut self, event: TurnEvent, at: Timestamp, origin: Option<TurnOrigin>) -> Step {
        let mut news = self.settled(&event);
        let seq = self.transcript.next_seq();
        let known = self.turns.remove(&event.turn_id);
        let mut row = known
            .unwrap_or_else(|| TurnRow::started(event.turn_id.clone(), seq, TurnOrigin::Agent, at));
        row.seq = seq;
        row.origin = origin.unwrap_or(row.origin);
        match &event.kind {
            TurnEventKind::TurnStarted { model_id, .. } => {
                row.model_id = (!model_id.is_empty()).then(|| model_id.clone());
                self.turns.insert(event.turn_id.clone(), row.clone());
            }
            TurnEventKind::TurnComplete { status, usage, stop_reason } => {
                let outcome = match status {
                    TurnStatus::Completed => TurnOutcome::Completed,
                    TurnStatus::Cancelled => TurnOutcome::Cancelled,
                };
                row.end(at, outcome);
                row.usage.clone_from(usage);
                row.stop_reason.clone_from(stop_reason);
            }
            TurnEventKind::TurnError { error_code, error_message, details } => {
                row.end(at, TurnOutcome::Failed);
                row.error_code = Some(*error_code);
                row.error_message = Some(error_message.clone());
                row.details.clone_from(details);
            }
        }
        let at = row.ended_at.unwrap_or(row.started_at);
        let event = News::Turn(Box::new(view::turn_event(event)), at);
        news.push((seq, event, Audience::Followers));
        Step { changes: vec![Change::Turn(Box::new(row))], news }
    }

    /// The texts that the end of their turn leaves as they are.
    fn settled(&mut self, event: &TurnEvent) -> Vec<(u64, News, Audience)> {
        if matches!(event.kind, TurnEventKind::TurnStarted { .. }) {
            return Vec::new();
        }
        let texts = self.transcript.open_texts(&event.turn_id).into_iter();
        let mut settled =
            |item| (self.transcript.next_seq(), News::Settled(item), Audience::Followers);
        texts.map(&mut settled).collect()
    }

    /// A turn that has not ended.
    pub fn open_turn(&self) -> Option<&TurnId> {
        self.turns.keys().next()
    }

    /// Who started a running turn.
    pub fn origin(&self, turn: &TurnId) -> Option<TurnOrigin> {
        self.turns.get(turn).map(|row| row.origin)
    }

    /// Sets the model of a running turn.
    pub fn set_model(&mut self, turn: &TurnId, model: String) {
        if let Some(row) = self.turns.get_mut(turn) {
            row.model_id = Some(model);
        }
    }

    /// Records a step that is about to be committed, and the actions to take then.
    pub fn commit(&mut self, step: Step, then: impl IntoIterator<Item = T>) -> Batch {
        let seq = self.transcript.seq();
        self.is_in_journal = true;
        let then = then.into_iter().collect();
        let _charges = mem::take(&mut self.charges);
        self.uncommitted.push_back(Uncommitted { news: step.news, then, _charges });
        Batch { seq, changes: step.changes }
    }

    /// The oldest commit that was not on disk is now: sends it to the followers and returns the actions to take. A
    /// `seq` doesn't say which one it was, because quiet ones have none of their own.
    pub fn committed(&mut self) -> Vec<T> {
        let Some(Uncommitted { news, then, .. }) = self.uncommitted.pop_front() else {
            return Vec::new();
        };
        for (seq, news, audience) in news {
            let followers = match audience {
                Audience::Followers => &self.followers[..],
                Audience::Nobody => &[],
            };
            self.growing.tell(&self.session, seq, news, followers);
        }
        self.drop_departed_followers();
        then
    }

    /// Delays an action until everything so far is on disk; gives it back if it already is.
    pub fn after_all(&mut self, then: T) -> Option<T> {
        match self.uncommitted.back_mut() {
            Some(last) => {
                last.then.push(then);
                None
            }
            None => Some(then),
        }
    }

    pub fn is_all_committed(&self) -> bool {
        self.uncommitted.is_empty()
    }

    /// Holds the charge for an output's bytes until the resulting changes are on disk.
    pub fn charge(&mut self, charge: Option<Charge>) {
        self.charges.extend(charge);
    }

    /// Releases charges whose outputs led to nothing that still has to be written.
    pub fn discharge(&mut self) {
        self.charges.clear();
    }

    /// Whether this message was sent before.
    pub fn repeated(&self, request_id: &str, content: &str) -> Option<Repeated> {
        let (turn, known_hash) = self.requests.get(request_id)?;
        let is_same = *known_hash == hash(content);
        Some(if is_same { Repeated::Same(turn.clone()) } else { Repeated::Other })
    }

    pub fn remember(&mut self, request_id: String, turn: &TurnId, content: &str) {
        self.requests.insert(request_id, (turn.clone(), hash(content)));
    }

    /// An answer to an open permission. It stays an open item until the agent closes it.
    pub fn answer(&mut self, item: &ItemId, outcome: Outcome, at: Timestamp) -> Option<Step> {
        let answered = self.transcript.answered(item, outcome, at)?;
        Some(self.item(answered, None))
    }

    /// A browser follows from now on; its outbox holds updates back until it has the history of this opening. A browser
    /// that has closed the session in the meantime gets only the reply to its request.
    pub fn follow(&mut self, outbox: &Arc<Outbox>, follow: Follow) -> u64 {
        self.openings += 1;
        if outbox.follows(&self.session).is_some() {
            outbox.follow(&self.session, self.openings, follow);
        }
        if !self.followers.iter().any(|follower| Arc::ptr_eq(follower, outbox)) {
            self.followers.push(outbox.clone());
        }
        self.openings
    }

    pub fn followers(&self) -> Vec<(Arc<Outbox>, Follow)> {
        let follows = |outbox: &Arc<Outbox>| Some((outbox.clone(), outbox.follows(&self.session)?));
        self.followers.iter().filter_map(follows).collect()
    }

    pub fn has_followers(&self) -> bool {
        !self.followers.is_empty()
    }

    pub fn drop_departed_followers(&mut self) {
        self.followers.retain(|follower| follower.follows(&self.session).is_some());
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
