//! Copies the beginning of a session's transcript into a new session.

use std::ops::ControlFlow;

use liminal_contract::{FactsChange, ItemId, MessageQueue, SessionId, TurnId};
use liminal_stream::Source;
use rusqlite::{OptionalExtension, Transaction, params};

use super::read::{Reader, Side};
use super::write::session_row;
use super::{Item, attached, facts, interrupt, listed};

/// A new session from the beginning of another one.
#[derive(Debug, Clone)]
pub struct Branch {
    pub from: SessionId,
    pub to: SessionId,
    /// The first item that is left out.
    pub before: u64,
    /// The messages that wait in the new session from the start.
    pub queue: MessageQueue,
}

/// What is on both sides of a cut.
#[derive(Debug, Clone)]
pub struct Cut {
    /// The index of the first item that is left out.
    pub before: u64,
    /// The last item that is kept.
    pub last: Option<Item>,
    /// How many earlier items of its turn have the same words.
    pub same: usize,
    /// The first item that is left out, and its turn.
    pub next: Option<(ItemId, TurnId)>,
}

/// Which recorded state of the files belongs to a point of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesAt {
    /// The one before this turn, the first that is left out.
    Before(TurnId),
    /// None: no turn came after it, so it is the state now.
    Now,
    /// None: tool calls of the same turn came after it.
    WithinTurn,
}

impl Reader<'_> {
    /// The state of the files above an index. `None` if the journal has no such session.
    pub fn files_at(&self, session: &SessionId, before: u64) -> rusqlite::Result<Option<FilesAt>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        let last: Option<String> = self
            .view
            .prepare_cached(
                "SELECT turn_id FROM item WHERE session = ?1 AND idx < ?2 ORDER BY idx DESC LIMIT 1",
            )?
            .query_row(params![id, before.cast_signed()], |row| row.get(0))
            .optional()?;
        let mut rest = self.view.prepare_cached(
            "SELECT turn_id, kind FROM item WHERE session = ?1 AND idx >= ?2 ORDER BY idx",
        )?;
        let mut rest = rest.query(params![id, before.cast_signed()])?;
        while let Some(row) = rest.next()? {
            let (turn, kind): (String, String) = (row.get(0)?, row.get(1)?);
            if last.as_ref() != Some(&turn) {
                return Ok(Some(FilesAt::Before(TurnId::new(turn))));
            }
            if kind == "tool_call" {
                return Ok(Some(FilesAt::WithinTurn));
            }
        }
        Ok(Some(FilesAt::Now))
    }

    /// What is on both sides of an index. `None` if the journal has no such session.
    pub fn cut(&self, session: &SessionId, before: u64) -> rusqlite::Result<Option<Cut>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        let mut cut = Cut { before, last: None, same: 0, next: None };
        self.each(session, id, Side::Above(before), |item| {
            let Some(last) = &cut.last else {
                cut.last = Some(item.read()?);
                return Ok(ControlFlow::Continue(()));
            };
            if last.upsert.turn_id.as_str() != item.turn_id {
                return Ok(ControlFlow::Break(()));
            }
            let item = item.read()?;
            cut.same += usize::from(words(&item).is_some() && words(&item) == words(last));
            Ok(ControlFlow::Continue(()))
        })?;
        cut.next = self
            .view
            .prepare_cached(
                "SELECT item_id, turn_id FROM item WHERE session = ?1 AND idx >= ?2
                 ORDER BY idx LIMIT 1",
            )?
            .query_row(params![id, before.cast_signed()], |row| {
                Ok((ItemId::new(row.get::<_, String>(0)?), TurnId::new(row.get::<_, String>(1)?)))
            })
            .optional()?;
        Ok(Some(cut))
    }
}

fn words(item: &Item) -> Option<&str> {
    match &item.upsert.source {
        Source::Message { content, .. } => Some(content),
        _ => None,
    }
}

/// Items keep their ids and indices. What was open is closed: its agent works for the other session.
pub(super) fn write(transaction: &Transaction<'_>, branch: &Branch) -> rusqlite::Result<()> {
    let to = session_row(transaction, &branch.to)?;
    let from = transaction
        .prepare_cached("SELECT id FROM session WHERE session_id = ?1")?
        .query_row([branch.from.as_str()], |row| row.get(0))
        .optional()?;
    // It may have been deleted meanwhile, which must not bring it back.
    if let Some(from) = from {
        copy(transaction, from, to, branch.before)?;
    }
    let queue = Some(branch.queue.clone());
    facts::write(transaction, to, &FactsChange { queue, ..FactsChange::default() })?;
    listed::look(transaction, &branch.to)
}

fn copy(transaction: &Transaction<'_>, from: i64, to: i64, before: u64) -> rusqlite::Result<()> {
    let copied: Vec<(i64, i64, String)> = transaction
        .prepare("SELECT idx, body, kind FROM item WHERE session = ?1 AND idx < ?2 ORDER BY idx")?
        .query_map(params![from, before.cast_signed()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (index, body, kind) in copied {
        let source: String = transaction
            .prepare_cached("SELECT source FROM body WHERE id = ?1")?
            .query_row([body], |row| row.get(0))?;
        transaction
            .prepare_cached(
                "INSERT INTO body (source, blocks, render_version)
                 SELECT source, blocks, render_version FROM body WHERE id = ?1",
            )?
            .execute([body])?;
        let copy = transaction.last_insert_rowid();
        transaction
            .prepare_cached(
                "INSERT INTO tail (body, seq, source_at, emitted_at, text)
                 SELECT ?2, seq, source_at, emitted_at, text FROM tail WHERE body = ?1",
            )?
            .execute([body, copy])?;
        transaction
            .prepare_cached(
                "INSERT INTO item (session, idx, seq, item_id, turn_id, kind, status, started_at,
                                   source_at, emitted_at, failure, parent_call_id, body)
                 SELECT ?3, idx, seq, item_id, turn_id, kind, status, started_at,
                        source_at, emitted_at, failure, parent_call_id, ?4
                 FROM item WHERE session = ?1 AND idx = ?2",
            )?
            .execute([from, index, to, copy])?;
        if kind == "message"
            && let Ok(source) = serde_json::from_str::<Source>(&source)
        {
            attached::write(transaction, to, &source)?;
        }
    }
    for sql in [
        "INSERT INTO turn SELECT ?2, turn_id, seq, origin, started_at, ended_at, outcome,
                stop_reason, model_id, usage, error_code, error_message, details
         FROM turn WHERE session = ?1 AND turn_id IN
            (SELECT turn_id FROM item WHERE session = ?2)",
        "INSERT INTO checkpoint
         SELECT ?2, turn_id, moment, tree, late, left_out, branch, head
         FROM checkpoint WHERE session = ?1 AND (moment = 'looked' OR turn_id IN
            (SELECT turn_id FROM item WHERE session = ?2))",
        "INSERT INTO image SELECT ?2, name, mime_type, data FROM image WHERE session = ?1",
    ] {
        transaction.execute(sql, [from, to])?;
    }
    interrupt::close_interrupted(transaction, Some(to))
}
