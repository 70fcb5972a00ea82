//! A session at a glance: its last turn, what waits for the user, the plan, and the latest words.

use liminal_contract::{Continuation, ItemId, SessionId};
use liminal_stream::Source;
use rusqlite::{OptionalExtension, params};

use super::read::{ITEM, LAST_TURN, Reader, turn};
use super::{Item, TurnRow};

/// In bytes of JSON. What is longer is not looked at.
const LONGEST: i64 = 1024 * 1024;

/// How far from the end the latest words are searched.
const NEAR: i64 = 50;

/// The latest pieces of an item that grows; the last line is in one of them.
const TAILS: i64 = 16;

#[derive(Debug, Default)]
pub struct Glance {
    /// The last turn.
    pub turn: Option<TurnRow>,
    /// The permission that has waited longest.
    pub ask: Option<Item>,
    /// Of the last turn.
    pub plan: Option<Source>,
    /// The agent's latest message, thinking or call. Of a long text only the end may be there.
    pub latest: Option<Source>,
    /// The user's message that began the last turn.
    pub prompt: Option<String>,
    pub continues: Option<Continuation>,
}

impl Reader<'_> {
    /// Reads little, however long the session is.
    pub fn glance(&self, session: &SessionId) -> rusqlite::Result<Glance> {
        let id: Option<i64> = self
            .view
            .prepare_cached("SELECT id FROM session WHERE session_id = ?1")?
            .query_row([session.as_str()], |row| row.get(0))
            .optional()?;
        let Some(id) = id else { return Ok(Glance::default()) };
        let last = self
            .view
            .prepare_cached(&format!("SELECT * FROM turn WHERE session = ?1 {LAST_TURN}"))?
            .query_row([id], turn)
            .optional()?;
        let of_turn = |name: fn(&liminal_contract::TurnId) -> ItemId| match &last {
            Some(turn) => self.short_source(id, &name(&turn.turn_id)),
            None => Ok(None),
        };
        Ok(Glance {
            ask: self.open_ask(session, id)?,
            plan: of_turn(ItemId::plan)?,
            latest: self.latest(id)?,
            prompt: match of_turn(ItemId::user)? {
                // With attachments it can only be sent again in the session.
                Some(Source::Message { content, attachments, .. }) if attachments.is_empty() => {
                    Some(content)
                }
                _ => None,
            },
            continues: self.continuation(id)?,
            turn: last,
        })
    }

    /// The message that a session began with.
    pub fn first_prompt(&self, session: &SessionId) -> rusqlite::Result<Option<String>> {
        let text: Option<String> = self
            .view
            .prepare_cached(
                "SELECT b.source FROM item i JOIN body b ON b.id = i.body
                 WHERE i.session = (SELECT id FROM session WHERE session_id = ?1)
                   AND i.kind = 'message' AND i.item_id LIKE '%:user'
                   AND octet_length(b.source) <= ?2
                 ORDER BY i.idx LIMIT 1",
            )?
            .query_row(params![session.as_str(), LONGEST], |row| row.get(0))
            .optional()?;
        Ok(match text.and_then(|text| serde_json::from_str(&text).ok()) {
            Some(Source::Message { content, .. }) => Some(content),
            _ => None,
        })
    }

    fn open_ask(&self, session: &SessionId, id: i64) -> rusqlite::Result<Option<Item>> {
        let mut statement = self.view.prepare_cached(&format!(
            "{ITEM} WHERE i.session = ?1 AND i.idx IN (
                SELECT idx FROM item INDEXED BY item_open
                WHERE session = ?1 AND status IN ('create', 'update') AND kind = 'permission')
             ORDER BY i.idx"
        ))?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let item = self.item(session, row)?;
            // An answered one stays open until the agent confirms it.
            if matches!(&item.upsert.source, Source::Permission(ask) if ask.outcome.is_none()) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn short_source(&self, session: i64, item: &ItemId) -> rusqlite::Result<Option<Source>> {
        let text: Option<String> = self
            .view
            .prepare_cached(
                "SELECT b.source FROM item i JOIN body b ON b.id = i.body
                 WHERE i.session = ?1 AND i.item_id = ?2 AND octet_length(b.source) <= ?3",
            )?
            .query_row(params![session, item.as_str(), LONGEST], |row| row.get(0))
            .optional()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    fn latest(&self, session: i64) -> rusqlite::Result<Option<Source>> {
        let found: Option<(i64, Option<String>)> = self
            .view
            .prepare_cached(
                "SELECT b.id, CASE WHEN octet_length(b.source) <= ?2 THEN b.source END
                 FROM item i JOIN body b ON b.id = i.body
                 WHERE i.session = ?1 AND i.kind IN ('message', 'thinking', 'tool_call')
                   AND i.item_id NOT LIKE '%:user'
                   AND i.idx > (SELECT max(idx) FROM item WHERE session = ?1) - ?3
                 ORDER BY i.idx DESC LIMIT 1",
            )?
            .query_row(params![session, LONGEST, NEAR], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((body, Some(source))) = found else { return Ok(None) };
        let Ok(mut source) = serde_json::from_str(&source) else { return Ok(None) };
        let (Source::Message { content, .. } | Source::Thinking { content, .. }) = &mut source
        else {
            return Ok(Some(source));
        };
        let mut tails: Vec<String> = self
            .view
            .prepare_cached("SELECT text FROM tail WHERE body = ?1 ORDER BY seq DESC LIMIT ?2")?
            .query_map([body, TAILS], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        if tails.len() as i64 == TAILS {
            content.clear();
        }
        tails.reverse();
        tails.iter().for_each(|tail| content.push_str(tail));
        Ok(Some(source))
    }

    fn continuation(&self, session: i64) -> rusqlite::Result<Option<Continuation>> {
        let value: Option<String> = self
            .view
            .prepare_cached("SELECT value FROM fact WHERE session = ?1 AND name = 'continueAt'")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        Ok(value.and_then(|value| serde_json::from_str(&value).ok()).flatten())
    }
}
