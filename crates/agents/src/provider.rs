//! The interface of every provider, whatever agent it drives. The session task knows nothing else about agents.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use liminal_contract::{
    AgentStatus, Answer, AskKind, CliType, Details, ItemId, McpAct, OptionValue, OutcomeBy,
    SessionId, SessionOption, TaskAct, Timestamp, ToolKind, TurnId,
};
use liminal_stream::{HistoryMark, Permission, SessionFact, StreamEvent};
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::{AgentPrompt, ProviderError};

/// Drives one kind of agent.
///
/// Every method may be called for many sessions at once. A session's output arrives in the agent's order on the
/// receiver that [`create_session`](Self::create_session) or [`load_session`](Self::load_session) returned.
#[async_trait]
pub trait CliProvider: Send + Sync {
    fn cli_type(&self) -> &CliType;

    /// Creates a session with the agent. If this fails, it leaves nothing running that was not running before.
    async fn create_session(&self, new: NewSession) -> Result<ProviderSession, ProviderError>;

    /// Resumes a session the agent knows. `history` says which part of it to replay.
    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError>;

    /// Where the agent itself can continue one of its sessions in a new one. `None`: it can't go back to this place.
    async fn fork_at(&self, session: &SessionId, agent_ref: &str, place: ForkPlace)
    -> Option<Fork>;

    /// Sends the user's message to the agent. Returns when the turn has started, not when it ends; every event of
    /// the turn carries `turn`. After an error no event follows: the message did not reach a running process.
    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        prompt: &AgentPrompt,
    ) -> Result<(), ProviderError>;

    /// Hands the agent a message while a turn runs. What became of it follows: the message as an item of the turn, the
    /// start of a turn with the message's id, or [`Output::Returned`].
    async fn steer(
        &self,
        session: &SessionId,
        message: &str,
        prompt: &AgentPrompt,
    ) -> Result<(), ProviderError>;

    /// Asks the agent to stop. The turn's last event follows; `InterruptUnanswered` if it did not come in time.
    async fn cancel_turn(&self, session: &SessionId) -> Result<(), ProviderError>;

    /// Answers a permission. The settled item follows as an event.
    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError>;

    /// Sets one of the agent's options, at once if its process is running, even during a turn; otherwise as soon as it
    /// runs. The new list follows as a fact.
    async fn set_option(
        &self,
        session: &SessionId,
        id: &str,
        value: OptionValue,
    ) -> Result<(), ProviderError>;

    /// Stops a task, puts it into the background, or reads what it wrote.
    async fn act_on_task(
        &self,
        session: &SessionId,
        task: &str,
        act: TaskAct,
    ) -> Result<Option<TaskOutput>, ProviderError>;

    /// Reconnects an MCP server, or switches it on or off. The new list follows as a fact.
    async fn act_on_mcp(
        &self,
        session: &SessionId,
        server: &str,
        act: McpAct,
    ) -> Result<(), ProviderError>;

    /// Ends the session with the agent, and its process if the session has its own.
    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError>;

    /// Nobody needs the session for now. What is kept of it in memory goes, unless it has a process or lost one;
    /// [`load_session`](Self::load_session) makes it again. Returns false while a process of it is being ended.
    fn let_go(&self, _session: &SessionId) -> bool {
        true
    }

    /// Whether the session's process is running.
    fn is_alive(&self, session: &SessionId) -> bool;

    /// Restarts a disconnected agent at the user's request.
    async fn reconnect(&self, session: Option<&SessionId>) -> Result<(), ProviderError>;

    /// Looks once at a session that has no process, and was attached: what another program added after `mark` follows
    /// as output.
    async fn look_elsewhere(&self, _session: &SessionId, _mark: &HistoryMark) -> Elsewhere {
        Elsewhere::Quiet
    }

    /// Whether another program added to the session after `mark`, so that a process of ours would not know it.
    async fn has_grown(&self, _load: &LoadSession, _mark: &HistoryMark) -> bool {
        false
    }

    /// The sessions that the agent itself lists for a directory, the agent being started for it; `None` if it offers
    /// no list.
    async fn list_sessions(
        &self,
        _directory: &Path,
    ) -> Result<Option<Vec<ListedSession>>, ProviderError> {
        Ok(None)
    }

    /// Ends every process of this provider: interrupt, close stdin, 1 s, TERM, 1 s, KILL.
    async fn shutdown(&self);
}

