//! The owner of one session: passes events to the values that decide, and does what they return.
//!
//! `TurnState` knows the state of the turn, `Queue` the messages that wait for theirs, `Tie` the agent, `Recorder` the
//! changes on their way to disk and the followers, `Facts` everything beside the conversation. Every step of the loop
//! is synchronous; slow work (commits, starting an agent, sending) runs in other tasks and comes back as [`Done`].

mod agent;
mod answers;
mod apply;
mod ask;
mod branch;
mod checkpoints;
mod commenting;
mod continuing;
mod elsewhere;
mod ending;
mod history;
mod options;
mod queue;
mod setting_up;
mod steering;
mod surveying;

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use liminal_agents::{CliProvider, Elsewhere, Metered, ProviderError, ProviderSession};
use liminal_contract::{
    Answer, AttachedState, Comment, ItemId, OutcomeBy, Prompt, ServerMessage, SessionId,
    SessionState, TurnId, WhenBusy,
};
use liminal_stream::{Pacing, UpsertProcessor};
use tokio::sync::{mpsc, oneshot, watch};

use super::clock::Clock;
use super::facts::Facts;
use super::pace::{self, Pace};
use super::queue::Queue;
use super::recorder::{Recorder, Step};
use super::service::Surroundings;
use super::session::{Open, Reply, Sent, Session, Situation, at_rest};
use super::silence::Silence;
use super::tie::Tie;
use super::transcript::Transcript;
use super::turn::TurnState;
pub use ask::SessionRequest;
use checkpoints::{CheckpointsUnderWay, Taken};
use elsewhere::Watching;
use options::OptionsUnderWay;
pub(super) use options::choice_of;
use setting_up::SetupUnderWay;
use surveying::SurveyUnderWay;

use crate::changes::Survey;
use crate::failure::Failure;
use crate::feed::{Follow, Outbox};
use crate::journal::SessionRow;
use crate::store::SessionRecord;
use crate::workspaces::Ended;

pub struct SessionTask {
    around: Arc<Surroundings>,
    provider: Arc<dyn CliProvider>,
    inbox: Inbox,
    situation: watch::Sender<Situation>,
    clock: Clock,
    intake: Intake,
    turn: TurnState,
    queue: Queue<oneshot::Sender<TurnId>>,
    tie: Tie<mpsc::UnboundedReceiver<Metered>, WaitingRequest>,
    recorder: Recorder<Then>,
    facts: Facts,
    under_way: UnderWay,
}

/// What comes in, the agent's output apart.
struct Inbox {
    requests: mpsc::UnboundedReceiver<SessionRequest>,
    done: mpsc::UnboundedReceiver<Done>,
    /// Given to other tasks, for their results.
    back: mpsc::UnboundedSender<Done>,
}

/// What the agent says on its way to the transcript, and how long it has said nothing.
struct Intake {
    processor: UpsertProcessor,
    pace: Pace,
    silence: Silence<liminal_stream::Upsert>,
}

impl Intake {
    fn new(id: &SessionId, around: &Surroundings) -> Self {
        Self {
            processor: UpsertProcessor::new(id.clone(), Pacing::paced(pace::SHORTEST)),
            pace: Pace::new(&around.at_work),
            silence: Silence::new(around.patience),
        }
    }
}

/// What began and has not come back, beside the turn.
#[derive(Default)]
struct UnderWay {
    options: OptionsUnderWay,
    checkpoints: CheckpointsUnderWay,
    survey: SurveyUnderWay,
    setup: Option<SetupUnderWay>,
    /// Permissions to refuse once the agent has the message that was sent instead.
    refusing: Vec<ItemId>,
    /// The message on its way to the agent carries the transcript.
    transcript: bool,
    watching: Watching,
    /// Who waits until the session is attached.
    loading: Vec<Reply<()>>,
    /// The last request was only to read the agent's history. Thousands of sessions are read one after the other, so
    /// none of them stays for the usual time.
    only_read: bool,
}

/// Of a session that was just created: the agent's output, and the browser that created it.
pub type Made<'a> = (mpsc::UnboundedReceiver<Metered>, Option<&'a Arc<Outbox>>);

