//! The list of sessions: everything about each session except its transcript.
//!
//! A change is acknowledged when the journal has it, which costs the same however many sessions there are.
//! `sessions.json` follows later, written by a separate thread; at the next start the journal adds the changes that the
//! file lacks. Values that change with every turn are written to the file only when the server stops.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use liminal_agents::Fork;
use liminal_contract::{
    BranchOf, ChangeCounts, CliType, Policy, ProjectId, SessionId, Timestamp, Worktree,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::document::{Stamp, keep_original, load, save};
use super::list::List;
use super::{Document, StoreError};
use crate::journal::{self, Health, Journal, Listed};

/// After a write, the file rests for this many times as long as the write took, so that a list of any length uses at
/// most a fiftieth of a processor and of the disk,
const REST: u32 = 50;
/// but no longer than this.
const LONGEST_REST: Duration = Duration::from_secs(10);
/// Requests that created one of so many of the newest sessions are recognised when they are repeated. A browser repeats
/// one after it was reloaded or had lost the connection, and looking at all sessions would cost more with each.
const REPEATABLE: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    pub id: SessionId,
    /// Where it works. The project may have been removed; adding its directory again brings the session back.
    pub project_id: ProjectId,
    pub cli_type: CliType,
    /// Hidden from the sidebar.
    pub archived: bool,
    /// "New Session" until the first message.
    pub title: String,
    /// Changes on send and on turn end.
    pub last_active_at: Timestamp,
    pub created_at: Timestamp,
    /// The agent's own id of the session, when it differs from our id's second part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_ref: Option<String>,
    /// Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Absent in files of the original, where every title is derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_by: Option<TitleBy>,
    /// Absent: it works in the project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// Where it was made outside, if that is not the project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// As last counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<ChangeCounts>,
    /// Absent: it was not made from another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchRecord>,
    /// The session that replaced this one, which can only be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<SessionId>,
    /// The UUID of the request that created it, which may be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Fields of other versions that we don't know. Kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How a session was made from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchRecord {
    #[serde(flatten)]
    pub of: BranchOf,
    /// Where the agent itself forked its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Fork>,
    /// The agent has yet to get the transcript, with the next message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owes_transcript: bool,
}

/// Who gave a session its title. A later variant wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    /// Derived from the first message.
    Derived,
    /// The agent.
    Agent,
    /// The session that it was made from. To its agent, the conversation may have another beginning.
    Inherited,
    /// The user.
    User,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Sessions {
    #[serde(serialize_with = "write_records", deserialize_with = "read_records")]
    sessions: Vec<Arc<SessionRecord>>,
}

impl Document for Sessions {
    const FILE: &'static str = "sessions.json";
    const LIST: &'static str = "sessions";
}

impl Sessions {
    pub(super) fn ids(&self) -> Vec<SessionId> {
        self.sessions.iter().map(|record| record.id.clone()).collect()
    }
}

