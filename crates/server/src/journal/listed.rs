//! The journal's part of the session list: every change that `sessions.json` does not have yet, and the values that
//! change with every turn.

use liminal_contract::{SessionId, Timestamp, TurnOutcome};
use rusqlite::{Transaction, params};

use super::read::{LAST_TURN, Reader};
use super::stored::word;

/// A change of the session list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub session: SessionId,
    /// Counts the changes of the list.
    pub version: u64,
    /// The record as JSON; `None` when the session was deleted.
    pub record: Option<String>,
}

/// How the last turn of a session ended.
pub(super) fn last_outcome() -> String {
    format!("(SELECT outcome FROM turn WHERE session = session.id {LAST_TURN})")
}

impl Reader<'_> {
    /// The changes that `sessions.json` may lack, in order.
    pub fn listed(&self) -> rusqlite::Result<Vec<Listed>> {
        let mut statement =
            self.view.prepare("SELECT session_id, version, record FROM listed ORDER BY version")?;
        let mut rows = statement.query([])?;
        let mut listed = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(session) = SessionId::parse(row.get_ref(0)?.as_str()?) {
                let version = row.get::<_, i64>(1)?.cast_unsigned();
                listed.push(Listed { session, version, record: row.get(2)? });
            }
        }
        Ok(listed)
    }

    /// When each session was last active.
    pub fn activity(&self) -> rusqlite::Result<Vec<(SessionId, Timestamp)>> {
        let mut statement = self.view.prepare(
            "SELECT session_id, last_active_at FROM session WHERE last_active_at IS NOT NULL",
        )?;
        let mut rows = statement.query([])?;
        let mut activity = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(session) = SessionId::parse(row.get_ref(0)?.as_str()?) {
                activity.push((session, Timestamp::from_millis(row.get(1)?)));
            }
        }
        Ok(activity)
    }

    /// The sessions whose last turn did not end well, and how it ended.
    pub fn ended_badly(&self) -> rusqlite::Result<Vec<(SessionId, TurnOutcome)>> {
        let mut statement = self.view.prepare(&format!(
            "SELECT session_id, {} AS last FROM session
             WHERE last IN ('failed', 'interrupted')",
            last_outcome()
        ))?;
        let mut rows = statement.query([])?;
        let mut ended = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(session) = SessionId::parse(row.get_ref(0)?.as_str()?) {
                ended.push((session, word(row, 1)?));
            }
        }
        Ok(ended)
    }

    /// The sessions with a turn that ended since the user looked.
    pub fn unread(&self) -> rusqlite::Result<Vec<SessionId>> {
        let mut statement = self.view.prepare(
            "SELECT session_id FROM session WHERE EXISTS (
                SELECT 1 FROM turn WHERE session = session.id AND seq > session.looked
                AND ended_at IS NOT NULL)",
        )?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.filter_map(|id| id.map(|id| SessionId::parse(&id).ok()).transpose()).collect()
    }

    /// The sessions that will send a message by themselves.
    pub fn continuing(&self) -> rusqlite::Result<Vec<SessionId>> {
        let mut statement = self.view.prepare(
            "SELECT session_id FROM session JOIN fact ON fact.session = session.id \
             WHERE fact.name = 'continueAt' AND fact.value <> 'null'",
        )?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.filter_map(|id| id.map(|id| SessionId::parse(&id).ok()).transpose()).collect()
    }
}

pub(super) fn write(transaction: &Transaction<'_>, listed: &Listed) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO listed (session_id, version, record) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![listed.session.as_str(), listed.version.cast_signed(), listed.record])?;
    Ok(())
}

/// The user has seen every turn that has ended.
pub(super) fn look(transaction: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE session SET looked =
                coalesce((SELECT max(seq) FROM turn WHERE session = session.id), 0)
             WHERE session_id = ?1",
        )?
        .execute([session.as_str()])?;
    Ok(())
}

/// `sessions.json` has everything up to this version.
pub(super) fn forget(transaction: &Transaction<'_>, version: u64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("DELETE FROM listed WHERE version <= ?1")?
        .execute([version.cast_signed()])?;
    Ok(())
}
