//! Reading a session for a browser: the end of it, what changed since, or the run that holds an item.

use std::cell::RefCell;

use liminal_contract::{
    Cursor, Frame, HistoryMode, ItemId, Policy, ServerMessage, SessionId, UpsertObject,
};

use super::view;
use crate::journal::{Item, Journal, JournalError, Page, Reader};

/// What a browser wants to read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// How far it was seen before.
    pub since: Option<Cursor>,
    /// Open at this item instead of the end.
    pub around: Option<ItemId>,
}

/// A history frame and the `seq` it was read at.
pub struct History {
    /// Ready to send.
    pub frame: Frame,
    /// What is older is in it.
    pub seq: u64,
}

/// Reads and renders in one view of the journal, away from the runtime.
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

/// Reads items as a browser gets them. What nobody has rendered before is, and is kept for the next time.
async fn seen<T: Send + 'static>(
    journal: &Journal,
    session: SessionId,
    read: impl FnOnce(&Reader<'_>, &SessionId, &dyn Fn(Item) -> UpsertObject) -> rusqlite::Result<T>
    + Send
    + 'static,
) -> Result<T, JournalError> {
    let keeper = journal.clone();
    journal
        .read(move |reader| {
            let rendered = RefCell::default();
            let see = |item| view::item(item, &mut rendered.borrow_mut());
            let result = read(reader, &session, &see);
            keeper.keep(&session, rendered.into_inner());
            result
        })
        .await
}

fn history(
    session: &SessionId,
    page: Option<Page<UpsertObject>>,
    mode: HistoryMode,
    policy: Policy,
    request_id: Option<String>,
) -> History {
    let (stream, seq) = match &page {
        Some(page) => (page.session.stream.clone(), page.session.seq),
        // Nothing was ever written: there is no stream to come back to, so the next opening is a snapshot.
        None => (String::new(), 0),
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
    };
    History { frame: Frame { request_id, message }, seq }
}
