//! After a turn has ended: which items can still change, which can't, and how much is remembered.

use std::time::Duration;

use liminal_contract::{ErrorCode, ItemStatus, Outcome, OutcomeBy, TurnId, TurnStatus};
use liminal_stream::{
    Emission, FinalItem, ItemFailure, NewItem, Pacing, Payload, Permission, ResponseStatus, Source,
    ToolCall, Upsert,
};

use crate::support::*;

fn paced() -> Stream {
    Stream::new(Pacing::paced(Duration::from_millis(33)))
}

/// Turn `t1` has ended and left a call behind.
fn with_a_call_left() -> Stream {
    let mut stream = paced();
    stream.say_all([
        start_call("c", "Bash", "call-1"),
        start_message("m"),
        delta("m", "It runs."),
        Payload::done(ResponseStatus::Completed),
    ]);
    stream
}

fn late(status: ItemStatus, call: ToolCall) -> Emission {
    shown("c", status, Source::ToolCall(call))
}

fn grown(output: &str) -> ToolCall {
    ToolCall { tool_output: Some(output.to_owned()), ..call("Bash", "call-1") }
}

#[test]
fn a_late_output_completes_its_call_in_its_old_turn() {
    let done = [late(ItemStatus::Complete, call_done("Bash", "call-1", "out"))];
    // While nothing runs, in a newer running turn, and in a turn that was never started.
    let mut idle = with_a_call_left();
    assert_eq!(idle.say(done_output("o", "call-1", "out")), done);
    let mut busy = with_a_call_left();
    busy.in_turn("t2").say(response_start());
    assert_eq!(busy.say(done_output("o", "call-1", "out")), done);
    let mut unknown = with_a_call_left();
    assert_eq!(unknown.in_turn("t2").say(done_output("o", "call-1", "out")), done);
    // Once.
    assert_eq!(busy.in_turn("t1").say(done_output("o", "call-1", "again")), []);
    assert_eq!(busy.processor.too_late(), 1);
}

#[test]
fn late_growth_is_paced_as_ever() {
    let mut stream = with_a_call_left();
    stream.now = 40;
    let at_time = |said_ms, ms, output: &str| {
        Emission::Put(Upsert {
            source_timestamp: said(said_ms),
            emitted_at: wall(ms),
            ..upsert("c", ItemStatus::Update, 0, Source::ToolCall(grown(output)))
        })
    };
    assert_eq!(stream.say(output_grew("c", "a")), [at_time(40, 40, "a")]);
    assert_eq!(stream.say_at(41, output_grew("c", "b")), []);
    assert_eq!(stream.deadline(), Some(73));
    assert_eq!(stream.flush_at(73), [at_time(41, 73, "ab")]);
}

#[test]
fn nothing_of_a_turns_own_stream_follows_its_end() {
    let mut stream = with_a_call_left();
    let after = [
        delta("m", "more"),
        delta("new", "more"),
        start_message("new"),
        start_call("d", "Bash", "call-2"),
        done_message("m", "other"),
        done_message("c", "not a call"),
        done_output("o", "call-2", "of a call nobody knows"),
        response_start(),
        Payload::done(ResponseStatus::Cancelled),
        response_error("X", "no"),
    ];
    let count = after.len() as u64;
    assert_eq!(stream.say_all(after), []);
    assert_eq!(stream.processor.too_late(), count);
    assert_eq!(stream.deadline(), None);
}

#[test]
fn a_call_id_that_is_used_again_belongs_to_the_newest_turn() {
    let mut stream = with_a_call_left();
    stream.in_turn("t2").say_all([response_start(), start_call("c2", "Read", "call-1")]);
    let [Emission::Put(upsert)] = &stream.say(done_output("o", "call-1", "new"))[..] else {
        panic!("one upsert")
    };
    assert_eq!((upsert.turn_id.as_str(), upsert.item_id.as_str()), ("t2", "c2"));
    // The older call is still there.
    stream.in_turn("t1");
    assert_eq!(
        stream.say(done_output("c", "call-1", "old")),
        [late(ItemStatus::Complete, call_done("Bash", "call-1", "old"))]
    );
}

#[test]
fn a_permission_left_open_can_be_settled_after_its_turn_failed() {
    let mut stream = paced();
    let ask = Permission { title: "Run ls?".to_owned(), ..Permission::default() };
    let outcome = Outcome::without_choice(OutcomeBy::AgentLeft);
    stream.say(start("a", NewItem::Permission { ask: Box::new(ask.clone()) }));
    let crash = ItemFailure { code: ErrorCode::ProcessCrash, message: "gone".to_owned() };
    assert_eq!(stream.say(response_error("PROCESS_CRASH", "gone")), [turn_failed("t1", crash)]);
    let settled = Permission { outcome: Some(outcome.clone()), ..ask };
    assert_eq!(
        stream.say(done("a", FinalItem::Permission { outcome })),
        [shown("a", ItemStatus::Complete, Source::Permission(settled))]
    );
}