/// A request that waits until the agent's own history is in the journal.
enum WaitingRequest {
    Open(Open, Reply<()>),
    Read(Reply<()>),
    Load(Reply<()>),
    Send(UserMessage),
}

struct UserMessage {
    prompt: Prompt,
    /// The comments on changes that it consists of, if it does.
    comments: Vec<Comment>,
    request_id: Option<String>,
    when_busy: WhenBusy,
    sender: Option<Arc<Outbox>>,
    reply: Reply<Sent>,
}

/// Someone who is told that a message's turn began.
enum Asker {
    Sender(Reply<Sent>),
    /// The message was queued.
    Waiter(oneshot::Sender<TurnId>),
}

/// What to do after a commit.
enum Then {
    /// The message is on disk: tell the askers, and send it to the agent.
    Deliver {
        askers: Vec<Asker>,
        turn: TurnId,
    },
    /// The message is marked as handed over: give it to the agent.
    Steer(String),
    /// The answer to a permission is on disk: give it to the agent.
    Answer(GivenAnswer),
    Call(Box<dyn FnOnce() + Send>),
}

struct GivenAnswer {
    item: ItemId,
    answer: Answer,
    by: OutcomeBy,
    reply: Option<Reply<()>>,
}

/// The result of another task.
enum Done {
    /// Everything up to this `seq` is on disk.
    Committed(u64),
    Attached(Result<ProviderSession, ProviderError>),
    Sent {
        turn: TurnId,
        result: Result<(), ProviderError>,
    },
    Steered {
        message: String,
        result: Result<(), ProviderError>,
    },
    Stopped {
        turn: TurnId,
        result: Result<(), ProviderError>,
        reply: Option<Reply<()>>,
    },
    Answered {
        item: ItemId,
        result: Result<(), ProviderError>,
        reply: Option<Reply<()>>,
    },
    OptionSet {
        result: Result<(), Failure>,
        reply: Option<Reply<()>>,
    },
    Killed {
        result: Result<(), ProviderError>,
        reply: Reply<()>,
    },
    /// The checkpoint before this turn takes too long to wait for.
    CheckpointLate(TurnId),
    Checkpointed(Taken),
    Surveyed(Survey),
    SetupSaid(String),
    SetUp(Ended),
    /// What another program does with the session.
    Looked(Elsewhere),
    /// The agent's file was compared with what we know.
    Compared {
        has_grown: bool,
    },
}

impl SessionTask {
    /// Starts the task of a new or existing session.
    pub fn start(
        record: SessionRecord,
        row: Option<SessionRow>,
        provider: Arc<dyn CliProvider>,
        around: Arc<Surroundings>,
        made: Option<Made<'_>>,
    ) -> (Session, tokio::task::JoinHandle<Vec<SessionRequest>>) {
        let (request_sender, requests) = mpsc::unbounded_channel();
        let (back, done) = mpsc::unbounded_channel();
        let id = record.id.clone();
        let transcript = transcript_of(&record, row.as_ref(), &around);
        let is_in_journal = row.is_some() || made.is_some();
        let mut recorder = Recorder::new(id.clone(), transcript, is_in_journal);
        if let Some((_, Some(creator))) = made {
            creator.expect(&id, Follow::Whole);
            recorder.follow(creator, Follow::Whole);
        }
        let made = made.map(|(output, _)| output);
        let mut facts = Facts::new(record, row, around.policy);
        let queue = Queue::new(mem::take(&mut facts.shared.queue));
        let attached = made.as_ref().map(|_| AttachedState::Open);
        let (situation, watched) =
            watch::channel(situation_of(at_rest(facts.last_outcome), attached, &facts.record));
        let task = Self {
            provider,
            inbox: Inbox { requests, done, back },
            situation,
            clock: Clock::new(around.idle),
            intake: Intake::new(&id, &around),
            turn: TurnState::Idle,
            queue,
            tie: Tie::new(made),
            recorder,
            facts,
            under_way: UnderWay::default(),
            around,
        };
        (Session::new(id, request_sender, watched), tokio::spawn(task.run()))
    }

