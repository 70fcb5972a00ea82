//! Folding the write-ahead log back into the database, on a connection and thread of its own, so that no commit
//! waits for it.

use std::ffi::c_int;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::JournalError;

/// About four megabytes of log at SQLite's page size.
const EVERY_PAGES: i64 = 1000;

/// A log longer than this begins anew as soon as nobody reads in it.
pub(super) const MOST_PAGES: i64 = 2 * EVERY_PAGES;

/// How long a commit may have to wait for a reader while the log is begun anew; then it is tried again later.
const PATIENCE: Duration = Duration::from_millis(20);

/// After so many more pages in the log it is looked whether to fold. Not after each commit: that would take a processor
/// from whoever is to be told of it.
const LOOK_EVERY: c_int = 100;

/// The folding thread. It ends when the connection that commits is closed, and is waited for when this is dropped.
pub struct Checkpoints(Option<JoinHandle<()>>);

impl Checkpoints {
    /// Starts the thread, which `commits` reminds from now on.
    pub fn start(path: &Path, commits: &mut Connection) -> Result<Self, JournalError> {
        let connection = Connection::open(path)?;
        // Folding is ours to time here, and only here.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.busy_timeout(PATIENCE)?;
        let (wake, woken) = sync_channel(1);
        commits.wal_hook(Some(reminder(wake)))?;
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
        Ok(Self(Some(thread)))
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _panicked = thread.join();
        }
    }
}

/// Is told after each commit how many pages the log has.
fn reminder(wake: SyncSender<()>) -> impl FnMut(&mut Wal, c_int) -> rusqlite::Result<()> + Send {
    let mut looked_at = 0;
    move |_, pages| {
        // A log that is shorter than it was began anew.
        looked_at = pages.min(looked_at);
        if pages - looked_at >= LOOK_EVERY {
            looked_at = pages;
            // While the thread is busy, one reminder is enough.
            let _reminded_already = wake.try_send(());
        }
        Ok(())
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
