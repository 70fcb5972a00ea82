//! What tool calls named, and which turn was the last one.

use super::*;

/// A call in a turn, which names one file.
fn call(index: u64, turn_id: &str, path: &str) -> Change {
    let turn_id = TurnId::new(turn_id);
    let mut item = message(index, index + 1, "", ItemStatus::Complete);
    item.upsert.item_id = ItemId::block(&turn_id, 0, usize::try_from(index).unwrap());
    item.upsert.turn_id = turn_id;
    let arguments = [("path".to_owned(), path.into())].into_iter().collect();
    item.upsert.source =
        Source::ToolCall(ToolCall { tool_arguments: arguments, ..ToolCall::default() });
    Change::Item(Box::new(item))
}

#[test]
fn what_calls_named_since_a_turn_goes_by_their_place_in_the_conversation_not_by_ids() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    // The first turn is from an agent's own file, where ids are random.
    let calls = [call(0, "f9", "first"), call(1, "01", "second"), call(2, "02", "third")];
    commit(&journal, 3, calls.to_vec());
    let calls = |turns: Turns<'_>| read(&journal, |reader| reader.calls(&session(), turns));
    let (first, second) = (TurnId::new("f9"), TurnId::new("01"));
    assert_eq!(calls(Turns::Since(&first)), ["\"first\"", "\"second\"", "\"third\""]);
    assert_eq!(calls(Turns::Since(&second)), ["\"second\"", "\"third\""]);
    assert_eq!(calls(Turns::One(&second)), ["\"second\""]);
    assert_eq!(calls(Turns::All).len(), 3);
}

#[test]
fn the_last_turn_is_the_same_everywhere_when_the_clock_went_back() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let first = TurnRow { started_at: at(100), ..turn(1, Some(TurnOutcome::Completed)) };
    let last = TurnId::new("last");
    let failed = Some(TurnOutcome::Failed);
    let second = TurnRow { turn_id: last.clone(), started_at: at(50), ..turn(2, failed) };
    commit(&journal, 2, [first, second].map(|turn| Change::Turn(Box::new(turn))).to_vec());
    let glance = read(&journal, |reader| reader.glance(&session()));
    assert_eq!(glance.turn.map(|turn| turn.turn_id), Some(last.clone()));
    assert_eq!(read(&journal, |reader| reader.last_turn(&session())), Some(last));
    let ended = read(&journal, |reader| reader.ended_badly());
    assert_eq!(ended, [(session(), TurnOutcome::Failed)]);
}
