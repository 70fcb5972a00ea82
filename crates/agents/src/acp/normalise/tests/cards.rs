//! Content that replaces other content, permissions and their calls, plans written by a tool.

use liminal_contract::{ItemId, Outcome, OutcomeBy};
use liminal_stream::{Field, NewItem, Permission, SourcePart};
use serde_json::json;

use super::*;

fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

fn diff() -> Value {
    json!({"type": "diff", "path": "/p/a", "oldText": "a", "newText": "b"})
}

/// The change that the last update makes to a call's card, as JSON.
fn last_change(updates: &[Value]) -> Value {
    let mut normaliser = in_a_turn();
    let mut lines = Vec::new();
    for each in updates {
        lines = update(&mut normaliser, each.clone());
    }
    let line = lines.last().map_or("{}", |line| line.split_once(' ').unwrap().1);
    let event: Value = serde_json::from_str(line).unwrap();
    let about = event.pointer("/finalItem/about").or_else(|| event.pointer("/patch"));
    let mut about = about.cloned().unwrap_or_default();
    if let Some(map) = about.as_object_mut() {
        map.remove("of");
    }
    about
}

#[test]
fn content_takes_the_place_of_what_was_shown_before() {
    let begin = |content: Value| {
        let mut start = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x"});
        start["content"] = content;
        start
    };
    let end = |content: Value| {
        let mut update = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "rawOutput": "raw",
        });
        if !content.is_null() {
            update["content"] = content;
        }
        update
    };
    for (claim, before, after, expected) in [
        (
            "nothing clears a description",
            json!([text("Will run")]),
            json!([]),
            json!({"output": "raw"}),
        ),
        (
            "nothing clears a change",
            json!([diff()]),
            json!([]),
            json!({"parts": [], "output": "raw"}),
        ),
        (
            "text replaces a change",
            json!([diff()]),
            json!([text("ok")]),
            json!({"parts": [], "output": "ok"}),
        ),
        (
            "a change replaces text",
            json!([text("{}")]),
            json!([diff()]),
            json!({"parts": [{"kind": "diff", "path": "/p/a", "old": "a", "new": "b"}], "output": ""}),
        ),
        ("without new content the old stays", json!([text("kept")]), Value::Null, Value::Null),
        (
            "an empty list does not change an empty call",
            json!([]),
            json!([]),
            json!({"output": "raw"}),
        ),
    ] {
        assert_eq!(last_change(&[begin(before), end(after)]), expected, "{claim}");
    }
    let grown = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c",
        "_meta": {"terminal_output": {"data": "out"}},
    });
    let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
    assert_eq!(
        last_change(&[begin(terminal), grown, end(json!([]))]),
        Value::Null,
        "what a terminal showed stays"
    );
}

