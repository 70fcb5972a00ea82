//! Reads a session for a browser: its end, the changes since a cursor, or the part around an item.

use std::cell::RefCell;

use liminal_contract::{
    Cursor, Entry, Frame, HistoryMode, ItemId, Policy, ServerMessage, SessionId,
};

use super::view;
use crate::journal::{Journal, JournalError, Page, Reader, StoredItem};

#[derive(Debug, Clone)]
pub struct Wanted {
    /// The last change the browser has.
    pub since: Option<Cursor>,
    /// Open at this item instead of the end.
    pub around: Option<ItemId>,
}

pub struct History {
    pub frame: Frame,
    /// Where the session was when it was read: the frame contains everything up to it.
    pub seq: u64,
}

/// Reads and renders from one snapshot of the journal, off the runtime.
pub async fn read(
    journal: &Journal,
    session: SessionId,
    wanted: Wanted,
    policy: Policy,
    request_id: Option<String>,
) -> Result<History, JournalError> {
    seen(journal, session, move |reader, session, see| {
        if let Some(cursor) = &wanted.since
            && let Some(row) = reader.session(session)?
            && row.stream == cursor.stream
            && cursor.seq <= row.seq
            && let Some(page) = reader.since(session, cursor.seq, see)?
        {
            return Ok(history(session, Some(page), HistoryMode::Since, policy, request_id));
        }
        let page = match &wanted.around {
            Some(item) => reader.around(session, item, see)?,
            None => reader.end(session, see)?,
        };
        Ok(history(session, page, HistoryMode::Snapshot, policy, request_id))
    })
    .await
}

/// The page above an index.
pub async fn older(
    journal: &Journal,
    session: SessionId,
    before: u64,
) -> Result<ServerMessage, JournalError> {
    seen(journal, session, move |reader, session, see| {
        let page = reader.page_before(session, before, see)?;
        let (entries, turns, older) =
            page.map_or_else(Default::default, |page| (page.items, page.turns, page.older));
        let turns = turns.into_iter().map(view::turn).collect();
        let session_id = session.clone();
        Ok(ServerMessage::SessionOlder { session_id, entries, turns, before, older })
    })
    .await
}

/// The page below an index.
pub async fn newer(
    journal: &Journal,
    session: SessionId,
    after: u64,
) -> Result<ServerMessage, JournalError> {
    seen(journal, session, move |reader, session, see| {
        let page = reader.page_after(session, after, see)?;
        let (entries, turns, newer) =
            page.map_or_else(Default::default, |page| (page.items, page.turns, page.newer));
        let turns = turns.into_iter().map(view::turn).collect();
        let session_id = session.clone();
        Ok(ServerMessage::SessionNewer { session_id, entries, turns, after, newer })
    })
    .await
}

/// Writes an item as an entry, and tells its size.
type See<'a> = dyn Fn(&StoredItem<'_>) -> rusqlite::Result<(Entry, usize)> + 'a;

/// Reads items in the form browsers get. Items that were never rendered are, and the result is kept.
async fn seen<T: Send + 'static>(
    journal: &Journal,
    session: SessionId,
    read: impl FnOnce(&Reader<'_>, &SessionId, &See) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, JournalError> {
    let keeper = journal.clone();
    journal
        .read(move |reader| {
            let rendered = RefCell::default();
            let see = |item: &StoredItem<'_>| {
                let entry = view::entry(item, &mut rendered.borrow_mut())?;
                let size = entry.size();
                Ok((entry, size))
            };
            let result = read(reader, &session, &see);
            keeper.keep(&session, rendered.into_inner());
            result
        })
        .await
}

fn history(
    session: &SessionId,
    page: Option<Page<Entry>>,
    mode: HistoryMode,
    policy: Policy,
    request_id: Option<String>,
) -> History {
    let (stream, seq, facts) = match &page {
        Some(page) => (page.session.stream.clone(), page.session.seq, page.session.facts.clone()),
        // Nothing was ever written, so there is no stream to resume and the next opening is a snapshot.
        None => Default::default(),
    };
    let (entries, turns, older, newer) =
        page.map_or_else(Default::default, |page| (page.items, page.turns, page.older, page.newer));
    let message = ServerMessage::SessionHistory {
        session_id: session.clone(),
        entries,
        stream,
        seq,
        turns: turns.into_iter().map(view::turn).collect(),
        mode,
        older,
        newer: newer.then_some(true),
        policy,
        facts,
    };
    History { frame: Frame { request_id, message }, seq }
}
