//! The agents as browsers see them: which there are, whether they can be used, what their processes are doing.
//!
//! How an agent is driven is the agents crate's business; this keeps what it tells and passes it on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_agents::StatusChange;
use liminal_agents::catalogue::Catalogue;
use liminal_agents::process::GuardCommand;
use liminal_contract::{Agent, AgentStatus, CliType, Frame, ServerMessage, SessionId};
use tokio::sync::mpsc;

use crate::ws::{Hub, Outbox};

/// What is known of every agent.
pub struct Agents {
    catalogue: Catalogue,
    guard: GuardCommand,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last word about each process: of an agent kind, or of one session.
    said: HashMap<(CliType, Option<SessionId>), StatusChange>,
    /// What each program said of itself; present once it was asked.
    versions: HashMap<CliType, Option<String>>,
}

impl Agents {
    /// Of this catalogue; versions are asked for under this guard.
    pub fn new(catalogue: Catalogue, guard: GuardCommand) -> Arc<Self> {
        Arc::new(Self { catalogue, guard, state: Mutex::default() })
    }

    /// Passes every change on to every browser, and keeps it for those who come later.
    pub fn follow(
        self: &Arc<Self>,
        mut changes: mpsc::UnboundedReceiver<StatusChange>,
        hub: Arc<Hub>,
    ) {
        let agents = self.clone();
        tokio::spawn(async move {
            while let Some(change) = changes.recv().await {
                // Kept first: whoever comes between the two is told twice rather than not at all.
                agents.keep(&change);
                hub.broadcast(message(&change));
            }
        });
    }

    /// Tells a browser that just came how things are.
    pub fn greet(&self, outbox: &Outbox) {
        let mut said: Vec<StatusChange> = self.state().said.values().cloned().collect();
        said.sort_by(|a, b| (&a.cli_type, &a.session_id).cmp(&(&b.cli_type, &b.session_id)));
        for change in &said {
            outbox.reply(&Frame { request_id: None, message: message(change) });
        }
    }

    /// The last word about a process counts. That of a session rests unless something else is said.
    fn keep(&self, change: &StatusChange) {
        let about = (change.cli_type.clone(), change.session_id.clone());
        let mut state = self.state();
        if about.1.is_some() && change.status == AgentStatus::Idle {
            state.said.remove(&about);
        } else {
            state.said.insert(about, change.clone());
        }
    }

    /// The catalogue, each with its state.
    pub fn list(self: &Arc<Self>) -> Vec<Agent> {
        self.ask_versions();
        let state = self.state();
        self.catalogue
            .entries()
            .iter()
            .map(|entry| Agent {
                cli_type: entry.cli_type.clone(),
                name: entry.name.clone(),
                status: state
                    .said
                    .get(&(entry.cli_type.clone(), None))
                    .map_or(AgentStatus::Idle, |change| change.status),
                ready: entry.readiness(),
                version: state.versions.get(&entry.cli_type).cloned().flatten(),
                install: entry.install.clone(),
                login: entry.login.clone(),
                builtin: entry.builtin,
            })
            .collect()
    }

    /// Asks every program that was not asked yet, behind the scenes: the list does not wait for slow programs.
    fn ask_versions(self: &Arc<Self>) {
        for entry in self.catalogue.entries() {
            if self.state().versions.contains_key(&entry.cli_type) || entry.find().is_none() {
                continue;
            }
            self.state().versions.insert(entry.cli_type.clone(), None);
            let (agents, entry) = (self.clone(), entry.clone());
            tokio::spawn(async move {
                let version = entry.version(&agents.guard).await;
                agents.state().versions.insert(entry.cli_type, version);
            });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn message(change: &StatusChange) -> ServerMessage {
    ServerMessage::AgentStatus {
        cli_type: change.cli_type.clone(),
        status: change.status,
        session_id: change.session_id.clone(),
        attempt: change.attempt,
        retry_at: change.retry_at,
        details: change.details.clone(),
    }
}
