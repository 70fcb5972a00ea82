//! The owner of one conversation.
//!
//! Every step of the loop is synchronous; what takes time (commits, starting an agent, sending) runs elsewhere and
//! comes back as [`Done`]. A change is applied in memory, handed to the journal, and told to browsers only when the
//! journal has it: memory may be ahead, nothing a browser gets ever is.

mod agent;
mod apply;
mod ask;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use liminal_agents::{Charge, CliProvider, Metered, ProviderError, ProviderSession};
use liminal_contract::{
    AttachedState, ItemId, OutcomeBy, Policy, ServerMessage, SessionId, SessionState, Timestamp,
    TurnId,
};
use liminal_stream::{Now, Pacing, UpsertProcessor};
use tokio::sync::{mpsc, watch};

use super::service::Surroundings;
use super::session::{Ask, Open, Reply, Session, Situation};
use super::silence::Silence;
use super::transcript::Transcript;
use super::turn::Turn;
use crate::journal::{Change, SessionRow, TurnRow};
use crate::store::SessionRecord;
use crate::ws::outbox::{Outbox, Told};

/// At most one update per item in this time reaches a browser; faster than anyone reads.
const PACE: Duration = Duration::from_millis(33);

/// Owns one session.
pub struct SessionTask {
    id: SessionId,
    record: SessionRecord,
    around: Arc<Surroundings>,
    provider: Arc<dyn CliProvider>,
    asks: mpsc::UnboundedReceiver<Ask>,
    done: mpsc::UnboundedReceiver<Done>,
    /// For what runs elsewhere to come back.
    back: mpsc::UnboundedSender<Done>,
    situation: watch::Sender<Situation>,

    attachment: Attachment,
    /// Whether the journal has this session, so that it can be opened without its agent.
    seen: bool,
    policy: Policy,
    turn: Turn,
    /// What the user said that the agent does not have yet.
    prompt: Option<Prompt>,
    turns: HashMap<TurnId, TurnRow>,
    transcript: Transcript,
    processor: UpsertProcessor,
    silence: Silence,
    silence_note: Option<liminal_stream::Upsert>,
    failed: bool,
    reading: Reading,
    /// The history began a new stream.
    replaced: bool,
    mark: Option<liminal_stream::HistoryMark>,

    /// Waiting for the journal.
    uncommitted: VecDeque<Uncommitted>,
    /// Of outputs that led to no change yet.
    charges: Vec<Charge>,
    /// Sends of this task's life with a hash of their words, so that one repeated before its commit is known too.
    requests: HashMap<String, (TurnId, u64)>,
    /// Permissions that an answer is under way for.
    answering: Vec<ItemId>,
    followers: Vec<Arc<Outbox>>,
    openings: u64,
    /// What waits for the agent's own history to be in the journal.
    waiting_to_open: Vec<(Open, Reply<()>)>,
    waiting_to_load: Vec<Reply<()>>,
    waiting_to_send: Vec<Said>,
    resting: Vec<Reply<()>>,
    notes: usize,
    began: Instant,
    /// When to look whether anybody still needs this task.
    look_around_at: Duration,
}

/// The session's tie to its agent.
enum Attachment {
    /// None; the next message makes one.
    None,
    /// Being made.
    Making(Reason),
    /// What the agent says arrives here.
    Made(mpsc::UnboundedReceiver<Metered>),
}

/// What an attachment is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// To send a message.
    Message,
    /// To read a history the journal does not have (all).
    History,
    /// To send a message to an agent that has forgotten the session.
    Anew,
}

/// A history of the agent's own, on its way into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// There is none: what the agent says is news.
    No,
    /// It was asked for, and what comes now is of it.
    UnderWay,
    /// All of it was told; it is there when this is on disk.
    Told(u64),
}

/// A message as it was sent.
struct Said {
    content: String,
    request_id: Option<String>,
    reply: Reply<TurnId>,
}

struct Prompt {
    turn: TurnId,
    content: String,
    /// It may be given to the agent.
    is_on_disk: bool,
}

/// A change that is on its way to disk, and what to do when it is there.
struct Uncommitted {
    seq: u64,
    told: Vec<(u64, Told)>,
    then: Option<Then>,
    _charges: Vec<Charge>,
}

enum Then {
    /// The message is on disk: say so, and give it to the agent.
    Deliver { reply: Reply<TurnId>, turn: TurnId },
}

/// Something that ran elsewhere is done.
enum Done {
    /// Everything up to this is on disk.
    Committed(u64),
    /// The agent took the session up, or not.
    Attached(Result<ProviderSession, ProviderError>),
    /// The agent has the message, or not.
    Sent { turn: TurnId, result: Result<(), ProviderError> },
    /// The agent was told to stop, or not.
    Stopped { turn: TurnId, result: Result<(), ProviderError>, reply: Option<Reply<()>> },
    /// The agent has the answer, or not.
    Answered { item: ItemId, result: Result<(), ProviderError>, reply: Option<Reply<()>> },
    /// The session with the agent is over.
    Killed { result: Result<(), ProviderError>, reply: Reply<()> },
}

