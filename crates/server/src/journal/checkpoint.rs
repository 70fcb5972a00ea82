//! Folding the write-ahead log back into the database, on a connection and thread of its own, so that no commit
//! waits for it.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use super::JournalError;

/// About four megabytes of log at SQLite's page size.
const EVERY_PAGES: i64 = 1000;

/// A log longer than this begins anew as soon as nobody reads in it.
pub(super) const MOST_PAGES: i64 = 2 * EVERY_PAGES;

/// How long a commit may have to wait for a reader while the log is begun anew; then it is tried again later.
const PATIENCE: Duration = Duration::from_millis(20);

/// Tells the checkpointing thread that there was a commit.
pub struct Checkpoints {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread. It ends, and its connection is closed, when this is dropped.
    pub fn start(path: &Path) -> Result<Self, JournalError> {
        let connection = Connection::open(path)?;
        // Folding is ours to time here, and only here.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.busy_timeout(PATIENCE)?;
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("checkpoint".into())
            .spawn(move || {
                while woken.recv().is_ok() {
                    if let Err(error) = fold(&connection) {
                        tracing::warn!(%error, "the journal's log could not be folded yet");
                    }
                }
            })
            .map_err(|error| JournalError::Open(error.to_string()))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    /// There was a commit. Cheap: while the thread is busy, one reminder is enough.
    pub fn committed(&self) {
        if let Some(wake) = &self.wake {
            let _reminded_already = wake.try_send(());
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn fold(connection: &Connection) -> rusqlite::Result<()> {
    let (in_log, folded) = checkpoint(connection, "NOOP")?;
    if in_log - folded < EVERY_PAGES && in_log < MOST_PAGES {
        return Ok(());
    }
    let (in_log, folded) = checkpoint(connection, "PASSIVE")?;
    // Under steady commits there is always one more behind what was folded, and the log would never begin anew. So
    // once it is long the next commit waits for the few pages that are left, unless a reader still needs the log.
    if in_log >= MOST_PAGES && in_log - folded < EVERY_PAGES {
        checkpoint(connection, "TRUNCATE")?;
    }
    Ok(())
}

/// The pages in the log, and how many of them are in the database.
fn checkpoint(connection: &Connection, how: &str) -> rusqlite::Result<(i64, i64)> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
        Ok((row.get(1)?, row.get(2)?))
    })
}
