//! Checks and copies a journal, for `doctor` and `backup`. Works beside a running server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use liminal_contract::SessionId;

use super::{FILE, JournalError, schema};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Including its log.
    pub bytes: u64,
    /// `None` when it is intact.
    pub damage: Option<String>,
}

/// Checks a SQLite file; `None` when it doesn't exist.
pub fn examine(path: &Path) -> Option<Examined> {
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    if !path.exists() {
        return None;
    }
    let bytes = size(path.to_owned()) + size(PathBuf::from(format!("{}-wal", path.display())));
    let checked = schema::connect_reader(path).and_then(|connection| {
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    let damage = match checked {
        Ok(result) if result == "ok" => None,
        Ok(damage) => Some(damage),
        Err(error) => Some(error.to_string()),
    };
    Some(Examined { bytes, damage })
}

/// The sessions that a change of the list names which `sessions.json` may lack. None if the journal can't be read.
pub fn newly_listed(directory: &Path) -> Vec<SessionId> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let connection = schema::connect_reader(&directory.join(FILE))?;
        let mut statement = connection.prepare("SELECT session_id FROM listed")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    let ids = read().unwrap_or_default();
    ids.iter().filter_map(|id| SessionId::parse(id).ok()).collect()
}

/// Copies the journal of one directory into another, as a consistent snapshot.
pub fn copy(from: &Path, to: &Path) -> Result<(), JournalError> {
    let path = from.join(FILE);
    if !path.exists() {
        return Ok(());
    }
    let copy = to.join(FILE);
    schema::connect_reader(&path)?.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600))
        .map_err(|error| JournalError::Open(error.to_string()))
}
