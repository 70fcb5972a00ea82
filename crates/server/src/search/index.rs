//! The indexing thread: follows the journal session by session, with a cursor kept beside what it indexed.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use liminal_contract::SessionId;
use liminal_stream::Source;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};
use tokio::sync::oneshot;

use super::gathered::Gathered;
use super::text;

/// Raised whenever what is indexed, or how, changes: an older index is made anew.
const VERSION: i64 = 2;

/// So many items go into the index in one transaction.
const LOT: i64 = 500;

/// An item with its words; those that it grew by stand apart.
const ITEM: &str = "SELECT i.item_id, i.idx, i.started_at, i.kind, b.source,
        (SELECT group_concat(text, '') FROM (SELECT text FROM tail WHERE body = b.id ORDER BY id)),
        i.seq
    FROM item i JOIN body b ON b.id = i.body";

/// What the thread is told.
pub enum News {
    /// Sessions begin to be gathered that have something new in the journal.
    Changed,
    /// A session is gone, and so must its words be.
    Deleted(SessionId, oneshot::Sender<()>),
    /// Someone who asked at that time found the index damaged.
    Damaged(Instant),
    /// The program ends.
    Closing(oneshot::Sender<()>),
}

/// Whether an error says that the file is not, or no longer, a sound index.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Opens the index; one that is missing, damaged or older is made anew.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    match prepare(path) {
        Ok(Some(connection)) => Ok(connection),
        Ok(None) | Err(_) => open_anew(path),
    }
}

/// Throws the index away and begins another.
fn open_anew(path: &Path) -> rusqlite::Result<Connection> {
    for suffix in ["", "-wal", "-shm"] {
        // A file that is not there needs no removing; one that can't be removed fails below, with a reason.
        let _not_there = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    prepare(path)?.ok_or(rusqlite::Error::InvalidQuery)
}

/// `None` when the index is another version's.
fn prepare(path: &Path) -> rusqlite::Result<Option<Connection>> {
    use std::os::unix::fs::OpenOptionsExt;
    // Ours alone before SQLite would make it readable to others. If this fails, so does what follows, with a reason.
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
    // Touches the index itself, so that a damaged one shows now and not at the first question.
    connection.query_row("SELECT count(*) FROM words WHERE words MATCH '\"a\"'", [], |_| Ok(()))?;
    Ok(Some(connection))
}

/// Owns the writing connection of the index.
pub struct Indexer {
    path: PathBuf,
    /// When the index was opened or made anew.
    made: Instant,
    connection: Connection,
    journal: Connection,
}

/// Whether a session has more to index.
#[derive(PartialEq)]
enum More {
    Yes,
    No,
}

impl Indexer {
    /// Feeds the index of one path from the journal at another.
    pub fn new(path: PathBuf, journal: &Path) -> rusqlite::Result<Self> {
        let connection = open(&path)?;
        let journal = Connection::open_with_flags(journal, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self { path, made: Instant::now(), connection, journal })
    }

    /// Catches up, then follows until nobody has news any more. Works lot by lot and listens in between, so that no
    /// deletion waits for a long catching up.
    pub fn run(mut self, news: &Receiver<News>, changed: &Mutex<Gathered>) {
        let mut behind = self.sessions();
        let changed = || changed.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            // What is said now comes before what was said long ago.
            changed().take(now).into_iter().for_each(|session| behind.push_front(session));
            let due = changed().due();
            let wait = match due {
                _ if !behind.is_empty() => Duration::ZERO,
                Some(due) => due.saturating_duration_since(now),
                None => Duration::MAX,
            };
            match news.recv_timeout(wait) {
                Ok(News::Changed) => {}
                Ok(News::Deleted(session, done)) => {
                    changed().remove(&session);
                    behind.retain(|other| *other != session);
                    if let Err(error) = self.forget(&session) {
                        tracing::error!(%session, %error, "a deleted session goes with the whole index");
                        behind = self.begin_anew();
                    }
                    let _asker_left = done.send(());
                }
                // Several may have asked the same one.
                Ok(News::Damaged(asked)) if asked < self.made => {}
                Ok(News::Damaged(_)) => behind = self.begin_anew(),
                Ok(News::Closing(done)) => {
                    drop(self);
                    let _asker_left = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let Some(session) = behind.pop_front() else { continue };
                    match self.index_lot(&session) {
                        Ok(More::Yes) => behind.push_front(session),
                        Ok(More::No) => {}
                        Err(error) if is_damage(&error) => behind = self.begin_anew(),
                        Err(error) => {
                            tracing::warn!(%session, %error, "a session could not be indexed yet");
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// The index is of no use: another takes its place. What is to be indexed then.
    fn begin_anew(&mut self) -> VecDeque<SessionId> {
        tracing::warn!("the search index is damaged and is made anew");
        let anew = Connection::open_in_memory().and_then(|nothing| {
            self.connection = nothing;
            open_anew(&self.path)
        });
        match anew {
            Ok(connection) => {
                self.connection = connection;
                self.made = Instant::now();
                self.sessions()
            }
            Err(error) => {
                tracing::error!(%error, "the search index can't be made anew before the next start");
                VecDeque::new()
            }
        }
    }

    /// Every session, those last that were active last, because what is indexed later counts as newer.
    fn sessions(&self) -> VecDeque<SessionId> {
        self.try_sessions().unwrap_or_else(|error| {
            tracing::warn!(%error, "the search index can't catch up; what is missing is added as sessions change");
            VecDeque::new()
        })
    }

    fn try_sessions(&self) -> rusqlite::Result<VecDeque<SessionId>> {
        let mut statement =
            self.journal.prepare("SELECT session_id FROM session ORDER BY last_active_at, id")?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.filter_map(|id| id.map(|id| SessionId::parse(&id).ok()).transpose()).collect()
    }

    /// Indexes what a session has beyond its cursor, up to a lot.
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
        // One view of the journal, so that nothing falls between the questions.
        let view = self.journal.unchecked_transaction()?;
        let known = view
            .prepare_cached("SELECT id, seq FROM session WHERE session_id = ?1")?
            .query_row([session.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        let Some((id, newest)) = known else { return Ok(More::No) };
        let transaction = self.connection.transaction()?;
        let (mut count, mut last, mut forgets) = (0, done, false);
        let mut index = |row: &Row<'_>| {
            let doc = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let Ok(source) = serde_json::from_str::<Source>(row.get_ref(4)?.as_str()?) else {
                return Ok(());
            };
            let mut words = text::of(&source);
            if let Some(tail) = row.get::<_, Option<String>>(5)? {
                words.push_str(&text::spaced(&tail));
            }
            put(&transaction, session, doc, &words, &mut forgets)
        };
        // An item is indexed when it has ended; one that ends later has a later seq then. In the order of an index, so
        // that a lot costs what it holds.
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
        // Nor does anything more come of what a turn left open when it ended. Looking for it takes all items of the
        // session, so it is done once all else is indexed, and only where a turn ended since the last time.
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

/// How the index forgets words.
#[derive(PartialEq)]
enum Forgetting {
    /// Where they stand, at the commit.
    AtOnce,
    /// Some time later.
    Lazily,
}

/// Sets how what a transaction deletes is forgotten. Always at once would be simpler, but FTS5 then takes many words
/// that are only added for deleted ones and looks for them everywhere.
fn set_forgetting(connection: &Connection, how: Forgetting) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO words (words, rank) VALUES ('secure-delete', ?1)")?
        .execute([how == Forgetting::AtOnce])?;
    Ok(())
}

/// Puts an item into the index. `forgets` becomes true when that takes the place of other words.
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
