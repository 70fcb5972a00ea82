//! The sessions' interface for the socket and HTTP.

mod adopting;
mod branching;
mod starting;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use liminal_agents::{ProviderRegistry, TaskOutput};
use liminal_contract::{
    AttachedSession, AttachedState, AttachmentRef, CliType, ErrorCode, McpAct, Policy, ProjectId,
    ServerMessage, SessionId, SessionListItem, SessionStatus, TaskAct, WhenBusy,
};
use tokio::sync::{Mutex, MutexGuard, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use uuid::Uuid;

pub use self::branching::{Branching, Restoring};
use super::attaching;
use super::deleting::Deleting;
use super::failures::{not_found, other_content};
use super::open;
use super::pace::AtWork;
use super::registry::{Handed, Registry, ask};
use super::session::{Open, Sent, Session};
use super::task::SessionRequest;
use super::unread::Unread;
use crate::attachments::Attachments;
use crate::changes::Changes;
use crate::failure::Failure;
use crate::feed::{Follow, Hub, Outbox};
use crate::journal::{Committed, Journal, Request};
use crate::one_at_a_time::OneAtATime;
use crate::projects::Projects;
use crate::search::Search;
use crate::store::{
    Choice, ChoicesFile, ComparisonsFile, RefsFile, SessionRecord, SessionsFile, TitleBy, TrustFile,
};
use crate::workspaces::Workspaces;

pub use starting::Start;

/// How long to wait for the last commits before ending the agents, which takes two seconds at most. The journal writes
/// the rest during that time.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The limit for a whole stop, whatever agents and disks do.
const STOP: Duration = Duration::from_millis(2800);

/// The part of it reserved for closing the journal.
const CLOSING: Duration = Duration::from_millis(200);

/// The largest whole number that a browser counts exactly.
const HIGHEST_INDEX: u64 = (1 << 53) - 1;

/// Whether agents are left after a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentsLeft {
    None,
    /// Guards are still ending agents; they don't need us for that.
    StillEnding,
}

/// The parts of the program that sessions use.
pub struct Surroundings {
    pub journal: Journal,
    pub attachments: Arc<Attachments>,
    pub changes: Arc<Changes>,
    pub workspaces: Workspaces,
    pub trust: Arc<TrustFile>,
    pub search: Search,
    pub hub: Arc<Hub>,
    pub projects: Arc<Projects>,
    pub sessions: Arc<SessionsFile>,
    pub choices: ChoicesFile,
    pub comparisons: ComparisonsFile,
    pub refs: RefsFile,
    pub registry: ProviderRegistry,
    /// For sessions without their own.
    pub policy: Policy,
    /// How long an agent may be silent before the user gets a notice.
    pub patience: Duration,
    /// How often an idle session checks whether it is still needed.
    pub idle: Duration,
    /// Sessions at work, which share the machine.
    pub at_work: AtWork,
    /// Sessions that ended a turn the user has not looked at.
    pub unread: Unread,
}

impl Surroundings {
    /// A project's directory, for reading. Empty for a removed project, whose sessions are kept.
    pub fn project_dir(&self, project: &ProjectId) -> PathBuf {
        self.projects.get(project).map(|project| PathBuf::from(project.path)).unwrap_or_default()
    }
}

/// A message from the user.
pub struct Send {
    pub session: SessionId,
    /// Markdown.
    pub content: String,
    pub attachments: Vec<AttachmentRef>,
    /// Only a UUID is deduplicated.
    pub request_id: Option<String>,
    pub when_busy: WhenBusy,
    /// The browser it comes from, which follows the session from now on.
    pub sender: Option<Arc<Outbox>>,
}

pub struct SessionService {
    pub(super) around: Arc<Surroundings>,
    pub(super) registry: Mutex<Registry>,
    pub(super) deleting: Deleting,
    /// Requests for new sessions, which may be repeated.
    pub(super) creating: OneAtATime<String>,
    changing: Mutex<()>,
    /// By the comparison of which one is kept.
    pub(super) keeping: OneAtATime<String>,
}

