//! Events as JSON: which are accepted, which are rejected and why, and that both directions agree.

use liminal_contract::{ErrorCode, MessageOrigin, TurnId, Usage};
use liminal_stream::{FinalItem, NewItem, Payload, ResponseStatus, StreamEvent, ToolPatch};
use serde_json::{Value, json};

use crate::support::*;

/// The wire form of an event with this payload.
fn wire(payload: &Value) -> Value {
    json!({
        "eventId": "e1",
        "timestamp": "2026-11-15T23:42:00.000Z",
        "turnId": "t1",
        "sessionId": "codex:s1",
        "type": payload["type"],
        "payload": payload,
    })
}

/// Reads it and writes it again: the result must be the same.
fn read(payload: &Value) -> Payload {
    let wire = wire(payload);
    let event = StreamEvent::from_value(wire.clone()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(event.turn_id, TurnId::new("t1"));
    assert_eq!(event.session_id, session_id());
    assert_eq!(event.event_id, "e1");
    assert_eq!(event.timestamp.to_string(), "2026-11-15T23:42:00.000Z");
    let again = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<StreamEvent>(&again).unwrap(), event);
    assert_eq!(StreamEvent::from_json(&again).unwrap(), event);
    assert_eq!(
        serde_json::from_value::<Payload>(serde_json::to_value(&event.payload).unwrap()).unwrap(),
        event.payload
    );
    event.payload
}

#[track_caller]
fn refuses(event: &Value, field: &str, reason: &str) {
    let error = StreamEvent::from_value(event.clone()).unwrap_err();
    assert_eq!((error.field.as_str(), error.reason.as_str()), (field, reason), "{event}");
    assert_eq!(error.to_string(), format!("not a stream event: {field} {reason}"));
    assert_eq!(error.code(), ErrorCode::InvalidStreamEvent);
}

#[test]
fn text_is_a_delta_of_a_message() {
    assert_eq!(
        read(&json!({"type": "item_start", "itemId": "m", "itemType": "message"})),
        start_message("m")
    );
    // An unknown field is ignored.
    assert_eq!(
        read(&json!({"type": "item_delta", "itemId": "m", "itemType": "message",
            "deltaContent": "Hello"})),
        delta("m", "Hello")
    );
    assert_eq!(
        read(&json!({"type": "item_done", "itemId": "m",
            "finalItem": {"type": "message", "content": "Hello", "origin": "agent"}})),
        done_message("m", "Hello")
    );
}

#[test]
fn a_tool_call_has_a_name_an_id_arguments_and_a_result() {
    let begun = json!({"type": "item_start", "itemId": "c", "itemType": "function_call",
        "name": "Bash", "callId": "call-1"});
    assert_eq!(read(&begun), start_call("c", "Bash", "call-1"));
    assert_eq!(
        read(&json!({"type": "item_delta", "itemId": "c", "deltaContent": "{\"command\""})),
        delta("c", "{\"command\"")
    );
    let settled = json!({"type": "item_done", "itemId": "c", "finalItem": {
        "type": "function_call", "name": "Bash", "callId": "call-1",
        "arguments": {"command": "ls"}}});
    assert_eq!(read(&settled), done_call("c", "Bash", "call-1", json!({"command": "ls"})));
    let output = json!({"type": "item_done", "itemId": "o", "finalItem": {
        "type": "function_call_output", "callId": "call-1", "output": "a", "isError": false}});
    assert_eq!(read(&output), done_output("o", "call-1", "a"));
    assert_eq!(
        read(&json!({"type": "item_start", "itemId": "o", "itemType": "function_call_output",
            "callId": "call-1"})),
        start("o", NewItem::FunctionCallOutput { call_id: Some("call-1".to_owned()) })
    );
}

#[test]
fn thinking_is_reasoning() {
    assert_eq!(
        read(&json!({"type": "item_start", "itemId": "r", "itemType": "reasoning",
            "initialContent": "Hm"})),
        start("r", NewItem::Reasoning { initial_content: Some("Hm".to_owned()) })
    );
    assert_eq!(
        read(&json!({"type": "item_done", "itemId": "r",
            "finalItem": {"type": "reasoning", "content": "Hm.", "providerId": "acp"}})),
        done_reasoning("r", "Hm.")
    );
}

