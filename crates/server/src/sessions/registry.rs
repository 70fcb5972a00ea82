//! The sessions that have a task. A task is kept while a turn, a permission, a process or a browser needs it, and
//! started again by the next request.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use liminal_agents::CliProvider;
use liminal_contract::{
    AttachedState, ServerMessage, SessionId, SessionListItem, SessionState, Timestamp, TurnOutcome,
};
use tokio::sync::oneshot;

use super::failures::{not_found, task_ended};
use super::service::SessionService;
use super::session::{Open, Reply, Session, at_rest};
use super::task::{Made, SessionRequest, SessionTask};
use super::unread::Unread;
use crate::failure::Failure;
use crate::journal::SessionRow;
use crate::store::SessionRecord;

/// The running tasks, and which of the other sessions failed or were interrupted.
pub struct Registry {
    running: HashMap<SessionId, Session>,
    /// The states of sessions without a task; a session that is missing here is idle.
    at_rest: HashMap<SessionId, SessionState>,
    unread: Unread,
}

impl Registry {
    /// Of sessions whose last turn did not end well, `ended` says how it ended.
    pub fn new(ended: Vec<(SessionId, TurnOutcome)>, unread: Unread) -> Self {
        let state = |(session, outcome)| (session, at_rest(Some(outcome)));
        Self { running: HashMap::new(), at_rest: ended.into_iter().map(state).collect(), unread }
    }

    pub fn running(&self, session: &SessionId) -> Option<&Session> {
        self.running.get(session).filter(|running| !running.is_over())
    }

    pub fn all(&self) -> Vec<Session> {
        self.running.values().cloned().collect()
    }

    pub fn add(&mut self, session: Session) {
        self.at_rest.remove(session.id());
        self.running.insert(session.id().clone(), session);
    }

    /// The session or its task no longer exists.
    pub fn remove(&mut self, session: &SessionId) -> Option<Session> {
        self.at_rest.remove(session);
        self.running.remove(session).filter(|running| !running.is_over())
    }

    pub fn attached(&self, session: &SessionId) -> Option<AttachedState> {
        self.running(session)?.situation().attached
    }

    pub fn row(&self, mut record: SessionRecord) -> SessionListItem {
        let mut state = self.at_rest.get(&record.id).copied().unwrap_or(SessionState::Idle);
        if let Some(session) = self.running.get(&record.id) {
            let situation = session.situation();
            state = situation.state;
            // The task may know newer values than the file.
            record.last_active_at = record.last_active_at.max(situation.last_active_at);
            if situation.title.0 > record.title_by {
                record.title = situation.title.1;
            }
        }
        SessionListItem {
            unread: self.unread.has(&record.id),
            id: record.id,
            project_id: record.project_id,
            title: record.title,
            last_active_at: record.last_active_at,
            created_at: record.created_at,
            cli_type: record.cli_type,
            archived: record.archived,
            state,
            worktree: record.worktree,
            directory: record.directory,
            counts: record.counts,
            branch_of: record.branch.map(|branch| branch.of),
            newer: record.newer,
        }
    }

    /// A task came to rest. Its successor may be running already.
    fn rested(&mut self, session: &SessionId) {
        if let Some(over) = self.running.get(session).filter(|running| running.is_over()) {
            let state = over.situation().state;
            self.running.remove(session);
            if state != SessionState::Idle {
                self.at_rest.insert(session.clone(), state);
            }
        }
    }
}

/// A request that a session's task has.
pub struct Handed<T> {
    session: SessionId,
    answer: oneshot::Receiver<Result<T, Failure>>,
}

impl<T> Handed<T> {
    /// One that needs no task.
    pub fn answered(session: &SessionId, answer: Result<T, Failure>) -> Self {
        let (reply, receiver) = oneshot::channel();
        let _receiver_is_here = reply.send(answer);
        Self { session: session.clone(), answer: receiver }
    }

    pub async fn answer(self) -> Result<T, Failure> {
        self.answer.await.unwrap_or_else(|_task_panicked| Err(task_ended(&self.session)))
    }
}

/// Asks a running task and waits until it is done. One that has come to rest meanwhile has nothing to stop.
pub async fn ask(
    session: &Session,
    ask: impl FnOnce(Reply<()>) -> SessionRequest,
) -> Result<(), Failure> {
    let (reply, answer) = oneshot::channel();
    if session.ask(ask(reply)).is_err() {
        return Ok(());
    }
    answer.await.unwrap_or_else(|_task_panicked| Err(task_ended(session.id())))
}

impl SessionService {
    /// Asks a session's task, if it runs. Nobody else waits for the answer: the agent may take seconds to end.
    pub(super) async fn ask_running(
        &self,
        id: &SessionId,
        request: impl FnOnce(Reply<()>) -> SessionRequest,
    ) -> Result<(), Failure> {
        let running = self.registry.lock().await.running(id).cloned();
        match running {
            Some(running) => ask(&running, request).await,
            None => Ok(()),
        }
    }

