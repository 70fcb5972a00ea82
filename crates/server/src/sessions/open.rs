//! Reading a session for a browser: the end of it, what changed since, or the run that holds an item.

use liminal_contract::{
    Cursor, Frame, HistoryMode, ItemId, Policy, ServerMessage, SessionId, UpsertObject,
};

use super::view;
use crate::journal::{Journal, JournalError, Page};

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
    journal
        .read(move |reader| {
            if let Some(cursor) = &wanted.since
                && let Some(row) = reader.session(&session)?
                && row.stream == cursor.stream
                && cursor.seq <= row.seq
                && let Some(page) = reader.since(&session, cursor.seq, view::item)?
            {
                return Ok(history(session, Some(page), HistoryMode::Since, policy, request_id));
            }
            let page = match &wanted.around {
                Some(item) => reader.around(&session, item, view::item)?,
                None => reader.end(&session, view::item)?,
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
    journal
        .read(move |reader| {
            let page = reader.page_before(&session, before, view::item)?;
            let (entries, turns, older) =
                page.map_or_else(Default::default, |page| (page.items, page.turns, page.older));
            let turns = turns.into_iter().map(view::turn).collect();
            Ok(ServerMessage::SessionOlder { session_id: session, entries, turns, before, older })
        })
        .await
}

/// The page below an index.
pub async fn newer(
    journal: &Journal,
    session: SessionId,
    after: u64,
) -> Result<ServerMessage, JournalError> {
    journal
        .read(move |reader| {
            let page = reader.page_after(&session, after, view::item)?;
            let (entries, turns, newer) =
                page.map_or_else(Default::default, |page| (page.items, page.turns, page.newer));
            let turns = turns.into_iter().map(view::turn).collect();
            Ok(ServerMessage::SessionNewer { session_id: session, entries, turns, after, newer })
        })
        .await
}

fn history(
    session_id: SessionId,
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
        session_id,
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
