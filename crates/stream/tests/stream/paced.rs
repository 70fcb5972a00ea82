//! Paced batching: the first word immediately, then one emission per item and interval, the rest by deadline.

use std::time::Duration;

use liminal_contract::{ItemStatus, TurnId};
use liminal_stream::{
    Emission, Growth, Pacing, Payload, ResponseStatus, Source, ToolCall, ToolPatch, Upsert,
};
use serde_json::json;

use crate::support::*;

fn paced() -> Stream {
    Stream::new(Pacing::paced(Duration::from_millis(33)))
}

/// An item that began at 0, last grew at `said_ms` and was emitted at `ms`.
fn at_time(item: &str, status: ItemStatus, said_ms: u64, ms: u64, source: Source) -> Emission {
    Emission::Put(Upsert {
        source_timestamp: said(said_ms),
        emitted_at: wall(ms),
        ..upsert(item, status, 0, source)
    })
}

/// One line of a table: the time, the new text (or `None` at a deadline), the text of the message if it is emitted, and
/// the next deadline.
type Line = (u64, Option<&'static str>, Option<&'static str>, Option<u64>);

#[track_caller]
fn check(table: &[Line]) {
    let mut stream = paced();
    stream.say(start_message("m"));
    for (line, (ms, text, shows, deadline)) in table.iter().enumerate() {
        let emitted = match text {
            Some(text) => stream.say_at(*ms, delta("m", text)),
            None => stream.flush_at(*ms),
        };
        assert_eq!(contents(&emitted), shows.iter().copied().collect::<Vec<_>>(), "line {line}");
        assert_eq!(stream.deadline(), *deadline, "line {line}");
    }
}

#[test]
fn the_first_word_goes_out_at_once_and_the_rest_after_the_interval() {
    check(&[
        (0, Some("a"), Some("a"), None),
        (1, Some("b"), None, Some(33)),
        (32, Some("c"), None, Some(33)),
        (33, None, Some("abc"), None),
        (50, Some("d"), None, Some(66)),
        (66, None, Some("abcd"), None),
    ]);
}

#[test]
fn a_longer_interval_holds_for_what_already_waits() {
    let mut stream = paced();
    stream.say(start_message("m"));
    stream.say_at(0, delta("m", "a"));
    stream.say_at(1, delta("m", "b"));
    let longer = Duration::from_millis(100);
    stream.processor.set_interval(longer, longer);
    assert_eq!(contents(&stream.flush_at(33)), Vec::<&str>::new());
    assert_eq!(stream.deadline(), Some(100));
    assert_eq!(contents(&stream.flush_at(100)), ["ab"]);
}

#[test]
fn much_text_waits_less_long_than_a_word() {
    let mut stream = paced();
    stream.say(start_message("m"));
    stream.processor.set_interval(Duration::from_millis(33), Duration::from_millis(10));
    stream.say_at(0, delta("m", "a"));
    stream.say_at(1, delta("m", "b"));
    assert_eq!(stream.deadline(), Some(33));
    let much = "c".repeat(31);
    assert!(stream.say_at(2, delta("m", &much)).is_empty());
    assert_eq!(stream.deadline(), Some(10));
    assert_eq!(contents(&stream.flush_at(10)), [format!("ab{much}")]);
    assert!(stream.say_at(19, delta("m", "d")).is_empty());
    assert_eq!(contents(&stream.say_at(21, delta("m", &much))), [format!("ab{much}d{much}")]);
}

#[test]
fn after_a_pause_the_next_word_goes_out_at_once() {
    check(&[
        (0, Some("a"), Some("a"), None),
        (33, Some("b"), Some("ab"), None),
        (500, Some("c"), Some("abc"), None),
        (501, Some("d"), None, Some(533)),
    ]);
}

#[test]
fn a_word_that_comes_after_the_deadline_takes_the_waiting_ones_along() {
    check(&[
        (0, Some("a"), Some("a"), None),
        (10, Some("b"), None, Some(33)),
        (40, Some("c"), Some("abc"), None),
    ]);
}

#[test]
fn a_deadline_that_has_not_come_emits_nothing() {
    check(&[
        (0, Some("a"), Some("a"), None),
        (10, Some("b"), None, Some(33)),
        (20, None, None, Some(33)),
        (33, None, Some("ab"), None),
        (34, None, None, None),
    ]);
}

