//! State that the provider and all links of one agent share: its sessions, by our ids and by the agent's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol_schema::v1::{CloseSessionRequest, RequestId};
use liminal_contract::{OptionValue, SessionId, SessionOption};
use tokio::sync::{Semaphore, mpsc};

use super::agent::{AcpAgent, Patience};
use super::link::{Link, Waiter};
use super::serve::FILES_AT_ONCE;
use super::session::Session;
use crate::conversation::link_of;
use crate::lifecycle::Keeper;
use crate::process::{GuardCommand, Launch};
use crate::{Metered, ProviderError};

#[derive(Debug)]
pub(crate) struct Shared {
    pub agent: AcpAgent,
    pub guard: GuardCommand,
    /// Our own data directory: not for agents.
    pub data_dir: PathBuf,
    pub patience: Patience,
    /// Limits concurrent file access. Shared by all processes of the agent, because blocked threads outlive them.
    pub files: Arc<Semaphore>,
    /// The project that the process is needed for.
    needed_in: Mutex<Option<PathBuf>>,
    sessions: Mutex<Sessions>,
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
            files: Arc::new(Semaphore::new(FILES_AT_ONCE)),
            needed_in: Mutex::default(),
            sessions: Mutex::default(),
            keeper: OnceLock::new(),
        })
    }

    /// Must be called once, before the first session.
    pub fn kept_by(&self, keeper: Keeper<Link>) {
        let _set_once = self.keeper.set(keeper);
    }

    pub fn keeper(&self) -> &Keeper<Link> {
        match self.keeper.get() {
            Some(keeper) => keeper,
            None => unreachable!("a session exists only where a keeper does"),
        }
    }

    /// The agent, started in this project if it is not running.
    pub async fn link_for(&self, project: &Path) -> Result<Arc<Link>, ProviderError> {
        *self.needed_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(project.to_owned());
        link_of(self.keeper()).await
    }

    /// How to start the process: in the project it is needed for, unless that is gone.
    pub fn launch(&self) -> Launch {
        let mut launch = self.agent.launch.clone();
        let project = self.needed_in.lock().unwrap_or_else(PoisonError::into_inner).clone();
        launch.cwd = project.filter(|project| project.is_dir()).unwrap_or(launch.cwd);
        launch
    }

    /// Registers a session and releases an earlier one with the same id.
    pub fn add(
        &self,
        id: SessionId,
        agent_ref: String,
        project_dir: PathBuf,
        options: (Vec<SessionOption>, Vec<(String, OptionValue)>),
    ) -> (Arc<Session>, mpsc::UnboundedReceiver<Metered>) {
        if let Some(earlier) = self.remove(&id) {
            earlier.release();
        }
        let (session, output) = Session::new(
            id.clone(),
            agent_ref.clone(),
            project_dir,
            &self.agent,
            self.keeper().clone(),
            options,
        );
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

    /// The agent withdraws a permission.
    pub fn withdraw(&self, generation: u64, request: &RequestId) {
        let of_this_agent = |session: &Arc<Session>| session.talk.generation() == Some(generation);
        let _somebodys =
            self.all().into_iter().filter(of_this_agent).any(|it| it.withdraw(request));
    }

    /// Closes a session whose requester gave up meanwhile.
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

    /// Ends a turn that the agent started once nothing more comes.
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