#[derive(Debug, Clone)]
pub struct NewSession {
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    /// Our id of a session that the agent has lost and that starts over. `None`: a new id.
    pub session_id: Option<SessionId>,
    /// The options to start with, by id. One that the agent no longer offers keeps the agent's own value.
    pub chosen: Vec<(String, OptionValue)>,
    /// The options that it must start with.
    pub wanted: Vec<OptionChange>,
    /// What the agent is to remember from the start.
    pub fork: Option<Fork>,
}

/// A value that the user chose for one of the agent's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionChange {
    /// The agent's own id of the option.
    pub id: String,
    pub value: OptionValue,
    /// The user knows that it skips questions.
    pub confirmed: bool,
}

/// A point in one of the agent's own sessions, from which another one continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    /// The agent's own id of the session.
    pub agent_ref: String,
    /// The agent's own id of the last record to keep. Absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A place in a transcript, between two items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkPlace {
    /// After everything.
    End,
    /// Before the message that began this turn.
    Before(TurnId),
    /// After words of the agent's in the middle of a turn.
    AfterWords {
        turn: TurnId,
        words: String,
        /// How many times it said the same in this turn before.
        nth: usize,
    },
}

/// What a task has written so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOutput {
    pub text: String,
    /// There was more before it.
    pub cut: bool,
}

/// Which session to resume, and how much of its history to replay.
#[derive(Debug, Clone)]
pub struct LoadSession {
    pub session_id: SessionId,
    /// The agent's own id of the session.
    pub agent_ref: String,
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    pub history: History,
    /// As last known. The chosen ones are set when the process starts.
    pub options: Vec<SessionOption>,
    /// What it was made from, in case the agent has not written it down yet.
    pub fork: Option<Fork>,
}

/// What another program does with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    Quiet,
    /// Somebody works on it right now.
    Active,
    /// There is more, which can't be told by itself: the session must be read again.
    Grown,
}

/// A session that an agent knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// The agent's own id.
    pub agent_ref: String,
    pub title: Option<String>,
    pub changed: Option<Timestamp>,
}

/// How much of a session's history to replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum History {
    /// Everything: the journal has never seen this session.
    All,
    /// Nothing: the journal has it.
    Known,
    /// Whatever other programs added after `mark`.
    After {
        mark: HistoryMark,
        /// Turns the journal already has, even if the agent recorded them after the mark.
        known: Vec<TurnId>,
    },
}

/// A session attached to its agent, and where its output arrives.
#[derive(Debug)]
pub struct ProviderSession {
    pub session_id: SessionId,
    /// The agent's own id of the session.
    pub agent_ref: String,
    /// Closed when the provider releases the session.
    pub output: mpsc::UnboundedReceiver<Metered>,
}

/// An output and its size.
#[derive(Debug)]
pub struct Metered {
    pub output: Output,
    /// Counts its bytes against the process's limit until dropped: keep it until the output is committed.
    pub charge: Option<Charge>,
}

/// Bytes read from one process and not committed yet. The reader pauses while there are too many, so the queue of
/// a [`ProviderSession`] is bounded by its size in bytes, not by its length.
#[derive(Debug)]
pub struct Charge(
    #[expect(dead_code, reason = "held for its drop")] pub(crate) Option<OwnedSemaphorePermit>,
);

/// Something a session reported.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every output is the large one")]
pub enum Output {
    Event(StreamEvent),
    Fact(SessionFact),
    /// The agent's history no longer contains the given mark. Everything from here to
    /// [`HistoryTold`](Self::HistoryTold) is the complete history and replaces what came before.
    HistoryReplaced,
    /// The requested history is complete.
    HistoryTold,
    /// The agent will not take up a message that it was handed.
    Returned {
        message: String,
    },
    /// The process ended. If a turn was running, an earlier event ended it.
    AgentLeft(Details),
}

/// A new state of an agent's process. Sent to every browser as `agent:status`.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusChange {
    pub cli_type: CliType,
    pub status: AgentStatus,
    /// Set if the agent has one process per session.
    pub session_id: Option<SessionId>,
    /// Counted from one.
    pub attempt: Option<u32>,
    pub retry_at: Option<Timestamp>,
    pub details: Option<Details>,
}

/// The answer of the policy **Approve everything** (`auto`): allow once. `None` for a question, for a plan or another
/// change of mode, or if the agent does not offer that; then the user must answer.
pub fn auto_answer(ask: &Permission) -> Option<Answer> {
    if ask.questions.is_some() || ask.tool_kind == ToolKind::SwitchMode {
        return None;
    }
    let mut once = ask.options.iter().filter(|option| option.kind == AskKind::AllowOnce);
    // Several are the answers to a question.
    let (Some(once), None) = (once.next(), once.next()) else { return None };
    Some(Answer { option_id: Some(once.option_id.clone()), ..Answer::default() })
}