#[test]
fn a_call_that_runs_when_its_turn_fails_fails_with_it() {
    let mut stream = paced();
    stream.say_all([start_call("c", "Bash", "call-1"), output_grew("c", "half")]);
    let crash = ItemFailure { code: ErrorCode::ProcessCrash, message: "gone".to_owned() };
    assert_eq!(
        stream.say(response_error("PROCESS_CRASH", "gone")),
        [failed("c", crash.clone(), Source::ToolCall(grown("half"))), turn_failed("t1", crash)]
    );
    assert_eq!(stream.say(done_output("c", "call-1", "late")), []);
}

#[test]
fn a_cancelled_turn_leaves_its_calls_open() {
    let mut stream = paced();
    stream.say_all([start_call("c", "Bash", "call-1"), output_grew("c", "half")]);
    assert_eq!(
        stream.say(Payload::done(ResponseStatus::Cancelled)),
        [late(ItemStatus::Update, grown("half")), ended("t1", TurnStatus::Cancelled)]
    );
    assert_eq!(
        stream.say(done_output("c", "call-1", "half, stopped")),
        [late(ItemStatus::Complete, call_done("Bash", "call-1", "half, stopped"))]
    );
}

#[test]
fn destroying_ends_the_running_turn_and_voids_what_waits_for_an_answer() {
    let mut stream = paced();
    let ask = Permission { title: "Run ls?".to_owned(), ..Permission::default() };
    stream.say_all([
        start_call("c", "Bash", "call-1"),
        start("a", NewItem::Permission { ask: Box::new(ask.clone()) }),
        Payload::done(ResponseStatus::Cancelled),
    ]);
    stream.in_turn("t2").say_all([response_start(), start_message("m"), delta("m", "Hi")]);
    let failure = ItemFailure { code: ErrorCode::InternalError, message: "over".to_owned() };
    let void = Permission { outcome: Some(Outcome::without_choice(OutcomeBy::AgentLeft)), ..ask };
    let mut hi = upsert("m", ItemStatus::Error, 0, message("Hi"));
    hi.turn_id = TurnId::new("t2");
    hi.failure = Some(failure.clone());
    // The call of the cancelled turn is neither complete nor an error.
    assert_eq!(
        stream.processor.destroy(failure.clone(), at(0)),
        [
            failed("a", failure.clone(), Source::Permission(void)),
            Emission::Put(hi),
            turn_failed("t2", failure),
        ]
    );
    assert_eq!(stream.say(delta("m", "more")), []);
}

#[test]
fn turns_may_overlap() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "one")]);
    stream.in_turn("t2");
    assert_eq!(stream.say(response_start()), [started("t2")]);
    stream.in_turn("t1").say(delta("m", " two"));
    stream.in_turn("t2");
    assert_eq!(
        stream.say(Payload::done(ResponseStatus::Completed)),
        [shown("m", ItemStatus::Update, message("one two")), ended("t2", TurnStatus::Completed)]
    );
    stream.in_turn("t1");
    assert_eq!(
        stream.say(Payload::done(ResponseStatus::Completed)),
        [shown("m", ItemStatus::Complete, message("one two")), ended("t1", TurnStatus::Completed)]
    );
}

/// Leaves an open call in each of some turns, and returns which of them can still be completed.
fn remembered(turns: usize, output: &str) -> Vec<bool> {
    let mut stream = Stream::silent(Pacing::gradient());
    for n in 0..turns {
        stream.in_turn(&format!("t{n}")).say_all([
            response_start(),
            start_call(&format!("c{n}"), "Bash", &format!("call-{n}")),
            output_grew(&format!("c{n}"), output),
            Payload::done(ResponseStatus::Completed),
        ]);
    }
    (0..turns)
        .map(|n| {
            stream.in_turn(&format!("t{n}"));
            !stream.say(done_output("o", &format!("call-{n}"), "")).is_empty()
        })
        .collect()
}

#[test]
fn what_is_remembered_of_old_turns_has_a_limit() {
    let last = |n: usize, of: usize| (0..of).map(|i| i >= of - n).collect::<Vec<_>>();
    assert_eq!(remembered(100, ""), last(64, 100));
    assert_eq!(remembered(5, &"x".repeat(3_000_000)), last(2, 5));
}
