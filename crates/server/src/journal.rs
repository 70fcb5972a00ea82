//! The journal: every transcript, on disk before anyone sees it.
//!
//! One writer thread owns the writing connection and commits whatever is queued in one transaction, without ever
//! waiting for more. Readers have separate connections, so that opening a history never waits for a commit. The
//! journal knows rows; `sessions` knows what they mean. Nothing is rendered here.

mod acts;
mod attached;
mod branch;
mod checkpoint;
mod checkpoints;
mod examine;
mod facts;
mod former;
mod glance;
mod health;
mod interrupt;
mod listed;
mod long;
mod open;
mod presence;
mod read;
mod record;
mod schema;
mod stored;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use liminal_contract::SessionId;
use rusqlite::Connection;
use tokio::sync::watch;

pub use acts::{ActRow, ActState};
pub use branch::{Branch, Cut, FilesAt};
pub use checkpoints::Turns;
pub use examine::{Examined, copy, examine, newly_listed};
pub use glance::Glance;
pub use health::Health;
pub use listed::Listed;
pub use long::{Piece, plain};
pub use open::{JournalError, Opened};
pub use read::{Page, Reader, See, SessionRow};
pub use record::{Change, CheckpointRow, Item, KeptBlocks, Moment, Rendered, Request, TurnRow};
pub use schema::SEQ;
pub use stored::StoredItem;

/// The file in the data directory.
pub const FILE: &str = "journal.db";

/// A handle to the journal; cheap to clone.
#[derive(Clone)]
pub struct Journal {
    listeners: write::Listeners,
    writer: mpsc::Sender<write::Order>,
    readers: Arc<Readers>,
    health: watch::Receiver<Health>,
}

/// Runs once a batch is on disk.
pub type Committed = Box<dyn FnOnce() + Send>;

impl Journal {
    /// Opens or creates `journal.db` in a directory, closes turns an earlier run left open, and starts the writer.
    pub fn open(directory: &Path) -> Result<Opened, JournalError> {
        open::open(directory)
    }

    /// Queues changes of one session, to be committed together with `seq` as the session's last. `committed` runs on
    /// the writer's thread once they are on disk; until then none of them may be shown.
    pub fn commit(
        &self,
        session: &SessionId,
        seq: u64,
        changes: Vec<Change>,
        committed: Committed,
    ) {
        let batch = write::Batch { session: session.clone(), seq, changes, committed };
        // The writer ends only when the journal is closed, and nothing is committed after that.
        let _writer_ended = self.writer.send(write::Order::Commit(batch));
    }

    /// Queues a change of the session list, to be kept until `sessions.json` has it.
    pub fn list(&self, listed: Listed, committed: Committed) {
        let _writer_ended = self.writer.send(write::Order::List { listed, committed });
    }

    /// The user has seen every turn that has ended in a session.
    pub fn look(&self, session: &SessionId, committed: Committed) {
        let _writer_ended =
            self.writer.send(write::Order::Look { session: session.clone(), committed });
    }

    /// `sessions.json` has the list up to this version, so the journal no longer has to keep it.
    pub fn unlist(&self, version: u64) {
        let _writer_ended = self.writer.send(write::Order::Unlist { version });
    }

    /// Makes a session from the beginning of another one.
    pub fn branch(&self, branch: Branch, committed: Committed) {
        let _writer_ended = self.writer.send(write::Order::Branch { branch, committed });
    }

    /// Queues what a user did, or wants to do, with a session's changes. All rows are committed together. Once the
    /// journal is closed, `committed` is dropped.
    pub fn acts(&self, session: &SessionId, rows: Vec<ActRow>, committed: Committed) {
        let session = session.clone();
        let _writer_ended = self.writer.send(write::Order::Acts { session, rows, committed });
    }

    /// Permanently deletes a session and all its rows.
    pub fn delete(&self, session: &SessionId, committed: Committed) {
        let _writer_ended =
            self.writer.send(write::Order::Delete { session: session.clone(), committed });
    }

    /// Calls `listener` on the writer's thread for every session with a commit.
    pub fn on_commit(&self, listener: write::Listener) {
        self.listeners.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(listener);
    }

    /// Ends a session's running turn as interrupted and keeps its text: its agent is gone.
    pub fn interrupt(&self, session: &SessionId, committed: Committed) {
        let _writer_ended =
            self.writer.send(write::Order::Interrupt { session: session.clone(), committed });
    }

    /// Closes the database once everything queued is on disk, so that its log is folded into it. Later changes are
    /// dropped.
    pub fn close(&self, closed: Committed) {
        self.readers.close();
        let _writer_ended = self.writer.send(write::Order::Close { closed });
    }

    /// Keeps rendered blocks, so that the session opens faster next time.
    pub fn keep(&self, session: &SessionId, rendered: Vec<Rendered>) {
        if !rendered.is_empty() {
            let _writer_ended =
                self.writer.send(write::Order::Keep { session: session.clone(), rendered });
        }
    }

    /// Whether commits succeed.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// Runs a read on a separate connection, inside one read transaction.
    pub fn read_now<T>(
        &self,
        read: impl FnOnce(&read::Reader<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        self.readers.run(read)
    }

    /// The same, but on a blocking thread.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&read::Reader<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, JournalError> {
        let readers = self.readers.clone();
        tokio::task::spawn_blocking(move || readers.run(read))
            .await
            .map_err(|panic| JournalError::Read(panic.to_string()))?
    }

    fn start(mut connection: Connection, readers: Readers) -> Result<Self, JournalError> {
        let (writer, orders) = mpsc::channel();
        let (health_sender, health) = watch::channel(Health::Good);
        let checkpoints = checkpoint::Checkpoints::start(&readers.path, &mut connection)?;
        let listeners = write::Listeners::default();
        let presence = presence::Presence::of(&readers.path);
        let writer_thread =
            write::Writer::new(connection, health_sender, checkpoints, listeners.clone(), presence);
        thread::Builder::new()
            .name("journal".into())
            .spawn(move || writer_thread.run(&orders))
            .map_err(|error| JournalError::Open(error.to_string()))?;
        Ok(Self { listeners, writer, readers: Arc::new(readers), health })
    }
}

/// Connections for reading, opened when needed and kept for reuse.
struct Readers {
    path: std::path::PathBuf,
    /// `None` once the journal is closed: no more connections are kept.
    idle: Mutex<Option<Vec<Connection>>>,
}

/// Connections beyond this are closed after use, so that a burst of reads doesn't leave its caches behind.
const KEPT_READERS: usize = 2;

impl Readers {
    fn run<T>(
        &self,
        read: impl FnOnce(&read::Reader<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        let kept = self.lock().as_mut().and_then(Vec::pop);
        let mut connection = match kept {
            Some(connection) => connection,
            None => schema::connect_reader(&self.path)?,
        };
        let transaction = connection.transaction()?;
        let result = read(&read::Reader::new(&transaction));
        drop(transaction);
        if let Some(idle) = self.lock().as_mut().filter(|idle| idle.len() < KEPT_READERS) {
            idle.push(connection);
        }
        Ok(result?)
    }

    fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<Connection>>> {
        // A reader that panicked took its connection with it; the list itself is still consistent.
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
