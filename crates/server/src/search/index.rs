//! The indexing thread: follows the journal session by session, with a cursor stored in the index.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use liminal_contract::SessionId;
use liminal_stream::Source;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};
use tokio::sync::{oneshot, watch};

use super::gathered::Gathered;
use super::text;
use crate::attachments::Attachments;
use crate::journal::SEQ;

/// Raised whenever the indexed text or its format changes: an older index is rebuilt.
const VERSION: i64 = 2;

/// The number of items indexed in one transaction.
const LOT: i64 = 500;

/// How long to wait after a failure, and at most after several in a row.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// An item with its text; its tails are a separate column.
const ITEM: &str = "SELECT i.item_id, i.idx, i.started_at, i.kind, b.source,
        (SELECT group_concat(text, '') FROM (SELECT text FROM tail WHERE body = b.id ORDER BY seq)),
        i.seq
    FROM item i JOIN body b ON b.id = i.body";

/// Messages to the thread.
pub enum News {
    /// The first changed session was gathered.
    Changed,
    /// A session was deleted, and its text must go too.
    Deleted(SessionId, oneshot::Sender<()>),
    /// A search that started at that time found the index damaged.
    Damaged(Instant),
    /// The server is stopping.
    Closing(oneshot::Sender<()>),
}

/// Whether an error means that the file is damaged or no index at all.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Opens the index; a missing, damaged or older one is rebuilt.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    match prepare(path) {
        Ok(Some(connection)) => Ok(connection),
        Ok(None) | Err(_) => open_new(path),
    }
}

/// Deletes the index and creates an empty one.
fn open_new(path: &Path) -> rusqlite::Result<Connection> {
    for suffix in ["", "-wal", "-shm"] {
        // A missing file is fine; if one can't be removed, opening fails below with a reason.
        let _not_there = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    prepare(path)?.ok_or(rusqlite::Error::InvalidQuery)
}

/// `None` when another version wrote the index.
fn prepare(path: &Path) -> rusqlite::Result<Option<Connection>> {
    use std::os::unix::fs::OpenOptionsExt;
    // Created here because SQLite would make it readable to others. If this fails, opening fails below with a reason.
    let _reported_below = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "cache_size", -2048)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch(
            "CREATE TABLE progress (session TEXT PRIMARY KEY, seq INTEGER NOT NULL,
                                    swept INTEGER NOT NULL) WITHOUT ROWID;
             CREATE TABLE doc (id INTEGER PRIMARY KEY, session TEXT NOT NULL, item TEXT NOT NULL,
                               idx INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
                               size INTEGER NOT NULL);
             CREATE UNIQUE INDEX doc_item ON doc (session, item);
             CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2',
                                                   prefix = '2 3 4');",
        )?;
        connection.pragma_update(None, "user_version", VERSION)?;
    } else if version != VERSION {
        return Ok(None);
    }
    // Reads the index itself, so that damage shows now and not at the first search.
    connection.query_row("SELECT count(*) FROM words WHERE words MATCH '\"a\"'", [], |_| Ok(()))?;
    Ok(Some(connection))
}

/// Owns the writing connection of the index.
pub struct Indexer {
    path: PathBuf,
    /// When the index was opened or rebuilt.
    made: Instant,
    connection: Connection,
    journal: Connection,
    attachments: Attachments,
}

/// Whether a session has more to index.
#[derive(PartialEq)]
enum More {
    Yes,
    No,
}

impl Indexer {
    pub fn new(path: PathBuf, journal: &Path) -> rusqlite::Result<Self> {
        let connection = open(&path)?;
        let attachments = Attachments::open(journal.parent().unwrap_or(journal));
        let journal = Connection::open_with_flags(journal, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self { path, made: Instant::now(), connection, journal, attachments })
    }

