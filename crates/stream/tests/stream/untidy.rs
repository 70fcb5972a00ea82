//! Untidy agents: items that were never started, repeated ends, outputs without a call. No text is lost, and nothing
//! ends twice.

use std::time::Duration;

use liminal_contract::{
    Details, ErrorCode, ItemStatus, MessageOrigin, NoticeAction, Outcome, OutcomeBy, PlanEntry,
    PlanStatus, Severity, TurnEventKind, TurnOrigin, TurnStatus, Usage,
};
use liminal_stream::{
    Emission, FinalItem, ItemFailure, NewItem, Notice, Pacing, Patch, Payload, Permission,
    ResponseStatus, Source, ToolCall, ToolPatch, Upsert,
};
use serde_json::json;

use crate::support::*;

fn paced() -> Stream {
    Stream::new(Pacing::paced(Duration::from_millis(33)))
}

fn tool(item: &str, status: ItemStatus, call: ToolCall) -> Emission {
    shown(item, status, Source::ToolCall(call))
}

#[test]
fn a_delta_of_an_unknown_item_opens_a_message() {
    let mut stream = paced();
    assert_eq!(stream.say(delta("?", "Hi")), [shown("?", ItemStatus::Create, message("Hi"))]);
    assert_eq!(
        stream.say(done_message("?", "Hi there")),
        [shown("?", ItemStatus::Complete, message("Hi there"))]
    );
}

#[test]
fn a_delta_of_an_ended_item_goes_on_in_a_new_one() {
    let mut stream = paced();
    stream.say_all([start_reasoning("r"), delta("r", "a"), done_reasoning("r", "a")]);
    assert_eq!(stream.say(delta("r", "b")), [shown("r+1", ItemStatus::Create, thinking("b"))]);
    assert_eq!(
        stream.say(done_reasoning("r", "b")),
        [shown("r+1", ItemStatus::Complete, thinking("b"))]
    );
    assert_eq!(stream.say(delta("r", "c")), [shown("r+2", ItemStatus::Create, thinking("c"))]);
    assert_eq!(stream.processor.too_late(), 0);
}

#[test]
fn an_item_of_the_agents_own_naming_is_not_mistaken_for_a_continuation() {
    let mut stream = paced();
    stream.say_all([done_message("m", "a"), done_message("m+1", "b")]);
    assert_eq!(stream.say(delta("m", "c")), [shown("m+2", ItemStatus::Create, message("c"))]);
}

#[test]
fn an_end_that_comes_twice_ends_once() {
    let mut stream = paced();
    stream.say(start_call("c", "Bash", "call-1"));
    let emitted = stream.say_all([
        done_message("m", "a"),
        done_message("m", "a"),
        item_error("m", "X", "no"),
        item_cancelled("m"),
        done_output("c", "call-1", "out"),
        done_output("c", "call-1", "again"),
        output_grew("c", "more"),
        done_call("c", "Bash", "call-1", json!({})),
    ]);
    assert_eq!(
        emitted,
        [
            shown("m", ItemStatus::Complete, message("a")),
            tool("c", ItemStatus::Complete, call_done("Bash", "call-1", "out")),
        ]
    );
    assert_eq!(stream.processor.too_late(), 6);
}

#[test]
fn an_item_started_twice_is_one_item() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "a"), start_message("m")]);
    assert_eq!(stream.say(done_message("m", "")), [shown("m", ItemStatus::Complete, message("a"))]);

    let about = ToolPatch { title: Some("Run ls".to_owned()), ..ToolPatch::default() };
    stream.say(start_call("c", "Bash", "call-1"));
    stream.say(start(
        "c",
        NewItem::FunctionCall {
            name: "Bash".to_owned(),
            call_id: "call-1".to_owned(),
            about: Box::new(about),
        },
    ));
    let titled = ToolCall { title: "Run ls".to_owned(), ..call_done("Bash", "call-1", "") };
    assert_eq!(
        stream.say(done_output("c", "call-1", "")),
        [tool("c", ItemStatus::Complete, titled)]
    );
}

