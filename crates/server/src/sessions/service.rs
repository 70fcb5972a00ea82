//! What the socket and HTTP call. Keeps one handle per session in use.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use liminal_agents::{NewSession, ProviderRegistry};
use liminal_contract::{
    Answer, AttachedSession, AttachedState, CliType, ItemId, Policy, ProjectId, ServerMessage,
    SessionId, SessionListItem, SessionStatus, Timestamp, TurnId,
};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::failures::{not_found, other_content};
use super::open;
use super::registry::{Registry, ask};
use super::session::{Ask, Open};
use super::title::NEW_SESSION;
use crate::failure::Failure;
use crate::journal::{Committed, Journal};
use crate::projects::Projects;
use crate::search::Search;
use crate::store::{SessionRecord, SessionsFile, TitleBy};
use crate::ws::Hub;

/// How long the journal may take with the last words when we stop.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What sessions live among.
pub struct Surroundings {
    /// Every word.
    pub journal: Journal,
    /// Finding any of them.
    pub search: Search,
    /// Every connected browser.
    pub hub: Arc<Hub>,
    /// The user's projects.
    pub projects: Arc<Projects>,
    /// The list of sessions.
    pub sessions: Arc<SessionsFile>,
    /// The agents.
    pub registry: ProviderRegistry,
    /// For sessions that were not given one.
    pub policy: Policy,
    /// How long an agent may be silent before the user is told.
    pub patience: Duration,
    /// How often a session that does nothing looks whether anybody still needs it.
    pub idle: Duration,
}

impl Surroundings {
    /// Where a project is, for reading: nowhere when it was removed, which keeps its sessions.
    pub fn project_dir(&self, project: &ProjectId) -> PathBuf {
        self.projects.get(project).map(|project| PathBuf::from(project.path)).unwrap_or_default()
    }
}

/// A message of the user's.
pub struct Send {
    /// To whom.
    pub session: SessionId,
    /// Markdown.
    pub content: String,
    /// Only a UUID is deduplicated.
    pub request_id: Option<String>,
}

/// All sessions.
pub struct SessionService {
    pub(super) around: Arc<Surroundings>,
    pub(super) registry: Mutex<Registry>,
}

impl SessionService {
    /// Takes up what an earlier run left: titles and times that `sessions.json` does not have yet.
    pub async fn start(around: Surroundings) -> Result<Arc<Self>, Failure> {
        let failed = around.journal.read(|reader| reader.failed()).await?;
        let registry = Mutex::new(Registry::new(failed));
        let service = Arc::new(Self { around: Arc::new(around), registry });
        let told = service.around.journal.read(|reader| reader.metas()).await?;
        for (session, title, last_active_at) in told {
            service.around.sessions.update_later(session, move |record| {
                record.last_active_at = record.last_active_at.max(last_active_at);
                if let Some(title) = title
                    && record.title == NEW_SESSION
                    && record.title_by.is_none()
                {
                    record.title = title;
                    record.title_by = Some(TitleBy::Derived);
                }
            });
        }
        Ok(service)
    }

    /// What sessions live among.
    pub fn around(&self) -> &Surroundings {
        &self.around
    }

