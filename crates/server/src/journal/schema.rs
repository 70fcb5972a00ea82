//! The tables, their versions, and how connections are set up.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::JournalError;
use super::open::Failure;

/// The version this program writes.
pub const VERSION: i64 = 2;

/// Each entry brings a database from the version of its place to the next. Never edit one that was released.
const MIGRATIONS: [&str; 2] = [
    // Small mutable rows (`item`) apart from the big ones (`body`), so that a growing item rewrites little.
    "CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE,
        stream TEXT NOT NULL,
        seq INTEGER NOT NULL DEFAULT 0,
        mark TEXT,
        title TEXT,
        last_active_at INTEGER
    );
    CREATE TABLE turn (
        session INTEGER NOT NULL,
        turn_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        origin TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        outcome TEXT,
        stop_reason TEXT,
        model_id TEXT,
        usage TEXT,
        error_code TEXT,
        error_message TEXT,
        details TEXT,
        PRIMARY KEY (session, turn_id)
    ) WITHOUT ROWID;
    CREATE INDEX turn_seq ON turn (session, seq);
    CREATE INDEX turn_open ON turn (session) WHERE ended_at IS NULL;
    CREATE TABLE item (
        session INTEGER NOT NULL,
        idx INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        status TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        source_at INTEGER NOT NULL,
        emitted_at INTEGER NOT NULL,
        failure TEXT,
        parent_call_id TEXT,
        request_id TEXT,
        body INTEGER NOT NULL,
        PRIMARY KEY (session, idx)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX item_name ON item (session, item_id);
    CREATE INDEX item_seq ON item (session, seq);
    CREATE INDEX item_request ON item (session, request_id) WHERE request_id IS NOT NULL;
    CREATE TABLE body (
        id INTEGER PRIMARY KEY,
        source TEXT NOT NULL,
        blocks TEXT,
        render_version INTEGER
    );
    CREATE TABLE tail (
        id INTEGER PRIMARY KEY,
        body INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX tail_body ON tail (body);
    CREATE TABLE image (
        session INTEGER NOT NULL,
        name TEXT NOT NULL,
        mime_type TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (session, name)
    );",
    // Questions without an answer are void after a restart, in whatever turn they were asked.
    "CREATE INDEX item_open_ask ON item (session)
        WHERE kind = 'permission' AND status IN ('create', 'update');",
];

/// The writing connection, migrated to [`VERSION`].
pub fn connect_writer(path: &Path) -> Result<Connection, Failure> {
    let mut connection = Connection::open(path)?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > VERSION {
        return Err(Failure::Other(JournalError::Newer { path: path.to_owned(), found }));
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // A checkpoint inside a commit would make somebody's word wait; another connection does it.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "cache_size", -1024)?;
    connection.set_prepared_statement_cache_capacity(32);
    if found < VERSION {
        let transaction = connection.transaction()?;
        let from = usize::try_from(found).unwrap_or_default();
        for migration in MIGRATIONS.iter().skip(from) {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    Ok(connection)
}

/// A connection that only reads.
pub fn connect_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "cache_size", -1024)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}
