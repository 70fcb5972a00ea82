//! Closes turns and permissions whose agent is gone, and setup commands that ended with the server.

use std::time::SystemTime;

use liminal_contract::{ItemStatus, Outcome, OutcomeBy, Timestamp};
use liminal_stream::Source;
use rusqlite::{Transaction, params};

use super::facts;
use super::schema::SEQ;
use super::write::{json, word};

/// Of one session or of all: a running turn ends as interrupted and keeps its text; an unanswered permission becomes
/// void, even if its turn ended before; a running setup command has failed.
pub fn close_interrupted(
    transaction: &Transaction<'_>,
    session: Option<i64>,
) -> rusqlite::Result<()> {
    for (session, idx, body, text) in open_permissions(transaction, session)? {
        let Ok(Source::Permission(mut permission)) = serde_json::from_str(&text) else { continue };
        // An answer that the journal has is the user's, even if the agent never confirmed it.
        let void = Outcome::without_choice(OutcomeBy::AgentLeft);
        permission.outcome.get_or_insert(void);
        transaction.execute(
            "UPDATE body SET source = ?2 WHERE id = ?1",
            params![body, json(&Source::Permission(permission))?],
        )?;
        transaction.execute(
            "UPDATE item SET status = ?3, seq = ?4 WHERE session = ?1 AND idx = ?2",
            params![session, idx, word(&ItemStatus::Complete)?, next_seq(transaction, session)?],
        )?;
    }
    let now = Timestamp::from(SystemTime::now());
    for (session, turn_id) in open_turns(transaction, session)? {
        transaction.execute(
            "UPDATE turn SET ended_at = ?3, outcome = 'interrupted', seq = ?4
             WHERE session = ?1 AND turn_id = ?2",
            params![session, turn_id, now.as_millis(), next_seq(transaction, session)?],
        )?;
    }
    facts::end_setups(transaction, session)
}

/// The `seq` of the next change.
fn next_seq(transaction: &Transaction<'_>, session: i64) -> rusqlite::Result<i64> {
    transaction
        .prepare_cached(&format!("SELECT {SEQ} + 1 FROM session WHERE id = ?1"))?
        .query_row([session], |row| row.get(0))
}

fn open_turns(
    transaction: &Transaction<'_>,
    session: Option<i64>,
) -> rusqlite::Result<Vec<(i64, String)>> {
    transaction
        .prepare(
            "SELECT session, turn_id FROM turn
             WHERE ended_at IS NULL AND (?1 IS NULL OR session = ?1)",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Uses the index of open items: there may be a million others.
fn open_permissions(
    transaction: &Transaction<'_>,
    session: Option<i64>,
) -> rusqlite::Result<Vec<(i64, i64, i64, String)>> {
    transaction
        .prepare(
            "SELECT i.session, i.idx, i.body, b.source
             FROM item i INDEXED BY item_open JOIN body b ON b.id = i.body
             WHERE i.kind = 'permission' AND i.status IN ('create', 'update')
               AND (?1 IS NULL OR i.session = ?1)
             ORDER BY i.session, i.idx",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect()
}
