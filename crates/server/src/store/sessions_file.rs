//! `sessions.json`: what we know of every session besides what was said in it.
//!
//! The agent's own files hold the conversation, the journal holds ours; this holds the list.

use std::path::Path;

use liminal_contract::{CliType, Policy, ProjectId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, JsonFile, StoreError};

/// One session of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// The session.
    pub id: SessionId,
    /// Where it works. The project may have been removed; adding its directory again brings the session back.
    pub project_id: ProjectId,
    /// Which agent.
    pub cli_type: CliType,
    /// Hidden from the sidebar.
    pub archived: bool,
    /// "New Session" until the first message.
    pub title: String,
    /// Changes on send and on turn end.
    pub last_active_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// What the agent calls it, when that is not the id's own part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_ref: Option<String>,
    /// Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Who gave it its title. Absent in files of the original: derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_by: Option<TitleBy>,
    /// What another version wrote here and we don't know. Kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Who gave a session its title. A later one wins over an earlier one of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    /// We, from the first message.
    Derived,
    /// The agent.
    Agent,
    /// The user.
    User,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Sessions {
    sessions: Vec<SessionRecord>,
}

impl Document for Sessions {
    const FILE: &'static str = "sessions.json";
    const LIST: &'static str = "sessions";
}

/// The list of sessions, on disk.
#[derive(Debug)]
pub struct SessionsFile(JsonFile<Sessions>);

impl SessionsFile {
    /// Reads the file of this data directory.
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used, when it can't.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// Every session, in the order they were made.
    pub fn all(&self) -> Result<Vec<SessionRecord>, StoreError> {
        self.0.look(|file| file.sessions.clone())
    }

    /// One session.
    pub fn get(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        self.0.look(|file| file.sessions.iter().find(|record| record.id == *id).cloned())
    }

    /// Adds a session or replaces what is known of it. Returns when it is on disk.
    pub async fn put(&self, record: SessionRecord) -> Result<(), StoreError> {
        let change = move |file: &mut Sessions| {
            put(&mut file.sessions, record);
            Ok(())
        };
        self.0.change(change, |()| {}).await
    }

    /// Changes one session, if it is still there. Returns its new state when that is on disk.
    pub async fn update(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut SessionRecord) + Send + 'static,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let change = move |file: &mut Sessions| {
            Ok(file.sessions.iter_mut().find(|record| record.id == id).map(|record| {
                change(record);
                record.clone()
            }))
        };
        self.0.change(change, |_record| {}).await
    }

    /// The same without waiting: for what the journal can restore.
    pub fn update_later(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut SessionRecord) + Send + 'static,
    ) {
        self.0.change_later(move |file| {
            if let Some(record) = file.sessions.iter_mut().find(|record| record.id == id) {
                change(record);
            }
        });
    }

    /// Forgets a session. Returns when that is on disk.
    pub async fn remove(&self, id: SessionId) -> Result<(), StoreError> {
        self.0
            .change(
                move |file| {
                    file.sessions.retain(|record| record.id != id);
                    Ok(())
                },
                |()| {},
            )
            .await
    }
}

fn put(sessions: &mut Vec<SessionRecord>, record: SessionRecord) {
    match sessions.iter_mut().find(|known| known.id == record.id) {
        Some(known) => *known = record,
        None => sessions.push(record),
    }
}
