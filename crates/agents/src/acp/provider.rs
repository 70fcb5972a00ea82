//! [`AcpProvider`]: any ACP agent behind the trait all agents share. One process, many sessions.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::CloseSessionRequest;
use async_trait::async_trait;
use liminal_contract::{Answer, CliType, ItemId, OutcomeBy, SessionId, TurnId};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::agent::{AcpAgent, Patience};
use super::attach;
use super::connect::Starter;
use super::link::Link;
use super::session::{AnswerRefused, NotSent, Session, Stopping, Wanted};
use super::shared::Shared;
use crate::lifecycle::{Connect, Keeper, Timing};
use crate::process::GuardCommand;
use crate::{
    CliProvider, History, LoadSession, NewSession, ProviderError, ProviderSession, StatusChange,
};

/// What drives an ACP agent.
#[derive(Debug, Clone)]
pub struct AcpProvider {
    shared: Arc<Shared>,
    keeper: Keeper<Link>,
}

/// Where an agent is driven.
#[derive(Debug, Clone)]
pub struct AcpHost {
    /// How to run a guard.
    pub guard: GuardCommand,
    /// Our own data directory: not for agents.
    pub data_dir: PathBuf,
    /// Gets every change of the agent's process.
    pub statuses: mpsc::UnboundedSender<StatusChange>,
    /// When the process is started, started again and stopped.
    pub timing: Timing,
    /// How long the agent is waited for.
    pub patience: Patience,
}

impl AcpProvider {
    /// Drives an agent. Nothing is started before the first session needs it.
    pub fn new(agent: AcpAgent, host: AcpHost) -> Self {
        Self::connecting(agent, host, |shared| Arc::new(Starter { shared: Arc::downgrade(shared) }))
    }

    /// Drives an agent that is reached in a way of the caller's own.
    pub(crate) fn connecting(
        agent: AcpAgent,
        host: AcpHost,
        how: impl FnOnce(&Arc<Shared>) -> Arc<dyn Connect<Link = Link>>,
    ) -> Self {
        let AcpHost { guard, data_dir, statuses, timing, patience } = host;
        let (cli_type, name) = (agent.cli_type.clone(), agent.name.clone());
        let shared = Shared::new(agent, guard, data_dir, patience);
        let keeper = Keeper::new(cli_type, &name, timing, how(&shared), statuses);
        shared.kept_by(keeper.clone());
        Self { shared, keeper }
    }

    /// The agent, started if it is not running. One that has just crashed is not given out any more.
    async fn link(&self) -> Result<Arc<Link>, ProviderError> {
        loop {
            let link = self.keeper.link().await?;
            if !link.is_over() {
                return Ok(link);
            }
            self.keeper.replaced(&link).await;
        }
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>, ProviderError> {
        self.shared.by_id(id).ok_or_else(|| ProviderError::SessionUnknown {
            words: format!("{id} is not attached to {}.", self.shared.agent.name),
        })
    }

    fn lost(&self) -> ProviderError {
        let (name, stderr_tail) = (self.shared.agent.name.clone(), String::new());
        ProviderError::ProcessEnded { name, stderr_tail }
    }
}

#[async_trait]
impl CliProvider for AcpProvider {
    fn cli_type(&self) -> &CliType {
        &self.shared.agent.cli_type
    }

    async fn create_session(&self, new: NewSession) -> Result<ProviderSession, ProviderError> {
        let link = self.link().await?;
        attach::make(&link, new).await
    }

    async fn load_session(&self, load: LoadSession) -> Result<ProviderSession, ProviderError> {
        let LoadSession { session_id, agent_ref, project_dir, history } = load;
        let link = self.link().await?;
        let wanted = match history {
            History::All => Wanted::Yes,
            // An ACP agent tells all of its history or nothing, and what we have is ours.
            History::Known | History::After { .. } => Wanted::No,
        };
        let (session, output) = self.shared.add(session_id.clone(), agent_ref.clone(), project_dir);
        if let Err(error) = attach::take_up(&link, &session, wanted).await {
            self.shared.remove(&session_id);
            return Err(error);
        }
        Ok(ProviderSession { session_id, agent_ref, output })
    }

    async fn send_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
        content: &str,
    ) -> Result<(), ProviderError> {
        let session = self.session(session)?;
        let link = self.link().await?;
        attach::take_up(&link, &session, Wanted::No).await?;
        attach::settled(&session).await;
        session.prompt(turn, content, || self.keeper.turn()).map_err(|why| match why {
            NotSent::Busy => ProviderError::Busy { name: self.shared.agent.name.clone() },
            NotSent::Gone => self.lost(),
        })
    }

    async fn cancel_turn(&self, session: &SessionId) -> Result<(), ProviderError> {
        let session = self.session(session)?;
        let Stopping::Awaited(ended) = session.stop() else { return Ok(()) };
        if timeout(self.shared.patience.interrupt, ended).await.is_ok() {
            return Ok(());
        }
        session.give_up_turn();
        Err(ProviderError::InterruptUnanswered { name: self.shared.agent.name.clone() })
    }

    async fn answer(
        &self,
        session: &SessionId,
        item: &ItemId,
        answer: Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let session = self.shared.by_id(session).ok_or(ProviderError::PermissionClosed)?;
        session.answer(item, &answer, by).map_err(|why| match why {
            AnswerRefused::Closed => ProviderError::PermissionClosed,
            AnswerRefused::NotOffered => ProviderError::not_offered(&self.shared.agent.name),
        })
    }

    async fn kill_session(&self, session: &SessionId) -> Result<(), ProviderError> {
        let Some(session) = self.shared.by_id(session) else { return Ok(()) };
        let close = self.shared.patience.close;
        if let Stopping::Awaited(ended) = session.stop() {
            let _its_end_is_said_anyway = timeout(close, ended).await;
        }
        let link = self.keeper.connected();
        if let Some(link) = link.filter(|link| session.generation() == Some(link.generation))
            && link.offers().close
        {
            let request = CloseSessionRequest::new(session.agent_ref.clone());
            if let Err(error) = link.request("session/close", &request, close).await {
                tracing::info!(session = %session.id, %error, "The agent did not close a session");
            }
        }
        self.shared.remove(&session.id);
        session.release();
        Ok(())
    }

    fn is_alive(&self, session: &SessionId) -> bool {
        let generation = self.shared.by_id(session).and_then(|session| session.generation());
        let link = self.keeper.connected().filter(|link| !link.is_over());
        generation.is_some() && link.map(|link| link.generation) == generation
    }

    async fn reconnect(
        &self,
        _one_process_for_all: Option<&SessionId>,
    ) -> Result<(), ProviderError> {
        self.keeper.reconnect().await.map(drop)
    }

    async fn shutdown(&self) {
        for session in self.shared.all() {
            let _nobody_waits = session.stop();
        }
        self.keeper.shutdown().await;
    }
}
