//! A handle to a running session: cheap to clone, and the only way to ask its task for anything.

use std::sync::Arc;

use liminal_contract::{
    Answer, AttachedState, Cursor, ItemId, Policy, SessionId, SessionState, Timestamp, TurnId,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::failures::task_ended;
use crate::failure::Failure;
use crate::store::TitleBy;
use crate::ws::outbox::{Follow, Outbox};

/// A session in use.
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    asks: mpsc::UnboundedSender<Ask>,
    situation: watch::Receiver<Situation>,
}

/// What others may know of a session without asking its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// What it is doing.
    pub state: SessionState,
    /// Its attachment to its agent; `None` while there is none.
    pub attached: Option<AttachedState>,
    /// Its last activity, which `sessions.json` may not have yet.
    pub last_active_at: Timestamp,
    /// Its title, likewise, and who gave it.
    pub title: (Option<TitleBy>, String),
}

/// How a browser opens a session.
pub struct Open {
    /// Where the history and what follows it go.
    pub outbox: Arc<Outbox>,
    /// How far it was seen before.
    pub since: Option<Cursor>,
    /// Open at this item instead of the end.
    pub around: Option<ItemId>,
    /// How growing items are wanted.
    pub follow: Follow,
    /// For the reply.
    pub request_id: Option<String>,
}

/// The answer to an ask comes here.
pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// What a session's task can be asked.
pub enum Ask {
    /// Follow, with history.
    Open(Open, Reply<()>),
    /// Make the transcript ready and give it to all who follow.
    Load(Reply<()>),
    /// Stop following.
    Close(Arc<Outbox>),
    /// The user says something.
    Send {
        /// Markdown.
        content: String,
        /// Only a UUID is deduplicated.
        request_id: Option<String>,
        /// The turn, once the message is on disk.
        reply: Reply<TurnId>,
    },
    /// Stop the running turn.
    Cancel(Reply<()>),
    /// Answer a permission.
    Answer {
        /// Which.
        item: ItemId,
        /// What.
        answer: Answer,
        /// Whether it was still open.
        reply: Reply<()>,
    },
    /// What happens from now on when the agent asks.
    Policy(Policy),
    /// End the session with its agent.
    Kill(Reply<()>),
    /// The turn ends, however it does, before this is answered.
    TurnOver(Reply<()>),
    /// Put everything on disk; the server stops.
    Rest(Reply<()>),
}

impl Session {
    /// A handle whose asks go to whoever holds the other end.
    pub fn new(
        id: SessionId,
        asks: mpsc::UnboundedSender<Ask>,
        situation: watch::Receiver<Situation>,
    ) -> Self {
        Self { id, asks, situation }
    }

    /// Which session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What it is doing.
    pub fn situation(&self) -> Situation {
        self.situation.borrow().clone()
    }

    /// Follows the session; the history goes to the outbox.
    pub async fn open(&self, open: Open) -> Result<(), Failure> {
        self.ask(|reply| Ask::Open(open, reply)).await
    }

    /// Makes the transcript ready and gives it to all who follow.
    pub async fn load(&self) -> Result<(), Failure> {
        self.ask(Ask::Load).await
    }

    /// Stops following.
    pub fn close(&self, outbox: Arc<Outbox>) {
        let _task_ended = self.asks.send(Ask::Close(outbox));
    }

    /// Says something to the agent. The turn's id, once the message is on disk.
    pub async fn send(
        &self,
        content: String,
        request_id: Option<String>,
    ) -> Result<TurnId, Failure> {
        self.ask(|reply| Ask::Send { content, request_id, reply }).await
    }

    /// Stops the running turn; nothing when there is none.
    pub async fn cancel(&self) -> Result<(), Failure> {
        self.ask(Ask::Cancel).await
    }

    /// Answers a permission.
    pub async fn answer(&self, item: ItemId, answer: Answer) -> Result<(), Failure> {
        self.ask(|reply| Ask::Answer { item, answer, reply }).await
    }

    /// What happens from now on when the agent asks.
    pub fn set_policy(&self, policy: Policy) {
        let _task_ended = self.asks.send(Ask::Policy(policy));
    }

    /// Ends the session with its agent.
    pub async fn kill(&self) -> Result<(), Failure> {
        self.ask(Ask::Kill).await
    }

    /// Waits for the running turn, if there is one.
    pub async fn turn_over(&self) -> Result<(), Failure> {
        self.ask(Ask::TurnOver).await
    }

    /// Puts everything on disk.
    pub async fn rest(&self) -> Result<(), Failure> {
        self.ask(Ask::Rest).await
    }

    async fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let _task_ended = self.asks.send(ask(reply));
        answer.await.unwrap_or_else(|_task_panicked| Err(task_ended(&self.id)))
    }
}
