//! What every request may reach. Made once, at start, and shared.

use std::path::Path;
use std::sync::Arc;

use liminal_agents::catalogue::Catalogue;
use liminal_agents::process::GuardCommand;
use tokio::sync::mpsc;

use crate::agents::Agents;
use crate::assets::Assets;
use crate::config::Config;
use crate::door::{Addresses, Credential, OneTimeCodes};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::projects::Projects;
use crate::providers;
use crate::search::Search;
use crate::sessions::{SessionService, Surroundings};
use crate::store::{SessionsFile, TrustFile};
use crate::ws::Hub;

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

        let own = std::env::current_exe().unwrap_or_else(|_unknown| "liminal".into());
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
        })
        .await?;
        let codes = OneTimeCodes::default();
        Ok(Self { addresses, credential, codes, assets, hub, projects, agents, service, warnings })
    }

    /// What the user should know before the first request.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