#[test]
fn nothing_added_is_nothing_emitted() {
    check(&[(0, Some(""), None, None), (1, Some("a"), Some("a"), None), (2, Some(""), None, None)]);
}

#[test]
fn items_are_paced_each_by_itself() {
    let mut stream = paced();
    stream.say_all([start_message("a"), start_reasoning("b")]);
    assert_eq!(contents(&stream.say(delta("a", "1"))), ["1"]);
    assert_eq!(contents(&stream.say_at(20, delta("b", "2"))), ["2"]);
    assert_eq!(contents(&stream.say_at(25, delta("a", "3"))), [""; 0]);
    assert_eq!(contents(&stream.say_at(26, delta("b", "4"))), [""; 0]);
    assert_eq!(stream.deadline(), Some(33));
    assert_eq!(contents(&stream.flush_at(33)), ["13"]);
    assert_eq!(stream.deadline(), Some(53));
    assert_eq!(contents(&stream.flush_at(53)), ["24"]);
}

#[test]
fn an_overdue_item_goes_out_with_any_event() {
    let mut stream = paced();
    stream.say_all([start_message("a"), start_message("b"), delta("a", "1"), delta("b", "2")]);
    stream.say_at(1, delta("a", "!"));
    assert_eq!(contents(&stream.say_at(40, delta("b", "?"))), ["1!", "2?"]);
}

#[test]
fn what_is_not_a_delta_lets_the_waiting_words_out_first() {
    let words = [start_message("m"), delta("m", "one "), delta("m", "two")];
    let events: [(Payload, usize); 5] = [
        (start_message("n"), 0),
        (start_call("c", "Bash", "call-1"), 1),
        (done_message("other", "x"), 1),
        (item_cancelled("other"), 0),
        (response_start(), 0),
    ];
    for (event, more) in events {
        let mut stream = paced();
        stream.say_all(words.clone());
        let emitted = stream.say_at(5, event);
        assert_eq!(
            emitted.first(),
            Some(&at_time("m", ItemStatus::Update, 0, 5, message("one two")))
        );
        assert_eq!(emitted.len(), 1 + more);
    }
}

#[test]
fn an_item_done_at_once_is_one_emission() {
    let mut stream = paced();
    assert_eq!(
        stream.say_all([start_message("m"), done_message("m", "Hello")]),
        [shown("m", ItemStatus::Complete, message("Hello"))]
    );
}

#[test]
fn words_that_wait_are_part_of_the_end_of_their_item() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "Hel"), delta("m", "lo")]);
    assert_eq!(
        stream.say_at(5, done_message("m", "Hello")),
        [at_time("m", ItemStatus::Complete, 5, 5, message("Hello"))]
    );
}

#[test]
fn a_cancelled_turn_keeps_the_words_that_wait() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "one "), delta("m", "two")]);
    let emitted = stream.say_at(5, Payload::done(ResponseStatus::Cancelled));
    assert_eq!(
        emitted,
        [
            at_time("m", ItemStatus::Update, 0, 5, message("one two")),
            ended("t1", liminal_contract::TurnStatus::Cancelled)
        ]
    );
}

