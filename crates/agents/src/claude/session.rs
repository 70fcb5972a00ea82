//! One session: its conversation, and the process behind it when there is one.
//!
//! The state is behind one lock that is never held over a wait. Starting and stopping take turns by another, so that
//! there is never more than one process per session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use liminal_contract::{
    Answer, Details, ErrorCode, ItemId, OutcomeBy, SessionId, Timestamp, TurnId,
};
use liminal_stream::{AgentError, SessionFact};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::history::Reader;
use super::normalise::{Normaliser, NotTaken};
use super::trust;
use super::wire::{ControlResponse, Line};
use crate::process::{Exit, Process, Stdin};
use crate::{Charge, Metered, Output, ProviderError};

mod running;
mod shared;

pub(super) use running::Patience;
pub(super) use shared::Shared;

/// One session.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) project: PathBuf,
    pub(super) shared: Arc<Shared>,
    state: Mutex<State>,
    /// Held while a process is started or stopped.
    changing: tokio::sync::Mutex<()>,
    /// Something was said or asked: the process is not idle yet.
    active: Notify,
    /// Counts the turns that ended.
    ended: watch::Sender<u64>,
}

struct State {
    normaliser: Normaliser,
    output: mpsc::UnboundedSender<Metered>,
    life: Life,
    /// Which process the lines of a reader must be from.
    generation: u64,
    pending: HashMap<String, oneshot::Sender<ControlResponse>>,
    requests: u64,
    /// A message is on its way to a process that may have to be started first.
    sending: Option<Sending>,
    trust: Option<TrustAsk>,
    /// The process has answered `initialize`: from now on its end is a crash, before it is a refusal.
    ready: bool,
    /// What a process that refused to start said.
    refusal: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    Wanted,
    Cancelled,
}

struct TrustAsk {
    turn: TurnId,
    item: ItemId,
}

enum Life {
    /// No process, and none is missed: not started yet, or stopped because it was idle.
    Resting,
    Running {
        process: Process,
        stdin: Stdin,
    },
    /// It ended by itself.
    Crashed,
    /// The user ended the session.
    Killed,
}

impl Session {
    pub(super) fn new(
        shared: Arc<Shared>,
        id: SessionId,
        agent_ref: String,
        project: PathBuf,
        output: mpsc::UnboundedSender<Metered>,
    ) -> Arc<Self> {
        let mint = || TurnId::new(uuid::Uuid::now_v7().to_string());
        let normaliser =
            Normaliser::new(id.clone(), agent_ref, project.clone(), None, Box::new(mint));
        Arc::new(Self {
            id,
            project,
            shared,
            state: Mutex::new(State {
                normaliser,
                output,
                life: Life::Resting,
                generation: 0,
                pending: HashMap::new(),
                requests: 0,
                sending: None,
                trust: None,
                ready: false,
                refusal: String::new(),
            }),
            changing: tokio::sync::Mutex::new(()),
            active: Notify::new(),
            ended: watch::Sender::new(0),
        })
    }

    /// Lets what the session says from now on arrive elsewhere.
    pub(super) fn attach(&self, output: mpsc::UnboundedSender<Metered>) {
        self.lock().output = output;
    }

    /// What the agent calls the session now.
    pub(super) fn agent_ref(&self) -> String {
        self.lock().normaliser.agent_ref().to_owned()
    }

    /// Whether the user ended it. Taken up again, it is another.
    pub(super) fn is_killed(&self) -> bool {
        matches!(self.lock().life, Life::Killed)
    }

    pub(super) fn is_alive(&self) -> bool {
        matches!(&self.lock().life, Life::Running { process, .. } if process.is_alive())
    }