    /// Asks a session's task, which is started if necessary, and waits for its answer. Messages go through
    /// [`send`](Self::send), which recognises repeated ones.
    pub async fn ask<T>(
        self: &Arc<Self>,
        id: &SessionId,
        ask: impl FnOnce(Reply<T>) -> SessionRequest,
    ) -> Result<T, Failure> {
        self.hand(id, ask).await?.answer().await
    }

    /// The same, up to the moment when the task has the request: it carries them out in that order.
    pub async fn hand<T>(
        self: &Arc<Self>,
        id: &SessionId,
        ask: impl FnOnce(Reply<T>) -> SessionRequest,
    ) -> Result<Handed<T>, Failure> {
        let (reply, answer) = oneshot::channel();
        let mut ask = ask(reply);
        // A task that is just coming to rest gives the request back.
        while let Err(back) = self.session(id).await?.ask(ask) {
            ask = back;
        }
        Ok(Handed { session: id.clone(), answer })
    }

    /// Starts the task of a session that has something to do by itself.
    pub(super) fn wake(self: &Arc<Self>, id: SessionId) {
        let service = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(failure) = service.session(&id).await {
                tracing::warn!(session = %id, failure.message, "a session can't continue by itself");
            }
        });
    }

    /// A handle to a session, whose task is started if necessary.
    async fn session(self: &Arc<Self>, id: &SessionId) -> Result<Session, Failure> {
        let mut registry = self.registry.lock().await;
        if let Some(session) = registry.running(id) {
            return Ok(session.clone());
        }
        if self.deleting.has(id) {
            return Err(not_found(id));
        }
        let record = self.record(id)?;
        let provider = self.around.registry.resolve(&record.cli_type)?;
        let asked = id.clone();
        let row = self.around.journal.read(move |reader| reader.session(&asked)).await?;
        let session = self.run(record, row, provider, None);
        registry.add(session.clone());
        Ok(session)
    }

    /// Starts a session's task, and another one if it panics.
    pub(super) fn run(
        self: &Arc<Self>,
        record: SessionRecord,
        row: Option<SessionRow>,
        provider: Arc<dyn CliProvider>,
        made: Option<Made<'_>>,
    ) -> Session {
        let id = record.id.clone();
        let (session, task) =
            SessionTask::start(record, row, provider.clone(), self.around.clone(), made);
        let service = self.clone();
        tokio::spawn(async move {
            match task.await {
                Ok(too_late) => service.rested(&id, too_late).await,
                Err(panic) if panic.is_panic() => {
                    tracing::error!(session = %id, "a session's task panicked; it is restarted");
                    service.rebuild(&id, &provider).await;
                }
                Err(_the_runtime_ends) => {}
            }
        });
        session
    }

    /// A task came to rest; requests that arrived at that moment go to the next one.
    async fn rested(self: &Arc<Self>, id: &SessionId, asks: Vec<SessionRequest>) {
        self.registry.lock().await.rested(id);
        for mut ask in asks {
            loop {
                ask = match (self.session(id).await, ask) {
                    (Ok(session), ask) => match session.ask(ask) {
                        Ok(()) => break,
                        Err(back) => back,
                    },
                    // It is being deleted, and nothing runs any more.
                    (Err(_), SessionRequest::Kill(reply)) => {
                        let _asker_left = reply.send(Ok(()));
                        break;
                    }
                    // Dropping the request sends an error.
                    (Err(_), _) => break,
                };
            }
        }
    }

    /// A task panicked: its agent is ended, its turn closed, and its followers get the session from the journal.
    async fn rebuild(self: &Arc<Self>, id: &SessionId, provider: &Arc<dyn CliProvider>) {
        self.registry.lock().await.remove(id);
        if let Err(error) = provider.kill_session(id).await {
            tracing::warn!(session = %id, %error, "could not end the agent of a panicked session");
        }
        self.interrupted(id).await;
        let Ok(record) = self.record(id) else { return };
        let asked = id.clone();
        let row = self.around.journal.read(move |reader| reader.session(&asked)).await;
        let state = at_rest(row.ok().flatten().and_then(|row| row.last_outcome));
        self.registry.lock().await.at_rest.insert(id.clone(), state);
        self.around.unread.extend([id.clone()]);
        self.around.hub.broadcast(ServerMessage::SessionState {
            unread: true,
            session_id: id.clone(),
            project_id: record.project_id,
            state,
            last_active_at: Timestamp::from(SystemTime::now()),
        });
        for outbox in self.around.hub.outboxes() {
            let Some(follow) = outbox.follows(id) else { continue };
            let how = Open { outbox, since: None, around: None, follow, request_id: None };
            if let Err(failure) = self.open(id, how).await {
                tracing::warn!(message = failure.message, "could not show a rebuilt session");
            }
        }
    }
}
