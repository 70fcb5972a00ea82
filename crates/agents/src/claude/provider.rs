//! The provider: every session with Claude Code, by id.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use liminal_contract::{
    Answer, CliType, ItemId, McpAct, OptionValue, OutcomeBy, SessionId, Severity, TaskAct, TurnId,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::history::{self, Reader, SessionFiles, is_plain_id};
use super::normalise::notice;
use super::session::{Session, Shared};
use super::start;
use super::trust::Trust;
use crate::catalogue::AgentEntry;
use crate::lifecycle::{Restart, Timing};
use crate::process::{Budget, GuardCommand, Stop};
use crate::{
    AgentPrompt, CliProvider, Fork, ForkPlace, History, LoadSession, Metered, NewSession, Output,
    ProviderError, ProviderSession, StatusChange, TaskOutput,
};

pub struct ClaudeOptions {
    pub entry: AgentEntry,
    pub guard: GuardCommand,
    /// Receives every status change.
    pub statuses: mpsc::UnboundedSender<StatusChange>,
    /// Which projects' own settings may be loaded.
    pub trust: Arc<dyn Trust>,
    /// From spawn to ready, if not the usual time (`ACP_START_TIMEOUT_MS`).
    pub start: Option<Duration>,
    /// How long a process may be idle before it is stopped (`LIMINAL_IDLE_MS`).
    pub idle: Duration,
    /// From an interrupt to the end of the turn.
    pub interrupt: Duration,
}

/// Drives Claude Code: one process per session, running only while needed.
pub struct ClaudeProvider {
    shared: Arc<Shared>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl ClaudeProvider {
    /// Starts nothing yet.
    pub fn new(options: ClaudeOptions) -> Self {
        let files = SessionFiles::below(&start::config_dir(&options.entry));
        let timing = Timing {
            idle: options.idle,
            restart: Restart::WhenNeeded,
            ..Timing::default().starting_within(options.start)
        };
        Self {
            shared: Arc::new(Shared {
                entry: options.entry,
                guard: options.guard,
                statuses: options.statuses,
                timing,
                interrupt: options.interrupt,
                trust: options.trust,
                files,
            }),
            sessions: Mutex::default(),
        }
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>, ProviderError> {
        self.sessions()
            .get(id)
            .cloned()
            .ok_or_else(|| ProviderError::SessionUnknown { words: format!("{id} is not open.") })
    }

    fn keep(&self, session: &Arc<Session>) {
        self.sessions().insert(session.id.clone(), Arc::clone(session));
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gone(&self, agent_ref: &str) -> ProviderError {
        ProviderError::SessionUnknown {
            words: format!(
                "{} no longer has the session's file ({}/*/{agent_ref}.jsonl). The transcript here is kept. Send a \
                 message to continue; Claude won't remember the conversation.",
                self.shared.entry.name,
                self.shared.files.folder().display()
            ),
        }
    }
}

#[async_trait]
impl CliProvider for ClaudeProvider {
    fn cli_type(&self) -> &CliType {
        &self.shared.entry.cli_type
    }

    async fn create_session(&self, new: NewSession) -> Result<ProviderSession, ProviderError> {
        check_directory(&new.project_dir)?;
        let agent_ref = Uuid::new_v4().to_string();
        let session_id = match new.session_id {
            Some(ours) => ours,
            None => SessionId::new(self.cli_type(), &agent_ref).map_err(|error| {
                let words = error.to_string();
                ProviderError::SessionRefused { words, stderr_tail: String::new() }
            })?,
        };
        let (sender, output) = mpsc::unbounded_channel();
        let session = Session::new(
            Arc::clone(&self.shared),
            session_id.clone(),
            agent_ref.clone(),
            new.project_dir,
            new.fork,
            sender,
            (Vec::new(), new.chosen),
        );
        session.talk.link().await?;
        if let Err(error) = session.talk.require_options(new.wanted, &*session).await {
            session.kill(Stop::Gently).await;
            return Err(error);
        }
        self.keep(&session);
        session.ask_for_trust();
        Ok(ProviderSession { session_id, agent_ref, output })
    }

    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError> {
        if !is_plain_id(&load.agent_ref) {
            return Err(ProviderError::SessionUnknown {
                words: format!("{:?} is not a Claude Code session id.", load.agent_ref),
            });
        }
        let (sender, output) = mpsc::unbounded_channel();
        match &load.history {
            History::Known => {
                let _receiver_is_here = sender.send(history_told());
            }
            History::All | History::After { .. } => {
                let files = self.shared.files.clone();
                let agent_ref = load.agent_ref.clone();
                let found = tokio::task::spawn_blocking(move || files.find(&agent_ref)).await;
                let Some(path) = found.ok().flatten() else {
                    return Err(self.gone(&load.agent_ref));
                };
                let reader = Reader {
                    session: load.session_id.clone(),
                    project: load.project_dir.clone(),
                    path,
                };
                let (history, sender) = (load.history.clone(), sender.clone());
                tokio::task::spawn_blocking(move || tell(&reader, &history, &sender));
            }
        }
        let known = self.session(&load.session_id).ok();
        match known.filter(|session| session.agent_ref() == load.agent_ref) {
            Some(session) => session.talk.listened_to_by(sender),
            None => self.keep(&Session::new(
                Arc::clone(&self.shared),
                load.session_id.clone(),
                load.agent_ref.clone(),
                load.project_dir,
                load.fork,
                sender,
                (load.options, Vec::new()),
            )),
        }
        Ok(ProviderSession { session_id: load.session_id, agent_ref: load.agent_ref, output })
    }

    async fn fork_at(
        &self,
        session: &SessionId,
        agent_ref: &str,
        place: ForkPlace,
    ) -> Option<Fork> {
        if place == ForkPlace::End
            && let Ok(session) = self.session(session)
        {
            // Its last words may not be in the file yet.
            session.written_to().await;
        }
        let (files, agent_ref) = (self.shared.files.clone(), agent_ref.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let path = files.find(&agent_ref)?;
            let at = history::record_at(&path, &place).ok()??;
            Some(Fork { agent_ref, at: Some(at) })
        });
        found.await.ok().flatten()
    }

    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        prompt: &AgentPrompt,
    ) -> Result<(), ProviderError> {
        self.session(session)?.send(turn, prompt).await
    }

    async fn steer(
        &self,
        session: &SessionId,
        message: &str,
        prompt: &AgentPrompt,
    ) -> Result<(), ProviderError> {
        self.session(session)?.talk.steer(message, prompt);
        Ok(())
    }

    async fn cancel_turn(&self, session: &SessionId) -> Result<(), ProviderError> {
        self.session(session)?.talk.cancel(self.shared.interrupt).await
    }

    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let session = self.session(session).map_err(|_closed| ProviderError::PermissionClosed)?;
        session.answer(item, &answer, by)
    }