#[test]
fn a_turn_begins_with_a_model_and_ends_with_a_status() {
    assert_eq!(
        read(&json!({"type": "response_start", "modelId": "model", "providerId": "acp"})),
        response_start()
    );
    let usage = Usage { input_tokens: 3, output_tokens: 5, ..Usage::default() };
    assert_eq!(
        read(&json!({"type": "response_done", "status": "completed", "finishReason": "stop",
            "usage": {"inputTokens": 3, "outputTokens": 5}})),
        Payload::ResponseDone {
            status: ResponseStatus::Completed,
            finish_reason: Some("stop".to_owned()),
            stop_reason: None,
            error: None,
            usage: Some(usage),
        }
    );
    let failed = |error| Payload::ResponseDone {
        status: ResponseStatus::Error,
        finish_reason: None,
        stop_reason: None,
        error,
        usage: None,
    };
    assert_eq!(
        read(&json!({"type": "response_done", "status": "error",
            "error": {"code": "X", "message": "no"}})),
        failed(Some(agent_error("X", "no")))
    );
    // The error of a failed turn is optional.
    assert_eq!(read(&json!({"type": "response_done", "status": "error"})), failed(None));
}

#[test]
fn errors_have_a_code_and_a_message() {
    assert_eq!(
        read(&json!({"type": "item_error", "itemId": "m",
            "error": {"code": "X", "message": "no"}})),
        item_error("m", "X", "no")
    );
    assert_eq!(
        read(&json!({"type": "response_error", "error": {"code": "X", "message": "no"}})),
        response_error("X", "no")
    );
    assert_eq!(read(&json!({"type": "item_cancelled", "itemId": "m"})), item_cancelled("m"));
}

