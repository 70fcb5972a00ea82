//! One session with an agent: which turn runs, who asks, what is shown. Outlives the agent's process.
//!
//! Every step is synchronous and taken under one lock, so updates, answers and the user's wishes have one order. It
//! starts nothing; who calls it waits, spawns and times.

mod asks;
mod shown;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use agent_client_protocol_schema::v1::{CancelNotification, PromptRequest};
use liminal_contract::{AuthMethod, Details, ErrorCode, SessionId, Timestamp, TurnId, TurnOrigin};
use liminal_stream::{AgentError, SessionFact};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::asks::OpenAsk;
use self::shown::Terminals;
use super::connection::{Closed, Connection};
use super::envelope::RpcError;
use super::link::{Link, Waiter};
use super::normalise::{Normaliser, TurnEnd};
use super::turn_end;
use crate::lifecycle::RunningTurn;
use crate::{Charge, Metered, Output, ProviderError};

pub(crate) use self::asks::AnswerRefused;

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Ours.
    pub id: SessionId,
    /// The agent's.
    pub agent_ref: String,
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    /// Held until the session is taken up and its history told, so that this happens once at a time and before
    /// any prompt.
    pub attaching: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
}

struct State {
    normaliser: Normaliser,
    output: Option<mpsc::UnboundedSender<Metered>>,
    attached: Option<Attached>,
    doing: Doing,
    asks: Vec<OpenAsk>,
    terminals: Terminals,
    /// When the agent last said something that belongs to a conversation.
    heard: Instant,
    /// Whether an agent ever knew this session.
    was_attached: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("doing", &self.doing).finish_non_exhaustive()
    }
}

/// Where the session is known.
#[derive(Debug)]
struct Attached {
    generation: u64,
    connection: Arc<Connection<Waiter>>,
}

/// What goes on.
#[derive(Debug)]
enum Doing {
    Nothing,
    /// The agent tells what happened before.
    Remembering,
    /// A prompt of ours.
    Answering {
        turn: TurnId,
        request: i64,
        stop: Stop,
        running: RunningTurn<Link>,
    },
    /// A prompt that did not stop when it was told to. What comes of it is dropped until its answer.
    Deaf {
        turn: TurnId,
    },
    /// A turn the agent began by itself.
    Own {
        running: RunningTurn<Link>,
    },
}

#[derive(Debug)]
enum Stop {
    NotAsked,
    /// Dropped when the turn ends: that is what who waits for it hears.
    Asked {
        ended: Vec<oneshot::Sender<()>>,
    },
}

/// What became of the wish to stop.
#[derive(Debug)]
pub(crate) enum Stopping {
    /// Nothing runs, or what ran has been stopped.
    Done,
    /// The turn's end is awaited.
    Awaited(oneshot::Receiver<()>),
}

/// What an update began.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Began {
    Nothing,
    /// A turn of the agent's own: somebody must notice when it is over.
    OwnTurn,
}

impl Session {
    /// A session nobody is told about yet.
    pub fn new(
        id: SessionId,
        agent_ref: String,
        project_dir: PathBuf,
        provider_id: &str,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Metered>) {
        let mint = || TurnId::new(uuid::Uuid::now_v7().to_string());
        let normaliser = Normaliser::new(id.clone(), provider_id, mint);
        let (output, told) = mpsc::unbounded_channel();
        let state = State {
            normaliser,
            output: Some(output),
            attached: None,
            doing: Doing::Nothing,
            asks: Vec::new(),
            terminals: Terminals::default(),
            heard: Instant::now(),
            was_attached: false,
        };
        let attaching = Arc::default();
        (Arc::new(Self { id, agent_ref, project_dir, attaching, state: Mutex::new(state) }), told)
    }

    /// Which start of the agent knows this session.
    pub fn generation(&self) -> Option<u64> {
        self.state().attached.as_ref().map(|attached| attached.generation)
    }

    /// The agent knows this session from here on; it may tell its history first.
    pub fn attach(
        &self,
        generation: u64,
        connection: Arc<Connection<Waiter>>,
        history: Option<Wanted>,
    ) {
        let mut state = self.state();
        state.attached = Some(Attached { generation, connection });
        state.heard = Instant::now();
        state.was_attached = true;
        if let Some(wanted) = history {
            state.normaliser.begin_history(wanted == Wanted::Yes);
            state.doing = Doing::Remembering;
        }
    }

    /// The agent would not take it up after all.
    pub fn detach(&self) {
        let mut state = self.state();
        state.attached = None;
        if matches!(state.doing, Doing::Remembering) {
            let _half_a_history = state.normaliser.end_history(now());
            state.doing = Doing::Nothing;
        }
    }

    /// When the agent last said something of a conversation, or took the session up.
    pub fn heard(&self) -> Instant {
        self.state().heard
    }