#[test]
fn an_id_used_for_two_kinds_names_two_items() {
    let mut stream = paced();
    let emitted = stream.say_all([
        start_message("x"),
        delta("x", "text"),
        start_call("x", "Bash", "call-1"),
        done_output("x", "call-1", "out"),
        Payload::done(ResponseStatus::Completed),
    ]);
    assert_eq!(
        emitted,
        [
            shown("x", ItemStatus::Create, message("text")),
            tool("x+1", ItemStatus::Create, call("Bash", "call-1")),
            tool("x+1", ItemStatus::Complete, call_done("Bash", "call-1", "out")),
            shown("x", ItemStatus::Complete, message("text")),
            ended("t1", TurnStatus::Completed),
        ]
    );
}

#[test]
fn the_output_of_an_unknown_call_is_a_call_of_its_own() {
    let about = Box::default();
    let output = FinalItem::FunctionCallOutput {
        call_id: "call-9".to_owned(),
        output: "No such file".to_owned(),
        is_error: true,
        about,
    };
    let expected = ToolCall {
        tool_output_is_error: Some(true),
        ..call_done("tool", "call-9", "No such file")
    };
    for pacing in [Pacing::gradient(), Pacing::paced(Duration::ZERO)] {
        let mut stream = Stream::new(pacing);
        assert_eq!(
            stream.say(done("o", output.clone())),
            [tool("o", ItemStatus::Complete, expected.clone())]
        );
    }
}

#[test]
fn an_output_that_streams_under_its_own_id_grows_its_call() {
    let mut stream = paced();
    stream.say(start_call("c", "Bash", "call-1"));
    stream.say(start("o", NewItem::FunctionCallOutput { call_id: Some("call-1".to_owned()) }));
    stream.say_all([delta("o", "one\n"), delta("o", "two\n")]);
    assert_eq!(
        stream.say(done_output("o", "call-1", "")),
        [tool("c", ItemStatus::Complete, call_done("Bash", "call-1", "one\ntwo\n"))]
    );
}

#[test]
fn an_output_that_says_late_whose_it_is_still_finds_its_call() {
    let mut stream = paced();
    stream.say(start_call("c", "Bash", "call-1"));
    let nameless = start("o", NewItem::FunctionCallOutput { call_id: None });
    assert_eq!(stream.say_all([nameless.clone(), delta("o", "one\n")]), []);
    assert_eq!(
        stream.say(done_output("o", "call-1", "")),
        [tool("c", ItemStatus::Complete, call_done("Bash", "call-1", "one\n"))]
    );
    // And if it never says so, its text is not lost.
    stream.say_all([nameless, delta("o", "two\n")]);
    let orphan = ToolCall { tool_output: Some("two\n".to_owned()), ..call("tool", "") };
    let emitted = stream.say(Payload::done(ResponseStatus::Completed));
    assert_eq!(
        emitted,
        [tool("o+1", ItemStatus::Create, orphan), ended("t1", TurnStatus::Completed)]
    );
}

