//! An item over the limit continues in a new one, and nothing is lost at the seam.

use std::time::Duration;

use liminal_contract::ItemStatus;
use liminal_stream::{Emission, Pacing, Payload, ResponseStatus, Source, ToolCall, Upsert};

use crate::support::*;

fn small(limit: usize) -> Stream {
    let mut stream = Stream::new(Pacing::paced(Duration::from_millis(33)));
    stream.processor = stream.processor.with_item_limit(limit);
    stream
}

fn tool(item: &str, status: ItemStatus, output: &str, is_error: Option<bool>) -> Emission {
    let call = ToolCall {
        tool_output: Some(output.to_owned()),
        tool_output_is_error: is_error,
        ..call("Bash", "call-1")
    };
    shown(item, status, Source::ToolCall(call))
}

#[test]
fn a_long_text_goes_on_in_a_new_item() {
    let mut stream = small(8);
    let emitted = stream.say_all([
        start_message("m"),
        delta("m", "12345"),
        delta("m", "67890"),
        delta("m", "ab"),
        done_message("m", "1234567890ab"),
    ]);
    assert_eq!(
        emitted,
        [
            shown("m", ItemStatus::Create, message("12345")),
            shown("m", ItemStatus::Complete, message("12345678")),
            shown("m+1", ItemStatus::Create, message("90")),
            shown("m+1", ItemStatus::Complete, message("90ab")),
        ]
    );
}

#[test]
fn one_delta_may_fill_several_items() {
    let mut stream = small(4);
    let emitted = stream.say_all([start_reasoning("r"), delta("r", "123456789")]);
    assert_eq!(
        emitted,
        [
            shown("r", ItemStatus::Complete, thinking("1234")),
            shown("r+1", ItemStatus::Complete, thinking("5678")),
            shown("r+2", ItemStatus::Create, thinking("9")),
        ]
    );
}

#[test]
fn a_final_text_that_nobody_streamed_is_split_too() {
    let mut stream = small(4);
    assert_eq!(
        stream.say(done_message("m", "123456")),
        [
            shown("m", ItemStatus::Complete, message("1234")),
            shown("m+1", ItemStatus::Complete, message("56")),
        ]
    );
}

#[test]
fn no_character_is_torn() {
    let mut stream = small(4);
    let emitted = stream.say_all([delta("m", "aé😀b"), Payload::done(ResponseStatus::Completed)]);
    assert_eq!(contents(&emitted), ["aé", "😀", "b", "b"]);
}

#[test]
fn a_long_output_goes_on_in_a_new_call() {
    let mut stream = small(4);
    stream.say(start_call("c", "Bash", "call-1"));
    assert_eq!(
        stream.say(output_grew("c", "123456")),
        [
            tool("c", ItemStatus::Complete, "1234", None),
            tool("c+1", ItemStatus::Create, "56", None)
        ]
    );
    assert_eq!(
        stream.say(done_output("o", "call-1", "1234567")),
        [tool("c+1", ItemStatus::Complete, "567", Some(false))]
    );
}

#[test]
fn a_long_output_under_its_own_id_stays_output() {
    let mut stream = small(4);
    let new = liminal_stream::NewItem::FunctionCallOutput { call_id: Some("call-1".to_owned()) };
    let emitted = stream.say_all([
        start("o", new),
        delta("o", "123456"),
        delta("o", "78"),
        done_output("o", "call-1", ""),
    ]);
    let outputs: Vec<_> = emitted
        .iter()
        .filter_map(|emission| match emission {
            Emission::Put(Upsert { item_id, status, source: Source::ToolCall(call), .. }) => {
                Some((item_id.as_str(), *status, call.tool_output.as_deref()))
            }
            Emission::Put(_) | Emission::Grew(_) | Emission::Turn(_) => None,
        })
        .collect();
    assert_eq!(
        outputs,
        [
            ("o", ItemStatus::Complete, Some("1234")),
            ("o+1", ItemStatus::Create, Some("56")),
            ("o+1", ItemStatus::Complete, Some("5678")),
        ]
    );
}

#[test]
fn the_limit_is_four_megabytes() {
    let mut stream = Stream::new(Pacing::gradient());
    let whole = "0123456789".repeat(450_000);
    let emitted = stream.say(done_message("m", &whole));
    let texts = contents(&emitted);
    assert_eq!(texts.iter().map(|text| text.len()).collect::<Vec<_>>(), [4_000_000, 500_000]);
    assert!(texts.concat() == whole);
}
