//! Folding the write-ahead log back into the database, on a connection and thread of its own, so that no commit
//! waits for it.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;

use super::JournalError;

/// About four megabytes of log at SQLite's page size.
const EVERY_PAGES: i64 = 1000;

/// Tells the checkpointing thread that there was a commit.
pub struct Checkpoints {
    wake: SyncSender<()>,
}

impl Checkpoints {
    /// Starts the thread. It ends when this is dropped.
    pub fn start(path: &Path) -> Result<Self, JournalError> {
        let connection = Connection::open(path)?;
        // Folding is ours to time here, and only here.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let (wake, woken) = sync_channel(1);
        thread::Builder::new()
            .name("checkpoint".into())
            .spawn(move || {
                while woken.recv().is_ok() {
                    if let Err(error) = fold(&connection) {
                        tracing::warn!(%error, "the journal's log could not be folded yet");
                    }
                }
            })
            .map_err(|error| JournalError::Open(error.to_string()))?;
        Ok(Self { wake })
    }

    /// There was a commit. Cheap: while the thread is busy, one reminder is enough.
    pub fn committed(&self) {
        let _reminded_already = self.wake.try_send(());
    }
}

fn fold(connection: &Connection) -> rusqlite::Result<()> {
    let (in_log, folded): (i64, i64) =
        connection
            .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok((row.get(1)?, row.get(2)?)))?;
    if in_log - folded >= EVERY_PAGES {
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    }
    Ok(())
}