#[test]
fn arguments_that_were_never_declared_final_are_read_as_they_streamed() {
    let mut stream = paced();
    stream.say_all([
        start_call("c", "Bash", "call-1"),
        delta("c", r#"{"command":"#),
        delta("c", r#""ls"}"#),
    ]);
    let expected = ToolCall {
        tool_arguments: object(json!({"command": "ls"})),
        ..call_done("Bash", "call-1", "out")
    };
    assert_eq!(
        stream.say(done_output("c", "call-1", "out")),
        [tool("c", ItemStatus::Complete, expected)]
    );
}

#[test]
fn an_update_of_an_unknown_item_opens_it() {
    let mut stream = paced();
    let grown = ToolCall { tool_output: Some("out".to_owned()), ..call("tool", "call-1") };
    assert_eq!(
        stream.say(output_grew("t1:call:call-1", "out")),
        [tool("t1:call:call-1", ItemStatus::Create, grown)]
    );
    // The call is known by its id from now on.
    assert_eq!(
        stream.say(done_output("o", "call-1", "")),
        [tool("t1:call:call-1", ItemStatus::Complete, call_done("tool", "call-1", "out"))]
    );
    assert_eq!(
        stream.say(done_call("d", "Read", "call-2", json!({"path": "a"}))),
        [tool(
            "d",
            ItemStatus::Create,
            ToolCall { tool_arguments: object(json!({"path": "a"})), ..call("Read", "call-2") }
        )]
    );
    let entries =
        vec![PlanEntry { text: "look".to_owned(), status: PlanStatus::Pending, priority: None }];
    assert_eq!(
        stream.say(Payload::ItemUpdate {
            item_id: id("p"),
            patch: Patch::Plan { entries: entries.clone() }
        }),
        [shown("p", ItemStatus::Create, Source::Plan { entries })]
    );
}

#[test]
fn an_error_of_an_unknown_item_is_shown() {
    let failure = ItemFailure { code: ErrorCode::AgentProtocolError, message: "odd".to_owned() };
    assert_eq!(paced().say(item_error("?", "odd", "")), [failed("?", failure, message(""))]);
}

#[test]
fn an_item_that_fails_keeps_its_words() {
    let mut stream = Stream::new(Pacing::gradient());
    let failure = ItemFailure { code: ErrorCode::ProcessCrash, message: "gone".to_owned() };
    let emitted = stream.say_all([
        start_message("m"),
        delta("m", "half"),
        item_error("m", "PROCESS_CRASH", "gone"),
    ]);
    assert_eq!(emitted, [failed("m", failure, message("half"))]);
}

#[test]
fn a_cancelled_item_that_was_seen_keeps_its_words_and_is_neither_complete_nor_an_error() {
    let mut stream = paced();
    let emitted = stream.say_all([
        start_message("m"),
        delta("m", "one "),
        delta("m", "two"),
        item_cancelled("m"),
        Payload::done(ResponseStatus::Cancelled),
    ]);
    assert_eq!(
        emitted,
        [
            shown("m", ItemStatus::Create, message("one ")),
            shown("m", ItemStatus::Update, message("one two")),
            ended("t1", TurnStatus::Cancelled),
        ]
    );
}

#[test]
fn items_are_first_seen_in_the_order_in_which_they_first_said_something() {
    let mut stream = Stream::new(Pacing::gradient());
    stream.say_all([start_message("a"), start_message("b"), delta("b", "first")]);
    // `a` is past its threshold, but `b` waits longer.
    assert_eq!(contents(&stream.say(delta("a", &tokens(11)))), ["first", tokens(11).as_str()]);

    stream.say_all([delta("c", "third"), delta("d", "fourth")]);
    assert_eq!(contents(&stream.say(done_message("c", "third"))), ["third", "fourth"]);
}

#[test]
fn the_final_text_stands_for_what_streamed() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "Helo")]);
    assert_eq!(
        stream.say(done_message("m", "Hello")),
        [shown("m", ItemStatus::Complete, message("Hello"))]
    );
}

#[test]
fn a_completed_turn_completes_the_texts_that_nobody_ended() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "all"), start_message("empty")]);
    assert_eq!(
        stream.say(Payload::done(ResponseStatus::Completed)),
        [shown("m", ItemStatus::Complete, message("all")), ended("t1", TurnStatus::Completed)]
    );
}

#[test]
fn a_permission_is_asked_at_once_and_settled() {
    let mut stream = Stream::new(Pacing::gradient());
    let ask = Permission { title: "Run ls?".to_owned(), ..Permission::default() };
    let outcome =
        Outcome { option_id: Some("y".to_owned()), ..Outcome::without_choice(OutcomeBy::User) };
    let settled = Permission { outcome: Some(outcome.clone()), ..ask.clone() };
    let emitted = stream.say_all([
        start("a", NewItem::Permission { ask: Box::new(ask.clone()) }),
        done("a", FinalItem::Permission { outcome }),
    ]);
    assert_eq!(
        emitted,
        [
            shown("a", ItemStatus::Create, Source::Permission(ask)),
            shown("a", ItemStatus::Complete, Source::Permission(settled)),
        ]
    );
}

#[test]
fn a_notice_is_changed_in_place_and_completed() {
    let mut stream = Stream::new(Pacing::gradient());
    let notice = |text: &str| Notice {
        severity: Severity::Warning,
        text: text.to_owned(),
        actions: vec![NoticeAction::Cancel],
        details: Some(Details::default()),
    };
    let boxed = |text| Box::new(notice(text));
    let emitted = stream.say_all([
        start("n", NewItem::Notice { notice: boxed("quiet") }),
        Payload::ItemUpdate { item_id: id("n"), patch: Patch::Notice { notice: boxed("still") } },
        done("n", FinalItem::Notice { notice: boxed("back") }),
    ]);
    assert_eq!(
        emitted,
        [
            shown("n", ItemStatus::Create, Source::Notice(notice("quiet"))),
            shown("n", ItemStatus::Update, Source::Notice(notice("still"))),
            shown("n", ItemStatus::Complete, Source::Notice(notice("back"))),
        ]
    );
}

