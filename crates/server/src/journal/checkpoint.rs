//! Folds the write-ahead log back into the database, on a separate connection and thread, so that no commit waits for
//! it.

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

/// A longer log is truncated as soon as no reader needs it.
pub(super) const MOST_PAGES: i64 = 2 * EVERY_PAGES;

/// On a busy machine the folding thread may not get a turn. A commit that finds the log this long folds it.
const TOO_MANY_PAGES: c_int = 3 * 1000;

/// How long a commit may have to wait for a reader while the log is truncated; after that it is tried again later.
const PATIENCE: Duration = Duration::from_millis(20);

/// How many pages the log grows between checks. Checking after each commit would take processor time from sending it to
/// browsers.
const LOOK_EVERY: c_int = 100;

/// The folding thread. It ends when the committing connection is closed; dropping this waits for it.
pub struct Checkpoints(Option<JoinHandle<()>>);

impl Checkpoints {
    /// Starts the thread. `commits` wakes it from now on.
    pub fn start(path: &Path, commits: &mut Connection) -> Result<Self, JournalError> {
        let connection = Connection::open(path)?;
        // Only this thread decides when to fold.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.busy_timeout(PATIENCE)?;
        let (wake, woken) = sync_channel(1);
        commits.wal_hook(Some(wake_on_growth(wake)))?;
        // Each time the log starts over, the file shrinks to this.
        commits.pragma_update(None, "journal_size_limit", MOST_PAGES * 4096)?;
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

/// Called after each commit with the number of pages in the log.
fn wake_on_growth(
    wake: SyncSender<()>,
) -> impl FnMut(&mut Wal, c_int) -> rusqlite::Result<()> + Send {
    let mut looked_at = 0;
    move |log, pages| {
        // A log that is shorter than before was truncated.
        looked_at = pages.min(looked_at);
        if pages - looked_at >= LOOK_EVERY {
            looked_at = pages;
            // While the thread is busy, one pending wake-up is enough.
            let _woken_already = wake.try_send(());
            if pages >= TOO_MANY_PAGES {
                fold_now(log);
            }
        }
        Ok(())
    }
}

/// Waits a little while the thread is folding, so that the log can't outgrow it.
fn fold_now(log: &mut Wal) {
    for _ in 0..PATIENCE.as_millis() {
        if log.checkpoint().is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn fold(connection: &Connection) -> rusqlite::Result<()> {
    let (in_log, folded) = checkpoint(connection, "NOOP")?;
    if in_log - folded < EVERY_PAGES && in_log < MOST_PAGES {
        return Ok(());
    }
    let (in_log, folded) = checkpoint(connection, "PASSIVE")?;
    // Under steady commits there is always one page that isn't folded yet, and the log would never be truncated. So
    // once it is long, the next commit waits for the few remaining pages, unless a reader still needs the log.
    if in_log >= MOST_PAGES && in_log - folded < EVERY_PAGES {
        checkpoint(connection, "TRUNCATE")?;
    }
    Ok(())
}

/// The number of pages in the log, and how many of them are folded.
fn checkpoint(connection: &Connection, how: &str) -> rusqlite::Result<(i64, i64)> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
        Ok((row.get(1)?, row.get(2)?))
    })
}
