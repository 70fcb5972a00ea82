//! What every provider can do, whatever the agent behind it. The session task programs against this alone.

use std::path::PathBuf;

use async_trait::async_trait;
use liminal_contract::{
    AgentStatus, Answer, AskKind, CliType, Details, ItemId, OutcomeBy, SessionId, Timestamp, TurnId,
};
use liminal_stream::{Ask, HistoryMark, SessionFact, StreamEvent};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::ProviderError;

/// Drives one kind of agent.
///
/// Every method may be called for many sessions at once. What a session says arrives on the receiver that
/// [`create_session`](Self::create_session) or [`load_session`](Self::load_session) gave, in the agent's order.
#[async_trait]
pub trait CliProvider: Send + Sync {
    /// Which agent this drives.
    fn cli_type(&self) -> &CliType;

    /// Makes a session with the agent. On failure nothing is left running that was not there before.
    async fn create_session(&self, new: NewSession) -> Result<ProviderSession, ProviderError>;

    /// Takes up a session the agent knows. `history` says what of it is to be told again.
    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError>;

    /// Gives the agent the user's message. Returns when the turn is bound, not when it ends; every event of the
    /// turn carries `turn`. An error means that the message did not reach a living process, and no event follows.
    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        content: &str,
    ) -> Result<(), ProviderError>;

    /// Asks the agent to stop. The turn's terminal event follows; `InterruptUnanswered` when it did not in time.
    async fn cancel_turn(&self, session: &SessionId) -> Result<(), ProviderError>;

    /// Answers a permission. The settled item follows as an event.
    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError>;

    /// Ends the session with the agent, and its process where it has one of its own.
    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError>;

    /// Whether the process behind the session lives.
    fn is_alive(&self, session: &SessionId) -> bool;

    /// Starts a disconnected agent again because the user asked.
    async fn reconnect(&self, session: Option<&SessionId>) -> Result<(), ProviderError>;

    /// Ends every process of this provider: interrupt, close stdin, 1 s, TERM, 1 s, KILL.
    async fn shutdown(&self);
}

/// What a new session needs to know.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    /// Our id of a session that its agent has forgotten and that starts anew with it. Absent: a new id.
    pub session_id: Option<SessionId>,
}

/// Which session to take up, and what of it to tell.
#[derive(Debug, Clone)]
pub struct LoadSession {
    /// Our id of it.
    pub session_id: SessionId,
    /// What the agent calls it.
    pub agent_ref: String,
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    /// What of its history to tell.
    pub history: History,
}

/// What of a session's history the journal wants to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum History {
    /// All of it: the journal has never seen this session.
    All,
    /// Nothing: the journal has it.
    Known,
    /// What was added elsewhere.
    After {
        /// Since then.
        mark: HistoryMark,
        /// Turns the journal has: they were ours, whatever the agent kept of them behind the mark.
        known: Vec<TurnId>,
    },
}

/// A session taken up, and where what it says arrives.
#[derive(Debug)]
pub struct ProviderSession {
    /// Our id of it.
    pub session_id: SessionId,
    /// What the agent calls it.
    pub agent_ref: String,
    /// Closed when the provider let go of the session.
    pub output: mpsc::UnboundedReceiver<Metered>,
}

/// An output and what it weighs.
#[derive(Debug)]
pub struct Metered {
    /// What was said.
    pub output: Output,
    /// Holds its bytes against the process's limit until it is dropped: keep it until the output is committed.
    pub charge: Option<Charge>,
}

/// Bytes of one process that were read and are not committed yet. The reader pauses while there are too many, so
/// the queue of a [`ProviderSession`] is bounded by what it weighs, not by its length.
#[derive(Debug)]
pub struct Charge(
    #[expect(dead_code, reason = "held for what its drop does")]
    pub(crate)  Option<OwnedSemaphorePermit>,
);

/// What a session says.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every output is the large one")]
pub enum Output {
    /// Conversation.
    Event(StreamEvent),
    /// A fact about the session.
    Fact(SessionFact),
    /// The agent's history no longer holds the record that was named: what comes from here to
    /// [`HistoryTold`](Self::HistoryTold) is all of it as it stands now, in place of what was told before.
    HistoryReplaced,
    /// All the history that was asked for has been told.
    HistoryTold,
    /// The process ended. A running turn was ended by an event before this.
    AgentLeft(Details),
}

/// An agent's process changed its state. Sent to every browser as `agent:status`.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusChange {
    /// The agent.
    pub cli_type: CliType,
    /// Its process.
    pub status: AgentStatus,
    /// Of an agent with a process per session: which.
    pub session_id: Option<SessionId>,
    /// Which try this is.
    pub attempt: Option<u32>,
    /// When the next try is.
    pub retry_at: Option<Timestamp>,
    /// The evidence.
    pub details: Option<Details>,
}

/// What the policy `auto` answers: allow once. `None` where that is not offered or a question is asked: then the
/// user must.
pub fn auto_answer(ask: &Ask) -> Option<Answer> {
    if ask.questions.is_some() {
        return None;
    }
    let once = ask.options.iter().find(|option| option.kind == AskKind::AllowOnce)?;
    Some(Answer { option_id: Some(once.option_id.clone()), ..Answer::default() })
}