#[test]
fn what_is_added_to_the_specified_events_travels_too() {
    let plan = json!([{"text": "look", "status": "in_progress"}]);
    let notice = json!({"severity": "info", "text": "Quiet.", "actions": ["cancel"]});
    let ask = json!({"title": "Run ls?", "toolKind": "execute", "parts": [{"kind": "terminal",
        "text": "ls"}], "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]});
    let items = [
        json!({"itemType": "plan", "entries": plan}),
        json!({"itemType": "permission", "ask": ask}),
        json!({"itemType": "notice", "notice": notice}),
        json!({"itemType": "function_call", "name": "Edit", "callId": "c", "parentCallId": "p",
            "about": {"title": "Edit a file", "toolKind": "edit",
                "locations": [{"path": "a.rs", "line": 3}]}}),
        json!({"itemType": "message", "origin": "user", "initialContent": "Hi"}),
        json!({"itemType": "function_call_output"}),
    ];
    for mut item in items {
        item["type"] = json!("item_start");
        item["itemId"] = json!("i");
        read(&item);
    }
    for patch in [
        json!({"of": "tool", "title": "t", "outputDelta": "more"}),
        json!({"of": "plan", "entries": plan}),
        json!({"of": "notice", "notice": notice}),
    ] {
        read(&json!({"type": "item_update", "itemId": "i", "patch": patch}));
    }
    for last in [
        json!({"type": "plan", "entries": plan}),
        json!({"type": "permission", "outcome": {"optionId": "y", "by": "user"}}),
        json!({"type": "notice", "notice": notice}),
        json!({"type": "function_call_output", "callId": "c", "output": "", "isError": true,
            "about": {"refused": true}}),
    ] {
        read(&json!({"type": "item_done", "itemId": "i", "finalItem": last}));
    }
    assert_eq!(
        read(&json!({"type": "item_update", "itemId": "c",
            "patch": {"of": "tool", "title": "t", "outputDelta": "more"}})),
        patch(
            "c",
            ToolPatch {
                title: Some("t".to_owned()),
                output_delta: Some("more".to_owned()),
                ..ToolPatch::default()
            }
        )
    );
    assert_eq!(
        read(&json!({"type": "item_done", "itemId": "m",
            "finalItem": {"type": "message", "content": "Hi", "origin": "user"}})),
        done("m", FinalItem::Message { content: "Hi".to_owned(), origin: MessageOrigin::User })
    );
}

#[test]
fn an_envelope_must_be_whole() {
    let good = wire(&json!({"type": "item_delta", "itemId": "m", "deltaContent": "x"}));
    for field in ["eventId", "timestamp", "turnId", "sessionId", "type", "payload"] {
        let mut event = good.clone();
        event.as_object_mut().unwrap().remove(field);
        refuses(&event, field, "is missing");
    }
    for field in ["eventId", "turnId", "type"] {
        let mut event = good.clone();
        event[field] = json!("");
        refuses(&event, field, "is empty");
    }
    let wrong = [
        ("eventId", json!(1), "is wrong: invalid type: integer `1`, expected a string"),
        ("timestamp", json!("noon"), "is wrong: not an ISO 8601 time: \"noon\""),
        ("sessionId", json!("s1"), "is wrong: a session id has the form agent:id"),
        ("payload", json!("x"), "is a string, not an object"),
        ("type", json!("item_done"), "is `item_done`, but payload.type is `item_delta`"),
    ];
    for (field, value, reason) in wrong {
        let mut event = good.clone();
        event[field] = value;
        refuses(&event, field, reason);
    }
    refuses(&json!([]), "event", "is an array, not an object");
    let not_json = StreamEvent::from_json("{").unwrap_err();
    assert_eq!(not_json.field, "event");
    assert!(not_json.reason.starts_with("is not JSON: "), "{not_json}");
}

#[test]
fn a_malformed_payload_is_refused_by_field_and_reason() {
    let expected_string = "is wrong: invalid type: integer `5`, expected a string";
    let cases = [
        (json!({"type": "item_delta", "deltaContent": "x"}), "itemId", "is missing"),
        (json!({"type": "item_delta", "itemId": "", "deltaContent": "x"}), "itemId", "is empty"),
        (json!({"type": "item_delta", "itemId": "m"}), "deltaContent", "is missing"),
        (
            json!({"type": "item_delta", "itemId": "m", "deltaContent": 5}),
            "deltaContent",
            expected_string,
        ),
        (json!({"type": "nonsense"}), "type", "is `nonsense`, which is not an event type"),
        (json!({"type": "response_start", "providerId": "p"}), "modelId", "is missing"),
        (
            json!({"type": "item_start", "itemId": "c", "itemType": "function_call",
            "callId": "x"}),
            "name",
            "is missing",
        ),
        (
            json!({"type": "item_start", "itemId": "c", "itemType": "function_call", "name": "",
            "callId": "x"}),
            "name",
            "is empty",
        ),
        (
            json!({"type": "item_start", "itemId": "c", "itemType": "function_call",
            "name": "Bash"}),
            "callId",
            "is missing",
        ),
        (
            json!({"type": "item_start", "itemId": "c", "itemType": "function_call", "name": "Bash",
            "callId": ""}),
            "callId",
            "is empty",
        ),
        (
            json!({"type": "item_start", "itemId": "c", "itemType": "song"}),
            "itemType",
            "is `song`, which is not an item type",
        ),
        (
            json!({"type": "item_start", "itemId": "m", "itemType": "message",
            "initialContent": 5}),
            "initialContent",
            expected_string,
        ),
        (json!({"type": "item_done", "itemId": "m"}), "finalItem", "is missing"),
        (
            json!({"type": "item_done", "itemId": "m", "finalItem": {"type": "message",
            "content": 5, "origin": "agent"}}),
            "finalItem.content",
            expected_string,
        ),
        (
            json!({"type": "item_done", "itemId": "m", "finalItem": {"type": "message",
            "content": "x", "origin": "moon"}}),
            "finalItem.origin",
            "is wrong: unknown variant `moon`, expected one of `user`, `agent`, `system`",
        ),
        (
            json!({"type": "item_done", "itemId": "m", "finalItem": {"type": "function_call_output",
            "output": "x", "isError": false}}),
            "finalItem.callId",
            "is missing",
        ),
        (
            json!({"type": "item_done", "itemId": "m", "finalItem": {"type": "song"}}),
            "finalItem.type",
            "is `song`, which is not an item type",
        ),
        (
            json!({"type": "item_update", "itemId": "m", "patch": {"of": "moon"}}),
            "patch.of",
            "is `moon`, which has no updates",
        ),
        (
            json!({"type": "item_update", "itemId": "m", "patch": {"of": "tool", "title": 5}}),
            "patch.title",
            expected_string,
        ),
        (
            json!({"type": "item_error", "itemId": "m", "error": {"code": "X"}}),
            "error",
            "is wrong: missing field `message`",
        ),
        (json!({"type": "response_error"}), "error", "is missing"),
        (
            json!({"type": "response_done", "status": "fine"}),
            "status",
            "is wrong: unknown variant `fine`, expected one of `completed`, `cancelled`, `error`",
        ),
        (
            json!({"type": "response_done", "status": "completed", "usage": {"inputTokens": "x",
            "outputTokens": 1}}),
            "usage.inputTokens",
            "is wrong: invalid type: string \"x\", expected u64",
        ),
    ];
    for (payload, field, reason) in cases {
        refuses(&wire(&payload), &format!("payload.{field}"), reason);
    }
}
