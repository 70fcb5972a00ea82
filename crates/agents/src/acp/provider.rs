//! [`AcpProvider`]: drives any ACP agent. One process for all sessions, or one for each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::CloseSessionRequest;
use async_trait::async_trait;
use liminal_contract::{
    AgentStatus, Answer, CliType, ItemId, McpAct, OptionValue, OutcomeBy, SessionId, TaskAct,
    TurnId,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::agent::{AcpAgent, Patience};
use super::attach;
use super::connect::Starter;
use super::link::{Link, NoAnswer};
use super::list;
use super::session::{HistoryWanted, Session};
use super::shared::Shared;
use crate::catalogue::Processes;
use crate::lifecycle::{Connect, Keeper, Timing};
use crate::process::{GuardCommand, Stop};
use crate::{
    AgentPrompt, CliProvider, Fork, ForkPlace, History, ListedSession, LoadSession, NewSession,
    ProviderError, ProviderSession, StatusChange, TaskOutput,
};

#[derive(Clone)]
pub struct AcpProvider {
    agent: AcpAgent,
    host: AcpHost,
    how: Arc<HowToConnect>,
    /// By session if each has its own, else one without a session.
    processes: Arc<Mutex<HashMap<Option<SessionId>, Arc<Shared>>>>,
}

type HowToConnect = dyn Fn(&Arc<Shared>) -> Arc<dyn Connect<Link = Link>> + Send + Sync;

/// What a provider needs from the server.
#[derive(Debug, Clone)]
pub struct AcpHost {
    pub guard: GuardCommand,
    /// Our own data directory: not for agents.
    pub data_dir: PathBuf,
    /// Receives every status change of the agent's process.
    pub statuses: mpsc::UnboundedSender<StatusChange>,
    pub timing: Timing,
    pub patience: Patience,
}

impl AcpProvider {
    /// Starts nothing until the first session needs it.
    pub fn new(agent: AcpAgent, host: AcpHost) -> Self {
        Self::connecting(agent, host, |shared| Arc::new(Starter { shared: Arc::downgrade(shared) }))
    }

    /// Connects to the agent in the caller's own way.
    pub(crate) fn connecting(
        agent: AcpAgent,
        host: AcpHost,
        how: impl Fn(&Arc<Shared>) -> Arc<dyn Connect<Link = Link>> + Send + Sync + 'static,
    ) -> Self {
        Self { agent, host, how: Arc::new(how), processes: Arc::default() }
    }

    /// Which process serves a session.
    fn whose(&self, session: Option<&SessionId>) -> Option<SessionId> {
        session.filter(|_| self.agent.processes == Processes::PerSession).cloned()
    }

    /// The process that serves a session; not started yet if it is new.
    fn process(&self, session: Option<&SessionId>) -> Arc<Shared> {
        let whose = self.whose(session);
        let make = || {
            let AcpHost { guard, data_dir, statuses, timing, patience } = self.host.clone();
            let name = &self.agent.name;
            let shared = Shared::new(self.agent.clone(), guard, data_dir, patience);
            let connect = (self.how)(&shared);
            let about = (self.agent.cli_type.clone(), whose.clone());
            shared.kept_by(Keeper::new(about, name, timing, connect, statuses));
            shared
        };
        Arc::clone(self.processes().entry(whose.clone()).or_insert_with(make))
    }

    /// Ends the process of a session that has its own.
    async fn end_process(&self, session: &SessionId) {
        let own = self.processes().remove(&Some(session.clone()));
        if let Some(own) = own {
            own.keeper().end(Stop::Gently).await;
        }
    }

    fn known(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.processes().values().find_map(|shared| shared.by_id(id))
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>, ProviderError> {
        self.known(id).ok_or_else(|| ProviderError::SessionUnknown {
            words: format!("{id} is not attached to {}.", self.agent.name),
        })
    }

    async fn attach(&self, load: LoadSession) -> Result<ProviderSession, ProviderError> {
        let shared = self.process(Some(&load.session_id));
        let link = shared.link_for(&load.project_dir).await?;
        let session_id = load.session_id.clone();
        let wanted = match load.history {
            History::All => HistoryWanted::Yes,
            // An ACP agent replays all of its history or none, and the journal already has ours.
            History::Known | History::After { .. } => HistoryWanted::No,
        };
        let agent_ref = load.agent_ref.clone();
        let known = shared.by_id(&session_id).filter(|known| known.agent_ref == agent_ref);
        let (session, output) = match known {
            // It may have been resumed already, and some agents refuse to load a session twice.
            Some(known) if wanted == HistoryWanted::No => {
                let (listener, output) = mpsc::unbounded_channel();
                known.talk.listened_to_by(listener);
                (known, output)
            }
            Some(_) | None => {
                let options = (load.options, Vec::new());
                shared.add(session_id.clone(), load.agent_ref, load.project_dir, options)
            }
        };
        if let Err(error) = attach::attach_session(&link, &session, wanted).await {
            shared.remove(&session_id);
            return Err(error);
        }
        Ok(ProviderSession { session_id, agent_ref, output })
    }

    /// Ends what the agent still runs of a stopped turn: closes the session, which the next message resumes.
    async fn close_survivors(&self, session: &Session) {
        let Some(link) = session.talk.keeper().connected() else { return };
        let offers = link.offers();
        if session.talk.generation() != Some(link.generation)
            || !(offers.close && (offers.resume || offers.load))
            || !session.talk.with(|voice| voice.normaliser.take_survivors())
        {
            return;
        }
        self.close(&link, session).await;
        session.detach(&link);
    }

    /// A request of ours beside ACP (docs/agents.md), only to an agent that reported tasks or servers.
    async fn extra(
        &self,
        method: &str,
        session: &SessionId,
        mut params: Value,
    ) -> Result<Value, ProviderError> {
        let session = self.session(session)?;
        let name = &self.agent.name;
        let link = session.talk.keeper().connected();
        let link = link.filter(|link| session.talk.generation() == Some(link.generation));
        let Some(link) = link else {
            let words = format!("{name} isn't running. Send a message to start it.");
            return Err(ProviderError::AgentFailed { words });
        };
        params["sessionId"] = json!(session.agent_ref);
        let answer = link.request(method, &params, self.host.patience.session).await;
        answer.map_err(|error| match error {
            NoAnswer::Refused(error) => {
                let words = self.agent.mcp.secrets().scrub(&error.words());
                ProviderError::AgentFailed { words }
            }
            NoAnswer::Left { .. } => session.talk.process_ended(),
            other => ProviderError::AgentFailed { words: format!("{name}: {other}.") },
        })
    }

    async fn close(&self, link: &Link, session: &Session) {
        let request = CloseSessionRequest::new(session.agent_ref.clone());
        let limit = self.host.patience.close;
        if let Err(error) = link.request("session/close", &request, limit).await {
            tracing::info!(session = %session.id, %error, "The agent did not close the session");
        }
    }

    fn processes(&self) -> MutexGuard<'_, HashMap<Option<SessionId>, Arc<Shared>>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl CliProvider for AcpProvider {
    fn cli_type(&self) -> &CliType {
        &self.agent.cli_type
    }

    async fn create_session(&self, mut new: NewSession) -> Result<ProviderSession, ProviderError> {
        if self.agent.processes == Processes::PerSession {
            new.session_id.get_or_insert_with(|| self.agent.session_id(None));
        }
        let own = new.session_id.clone();
        let wanted = std::mem::take(&mut new.wanted);
        let shared = self.process(own.as_ref());
        let made = match shared.link_for(&new.project_dir).await {
            Ok(link) => attach::make(&link, new).await,
            Err(error) => Err(error),
        };
        if let (Err(_), Some(own)) = (&made, own) {
            self.end_process(&own).await;
        }
        let made = made?;
        let session = self.session(&made.session_id)?;
        if let Err(error) = session.talk.require_options(wanted, &*session).await {
            self.kill_session(&made.session_id).await?;
            return Err(error);
        }
        Ok(made)
    }

    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError> {
        let session_id = load.session_id.clone();
        let loaded = self.attach(load).await;
        if loaded.is_err() {
            self.end_process(&session_id).await;
        }
        loaded
    }

    async fn fork_at(
        &self,
        _session: &SessionId,
        agent_ref: &str,
        place: ForkPlace,
    ) -> Option<Fork> {
        // Whether it is offered is known once the agent runs.
        let whole = Fork { agent_ref: agent_ref.to_owned(), at: None };
        (place == ForkPlace::End).then_some(whole)
    }

    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        prompt: &AgentPrompt,
    ) -> Result<(), ProviderError> {
        let session = self.session(session)?;
        let process = self.process(Some(&session.id));
        let sending = session.talk.reserve()?;
        let link = process.link_for(&session.project_dir).await?;
        attach::attach_session(&link, &session, HistoryWanted::No).await?;
        attach::settled(&session).await;
        sending.prompt(turn, prompt)
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
        let session = self.session(session)?;
        // Held until a session with survivors is closed: the next message must not reach it before.
        let held = Arc::clone(&session.attaching).try_lock_owned();
        let stopped = session.talk.cancel(self.host.patience.interrupt).await;
        if held.is_ok() {
            self.close_survivors(&session).await;
        }
        stopped
    }

    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let session = self.known(session).ok_or(ProviderError::PermissionClosed)?;
        session.talk.answer(item, &answer, by)
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
        let params = json!({"taskId": task, "act": act});
        let answer = self.extra("_liminal/task", session, params).await?;
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let cut = answer["truncated"] == true;
        Ok((act == TaskAct::Output).then(|| TaskOutput { text: text("output"), cut }))
    }

    async fn act_on_mcp(
        &self,
        session: &SessionId,
        server: &str,
        act: McpAct,
    ) -> Result<(), ProviderError> {
        let params = json!({"server": server, "act": act});
        self.extra("_liminal/mcp", session, params).await.map(drop)
    }

    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError> {
        let Some(session) = self.known(session) else { return Ok(()) };
        if let Some(ended) = session.talk.stop() {
            let _its_end_is_said_anyway = timeout(self.host.patience.close, ended).await;
        }
        let link = session.talk.keeper().connected();
        if let Some(link) = link.filter(|link| session.talk.generation() == Some(link.generation))
            && link.offers().close
        {
            self.close(&link, &session).await;
        }
        self.process(Some(&session.id)).remove(&session.id);
        session.release();
        self.end_process(&session.id).await;
        Ok(())
    }

    fn let_go(&self, session: &SessionId) -> bool {
        let whose = self.whose(Some(session));
        let mut processes = self.processes();
        let Some(shared) = processes.get(&whose) else { return true };
        let is_ending = shared.keeper().is_ending();
        if shared.keeper().is_idle() {
            shared.remove(session);
            if whose.is_some() {
                processes.remove(&whose);
            }
        }
        !is_ending
    }

    fn is_alive(&self, session: &SessionId) -> bool {
        self.known(session).is_some_and(|session| session.talk.is_alive())
    }

    async fn reconnect(&self, session: Option<&SessionId>) -> Result<(), ProviderError> {
        let is_lost = |it: &&Arc<Shared>| it.keeper().status() == AgentStatus::Disconnected;
        let meant: Vec<_> = match (self.agent.processes, session) {
            (Processes::PerSession, None) => {
                self.processes().values().filter(is_lost).cloned().collect()
            }
            (Processes::Shared, _) | (Processes::PerSession, Some(_)) => {
                vec![self.process(session)]
            }
        };
        let mut starting = JoinSet::new();
        for shared in meant {
            starting.spawn(async move { shared.keeper().reconnect().await.map(drop) });
        }
        starting.join_all().await.into_iter().collect()
    }

    async fn list_sessions(
        &self,
        directory: &Path,
    ) -> Result<Option<Vec<ListedSession>>, ProviderError> {
        let link = self.process(None).link_for(directory).await?;
        list::list(&link, directory).await
    }

    async fn shutdown(&self) {
        let processes: Vec<_> = self.processes().values().cloned().collect();
        let mut ending = JoinSet::new();
        for shared in processes {
            for session in shared.all() {
                let _nobody_waits = session.talk.stop();
                for terminal in session.terminals() {
                    ending.spawn(async move { terminal.kill().await });
                }
            }
            ending.spawn(async move { shared.keeper().shutdown().await });
        }
        ending.join_all().await;
    }
}
