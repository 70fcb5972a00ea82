//! What every request may reach. Made once, at start, and shared.

use std::path::Path;

use crate::assets::Assets;
use crate::door::{Addresses, Credential, OneTimeCodes};
use crate::projects::Projects;
use crate::store::SessionsFile;
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
    pub hub: Hub,
    /// The user's projects.
    pub projects: Projects,
    /// The list of sessions.
    pub sessions: SessionsFile,
}

impl App {
    /// Opens what the data directory holds.
    pub fn open(
        data_dir: &Path,
        addresses: Addresses,
        credential: Credential,
        assets: Assets,
    ) -> Self {
        Self {
            addresses,
            credential,
            codes: OneTimeCodes::default(),
            assets,
            hub: Hub::default(),
            projects: Projects::open(data_dir),
            sessions: SessionsFile::open(data_dir),
        }
    }

    /// What the user should know before the first request.
    pub fn warnings(&self) -> Vec<String> {
        [self.projects.trouble(), self.sessions.trouble()]
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect()
    }
}
