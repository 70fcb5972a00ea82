//! Which sessions have a task: it is kept while a turn, a permission, a process or a browser needs it, and made again for
//! the next who asks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use liminal_agents::{CliProvider, Metered};
use liminal_contract::{
    AttachedState, ServerMessage, SessionId, SessionListItem, SessionState, Timestamp,
};
use tokio::sync::{mpsc, oneshot};

use super::failures::task_ended;
use super::service::SessionService;
use super::session::{Ask, Open, Reply, Session};
use super::task::SessionTask;
use crate::failure::Failure;
use crate::journal::SessionRow;
use crate::store::SessionRecord;

/// The running tasks, and what must be known of sessions without one.
pub struct Registry {
    running: HashMap<SessionId, Session>,
    /// Those at rest whose last turn failed.
    failed: HashSet<SessionId>,
}

impl Registry {
    /// Nothing runs yet; these failed last.
    pub fn new(failed: Vec<SessionId>) -> Self {
        Self { running: HashMap::new(), failed: failed.into_iter().collect() }
    }

    /// The handle of a session's task.
    pub fn running(&self, session: &SessionId) -> Option<&Session> {
        self.running.get(session).filter(|running| !running.is_over())
    }

    /// Every handle.
    pub fn all(&self) -> Vec<Session> {
        self.running.values().cloned().collect()
    }

    /// A task was started.
    pub fn add(&mut self, session: Session) {
        self.failed.remove(session.id());
        self.running.insert(session.id().clone(), session);
    }

    /// The session is gone, or its task is.
    pub fn remove(&mut self, session: &SessionId) -> Option<Session> {
        self.failed.remove(session);
        self.running.remove(session).filter(|running| !running.is_over())
    }

    /// How a session is tied to its agent.
    pub fn attached(&self, session: &SessionId) -> Option<AttachedState> {
        self.running(session)?.situation().attached
    }

    /// A session as lists show it.
    pub fn row(&self, mut record: SessionRecord) -> SessionListItem {
        let mut state = if self.failed.contains(&record.id) {
            SessionState::Failed
        } else {
            SessionState::Idle
        };
        if let Some(session) = self.running.get(&record.id) {
            let situation = session.situation();
            state = situation.state;
            // What the task knows and the file does not have yet.
            record.last_active_at = record.last_active_at.max(situation.last_active_at);
            if situation.title.0 > record.title_by {
                record.title = situation.title.1;
            }
        }
        SessionListItem {
            id: record.id,
            project_id: record.project_id,
            title: record.title,
            last_active_at: record.last_active_at,
            created_at: record.created_at,
            cli_type: record.cli_type,
            archived: record.archived,
            state,
        }
    }

    /// A task came to rest. Another may be running already.
    fn rested(&mut self, session: &SessionId) {
        if let Some(over) = self.running.get(session).filter(|running| running.is_over()) {
            if over.situation().state == SessionState::Failed {
                self.failed.insert(session.clone());
            }
            self.running.remove(session);
        }
    }
}

/// Asks a running task and waits for its answer.
pub async fn ask<T>(session: &Session, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, Failure> {
    let (reply, answer) = oneshot::channel();
    let _at_rest = session.ask(ask(reply));
    answer.await.unwrap_or_else(|_task_panicked| Err(task_ended(session.id())))
}

impl SessionService {
    /// Asks a session's task, which is started when there is none, and waits for its answer.
    pub(super) async fn ask<T>(
        self: &Arc<Self>,
        id: &SessionId,
        ask: impl FnOnce(Reply<T>) -> Ask,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let mut ask = ask(reply);
        // A task that comes to rest in this very moment gives the ask back.
        while let Err(back) = self.session(id).await?.ask(ask) {
            ask = back;
        }
        answer.await.unwrap_or_else(|_task_panicked| Err(task_ended(id)))
    }

    /// A handle to a session, whose task is started when it is not running.
    async fn session(self: &Arc<Self>, id: &SessionId) -> Result<Session, Failure> {
        let mut registry = self.registry.lock().await;
        if let Some(session) = registry.running(id) {
            return Ok(session.clone());
        }
        let record = self.record(id)?;
        let provider = self.around.registry.resolve(&record.cli_type)?;
        let asked = id.clone();
        let row = self.around.journal.read(move |reader| reader.session(&asked)).await?;
        let session = self.run(record, row, provider, None);
        registry.add(session.clone());
        Ok(session)
    }

    /// Starts a session's task and, should it panic, one in its place.
    pub(super) fn run(
        self: &Arc<Self>,
        record: SessionRecord,
        row: Option<SessionRow>,
        provider: Arc<dyn CliProvider>,
        made: Option<mpsc::UnboundedReceiver<Metered>>,
    ) -> Session {
        let id = record.id.clone();
        let (session, task) =
            SessionTask::start(record, row, provider.clone(), self.around.clone(), made);
        let service = self.clone();
        tokio::spawn(async move {
            match task.await {
                Ok(too_late) => service.rested(&id, too_late).await,
                Err(panic) if panic.is_panic() => {
                    tracing::error!(session = %id, "a session's task panicked; it is made anew");
                    service.rebuild(&id, &provider).await;
                }
                Err(_the_runtime_ends) => {}
            }
        });
        session
    }

    /// A task came to rest; what was asked in that moment is for the next one.
    async fn rested(self: &Arc<Self>, id: &SessionId, asks: Vec<Ask>) {
        self.registry.lock().await.rested(id);
        for mut ask in asks {
            // When the session is gone too, dropping the ask tells who asked.
            while let Ok(session) = self.session(id).await {
                match session.ask(ask) {
                    Ok(()) => break,
                    Err(back) => ask = back,
                }
            }
        }
    }

    /// A task panicked: its agent is let go, its turn closed, and whoever follows gets the session from the journal.
    async fn rebuild(self: &Arc<Self>, id: &SessionId, provider: &Arc<dyn CliProvider>) {
        self.registry.lock().await.remove(id);
        if let Err(error) = provider.kill_session(id).await {
            tracing::warn!(session = %id, %error, "the agent of a panicked session could not be let go");
        }
        self.interrupted(id).await;
        let Ok(record) = self.record(id) else { return };
        self.around.hub.broadcast(ServerMessage::SessionState {
            session_id: id.clone(),
            project_id: record.project_id,
            state: SessionState::Idle,
            last_active_at: Timestamp::from(SystemTime::now()),
        });
        for outbox in self.around.hub.outboxes() {
            let Some(follow) = outbox.follows(id) else { continue };
            let how = Open { outbox, since: None, around: None, follow, request_id: None };
            if let Err(failure) = self.open(id, how).await {
                tracing::warn!(message = failure.message, "a rebuilt session could not be shown");
            }
        }
    }
}