    /// Gives the agent the user's message, starting a process first where there is none.
    pub(super) async fn send(
        self: &Arc<Self>,
        turn: &TurnId,
        content: &str,
    ) -> Result<(), ProviderError> {
        {
            let mut state = self.lock();
            if !state.normaliser.takes_message() || state.sending.is_some() {
                return Err(ProviderError::Busy { name: self.shared.name() });
            }
            state.sending = Some(Sending::Wanted);
        }
        let started = self.ensure_running().await;
        let (message, stdin) = {
            let mut state = self.lock();
            let cancelled = state.sending.take() == Some(Sending::Cancelled);
            started?;
            // The agent keeps the message under the turn's own id, so that its history can be told from ours.
            let message = turn.as_str().to_owned();
            state.normaliser.begin(turn.clone(), message.clone());
            if cancelled {
                let said = state.normaliser.give_up(None, now());
                state.say(said, None);
                return Ok(());
            }
            let Life::Running { stdin, .. } = &state.life else {
                state.normaliser.forget();
                return Err(self.lost(String::new()));
            };
            (message, stdin.clone())
        };
        self.active.notify_one();
        let line = json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": content}]},
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": message,
        });
        if stdin.write(bytes(&line)).await.is_err() {
            let mut state = self.lock();
            if state.normaliser.is_waiting_for(turn) {
                state.normaliser.forget();
                let tail = match &state.life {
                    Life::Running { process, .. } => process.stderr().text(),
                    Life::Resting | Life::Crashed | Life::Killed => String::new(),
                };
                return Err(self.lost(tail));
            }
            // The end of the process was seen first, and ended the turn by an event.
        }
        Ok(())
    }

    /// Asks the agent to stop, and waits until it did.
    pub(super) async fn cancel(self: &Arc<Self>) -> Result<(), ProviderError> {
        let mut ended = self.ended.subscribe();
        {
            let mut state = self.lock();
            if let Some(sending) = &mut state.sending {
                *sending = Sending::Cancelled;
                return Ok(());
            }
            if !state.normaliser.in_turn() {
                return Ok(());
            }
            ended.borrow_and_update();
            let said = state.normaliser.cancel(now());
            state.say(said, None);
            let interrupt = json!({"subtype": "interrupt", "cancel_queued": true});
            let _the_end_is_seen_elsewhere = state.request(&interrupt);
        }
        self.active.notify_one();
        let patience = self.shared.patience.interrupt;
        let over = tokio::time::timeout(patience, async {
            while self.lock().normaliser.in_turn() {
                if ended.changed().await.is_err() {
                    return;
                }
            }
        });
        if over.await.is_ok() {
            return Ok(());
        }
        self.restart_after_silence().await;
        Err(ProviderError::InterruptUnanswered { name: self.shared.name() })
    }

    /// Takes the user's answer to a question.
    pub(super) async fn answer(
        self: &Arc<Self>,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        self.active.notify_one();
        if self.answer_about_trust(item, answer, by) {
            if answer.option_id.as_deref() == Some(trust::CONFIRM) {
                self.shared.trust.confirm(&self.project);
                self.reload_when_idle().await;
            }
            return Ok(());
        }
        let (line, stdin) = {
            let mut state = self.lock();
            let Life::Running { stdin, .. } = &state.life else {
                return Err(ProviderError::PermissionClosed);
            };
            let stdin = stdin.clone();
            let answered = state.normaliser.answer(item, answer, by, now());
            let (line, said) = answered.map_err(|why| match why {
                NotTaken::Closed => ProviderError::PermissionClosed,
                NotTaken::NotOffered => ProviderError::not_offered(&self.shared.name()),
            })?;
            state.say(said, None);
            (line, stdin)
        };
        stdin.write(bytes(&line)).await.map_err(|_ended| ProviderError::PermissionClosed)
    }

    /// Whether the answer was to the question about the project's own settings.
    fn answer_about_trust(&self, item: &ItemId, answer: &Answer, by: OutcomeBy) -> bool {
        let mut state = self.lock();
        let Some(asked) = state.trust.take_if(|asked| asked.item == *item) else { return false };
        let said = state.normaliser.settle_own(asked.turn, asked.item, answer, by, now());
        state.say(said, None);
        true
    }

    /// Asks whether the project's own settings may be loaded.
    pub(super) fn ask_for_trust(&self, brings: &[String]) {
        let mut state = self.lock();
        let (turn, item, said) = state.normaliser.ask_own(trust::ask(brings), now());
        state.trust = Some(TrustAsk { turn, item });
        state.say(said, None);
    }

    /// One line of the agent's. `false` when it is from a process that no longer counts.
    fn line(&self, generation: u64, line: Line, charge: Charge) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        self.active.notify_one();
        match line {
            Line::ControlResponse(response) => {
                if let Some(asker) = state.pending.remove(&response.request_id) {
                    let _gave_up = asker.send(response);
                }
                return true;
            }
            Line::Result(result) if !state.normaliser.in_turn() && result.is_error => {
                // The one line of a process that refuses to start.
                let errors: Vec<&str> = result.errors.iter().filter_map(Value::as_str).collect();
                state.refusal = errors.join("\n");
            }
            line => {
                let in_turn = state.normaliser.in_turn();
                let said = state.normaliser.read(line, now());
                state.say(said, Some(charge));
                for reply in state.normaliser.take_replies() {
                    state.write(&reply);
                }
                if in_turn && !state.normaliser.in_turn() {
                    self.ended.send_modify(|count| *count += 1);
                    drop(state);
                    tokio::spawn(self.mark_history());
                }
            }
        }
        true
    }

    /// The process ended by itself.
    fn gone(&self, generation: u64, exit: Exit, stderr_tail: String) {
        let mut state = self.lock();
        if state.generation != generation {
            return;
        }
        state.generation += 1;
        state.life = Life::Crashed;
        state.pending.clear();
        if !state.ready {
            return;
        }
        let details = Details {
            stderr_tail: (!stderr_tail.is_empty()).then_some(stderr_tail),
            hint: Some("Send a message to start it again; the conversation is kept.".to_owned()),
            ..Details::default()
        };
        let words = format!("Connection to {} lost: the process {exit}.", self.shared.name());
        let error = AgentError::new(ErrorCode::ProcessCrash, words, Some(details.clone()));
        let said = state.normaliser.left(error, now());
        state.say(said, None);
        state.say(vec![Output::AgentLeft(details.clone())], None);
        self.ended.send_modify(|count| *count += 1);
        drop(state);
        self.shared.status_with(
            &self.id,
            liminal_contract::AgentStatus::Disconnected,
            Some(details),
        );
        tokio::spawn(self.mark_history());
    }

    /// Tells how far the agent's own file goes, once it holds what was said.
    fn mark_history(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let state = self.lock();
        let (agent_ref, last) = (
            state.normaliser.agent_ref().to_owned(),
            state.normaliser.last_record().map(str::to_owned),
        );
        let output = state.output.clone();
        drop(state);
        let (shared, session, project) =
            (Arc::clone(&self.shared), self.id.clone(), self.project.clone());
        async move {
            // The agent writes its file a moment after it speaks.
            for wait in running::WAITS_FOR_FILE {
                let (files, agent_ref) = (shared.files.clone(), agent_ref.clone());
                let (session, project) = (session.clone(), project.clone());
                let mark = tokio::task::spawn_blocking(move || {
                    let path = files.find(&agent_ref)?;
                    Reader { session, project, path }.mark().ok()?
                })
                .await;
                if let Ok(Some(mark)) = mark
                    && last.as_ref().is_none_or(|last| *last == mark.last_id)
                {
                    let fact = Output::Fact(SessionFact::HistoryMark(mark));
                    let _session_closed = output.send(Metered { output: fact, charge: None });
                    return;
                }
                tokio::time::sleep(wait).await;
            }
        }
    }

    fn lost(&self, stderr_tail: String) -> ProviderError {
        ProviderError::ProcessEnded { name: self.shared.name(), stderr_tail }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Hands out what was said. The last carries what it all weighs.
    fn say(&self, said: Vec<Output>, mut charge: Option<Charge>) {
        let last = said.len().saturating_sub(1);
        for (at, output) in said.into_iter().enumerate() {
            let charge = if at == last { charge.take() } else { None };
            let _session_closed = self.output.send(Metered { output, charge });
        }
    }

    /// Asks the agent something beside the conversation.
    fn request(&mut self, request: &Value) -> Option<oneshot::Receiver<ControlResponse>> {
        self.requests += 1;
        let request_id = format!("liminal-{}-{}", self.generation, self.requests);
        let line = json!({"type": "control_request", "request_id": request_id, "request": request});
        let (answer, answered) = oneshot::channel();
        self.pending.insert(request_id, answer);
        self.write(&line).then_some(answered)
    }

    fn write(&self, line: &Value) -> bool {
        match &self.life {
            Life::Running { stdin, .. } => stdin.queue(bytes(line)).is_ok(),
            Life::Resting | Life::Crashed | Life::Killed => false,
        }
    }
}

/// A line as it is written.
fn bytes(line: &Value) -> Vec<u8> {
    let mut bytes = line.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}