    /// Runs until the session is no longer needed. Returns the requests that arrived while it came to rest: they go to
    /// the next task.
    async fn run(mut self) -> Vec<SessionRequest> {
        if self.tie.is_made() {
            // Just created. A session that was made from another one may have its first message already.
            self.start_next();
            self.update_situation();
        } else if self.queue.restarted() {
            self.commit_queue();
        }
        self.learn_elsewhere(false);
        loop {
            let deadline = self.next_deadline();
            tokio::select! {
                output = next_output(&mut self.tie) => match output {
                    Some(output) => self.apply(output),
                    None => self.detach(),
                },
                // Once every handle is dropped nothing more can arrive, but earlier requests are still answered.
                request = self.inbox.requests.recv(), if !self.has_no_more_requests() => {
                    if let Some(request) = request {
                        self.answer(request);
                    }
                }
                Some(done) = self.inbox.done.recv() => self.finish(done),
                () = self.clock.sleep_until(deadline) => {
                    if self.clock.is_time_to_check() && self.can_rest() {
                        return self.rest();
                    }
                    self.flush();
                    self.continue_if_due();
                    self.look_if_due();
                }
            }
            self.start_next();
            self.clock.step();
            self.update_situation();
            if self.has_no_more_requests() && self.recorder.is_all_committed() {
                // The session was deleted, and every follower got its last change.
                return Vec::new();
            }
            if self.under_way.only_read && self.can_rest() {
                return self.rest();
            }
        }
    }

    fn has_no_more_requests(&self) -> bool {
        self.inbox.requests.is_closed() && self.inbox.requests.is_empty()
    }

    fn next_deadline(&self) -> Duration {
        let pending = [
            self.intake.processor.next_deadline(),
            self.intake.silence.deadline(),
            self.continues_at().map(|at| self.clock.when(at)),
            self.next_look(),
        ];
        pending.into_iter().flatten().fold(self.clock.next_check(), Duration::min)
    }

    /// Whether the task can end without a loss: the next request starts it again.
    fn is_unneeded(&mut self) -> bool {
        self.recorder.drop_departed_followers();
        let has_agent = match self.tie.attached() {
            None => false,
            Some(AttachedState::Open) => self.provider.is_alive(self.facts.id()),
            Some(AttachedState::Loading | AttachedState::Dead) => true,
        };
        self.turn.is_idle()
            && !has_agent
            && !self.tie.is_waited_for()
            && self.under_way.options.are_set()
            && self.under_way.checkpoints.are_taken()
            && self.under_way.setup.is_none()
            && self.under_way.watching.is_idle()
            && !self.recorder.transcript().is_answering()
            && !self.recorder.has_followers()
            && self.recorder.is_all_committed()
            && !self.recorder.transcript().has_open_ask()
            && self.continues_at().is_none()
    }

    /// Its provider lets it go before the next task can begin, which loads it again.
    fn can_rest(&mut self) -> bool {
        self.is_unneeded() && self.provider.let_go(self.facts.id())
    }

    /// Accepts no more requests, and returns those that were not answered.
    fn rest(mut self) -> Vec<SessionRequest> {
        self.inbox.requests.close();
        std::iter::from_fn(|| self.inbox.requests.try_recv().ok()).collect()
    }

