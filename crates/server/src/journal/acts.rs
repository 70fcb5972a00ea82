//! Acts on changes: what was intended is written before anything happens, so that the next start can settle it.

use liminal_contract::{SessionId, Timestamp};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::write::word;
use super::{Reader, stored};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActRow {
    pub id: String,
    pub state: ActState,
    pub at: Timestamp,
    /// JSON, which `changes` understands.
    pub deed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActState {
    /// It may have happened in part.
    Intended,
    Done,
    /// Another act undid it.
    Undone,
    /// Nothing is left of it.
    Failed,
}

/// The session may have been deleted: what was discarded with it can still be brought back.
pub fn write(
    transaction: &Transaction<'_>,
    session: &SessionId,
    rows: &[ActRow],
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT OR REPLACE INTO act (id, session, state, at, deed) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for row in rows {
        let (state, at) = (word(&row.state)?, row.at.as_millis());
        statement.execute(params![row.id, session.as_str(), state, at, row.deed])?;
    }
    Ok(())
}

impl Reader<'_> {
    pub fn act(&self, session: &SessionId, id: &str) -> rusqlite::Result<Option<ActRow>> {
        self.view
            .prepare_cached("SELECT id, state, at, deed FROM act WHERE id = ?2 AND session = ?1")?
            .query_row(params![session.as_str(), id], act)
            .optional()
    }

    /// The last act of a session that was done and whose deed has this word in it, such as the name of a store.
    pub fn act_that_names(
        &self,
        session: &SessionId,
        word: &str,
    ) -> rusqlite::Result<Option<String>> {
        self.view
            .prepare_cached(
                "SELECT id FROM act WHERE session = ?1 AND state = 'done' AND instr(deed, ?2) > 0 \
                 ORDER BY at DESC LIMIT 1",
            )?
            .query_row(params![session.as_str(), word], |row| row.get(0))
            .optional()
    }

    /// Acts that an earlier run did not complete, the first first. What can't be read is skipped.
    pub fn unfinished_acts(&self) -> rusqlite::Result<Vec<(SessionId, ActRow)>> {
        let mut statement = self.view.prepare_cached(
            "SELECT id, state, at, deed, session FROM act WHERE state = 'intended' ORDER BY at",
        )?;
        let rows = statement.query_map([], |row| {
            let session = SessionId::parse(&row.get::<_, String>(4)?).ok();
            Ok(session.zip(Some(act(row)?)))
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

fn act(row: &Row<'_>) -> rusqlite::Result<ActRow> {
    Ok(ActRow {
        id: row.get(0)?,
        state: stored::word(row, 1)?,
        at: Timestamp::from_millis(row.get(2)?),
        deed: row.get(3)?,
    })
}