impl SessionTask {
    /// Starts the task of a session that was made or is opened. `output` is where a session just made speaks.
    pub fn start(
        record: SessionRecord,
        row: Option<SessionRow>,
        provider: Arc<dyn CliProvider>,
        around: Arc<Surroundings>,
        made: Option<mpsc::UnboundedReceiver<Metered>>,
    ) -> (Session, tokio::task::JoinHandle<Vec<Ask>>) {
        let (ask_sender, asks) = mpsc::unbounded_channel();
        let (back, done) = mpsc::unbounded_channel();
        let failed = row.as_ref().is_some_and(|row| row.failed);
        let (situation, watched) = watch::channel(Situation {
            state: if failed { SessionState::Failed } else { SessionState::Idle },
            attached: made.as_ref().map(|_| AttachedState::Open),
            last_active_at: record.last_active_at,
            title: (record.title_by, record.title.clone()),
        });
        let session = Session::new(record.id.clone(), ask_sender, watched);
        let (seq, next_index) = row.as_ref().map_or((0, 0), |row| (row.seq, row.next_index));
        let task = Self {
            processor: UpsertProcessor::new(record.id.clone(), Pacing::paced(PACE)),
            silence: Silence::new(around.patience),
            silence_note: None,
            policy: record.policy.unwrap_or(around.policy),
            seen: row.is_some() || made.is_some(),
            mark: row.and_then(|row| row.mark),
            attachment: made.map_or(Attachment::None, Attachment::Made),
            transcript: Transcript::new(seq, next_index, &around.project_dir(&record.project_id)),
            id: record.id.clone(),
            record,
            provider,
            asks,
            done,
            back,
            situation,
            turn: Turn::Idle,
            prompt: None,
            turns: HashMap::new(),
            failed,
            reading: Reading::No,
            replaced: false,
            uncommitted: VecDeque::new(),
            charges: Vec::new(),
            requests: HashMap::new(),
            answering: Vec::new(),
            followers: Vec::new(),
            openings: 0,
            waiting_to_open: Vec::new(),
            waiting_to_load: Vec::new(),
            waiting_to_send: Vec::new(),
            resting: Vec::new(),
            notes: 0,
            began: Instant::now(),
            look_around_at: around.idle,
            around,
        };
        (session, tokio::spawn(task.run()))
    }

    /// Runs until nobody needs the session. Returns the asks that came in the moment of coming to rest: they are for
    /// the next task.
    async fn run(mut self) -> Vec<Ask> {
        loop {
            let deadline = self.next_deadline();
            tokio::select! {
                output = next_output(&mut self.attachment) => match output {
                    Some(output) => self.apply(output),
                    None => self.detach(),
                },
                // Once every handle is gone there is nothing more to wait for, but what was asked before is answered.
                ask = self.asks.recv(), if !self.has_no_more_asks() => if let Some(ask) = ask {
                    self.answer(ask);
                },
                Some(done) = self.done.recv() => self.finish(done),
                () = sleep_until(self.began, deadline) => {
                    if self.began.elapsed() >= self.look_around_at && self.is_unneeded() {
                        return self.rest();
                    }
                    self.flush();
                }
            }
            self.look_around_at = self.began.elapsed() + self.around.idle;
            self.tell_situation();
            if self.has_no_more_asks() && self.uncommitted.is_empty() {
                // The session was deleted, and all who followed know how it ended.
                return Vec::new();
            }
        }
    }

    fn has_no_more_asks(&self) -> bool {
        self.asks.is_closed() && self.asks.is_empty()
    }

    fn next_deadline(&self) -> Option<Duration> {
        let pending = [self.processor.next_deadline(), self.silence.deadline()];
        pending.into_iter().flatten().chain([self.look_around_at]).min()
    }

    /// Whether nothing would be missed if there were no task: it is made anew by the next who asks.
    fn is_unneeded(&mut self) -> bool {
        self.followers.retain(|follower| follower.follows(&self.id).is_some());
        let has_agent = match self.attachment {
            Attachment::None => false,
            Attachment::Making(_) => true,
            Attachment::Made(_) => self.provider.is_alive(&self.id),
        };
        let nobody_waits = self.answering.is_empty()
            && self.waiting_to_open.is_empty()
            && self.waiting_to_load.is_empty()
            && self.waiting_to_send.is_empty();
        self.turn.is_idle()
            && !has_agent
            && nobody_waits
            && self.followers.is_empty()
            && self.uncommitted.is_empty()
            && !self.transcript.has_open_ask()
    }

    /// Takes no more asks. What comes too late for this task comes back to who sent it.
    fn rest(mut self) -> Vec<Ask> {
        self.asks.close();
        std::iter::from_fn(|| self.asks.try_recv().ok()).collect()
    }

