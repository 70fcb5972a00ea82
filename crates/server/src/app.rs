//! The state that every request can reach. Made once, at start, and shared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use liminal_agents::catalogue::Catalogue;
use liminal_agents::process::GuardCommand;
use liminal_contract::{ErrorCode, Frame, KeepingState, ServerMessage};
use tokio::sync::{mpsc, watch};

use crate::agents::Agents;
use crate::assets::Assets;
use crate::attachments::Attachments;
use crate::changes::Changes;
use crate::config::Config;
use crate::door::{Addresses, Credential, Logins, OneTimeCodes, Pass};
use crate::failure::Failure;
use crate::feed::{Hub, Outbox};
use crate::files::Files;
use crate::journal::{self, Health, Journal};
use crate::keeping::Keeping;
use crate::marks::Marks;
use crate::outside::Outside;
use crate::projects::Projects;
use crate::providers;
use crate::search::Search;
use crate::sessions::{AtWork, NowRequests, SessionService, Surroundings, Unread, start_now};
use crate::store::{ChoicesFile, ComparisonsFile, KeepingFile, RefsFile, SessionsFile, TrustFile};
use crate::workspaces::Workspaces;

/// The running program.
pub struct App {
    pub addresses: Addresses,
    pub credential: Credential,
    /// For the links we open in a browser ourselves.
    pub codes: OneTimeCodes,
    pub logins: Logins,
    pub assets: Assets,
    pub data_dir: PathBuf,
    pub hub: Arc<Hub>,
    pub projects: Arc<Projects>,
    pub agents: Arc<Agents>,
    pub service: Arc<SessionService>,
    pub now: NowRequests,
    pub changes: Arc<Changes>,
    pub files: Files,
    pub keeping: Arc<Keeping>,
    /// Which processes are ours.
    pub marks: Marks,
    warnings: Vec<String>,
}

impl App {
    /// Opens everything in the data directory.
    pub async fn open(
        config: &Config,
        data_dir: &Path,
        addresses: Addresses,
        credential: Credential,
        assets: Assets,
    ) -> Result<Self, Failure> {
        let hub = Arc::new(Hub::default());
        let opened = Journal::open(data_dir)?;
        let journal = opened.journal;
        let projects = Arc::new(Projects::open(data_dir));
        let sessions = Arc::new(SessionsFile::open(data_dir, &journal));
        let trust = Arc::new(TrustFile::open(data_dir));
        let choices = ChoicesFile::open(data_dir);
        let comparisons = ComparisonsFile::open(data_dir);
        let refs = RefsFile::open(data_dir);
        let keeping = KeepingFile::open(data_dir);
        let logins = Logins::open(data_dir);
        let troubles = [
            projects.trouble(),
            sessions.trouble(),
            trust.trouble(),
            choices.trouble(),
            comparisons.trouble(),
            refs.trouble(),
            keeping.trouble(),
            logins.trouble(),
        ];
        let mut warnings: Vec<String> =
            troubles.into_iter().flatten().map(|error| error.to_string()).collect();
        warnings.extend(opened.set_aside.map(|aside| {
            format!(
                "the journal was damaged and is kept as {}; \
                 transcripts are read again from the agents that keep their own history",
                aside.display()
            )
        }));
        if opened.is_new && sessions.were_used() {
            warnings.push(format!(
                "{} was missing or empty, so earlier transcripts are gone; restore a backup, \
                 otherwise they are read again from the agents that keep their own history",
                data_dir.join(journal::FILE).display()
            ));
        }
        let search = Search::start(data_dir, &journal, sessions.clone())?;

        let own = providers::own_executable();
        let catalogue = Catalogue::read(data_dir, &config.overrides(), &own);
        warnings.extend(catalogue.problems().iter().map(ToString::to_string));
        let marks = Marks::record(data_dir).map_err(|error| {
            let what = format!("cannot write to the data directory: {error}");
            Failure::new(ErrorCode::InternalError, what)
        })?;
        let guard = GuardCommand { server: marks.own(), ..GuardCommand::own_executable() };
        let (statuses, changes) = mpsc::unbounded_channel();
        let registry = providers::register(&catalogue, config, data_dir, &guard, &statuses, &trust);
        let outside = Outside::new(&catalogue, data_dir);
        let workspaces = Workspaces::beside(data_dir, guard.clone());
        let agents = Agents::new(catalogue, guard, hub.clone());
        agents.follow(changes);

        let file_changes = Changes::new(data_dir, journal.clone());
        let file_changes = Arc::new(file_changes.marking(marks.own().unguarded()));
        let service = SessionService::start(Surroundings {
            journal,
            attachments: Arc::new(Attachments::open(data_dir)),
            changes: file_changes.clone(),
            workspaces,
            trust,
            search,
            hub: hub.clone(),
            projects: projects.clone(),
            sessions,
            choices,
            comparisons,
            refs,
            registry,
            policy: config.permissions,
            patience: config.prompt_timeout,
            idle: config.idle,
            at_work: AtWork::default(),
            unread: Unread::default(),
        })
        .await?;
        let now = start_now(&service);
        let keeping =
            Keeping::start(outside, keeping, service.clone(), projects.clone(), hub.clone());
        broadcast_health(service.around().journal.health(), hub.clone());
        let codes = OneTimeCodes::default();
        let data_dir = data_dir.to_owned();
        Ok(Self {
            addresses,
            credential,
            codes,
            logins,
            assets,
            data_dir,
            hub,
            projects,
            agents,
            service,
            now,
            changes: file_changes,
            files: Files::default(),
            keeping,
            marks,
            warnings,
        })
    }

    /// Whether this pass is still valid.
    pub fn admits(&self, pass: &Pass) -> bool {
        match pass {
            Pass::Token(token) => self.credential.matches(token),
            Pass::Browser(browser) => self.logins.knows(browser),
        }
    }

    /// Sends a browser that just connected the state of the agents and the journal.
    pub fn greet(&self, outbox: &Outbox) {
        self.agents.greet(outbox);
        let progress = self.keeping.progress();
        if progress.state == KeepingState::Keeping {
            let message = ServerMessage::OutsideProgress { progress };
            outbox.reply(&Frame { request_id: None, message });
        }
        if let Some(message) = trouble(&self.service.around().journal.health().borrow()) {
            outbox.reply(&Frame { request_id: None, message });
        }
    }

    /// For the terminal, before the first request.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Tells every browser when the journal can no longer be written.
fn broadcast_health(mut health: watch::Receiver<Health>, hub: Arc<Hub>) {
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
                "The journal can't be written ({reason}), so nothing new is shown. \
                 Free some disk space; output then continues."
            );
            Some(Failure::new(ErrorCode::StoreFull, message).into_message())
        }
        Health::Gone { file, rescued } => {
            let saved = match rescued {
                Ok(copy) => format!(
                    "Everything up to then is saved in {}. Stop Liminal Builder, rename that file to \
                     journal.db, and start it again.",
                    copy.display()
                ),
                Err(reason) => format!("The transcripts could not be saved either: {reason}."),
            };
            let message = format!(
                "{} was removed while Liminal Builder was running, so nothing new is saved or shown. {saved}",
                file.display()
            );
            Some(Failure::new(ErrorCode::StoreCorrupt, message).into_message())
        }
    }
}