    async fn set_option(
        &self,
        session: &SessionId,
        id: &str,
        value: OptionValue,
    ) -> Result<(), ProviderError> {
        let session = self.session(session)?;
        session.talk.set_option(id, value, &*session).await
    }

    async fn act_on_task(
        &self,
        session: &SessionId,
        task: &str,
        act: TaskAct,
    ) -> Result<Option<TaskOutput>, ProviderError> {
        self.session(session)?.act_on_task(task, act).await
    }

    async fn act_on_mcp(
        &self,
        session: &SessionId,
        server: &str,
        act: McpAct,
    ) -> Result<(), ProviderError> {
        self.session(session)?.act_on_mcp(server, act).await
    }

    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError> {
        let known = self.sessions().remove(session);
        if let Some(session) = known {
            session.kill(Stop::Gently).await;
        }
        Ok(())
    }

    fn is_alive(&self, session: &SessionId) -> bool {
        self.session(session).is_ok_and(|session| session.talk.is_alive())
    }

    async fn reconnect(&self, session: Option<&SessionId>) -> Result<(), ProviderError> {
        if let Some(session) = session {
            return self.session(session)?.reconnect().await;
        }
        let mut starting = JoinSet::new();
        for session in self.sessions().values().filter(|session| session.is_disconnected()) {
            let session = Arc::clone(session);
            starting.spawn(async move { session.reconnect().await });
        }
        starting.join_all().await.into_iter().collect()
    }

    async fn shutdown(&self) {
        let mut ending = JoinSet::new();
        for (_, session) in self.sessions().drain() {
            ending.spawn(async move { session.kill(Stop::Now).await });
        }
        ending.join_all().await;
    }
}

fn check_directory(project: &Path) -> Result<(), ProviderError> {
    let words = match std::fs::metadata(project) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => format!("{} is not a directory.", project.display()),
        Err(cause) => format!("Can't open the directory {}: {cause}.", project.display()),
    };
    Err(ProviderError::SessionRefused { words, stderr_tail: String::new() })
}

/// Sends a history, no faster than it is consumed: a long one is never held in memory whole. If reading fails, the user
/// gets a notice and keeps what was read so far. Blocks.
fn tell(reader: &Reader, history: &History, sender: &mpsc::UnboundedSender<Metered>) {
    let (runtime, budget) = (Handle::current(), Budget::default());
    let mut say = |output, read| {
        let charge = (read > 0).then(|| runtime.block_on(budget.charge(read)));
        let _session_closed = sender.send(Metered { output, charge });
    };
    if let Err(error) = reader.tell(history, &mut say) {
        tracing::warn!(%error, path = %reader.path.display(), "can't read the agent's history file");
        let text = format!("Can't read the rest of Claude Code's history ({error}).");
        reader.remark(notice(Severity::Warning, &text), &mut say);
    }
    say(Output::HistoryTold, 0);
}

fn history_told() -> Metered {
    Metered { output: Output::HistoryTold, charge: None }
}
