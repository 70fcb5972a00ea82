//! Opening the journal: set a damaged one aside, close what an earlier run left open.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use liminal_contract::Timestamp;
use rusqlite::{Connection, ErrorCode};

use super::interrupt::close_what_is_open;
use super::{FILE, Journal, Readers, schema};

/// The journal could not be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A newer program wrote it.
    #[error("{} was written by a newer version of this program (schema {found}). Start that one, or move the file away.", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
    },
    /// It could not be opened.
    #[error("The journal could not be opened: {0}")]
    Open(String),
    /// It could not be read.
    #[error("The journal could not be read: {0}")]
    Read(String),
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Read(error.to_string())
    }
}

/// The journal, and what the user should know about its opening.
pub struct Opened {
    /// Ready.
    pub journal: Journal,
    /// Where a damaged one was put.
    pub set_aside: Option<PathBuf>,
}

/// Opens `journal.db` in a directory.
pub fn open(directory: &Path) -> Result<Opened, JournalError> {
    let path = directory.join(FILE);
    let (connection, set_aside) = match prepare(&path) {
        Ok(connection) => (connection, None),
        Err(Failure::Damaged(reason)) => {
            let aside = set_aside(&path).map_err(|error| {
                JournalError::Open(format!(
                    "{} is damaged ({reason}) and could not be moved away: {error}",
                    path.display()
                ))
            })?;
            tracing::error!(%reason, aside = %aside.display(), "the journal was damaged and has been set aside");
            let connection = prepare(&path).map_err(|failure| match failure {
                Failure::Damaged(reason) => JournalError::Open(reason),
                Failure::Other(error) => error,
            })?;
            (connection, Some(aside))
        }
        Err(Failure::Other(error)) => return Err(error),
    };
    let readers = Readers { path, idle: Mutex::new(Some(Vec::new())) };
    Ok(Opened { journal: Journal::start(connection, readers)?, set_aside })
}

/// Why a journal could not be made ready.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something in the file.
    Damaged(String),
    /// Something else.
    Other(JournalError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        // Where the machine is at fault, the file may be whole. All else is the file's: its tables, too, may say
        // something that can't be, and its header that it must not be written (we have just seen that it can).
        match error.sqlite_error_code() {
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted,
            ) => Self::Other(error.into()),
            _ => Self::Damaged(error.to_string()),
        }
    }
}

fn prepare(path: &Path) -> Result<Connection, Failure> {
    restrict(path).map_err(|error| {
        Failure::Other(JournalError::Open(format!("{}: {error}", path.display())))
    })?;
    let mut connection = schema::connect_writer(path)?;
    let transaction = connection.transaction()?;
    close_what_is_open(&transaction, None)?;
    transaction.commit()?;
    Ok(connection)
}

/// Makes the file ours alone before SQLite, which would make it readable to others, does.
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let stamp = Timestamp::from(SystemTime::now()).to_string().replace([':', '.'], "-");
    let aside = path.with_extension(format!("db.damaged-{stamp}"));
    fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        match fs::rename(with(path), with(&aside)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}
