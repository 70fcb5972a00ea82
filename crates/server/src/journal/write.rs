//! The writer: one thread, one connection, one transaction for whatever is queued.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use liminal_contract::SessionId;
use liminal_stream::{Interlude, Source, Upsert};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;
use tokio::sync::watch;

use super::checkpoint::Checkpoints;
use super::interrupt::close_interrupted;
use super::presence::Presence;
use super::{
    ActRow, Branch, Change, Committed, Health, Item, Listed, Rendered, TurnRow, acts, attached,
    branch, checkpoints, facts, former, listed,
};

/// A request to the writer.
pub enum Order {
    Commit(Batch),
    /// End a session's running turn.
    Interrupt {
        session: SessionId,
        committed: Committed,
    },
    /// The user looked at a session.
    Look {
        session: SessionId,
        committed: Committed,
    },
    /// Keep a change of the session list.
    List {
        listed: Listed,
        committed: Committed,
    },
    /// `sessions.json` has the list up to this version.
    Unlist {
        version: u64,
    },
    /// Copy the beginning of a transcript into a new session.
    Branch {
        branch: Branch,
        committed: Committed,
    },
    /// Keep what is done with changes.
    Acts {
        session: SessionId,
        rows: Vec<ActRow>,
        committed: Committed,
    },
    /// Keep rendered blocks.
    Keep {
        session: SessionId,
        rendered: Vec<Rendered>,
    },
    /// Close the database. Later requests are dropped.
    Close {
        closed: Committed,
    },
    Delete {
        session: SessionId,
        committed: Committed,
    },
}

/// Changes of one session that are committed together.
pub struct Batch {
    pub session: SessionId,
    /// The session's last `seq` after these changes.
    pub seq: u64,
    pub changes: Vec<Change>,
    pub committed: Committed,
}

/// Called with every session that had a commit.
pub type Listener = Box<dyn Fn(&SessionId) + Send>;

pub type Listeners = Arc<Mutex<Vec<Listener>>>;

/// More than this in one transaction would make the first request wait too long for the last.
const MOST_ORDERS: usize = 512;

/// How long to wait before a failed commit is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Owns the writing connection.
pub struct Writer {
    connection: Connection,
    health: watch::Sender<Health>,
    /// Declared after the connection, which must be dropped first.
    checkpoints: Checkpoints,
    listeners: Listeners,
    presence: Presence,
}

impl Writer {
    pub fn new(
        connection: Connection,
        health: watch::Sender<Health>,
        checkpoints: Checkpoints,
        listeners: Listeners,
        presence: Presence,
    ) -> Self {
        Self { connection, health, checkpoints, listeners, presence }
    }

    /// Commits until the journal is closed or its last handle is dropped.
    pub fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let mut lot = vec![first];
            while lot.len() < MOST_ORDERS {
                match orders.try_recv() {
                    Ok(order) => lot.push(order),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            while let Err(health) = self.try_commit(&lot) {
                tracing::error!(?health, "the journal cannot write; trying again in a second");
                self.health.send_replace(health);
                thread::sleep(RETRY);
            }
            self.health.send_if_modified(|health| {
                let recovered = *health != Health::Good;
                *health = Health::Good;
                recovered
            });
            let mut closing = Vec::new();
            for order in lot {
                match order {
                    Order::Commit(Batch { session, committed, .. })
                    | Order::Interrupt { session, committed } => {
                        // First, so that a search knows everything that was sent to a browser.
                        self.notify_listeners(&session);
                        committed();
                    }
                    Order::Branch { branch, committed } => {
                        self.notify_listeners(&branch.to);
                        committed();
                    }
                    Order::List { committed, .. }
                    | Order::Look { committed, .. }
                    | Order::Acts { committed, .. } => committed(),
                    Order::Keep { .. } | Order::Unlist { .. } => {}
                    Order::Close { closed } => closing.push(closed),
                    Order::Delete { committed, .. } => {
                        // Deleted text stays in the log until that is folded and truncated.
                        self.fold();
                        committed();
                    }
                }
            }
            if !closing.is_empty() {
                // Closing the last connection folds the log into the database and removes it.
                drop(self.connection);
                drop(self.checkpoints);
                former::remove_all(self.presence.database());
                closing.into_iter().for_each(|closed| closed());
                return;
            }
        }
    }

    /// A log that can't be folded now is folded later, at the latest on the next start; nothing is lost.
    fn fold(&self) {
        let folded = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        match folded {
            Ok(false) => {}
            Ok(true) => tracing::warn!("the journal is being read, so its log is not folded yet"),
            Err(error) => tracing::warn!(%error, "the journal's log could not be folded"),
        }
    }

