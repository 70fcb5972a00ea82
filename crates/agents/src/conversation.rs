//! The part of a session that all wire protocols share: the running turn, open permissions, late output of an abandoned
//! turn, which start of the process knows the session, and what happens when that process ends.
//!
//! Every step is synchronous and runs under one lock, so the agent's lines and the user's requests have one order.
//! [`Turns`] and [`Asks`] are the rules, without channels or clocks. A wire adds a [`Voice`] and a [`Link`]; this
//! module knows neither its line format nor how its sessions map to processes.

mod asks;
mod options;
mod reading;
mod turns;
mod voice;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use liminal_contract::{Answer, Details, ErrorCode, ItemId, OutcomeBy, Timestamp, TurnId};
use liminal_stream::{AgentError, SessionFact};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::lifecycle::{Keeper, RunningTurn};
use crate::{AgentPrompt, Charge, Metered, Output, ProviderError};

pub(crate) use self::asks::{Asks, NotTaken};
use self::options::Options;
pub(crate) use self::options::{NotSet, SetOption};
pub(crate) use self::reading::{ReadEnd, read_until_gone};
pub(crate) use self::turns::Turns;
use self::turns::{Bound, Stopping};
pub(crate) use self::voice::{Closed, Ended, Link, Unanswered, Voice};

/// The effect of one line from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Ignored: it came from an earlier process.
    Stranger,
    /// The agent started a turn on its own, and it is still running.
    OwnBegan,
    /// It ended the running turn.
    Ended,
    /// None of these.
    More,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Part of a turn.
    Conversation,
    /// True of the session whatever turn is running.
    Fact,
}

/// One step of a conversation.
pub(crate) struct Step<'a, V> {
    pub voice: &'a mut V,
    pub turns: &'a Turns,
    /// The size of the line. Goes with the step's last output, unless the step takes it.
    pub charge: &'a mut Option<Charge>,
    pub at: Timestamp,
}

/// Which start of the process knows the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attachment {
    Never,
    Lost,
    To(u64),
}

/// One session with an agent. Outlives the agent's processes.
pub(crate) struct Conversation<V: Voice> {
    /// The agent's display name.
    name: String,
    keeper: Keeper<V::Link>,
    /// Held while an option is set, so that the last choice is the one that stays.
    setting: tokio::sync::Mutex<()>,
    state: Mutex<State<V>>,
}

struct State<V: Voice> {
    voice: V,
    output: Option<mpsc::UnboundedSender<Metered>>,
    turns: Turns,
    options: Options,
    attachment: Attachment,
    /// Held while stopping the process would lose something.
    busy: Option<RunningTurn<V::Link>>,
}

impl<V: Voice> std::fmt::Debug for Conversation<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Conversation")
            .field("turns", &state.turns)
            .field("attachment", &state.attachment)
            .finish_non_exhaustive()
    }
}

impl<V: Voice> Conversation<V> {
    pub fn new(
        name: impl Into<String>,
        keeper: Keeper<V::Link>,
        voice: V,
        output: mpsc::UnboundedSender<Metered>,
    ) -> Self {
        let state = State {
            voice,
            output: Some(output),
            turns: Turns::default(),
            options: Options::default(),
            attachment: Attachment::Never,
            busy: None,
        };
        Self { name: name.into(), keeper, setting: Default::default(), state: Mutex::new(state) }
    }

    /// Sends all further output here.
    pub fn listened_to_by(&self, output: mpsc::UnboundedSender<Metered>) {
        self.state().output = Some(output);
    }

    /// The current receiver's sender, for output produced outside this type.
    pub fn listener(&self) -> Option<mpsc::UnboundedSender<Metered>> {
        self.state().output.clone()
    }

