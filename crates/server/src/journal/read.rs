//! Reading: a session's row, its end, what changed since, what is above.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use liminal_contract::{ItemId, SessionId, Timestamp, TurnId};
use liminal_stream::{HistoryMark, Source, Upsert};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::de::DeserializeOwned;

use super::{Blocks, Item, Request, TurnRow};

/// A page of history stops at this many items,
const PAGE_ITEMS: usize = 200;
/// or at this many bytes of source.
const PAGE_BYTES: usize = 512 * 1024;
/// A browser further behind than this gets a snapshot.
const MOST_SINCE: usize = 500;

/// What the journal knows of a session itself.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Of its transcript.
    pub stream: String,
    /// Of its last change.
    pub seq: u64,
    /// The place of the next item.
    pub next_index: u64,
    /// How far the agent's own history goes.
    pub mark: Option<HistoryMark>,
    /// Whether its last turn failed.
    pub failed: bool,
}

/// Items in order, as whoever asked sees them, and their turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The session, in the same view as the items.
    pub session: SessionRow,
    /// In index order.
    pub items: Vec<T>,
    /// The turns of these items, and any other turn that changed.
    pub turns: Vec<TurnRow>,
    /// There is more above.
    pub older: bool,
    /// There is more below.
    pub newer: bool,
}

/// Reads in one view of the database.
pub struct Reader<'c> {
    pub(super) view: &'c Transaction<'c>,
}

const ITEM: &str = "SELECT i.idx, i.seq, i.item_id, i.turn_id, i.status, i.started_at, i.source_at,
        i.emitted_at, i.failure, i.parent_call_id, i.request_id, b.source, b.blocks,
        b.render_version, b.id
    FROM item i JOIN body b ON b.id = i.body";

/// Whether the last turn of a session failed.
const FAILED: &str = "(SELECT outcome = 'failed' FROM turn WHERE session = session.id
    ORDER BY seq DESC LIMIT 1)";

impl<'c> Reader<'c> {
    /// Reads through this transaction.
    pub fn new(view: &'c Transaction<'c>) -> Self {
        Self { view }
    }

    /// The session's row; `None` when the journal has never seen it.
    pub fn session(&self, session: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
        Ok(self.find(session)?.map(|(_, row)| row))
    }