#[test]
fn text_for_what_has_none_is_counted() {
    let mut stream = paced();
    stream.say(start("p", NewItem::Plan { entries: Vec::new() }));
    assert_eq!(stream.say(delta("p", "text")), []);
    assert_eq!(stream.processor.too_late(), 1);
}

#[test]
fn the_work_of_a_sub_agent_names_its_call() {
    let mut stream = paced();
    let emitted = stream.say(Payload::ItemStart {
        item_id: id("m"),
        parent_call_id: Some("task-1".to_owned()),
        item: NewItem::Message {
            initial_content: Some("Looking.".to_owned()),
            origin: MessageOrigin::Agent,
        },
    });
    let expected = upsert("m", ItemStatus::Create, 0, message("Looking."));
    assert_eq!(
        emitted,
        [Emission::Put(Upsert { parent_call_id: Some("task-1".to_owned()), ..expected })]
    );
}

#[test]
fn an_item_of_a_turn_nobody_started_opens_a_turn_of_the_agents_own() {
    let mut stream = Stream::silent(Pacing::paced(Duration::ZERO));
    let started = turn_event(
        "t1",
        TurnEventKind::TurnStarted {
            model_id: String::new(),
            provider_id: String::new(),
            origin: TurnOrigin::Agent,
        },
    );
    assert_eq!(
        stream.say(delta("m", "By the way")),
        [started, shown("m", ItemStatus::Create, message("By the way"))]
    );
    assert_eq!(stream.say(response_start()), []);
}

#[test]
fn a_turn_that_never_began_can_still_fail() {
    let mut stream = Stream::silent(Pacing::gradient());
    let failure = ItemFailure { code: ErrorCode::AuthRequired, message: "Log in.".to_owned() };
    assert_eq!(
        stream.say(response_error("AUTH_REQUIRED", "Log in.")),
        [turn_failed("t1", failure)]
    );
    assert_eq!(stream.say(response_start()), []);
}

#[test]
fn what_a_turn_cost_and_why_it_stopped_pass_through() {
    let usage =
        Usage { input_tokens: 7, output_tokens: 9, cost_usd: Some(0.25), ..Usage::default() };
    let done = |finish: Option<&str>, stop: Option<&str>| Payload::ResponseDone {
        status: ResponseStatus::Completed,
        finish_reason: finish.map(str::to_owned),
        stop_reason: stop.map(str::to_owned),
        error: None,
        usage: Some(usage.clone()),
    };
    for (event, stop_reason) in
        [(done(Some("stop"), Some("end_turn")), "end_turn"), (done(Some("stop"), None), "stop")]
    {
        let kind = TurnEventKind::TurnComplete {
            status: TurnStatus::Completed,
            usage: Some(usage.clone()),
            stop_reason: Some(stop_reason.to_owned()),
        };
        assert_eq!(paced().say(event), [turn_event("t1", kind)]);
    }
}

#[test]
fn events_of_another_session_are_not_ours() {
    let mut stream = paced();
    let event = liminal_stream::StreamEvent {
        event_id: "e".to_owned(),
        timestamp: said(0),
        turn_id: stream.turn.clone(),
        session_id: liminal_contract::SessionId::parse("codex:other").unwrap(),
        payload: delta("m", "not here"),
    };
    assert_eq!(stream.processor.process(event, at(0)), []);
    assert_eq!(stream.processor.too_late(), 1);
}

#[test]
fn what_waits_at_the_end_of_a_turn_goes_out_in_the_order_in_which_it_was_said() {
    let mut stream = Stream::silent(Pacing::gradient());
    stream.say(response_start());
    for event in [start_message("a"), start_message("b"), delta("b", "first"), delta("a", "then")] {
        stream.say(event);
    }
    let emitted = stream.say(Payload::done(ResponseStatus::Completed));
    let items: Vec<_> = emitted
        .iter()
        .filter_map(|emission| match emission {
            Emission::Put(upsert) => Some(upsert.item_id.as_str()),
            Emission::Grew(_) | Emission::Turn(_) => None,
        })
        .collect();
    assert_eq!(items, ["b", "a"]);
}
