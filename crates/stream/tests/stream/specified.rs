//! The specified default, case by case: content, gradient, tool correlation, and the edges.

use std::time::Duration;

use liminal_contract::{ErrorCode, ItemStatus, TurnEventKind, TurnStatus};
use liminal_stream::{ItemFailure, Pacing, Payload, ResponseStatus, Source, ToolCall};
use serde_json::json;

use crate::support::*;

fn gradient() -> Stream {
    Stream::new(Pacing::gradient())
}

/// Sends one token at a time and returns after how many of them something was emitted.
fn emissions_at(stream: &mut Stream, item: &str, total: usize) -> Vec<usize> {
    (1..=total)
        .filter(|_| {
            let emitted = stream.say(delta(item, "word"));
            assert!(emitted.len() <= 1, "one delta, one emission");
            !emitted.is_empty()
        })
        .collect()
}

// Whole content, item by item.

#[test]
fn a_message_is_created_and_completed_with_its_whole_text() {
    let mut stream = Stream::silent(Pacing::gradient());
    let (first, second) = (tokens(11), tokens(3));
    let whole = format!("{first}{second}");
    let emitted = stream.say_all([
        response_start(),
        start_message("m"),
        delta("m", &first),
        delta("m", &second),
        done_message("m", &whole),
        Payload::done(ResponseStatus::Completed),
    ]);
    assert_eq!(
        emitted,
        [
            started("t1"),
            shown("m", ItemStatus::Create, message(&first)),
            shown("m", ItemStatus::Complete, message(&whole)),
            ended("t1", TurnStatus::Completed),
        ]
    );
}

#[test]
fn each_emission_carries_all_the_text_and_not_what_was_added() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    assert_eq!(stream.say(delta("m", &tokens(10))), []);
    assert_eq!(
        stream.say(delta("m", &tokens(20))),
        [shown("m", ItemStatus::Create, message(&tokens(30)))]
    );
    assert_eq!(
        stream.say(delta("m", &tokens(70))),
        [shown("m", ItemStatus::Update, message(&tokens(100)))]
    );
}

#[test]
fn a_tool_call_is_emitted_on_invocation_and_on_completion_only() {
    let mut stream = gradient();
    let emitted = stream.say_all([
        start_call("c", "Bash", "call-1"),
        delta("c", r#"{"command":"#),
        delta("c", r#""ls"}"#),
        done_call("c", "Bash", "call-1", json!({"command": "ls"})),
        output_grew("c", "Cargo"),
        done_output("o", "call-1", "Cargo.toml"),
        Payload::done(ResponseStatus::Completed),
    ]);
    let completed = ToolCall {
        tool_arguments: object(json!({"command": "ls"})),
        ..call_done("Bash", "call-1", "Cargo.toml")
    };
    assert_eq!(
        emitted,
        [
            shown("c", ItemStatus::Create, Source::ToolCall(call("Bash", "call-1"))),
            shown("c", ItemStatus::Complete, Source::ToolCall(completed)),
            ended("t1", TurnStatus::Completed),
        ]
    );
}

#[test]
fn reasoning_becomes_thinking() {
    let mut stream = gradient();
    let emitted = stream.say_all([
        start_reasoning("r"),
        delta("r", &tokens(12)),
        delta("r", "!"),
        done_reasoning("r", &format!("{}!", tokens(12))),
    ]);
    assert_eq!(
        emitted,
        [
            shown("r", ItemStatus::Create, thinking(&tokens(12))),
            shown("r", ItemStatus::Complete, thinking(&format!("{}!", tokens(12)))),
        ]
    );
}

// The gradient.

#[test]
fn the_first_emission_comes_with_the_eleventh_token() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    assert_eq!(emissions_at(&mut stream, "m", 12), [11]);
}

#[test]
fn later_emissions_are_wider_apart() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    // Each threshold is counted from the previous emission, and exceeded by one.
    assert_eq!(emissions_at(&mut stream, "m", 275), [11, 32, 73, 154, 275]);
}

#[test]
fn a_threshold_that_is_only_reached_emits_nothing() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    assert_eq!(stream.say(delta("m", &tokens(10))), []);
    // A token is four characters, rounded up: one character more is an eleventh.
    assert_eq!(
        stream.say(delta("m", "é")),
        [shown("m", ItemStatus::Create, message(&format!("{}é", tokens(10))))]
    );
}

#[test]
fn one_delta_across_three_thresholds_is_one_emission_and_three_steps() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    assert_eq!(
        stream.say(delta("m", &tokens(75))),
        [shown("m", ItemStatus::Create, message(&tokens(75)))]
    );
    // The next threshold is the fourth.
    assert_eq!(emissions_at(&mut stream, "m", 81), [81]);
}

#[test]
fn the_last_threshold_repeats() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    stream.say(delta("m", &tokens(1000)));
    assert_eq!(emissions_at(&mut stream, "m", 500), [121, 242, 363, 484]);
}

#[test]
fn the_default_is_the_specified_gradient() {
    let pacing = Pacing::default();
    assert_eq!(pacing, Pacing::gradient());
    assert_eq!(pacing.thresholds(), [10, 20, 40, 80, 120]);
    assert_eq!(pacing.wait(), Duration::from_millis(1000));
}

// Tool calls and their outputs.

#[test]
fn an_output_lands_on_the_item_of_its_invocation() {
    let mut stream = gradient();
    stream.say(start_call("invocation", "Read", "call-1"));
    assert_eq!(
        stream.say(done_output("another", "call-1", "text")),
        [shown(
            "invocation",
            ItemStatus::Complete,
            Source::ToolCall(call_done("Read", "call-1", "text"))
        )]
    );
}

