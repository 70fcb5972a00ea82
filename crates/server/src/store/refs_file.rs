//! `agent-ids.json`: what agents called our sessions, beyond the list: the ids they gave later (after `/clear`, say),
//! and those of deleted sessions. Without it their own files of these would look like sessions made outside.

use std::collections::BTreeSet;
use std::path::Path;

use liminal_contract::SessionId;
use serde::{Deserialize, Serialize};

use super::{Document, JsonFile, StoreError};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Refs {
    /// Each with its agent, like the id of a session.
    ids: BTreeSet<SessionId>,
}

impl Document for Refs {
    const FILE: &'static str = "agent-ids.json";
    const LIST: &'static str = "ids";
}

/// The ids, on disk.
#[derive(Debug)]
pub struct RefsFile(JsonFile<Refs>);

impl RefsFile {
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// Returns when it is on disk. If it can't be written, the session may be offered as one made outside.
    pub async fn add(&self, id: SessionId) {
        let change = move |file: &mut Refs| {
            file.ids.insert(id);
            Ok::<_, StoreError>(())
        };
        if let Err(error) = self.0.change(change, |()| {}).await {
            tracing::warn!(%error, "an agent's id of a session was not written");
        }
    }

    pub fn add_later(&self, id: SessionId) {
        self.0.change_later(move |file| {
            file.ids.insert(id);
        });
    }

    pub fn has(&self, id: &SessionId) -> bool {
        self.0.look(|file| file.ids.contains(id)).unwrap_or(false)
    }

    /// All of them; none if the file can't be read.
    pub fn all(&self) -> BTreeSet<SessionId> {
        self.0.look(|file| file.ids.clone()).unwrap_or_default()
    }
}