#[test]
fn a_tool_call_shows_its_arguments_and_its_growing_output() {
    let mut stream = paced();
    let mut state = call("Bash", "call-1");
    let tool = |status, said_ms, ms, call: &ToolCall| {
        at_time("c", status, said_ms, ms, Source::ToolCall(call.clone()))
    };
    assert_eq!(
        stream.say(start_call("c", "Bash", "call-1")),
        [tool(ItemStatus::Create, 0, 0, &state)]
    );
    // Pieces of arguments are not readable, so nothing is emitted.
    assert_eq!(stream.say_at(1, delta("c", r#"{"command":"make"}"#)), []);

    state.tool_arguments = object(json!({"command": "make"}));
    assert_eq!(stream.say_at(2, done_call("c", "Bash", "call-1", json!({"command": "make"}))), []);
    assert_eq!(stream.deadline(), Some(33));
    assert_eq!(stream.flush_at(33), [tool(ItemStatus::Update, 2, 33, &state)]);

    state.tool_output = Some("cc a.c\n".to_owned());
    assert_eq!(
        stream.say_at(100, output_grew("c", "cc a.c\n")),
        [tool(ItemStatus::Update, 100, 100, &state)]
    );
    assert_eq!(stream.say_at(101, output_grew("c", "cc b.c\n")), []);
    assert_eq!(stream.say_at(102, output_grew("c", "done\n")), []);
    state.tool_output = Some("cc a.c\ncc b.c\ndone\n".to_owned());
    assert_eq!(stream.flush_at(133), [tool(ItemStatus::Update, 102, 133, &state)]);

    state.tool_output_is_error = Some(false);
    // An empty final output keeps the streamed one.
    assert_eq!(
        stream.say_at(134, done_output("o", "call-1", "")),
        [tool(ItemStatus::Complete, 134, 134, &state)]
    );
}

#[test]
fn a_flood_of_tool_updates_is_paced_like_words() {
    let mut stream = paced();
    stream.say(start_call("c", "Bash", "call-1"));
    let emitted: usize =
        (0..1000).map(|ms| stream.say_at(ms, output_grew("c", "line\n")).len()).sum();
    assert_eq!(emitted, 1000 / 33);
}

#[test]
fn what_a_patch_does_not_name_stays() {
    let mut stream = paced();
    stream.say(start_call("c", "Edit", "call-1"));
    let first = ToolPatch {
        title: Some("Edit a.rs".to_owned()),
        tool_kind: Some(liminal_contract::ToolKind::Edit),
        output: Some("all so far".to_owned()),
        ..ToolPatch::default()
    };
    let second = ToolPatch {
        refused: Some(true),
        exit_code: Some(2),
        output: Some("all of it".to_owned()),
        ..ToolPatch::default()
    };
    stream.say_all([patch("c", first), patch("c", second)]);
    let expected = ToolCall {
        title: "Edit a.rs".to_owned(),
        tool_kind: liminal_contract::ToolKind::Edit,
        tool_output: Some("all of it".to_owned()),
        refused: Some(true),
        exit_code: Some(2),
        ..call("Edit", "call-1")
    };
    assert_eq!(
        stream.flush_at(33),
        [at_time("c", ItemStatus::Update, 0, 33, Source::ToolCall(expected))]
    );
}

#[test]
fn everything_can_be_let_out_before_its_time() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "one "), delta("m", "two")]);
    let flushed = stream.processor.flush_all(at(1));
    assert_eq!(contents(&stream.whole(flushed)), ["one two"]);
    assert_eq!(stream.deadline(), None);
}

#[test]
fn an_item_that_only_grew_is_emitted_as_what_was_added() {
    let mut stream = paced();
    stream.say_all([start_message("m"), delta("m", "one ")]);
    stream.say_at(10, delta("m", "two "));
    stream.say_at(20, delta("m", "three"));
    let grew = |text: &str, item: &str, ms: u64, said_ms: u64| {
        Emission::Grew(Growth {
            turn_id: TurnId::new("t1"),
            item_id: id(item),
            source_timestamp: said(said_ms),
            emitted_at: wall(ms),
            text: text.to_owned(),
        })
    };
    assert_eq!(stream.processor.flush(at(33)), [grew("two three", "m", 33, 20)]);

    // An output grows in the same way, until something else about the call changes.
    stream.say_at(100, start_call("c", "Bash", "call-1"));
    stream.say_at(200, output_grew("c", "first"));
    stream.say_at(210, output_grew("c", " second"));
    assert_eq!(stream.processor.flush(at(233)), [grew(" second", "c", 233, 210)]);
    let unchanged = ToolPatch { name: Some("Bash".to_owned()), ..ToolPatch::default() };
    stream.say_at(300, patch("c", unchanged));
    assert_eq!(stream.processor.flush(at(400)), []);
    let titled = ToolPatch { title: Some("ls".to_owned()), ..ToolPatch::default() };
    let emitted = stream.say_at(500, patch("c", titled));
    let [Emission::Put(Upsert { source: Source::ToolCall(call), .. })] = &emitted[..] else {
        panic!("{emitted:?}");
    };
    assert_eq!(call.tool_output.as_deref(), Some("first second"));
}