    /// Whether an agent ever knew this session.
    pub fn was_attached(&self) -> bool {
        self.state().was_attached
    }

    /// What the agent's answer to making or taking up the session tells.
    pub fn told_at_start(&self, answer: &Value) {
        let mut state = self.state();
        let outputs = state.normaliser.told_at_start(answer);
        state.emit(outputs, None);
    }

    /// The history has been told.
    pub fn history_told(&self, tell: Wanted) {
        let mut state = self.state();
        let outputs = state.normaliser.end_history(now());
        state.emit(outputs, None);
        if matches!(state.doing, Doing::Remembering) {
            state.doing = Doing::Nothing;
        }
        if tell == Wanted::Yes {
            state.emit(vec![Output::HistoryTold], None);
        }
    }

    /// A fact of ours.
    pub fn tell(&self, fact: SessionFact) {
        self.state().emit(vec![Output::Fact(fact)], None);
    }

    /// The agent told something.
    pub fn update(
        &self,
        raw: &RawValue,
        charge: Option<Charge>,
        running: impl FnOnce() -> RunningTurn<Link>,
    ) -> Began {
        let mut state = self.state();
        let conversation = Normaliser::is_conversation(raw);
        if conversation {
            state.heard = Instant::now();
        }
        let (charge, at) = match state.doing {
            Doing::Deaf { .. } if conversation => return Began::Nothing,
            // Nobody takes a history before all of it is there, so it can't be held against the agent.
            Doing::Remembering => (None, now()),
            _ => (charge, now()),
        };
        let outputs = state.normaliser.update(raw, at);
        state.emit(outputs, charge);
        state.show_terminals();
        state.notice_own_turn(running)
    }

    /// Gives the agent the user's message. The turn is bound when this returns.
    pub fn prompt(
        self: &Arc<Self>,
        turn: &TurnId,
        content: &str,
        running: impl FnOnce() -> RunningTurn<Link>,
    ) -> Result<(), NotSent> {
        let mut state = self.state();
        match state.doing {
            Doing::Nothing | Doing::Remembering | Doing::Own { .. } => {}
            Doing::Answering { .. } | Doing::Deaf { .. } => return Err(NotSent::Busy),
        }
        let connection = state.connection().ok_or(NotSent::Gone)?;
        let request = PromptRequest::new(self.agent_ref.clone(), vec![content.to_owned().into()]);
        let waiter = Waiter::Prompt { session: Arc::clone(self), turn: turn.clone() };
        let request = connection
            .request("session/prompt", &request, waiter)
            .map_err(|Closed| NotSent::Gone)?;
        state.end_own(TurnEnd::Stopped { reason: None, usage: None });
        let outputs = state.normaliser.end_history(now());
        state.emit(outputs, None);
        state.doing = Doing::Answering {
            turn: turn.clone(),
            request,
            stop: Stop::NotAsked,
            running: running(),
        };
        let outputs = state.normaliser.begin_turn(turn.clone(), TurnOrigin::User, now());
        state.emit(outputs, None);
        Ok(())
    }

    /// The agent answered a prompt: its turn is over.
    pub fn answered(
        &self,
        turn: &TurnId,
        answer: Result<Value, RpcError>,
        login: Option<&str>,
        methods: &[AuthMethod],
        charge: Option<Charge>,
    ) {
        let mut state = self.state();
        match std::mem::replace(&mut state.doing, Doing::Nothing) {
            Doing::Answering { turn: running_turn, stop, running, .. } if running_turn == *turn => {
                let cancelled = matches!(stop, Stop::Asked { .. });
                let end = match answer {
                    Ok(answer) => turn_end::of_answer(&answer, cancelled),
                    Err(error) => turn_end::of_error(&error, cancelled, login, methods),
                };
                state.void_asks(liminal_contract::OutcomeBy::Cancel);
                let outputs = state.normaliser.end_turn(end, now());
                state.emit(outputs, charge);
                running.complete();
            }
            Doing::Deaf { turn: deaf } if deaf == *turn => {}
            other => state.doing = other,
        }
    }

    /// Asks the agent to stop.
    pub fn stop(&self) -> Stopping {
        let mut state = self.state();
        match state.doing {
            Doing::Nothing | Doing::Remembering | Doing::Deaf { .. } => return Stopping::Done,
            Doing::Own { .. } => {
                state.say_cancel(&self.agent_ref);
                state.void_asks(liminal_contract::OutcomeBy::Cancel);
                state.end_own(TurnEnd::Cancelled { reason: None, usage: None });
                return Stopping::Done;
            }
            Doing::Answering { stop: Stop::Asked { .. }, .. } => {}
            Doing::Answering { stop: Stop::NotAsked, .. } => {
                state.say_cancel(&self.agent_ref);
                state.normaliser.stop();
                state.void_asks(liminal_contract::OutcomeBy::Cancel);
            }
        }
        let (wait, ended) = oneshot::channel();
        if let Doing::Answering { stop, .. } = &mut state.doing {
            match stop {
                Stop::Asked { ended } => ended.push(wait),
                Stop::NotAsked => *stop = Stop::Asked { ended: vec![wait] },
            }
        }
        Stopping::Awaited(ended)
    }

