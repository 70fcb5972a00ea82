//! The provider: all sessions with Claude Code by their ids.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use liminal_contract::{Answer, CliType, ItemId, OutcomeBy, SessionId, Severity, TurnId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::history::{Reader, SessionFiles, is_plain_id};
use super::normalise::notice;
use super::session::{Patience, Session, Shared};
use super::start;
use super::trust::{self, Trust};
use crate::catalogue::AgentEntry;
use crate::process::{Budget, GuardCommand, Stop};
use crate::{
    CliProvider, History, LoadSession, Metered, NewSession, Output, ProviderError, ProviderSession,
    StatusChange,
};

/// What the provider needs to know.
pub struct ClaudeOptions {
    /// How to start `claude`.
    pub entry: AgentEntry,
    /// How to run a guard.
    pub guard: GuardCommand,
    /// Where changes of state are told.
    pub statuses: mpsc::UnboundedSender<StatusChange>,
    /// Which projects' own settings may be loaded.
    pub trust: Arc<dyn Trust>,
    /// From spawn to ready (`ACP_START_TIMEOUT_MS`).
    pub start: Duration,
    /// Until an idle process is stopped (`LIMINAL_IDLE_MS`).
    pub idle: Duration,
    /// From an interrupt to the end of the turn.
    pub interrupt: Duration,
}

/// Drives Claude Code: one process per session, while it is needed.
pub struct ClaudeProvider {
    shared: Arc<Shared>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl ClaudeProvider {
    /// Starts nothing yet.
    pub fn new(options: ClaudeOptions) -> Self {
        let files = SessionFiles::below(&start::config_dir(&options.entry));
        let patience =
            Patience { start: options.start, idle: options.idle, interrupt: options.interrupt };
        Self {
            shared: Arc::new(Shared {
                entry: options.entry,
                guard: options.guard,
                statuses: options.statuses,
                patience,
                trust: options.trust,
                files,
            }),
            sessions: Mutex::default(),
        }
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>, ProviderError> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions
            .get(id)
            .cloned()
            .ok_or_else(|| ProviderError::SessionUnknown { words: format!("{id} was not opened.") })
    }

    fn keep(&self, session: &Arc<Session>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session.id.clone(), Arc::clone(session));
    }

    fn gone(&self, agent_ref: &str) -> ProviderError {
        ProviderError::SessionUnknown {
            words: format!(
                "{} has no file of it any more ({}/*/{agent_ref}.jsonl). The transcript here is kept; start anew to go on without what Claude remembered.",
                self.shared.name(),
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
            sender,
        );
        session.ensure_running().await?;
        self.keep(&session);
        let brings = trust::brings(&session.project);
        if !brings.is_empty() && !self.shared.trust.is_confirmed(&session.project) {
            session.ask_for_trust(&brings);
        }
        Ok(ProviderSession { session_id, agent_ref, output })
    }

    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError> {
        if !is_plain_id(&load.agent_ref) {
            return Err(ProviderError::SessionUnknown {
                words: format!("{:?} is not an id of Claude Code.", load.agent_ref),
            });
        }
        let (sender, output) = mpsc::unbounded_channel();
        match &load.history {
            History::Known => {
                let _receiver_is_here = sender.send(told());
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
        let same =
            |session: &Arc<Session>| session.agent_ref() == load.agent_ref && !session.is_killed();
        match known.filter(same) {
            Some(session) => session.attach(sender),
            None => self.keep(&Session::new(
                Arc::clone(&self.shared),
                load.session_id.clone(),
                load.agent_ref.clone(),
                load.project_dir,
                sender,
            )),
        }
        Ok(ProviderSession { session_id: load.session_id, agent_ref: load.agent_ref, output })
    }

    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        content: &str,
    ) -> Result<(), ProviderError> {
        self.session(session)?.send(turn, content).await
    }

    async fn cancel_turn(&self, session: &SessionId) -> Result<(), ProviderError> {
        self.session(session)?.cancel().await
    }

    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        self.session(session)?.answer(item, &answer, by).await
    }

    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError> {
        self.session(session)?.kill(Stop::Gently).await;
        Ok(())
    }

    fn is_alive(&self, session: &SessionId) -> bool {
        self.session(session).is_ok_and(|session| session.is_alive())
    }

    async fn reconnect(&self, session: Option<&SessionId>) -> Result<(), ProviderError> {
        match session {
            Some(session) => self.session(session)?.reconnect().await,
            // Each session has a process of its own, which its next message starts.
            None => Ok(()),
        }
    }

    async fn shutdown(&self) {
        let sessions: Vec<Arc<Session>> = {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.drain().map(|(_, session)| session).collect()
        };
        let stops: Vec<_> = sessions
            .into_iter()
            .map(|session| tokio::spawn(async move { session.kill(Stop::Now).await }))
            .collect();
        for stop in stops {
            let _panicked = stop.await;
        }
    }
}

fn check_directory(project: &Path) -> Result<(), ProviderError> {
    let words = match std::fs::metadata(project) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => format!("{} is not a directory.", project.display()),
        Err(cause) => format!("{} can't be entered: {cause}.", project.display()),
    };
    Err(ProviderError::SessionRefused { words, stderr_tail: String::new() })
}

/// Tells a history, no faster than it is taken: a long one is never held whole. What can't be read is said, and what
/// was read before stands. Blocks.
fn tell(reader: &Reader, history: &History, sender: &mpsc::UnboundedSender<Metered>) {
    let (runtime, budget) = (Handle::current(), Budget::default());
    let mut say = |output, read| {
        let charge = (read > 0).then(|| runtime.block_on(budget.charge(read)));
        let _session_closed = sender.send(Metered { output, charge });
    };
    if let Err(error) = reader.tell(history, &mut say) {
        tracing::warn!(%error, path = %reader.path.display(), "a history can't be read");
        let text = format!("Claude Code's history can't be read further ({error}).");
        reader.remark(notice(Severity::Warning, &text), &mut say);
    }
    say(Output::HistoryTold, 0);
}

fn told() -> Metered {
    Metered { output: Output::HistoryTold, charge: None }
}
