//! Reads a session's row, its last page, the pages above and below, and the changes since a `seq`.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use liminal_contract::{ItemId, SessionFacts, SessionId, Timestamp, TurnId, TurnOutcome};
use liminal_stream::{HistoryMark, Source};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::listed::last_outcome;
use super::schema::SEQ;
use super::stored::{StoredItem, maybe_word, parsed, word};
use super::{Item, Request, TurnRow, facts};

/// A page of history stops at this many items,
const PAGE_ITEMS: usize = 200;
/// or at this many bytes, as the caller counts them.
const PAGE_BYTES: usize = 512 * 1024;
/// A browser further behind than this gets a snapshot.
const MOST_SINCE: usize = 500;

#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Identifies its transcript.
    pub stream: String,
    /// Its last change.
    pub seq: u64,
    /// The index of the next item.
    pub next_index: u64,
    /// How far the agent's own history goes.
    pub mark: Option<HistoryMark>,
    /// How its last turn ended; `None` also while it runs.
    pub last_outcome: Option<TurnOutcome>,
    pub facts: SessionFacts,
}

/// Items in order, each converted as the caller needs it, and their turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The session, in the same view as the items.
    pub session: SessionRow,
    /// In index order.
    pub items: Vec<T>,
    /// The turns of these items, and any other turn that changed.
    pub turns: Vec<TurnRow>,
    /// There are more items above.
    pub older: bool,
    /// There are more items below.
    pub newer: bool,
}

/// Converts an item for the caller and tells its size in bytes.
pub trait See<T>: Fn(&StoredItem<'_>) -> rusqlite::Result<(T, usize)> {}

impl<T, F: Fn(&StoredItem<'_>) -> rusqlite::Result<(T, usize)>> See<T> for F {}

/// Reads from one consistent view of the database.
pub struct Reader<'c> {
    pub(super) view: &'c Transaction<'c>,
}

pub(super) const ITEM: &str =
    "SELECT i.idx, i.seq, i.item_id, i.turn_id, i.status, i.started_at, i.source_at,
        i.emitted_at, i.failure, i.parent_call_id, i.request_id, b.source, b.blocks,
        b.render_version, b.id, i.kind
    FROM item i JOIN body b ON b.id = i.body";

/// Chooses the last turn among those of one session. By `seq`, because clocks may go back.
pub(super) const LAST_TURN: &str = "ORDER BY seq DESC LIMIT 1";

/// Items above an index of a transcript, or from it on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Above(u64),
    From(u64),
}

impl<'c> Reader<'c> {
    pub fn new(view: &'c Transaction<'c>) -> Self {
        Self { view }
    }

    /// The session's row; `None` when the journal has never seen it.
    pub fn session(&self, session: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
        Ok(self.find(session)?.map(|(_, row)| row))
    }

    /// The last page. `see` converts each item as it is read, so that at most one whole item is in memory.
    pub fn end<T>(
        &self,
        session: &SessionId,
        see: impl See<T>,
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
        see: impl See<T>,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let mut run = Run::new(PAGE_ITEMS, PAGE_BYTES);
        self.each(session, id, Side::Above(before), |item| run.push_front(item, &see))?;
        Ok(Some(self.page(id, row, run)?))
    }

    /// The page that starts just after an index.
    pub fn page_after<T>(
        &self,
        session: &SessionId,
        after: u64,
        see: impl See<T>,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let mut run = Run::new(PAGE_ITEMS, PAGE_BYTES);
        let from = after.saturating_add(1);
        self.each(session, id, Side::From(from), |item| run.push_back(item, &see))?;
        Ok(Some(self.page(id, row, run)?))
    }

    /// The page around an item, a quarter of it above the item; the last page when there is no such item.
    pub fn around<T>(
        &self,
        session: &SessionId,
        item: &ItemId,
        see: impl See<T>,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        let place: Option<i64> = self
            .view
            .prepare_cached("SELECT idx FROM item WHERE session = ?1 AND item_id = ?2")?
            .query_row(params![id, item.as_str()], |row| row.get(0))
            .optional()?;
        let Some(place) = place.map(i64::cast_unsigned) else { return self.end(session, see) };
        let mut run = Run::new(PAGE_ITEMS / 4, PAGE_BYTES / 4);
        self.each(session, id, Side::Above(place), |item| run.push_front(item, &see))?;
        run.extend(PAGE_ITEMS, PAGE_BYTES);
        self.each(session, id, Side::From(place), |item| run.push_back(item, &see))?;
        let mut page = self.page(id, row, run)?;
        // A browser in the middle must still learn that the agent is working.
        self.add_running_turn(session, &mut page.turns)?;
        Ok(Some(page))
    }