    /// What the journal was told of titles and activity.
    pub fn metas(&self) -> rusqlite::Result<Vec<(SessionId, Option<String>, Timestamp)>> {
        let mut statement = self.view.prepare(
            "SELECT session_id, title, last_active_at FROM session WHERE last_active_at IS NOT NULL",
        )?;
        let mut rows = statement.query([])?;
        let mut metas = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(session) = SessionId::parse(row.get_ref(0)?.as_str()?) {
                metas.push((session, row.get(1)?, Timestamp::from_millis(row.get(2)?)));
            }
        }
        Ok(metas)
    }

    /// The sessions whose last turn failed.
    pub fn failed(&self) -> rusqlite::Result<Vec<SessionId>> {
        let sql = format!("SELECT session_id FROM session WHERE {FAILED}");
        let mut statement = self.view.prepare(&sql)?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.filter_map(|id| id.map(|id| SessionId::parse(&id).ok()).transpose()).collect()
    }

    /// The last page. Each item is seen as it is read, so that no more than one is ever held whole.
    pub fn end<T>(
        &self,
        session: &SessionId,
        see: impl Fn(Item) -> T,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let mut page = self.page_before(session, u64::MAX >> 1, see)?;
        if let Some(page) = &mut page {
            self.add_running_turn(session, &mut page.turns)?;
        }
        Ok(page)
    }

    /// The page that ends just before an index.
    pub fn page_before<T>(
        &self,
        session: &SessionId,
        before: u64,
        see: impl Fn(Item) -> T,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let mut run = Run::new(PAGE_ITEMS, PAGE_BYTES);
        self.each_above(session, id, before, |item| run.push_front(item, &see))?;
        Ok(Some(self.page(id, row, run)?))
    }

    /// The page that begins just after an index.
    pub fn page_after<T>(
        &self,
        session: &SessionId,
        after: u64,
        see: impl Fn(Item) -> T,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let mut run = Run::new(PAGE_ITEMS, PAGE_BYTES);
        let from = after.saturating_add(1);
        self.each_from(session, id, from, |item| run.push_back(item, &see))?;
        Ok(Some(self.page(id, row, run)?))
    }

    /// The page with an item in it, a quarter of it above the item; the end when there is no such item.
    pub fn around<T>(
        &self,
        session: &SessionId,
        item: &ItemId,
        see: impl Fn(Item) -> T,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let place: Option<i64> = self
            .view
            .prepare_cached("SELECT idx FROM item WHERE session = ?1 AND item_id = ?2")?
            .query_row(params![id, item.as_str()], |row| row.get(0))
            .optional()?;
        let Some(place) = place.map(i64::cast_unsigned) else { return self.end(session, see) };
        let mut run = Run::new(PAGE_ITEMS / 4, PAGE_BYTES / 4);
        self.each_above(session, id, place, |item| run.push_front(item, &see))?;
        run.go_on(PAGE_ITEMS, PAGE_BYTES);
        self.each_from(session, id, place, |item| run.push_back(item, &see))?;
        let mut page = self.page(id, row, run)?;
        // Whoever reads in the middle must still learn that the agent is at work.
        self.add_running_turn(session, &mut page.turns)?;
        Ok(Some(page))
    }

    /// What changed after `seq`; `None` when that is too much to be worth it.
    pub fn since<T>(
        &self,
        session: &SessionId,
        seq: u64,
        see: impl Fn(Item) -> T,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let mut statement = self.view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.seq > ?2 ORDER BY i.seq LIMIT ?3"
        ))?;
        let limit = (MOST_SINCE + 1).cast_signed() as i64;
        let mut rows = statement.query(params![id, seq.cast_signed(), limit])?;
        let mut run = Run::new(MOST_SINCE + 1, 2 * PAGE_BYTES);
        while let Some(row) = rows.next()? {
            if run.push_back(self.item(session, row)?, &see).is_break() {
                return Ok(None);
            }
        }
        let mut items = Vec::from(run.items);
        items.sort_by_key(|(index, _)| *index);
        let items = items.into_iter().map(|(_, item)| item).collect();
        let turns =
            self.turns_where("session = ?1 AND seq > ?2", params![id, seq.cast_signed()])?;
        Ok(Some(Page { session: row, items, turns, older: false, newer: false }))
    }

    /// One item.
    pub fn item_named(&self, session: &SessionId, item: &ItemId) -> rusqlite::Result<Option<Item>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        self.view
            .prepare_cached(&format!("{ITEM} WHERE i.session = ?1 AND i.item_id = ?2"))?
            .query_row(params![id, item.as_str()], |row| self.item(session, row))
            .optional()
    }

    /// The send of that id, if one was accepted.
    pub fn request(
        &self,
        session: &SessionId,
        request_id: &str,
    ) -> rusqlite::Result<Option<Request>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        let item = self
            .view
            .prepare_cached(&format!("{ITEM} WHERE i.session = ?1 AND i.request_id = ?2"))?
            .query_row(params![id, request_id], |row| self.item(session, row))
            .optional()?;
        Ok(item.and_then(|item| match item.upsert.source {
            Source::Message { content, .. } => {
                Some(Request { turn_id: item.upsert.turn_id, content })
            }
            _ => None,
        }))
    }

    /// A picture: its type and its bytes.
    pub fn image(
        &self,
        session: &SessionId,
        name: &str,
    ) -> rusqlite::Result<Option<(String, Vec<u8>)>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        self.view
            .query_row(
                "SELECT mime_type, data FROM image WHERE session = ?1 AND name = ?2",
                params![id, name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
    }

    pub(super) fn find(&self, session: &SessionId) -> rusqlite::Result<Option<(i64, SessionRow)>> {
        self.view
            .prepare_cached(&format!(
                "SELECT id, stream, seq, mark,
                        (SELECT coalesce(max(idx) + 1, 0) FROM item WHERE session = session.id),
                        {FAILED}
                     FROM session WHERE session_id = ?1"
            ))?
            .query_row([session.as_str()], |row| {
                let session = SessionRow {
                    stream: row.get(1)?,
                    seq: row.get::<_, i64>(2)?.cast_unsigned(),
                    mark: parsed(row, 3)?,
                    next_index: row.get::<_, i64>(4)?.cast_unsigned(),
                    failed: row.get::<_, Option<bool>>(5)?.unwrap_or(false),
                };
                Ok((row.get(0)?, session))
            })
            .optional()
    }

    /// Items above an index, nearest first.
    fn each_above(
        &self,
        session: &SessionId,
        id: i64,
        before: u64,
        mut take: impl FnMut(Item) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.idx < ?2 ORDER BY i.idx DESC"
        ))?;
        let mut rows = statement.query(params![id, before.cast_signed()])?;
        while let Some(row) = rows.next()? {
            if take(self.item(session, row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// A run of items with their turns.
    fn page<T>(&self, id: i64, session: SessionRow, run: Run<T>) -> rusqlite::Result<Page<T>> {
        let mut statement =
            self.view.prepare_cached("SELECT * FROM turn WHERE session = ?1 AND turn_id = ?2")?;
        let mut turns = Vec::new();
        for turn_id in &run.turns {
            turns.extend(statement.query_row(params![id, turn_id.as_str()], turn).optional()?);
        }
        let older = run.items.front().is_some_and(|(index, _)| *index > 0);
        let newer = run.items.back().is_some_and(|(index, _)| index + 1 < session.next_index);
        let items = run.items.into_iter().map(|(_, item)| item).collect();
        Ok(Page { session, items, turns, older, newer })
    }

    /// Turns in order.
    pub(super) fn turns_where(
        &self,
        which: &str,
        than: impl rusqlite::Params,
    ) -> rusqlite::Result<Vec<TurnRow>> {
        self.view
            .prepare_cached(&format!("SELECT * FROM turn WHERE {which} ORDER BY started_at, seq"))?
            .query_map(than, turn)?
            .collect()
    }

    /// Items as they stand in the transcript, read one by one, from an index on.
    pub(super) fn each_from(
        &self,
        session: &SessionId,
        id: i64,
        from: u64,
        mut take: impl FnMut(Item) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.idx >= ?2 ORDER BY i.idx"
        ))?;
        let mut rows = statement.query(params![id, from.cast_signed()])?;
        while let Some(row) = rows.next()? {
            if take(self.item(session, row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// A turn that runs and has no item yet is known to nobody who only sees items.
    fn add_running_turn(
        &self,
        session: &SessionId,
        turns: &mut Vec<TurnRow>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.view.prepare_cached(
            "SELECT * FROM turn WHERE ended_at IS NULL
             AND session = (SELECT id FROM session WHERE session_id = ?1)",
        )?;
        for running in statement.query_map([session.as_str()], turn)? {
            let running = running?;
            if turns.iter().all(|turn| turn.turn_id != running.turn_id) {
                turns.push(running);
            }
        }
        Ok(())
    }

    fn item(&self, session: &SessionId, row: &Row<'_>) -> rusqlite::Result<Item> {
        let mut source: Source = json(row, 11)?;
        let body: i64 = row.get(14)?;
        let mut tails =
            self.view.prepare_cached("SELECT text FROM tail WHERE body = ?1 ORDER BY id")?;
        let mut rows = tails.query([body])?;
        while let Some(tail) = rows.next()? {
            let text: String = tail.get(0)?;
            match &mut source {
                Source::Message { content, .. } | Source::Thinking { content, .. } => {
                    content.push_str(&text);
                }
                Source::ToolCall(call) => {
                    call.tool_output.get_or_insert_default().push_str(&text);
                }
                Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => {}
            }
        }
        let html: Option<Vec<String>> = parsed(row, 12)?;
        let version: Option<u32> = row.get(13)?;
        Ok(Item {
            index: row.get::<_, i64>(0)?.cast_unsigned(),
            seq: row.get::<_, i64>(1)?.cast_unsigned(),
            request_id: row.get(10)?,
            blocks: html.zip(version).map(|(html, version)| Blocks { version, html }),
            upsert: Upsert {
                session_id: session.clone(),
                item_id: ItemId::new(row.get::<_, String>(2)?),
                turn_id: TurnId::new(row.get::<_, String>(3)?),
                status: word(row, 4)?,
                started_at: Timestamp::from_millis(row.get(5)?),
                source_timestamp: Timestamp::from_millis(row.get(6)?),
                emitted_at: Timestamp::from_millis(row.get(7)?),
                failure: parsed(row, 8)?,
                parent_call_id: row.get(9)?,
                source,
            },
        })
    }
}

/// Items that stand next to each other, up to a measure.
struct Run<T> {
    /// With their places.
    items: VecDeque<(u64, T)>,
    /// Theirs, each once, in order.
    turns: VecDeque<TurnId>,
    bytes: usize,
    most_items: usize,
    most_bytes: usize,
}

impl<T> Run<T> {
    fn new(most_items: usize, most_bytes: usize) -> Self {
        let (items, turns) = (VecDeque::new(), VecDeque::new());
        Self { items, turns, bytes: 0, most_items, most_bytes }
    }

    /// Takes so many in all, and so many bytes more.
    fn go_on(&mut self, most_items: usize, more_bytes: usize) {
        (self.most_items, self.most_bytes) = (most_items, self.bytes + more_bytes);
    }

    fn push_front(&mut self, item: Item, see: &impl Fn(Item) -> T) -> ControlFlow<()> {
        if !self.turns.contains(&item.upsert.turn_id) {
            self.turns.push_front(item.upsert.turn_id.clone());
        }
        self.bytes += weight(&item);
        self.items.push_front((item.index, see(item)));
        self.full()
    }

    fn push_back(&mut self, item: Item, see: &impl Fn(Item) -> T) -> ControlFlow<()> {
        if !self.turns.contains(&item.upsert.turn_id) {
            self.turns.push_back(item.upsert.turn_id.clone());
        }
        self.bytes += weight(&item);
        self.items.push_back((item.index, see(item)));
        self.full()
    }

    fn full(&self) -> ControlFlow<()> {
        if self.items.len() >= self.most_items || self.bytes > self.most_bytes {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// About how much an item weighs in a frame.
fn weight(item: &Item) -> usize {
    let source = match &item.upsert.source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => content.len(),
        Source::ToolCall(call) => {
            call.tool_output.as_ref().map_or(0, |output| output.len().min(64 * 1024))
        }
        Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => 256,
    };
    source + item.blocks.as_ref().map_or(source, |blocks| blocks.html.iter().map(String::len).sum())
}

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        turn_id: TurnId::new(row.get::<_, String>(1)?),
        seq: row.get::<_, i64>(2)?.cast_unsigned(),
        origin: word(row, 3)?,
        started_at: Timestamp::from_millis(row.get(4)?),
        ended_at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
        outcome: maybe_word(row, 6)?,
        stop_reason: row.get(7)?,
        model_id: row.get(8)?,
        usage: parsed(row, 9)?,
        error_code: maybe_word(row, 10)?,
        error_message: row.get(11)?,
        details: parsed(row, 12)?,
    })
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| damaged(column, error))
}

fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)?.as_str_or_null()? {
        Some(text) => serde_json::from_str(text).map(Some).map_err(|error| damaged(column, error)),
        None => Ok(None),
    }
}

fn maybe_word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| from_word(&text, column)).transpose()
}

fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    from_word(&row.get::<_, String>(column)?, column)
}

fn from_word<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::from(text)).map_err(|error| damaged(column, error))
}

fn damaged(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
