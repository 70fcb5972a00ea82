//! The writer: one thread, one connection, one transaction for whatever is queued.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use liminal_contract::SessionId;
use liminal_stream::{Source, Upsert};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;
use tokio::sync::watch;

use super::checkpoint::Checkpoints;
use super::interrupt::close_what_is_open;
use super::{Change, Committed, Health, Item, Rendered, TurnRow};

/// What the writer is asked to do.
pub enum Order {
    /// Write these.
    Commit(Batch),
    /// Close what runs in a session.
    Interrupt {
        /// Which.
        session: SessionId,
        /// What to do then.
        committed: Committed,
    },
    /// Keep what was rendered.
    Keep {
        /// Of which session.
        session: SessionId,
        /// What.
        rendered: Vec<Rendered>,
    },
    /// Close the database: nothing more is expected.
    Close {
        /// What to do then.
        closed: Committed,
    },
    /// Remove a session.
    Delete {
        /// Which.
        session: SessionId,
        /// What to do then.
        committed: Committed,
    },
}

/// Changes of one session that belong together.
pub struct Batch {
    /// Which.
    pub session: SessionId,
    /// The session's last afterwards.
    pub seq: u64,
    /// In order.
    pub changes: Vec<Change>,
    /// What to do then.
    pub committed: Committed,
}

/// Is told of a session that something was committed for.
pub type Listener = Box<dyn Fn(&SessionId) + Send>;

/// All who are told.
pub type Listeners = Arc<Mutex<Vec<Listener>>>;

/// More than this in one transaction would make the first of them wait for the last.
const MOST_ORDERS: usize = 512;

/// How long to wait before a failed commit is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Owns the writing connection.
pub struct Writer {
    connection: Connection,
    health: watch::Sender<Health>,
    /// Below the connection, which must be closed first.
    checkpoints: Checkpoints,
    listeners: Listeners,
}

impl Writer {
    /// Takes the connection over.
    pub fn new(
        connection: Connection,
        health: watch::Sender<Health>,
        checkpoints: Checkpoints,
        listeners: Listeners,
    ) -> Self {
        Self { connection, health, checkpoints, listeners }
    }

    /// Commits until the journal is closed or every handle of it is gone.
    pub fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let mut lot = vec![first];
            while lot.len() < MOST_ORDERS {
                match orders.try_recv() {
                    Ok(order) => lot.push(order),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            while let Err(error) = self.commit(&lot) {
                tracing::error!(%error, "the journal cannot write; trying again in a second");
                self.health.send_replace(Health::Full { reason: error.to_string() });
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
                        committed();
                        self.tell(&session);
                    }
                    Order::Keep { .. } => {}
                    Order::Close { closed } => closing.push(closed),
                    Order::Delete { committed, .. } => {
                        // What was deleted is still in the log until that is folded and cut.
                        self.fold();
                        committed();
                    }
                }
            }
            if !closing.is_empty() {
                // Whoever closes a database last folds its log into it and removes the log.
                drop(self.connection);
                drop(self.checkpoints);
                closing.into_iter().for_each(|closed| closed());
                return;
            }
        }
    }

    /// A log that can't be folded now is folded later, at the next start at the latest; nothing of it is lost.
    fn fold(&self) {
        let folded = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        match folded {
            Ok(false) => {}
            Ok(true) => tracing::warn!("someone reads the journal, so its log is not folded yet"),
            Err(error) => tracing::warn!(%error, "the journal's log could not be folded"),
        }
    }

    fn tell(&self, session: &SessionId) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener(session));
    }

    /// All or nothing, so that a failed lot can be tried again as it is.
    fn commit(&mut self, lot: &[Order]) -> rusqlite::Result<()> {
        // The lock is taken first: who has begun to read does not wait for the checkpoint's, but fails.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for order in lot {
            match order {
                Order::Commit(batch) => write_batch(&transaction, batch)?,
                Order::Interrupt { session, .. } => {
                    let session = session_row(&transaction, session)?;
                    close_what_is_open(&transaction, Some(session))?;
                }
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
            Change::Item(item) => write_item(transaction, session, item)?,
            Change::Grew { item, seq, status, source_timestamp, emitted_at, text } => {
                let body: i64 = transaction
                    .prepare_cached(
                        "UPDATE item SET seq = ?3, status = ?4, source_at = ?5, emitted_at = ?6
                         WHERE session = ?1 AND item_id = ?2 RETURNING body",
                    )?
                    .query_row(
                        params![
                            session,
                            item.as_str(),
                            seq.cast_signed(),
                            word(status)?,
                            source_timestamp.as_millis(),
                            emitted_at.as_millis()
                        ],
                        |row| row.get(0),
                    )?;
                transaction
                    .prepare_cached("INSERT INTO tail (body, text) VALUES (?1, ?2)")?
                    .execute(params![body, text])?;
            }
            Change::Turn(turn) => write_turn(transaction, session, turn)?,
            Change::Mark(mark) => {
                transaction
                    .prepare_cached("UPDATE session SET mark = ?2 WHERE id = ?1")?
                    .execute(params![session, json(mark)?])?;
            }
            Change::Meta { title, last_active_at } => {
                transaction
                    .prepare_cached(
                        "UPDATE session SET title = coalesce(?2, title), last_active_at = ?3 WHERE id = ?1",
                    )?
                    .execute(params![session, title, last_active_at.as_millis()])?;
            }
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
    transaction
        .prepare_cached("UPDATE session SET seq = max(seq, ?2) WHERE id = ?1")?
        .execute(params![session, batch.seq.cast_signed()])?;
    Ok(())
}

/// Only of items that are still what was rendered.
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

/// The row of a session, made at its first change.
fn session_row(transaction: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<i64> {
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
    // By its name: what an agent tells a second time, in another run of ours, keeps its first place.
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

fn delete_session(transaction: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<()> {
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