#[test]
fn interleaved_calls_keep_their_own_outputs() {
    let mut stream = gradient();
    let emitted = stream.say_all([
        start_call("a", "Read", "call-a"),
        start_call("b", "Bash", "call-b"),
        done_output("ob", "call-b", "of b"),
        done_output("oa", "call-a", "of a"),
    ]);
    let tool = |item, status, call| shown(item, status, Source::ToolCall(call));
    assert_eq!(
        emitted,
        [
            tool("a", ItemStatus::Create, call("Read", "call-a")),
            tool("b", ItemStatus::Create, call("Bash", "call-b")),
            tool("b", ItemStatus::Complete, call_done("Bash", "call-b", "of b")),
            tool("a", ItemStatus::Complete, call_done("Read", "call-a", "of a")),
        ]
    );
}

// The edges.

#[test]
fn what_waits_when_the_processor_is_destroyed_goes_out_as_an_error() {
    let mut stream = gradient();
    stream.say_all([start_message("m"), delta("m", "half a "), delta("m", "sentence")]);
    let failure = ItemFailure {
        code: ErrorCode::ProcessCrash,
        message: "Connection to Codex lost.".to_owned(),
    };
    assert_eq!(
        stream.processor.destroy(failure.clone(), at(0)),
        [
            failed("m", failure.clone(), message("half a sentence")),
            turn_failed("t1", failure.clone())
        ]
    );
    assert_eq!(stream.processor.destroy(failure, at(0)), []);
    assert_eq!(stream.deadline(), None);
}

#[test]
fn what_waits_goes_out_after_the_timeout() {
    let mut stream = gradient();
    stream.say(start_message("m"));
    assert_eq!(stream.say(delta("m", "a few words")), []);
    assert_eq!(stream.deadline(), Some(1000));
    assert_eq!(stream.flush_at(999), []);
    let mut expected = upsert("m", ItemStatus::Create, 0, message("a few words"));
    expected.emitted_at = wall(1000);
    assert_eq!(stream.flush_at(1000), [liminal_stream::Emission::Put(expected)]);
    assert_eq!(stream.deadline(), None);
    assert_eq!(stream.flush_at(5000), []);
}

#[test]
fn an_empty_item_is_one_emission() {
    let mut stream = gradient();
    assert_eq!(
        stream.say_all([start_message("m"), done_message("m", "")]),
        [shown("m", ItemStatus::Complete, message(""))]
    );
}

#[test]
fn a_cancelled_item_nobody_has_seen_is_never_seen() {
    let mut stream = gradient();
    let emitted =
        stream.say_all([start_message("m"), delta("m", "never mind"), item_cancelled("m")]);
    assert_eq!(emitted, []);
    assert_eq!(stream.deadline(), None);
    assert_eq!(stream.flush_at(10_000), []);
}

#[test]
fn a_cancelled_turn_ends_as_cancelled_and_so_does_no_item() {
    let mut stream = gradient();
    let emitted = stream.say_all([
        start_message("gone"),
        delta("gone", "never mind"),
        item_cancelled("gone"),
        start_message("kept"),
        delta("kept", "so far"),
        Payload::done(ResponseStatus::Cancelled),
    ]);
    assert_eq!(
        emitted,
        [shown("kept", ItemStatus::Create, message("so far")), ended("t1", TurnStatus::Cancelled)]
    );
}

#[test]
fn a_failed_turn_is_a_turn_error_and_nothing_else() {
    let overloaded =
        ItemFailure { code: ErrorCode::AgentProtocolError, message: "Overloaded".to_owned() };
    let crash =
        ItemFailure { code: ErrorCode::ProcessCrash, message: "Connection lost".to_owned() };
    let by_finish_reason = ItemFailure {
        code: ErrorCode::AgentProtocolError,
        message: "The agent stopped with an error: max_tokens".to_owned(),
    };
    let unexplained = ItemFailure {
        code: ErrorCode::AgentProtocolError,
        message: "The agent stopped with an error and gave no reason. Try again.".to_owned(),
    };
    let done = |error, finish_reason: Option<&str>| Payload::ResponseDone {
        status: ResponseStatus::Error,
        finish_reason: finish_reason.map(str::to_owned),
        stop_reason: None,
        error,
        usage: None,
    };
    let cases = [
        (response_error("PROCESS_CRASH", "Connection lost"), crash),
        (response_error("overloaded_error", "Overloaded"), overloaded.clone()),
        (done(Some(agent_error("529", "Overloaded")), Some("max_tokens")), overloaded),
        (done(None, Some("max_tokens")), by_finish_reason),
        (done(None, None), unexplained),
    ];
    for (event, failure) in cases {
        let mut stream = gradient();
        stream.say_all([start_message("m"), delta("m", "partial")]);
        assert_eq!(
            stream.say(event),
            [failed("m", failure.clone(), message("partial")), turn_failed("t1", failure)]
        );
        // One final event, and nothing after it.
        let after = stream.say_all([
            response_error("X", "again"),
            Payload::done(ResponseStatus::Completed),
            delta("m", "more"),
            response_start(),
        ]);
        assert_eq!(after, []);
    }
}

#[test]
fn an_error_of_the_turn_comes_with_its_evidence() {
    let details = liminal_contract::Details {
        stderr_tail: Some("panicked".to_owned()),
        ..liminal_contract::Details::default()
    };
    let mut error = agent_error("PROCESS_CRASH", "Connection lost");
    error.details = Some(details.clone());
    assert_eq!(
        gradient().say(Payload::ResponseError { error }),
        [turn_event(
            "t1",
            TurnEventKind::TurnError {
                error_code: ErrorCode::ProcessCrash,
                error_message: "Connection lost".to_owned(),
                details: Some(details),
            }
        )]
    );
}