    fn notify_listeners(&self, session: &SessionId) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener(session));
    }

    /// Commits, unless a file is missing. Fails with the journal's new health.
    fn try_commit(&mut self, lot: &[Order]) -> Result<(), Health> {
        if let Some(file) = self.presence.missing() {
            return Err(Health::Gone { file, rescued: self.presence.rescue(&self.connection) });
        }
        self.commit(lot).map_err(|error| Health::Full { reason: error.to_string() })
    }

    /// All or nothing, so that a failed lot can be retried unchanged.
    fn commit(&mut self, lot: &[Order]) -> rusqlite::Result<()> {
        // Takes the write lock first: a transaction that has already read would fail instead of waiting for a
        // checkpoint.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for order in lot {
            match order {
                Order::Commit(batch) => write_batch(&transaction, batch)?,
                Order::Interrupt { session, .. } => {
                    let session = session_row(&transaction, session)?;
                    close_interrupted(&transaction, Some(session))?;
                }
                Order::Look { session, .. } => listed::look(&transaction, session)?,
                Order::Branch { branch, .. } => branch::write(&transaction, branch)?,
                Order::List { listed, .. } => {
                    listed::write(&transaction, listed)?;
                    if listed.record.is_none() {
                        // Together, so that no crash leaves a transcript that nobody can reach or delete.
                        delete_session(&transaction, &listed.session)?;
                    }
                }
                Order::Acts { session, rows, .. } => acts::write(&transaction, session, rows)?,
                Order::Unlist { version } => listed::forget(&transaction, *version)?,
                Order::Keep { session, rendered } => keep(&transaction, session, rendered)?,
                Order::Close { .. } => {}
                Order::Delete { session, .. } => delete_session(&transaction, session)?,
            }
        }
        transaction.commit()
    }
}

fn write_batch(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let session = session_row(transaction, &batch.session)?;
    for change in &batch.changes {
        match change {
            Change::Item(item) => {
                write_item(transaction, session, item)?;
                attached::write(transaction, session, &item.upsert.source)?;
            }
            Change::Grew { growth, seq } => {
                let body: Option<i64> = transaction
                    .prepare_cached("SELECT body FROM item WHERE session = ?1 AND item_id = ?2")?
                    .query_row(params![session, growth.item_id.as_str()], |row| row.get(0))
                    .optional()?;
                let Some(body) = body else {
                    // A bug, but one that must not keep every other session from being written.
                    let (session, item) = (&batch.session, &growth.item_id);
                    tracing::error!(%session, %item, "text for an item that does not exist");
                    continue;
                };
                transaction
                    .prepare_cached(
                        "INSERT INTO tail (body, seq, source_at, emitted_at, text)
                         VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute(params![
                        body,
                        seq.cast_signed(),
                        growth.source_timestamp.as_millis(),
                        growth.emitted_at.as_millis(),
                        growth.text
                    ])?;
            }
            Change::Turn(turn) => write_turn(transaction, session, turn)?,
            Change::Mark(mark) => {
                transaction
                    .prepare_cached("UPDATE session SET mark = ?2 WHERE id = ?1")?
                    .execute(params![session, json(mark)?])?;
            }
            Change::Active(at) => {
                transaction
                    .prepare_cached("UPDATE session SET last_active_at = ?2 WHERE id = ?1")?
                    .execute(params![session, at.as_millis()])?;
            }
            Change::Facts(facts) => facts::write(transaction, session, facts)?,
            Change::Checkpoint(row) => checkpoints::write(transaction, session, row)?,
            Change::Stream(stream) => {
                transaction
                    .prepare_cached("UPDATE session SET stream = ?2 WHERE id = ?1")?
                    .execute(params![session, stream])?;
            }
            Change::Image { name, mime_type, data } => {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO image (session, name, mime_type, data)
                         VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![session, name, mime_type, data])?;
            }
        }
    }
    if batch.changes.iter().filter_map(Change::seq).max() < Some(batch.seq) {
        transaction
            .prepare_cached("UPDATE session SET seq = max(seq, ?2) WHERE id = ?1")?
            .execute(params![session, batch.seq.cast_signed()])?;
    }
    Ok(())
}

/// Skips items that changed since they were rendered.
fn keep(
    transaction: &Transaction<'_>,
    session: &SessionId,
    rendered: &[Rendered],
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "UPDATE body SET blocks = ?4, render_version = ?5 WHERE id = (
            SELECT body FROM item WHERE item_id = ?2 AND seq = ?3
            AND session = (SELECT id FROM session WHERE session_id = ?1))",
    )?;
    for Rendered { item, seq, blocks } in rendered {
        statement.execute(params![
            session.as_str(),
            item.as_str(),
            seq.cast_signed(),
            json(&blocks.html)?,
            blocks.version
        ])?;
    }
    Ok(())
}

/// The row of a session, created with its first change.
pub(super) fn session_row(
    transaction: &Transaction<'_>,
    session: &SessionId,
) -> rusqlite::Result<i64> {
    let found = transaction
        .prepare_cached("SELECT id FROM session WHERE session_id = ?1")?
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    transaction.execute(
        "INSERT INTO session (session_id, stream) VALUES (?1, ?2)",
        params![session.as_str(), uuid::Uuid::now_v7().to_string()],
    )?;
    Ok(transaction.last_insert_rowid())
}

