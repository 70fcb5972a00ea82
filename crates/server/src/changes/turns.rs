//! The two states of the files around a turn, for all who compare them or go back to one.

use liminal_contract::{SessionId, TurnId};

use super::Changes;
use crate::failure::Failure;
use crate::journal::{CheckpointRow, Moment, Reader, Turns};

/// A turn, and what it did to the files.
pub(super) struct TurnStates {
    pub turn: TurnId,
    pub before: CheckpointRow,
    /// `None` if it goes up to now.
    pub after: Option<CheckpointRow>,
    /// Where its tool calls name files.
    pub texts: Vec<String>,
}

/// Why the states of a turn are not known, for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unknown {
    #[error("This session has no turn yet.")]
    NoTurn,
    #[error("The state before this turn was not recorded.")]
    NotRecorded,
}

impl Changes {
    /// Of this turn, or of the last one.
    pub(super) async fn turn_states(
        &self,
        session: &SessionId,
        turn: Option<&TurnId>,
    ) -> Result<Result<TurnStates, Unknown>, Failure> {
        let (id, asked) = (session.clone(), turn.cloned());
        let read = move |reader: &Reader<'_>| {
            let turn = match asked {
                Some(turn) => Some(turn),
                None => reader.last_turn(&id)?,
            };
            let Some(turn) = turn else { return Ok(None) };
            Ok(Some((reader.checkpoints(&id)?, reader.calls(&id, Turns::One(&turn))?, turn)))
        };
        let Some((rows, texts, turn)) = self.journal.read(read).await? else {
            return Ok(Err(Unknown::NoTurn));
        };
        Ok(around(&rows, &turn).map(|(before, after)| TurnStates { turn, before, after, texts }))
    }
}

/// The states before and after a turn, among all in their order. One that was cut short has none after it, but the
/// next one may have one before; else it goes up to now.
pub(super) fn around(
    rows: &[CheckpointRow],
    turn: &TurnId,
) -> Result<(CheckpointRow, Option<CheckpointRow>), Unknown> {
    let is_before = |row: &CheckpointRow| row.moment == Moment::Before;
    let first = rows.iter().position(|row| row.turn_id == *turn && is_before(row));
    let first = first.ok_or(Unknown::NotRecorded)?;
    let (before, later) = (&rows[first], &rows[first + 1..]);
    let after = later.iter().find(|row| row.turn_id == *turn && row.moment == Moment::After);
    Ok((before.clone(), after.or_else(|| later.iter().find(|row| is_before(row))).cloned()))
}

/// The state that the user saw last. Someone who never looked has seen the one before the first turn.
pub(super) fn last_seen(rows: &[CheckpointRow]) -> Option<&CheckpointRow> {
    rows.iter().find(|row| row.moment == Moment::Looked).or(rows.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(turn: &str, moment: Moment) -> CheckpointRow {
        CheckpointRow {
            turn_id: TurnId::new(turn),
            moment,
            tree: String::new(),
            is_late: false,
            left_out: Vec::new(),
            branch: None,
            head: None,
        }
    }

    #[test]
    fn a_turn_that_was_cut_short_ends_where_the_next_begins_or_now() {
        let (first, second) = (row("1", Moment::Before), row("1", Moment::After));
        let (cut, next) = (row("2", Moment::Before), row("3", Moment::Before));
        let rows = [first.clone(), second.clone(), cut.clone(), next.clone()];
        let around = |turn: &str| around(&rows, &TurnId::new(turn));
        assert_eq!(around("1"), Ok((first, Some(second))));
        assert_eq!(around("2"), Ok((cut, Some(next.clone()))));
        assert_eq!(around("3"), Ok((next, None)));
        assert_eq!(around("4"), Err(Unknown::NotRecorded));
    }

    #[test]
    fn the_next_turn_is_the_one_that_came_next_whatever_its_id() {
        let (cut, next) = (row("b", Moment::Before), row("a", Moment::Before));
        let rows = [row("", Moment::Looked), cut.clone(), next.clone(), row("c", Moment::Before)];
        assert_eq!(around(&rows, &cut.turn_id), Ok((cut, Some(next))));
    }
}