    /// The changes after `seq`; `None` when there are so many that a snapshot is cheaper.
    pub fn since<T>(
        &self,
        session: &SessionId,
        seq: u64,
        see: impl See<T>,
    ) -> rusqlite::Result<Option<Page<T>>> {
        let Some((id, row)) = self.find(session)? else { return Ok(None) };
        // An item that only grew has its newest `seq` in its tail. A text that its turn left open is shown in another
        // way once the turn has ended, although nothing was written of it since.
        let mut statement = self.view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.idx IN (
                SELECT idx FROM item WHERE session = ?1 AND seq > ?2
                UNION SELECT idx FROM item INDEXED BY item_open
                WHERE session = ?1 AND status IN ('create', 'update')
                  AND ((SELECT max(seq) FROM tail WHERE body = item.body) > ?2
                    OR turn_id IN (SELECT turn_id FROM turn WHERE session = ?1 AND seq > ?2))
                LIMIT ?3)
             ORDER BY i.idx"
        ))?;
        let limit = (MOST_SINCE + 1).cast_signed() as i64;
        let mut rows = statement.query(params![id, seq.cast_signed(), limit])?;
        let mut run = Run::new(MOST_SINCE + 1, 2 * PAGE_BYTES);
        while let Some(row) = rows.next()? {
            let item = StoredItem::of(self.view, session, row)?;
            if run.push_back(&item, &see)?.is_break() {
                return Ok(None);
            }
        }
        let items = run.items.into_iter().map(|(_, item)| item).collect();
        let turns =
            self.turns_where("session = ?1 AND seq > ?2", params![id, seq.cast_signed()])?;
        Ok(Some(Page { session: row, items, turns, older: false, newer: false }))
    }

    pub fn item_named(&self, session: &SessionId, item: &ItemId) -> rusqlite::Result<Option<Item>> {
        let Some((id, _)) = self.find(session)? else { return Ok(None) };
        self.view
            .prepare_cached(&format!("{ITEM} WHERE i.session = ?1 AND i.item_id = ?2"))?
            .query_row(params![id, item.as_str()], |row| self.item(session, row))
            .optional()
    }

    /// The accepted send with that id, if any.
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

    /// An image: its type and its bytes.
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
                "SELECT id, stream, {SEQ}, mark,
                        (SELECT coalesce(max(idx) + 1, 0) FROM item WHERE session = session.id),
                        {}
                     FROM session WHERE session_id = ?1",
                last_outcome()
            ))?
            .query_row([session.as_str()], |row| {
                let session = SessionRow {
                    stream: row.get(1)?,
                    seq: row.get::<_, i64>(2)?.cast_unsigned(),
                    mark: parsed(row, 3)?,
                    next_index: row.get::<_, i64>(4)?.cast_unsigned(),
                    last_outcome: maybe_word(row, 5)?,
                    facts: facts::read(self.view, row.get(0)?)?,
                };
                Ok((row.get(0)?, session))
            })
            .optional()
    }

    /// Items on one side of an index, nearest first, read one by one.
    pub(super) fn each(
        &self,
        session: &SessionId,
        id: i64,
        which: Side,
        mut take: impl FnMut(&StoredItem<'_>) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        let (rows, index) = match which {
            Side::Above(index) => ("i.idx < ?2 ORDER BY i.idx DESC", index),
            Side::From(index) => ("i.idx >= ?2 ORDER BY i.idx", index),
        };
        let mut statement =
            self.view.prepare_cached(&format!("{ITEM} WHERE i.session = ?1 AND {rows}"))?;
        let mut rows = statement.query(params![id, index.cast_signed()])?;
        while let Some(row) = rows.next()? {
            if take(&StoredItem::of(self.view, session, row)?)?.is_break() {
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

    /// Turns in the order they last changed, by `seq`: clocks may go back.
    pub(super) fn turns_where(
        &self,
        which: &str,
        than: impl rusqlite::Params,
    ) -> rusqlite::Result<Vec<TurnRow>> {
        self.view
            .prepare_cached(&format!("SELECT * FROM turn WHERE {which} ORDER BY seq"))?
            .query_map(than, turn)?
            .collect()
    }

    /// A running turn without items would be missing from the page otherwise.
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

    pub(super) fn item(&self, session: &SessionId, row: &Row<'_>) -> rusqlite::Result<Item> {
        StoredItem::of(self.view, session, row)?.read()
    }
}

/// Consecutive items, up to a limit of items and bytes.
struct Run<T> {
    /// With their indexes.
    items: VecDeque<(u64, T)>,
    /// Their turns, each once, in order.
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

    /// Raises the limits: items in total, bytes in addition.
    fn extend(&mut self, most_items: usize, more_bytes: usize) {
        (self.most_items, self.most_bytes) = (most_items, self.bytes + more_bytes);
    }

    fn push_front(
        &mut self,
        item: &StoredItem<'_>,
        see: &impl See<T>,
    ) -> rusqlite::Result<ControlFlow<()>> {
        if self.turns.iter().all(|turn| turn.as_str() != item.turn_id) {
            self.turns.push_front(TurnId::new(item.turn_id));
        }
        let (seen, bytes) = see(item)?;
        self.bytes += bytes;
        self.items.push_front((item.index, seen));
        Ok(self.full())
    }

    fn push_back(
        &mut self,
        item: &StoredItem<'_>,
        see: &impl See<T>,
    ) -> rusqlite::Result<ControlFlow<()>> {
        if self.turns.iter().all(|turn| turn.as_str() != item.turn_id) {
            self.turns.push_back(TurnId::new(item.turn_id));
        }
        let (seen, bytes) = see(item)?;
        self.bytes += bytes;
        self.items.push_back((item.index, seen));
        Ok(self.full())
    }

    fn full(&self) -> ControlFlow<()> {
        if self.items.len() >= self.most_items || self.bytes > self.most_bytes {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

pub(super) fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
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
