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
    /// A session's checkpoints, in the order of their turns; that of the user's last look comes first.
    pub fn checkpoints(&self, session: &SessionId) -> rusqlite::Result<Vec<CheckpointRow>> {
        self.view
            .prepare_cached(
                "SELECT c.turn_id, c.moment, c.tree, c.late, c.left_out, c.branch, c.head
                 FROM checkpoint c
                 LEFT JOIN turn t ON t.session = c.session AND t.turn_id = c.turn_id
                 WHERE c.session = (SELECT id FROM session WHERE session_id = ?1)
                 ORDER BY t.seq, c.turn_id, c.moment DESC",
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

#[cfg(test)]
mod tests {
    use liminal_contract::{Timestamp, TurnOrigin};

    use super::super::{Change, Journal, Moment, TurnRow};
    use super::*;

    #[test]
    fn checkpoints_come_in_the_order_in_which_their_turns_were_taken() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let session = SessionId::parse("demo:one").unwrap();
        let row = |turn: &str, moment| CheckpointRow {
            turn_id: TurnId::new(turn),
            moment,
            tree: String::new(),
            is_late: false,
            left_out: Vec::new(),
            branch: None,
            head: None,
        };
        // A message that is queued first may be sent last.
        let rows = [
            row("", Moment::Looked),
            row("b", Moment::Before),
            row("b", Moment::After),
            row("a", Moment::Before),
        ];
        let turn = |turn: &str, seq| {
            let at = Timestamp::from_millis(1);
            TurnRow::started(TurnId::new(turn), seq, TurnOrigin::User, at)
        };
        let turns = [turn("b", 1), turn("a", 2)].map(|turn| Change::Turn(Box::new(turn)));
        let kept = rows.clone().map(|row| Change::Checkpoint(Box::new(row)));
        let (done, written) = std::sync::mpsc::channel();
        let committed = Box::new(move || done.send(()).unwrap());
        journal.commit(&session, 2, turns.into_iter().chain(kept).collect(), committed);
        written.recv().unwrap();
        assert_eq!(journal.read_now(|reader| reader.checkpoints(&session)).unwrap(), rows);
    }
}