    /// From here on, this start of the process knows the session. `history`: it may replay the history first.
    pub fn attach<T>(&self, generation: u64, history: bool, to: impl FnOnce(&mut V) -> T) -> T {
        let mut state = self.state();
        if matches!(state.attachment, Attachment::To(earlier) if earlier != generation) {
            // Its reader has not finished yet; whatever it still reads is ignored.
            self.cut(&mut state, failure(&self.process_ended()));
        }
        state.attachment = Attachment::To(generation);
        if history {
            state.turns.remember();
        }
        to(&mut state.voice)
    }

    /// Ignores all further output of this start of the process, which has not run a turn here.
    pub fn detach(&self, generation: u64) {
        let mut state = self.state();
        if state.attachment == Attachment::To(generation) {
            state.lose_process();
            state.turns.remembered();
        }
    }

    /// The history is complete.
    pub fn remembered(&self, end: impl FnOnce(&mut V, Timestamp) -> Vec<Output>) {
        let mut state = self.state();
        let outputs = end(&mut state.voice, now());
        self.emit(&mut state, outputs, None);
        state.turns.remembered();
    }

    /// The start of the process that knows this session.
    pub fn generation(&self) -> Option<u64> {
        match self.state().attachment {
            Attachment::To(generation) => Some(generation),
            Attachment::Never | Attachment::Lost => None,
        }
    }

    /// Whether the process that knew it is gone.
    pub fn is_lost(&self) -> bool {
        self.state().attachment == Attachment::Lost
    }

    /// Whether this start of the process is working on a turn.
    pub fn is_running(&self, generation: u64) -> bool {
        let state = self.state();
        state.attachment == Attachment::To(generation) && state.turns.is_running()
    }

    /// Whether its process is running and knows the session.
    pub fn is_alive(&self) -> bool {
        let link = self.keeper.connected().filter(|link| !link.is_over());
        link.is_some_and(|link| self.generation() == Some(link.generation()))
    }

    pub fn with<T>(&self, look: impl FnOnce(&mut V) -> T) -> T {
        look(&mut self.state().voice)
    }

    /// Runs a step that no line of the agent caused.
    pub fn say(&self, charge: Option<Charge>, step: impl FnOnce(Step<'_, V>) -> Vec<Output>) {
        self.take(&mut self.state(), charge, step);
    }

    /// Handles one line from this start of the agent.
    pub fn hear(
        &self,
        generation: u64,
        kind: LineKind,
        charge: Option<Charge>,
        line: impl FnOnce(Step<'_, V>) -> Vec<Output>,
    ) -> Heard {
        let mut state = self.state();
        if state.attachment != Attachment::To(generation) {
            return Heard::Stranger;
        }
        if kind == LineKind::Conversation && state.turns.is_deaf() {
            return Heard::More;
        }
        let (ran, own) = (state.turns.is_running(), state.turns.is_own());
        // A history is only read once it is complete, so charging for it could block the agent forever.
        let charge = charge.filter(|_| !state.turns.is_remembering());
        self.take(&mut state, charge, line);
        match (ran, state.turns.is_running()) {
            (true, false) => Heard::Ended,
            (_, true) if !own && state.turns.is_own() => Heard::OwnBegan,
            _ => Heard::More,
        }
    }

    /// An abandoned prompt was answered: from here on the agent's output counts again.
    pub fn undeafen(&self, turn: &TurnId) {
        self.state().turns.undeafen(turn);
    }

    /// Reserves the next turn for the user's message, before its process is running.
    pub fn reserve(&self) -> Result<Sending<'_, V>, ProviderError> {
        match self.state().turns.reserve() {
            true => Ok(Sending { conversation: self }),
            false => Err(ProviderError::Busy { name: self.name.clone() }),
        }
    }

    /// The agent, started if it is not running. Never one that has just crashed.
    pub async fn link(&self) -> Result<Arc<V::Link>, ProviderError> {
        link_of(&self.keeper).await
    }

    /// Hands the agent a message while a turn runs, unless that is being stopped.
    pub fn steer(&self, message: &str, prompt: &AgentPrompt) {
        let mut state = self.state();
        let can_take = state.turns.is_running() && state.turns.stopping().is_none();
        let taken = match can_take {
            true => state.voice.steer(message, prompt, now()),
            false => Err(Closed),
        };
        let returned = |_| vec![Output::Returned { message: message.to_owned() }];
        self.emit(&mut state, taken.unwrap_or_else(returned), None);
    }

    /// Asks the agent to stop. The receiver closes when the turn ends; `None` if nothing is running.
    pub fn stop(&self) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state();
        match state.turns.stop() {
            Stopping::Nothing => return None,
            Stopping::AskedBefore => {}
            Stopping::First => {
                let outputs = state.voice.stop(now());
                self.emit(&mut state, outputs, None);
            }
        }
        state.turns.await_end()
    }