fn write_item(transaction: &Transaction<'_>, session: i64, item: &Item) -> rusqlite::Result<()> {
    let Item { upsert, index, seq, request_id, blocks } = item;
    let (html, version) = match blocks {
        Some(blocks) => (Some(json(&blocks.html)?), Some(blocks.version)),
        None => (None, None),
    };
    let source = json(&upsert.source)?;
    // Found by id: an item that an agent repeats after a restart keeps its index.
    let known: Option<(i64, i64)> = transaction
        .prepare_cached("SELECT idx, body FROM item WHERE session = ?1 AND item_id = ?2")?
        .query_row(params![session, upsert.item_id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let index = known.map_or(index.cast_signed(), |(index, _)| index);
    let body = match known {
        Some((_, body)) => {
            transaction
                .prepare_cached(
                    "UPDATE body SET source = ?2, blocks = ?3, render_version = ?4 WHERE id = ?1",
                )?
                .execute(params![body, source, html, version])?;
            transaction.prepare_cached("DELETE FROM tail WHERE body = ?1")?.execute([body])?;
            body
        }
        None => {
            transaction
                .prepare_cached(
                    "INSERT INTO body (source, blocks, render_version) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![source, html, version])?;
            transaction.last_insert_rowid()
        }
    };
    transaction
        .prepare_cached(
            "INSERT INTO item (session, idx, seq, item_id, turn_id, kind, status, started_at,
                               source_at, emitted_at, failure, parent_call_id, request_id, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (session, idx) DO UPDATE SET
                seq = excluded.seq, status = excluded.status, source_at = excluded.source_at,
                emitted_at = excluded.emitted_at, failure = excluded.failure,
                parent_call_id = excluded.parent_call_id",
        )?
        .execute(params![
            session,
            index,
            seq.cast_signed(),
            upsert.item_id.as_str(),
            upsert.turn_id.as_str(),
            kind(upsert),
            word(&upsert.status)?,
            upsert.started_at.as_millis(),
            upsert.source_timestamp.as_millis(),
            upsert.emitted_at.as_millis(),
            upsert.failure.as_ref().map(json).transpose()?,
            upsert.parent_call_id,
            request_id,
            body
        ])?;
    Ok(())
}

fn write_turn(transaction: &Transaction<'_>, session: i64, turn: &TurnRow) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO turn
                (session, turn_id, seq, origin, started_at, ended_at, outcome, stop_reason,
                 model_id, usage, error_code, error_message, details)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            session,
            turn.turn_id.as_str(),
            turn.seq.cast_signed(),
            word(&turn.origin)?,
            turn.started_at.as_millis(),
            turn.ended_at.map(liminal_contract::Timestamp::as_millis),
            turn.outcome.as_ref().map(word).transpose()?,
            turn.stop_reason,
            turn.model_id,
            turn.usage.as_ref().map(json).transpose()?,
            turn.error_code.as_ref().map(word).transpose()?,
            turn.error_message,
            turn.details.as_ref().map(json).transpose()?
        ])?;
    Ok(())
}

pub(super) fn delete_session(
    transaction: &Transaction<'_>,
    session: &SessionId,
) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM act WHERE session = ?1", [session.as_str()])?;
    let id: Option<i64> = transaction
        .query_row("SELECT id FROM session WHERE session_id = ?1", [session.as_str()], |row| {
            row.get(0)
        })
        .optional()?;
    let Some(id) = id else { return Ok(()) };
    let bodies = "(SELECT body FROM item WHERE session = ?1)";
    for sql in [
        &format!("DELETE FROM tail WHERE body IN {bodies}"),
        &format!("DELETE FROM body WHERE id IN {bodies}"),
        "DELETE FROM item WHERE session = ?1",
        "DELETE FROM turn WHERE session = ?1",
        "DELETE FROM image WHERE session = ?1",
        "DELETE FROM fact WHERE session = ?1",
        "DELETE FROM attachment WHERE session = ?1",
        "DELETE FROM checkpoint WHERE session = ?1",
        "DELETE FROM session WHERE id = ?1",
    ] {
        transaction.execute(sql, [id])?;
    }
    Ok(())
}

/// The `type` of an item, for queries.
fn kind(upsert: &Upsert) -> &'static str {
    match upsert.source {
        Source::Message { .. } => "message",
        Source::Thinking { .. } => "thinking",
        Source::ToolCall(_) => "tool_call",
        Source::Plan { .. } => "plan",
        Source::Permission(_) => "permission",
        Source::Notice(_) => "notice",
        Source::Interlude(Interlude::CommandOutput { .. }) => "command_output",
        Source::Interlude(Interlude::Compaction(_)) => "compaction",
        Source::Interlude(Interlude::Cleared {}) => "cleared",
    }
}

pub(super) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// An enum as the contract spells it, without quotes.
pub(super) fn word(value: &impl Serialize) -> rusqlite::Result<String> {
    Ok(json(value)?.trim_matches('"').to_owned())
}
