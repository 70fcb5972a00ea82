//! `trust.json`: the projects whose own agent settings the user allowed.

use std::path::Path;

use liminal_agents::claude::Trust;
use serde::{Deserialize, Serialize};

use super::{Document, JsonFile, StoreError};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Trusted {
    directories: Vec<String>,
}

impl Document for Trusted {
    const FILE: &'static str = "trust.json";
    const LIST: &'static str = "directories";
}

/// The confirmations, on disk. A file that can't be read confirms nothing: the user is asked again.
#[derive(Debug)]
pub struct TrustFile(JsonFile<Trusted>);

impl TrustFile {
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// A copy of a project that the user allowed is allowed too.
    pub fn extend(&self, project: &Path, copy: &Path) {
        if self.is_confirmed(project) {
            self.confirm(copy);
        }
    }
}

impl Trust for TrustFile {
    fn is_confirmed(&self, project: &Path) -> bool {
        let project = project.to_string_lossy();
        self.0.look(|file| file.directories.iter().any(|known| *known == project)).unwrap_or(false)
    }

    fn confirm(&self, project: &Path) {
        let project = project.to_string_lossy().into_owned();
        self.0.change_later(move |file| {
            if !file.directories.contains(&project) {
                file.directories.push(project);
            }
        });
    }
}