    /// Asks the agent to stop and waits up to `patience`. After that it is ignored or restarted, depending on
    /// [`Voice::UNANSWERED`].
    pub async fn cancel(&self, patience: Duration) -> Result<(), ProviderError> {
        let Some(ended) = self.stop() else { return Ok(()) };
        if timeout(patience, ended).await.is_ok() || !self.give_up() {
            return Ok(());
        }
        if V::UNANSWERED == Unanswered::Restart {
            // If it does not start, its status says so, and the next message tries again.
            let _told_by_status = self.keeper.reconnect().await;
        }
        Err(ProviderError::InterruptUnanswered { name: self.name.clone() })
    }

    /// Ends a turn that did not stop. Returns whether there was one.
    fn give_up(&self) -> bool {
        let mut state = self.state();
        let Some(turn) = state.turns.stopping().cloned() else { return false };
        let outputs = state.voice.end(Ended::Unanswered, now());
        self.emit(&mut state, outputs, None);
        match V::UNANSWERED {
            Unanswered::Deafen => state.turns.deafen(turn),
            Unanswered::Restart => {
                state.turns.clear();
                state.lose_process();
            }
        }
        true
    }

    pub fn answer(
        &self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let mut state = self.state();
        let answered = state.voice.answer(item, answer, by, now());
        let outputs = answered.map_err(|why| match why {
            NotTaken::Closed => ProviderError::PermissionClosed,
            NotTaken::NotOffered => ProviderError::not_offered(&self.name),
        })?;
        self.emit(&mut state, outputs, None);
        Ok(())
    }

    /// A process that we stopped is gone. Returns whether nothing was running, so there is nothing to report.
    pub fn rests(&self, generation: u64) -> bool {
        let mut state = self.state();
        let rests = state.attachment == Attachment::To(generation)
            && !state.turns.is_running()
            && !state.voice.is_busy();
        if rests {
            state.lose_process();
        }
        rests
    }

    /// The process is gone: ends whatever it was running.
    pub fn left(&self, generation: u64, error: AgentError) {
        let mut state = self.state();
        if state.attachment != Attachment::To(generation) {
            return;
        }
        let details: Details = error.details.clone().unwrap_or_default();
        self.cut(&mut state, error);
        self.emit(&mut state, vec![Output::AgentLeft(details)], None);
    }

    fn cut(&self, state: &mut State<V>, error: AgentError) {
        let outputs = state.voice.end(Ended::Left(Box::new(error)), now());
        state.lose_process();
        self.emit(state, outputs, None);
        state.turns.clear();
        self.hold(state, false);
    }

    /// Releases the session: ends the running turn and ignores the agent from here on.
    pub fn release(&self) {
        let mut state = self.state();
        let outputs = state.voice.end(Ended::Released, now());
        self.emit(&mut state, outputs, None);
        state.turns.clear();
        state.lose_process();
        self.hold(&mut state, false);
    }

    /// Ends the output: the receiver closes.
    pub fn close(&self) {
        self.state().output = None;
    }

    pub fn process_ended(&self) -> ProviderError {
        ProviderError::ProcessEnded { name: self.name.clone(), stderr_tail: String::new() }
    }

