//! A handle to a running session: cheap to clone, and the only way to reach its task.

use std::sync::Arc;

use liminal_contract::{
    AttachedState, Cursor, ItemId, SessionId, SessionState, Timestamp, TurnId, TurnOutcome,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::task::SessionRequest;
use crate::failure::Failure;
use crate::feed::{Follow, Outbox};
use crate::store::TitleBy;

#[derive(Clone)]
pub struct Session {
    id: SessionId,
    requests: mpsc::UnboundedSender<SessionRequest>,
    situation: watch::Receiver<Situation>,
}

/// The state of a session that can be read without asking its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    pub state: SessionState,
    /// `None` while the session is detached.
    pub attached: Option<AttachedState>,
    /// May be newer than in `sessions.json`.
    pub last_active_at: Timestamp,
    /// May be newer than in `sessions.json`. With its source.
    pub title: (Option<TitleBy>, String),
}

/// How a browser opens a session.
pub struct Open {
    /// Gets the history and all updates after it.
    pub outbox: Arc<Outbox>,
    /// The last change the browser has.
    pub since: Option<Cursor>,
    /// Open at this item instead of the end.
    pub around: Option<ItemId>,
    pub follow: Follow,
    pub request_id: Option<String>,
}

/// The state of a session that does nothing, by how its last turn ended.
pub fn at_rest(last_outcome: Option<TurnOutcome>) -> SessionState {
    match last_outcome {
        Some(TurnOutcome::Failed) => SessionState::Failed,
        Some(TurnOutcome::Interrupted) => SessionState::Interrupted,
        Some(TurnOutcome::Completed | TurnOutcome::Cancelled) | None => SessionState::Idle,
    }
}

/// What became of a message.
#[derive(Debug)]
pub enum Sent {
    /// It is on disk and on its way to the agent, in this turn.
    Began(TurnId),
    Queued {
        /// Our id of the message.
        message: String,
        /// Its turn, when that begins. Closed if the message is removed.
        began: oneshot::Receiver<TurnId>,
    },
}

pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

impl Session {
    pub fn new(
        id: SessionId,
        requests: mpsc::UnboundedSender<SessionRequest>,
        situation: watch::Receiver<Situation>,
    ) -> Self {
        Self { id, requests, situation }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn situation(&self) -> Situation {
        self.situation.borrow().clone()
    }

    /// Whether its task has come to rest and accepts no more requests.
    pub fn is_over(&self) -> bool {
        self.requests.is_closed()
    }

    /// Sends a request to the task. Gives it back if the task has come to rest: then another one must be started.
    pub fn ask(&self, request: SessionRequest) -> Result<(), SessionRequest> {
        self.requests.send(request).map_err(|over| over.0)
    }
}
