//! The tables, their versions, and how connections are set up.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::open::OpenFailure;
use super::{JournalError, former};

/// The version this program writes.
pub const VERSION: i64 = 3;

/// Entry `n` migrates a database from version `n` to the next. Never edit one that was released.
pub(super) const MIGRATIONS: [&str; 3] = [
    // Small mutable rows (`item`) are separate from the big ones (`body`), so that a growing item rewrites little.
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
    // Unanswered permissions are void after a restart, in whatever turn they were asked.
    "CREATE INDEX item_open_ask ON item (session)
        WHERE kind = 'permission' AND status IN ('create', 'update');",
    // A growing item adds one row to `tail` and changes nothing else: that row has the item's newest `seq` and times.
    // `listed` holds the changes that `sessions.json` lacks; `fact` one JSON value per key of `SessionFacts`;
    // `attachment` the files that a session's messages refer to; `checkpoint` the trees of a session's files; `act`
    // what users did with changes, by the session's own id; `looked` the `seq` of the last turn that the user has seen.
    "ALTER TABLE tail RENAME TO former_tail;
    CREATE TABLE tail (
        body INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        source_at INTEGER NOT NULL,
        emitted_at INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (body, seq)
    ) WITHOUT ROWID;
    INSERT INTO tail
        SELECT i.body, i.seq + 1 - row_number() OVER (PARTITION BY i.body ORDER BY f.id DESC),
               i.source_at, i.emitted_at, f.text
        FROM item i JOIN former_tail f ON f.body = i.body;
    DROP TABLE former_tail;
    DROP INDEX item_open_ask;
    CREATE INDEX item_open ON item (session) WHERE status IN ('create', 'update');
    CREATE TABLE listed (
        session_id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        record TEXT
    ) WITHOUT ROWID;
    CREATE TABLE fact (
        session INTEGER NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
    CREATE TABLE checkpoint (
        session INTEGER NOT NULL,
        turn_id TEXT NOT NULL,
        moment TEXT NOT NULL,
        tree TEXT NOT NULL,
        late INTEGER NOT NULL,
        left_out TEXT NOT NULL,
        branch TEXT,
        head TEXT,
        PRIMARY KEY (session, turn_id, moment)
    ) WITHOUT ROWID;
    CREATE TABLE act (
        id TEXT PRIMARY KEY,
        session TEXT NOT NULL,
        state TEXT NOT NULL,
        at INTEGER NOT NULL,
        deed TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX act_open ON act (at) WHERE state = 'intended';
    CREATE TABLE attachment (
        session INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
    ALTER TABLE session ADD COLUMN looked INTEGER NOT NULL DEFAULT 0;
    UPDATE session SET looked =
        coalesce((SELECT max(seq) FROM turn WHERE session = session.id), 0);",
];

/// The `seq` of a session's last change. The session's own row counts only changes that belong to no item and no turn,
/// so that a growing item touches only its tail.
pub const SEQ: &str = "max(session.seq,
    coalesce((SELECT max(seq) FROM item WHERE session = session.id), 0),
    coalesce((SELECT max(seq) FROM turn WHERE session = session.id), 0),
    coalesce((SELECT max((SELECT max(seq) FROM tail WHERE body = open.body))
              FROM item open INDEXED BY item_open
              WHERE open.session = session.id AND open.status IN ('create', 'update')), 0))";

/// The writing connection, migrated to [`VERSION`].
pub fn connect_writer(path: &Path) -> Result<Connection, OpenFailure> {
    let mut connection = Connection::open(path)?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > VERSION {
        return Err(OpenFailure::Other(JournalError::Newer { path: path.to_owned(), found }));
    }
    if (1..VERSION).contains(&found) {
        // Closed first: that folds the log into the file, and copying an open file would release its locks.
        drop(connection);
        former::keep(path, found)?;
        connection = Connection::open(path)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // A checkpoint inside a commit would delay it; another connection does it.
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
    // Otherwise a statement is compiled again whenever it is run with another index than before.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}
