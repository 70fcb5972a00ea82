//! The facts of a session: one row each, so that only the changed ones are written.

use liminal_contract::{FactsChange, SessionFacts};
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