fn write_records<S: Serializer>(
    records: &[Arc<SessionRecord>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(records.iter().map(AsRef::as_ref))
}

fn read_records<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Arc<SessionRecord>>, D::Error> {
    Ok(Vec::<SessionRecord>::deserialize(deserializer)?.into_iter().map(Arc::new).collect())
}

/// The list of sessions. Dropping it writes the file.
#[derive(Debug)]
pub struct SessionsFile {
    shared: Arc<Shared>,
    orders: mpsc::Sender<FileOrder>,
    writer: Option<JoinHandle<()>>,
}

/// Messages to the thread that writes the file.
enum FileOrder {
    /// The list has changed.
    Follow,
    /// Write now, if the file is behind.
    Write(oneshot::Sender<()>),
    /// The same, and end.
    End,
}

struct Shared {
    data_dir: PathBuf,
    journal: Journal,
    known: Mutex<Known>,
}

/// The committed list, and the state of the file.
#[derive(Debug)]
struct Known {
    list: Result<List, StoreError>,
    is_of_the_original: bool,
    stamp: Stamp,
}

impl SessionsFile {
    /// Reads the file of this data directory, and the newer changes from the journal.
    pub fn open(data_dir: &Path, journal: &Journal) -> Self {
        let (data_dir, journal) = (data_dir.to_owned(), journal.clone());
        let known = Mutex::new(Known::read(&data_dir, &journal));
        let shared = Arc::new(Shared { data_dir, journal, known });
        let (orders, queue) = mpsc::channel();
        let owned = shared.clone();
        let writer = thread::Builder::new()
            .name(Sessions::FILE.to_owned())
            .spawn(move || follow(&owned, &queue))
            // Without the thread, the journal keeps the changes that the file lacks.
            .map_err(|error| tracing::error!(%error, "could not start the thread that writes sessions.json"))
            .ok();
        let _no_thread = orders.send(FileOrder::Follow);
        Self { shared, orders, writer }
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.shared.lock().list.as_ref().err().cloned()
    }

    /// The sessions of a project, in the order they were created.
    pub fn of(&self, project: &ProjectId) -> Result<Vec<SessionRecord>, StoreError> {
        let records: Vec<_> = self.shared.look(|list| {
            list.all().filter(|record| record.project_id == *project).cloned().collect()
        })?;
        Ok(records.into_iter().map(Arc::unwrap_or_clone).collect())
    }

    /// The id of every session.
    pub fn ids(&self) -> Result<Vec<SessionId>, StoreError> {
        self.shared.look(|list| list.all().map(|record| record.id.clone()).collect())
    }

    /// Whether a message was ever sent in any session.
    pub fn were_used(&self) -> bool {
        self.shared.look(|list| list.all().any(|record| record.title_by.is_some())).unwrap_or(false)
    }

    pub fn get(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        self.shared.look(|list| list.get(id).cloned())
    }

    /// The session that a request created, if that was not many sessions ago.
    pub fn created_by(&self, request: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.shared.look(|list| {
            let mut newest = list.all().rev().take(REPEATABLE);
            newest.find(|it| it.request.as_deref() == Some(request)).map(|it| it.as_ref().clone())
        })
    }

    /// Adds a session or replaces its record. Returns when it is on disk.
    pub async fn put(&self, record: SessionRecord) -> Result<(), StoreError> {
        self.change(&record.id.clone(), |_known| Some(record)).await?;
        Ok(())
    }

    /// Changes one session, if it still exists. Returns its new record once that is on disk.
    pub async fn update(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut SessionRecord),
    ) -> Result<Option<SessionRecord>, StoreError> {
        self.change(&id, |known| changed(known, change)).await
    }

    /// The same without waiting, for changes that no user asked for. The file may lag behind. `then` runs when the new
    /// record is on disk, and everyone who reads it sees the change.
    pub fn update_later(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut SessionRecord),
        then: impl FnOnce(&SessionRecord) + Send + 'static,
    ) {
        let told = move |record: Option<SessionRecord>| {
            if let Some(record) = record {
                then(&record);
            }
        };
        let ordered = self.order(&id, |known| changed(known, change), told);
        if let Err(error) = ordered {
            tracing::warn!(%error, "a background change was not written");
        }
    }

    /// A session was active. The journal already knows; the file is updated when the server stops.
    pub fn touch(&self, id: &SessionId, at: Timestamp) {
        if let Ok(list) = &mut self.shared.lock().list {
            list.touch(id, at);
        }
    }

    /// Removes a session. Returns when it is in none of our files.
    pub async fn remove(&self, id: SessionId) -> Result<(), StoreError> {
        self.change(&id, |_known| None).await?;
        self.write().await;
        Ok(())
    }

    /// Returns when the file has every earlier change.
    pub async fn write(&self) {
        let (done, wait) = oneshot::channel();
        let _no_thread = self.orders.send(FileOrder::Write(done));
        let _no_thread = wait.await;
    }

    async fn change(
        &self,
        id: &SessionId,
        change: impl FnOnce(Option<&SessionRecord>) -> Option<SessionRecord>,
    ) -> Result<Option<SessionRecord>, StoreError> {
        // A caller who waits gets the error at once; background changes stay queued until the disk has room.
        if let Some(reason) = trouble(&self.shared.journal.health().borrow()) {
            let file = self.shared.data_dir.join(journal::FILE);
            return Err(StoreError::Unwritable { file, reason });
        }
        let (answer, answered) = oneshot::channel();
        let orders = self.orders.clone();
        self.order(id, change, move |record| {
            let _no_thread = orders.send(FileOrder::Follow);
            let _asker_left = answer.send(record);
        })?;
        answered.await.map_err(|_journal_closed| StoreError::Stopping)
    }

    /// Makes a change and queues it in the journal. `then` runs when it is on disk.
    fn order(
        &self,
        id: &SessionId,
        change: impl FnOnce(Option<&SessionRecord>) -> Option<SessionRecord>,
        then: impl FnOnce(Option<SessionRecord>) + Send + 'static,
    ) -> Result<(), StoreError> {
        // Held until the change is queued, so that the journal gets changes in our order.
        let mut known = self.shared.lock();
        known.retry(&self.shared);
        let list = known.list.as_mut().map_err(|error| error.clone())?;
        let before = list.newest(id);
        let record = change(before);
        if record.is_none() && before.is_none() {
            then(None);
            return Ok(());
        }
        let json = record.as_ref().map(serde_json::to_string).transpose();
        let json = json.map_err(|error| StoreError::Unwritable {
            file: self.shared.data_dir.join(Sessions::FILE),
            reason: error.to_string(),
        })?;
        let version = list.expect(id, record.clone().map(Arc::new));
        let (id, shared) = (id.clone(), self.shared.clone());
        self.shared.journal.list(
            Listed { session: id.clone(), version, record: json },
            Box::new(move || {
                if let Ok(list) = &mut shared.lock().list {
                    list.arrived(&id, version, record.clone().map(Arc::new));
                }
                then(record);
            }),
        );
        Ok(())
    }
}