impl SessionService {
    pub async fn start(around: Surroundings) -> Result<Arc<Self>, Failure> {
        let ended = around.journal.read(|reader| reader.ended_badly()).await?;
        let continuing = around.journal.read(|reader| reader.continuing()).await?;
        around.unread.extend(around.journal.read(|reader| reader.unread()).await?);
        let registry = Mutex::new(Registry::new(ended, around.unread.clone()));
        let settled = around.changes.settle_acts().await?;
        let service = Arc::new(Self {
            around: Arc::new(around),
            registry,
            deleting: Deleting::default(),
            creating: OneAtATime::default(),
            changing: Mutex::default(),
            keeping: OneAtATime::default(),
        });
        service.tell_of_settled(settled);
        for session in continuing {
            service.wake(session);
        }
        tokio::spawn(attaching::sweep(Arc::downgrade(&service)));
        Ok(service)
    }

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
        let mut records = self.around.sessions.of(project)?;
        records.retain(|record| record.archived == archived);
        let registry = self.registry.lock().await;
        let mut rows: Vec<_> = records.into_iter().map(|record| registry.row(record)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.last_active_at));
        Ok(rows)
    }

    /// Follows a session. Its history goes to the outbox.
    pub async fn open(self: &Arc<Self>, session: &SessionId, how: Open) -> Result<(), Failure> {
        self.ask(session, |reply| SessionRequest::Open(how, reply)).await
    }

    /// The entries above an index.
    pub async fn older(&self, session: &SessionId, before: u64) -> Result<ServerMessage, Failure> {
        self.record(session)?;
        check_index("before", before, session)?;
        Ok(open::older(&self.around.journal, session.clone(), before).await?)
    }

    /// The entries below an index.
    pub async fn newer(&self, session: &SessionId, after: u64) -> Result<ServerMessage, Failure> {
        self.record(session)?;
        check_index("after", after, session)?;
        Ok(open::newer(&self.around.journal, session.clone(), after).await?)
    }

    /// The message that a request sent before, if it has a turn.
    pub(super) async fn sent_before(
        &self,
        session: &SessionId,
        request_id: Option<String>,
    ) -> Result<Option<Request>, Failure> {
        let Some(request_id) = request_id.filter(|id| Uuid::try_parse(id).is_ok()) else {
            return Ok(None);
        };
        let id = session.clone();
        Ok(self.around.journal.read(move |reader| reader.request(&id, &request_id)).await?)
    }

    /// Sends a message to the agent. A repeated UUID `requestId` gets the same answer and is not sent again.
    pub async fn send(self: &Arc<Self>, send: Send) -> Result<Sent, Failure> {
        self.hand_message(send).await?.answer().await
    }

    /// The same, up to the moment when the session's task has the message.
    pub async fn hand_message(self: &Arc<Self>, send: Send) -> Result<Handed<Sent>, Failure> {
        self.record(&send.session)?;
        if send.content.trim().is_empty() && send.attachments.is_empty() {
            let what = "`content` is empty; write something to send";
            return Err(Failure::invalid(what).about(send.session));
        }
        if let Some(before) = self.sent_before(&send.session, send.request_id.clone()).await? {
            let is_same = before.content == send.content;
            let sent = if is_same {
                Ok(Sent::Began(before.turn_id))
            } else {
                Err(other_content(&send.session))
            };
            return Ok(Handed::answered(&send.session, sent));
        }
        let Send { session, content, attachments, request_id, when_busy, sender } = send;
        let sender = sender.filter(|sender| sender.follows(&session).is_none());
        let prompt = self.kept(&session, content, attachments).await?;
        // From now on, so that a close can end it.
        let expects = |sender: &Arc<Outbox>| sender.expect(&session, Follow::Whole);
        sender.iter().for_each(expects);
        let send = |reply| SessionRequest::Send { prompt, request_id, when_busy, sender, reply };
        self.hand(&session, send).await
    }

    /// Acts on what runs beside a conversation. The new facts follow by themselves.
    pub async fn act_on_task(
        &self,
        session: &SessionId,
        task: &str,
        act: TaskAct,
    ) -> Result<ServerMessage, Failure> {
        let provider = self.around.registry.resolve(&self.record(session)?.cli_type)?;
        let acted = provider.act_on_task(session, task, act).await;
        let output = acted.map_err(|error| Failure::from(error).about(session.clone()))?;
        Ok(match output {
            None => ServerMessage::Ok {},
            Some(TaskOutput { text, cut }) => ServerMessage::SessionTaskOutput {
                session_id: session.clone(),
                task_id: task.to_owned(),
                text: liminal_render::visible(&liminal_render::terminal_text(&text)),
                cut,
            },
        })
    }

    pub async fn act_on_mcp(
        &self,
        session: &SessionId,
        server: &str,
        act: McpAct,
    ) -> Result<ServerMessage, Failure> {
        let provider = self.around.registry.resolve(&self.record(session)?.cli_type)?;
        let acted = provider.act_on_mcp(session, server, act).await;
        acted.map_err(|error| Failure::from(error).about(session.clone()))?;
        Ok(ServerMessage::Ok {})
    }

    /// Held from a change until every browser is told, so that all end with the state that is kept.
    pub async fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// The user sees the session as it is now.
    pub async fn looked(&self, session: &SessionId) -> Result<(), Failure> {
        self.record(session)?;
        self.around.unread.remove(session);
        self.written(|journal, committed| journal.look(session, committed)).await;
        Ok(())
    }

    /// Hides a session. A running turn continues to its end, but a planned message is not sent.
    pub async fn archive(&self, session: &SessionId) -> Result<(), Failure> {
        self.update(session, |record| record.archived = true).await?;
        self.withdraw_plan(session).await
    }

    /// A planned message is not sent. A task with a plan that it can carry out runs.
    pub(super) async fn withdraw_plan(&self, session: &SessionId) -> Result<(), Failure> {
        self.ask_running(session, |reply| SessionRequest::ContinueAt { at: None, reply }).await
    }

    /// Shows an archived session again.
    pub async fn unarchive(&self, session: &SessionId) -> Result<SessionListItem, Failure> {
        let record = self.update(session, |record| record.archived = false).await?;
        Ok(self.registry.lock().await.row(record))
    }

    /// Sets a title that neither the agent nor a first message replaces.
    pub async fn rename(&self, session: &SessionId, title: String) -> Result<(), Failure> {
        self.update(session, |record| {
            record.title = title;
            record.title_by = Some(TitleBy::User);
        })
        .await?;
        Ok(())
    }

    /// `confirmed: Some(false)` refuses **Approve everything** where the user has not confirmed it before.
    pub async fn set_policy(
        self: &Arc<Self>,
        session: &SessionId,
        policy: Policy,
        confirmed: Option<bool>,
    ) -> Result<(), Failure> {
        if policy == Policy::Auto {
            let record = self.record(session)?;
            let project = self.around.project_dir(&record.project_id);
            let (choices, agent) = (&self.around.choices, &record.cli_type);
            if confirmed != Some(false) {
                choices.confirm(&project, agent, &Choice::ApproveEverything).await;
            } else if !choices.is_confirmed(&project, agent, &Choice::ApproveEverything) {
                let message =
                    "Confirm Approve everything first: the agent then acts without asking.";
                let failure = Failure::new(ErrorCode::OptionUnconfirmed, message);
                return Err(failure.about(session.clone()));
            }
        }
        self.update(session, move |record| record.policy = Some(policy)).await?;
        if let Some(running) = self.registry.lock().await.running(session) {
            let _at_rest_and_reads_it_when_it_wakes = running.ask(SessionRequest::Policy(policy));
        }
        Ok(())
    }

    /// Ends the turns and the agents of a removed project's sessions: nobody would see them, or answer their questions.
    pub async fn end_in(&self, project: &ProjectId) -> Result<(), Failure> {
        let records = self.around.sessions.of(project)?;
        let running: Vec<Session> = {
            let registry = self.registry.lock().await;
            records.iter().filter_map(|record| registry.running(&record.id).cloned()).collect()
        };
        let ending = running.iter().map(|session| ask(session, SessionRequest::Kill));
        futures_util::future::try_join_all(ending).await.map(drop)
    }

    /// Starts a disconnected agent again.
    pub async fn reconnect(
        &self,
        cli_type: &CliType,
        session: Option<&SessionId>,
    ) -> Result<(), Failure> {
        Ok(self.around.registry.resolve(cli_type)?.reconnect(session).await?)
    }

    /// Whether the agent's process is alive, and how the session is attached to it.
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
        let records = self.around.sessions.of(project)?;
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

    /// Commits everything, closes running turns as interrupted, and ends every agent. Neither an agent nor a full disk
    /// can block it: turns that could not be closed are closed at the next start.
    pub async fn stop(&self) -> AgentsLeft {
        let until = Instant::now() + STOP;
        let at_rest = async {
            let sessions = self.registry.lock().await.all();
            // All get the request before we wait for the first: none may take the end of its agent for a crash.
            let resting: Vec<_> = sessions
                .iter()
                .map(|session| {
                    let (reply, rested) = oneshot::channel();
                    let _at_rest_already = session.ask(SessionRequest::Rest(reply));
                    (session.id(), rested)
                })
                .collect();
            for (session, rested) in resting {
                if let Ok(Err(failure)) = rested.await {
                    tracing::warn!(message = failure.message, "could not bring a session to rest");
                }
                self.interrupted(session).await;
            }
        };
        let _disk_is_full = timeout(LAST_WORDS, at_rest).await;
        let ended = timeout_at(until - CLOSING, self.around.registry.shutdown()).await;
        // The index first, because it reads the journal: only the last to close a database merges its log into it.
        let closed = async {
            self.around.sessions.write().await;
            self.around.search.close().await;
            self.written(Journal::close).await;
        };
        let _disk_is_full = timeout_at(until, closed).await;
        if ended.is_ok() { AgentsLeft::None } else { AgentsLeft::StillEnding }
    }

    /// Closes a session's running turn in the journal.
    pub(super) async fn interrupted(&self, id: &SessionId) {
        self.written(|journal, committed| journal.interrupt(id, committed)).await;
    }

    /// Waits until the journal has carried out a request.
    pub(super) async fn written(&self, ask: impl FnOnce(&Journal, Committed)) {
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

    pub(super) async fn update(
        &self,
        session: &SessionId,
        change: impl FnOnce(&mut SessionRecord) + std::marker::Send + 'static,
    ) -> Result<SessionRecord, Failure> {
        let updated = self.around.sessions.update(session.clone(), change).await?;
        updated.ok_or_else(|| not_found(session))
    }
}

/// Refuses a number that no browser can count to.
fn check_index(field: &str, index: u64, session: &SessionId) -> Result<(), Failure> {
    if index <= HIGHEST_INDEX {
        return Ok(());
    }
    let what = format!("`{field}` must be the index of an item, at most {HIGHEST_INDEX}");
    Err(Failure::invalid(what).about(session.clone()))
}