    pub fn keeper(&self) -> &Keeper<V::Link> {
        &self.keeper
    }

    fn take(
        &self,
        state: &mut State<V>,
        mut charge: Option<Charge>,
        step: impl FnOnce(Step<'_, V>) -> Vec<Output>,
    ) {
        let State { voice, turns, .. } = state;
        let outputs = step(Step { voice, turns, charge: &mut charge, at: now() });
        self.emit(state, outputs, charge);
    }

    /// The charge goes with the last output, which is committed last.
    fn emit(&self, state: &mut State<V>, mut outputs: Vec<Output>, mut charge: Option<Charge>) {
        let mut completed = false;
        // An agent without options reports none at each start; that is news only if it had some.
        outputs.retain(|output| match output {
            Output::Fact(SessionFact::Options(list)) => {
                !(list.is_empty() && state.options.is_empty())
            }
            _ => true,
        });
        let last = outputs.len();
        for (n, mut said) in outputs.into_iter().enumerate() {
            match &mut said {
                Output::Event(event) => completed |= state.turns.said(event),
                Output::Fact(SessionFact::Options(list)) => {
                    *list = state.options.told(std::mem::take(list));
                }
                _ => {}
            }
            state.send(said, if n + 1 == last { charge.take() } else { None });
        }
        self.hold(state, completed);
    }

    /// Keeps the process from being stopped as idle while it is needed.
    fn hold(&self, state: &mut State<V>, completed: bool) {
        let busy = state.turns.is_running() || state.voice.is_busy();
        match (busy, state.busy.take()) {
            (true, None) => state.busy = Some(self.keeper.turn()),
            (true, held) => state.busy = held,
            (false, Some(held)) if completed => held.complete(),
            (false, _dropped) => {}
        }
    }

    /// A panic under this lock loses that step, not the session.
    fn state(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Voice> State<V> {
    fn send(&self, output: Output, charge: Option<Charge>) {
        if let Some(listener) = &self.output {
            let _session_task_gone = listener.send(Metered { output, charge });
        }
    }

    fn lose_process(&mut self) {
        self.attachment = Attachment::Lost;
        self.options.lose_process();
        self.voice.detached();
    }
}

/// A turn reserved for one message. Dropping it without [`prompt`](Self::prompt) frees the turn.
pub(crate) struct Sending<'a, V: Voice> {
    conversation: &'a Conversation<V>,
}

impl<V: Voice> Sending<'_, V> {
    /// Sends the message to the agent. When this returns the turn is running; after an error there is none.
    pub fn prompt(self, turn: &TurnId, prompt: &AgentPrompt) -> Result<(), ProviderError> {
        let conversation = self.conversation;
        let mut state = conversation.state();
        let outputs = match state.turns.bind(turn) {
            Bound::Stopped => state.voice.unsent(turn, now()),
            Bound::Running => match state.voice.prompt(turn, prompt, now()) {
                Ok(outputs) => outputs,
                Err(Closed) => {
                    state.turns.clear();
                    return Err(conversation.process_ended());
                }
            },
        };
        conversation.emit(&mut state, outputs, None);
        Ok(())
    }
}

impl<V: Voice> Drop for Sending<'_, V> {
    fn drop(&mut self) {
        self.conversation.state().turns.unreserve();
    }
}

/// The agent, started if it is not running.
pub(crate) async fn link_of<L: Link>(keeper: &Keeper<L>) -> Result<Arc<L>, ProviderError> {
    loop {
        let link = keeper.link().await?;
        if !link.is_over() {
            return Ok(link);
        }
        keeper.replaced(&link).await;
    }
}

/// The error of a turn whose process is gone.
pub(crate) fn failure(error: &ProviderError) -> AgentError {
    let code = match error.code() {
        ErrorCode::ProtocolError => ErrorCode::ProtocolError,
        _ => ErrorCode::ProcessCrash,
    };
    AgentError::new(code, error.to_string(), error.details())
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}

#[cfg(test)]
mod tests;
