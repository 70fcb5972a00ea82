//! `keeping.json`: sessions made outside that the user asked to keep and that are not all here yet, and whether new
//! ones are kept without being asked for.

use std::path::Path;

use liminal_contract::{ProjectId, SessionId};
use serde::{Deserialize, Serialize};

use super::{Document, JsonFile, StoreError};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Keeping {
    waiting: Vec<Waiting>,
    #[serde(default)]
    automatic: bool,
}

impl Document for Keeping {
    const FILE: &'static str = "keeping.json";
    const LIST: &'static str = "waiting";
}

/// A session to keep, and the project it goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    pub project_id: ProjectId,
    pub session_id: SessionId,
}

#[derive(Debug)]
pub struct KeepingFile(JsonFile<Keeping>);

impl KeepingFile {
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// What was still to be kept when the file was written.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.0.look(|file| file.waiting.clone()).unwrap_or_default()
    }

    /// `waiting` is called when it is this change's turn.
    pub async fn set_waiting(
        &self,
        waiting: impl FnOnce() -> Vec<Waiting> + Send + 'static,
    ) -> Result<(), StoreError> {
        let change = move |file: &mut Keeping| {
            file.waiting = waiting();
            Ok(())
        };
        self.0.change(change, |()| {}).await
    }

    /// Whether new ones are kept without being asked for.
    pub fn is_automatic(&self) -> bool {
        self.0.look(|file| file.automatic).unwrap_or_default()
    }

    pub async fn set_automatic(&self, on: bool) -> Result<(), StoreError> {
        let change = move |file: &mut Keeping| {
            file.automatic = on;
            Ok(())
        };
        self.0.change(change, |()| {}).await
    }
}
