//! A handle to a running session: cheap to clone, and the only way to ask its task for anything.

use std::sync::Arc;

use liminal_contract::{
    Answer, AttachedState, Cursor, ItemId, Policy, SessionId, SessionState, Timestamp, TurnId,
};
use tokio::sync::{mpsc, oneshot, watch};

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

    /// Whether its task has come to rest and takes no more asks.
    pub fn is_over(&self) -> bool {
        self.asks.is_closed()
    }

    /// Asks the task for something. Gives the ask back when the task has come to rest: another one must be started.
    pub fn ask(&self, ask: Ask) -> Result<(), Ask> {
        self.asks.send(ask).map_err(|over| over.0)
    }
}
