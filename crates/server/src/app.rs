//! What every request may reach. Made once, at start, and shared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use liminal_agents::catalogue::Catalogue;
use liminal_agents::process::GuardCommand;
use liminal_contract::{ErrorCode, Frame, ServerMessage};
use tokio::sync::{mpsc, watch};

use crate::agents::Agents;
use crate::assets::Assets;
use crate::config::Config;
use crate::door::{Addresses, Credential, OneTimeCodes};
use crate::failure::Failure;
use crate::journal::{Health, Journal};
use crate::projects::Projects;
use crate::providers;
use crate::search::Search;
use crate::sessions::{SessionService, Surroundings};
use crate::store::{SessionsFile, TrustFile};
use crate::ws::{Hub, Outbox};

/// The running program.
pub struct App {
    /// The names we answer to.
    pub addresses: Addresses,
    /// The secret.
    pub credential: Credential,
    /// The links we opened ourselves.
    pub codes: OneTimeCodes,
    /// The page.
    pub assets: Assets,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// Every connected browser.
    pub hub: Arc<Hub>,
    /// The user's projects.
    pub projects: Arc<Projects>,
    /// What is known of every agent.
    pub agents: Arc<Agents>,
    /// Every session.
    pub service: Arc<SessionService>,
    warnings: Vec<String>,
}

impl App {
    /// Opens what the data directory holds.
    pub async fn open(
        config: &Config,
        data_dir: &Path,
        addresses: Addresses,
        credential: Credential,
        assets: Assets,
    ) -> Result<Self, Failure> {
        let hub = Arc::new(Hub::default());
        let projects = Arc::new(Projects::open(data_dir));
        let sessions = Arc::new(SessionsFile::open(data_dir));
        let trust = Arc::new(TrustFile::open(data_dir));
        let mut warnings: Vec<String> = [projects.trouble(), sessions.trouble(), trust.trouble()]
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect();

        let journal = Journal::open(data_dir)?;
        warnings.extend(journal.set_aside.map(|aside| {
            format!("the journal was damaged and is kept as {}; sessions are read from their agents where those can tell them", aside.display())
        }));
        let journal = journal.journal;
        let search = Search::start(data_dir, &journal, sessions.clone())?;

        let own = providers::own_executable();
        let catalogue = Catalogue::read(data_dir, &config.overrides(), &own);
        warnings.extend(catalogue.problems().iter().map(ToString::to_string));
        let guard = GuardCommand::own_executable();
        let (statuses, changes) = mpsc::unbounded_channel();
        let registry = providers::register(&catalogue, config, data_dir, &guard, &statuses, &trust);
        let agents = Agents::new(catalogue, guard);
        agents.follow(changes, hub.clone());

        let service = SessionService::start(Surroundings {
            journal,
            search,
            hub: hub.clone(),
            projects: projects.clone(),
            sessions,
            registry,
            policy: config.permissions,
            patience: config.prompt_timeout,
            idle: config.idle,
        })
        .await?;
        tell_health(service.around().journal.health(), hub.clone());
        let codes = OneTimeCodes::default();
        let data_dir = data_dir.to_owned();
        Ok(Self {
            addresses,
            credential,
            codes,
            assets,
            data_dir,
            hub,
            projects,
            agents,
            service,
            warnings,
        })
    }

    /// Tells a browser that just came how things are.
    pub fn greet(&self, outbox: &Outbox) {
        self.agents.greet(outbox);
        if let Some(message) = trouble(&self.service.around().journal.health().borrow()) {
            outbox.reply(&Frame { request_id: None, message });
        }
    }

    /// What the user should know before the first request.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Tells everyone when nothing can be written any more.
fn tell_health(mut health: watch::Receiver<Health>, hub: Arc<Hub>) {
    tokio::spawn(async move {
        while health.changed().await.is_ok() {
            let message = trouble(&health.borrow_and_update());
            if let Some(message) = message {
                hub.broadcast(message);
            }
        }
    });
}

fn trouble(health: &Health) -> Option<ServerMessage> {
    match health {
        Health::Good => None,
        Health::Full { reason } => {
            let message = format!(
                "The journal can't be written ({reason}), so nothing new is shown. Make room on the disk; work goes on by itself then."
            );
            Some(Failure::new(ErrorCode::StoreFull, message).into_message())
        }
    }
}