fn asks(normaliser: &mut Normaliser, call: Value) -> Permission {
    let request = json!({"toolCall": call, "options": [{"optionId": "n", "name": "No", "kind": "reject_once"}]});
    let (_, _, outputs) = normaliser.ask(&raw(&request), AT).unwrap();
    let asks: Vec<Permission> = outputs
        .into_iter()
        .filter_map(|output| match output {
            Output::Event(event) => match event.payload {
                Payload::ItemStart { item: NewItem::Permission { ask }, .. } => Some(*ask),
                Payload::ItemStart { .. } => panic!("an item other than the permission"),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let [ask] = <[Permission; 1]>::try_from(asks).unwrap();
    ask
}

fn field(name: &str, value: &str) -> Field {
    Field { name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn a_card_shows_words_changes_files_and_every_argument() {
    let mut normaliser = in_a_turn();
    let words = asks(
        &mut normaliser,
        json!({"toolCallId": "a", "title": "x", "content": [text("Delete all?")]}),
    );
    assert_eq!(words.parts, [SourcePart::Code { text: "Delete all?".to_owned(), language: None }]);
    let both = asks(
        &mut normaliser,
        json!({"toolCallId": "b", "title": "x", "content": [diff()], "rawInput": {"command": "rm -rf x"}}),
    );
    assert!(
        matches!(&both.parts[..], [SourcePart::Code { text, .. }, SourcePart::Diff { .. }] if text == "rm -rf x")
    );
    let file = asks(
        &mut normaliser,
        json!({"toolCallId": "c", "title": "x", "locations": [{"path": "/p/a", "line": 3}]}),
    );
    assert_eq!(file.parts, [SourcePart::Fields { fields: vec![field("File", "/p/a:3")] }]);
    let plan = asks(
        &mut normaliser,
        json!({"toolCallId": "d", "kind": "switch_mode", "title": "x", "rawInput": {"plan": "# Plan"}}),
    );
    assert_eq!(plan.parts, [SourcePart::Text { text: "# Plan".to_owned() }]);
}

#[test]
fn every_question_is_one_card_and_a_call_that_comes_later_knows_what_was_asked() {
    let mut normaliser = in_a_turn();
    let call = |command: &str| {
        let input = json!({"command": command});
        json!({"toolCallId": "c", "title": "Run it", "kind": "execute", "rawInput": input})
    };
    let first = asks(&mut normaliser, call("one"));
    let second = asks(&mut normaliser, call("two"));
    let command = |ask: &Permission| match &ask.parts[..] {
        [SourcePart::Code { text, .. }] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((command(&first), command(&second)), ("one".to_owned(), "two".to_owned()));
    let no =
        Outcome { option_id: Some("n".to_owned()), ..Outcome::without_choice(OutcomeBy::User) };
    normaliser.settle(ItemId::ask(normaliser.turn().unwrap(), 1), no, Some("c"), AT);
    // Some agents send only the tool's name with the failure.
    let failed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "bash", "status": "failed"});
    assert_eq!(
        update(&mut normaliser, failed),
        [
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:call:c","#,
                r#""itemType":"function_call","name":"execute","callId":"c","#,
                r#""about":{"title":"Run it","toolKind":"execute","arguments":{"command":"two"},"refused":true}}"#
            ),
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:call:c","#,
                r#""finalItem":{"type":"function_call_output","callId":"c","#,
                r#""output":"","isError":true,"about":{"refused":true}}}"#
            ),
        ]
    );
}

#[test]
fn a_status_that_goes_back_ends_nothing_and_is_no_second_call() {
    let mut normaliser = in_a_turn();
    let call = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status});
    update(
        &mut normaliser,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x", "status": "in_progress"}),
    );
    assert_eq!(update(&mut normaliser, call("pending")), [""; 0]);
    assert!(normaliser.works());
    assert_eq!(update(&mut normaliser, call("completed")).len(), 1);
    assert_eq!(update(&mut normaliser, call("in_progress")), [""; 0]);
    assert!(!normaliser.works());
}

#[test]
fn a_tool_that_writes_steps_is_the_plan_and_no_call() {
    let mut normaliser = in_a_turn();
    let named = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "todowrite", "kind": "other",
        "rawInput": {},
    });
    assert_eq!(update(&mut normaliser, named.clone()), [""; 0]);
    let steps = json!([{"content": "Look", "status": "in_progress", "priority": "high"}]);
    let written = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress",
        "rawInput": {"todos": steps},
    });
    assert_eq!(
        update(&mut normaliser, written),
        [concat!(
            r#"t1 {"type":"item_start","itemId":"t1:plan","itemType":"plan","#,
            r#""entries":[{"text":"Look","status":"in_progress","priority":"high"}]}"#
        )]
    );
    let ended = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
        "title": "1 todos", "content": [text("[]")],
    });
    assert_eq!(update(&mut normaliser, ended), [""; 0], "the same plan again");

    let mut other = named;
    other["toolCallId"] = json!("d");
    update(&mut normaliser, other);
    let failed =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "d", "status": "failed"});
    assert_eq!(update(&mut normaliser, failed).len(), 2, "one that fails is a call");
}