impl Drop for SessionsFile {
    fn drop(&mut self) {
        let _no_thread = self.orders.send(FileOrder::End);
        if let Some(writer) = self.writer.take() {
            let _panicked = writer.join();
        }
    }
}

fn changed(
    known: Option<&SessionRecord>,
    change: impl FnOnce(&mut SessionRecord),
) -> Option<SessionRecord> {
    let mut record = known?.clone();
    change(&mut record);
    Some(record)
}

/// Why the journal can't write now; `None` when it can.
fn trouble(health: &Health) -> Option<String> {
    match health {
        Health::Good => None,
        Health::Full { reason } => Some(reason.clone()),
        Health::Gone { file, .. } => Some(format!("{} was removed", file.display())),
    }
}

/// Writes the file whenever the list is ahead of it.
fn follow(shared: &Shared, orders: &mpsc::Receiver<FileOrder>) {
    let (mut is_behind, mut rests_until) = (false, Instant::now());
    loop {
        let wait = rests_until.saturating_duration_since(Instant::now());
        let order = if is_behind {
            orders.recv_timeout(wait)
        } else {
            orders.recv().map_err(mpsc::RecvTimeoutError::from)
        };
        match order {
            Ok(FileOrder::Follow) => is_behind |= shared.lock().is_ahead(),
            Ok(FileOrder::Write(done)) => {
                shared.write();
                is_behind = false;
                let _asker_left = done.send(());
            }
            Ok(FileOrder::End) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                return shared.write();
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let began = Instant::now();
        if is_behind && rests_until <= began {
            shared.write();
            is_behind = false;
            rests_until = Instant::now() + (began.elapsed() * REST).min(LONGEST_REST);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, look: impl FnOnce(&List) -> T) -> Result<T, StoreError> {
        let mut known = self.lock();
        known.retry(self);
        known.list.as_ref().map(look).map_err(Clone::clone)
    }

    /// Writes the committed list, if the file is behind. Changes that can't be written stay in the journal.
    fn write(&self) {
        let (sessions, mark, is_of_the_original, stamp) = {
            let known = self.lock();
            let Ok(list) = &known.list else { return };
            let Some(mark) = list.unwritten() else { return };
            let sessions = Sessions { sessions: list.all().cloned().collect() };
            (sessions, mark, known.is_of_the_original, known.stamp)
        };
        let kept =
            if is_of_the_original { keep_original::<Sessions>(&self.data_dir) } else { Ok(()) };
        match kept.and_then(|()| save(&self.data_dir, &sessions, stamp)) {
            Ok(stamp) => {
                let mut known = self.lock();
                (known.is_of_the_original, known.stamp) = (false, stamp);
                if let Ok(list) = &mut known.list {
                    list.written(mark);
                }
                self.journal.unlist(mark.version);
            }
            Err(error) => {
                tracing::warn!(%error, "sessions.json was not written; the journal keeps its changes")
            }
        }
    }
}

impl Known {
    fn read(data_dir: &Path, journal: &Journal) -> Self {
        let beyond = journal.read_now(|reader| Ok((reader.listed()?, reader.activity()?))).map_err(
            |error| StoreError::Corrupt {
                file: data_dir.join(journal::FILE),
                reason: error.to_string(),
            },
        );
        let loaded = load::<Sessions>(data_dir).and_then(|loaded| Ok((loaded, beyond?)));
        match loaded {
            Ok((loaded, (listed, activity))) => {
                let mut list = List::new(loaded.document.sessions);
                listed.iter().for_each(|change| list.take_up(change));
                list.mend_replaced();
                activity.iter().for_each(|(id, at)| list.touch(id, *at));
                let is_of_the_original = loaded.is_of_the_original;
                Self { list: Ok(list), is_of_the_original, stamp: loaded.stamp }
            }
            Err(error) => {
                Self { list: Err(error), is_of_the_original: false, stamp: Stamp::default() }
            }
        }
    }

    /// An unusable file is read again each time: the user may have repaired it.
    fn retry(&mut self, shared: &Shared) {
        if self.list.is_err() {
            *self = Self::read(&shared.data_dir, &shared.journal);
        }
    }

    fn is_ahead(&self) -> bool {
        self.list.as_ref().is_ok_and(List::is_ahead)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("known", &self.known).finish_non_exhaustive()
    }
}
