//! The provider: every session with Claude Code, by id.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use liminal_contract::{
    Answer, CliType, ItemId, McpAct, OptionValue, OutcomeBy, SessionId, Severity, TaskAct, TurnId,
};
use liminal_stream::HistoryMark;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::elsewhere::Watch;
use super::history::{self, Reader, SessionFiles, is_plain_id};
use super::normalise::notice;
use super::session::{Session, Shared};
use super::start;
use super::trust::Trust;
use crate::catalogue::AgentEntry;
use crate::lifecycle::{Restart, Timing};
use crate::process::{Budget, GuardCommand, Stop};
use crate::{
    AgentPrompt, CliProvider, Elsewhere, Fork, ForkPlace, History, LoadSession, Metered,
    NewSession, Output, ProviderError, ProviderSession, StatusChange, TaskOutput,
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

    async fn file(&self, agent_ref: &str) -> Result<PathBuf, ProviderError> {
        let (files, name) = (self.shared.files.clone(), agent_ref.to_owned());
        let found = tokio::task::spawn_blocking(move || files.find(&name)).await;
        found.ok().flatten().ok_or_else(|| self.gone(agent_ref))
    }

    /// Nothing is taken over from a file that can't be read: it would count as an empty session from then on.
    async fn readable(&self, path: PathBuf) -> Result<PathBuf, ProviderError> {
        let opened = path.clone();
        let opened = tokio::task::spawn_blocking(move || std::fs::File::open(opened).map(drop));
        match opened.await {
            Ok(Err(error)) => {
                let (name, path) = (&self.shared.entry.name, path.display());
                let words = format!(
                    "Can't read {name}'s file of this session ({path}: {error}). Make it readable, then open the \
                     session again."
                );
                Err(ProviderError::AgentFailed { words })
            }
            Ok(Ok(())) | Err(_) => Ok(path),
        }
    }

    /// The sessions that processes of ours have.
    fn running(&self) -> HashSet<String> {
        let alive = self.sessions();
        alive.values().filter(|it| it.talk.is_alive()).map(|it| it.agent_ref()).collect()
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
        let path = match &load.history {
            History::Known => None,
            History::After { .. } => Some(self.file(&load.agent_ref).await?),
            History::All => Some(self.readable(self.file(&load.agent_ref).await?).await?),
        };
        let (sender, output) = mpsc::unbounded_channel();
        let known = self.session(&load.session_id).ok();
        let known = known.filter(|session| session.agent_ref() == load.agent_ref);
        let session = match known {
            Some(session) => {
                session.talk.listened_to_by(sender.clone());
                session
            }
            None => {
                let session = Session::new(
                    Arc::clone(&self.shared),
                    load.session_id.clone(),
                    load.agent_ref.clone(),
                    load.project_dir.clone(),
                    load.fork,
                    sender.clone(),
                    (load.options, Vec::new()),
                );
                self.keep(&session);
                session
            }
        };
        match path {
            None => {
                let _receiver_is_here = sender.send(history_told());
            }
            Some(path) => {
                // A process doesn't know what others added: the next message starts one that does.
                session.talk.keeper().rest();
                let reader =
                    Reader { session: load.session_id.clone(), project: load.project_dir, path };
                let (watch, ours) = (session.watch.clone(), self.running());
                let history = load.history;
                tokio::task::spawn_blocking(move || {
                    let watched = tell(reader, &history, &ours, &sender);
                    *watch.lock().unwrap_or_else(PoisonError::into_inner) = watched;
                    let _session_closed = sender.send(history_told());
                });
            }
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

    fn let_go(&self, session: &SessionId) -> bool {
        let mut sessions = self.sessions();
        let Some(known) = sessions.get(session) else { return true };
        let is_ending = known.talk.keeper().is_ending();
        if known.talk.keeper().is_idle() {
            sessions.remove(session);
        }
        !is_ending
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

    async fn look_elsewhere(&self, session: &SessionId, mark: &HistoryMark) -> Elsewhere {
        let Ok(session) = self.session(session) else { return Elsewhere::Quiet };
        let Some(output) = session.talk.listener() else { return Elsewhere::Quiet };
        let (ours, files, mark) = (self.running(), self.shared.files.clone(), mark.clone());
        let look = move || {
            let mut watch = session.watch.lock().unwrap_or_else(PoisonError::into_inner);
            if session.talk.is_alive() {
                return Elsewhere::Quiet;
            }
            if watch.is_none() {
                let Some(path) = files.find(&session.agent_ref()) else { return Elsewhere::Quiet };
                if std::fs::metadata(&path).is_ok_and(|about| about.len() != mark.bytes) {
                    return Elsewhere::Grown;
                }
                let (id, project) = (session.id.clone(), session.project.clone());
                *watch = Some(Watch::unchanged(Reader { session: id, project, path }, mark));
            }
            let Some(watching) = watch.as_mut() else { return Elsewhere::Quiet };
            let mut say = |said, _| {
                let _session_closed = output.send(Metered { output: said, charge: None });
            };
            let seen = watching.look(&ours, &mut say);
            if seen == Elsewhere::Grown {
                *watch = None;
            }
            seen
        };
        tokio::task::spawn_blocking(look).await.unwrap_or(Elsewhere::Quiet)
    }

    async fn has_grown(&self, load: &LoadSession, mark: &HistoryMark) -> bool {
        // A process of ours may be writing still. Only its last line in the file makes the rest somebody else's.
        if let Ok(session) = self.session(&load.session_id)
            && session.talk.is_alive()
            && !session.talk.with(|voice| voice.normaliser.last_record() == Some(&mark.last_id))
        {
            return false;
        }
        let Ok(path) = self.file(&load.agent_ref).await else { return false };
        let reader =
            Reader { session: load.session_id.clone(), project: load.project_dir.clone(), path };
        let mark = mark.clone();
        let grown = tokio::task::spawn_blocking(move || reader.has_grown(&mark)).await;
        grown.is_ok_and(|grown| grown.unwrap_or(false))
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

/// In bytes: how far a history is read ahead of the journal. Unlike an agent, a file waits, so this only has to keep
/// the journal busy; parsed, it takes several times as much memory.
const HISTORY_AHEAD: u32 = 2 * 1024 * 1024;

/// Sends a history, no faster than it is consumed: a long one is never held in memory whole. If reading fails, the user
/// gets a notice and keeps what was read so far. Returns how to watch the file from here on. Blocks.
fn tell(
    reader: Reader,
    history: &History,
    ours: &HashSet<String>,
    sender: &mpsc::UnboundedSender<Metered>,
) -> Option<Watch> {
    let (runtime, budget) = (Handle::current(), Budget::new(HISTORY_AHEAD));
    let has_said = Cell::new(false);
    let mut say = |output, read| {
        has_said.set(has_said.get() || matches!(output, Output::Event(_)));
        let charge = (read > 0).then(|| runtime.block_on(budget.charge(read)));
        let _session_closed = sender.send(Metered { output, charge });
    };
    match reader.tell(history, &mut say) {
        // Nothing new, except perhaps the rest of turns that are known.
        Ok(told) if !has_said.get() && !told.teller.is_telling() => {
            told.end(&mut say);
            None
        }
        Ok(told) => Watch::told(reader, told, ours, &mut say),
        Err(error) => {
            tracing::warn!(%error, path = %reader.path.display(), "can't read the agent's history file");
            let text = format!("Can't read the rest of Claude Code's history ({error}).");
            reader.remark(notice(Severity::Warning, &text), &mut say);
            None
        }
    }
}

fn history_told() -> Metered {
    Metered { output: Output::HistoryTold, charge: None }
}

#[cfg(test)]
mod tests;