    /// Catches up, then follows until the channel is closed. Works lot by lot and takes messages in between, so that no
    /// deletion has to wait long. `indexed` is the number of rounds that are fully indexed.
    pub fn run(
        mut self,
        news: &Receiver<News>,
        changed: &Mutex<Gathered>,
        indexed: &watch::Sender<u64>,
    ) {
        let changed = || changed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut behind = self.sessions();
        let mut pause = Duration::ZERO;
        loop {
            let now = Instant::now();
            // New changes come before old ones.
            let (taken, due, rounds) = {
                let mut changed = changed();
                (changed.take(now), changed.due(), changed.rounds())
            };
            taken.into_iter().for_each(|session| behind.push_front(session));
            if behind.is_empty() {
                indexed.send_if_modified(|indexed| std::mem::replace(indexed, rounds) != rounds);
            }
            let wait = match due {
                _ if !behind.is_empty() => pause,
                Some(due) => due.saturating_duration_since(now),
                None => Duration::MAX,
            };
            match news.recv_timeout(wait) {
                Ok(News::Changed) => {}
                Ok(News::Deleted(session, done)) => {
                    changed().remove(&session);
                    behind.retain(|other| *other != session);
                    if let Err(error) = self.forget(&session) {
                        tracing::error!(%session, %error, "can't remove a session; rebuilding the index");
                        changed().begin_round();
                        behind = self.rebuild();
                    }
                    let _asker_left = done.send(());
                }
                // Several searches may report the same damage.
                Ok(News::Damaged(asked)) if asked < self.made => {}
                Ok(News::Damaged(_)) => {
                    changed().begin_round();
                    behind = self.rebuild();
                }
                Ok(News::Closing(done)) => {
                    drop(self);
                    let _asker_left = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let Some(session) = behind.pop_front() else { continue };
                    match self.index_lot(&session) {
                        Ok(more) => {
                            pause = Duration::ZERO;
                            if more == More::Yes {
                                behind.push_front(session);
                            }
                        }
                        Err(error) if is_damage(&error) => {
                            changed().begin_round();
                            behind = self.rebuild();
                        }
                        Err(error) => {
                            tracing::warn!(%session, %error, "a session could not be indexed yet");
                            // Until it is, the index counts as behind.
                            behind.push_back(session);
                            pause = (pause * 2).clamp(PAUSE, LONGEST_PAUSE);
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Replaces a damaged index. Returns the sessions to index.
    fn rebuild(&mut self) -> VecDeque<SessionId> {
        tracing::warn!("the search index is damaged and is being rebuilt");
        let new = Connection::open_in_memory().and_then(|placeholder| {
            self.connection = placeholder;
            open_new(&self.path)
        });
        match new {
            Ok(connection) => {
                self.connection = connection;
                self.made = Instant::now();
                self.sessions()
            }
            Err(error) => {
                tracing::error!(%error, "the search index can't be rebuilt before the next start");
                VecDeque::new()
            }
        }
    }

    /// Every session, the last active last: items indexed later count as newer.
    fn sessions(&self) -> VecDeque<SessionId> {
        self.try_sessions().unwrap_or_else(|error| {
            tracing::warn!(%error, "the search index can't catch up; sessions are added as they change");
            VecDeque::new()
        })
    }

    fn try_sessions(&self) -> rusqlite::Result<VecDeque<SessionId>> {
        let mut statement =
            self.journal.prepare("SELECT session_id FROM session ORDER BY last_active_at, id")?;
        let mut ids: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        // A server that was killed while it deleted a session may have left it here.
        let in_journal: HashSet<String> = ids.iter().cloned().collect();
        let mut statement = self.connection.prepare("SELECT session FROM progress")?;
        for indexed in statement.query_map([], |row| row.get::<_, String>(0))? {
            ids.extend(Some(indexed?).filter(|id| !in_journal.contains(id)));
        }
        Ok(ids.iter().filter_map(|id| SessionId::parse(id).ok()).collect())
    }

    /// Indexes a session's items beyond its cursor, one lot at most. One that the journal lacks is forgotten.
    fn index_lot(&mut self, session: &SessionId) -> rusqlite::Result<More> {
        let (done, swept): (i64, i64) = self
            .connection
            .query_row(
                "SELECT seq, swept FROM progress WHERE session = ?1",
                [session.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?
            .unwrap_or_default();
        // One view of the journal, so that no change falls between the queries.
        let view = self.journal.unchecked_transaction()?;
        let known = view
            .prepare_cached(&format!("SELECT id, {SEQ} FROM session WHERE session_id = ?1"))?
            .query_row([session.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        let Some((id, newest)) = known else {
            drop(view);
            self.forget(session)?;
            return Ok(More::No);
        };
        let attachments = &self.attachments;
        let transaction = self.connection.transaction()?;
        let (mut count, mut last, mut forgets) = (0, done, false);
        let mut index = |row: &Row<'_>| {
            let doc = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let Ok(source) = serde_json::from_str::<Source>(row.get_ref(4)?.as_str()?) else {
                return Ok(());
            };
            let mut words = text::of(&source, attachments);
            if let Some(tail) = row.get::<_, Option<String>>(5)? {
                words.push_str(&text::spaced(&tail));
            }
            put(&transaction, session, doc, &words, &mut forgets)
        };
        // An item is indexed when it is complete; one that completes later then has a later `seq`. The order is that
        // of an SQL index, so that the cost depends only on the size of the lot.
        let mut ended = view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.seq > ?2 AND i.status IN ('complete', 'error')
             ORDER BY i.seq LIMIT ?3"
        ))?;
        let mut rows = ended.query(params![id, done, LOT])?;
        while let Some(row) = rows.next()? {
            count += 1;
            last = row.get(6)?;
            index(row)?;
        }
        let (more, upto) = if count < LOT { (More::No, newest) } else { (More::Yes, last) };
        // Items that a turn left open when it ended don't change any more either. Finding them reads all items of the
        // session, so it is done last, and only if a turn ended since the last time.
        let is_due = more == More::No
            && view
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM turn WHERE session = ?1 AND seq > ?2
                                    AND ended_at IS NOT NULL)",
                )?
                .query_row(params![id, swept], |row| row.get(0))?;
        if is_due {
            let mut left_open = view.prepare_cached(&format!(
                "{ITEM} JOIN turn t ON t.session = i.session AND t.turn_id = i.turn_id
                 WHERE i.session = ?1 AND i.status NOT IN ('complete', 'error')
                   AND t.ended_at IS NOT NULL AND t.seq > ?2"
            ))?;
            let mut rows = left_open.query(params![id, swept])?;
            while let Some(row) = rows.next()? {
                index(row)?;
            }
        }
        transaction.execute(
            "INSERT OR REPLACE INTO progress (session, seq, swept) VALUES (?1, ?2, ?3)",
            params![session.as_str(), upto, if is_due { newest } else { swept }],
        )?;
        transaction.commit()?;
        if forgets {
            set_forgetting(&self.connection, Forgetting::Lazily)?;
        }
        Ok(more)
    }

    fn forget(&mut self, session: &SessionId) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        set_forgetting(&transaction, Forgetting::AtOnce)?;
        transaction.execute(
            "DELETE FROM words WHERE rowid IN (SELECT id FROM doc WHERE session = ?1)",
            [session.as_str()],
        )?;
        transaction.execute("DELETE FROM doc WHERE session = ?1", [session.as_str()])?;
        transaction.execute("DELETE FROM progress WHERE session = ?1", [session.as_str()])?;
        transaction.commit()?;
        set_forgetting(&self.connection, Forgetting::Lazily)?;
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

/// When deleted words are erased from the index.
#[derive(PartialEq)]
enum Forgetting {
    /// At the commit, in place.
    AtOnce,
    /// When FTS5 merges its segments.
    Lazily,
}

/// Sets when deleted words are erased. Always at once would be simpler, but FTS5 then takes many added words for
/// deleted ones and searches the whole index for them.
fn set_forgetting(connection: &Connection, how: Forgetting) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO words (words, rank) VALUES ('secure-delete', ?1)")?
        .execute([how == Forgetting::AtOnce])?;
    Ok(())
}

/// Puts an item into the index. `forgets` becomes true when that replaces older text.
fn put(
    transaction: &Transaction<'_>,
    session: &SessionId,
    (item, index, at, kind): (String, i64, i64, String),
    words: &str,
    forgets: &mut bool,
) -> rusqlite::Result<()> {
    let known: Option<i64> = transaction
        .prepare_cached("SELECT id FROM doc WHERE session = ?1 AND item = ?2")?
        .query_row(params![session.as_str(), item], |row| row.get(0))
        .optional()?;
    let size = words.len().cast_signed() as i64;
    if let Some(id) = known {
        if !std::mem::replace(forgets, true) {
            set_forgetting(transaction, Forgetting::AtOnce)?;
        }
        transaction
            .prepare_cached("UPDATE doc SET size = ?2 WHERE id = ?1")?
            .execute(params![id, size])?;
        transaction
            .prepare_cached("UPDATE words SET text = ?2 WHERE rowid = ?1")?
            .execute(params![id, words])?;
        return Ok(());
    }
    transaction
        .prepare_cached(
            "INSERT INTO doc (session, item, idx, at, kind, size) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![session.as_str(), item, index, at, kind, size])?;
    transaction
        .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
        .execute(params![transaction.last_insert_rowid(), words])?;
    Ok(())
}