    /// The agent did not stop in time: the turn ends all the same, and what still comes of it is dropped.
    pub fn give_up_turn(&self) {
        let mut state = self.state();
        match std::mem::replace(&mut state.doing, Doing::Nothing) {
            Doing::Answering { turn, request, stop: Stop::Asked { .. }, .. } => {
                if let Some(connection) = state.connection() {
                    let _gone_anyway = connection.cancel_request(request);
                }
                let outputs = state
                    .normaliser
                    .end_turn(TurnEnd::Cancelled { reason: None, usage: None }, now());
                state.emit(outputs, None);
                state.doing = Doing::Deaf { turn };
            }
            other => state.doing = other,
        }
    }

    /// When a turn of the agent's own is over if nothing more comes; `None` when there is none. Ends it if so.
    pub fn end_own_turn(
        &self,
        quiet: std::time::Duration,
        working: std::time::Duration,
    ) -> Option<Instant> {
        let mut state = self.state();
        let Doing::Own { .. } = state.doing else { return None };
        let busy = state.normaliser.works() || !state.asks.is_empty();
        let over = state.heard + if busy { working } else { quiet };
        if Instant::now() < over || !state.asks.is_empty() {
            return Some(over.max(Instant::now() + quiet));
        }
        state.end_own(TurnEnd::Stopped { reason: None, usage: None });
        None
    }

    /// The agent's process is gone.
    pub fn agent_left(&self, generation: u64, error: &ProviderError) {
        let mut state = self.state();
        if state.attached.as_ref().is_none_or(|attached| attached.generation != generation) {
            return;
        }
        state.attached = None;
        state.terminals.release_all();
        state.void_asks(liminal_contract::OutcomeBy::AgentLeft);
        let code = match error.code() {
            ErrorCode::ProtocolError => ErrorCode::ProtocolError,
            _ => ErrorCode::ProcessCrash,
        };
        let failure = AgentError::new(code, error.to_string(), error.details());
        let outputs = match std::mem::replace(&mut state.doing, Doing::Nothing) {
            Doing::Answering { .. } | Doing::Own { .. } => {
                state.normaliser.end_turn(TurnEnd::Failed(failure), now())
            }
            Doing::Remembering => state.normaliser.end_history(now()),
            Doing::Nothing | Doing::Deaf { .. } => Vec::new(),
        };
        state.emit(outputs, None);
        let details: Details = error.details().unwrap_or_default();
        state.emit(vec![Output::AgentLeft(details)], None);
    }

    /// We let go of the session: what runs ends, and the receiver closes.
    pub fn release(&self) {
        let mut state = self.state();
        state.terminals.release_all();
        state.void_asks(liminal_contract::OutcomeBy::Cancel);
        let outputs =
            state.normaliser.end_turn(TurnEnd::Cancelled { reason: None, usage: None }, now());
        state.emit(outputs, None);
        state.doing = Doing::Nothing;
        state.attached = None;
        state.output = None;
    }

    /// A panic under this lock costs the step it was in, not the session.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether somebody wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Yes,
    No,
}

/// Why a message did not reach the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotSent {
    Busy,
    Gone,
}

impl State {
    fn connection(&self) -> Option<Arc<Connection<Waiter>>> {
        self.attached.as_ref().map(|attached| Arc::clone(&attached.connection))
    }

    /// The charge rides on the last, which is committed last.
    fn emit(&mut self, outputs: Vec<Output>, mut charge: Option<Charge>) {
        let Some(output) = &self.output else { return };
        let last = outputs.len();
        for (n, said) in outputs.into_iter().enumerate() {
            let charge = if n + 1 == last { charge.take() } else { None };
            let _session_task_gone = output.send(Metered { output: said, charge });
        }
    }

    fn say_cancel(&self, agent_ref: &str) {
        if let Some(connection) = self.connection() {
            let cancel = CancelNotification::new(agent_ref.to_owned());
            let _gone_anyway = connection.notify("session/cancel", &cancel);
        }
    }

    fn notice_own_turn(&mut self, running: impl FnOnce() -> RunningTurn<Link>) -> Began {
        if !matches!(self.doing, Doing::Nothing) || self.normaliser.turn().is_none() {
            return Began::Nothing;
        }
        self.doing = Doing::Own { running: running() };
        Began::OwnTurn
    }

    fn end_own(&mut self, end: TurnEnd) {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Own { running } => {
                let outputs = self.normaliser.end_turn(end, now());
                self.emit(outputs, None);
                running.complete();
            }
            other => self.doing = other,
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}
