//! Opens the journal: sets a damaged one aside, and closes the turns an earlier run left open.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use liminal_contract::Timestamp;
use rusqlite::{Connection, ErrorCode};

use super::interrupt::close_interrupted;
use super::write::delete_session;
use super::{FILE, Journal, Reader, Readers, facts, schema};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "{} was written by a newer version of Liminal Builder (schema {found}). \
         Start that version, or move the file away.",
        path.display()
    )]
    Newer {
        path: PathBuf,
        /// Its schema version.
        found: i64,
    },
    /// It must be migrated and could not be copied before.
    #[error(
        "{} was written by an older version and could not be copied before upgrading it: \
         {reason}. Nothing was changed. Free some disk space, then start again", path.display()
    )]
    NoCopy { path: PathBuf, reason: String },
    #[error("The journal could not be opened: {0}")]
    Open(String),
    #[error("The journal could not be read: {0}")]
    Read(String),
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Read(error.to_string())
    }
}

/// The journal, and what happened when it was opened.
pub struct Opened {
    pub journal: Journal,
    /// Where a damaged journal was moved, or the log of a missing one.
    pub set_aside: Option<PathBuf>,
    /// The file was missing or empty.
    pub is_new: bool,
}

pub fn open(directory: &Path) -> Result<Opened, JournalError> {
    let path = directory.join(FILE);
    let failed = |error| JournalError::Open(format!("{}: {error}", path.display()));
    let is_new = restrict(&path).map_err(failed)? == 0;
    // SQLite deletes the log of an empty database, so it is set aside first.
    let log = fs::metadata(beside(&path, "-wal")).map_or(0, |log| log.len());
    let orphaned = (is_new && log > 0).then(|| set_aside(&path)).transpose().map_err(failed)?;
    let (connection, set_aside) = match prepare(&path) {
        Ok(connection) => (connection, orphaned),
        Err(OpenFailure::Damaged(reason)) => {
            let aside = set_aside(&path).map_err(|error| {
                JournalError::Open(format!(
                    "{} is damaged ({reason}) and could not be moved away: {error}",
                    path.display()
                ))
            })?;
            let file = aside.display();
            tracing::error!(%reason, %file, "the journal was damaged and has been set aside");
            let connection = prepare(&path).map_err(|failure| match failure {
                OpenFailure::Damaged(reason) => JournalError::Open(reason),
                OpenFailure::Other(error) => error,
            })?;
            (connection, Some(aside))
        }
        Err(OpenFailure::Other(error)) => return Err(error),
    };
    let readers = Readers { path, idle: Mutex::new(Some(Vec::new())) };
    Ok(Opened { journal: Journal::start(connection, readers)?, set_aside, is_new })
}

#[derive(Debug)]
pub(super) enum OpenFailure {
    /// The file is at fault.
    Damaged(String),
    Other(JournalError),
}

impl From<rusqlite::Error> for OpenFailure {
    fn from(error: rusqlite::Error) -> Self {
        // If the machine is at fault, the file may be intact. Every other error is the file's fault: its tables may be
        // inconsistent, its header may say that it is read-only (we have just seen that it isn't), or a row may claim
        // to be larger than memory.
        match error.sqlite_error_code() {
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OperationInterrupted,
            ) => Self::Other(error.into()),
            _ => Self::Damaged(error.to_string()),
        }
    }
}

fn prepare(path: &Path) -> Result<Connection, OpenFailure> {
    restrict(path).map_err(|error| {
        OpenFailure::Other(JournalError::Open(format!("{}: {error}", path.display())))
    })?;
    let mut connection = schema::connect_writer(path)?;
    let transaction = connection.transaction()?;
    close_interrupted(&transaction, None)?;
    facts::return_handed(&transaction)?;
    // Everything the server reads while it starts, so that damage is found while a new journal can still be created.
    let reader = Reader::new(&transaction);
    for change in reader.listed()? {
        if change.record.is_none() {
            // An earlier version did this later, and a killed server not at all.
            delete_session(&transaction, &change.session)?;
        }
    }
    reader.activity()?;
    reader.ended_badly()?;
    reader.unread()?;
    transaction.commit()?;
    Ok(connection)
}

/// Creates a file that only we can read; SQLite would make it readable to others. Returns its length.
pub(super) fn restrict(path: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file.metadata()?.len())
}

/// The path with a suffix added to its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let stamp = Timestamp::from(SystemTime::now()).to_string().replace([':', '.'], "-");
    let aside = path.with_extension(format!("db.damaged-{stamp}"));
    fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        match fs::rename(beside(path, suffix), beside(&aside, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}
