//! The agents as browsers see them: which exist, whether they can be used, what their processes are doing.
//!
//! Driving an agent is the job of the agents crate; this module keeps the statuses it reports and passes them on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_agents::StatusChange;
use liminal_agents::catalogue::Catalogue;
use liminal_agents::process::GuardCommand;
use liminal_contract::{Agent, AgentStatus, CliType, Frame, ServerMessage, SessionId};
use tokio::sync::mpsc;

use crate::failure::shown;
use crate::feed::{Hub, Outbox};

pub struct Agents {
    catalogue: Catalogue,
    guard: GuardCommand,
    hub: Arc<Hub>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The latest status of each process: of an agent, or of one session.
    statuses: HashMap<(CliType, Option<SessionId>), StatusChange>,
    /// The output of each program's version command; present once it was asked.
    versions: HashMap<CliType, Option<String>>,
    logins: HashMap<CliType, bool>,
}

impl Agents {
    /// Versions are asked for under this guard.
    pub fn new(catalogue: Catalogue, guard: GuardCommand, hub: Arc<Hub>) -> Arc<Self> {
        Arc::new(Self { catalogue, guard, hub, state: Mutex::default() })
    }

    /// Passes every change on to every browser, and keeps it for those that connect later.
    pub fn follow(self: &Arc<Self>, mut changes: mpsc::UnboundedReceiver<StatusChange>) {
        let agents = self.clone();
        tokio::spawn(async move {
            while let Some(change) = changes.recv().await {
                // Kept first: a browser that connects between the two gets it twice rather than not at all.
                agents.keep(&change);
                agents.hub.broadcast(message(&change));
            }
        });
    }

    /// Sends a browser that just connected every status that isn't the default.
    pub fn greet(&self, outbox: &Outbox) {
        let mut statuses: Vec<StatusChange> = self.state().statuses.values().cloned().collect();
        statuses.sort_by(|a, b| (&a.cli_type, &a.session_id).cmp(&(&b.cli_type, &b.session_id)));
        for change in &statuses {
            outbox.reply(&Frame { request_id: None, message: message(change) });
        }
    }

    /// The latest status of a process counts. A session's process is idle unless one is kept.
    fn keep(&self, change: &StatusChange) {
        let about = (change.cli_type.clone(), change.session_id.clone());
        let mut state = self.state();
        if about.1.is_some() && change.status == AgentStatus::Idle {
            state.statuses.remove(&about);
        } else {
            state.statuses.insert(about, change.clone());
        }
    }

    /// The catalogue, each agent with its status.
    pub fn list(self: &Arc<Self>) -> Vec<Agent> {
        self.ask_versions();
        let state = self.state();
        self.catalogue
            .entries()
            .iter()
            .map(|entry| Agent {
                cli_type: entry.cli_type.clone(),
                name: entry.name.clone(),
                status: state.status(&entry.cli_type),
                ready: entry.readiness(),
                version: state.versions.get(&entry.cli_type).cloned().flatten(),
                logged_in: state.logins.get(&entry.cli_type).copied(),
                install: entry.install.clone(),
                login: entry.login.clone(),
                builtin: entry.builtin,
                offered: entry.is_offered(),
                ask_mode: entry.ask_mode().map(str::to_owned),
            })
            .collect()
    }

    /// Asks every program that was not asked yet, in the background: the list does not wait for slow programs. Every
    /// browser gets it again when one has answered.
    fn ask_versions(self: &Arc<Self>) {
        for entry in self.catalogue.entries() {
            if self.state().versions.contains_key(&entry.cli_type) || entry.find().is_none() {
                continue;
            }
            self.state().versions.insert(entry.cli_type.clone(), None);
            let (agents, entry) = (self.clone(), entry.clone());
            tokio::spawn(async move {
                let version = entry.version(&agents.guard).await;
                let version = version.as_deref().map(liminal_render::visible);
                agents.state().versions.insert(entry.cli_type.clone(), version);
                if let Some(is_logged_in) = entry.is_logged_in(&agents.guard).await {
                    agents.state().logins.insert(entry.cli_type, is_logged_in);
                }
                agents.hub.broadcast(ServerMessage::AgentsList { agents: agents.list() });
            });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The status of an agent. If each session has a process of its own, the one furthest along counts.
    fn status(&self, cli_type: &CliType) -> AgentStatus {
        let rank = |status: &AgentStatus| match status {
            AgentStatus::Idle => 0,
            AgentStatus::Disconnected => 1,
            AgentStatus::Reconnecting => 2,
            AgentStatus::Starting => 3,
            AgentStatus::Connected => 4,
        };
        let its = self.statuses.values().filter(|change| change.cli_type == *cli_type);
        its.map(|change| change.status).max_by_key(rank).unwrap_or(AgentStatus::Idle)
    }
}

fn message(change: &StatusChange) -> ServerMessage {
    ServerMessage::AgentStatus {
        cli_type: change.cli_type.clone(),
        status: change.status,
        session_id: change.session_id.clone(),
        attempt: change.attempt,
        retry_at: change.retry_at,
        details: change.details.clone().map(shown),
    }
}
