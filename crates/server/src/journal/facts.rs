//! The facts of a session: one row each, so that only the changed ones are written.

use liminal_contract::{FactsChange, MessageQueue, SessionFacts, Setup, SetupState};
use rusqlite::{Transaction, params};
use serde_json::{Map, Value};

use super::write::json;

pub fn write(
    transaction: &Transaction<'_>,
    session: i64,
    facts: &FactsChange,
) -> rusqlite::Result<()> {
    let facts: Map<String, Value> = serde_json::from_str(&json(facts)?)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let mut statement = transaction
        .prepare_cached("INSERT OR REPLACE INTO fact (session, name, value) VALUES (?1, ?2, ?3)")?;
    for (name, value) in facts {
        statement.execute(params![session, name, json(&value)?])?;
    }
    Ok(())
}

/// No agent has a message that it was handed before the server ended: each is in its queue again.
pub fn return_handed(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let handed =
        "SELECT session, value FROM fact WHERE name = 'queue' AND instr(value, '\"handed\":true')";
    let mut rows = transaction.prepare(handed)?;
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()? {
        let (session, value) = row;
        let Ok(mut queue) = serde_json::from_str::<MessageQueue>(&value) else { continue };
        queue.messages.iter_mut().for_each(|queued| queued.handed = false);
        let change = FactsChange { queue: Some(queue), ..FactsChange::default() };
        write(transaction, session, &change)?;
    }
    Ok(())
}

/// A setup command ends with the server, or with the task of its session: here, so that the first history already says
/// so and offers what to do.
pub fn end_setups(transaction: &Transaction<'_>, session: Option<i64>) -> rusqlite::Result<()> {
    let running = "SELECT session, value FROM fact WHERE name = 'setup'
                   AND instr(value, '\"running\"') AND (?1 IS NULL OR session = ?1)";
    let mut rows = transaction.prepare(running)?;
    let rows = rows.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()? {
        let (session, value) = row;
        let Ok(mut setup) = serde_json::from_str::<Setup>(&value) else { continue };
        if setup.state == SetupState::Running {
            setup.state = SetupState::Failed;
            setup.output.push_str("\nEnded because Liminal Builder was stopped.");
            let change = FactsChange { setup: Some(setup), ..FactsChange::default() };
            write(transaction, session, &change)?;
        }
    }
    Ok(())
}

/// The known facts. One that can't be read, for example from a newer version, is ignored.
pub fn read(view: &Transaction<'_>, session: i64) -> rusqlite::Result<SessionFacts> {
    let mut statement = view.prepare_cached("SELECT name, value FROM fact WHERE session = ?1")?;
    let mut rows = statement.query([session])?;
    let mut facts = SessionFacts::default();
    while let Some(row) = rows.next()? {
        let (name, value): (String, String) = (row.get(0)?, row.get(1)?);
        let Ok(value) = serde_json::from_str::<Value>(&value) else { continue };
        let Ok(change) = serde_json::from_value(Value::from_iter([(name, value)])) else {
            continue;
        };
        facts.apply(change);
    }
    Ok(facts)
}
