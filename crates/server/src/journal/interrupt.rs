//! Closing what nobody runs any more.

use std::time::SystemTime;

use liminal_contract::{ItemStatus, Outcome, OutcomeBy, Timestamp};
use liminal_stream::Source;
use rusqlite::{Transaction, params};

use super::write::{json, word};

/// A turn found running was interrupted by our own end. Its words stay; a permission it waited for is void.
/// Of one session, or of all.
pub fn close_open_turns(
    transaction: &Transaction<'_>,
    session: Option<i64>,
) -> rusqlite::Result<()> {
    let now = Timestamp::from(SystemTime::now());
    let open: Vec<(i64, String)> = transaction
        .prepare(
            "SELECT session, turn_id FROM turn
             WHERE ended_at IS NULL AND (?1 IS NULL OR session = ?1)",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (session, turn_id) in open {
        let mut seq: i64 =
            transaction
                .query_row("SELECT seq FROM session WHERE id = ?1", [session], |row| row.get(0))?;
        for (idx, body, text) in open_permissions(transaction, session, &turn_id)? {
            let Ok(Source::Permission(mut ask)) = serde_json::from_str(&text) else { continue };
            ask.outcome = Some(Outcome { option_id: None, by: OutcomeBy::AgentLeft });
            seq += 1;
            transaction.execute(
                "UPDATE body SET source = ?2 WHERE id = ?1",
                params![body, json(&Source::Permission(ask))?],
            )?;
            transaction.execute(
                "UPDATE item SET status = ?3, seq = ?4 WHERE session = ?1 AND idx = ?2",
                params![session, idx, word(&ItemStatus::Complete)?, seq],
            )?;
        }
        seq += 1;
        transaction.execute(
            "UPDATE turn SET ended_at = ?3, outcome = 'interrupted', seq = ?4
             WHERE session = ?1 AND turn_id = ?2",
            params![session, turn_id, now.as_millis(), seq],
        )?;
        transaction.execute("UPDATE session SET seq = ?2 WHERE id = ?1", params![session, seq])?;
    }
    Ok(())
}

fn open_permissions(
    transaction: &Transaction<'_>,
    session: i64,
    turn_id: &str,
) -> rusqlite::Result<Vec<(i64, i64, String)>> {
    transaction
        .prepare(
            "SELECT i.idx, i.body, b.source FROM item i JOIN body b ON b.id = i.body
             WHERE i.session = ?1 AND i.turn_id = ?2 AND i.kind = 'permission'
               AND i.status IN ('create', 'update')",
        )?
        .query_map(params![session, turn_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