    fn flush(&mut self) {
        let now = self.clock.now();
        let emissions = self.intake.processor.flush(now);
        self.emit(emissions, now.wall);
        if self.intake.silence.is_due(now.mono) {
            self.note_silence();
        }
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Committed(seq) => self.publish(seq),
            Done::Attached(result) => self.attached(result),
            Done::Sent { turn, result } => self.sent(&turn, result),
            Done::Steered { message, result } => self.steered(&message, result),
            Done::Stopped { turn, result, reply } => self.stopped(&turn, result, reply),
            Done::Answered { item, result, reply } => self.answered(item, result, reply),
            Done::OptionSet { result, reply } => self.option_set(result, reply),
            Done::Killed { result, reply } => self.killed(result, reply),
            Done::CheckpointLate(turn) => self.go_on_without_checkpoint(&turn),
            Done::Checkpointed(taken) => self.checkpointed(taken),
            Done::Surveyed(survey) => self.surveyed(survey),
            Done::SetupSaid(output) => self.setup_said(output),
            Done::SetUp(ended) => self.setup_ended(ended),
            Done::Looked(seen) => self.looked_elsewhere(seen),
            Done::Compared { has_grown } => self.compared(has_grown),
        }
    }

    /// Hands a step to the journal. Its updates are sent after the commit.
    fn commit(&mut self, step: Step, then: impl IntoIterator<Item = Then>) {
        let batch = self.recorder.commit(step, then);
        let (seq, back) = (batch.seq, self.inbox.back.clone());
        let committed = Box::new(move || {
            let _task_ended = back.send(Done::Committed(seq));
        });
        self.around.journal.commit(self.facts.id(), seq, batch.changes, committed);
    }

    /// Answers once everything so far is on disk.
    fn reply_when_saved<T: Send + 'static>(&mut self, reply: Reply<T>, answer: Result<T, Failure>) {
        let told = Then::Call(Box::new(move || {
            let _asker_left = reply.send(answer);
        }));
        if let Some(Then::Call(tell)) = self.recorder.after_all(told) {
            tell();
        }
    }

    /// The oldest commit is on disk, and with it everything up to `seq`.
    fn publish(&mut self, seq: u64) {
        for then in self.recorder.committed() {
            match then {
                Then::Deliver { askers, turn } => {
                    askers.into_iter().for_each(|asker| asker.began(turn.clone()));
                    self.turn.saved(&turn);
                    self.deliver_prompt();
                }
                Then::Steer(message) => {
                    self.queue.hand_saved(&message);
                    self.give_handed();
                }
                Then::Answer(given) => self.give_answer(given),
                Then::Call(call) => call(),
            }
        }
        if let Some((fit, waiting)) = self.tie.committed(seq) {
            self.show_history(fit, waiting);
        }
    }

    /// Publishes the session's state, and tells every browser if it changed.
    fn update_situation(&mut self) {
        let state = match &self.turn {
            _ if self.recorder.transcript().has_open_ask() => SessionState::Waiting,
            TurnState::Starting { .. } | TurnState::StopAsked { .. } => SessionState::Starting,
            TurnState::Running { .. } | TurnState::Cancelling { .. } => SessionState::Running,
            TurnState::Idle => at_rest(self.facts.last_outcome),
        };
        match state {
            SessionState::Running => self.intake.pace.begin_work(),
            SessionState::Starting
            | SessionState::Waiting
            | SessionState::Failed
            | SessionState::Interrupted
            | SessionState::Idle => self.intake.pace.end_work(),
        }
        let record = &self.facts.record;
        let now = situation_of(state, self.tie.attached(), record);
        let before = self.situation.borrow().state;
        self.situation.send_if_modified(|situation| {
            let is_new = *situation != now;
            *situation = now;
            is_new
        });
        if before != state {
            self.around.hub.broadcast(ServerMessage::SessionState {
                unread: self.around.unread.has(&record.id),
                session_id: record.id.clone(),
                project_id: record.project_id.clone(),
                state,
                last_active_at: record.last_active_at,
            });
        }
    }
}

fn transcript_of(
    record: &SessionRecord,
    row: Option<&SessionRow>,
    around: &Surroundings,
) -> Transcript {
    let (seq, next_index) = row.map_or((0, 0), |row| (row.seq, row.next_index));
    Transcript::new(seq, next_index, &around.directory(record))
}

fn situation_of(
    state: SessionState,
    attached: Option<AttachedState>,
    record: &SessionRecord,
) -> Situation {
    let title = (record.title_by, record.title.clone());
    Situation { state, attached, last_active_at: record.last_active_at, title }
}

impl Asker {
    fn began(self, turn: TurnId) {
        match self {
            Self::Sender(reply) => {
                let _asker_left = reply.send(Ok(Sent::Began(turn)));
            }
            Self::Waiter(waiter) => {
                let _asker_left = waiter.send(turn);
            }
        }
    }
}

/// The agent's next output; waits forever while there is no agent.
async fn next_output(
    tie: &mut Tie<mpsc::UnboundedReceiver<Metered>, WaitingRequest>,
) -> Option<Metered> {
    match tie.output() {
        Some(output) => output.recv().await,
        None => std::future::pending().await,
    }
}