    fn flush(&mut self) {
        let now = self.now();
        let emissions = self.processor.flush(now);
        self.emit(emissions, now.wall);
        if self.silence.is_due(now.mono) {
            self.note_silence();
        }
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Committed(seq) => self.publish(seq),
            Done::Attached(result) => self.attached(result),
            Done::Sent { turn, result } => self.sent(&turn, result),
            Done::Stopped { turn, result, reply } => self.stopped(&turn, result, reply),
            Done::Answered { item, result, reply } => self.answered(&item, result, reply),
            Done::Killed { result, reply } => {
                if let Attachment::Made(mut output) =
                    std::mem::replace(&mut self.attachment, Attachment::None)
                {
                    // How its turn ended was said before.
                    std::iter::from_fn(|| output.try_recv().ok()).for_each(|said| self.apply(said));
                }
                if let Some(turn) = self.turn.id().cloned() {
                    self.end_turn_as_cancelled(&turn);
                }
                self.detach();
                self.void_asks(OutcomeBy::AgentLeft, |_, _| true);
                let _asker_left = reply.send(result.map_err(|error| self.failure(&error)));
            }
        }
    }

    /// Hands changes to the journal. What they tell waits for it.
    fn commit(&mut self, changes: Vec<Change>, told: Vec<(u64, Told)>, then: Option<Then>) {
        let seq = self.transcript.seq();
        self.seen = true;
        let charges = std::mem::take(&mut self.charges);
        self.uncommitted.push_back(Uncommitted { seq, told, then, _charges: charges });
        let back = self.back.clone();
        self.around.journal.commit(
            &self.id,
            seq,
            changes,
            Box::new(move || {
                let _task_ended = back.send(Done::Committed(seq));
            }),
        );
    }

    /// Everything up to `seq` is on disk: tell it.
    fn publish(&mut self, seq: u64) {
        while self.uncommitted.front().is_some_and(|change| change.seq <= seq) {
            let Some(change) = self.uncommitted.pop_front() else { break };
            for (seq, told) in &change.told {
                for follower in &self.followers {
                    follower.tell(&self.id, *seq, told);
                }
            }
            match change.then {
                Some(Then::Deliver { reply, turn }) => {
                    let _asker_left = reply.send(Ok(turn));
                    if let Some(prompt) = &mut self.prompt {
                        prompt.is_on_disk = true;
                    }
                    self.deliver_prompt();
                }
                None => {}
            }
        }
        self.followers.retain(|follower| follower.follows(&self.id).is_some());
        if matches!(self.reading, Reading::Told(last) if last <= seq) {
            self.reading = Reading::No;
            // First everyone, then who asked: a later opening takes the place of an earlier one, and only the asker's
            // carries the id of the request.
            if std::mem::take(&mut self.replaced) {
                self.show_to_followers();
            }
            self.show_waiting(&Ok(()));
        }
        if self.uncommitted.is_empty() {
            for reply in self.resting.drain(..) {
                let _asker_left = reply.send(Ok(()));
            }
        }
    }

    /// Tells everyone when what the session is doing changed.
    fn tell_situation(&mut self) {
        let state = match &self.turn {
            _ if self.transcript.has_open_ask() => SessionState::Waiting,
            Turn::Starting { .. } => SessionState::Starting,
            Turn::Running { .. } | Turn::Cancelling { .. } => SessionState::Running,
            Turn::Idle if self.failed => SessionState::Failed,
            Turn::Idle => SessionState::Idle,
        };
        let attached = match &self.attachment {
            Attachment::None => None,
            Attachment::Making(_) => Some(AttachedState::Loading),
            Attachment::Made(_) => Some(AttachedState::Open),
        };
        let last_active_at = self.record.last_active_at;
        let before = self.situation.borrow().state;
        self.situation.send_if_modified(|situation| {
            let title = (self.record.title_by, self.record.title.as_str());
            let same = (situation.state, situation.attached, situation.last_active_at)
                == (state, attached, last_active_at)
                && (situation.title.0, situation.title.1.as_str()) == title;
            if !same {
                let title = (title.0, title.1.to_owned());
                *situation = Situation { state, attached, last_active_at, title };
            }
            !same
        });
        if before != state {
            self.tell_state(state);
        }
    }

    fn tell_state(&self, state: SessionState) {
        self.around.hub.broadcast(ServerMessage::SessionState {
            session_id: self.id.clone(),
            project_id: self.record.project_id.clone(),
            state,
            last_active_at: self.record.last_active_at,
        });
    }

    fn now(&self) -> Now {
        Now { mono: self.began.elapsed(), wall: Timestamp::from(SystemTime::now()) }
    }
}

/// What the agent says next; waits for ever while there is none.
async fn next_output(attachment: &mut Attachment) -> Option<Metered> {
    match attachment {
        Attachment::Made(output) => output.recv().await,
        Attachment::None | Attachment::Making(_) => std::future::pending().await,
    }
}

async fn sleep_until(began: Instant, deadline: Option<Duration>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until((began + deadline).into()).await,
        None => std::future::pending().await,
    }
}
