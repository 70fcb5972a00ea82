//! What the provider and the links of one agent share: the sessions, by our ids and by the agent's.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol_schema::v1::{CloseSessionRequest, RequestId};
use liminal_contract::SessionId;
use tokio::sync::mpsc;

use super::agent::{AcpAgent, Patience};
use super::link::{Link, Waiter};
use super::session::Session;
use crate::lifecycle::{Keeper, RunningTurn};
use crate::process::GuardCommand;
use crate::{Metered, ProviderError};

/// What all that drives one kind of agent shares.
#[derive(Debug)]
pub(crate) struct Shared {
    pub agent: AcpAgent,
    pub guard: GuardCommand,
    /// Our own data, which is not the agent's.
    pub data_dir: PathBuf,
    pub patience: Patience,
    sessions: Mutex<Sessions>,
    generations: AtomicU64,
    keeper: OnceLock<Keeper<Link>>,
}

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<SessionId, Arc<Session>>,
    by_ref: HashMap<String, Arc<Session>>,
}

impl Shared {
    pub fn new(
        agent: AcpAgent,
        guard: GuardCommand,
        data_dir: PathBuf,
        patience: Patience,
    ) -> Arc<Self> {
        Arc::new(Self {
            agent,
            guard,
            data_dir,
            patience,
            sessions: Mutex::default(),
            generations: AtomicU64::new(0),
            keeper: OnceLock::new(),
        })
    }

    /// Who keeps the process. Set once, by who made both.
    pub fn kept_by(&self, keeper: Keeper<Link>) {
        let _set_once = self.keeper.set(keeper);
    }

    /// A turn began: the process is needed.
    pub fn turn(&self) -> RunningTurn<Link> {
        match self.keeper.get() {
            Some(keeper) => keeper.turn(),
            None => unreachable!("a link exists only where a keeper does"),
        }
    }

    pub fn next_generation(&self) -> u64 {
        self.generations.fetch_add(1, Ordering::Relaxed)
    }

    /// Our id of the agent's session; one of our own where its id does not fit.
    pub fn session_id(&self, agent_ref: &str) -> SessionId {
        let cli_type = &self.agent.cli_type;
        let own = || SessionId::new(cli_type, &uuid::Uuid::new_v4().to_string());
        match SessionId::new(cli_type, agent_ref).or_else(|_odd| own()) {
            Ok(id) => id,
            Err(_) => {
                unreachable!("an agent's id of at most 64 characters and a UUID make a session id")
            }
        }
    }

    /// Makes a session known. One that was known by the same id is let go.
    pub fn add(
        &self,
        id: SessionId,
        agent_ref: String,
        project_dir: PathBuf,
    ) -> (Arc<Session>, mpsc::UnboundedReceiver<Metered>) {
        if let Some(earlier) = self.remove(&id) {
            earlier.release();
        }
        let provider_id = self.agent.cli_type.as_str();
        let (session, output) =
            Session::new(id.clone(), agent_ref.clone(), project_dir, provider_id);
        let mut sessions = self.sessions();
        sessions.by_id.insert(id, Arc::clone(&session));
        sessions.by_ref.insert(agent_ref, Arc::clone(&session));
        (session, output)
    }

    pub fn remove(&self, id: &SessionId) -> Option<Arc<Session>> {
        let mut sessions = self.sessions();
        let session = sessions.by_id.remove(id)?;
        sessions.by_ref.remove(&session.agent_ref);
        Some(session)
    }

    pub fn by_id(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.sessions().by_id.get(id).cloned()
    }

    pub fn by_ref(&self, agent_ref: &str) -> Option<Arc<Session>> {
        self.sessions().by_ref.get(agent_ref).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().by_id.values().cloned().collect()
    }

    /// A process is gone: so are its sessions, until they are taken up again.
    pub fn agent_left(&self, generation: u64, error: &ProviderError) {
        for session in self.all() {
            session.agent_left(generation, error);
        }
    }

    /// The agent takes a question back.
    pub fn withdraw(&self, generation: u64, request: &RequestId) {
        let of_this_agent = |session: &Arc<Session>| session.generation() == Some(generation);
        let _somebodys =
            self.all().into_iter().filter(of_this_agent).any(|it| it.withdraw(request));
    }

    /// A session was made for somebody who gave up meanwhile.
    pub fn forget_unwanted(&self, link: &Link, session: &Session) {
        self.remove(&session.id);
        session.release();
        if link.offers().close {
            let close = CloseSessionRequest::new(session.agent_ref.clone());
            let (reply, _nobody) = tokio::sync::oneshot::channel();
            let _gone_anyway =
                link.connection.request("session/close", &close, Waiter::Value(reply));
        }
    }

    /// Ends a turn of the agent's own when nothing more comes of it.
    pub fn watch_own_turn(&self, session: Arc<Session>) {
        let Patience { own_turn_quiet, own_turn_working, .. } = self.patience;
        tokio::spawn(async move {
            while let Some(over) = session.end_own_turn(own_turn_quiet, own_turn_working) {
                tokio::time::sleep_until(over).await;
            }
        });
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