    /// The sessions of a project, newest first.
    pub async fn list(
        &self,
        project: &ProjectId,
        archived: bool,
    ) -> Result<Vec<SessionListItem>, Failure> {
        self.around.projects.get(project)?;
        let mut records = self.around.sessions.all()?;
        records.retain(|record| record.project_id == *project && record.archived == archived);
        let registry = self.registry.lock().await;
        let mut rows: Vec<_> = records.into_iter().map(|record| registry.row(record)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.last_active_at));
        Ok(rows)
    }

    /// Makes a session. When it fails, neither entry nor process is left.
    pub async fn create(
        self: &Arc<Self>,
        project: &ProjectId,
        cli_type: &CliType,
        policy: Option<Policy>,
    ) -> Result<SessionListItem, Failure> {
        let provider = self.around.registry.resolve(cli_type)?;
        let project = self.around.projects.workable(project).await?;
        let new = NewSession { project_dir: PathBuf::from(&project.path), session_id: None };
        let made = provider.create_session(new).await?;
        let now = Timestamp::from(SystemTime::now());
        let id = made.session_id;
        let record = SessionRecord {
            agent_ref: (made.agent_ref != id.local()).then_some(made.agent_ref),
            id: id.clone(),
            project_id: project.id,
            cli_type: cli_type.clone(),
            archived: false,
            title: NEW_SESSION.to_owned(),
            last_active_at: now,
            created_at: now,
            policy,
            title_by: None,
            other: serde_json::Map::new(),
        };
        if let Err(error) = self.around.sessions.put(record.clone()).await {
            if let Err(error) = provider.kill_session(&id).await {
                tracing::warn!(session = %id, %error, "a session that could not be listed could not be ended");
            }
            return Err(error.into());
        }
        // An empty commit: from now on the journal knows this session, and opening it asks no agent.
        self.around.journal.commit(&id, 0, Vec::new(), Box::new(|| {}));
        let mut registry = self.registry.lock().await;
        let session = self.run(record.clone(), None, provider, Some(made.output));
        registry.add(session);
        Ok(registry.row(record))
    }

    /// Follows a session; its history goes to the outbox.
    pub async fn open(self: &Arc<Self>, session: &SessionId, how: Open) -> Result<(), Failure> {
        self.ask(session, |reply| Ask::Open(how, reply)).await
    }

    /// Makes a session's transcript ready and gives it to all who follow.
    pub async fn load(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        self.ask(session, Ask::Load).await
    }

    /// The entries above an index.
    pub async fn older(&self, session: &SessionId, before: u64) -> Result<ServerMessage, Failure> {
        self.record(session)?;
        Ok(open::older(&self.around.journal, session.clone(), before).await?)
    }

    /// The entries below an index.
    pub async fn newer(&self, session: &SessionId, after: u64) -> Result<ServerMessage, Failure> {
        self.record(session)?;
        Ok(open::newer(&self.around.journal, session.clone(), after).await?)
    }

    /// Says something to the agent. The same UUID `requestId` again is answered again and not sent again.
    pub async fn send(self: &Arc<Self>, send: Send) -> Result<TurnId, Failure> {
        let record = self.record(&send.session)?;
        if send.content.trim().is_empty() {
            let what = "`content` is blank; write something to send";
            return Err(Failure::invalid(what).about(send.session));
        }
        if let Some(request_id) = send.request_id.clone().filter(|id| Uuid::try_parse(id).is_ok()) {
            let id = send.session.clone();
            let before =
                self.around.journal.read(move |reader| reader.request(&id, &request_id)).await?;
            if let Some(before) = before {
                return if before.content == send.content {
                    Ok(before.turn_id)
                } else {
                    Err(other_content(&send.session))
                };
            }
        }
        let Send { session, content, request_id } = send;
        let project = self.around.projects.workable(&record.project_id).await;
        project.map_err(|error| Failure::from(error).about(session.clone()))?;
        self.ask(&session, |reply| Ask::Send { content, request_id, reply }).await
    }

    /// Stops the running turn; nothing when there is none.
    pub async fn cancel(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        self.ask(session, Ask::Cancel).await
    }

    /// Answers a permission.
    pub async fn answer(
        self: &Arc<Self>,
        session: &SessionId,
        item: ItemId,
        answer: Answer,
    ) -> Result<(), Failure> {
        self.ask(session, |reply| Ask::Answer { item, answer, reply }).await
    }

    /// Hides a session. A running turn ends by itself.
    pub async fn archive(&self, session: &SessionId) -> Result<(), Failure> {
        self.update(session, |record| record.archived = true).await?;
        Ok(())
    }

    /// Shows an archived session again.
    pub async fn unarchive(&self, session: &SessionId) -> Result<SessionListItem, Failure> {
        let record = self.update(session, |record| record.archived = false).await?;
        Ok(self.registry.lock().await.row(record))
    }

    /// Gives a session a title that nothing else replaces.
    pub async fn rename(&self, session: &SessionId, title: String) -> Result<(), Failure> {
        self.update(session, |record| {
            record.title = title;
            record.title_by = Some(TitleBy::User);
        })
        .await?;
        Ok(())
    }

    /// Changes what happens when the agent asks.
    pub async fn set_policy(
        self: &Arc<Self>,
        session: &SessionId,
        policy: Policy,
    ) -> Result<(), Failure> {
        self.update(session, move |record| record.policy = Some(policy)).await?;
        if let Some(running) = self.registry.lock().await.running(session) {
            let _at_rest_and_reads_it_when_it_wakes = running.ask(Ask::Policy(policy));
        }
        Ok(())
    }

    /// Removes a session and its transcript for good. A running turn is stopped first; the agent's own file stays.
    pub async fn delete(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        let record = self.record(session)?;
        if let Some(running) = self.registry.lock().await.remove(session) {
            ask(&running, Ask::Kill).await?;
        } else if let Ok(provider) = self.around.registry.resolve(&record.cli_type)
            && provider.is_alive(session)
        {
            provider.kill_session(session).await?;
        }
        self.around.sessions.remove(session.clone()).await?;
        self.written(|journal, committed| journal.delete(session, committed)).await;
        self.around.search.forget(session).await;
        Ok(())
    }

    /// Ends the session with its agent. It stays in the sidebar.
    pub async fn kill(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        self.ask(session, Ask::Kill).await
    }

    /// Starts a disconnected agent again.
    pub async fn reconnect(
        &self,
        cli_type: &CliType,
        session: Option<&SessionId>,
    ) -> Result<(), Failure> {
        Ok(self.around.registry.resolve(cli_type)?.reconnect(session).await?)
    }

    /// Whether the agent behind a session lives, and how the two are tied.
    pub async fn status(&self, session: &SessionId) -> Result<SessionStatus, Failure> {
        let record = self.record(session)?;
        let is_alive = self.is_alive(&record);
        let attached = self.registry.lock().await.attached(session);
        Ok(SessionStatus {
            session_id: record.id,
            cli_type: record.cli_type,
            is_alive,
            state: attached.filter(|_| is_alive).unwrap_or(AttachedState::Dead),
        })
    }

    /// The sessions of a project that are attached to an agent.
    pub async fn attached(&self, project: &ProjectId) -> Result<Vec<AttachedSession>, Failure> {
        self.around.projects.get(project)?;
        let registry = self.registry.lock().await;
        let mut records = self.around.sessions.all()?;
        records.retain(|record| record.project_id == *project);
        Ok(records
            .into_iter()
            .filter_map(|record| {
                let status = registry.attached(&record.id)?;
                let is_alive = self.is_alive(&record);
                Some(AttachedSession {
                    session_id: record.id,
                    cli_type: record.cli_type,
                    project_id: record.project_id,
                    status: if is_alive { status } else { AttachedState::Dead },
                    title: record.title,
                    last_active_at: record.last_active_at,
                })
            })
            .collect())
    }

    /// Puts everything on disk, closes what runs as interrupted, and ends every agent. A disk that takes nothing does
    /// not keep us: what it did not take is closed at the next start.
    pub async fn stop(&self) {
        let at_rest = async {
            for session in self.registry.lock().await.all() {
                if let Err(failure) = ask(&session, Ask::Rest).await {
                    tracing::warn!(message = failure.message, "a session could not be put to rest");
                }
                self.interrupted(session.id()).await;
            }
        };
        let _disk_is_full = tokio::time::timeout(LAST_WORDS, at_rest).await;
        self.around.registry.shutdown().await;
        // The index first: it reads the journal, and only who closes a database last folds its log into it.
        let closed = async {
            self.around.search.close().await;
            self.written(Journal::close).await;
        };
        let _disk_is_full = tokio::time::timeout(LAST_WORDS, closed).await;
    }

    /// Closes what runs in a session, in the journal.
    pub(super) async fn interrupted(&self, id: &SessionId) {
        self.written(|journal, committed| journal.interrupt(id, committed)).await;
    }

    /// Waits until the journal has done something.
    async fn written(&self, ask: impl FnOnce(&Journal, Committed)) {
        let (done, wait) = tokio::sync::oneshot::channel();
        let committed = Box::new(move || {
            let _waiter_left = done.send(());
        });
        ask(&self.around.journal, committed);
        let _journal_ended = wait.await;
    }

    fn is_alive(&self, record: &SessionRecord) -> bool {
        self.around
            .registry
            .resolve(&record.cli_type)
            .is_ok_and(|provider| provider.is_alive(&record.id))
    }

    pub(super) fn record(&self, session: &SessionId) -> Result<SessionRecord, Failure> {
        self.around.sessions.get(session)?.ok_or_else(|| not_found(session))
    }

    async fn update(
        &self,
        session: &SessionId,
        change: impl FnOnce(&mut SessionRecord) + std::marker::Send + 'static,
    ) -> Result<SessionRecord, Failure> {
        let updated = self.around.sessions.update(session.clone(), change).await?;
        updated.ok_or_else(|| not_found(session))
    }
}
