//! The trees of a session's files, and what its agent's tool calls named.

use liminal_contract::{SessionId, TurnId};
use liminal_stream::{Source, SourcePart};
use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;

use super::read::LAST_TURN;
use super::write::{json, word};
use super::{CheckpointRow, Reader, stored};

pub fn write(
    transaction: &Transaction<'_>,
    session: i64,
    row: &CheckpointRow,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO checkpoint
             (session, turn_id, moment, tree, late, left_out, branch, head)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            session,
            row.turn_id.as_str(),
            word(&row.moment)?,
            row.tree,
            row.is_late,
            json(&row.left_out)?,
            row.branch,
            row.head
        ])?;
    Ok(())
}

/// Which turns. Their ids say nothing about their order: those read from an agent's own file are random.
#[derive(Debug, Clone, Copy)]
pub enum Turns<'a> {
    All,
    One(&'a TurnId),
    /// This one and all later ones.
    Since(&'a TurnId),
}

impl Reader<'_> {
    /// A session's checkpoints. The ids of turns are in the order of time.
    pub fn checkpoints(&self, session: &SessionId) -> rusqlite::Result<Vec<CheckpointRow>> {
        self.view
            .prepare_cached(
                "SELECT turn_id, moment, tree, late, left_out, branch, head FROM checkpoint
                 WHERE session = (SELECT id FROM session WHERE session_id = ?1)
                 ORDER BY turn_id, moment DESC",
            )?
            .query_map([session.as_str()], |row| {
                Ok(CheckpointRow {
                    turn_id: TurnId::new(row.get::<_, String>(0)?),
                    moment: stored::word(row, 1)?,
                    tree: row.get(2)?,
                    is_late: row.get(3)?,
                    left_out: stored::json(row, 4)?,
                    branch: row.get(5)?,
                    head: row.get(6)?,
                })
            })?
            .collect()
    }

    /// The session's last turn.
    pub fn last_turn(&self, session: &SessionId) -> rusqlite::Result<Option<TurnId>> {
        self.view
            .prepare_cached(&format!(
                "SELECT turn_id FROM turn
                 WHERE session = (SELECT id FROM session WHERE session_id = ?1) {LAST_TURN}"
            ))?
            .query_row([session.as_str()], |row| row.get::<_, String>(0))
            .optional()
            .map(|id| id.map(TurnId::new))
    }

    /// Every text in which tool calls name files: locations, arguments, diffs.
    pub fn calls(&self, session: &SessionId, turns: Turns<'_>) -> rusqlite::Result<Vec<String>> {
        let (only, first) = match turns {
            Turns::All => (None, None),
            Turns::One(turn) => (Some(turn.as_str()), None),
            Turns::Since(turn) => (None, Some(turn.as_str())),
        };
        let mut statement = self.view.prepare_cached(
            "SELECT b.source FROM item i JOIN body b ON b.id = i.body
             WHERE i.session = (SELECT id FROM session WHERE session_id = ?1)
               AND i.kind = 'tool_call' AND (?2 IS NULL OR i.turn_id = ?2)
               AND (?3 IS NULL OR i.idx >= (
                    SELECT min(idx) FROM item
                    WHERE session = (SELECT id FROM session WHERE session_id = ?1) AND turn_id = ?3))
             ORDER BY i.idx",
        )?;
        let mut rows = statement.query(params![session.as_str(), only, first])?;
        let mut calls = Vec::new();
        while let Some(row) = rows.next()? {
            let Source::ToolCall(call) = stored::json(row, 0)? else { continue };
            calls.extend(call.locations.into_iter().map(|at| at.path));
            calls.extend(call.parts.into_iter().filter_map(|part| match part {
                SourcePart::Diff { path, .. } | SourcePart::Hunks { path, .. } => Some(path),
                _ => None,
            }));
            calls.extend(call.tool_arguments.values().map(Value::to_string));
        }
        Ok(calls)
    }
}
