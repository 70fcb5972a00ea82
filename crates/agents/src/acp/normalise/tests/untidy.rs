//! Behaviour of agents that the recordings don't show.

use liminal_contract::{Outcome, OutcomeBy};
use liminal_stream::FinalItem;
use serde_json::json;

use super::super::TurnEnd;
use super::*;

fn said(kind: &str, id: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        update["messageId"] = json!(id);
    }
    update
}

fn stopped() -> TurnEnd {
    TurnEnd::Stopped { reason: Some("end_turn".to_owned()), usage: None }
}

/// The items that the updates start, and their final content.
fn texts(updates: &[Value]) -> Vec<(String, String)> {
    let mut normaliser = in_a_turn();
    let mut outputs: Vec<_> =
        updates.iter().flat_map(|update| normaliser.update(&raw(update), AT)).collect();
    outputs.extend(normaliser.end_turn(stopped(), AT));
    let text = |output: Output| {
        let Output::Event(event) = output else { return None };
        let Payload::ItemDone { item_id, final_item } = event.payload else { return None };
        match final_item {
            FinalItem::Message { content, .. } | FinalItem::Reasoning { content, .. } => {
                Some((item_id.to_string(), content))
            }
            _ => None,
        }
    };
    outputs.into_iter().filter_map(text).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn chunks_of_one_message_are_one_item() {
    let (message, thought) = ("agent_message_chunk", "agent_thought_chunk");
    for (claim, updates, expected) in [
        (
            "without ids, the same kind continues the text",
            vec![said(message, None, "a"), said(message, None, "b")],
            pairs(&[("t1:0:0", "ab")]),
        ),
        (
            "another kind starts a new text",
            vec![said(message, None, "a"), said(thought, None, "b"), said(message, None, "c")],
            pairs(&[("t1:0:0", "a"), ("t1:1:0", "b"), ("t1:2:0", "c")]),
        ),
        (
            "another id starts a new text",
            vec![said(message, Some("1"), "a"), said(message, Some("2"), "b")],
            pairs(&[("t1:0:0", "a"), ("t1:1:0", "b")]),
        ),
        (
            "an id that is missing is no other one",
            vec![
                said(message, Some("1"), "a"),
                said(message, None, "b"),
                said(message, Some("2"), "c"),
            ],
            pairs(&[("t1:0:0", "ab"), ("t1:1:0", "c")]),
        ),
        (
            "a call between two chunks starts a new text, even in the same message",
            vec![
                said(message, Some("1"), "a"),
                json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x"}),
                said(message, Some("1"), "b"),
            ],
            pairs(&[("t1:0:0", "a"), ("t1:1:0", "b")]),
        ),
        (
            "a fact does not",
            vec![
                said(message, None, "a"),
                json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
                json!({"sessionUpdate": "what_is_this"}),
                said(message, None, "b"),
            ],
            pairs(&[("t1:0:0", "ab")]),
        ),
        (
            "an echo of the user's message is nothing",
            vec![
                said(message, None, "a"),
                said("user_message_chunk", None, "hi"),
                said(message, None, "b"),
            ],
            pairs(&[("t1:0:0", "ab")]),
        ),
        ("an empty chunk is ignored", vec![said(message, None, "")], pairs(&[])),
    ] {
        assert_eq!(texts(&updates), expected, "{claim}");
    }
}

#[test]
fn other_content_than_text_is_said_in_markdown() {
    let chunk =
        |content: Value| json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let updates = [
        chunk(json!({"type": "resource_link", "name": "a.rs", "uri": "file:///p/a.rs"})),
        chunk(
            json!({"type": "resource", "resource": {"uri": "file:///p/b.rs", "text": "fn b() {}"}}),
        ),
        chunk(
            json!({"type": "image", "mimeType": "image/png", "data": "", "uri": "file:///p/c.png"}),
        ),
        chunk(json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"})),
    ];
    let expected = concat!(
        "[a.rs](file:///p/a.rs)\n```rs\nfn b() {}\n```\n",
        "[Picture (image/png)](file:///p/c.png)",
        "*Sound (audio/wav, 1 KB) can't be shown here*",
    );
    assert_eq!(texts(&updates), pairs(&[("t1:0:0", expected)]));
}

#[test]
fn a_picture_between_two_texts_is_a_card_of_its_own() {
    let mut normaliser = in_a_turn();
    let mut lines = update(&mut normaliser, said("agent_message_chunk", Some("m"), "Look:"));
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    lines.extend(update(
        &mut normaliser,
        json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": image}),
    ));
    lines.extend(update(&mut normaliser, said("agent_message_chunk", Some("m"), "Nice.")));
    assert_eq!(
        lines,
        [
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:0:0","#,
                r#""itemType":"message","initialContent":"Look:","origin":"agent"}"#
            ),
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:0:0","#,
                r#""finalItem":{"type":"message","content":"Look:","origin":"agent"}}"#
            ),
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:1:0","itemType":"function_call","#,
                r#""name":"picture","callId":"t1:1:0","about":{"title":"Picture"}}"#
            ),
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:1:0","#,
                r#""finalItem":{"type":"function_call_output","callId":"t1:1:0","#,
                r#""output":"","isError":false,"about":{"parts":[{"kind":"image","#,
                r#""mimeType":"image/png","data":"AAAA"}]}}}"#
            ),
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:2:0","#,
                r#""itemType":"message","initialContent":"Nice.","origin":"agent"}"#
            ),
        ]
    );
}

#[test]
fn a_call_that_fails_because_its_turn_was_stopped_did_not_fail() {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "npm test"});
    let failed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
                        "rawOutput": "3 of 9"});
    let words = [
        r#"t1 {"type":"item_update","itemId":"t1:call:c","patch":{"of":"tool","output":"3 of 9"}}"#,
    ];
    let cancelled = || TurnEnd::Cancelled { reason: None, usage: None };

    let mut told_before_the_end = in_a_turn();
    update(&mut told_before_the_end, call.clone());
    told_before_the_end.stop();
    assert_eq!(update(&mut told_before_the_end, failed.clone()), words);
    assert_eq!(
        told(told_before_the_end.end_turn(cancelled(), AT)),
        [r#"t1 {"type":"response_done","status":"cancelled"}"#]
    );

    let mut told_late = in_a_turn();
    update(&mut told_late, call.clone());
    told_late.end_turn(cancelled(), AT);
    assert_eq!(update(&mut told_late, failed.clone()), words);

    // Calls that really ended or were rejected are reported as such.
    let mut ended = in_a_turn();
    update(&mut ended, call.clone());
    ended.stop();
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"});
    assert!(update(&mut ended, done)[0].contains("item_done"));
    let mut refused = in_a_turn();
    let request = json!({"toolCall": {"toolCallId": "c", "title": "rm"}, "options": []});
    let (item, _, _) = refused.ask(&raw(&request), AT).unwrap();
    let no =
        Outcome { option_id: Some("no".to_owned()), ..Outcome::without_choice(OutcomeBy::User) };
    refused.settle(item, no, Some("c"), AT);
    refused.stop();
    assert!(update(&mut refused, failed)[0].contains(r#""refused":true"#));
}

#[test]
fn what_is_not_of_its_type_says_nothing_and_costs_nothing() {
    let mut normaliser = in_a_turn();
    let odd = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}});
    let new = json!({"sessionUpdate": "mood_update", "mood": "calm"});
    for strange in [odd, json!({"x": 1}), new] {
        assert_eq!(update(&mut normaliser, strange), [""; 0]);
    }
    let title = json!({"sessionUpdate": "session_info_update", "title": "Still here"});
    assert_eq!(update(&mut normaliser, title), [r#"fact Title("Still here")"#]);
}

#[test]
fn an_unknown_value_never_costs_the_rest_of_the_call() {
    let mut normaliser = in_a_turn();
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "kind": "divine",
        "status": "musing", "locations": [{"path": "/p/a", "line": 3}, {"nowhere": true}],
        "content": [
            {"type": "content", "content": {"type": "text", "text": "```\nplain\n```"}},
            {"type": "hologram", "data": 1},
            {"type": "diff", "path": "/p/a", "oldText": "x", "newText": "", "_meta": {"kind": "delete"}},
            {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}},
        ],
    });
    assert_eq!(
        update(&mut normaliser, call),
        [concat!(
            r#"t1 {"type":"item_start","itemId":"t1:call:c","itemType":"function_call","name":"tool","callId":"c","#,
            r#""about":{"title":"Look","toolKind":"other","locations":[{"path":"/p/a","line":3}],"parts":["#,
            r#"{"kind":"code","text":"{\"type\":\"hologram\",\"data\":1}","language":"json"},"#,
            r#"{"kind":"diff","path":"/p/a","old":"x"},"#,
            r#"{"kind":"image","mimeType":"image/png","data":"AAAA"}],"output":"plain"}}"#
        )]
    );
}

#[test]
fn an_update_of_a_call_nobody_began_makes_its_card_which_a_call_may_fill() {
    let mut normaliser = in_a_turn();
    let mut lines = update(
        &mut normaliser,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "read", "status": "completed",
               "rawInput": {}, "rawOutput": "all of it"}),
    );
    lines.extend(update(
        &mut normaliser,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read a", "status": "pending"}),
    ));
    lines.extend(update(&mut normaliser, said("agent_message_chunk", None, "Read.")));
    lines.truncate(4);
    assert_eq!(
        lines,
        [
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:call:c","itemType":"function_call","#,
                r#""name":"read","callId":"c","about":{"toolKind":"read"}}"#
            ),
            r#"t1 {"type":"item_update","itemId":"t1:call:c","patch":{"of":"tool","output":"all of it"}}"#,
            r#"t1 {"type":"item_update","itemId":"t1:call:c","patch":{"of":"tool","title":"Read a"}}"#,
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:call:c","#,
                r#""finalItem":{"type":"function_call_output","callId":"c","output":"","isError":false}}"#
            ),
        ]
    );
}

#[test]
fn a_plan_is_one_item_of_its_turn_updated_in_place() {
    let mut normaliser = in_a_turn();
    let plan = |status: &str| {
        let entry = json!({"content": "Look", "priority": "urgent", "status": status});
        json!({"sessionUpdate": "plan", "entries": [entry]})
    };
    let mut lines = update(&mut normaliser, plan("dreaming"));
    lines.extend(update(&mut normaliser, plan("completed")));
    lines.extend(told(normaliser.end_turn(stopped(), AT)));
    assert_eq!(
        lines,
        [
            concat!(
                r#"t1 {"type":"item_start","itemId":"t1:plan","itemType":"plan","#,
                r#""entries":[{"text":"Look","status":"pending","priority":"urgent"}]}"#
            ),
            concat!(
                r#"t1 {"type":"item_update","itemId":"t1:plan","patch":{"of":"plan","#,
                r#""entries":[{"text":"Look","status":"completed","priority":"urgent"}]}}"#
            ),
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:plan","finalItem":{"type":"plan","#,
                r#""entries":[{"text":"Look","status":"completed","priority":"urgent"}]}}"#
            ),
            r#"t1 {"type":"response_done","status":"completed","stopReason":"end_turn"}"#,
        ]
    );
}

#[test]
fn a_notice_of_the_agents_is_an_item() {
    let mut normaliser = in_a_turn();
    let lines = update(
        &mut normaliser,
        json!({"sessionUpdate": "notice", "severity": "dire", "title": "Low on tokens", "description": "Soon."}),
    );
    let notice = r#"{"severity":"info","text":"Low on tokens\nSoon.","actions":[]}"#;
    assert_eq!(
        lines,
        [
            format!(
                r#"t1 {{"type":"item_start","itemId":"t1:note:0","itemType":"notice","notice":{notice}}}"#
            ),
            format!(
                r#"t1 {{"type":"item_done","itemId":"t1:note:0","finalItem":{{"type":"notice","notice":{notice}}}}}"#
            ),
        ]
    );
}

#[test]
fn what_comes_while_nothing_runs_is_a_turn_of_the_agents_own() {
    let mut normaliser = normaliser();
    assert_eq!(
        update(&mut normaliser, said("agent_message_chunk", None, "By the way")),
        [
            r#"own-1 {"type":"response_start","modelId":"","providerId":"codex","origin":"agent"}"#,
            concat!(
                r#"own-1 {"type":"item_start","itemId":"own-1:0:0","#,
                r#""itemType":"message","initialContent":"By the way","origin":"agent"}"#
            ),
        ]
    );
    let title =
        update(&mut normaliser, json!({"sessionUpdate": "session_info_update", "title": "T"}));
    assert_eq!(title, [r#"fact Title("T")"#]);
}

#[test]
fn a_late_update_of_a_call_belongs_to_its_old_turn() {
    let mut normaliser = in_a_turn();
    update(
        &mut normaliser,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "npm test"}),
    );
    normaliser.end_turn(stopped(), AT);
    assert_eq!(
        update(
            &mut normaliser,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
        ),
        [concat!(
            r#"t1 {"type":"item_done","itemId":"t1:call:c","#,
            r#""finalItem":{"type":"function_call_output","callId":"c","output":"","isError":false}}"#
        )]
    );
    assert_eq!(normaliser.turn(), None);
}

#[test]
fn a_question_without_a_call_before_it_is_a_card_and_no_call() {
    let mut normaliser = in_a_turn();
    let request = json!({
        "sessionId": "s1",
        "toolCall": {"toolCallId": "c", "title": "Delete it", "kind": "delete", "rawInput": {"command": ["rm", "a"]}},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "later", "kind": "postpone"}],
    });
    let (item, options, outputs) = normaliser.ask(&raw(&request), AT).unwrap();
    assert_eq!((item.as_str(), options.len()), ("t1:ask:0", 2));
    assert_eq!(
        told(outputs),
        [concat!(
            r#"t1 {"type":"item_start","itemId":"t1:ask:0","itemType":"permission","ask":{"callId":"c","#,
            r#""title":"Delete it","toolKind":"delete","parts":[{"kind":"code","text":"rm a","language":"sh"}],"#,
            r#""options":[{"optionId":"y","name":"Yes","kind":"allow_once"},"#,
            r#"{"optionId":"later","name":"later","kind":"other"}]}}"#
        ),]
    );
}

#[test]
fn a_refused_call_that_is_never_heard_of_again_ends_with_its_turn() {
    let mut normaliser = in_a_turn();
    update(
        &mut normaliser,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "rm"}),
    );
    let request = json!({"toolCall": {"toolCallId": "c", "title": "rm"}, "options": []});
    let (item, _, _) = normaliser.ask(&raw(&request), AT).unwrap();
    let no =
        Outcome { option_id: Some("no".to_owned()), ..Outcome::without_choice(OutcomeBy::User) };
    normaliser.settle(item, no, Some("c"), AT);
    assert_eq!(
        told(normaliser.end_turn(stopped(), AT)),
        [
            concat!(
                r#"t1 {"type":"item_done","itemId":"t1:call:c","finalItem":{"type":"function_call_output","#,
                r#""callId":"c","output":"","isError":true,"about":{"refused":true}}}"#
            ),
            r#"t1 {"type":"response_done","status":"completed","stopReason":"end_turn"}"#,
        ]
    );
}

#[test]
fn a_cancelled_turn_completes_nothing() {
    let mut normaliser = in_a_turn();
    update(&mut normaliser, said("agent_message_chunk", None, "half a sen"));
    let end = TurnEnd::Cancelled { reason: Some("cancelled".to_owned()), usage: None };
    assert_eq!(
        told(normaliser.end_turn(end, AT)),
        [r#"t1 {"type":"response_done","status":"cancelled","stopReason":"cancelled"}"#]
    );
}

#[test]
fn a_history_read_twice_has_the_same_ids_and_one_that_is_known_says_nothing() {
    let updates = [
        said("user_message_chunk", None, "one"),
        said("agent_message_chunk", None, "1"),
        said("user_message_chunk", Some("m2"), "two"),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x", "status": "completed"}),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "session_info_update", "title": "Counting"}),
    ];
    let read = |wanted| {
        let mut normaliser = normaliser();
        normaliser.begin_history(wanted);
        let mut lines: Vec<_> =
            updates.iter().flat_map(|line| update(&mut normaliser, line.clone())).collect();
        lines.extend(told(normaliser.end_history(AT)));
        lines
    };
    assert_eq!(read(true), read(true));
    let turns: Vec<_> = read(true)
        .into_iter()
        .filter(|line| line.contains("response_"))
        .map(|line| line.split_once(",\"").map_or(line.clone(), |(head, _)| head.to_owned()))
        .collect();
    assert_eq!(
        turns,
        [
            r#"s1.1 {"type":"response_start""#,
            r#"s1.1 {"type":"response_done""#,
            r#"s1.m2 {"type":"response_start""#,
            r#"s1.m2 {"type":"response_done""#,
        ]
    );
    assert_eq!(read(false), [r#"fact Title("Counting")"#]);
}

#[test]
fn a_message_id_that_comes_twice_in_a_history_begins_two_turns() {
    let mut normaliser = normaliser();
    normaliser.begin_history(true);
    let (user, agent) = ("user_message_chunk", "agent_message_chunk");
    let mut outputs = Vec::new();
    for (kind, id, text) in [
        (user, Some("m"), "one"),
        (agent, None, "first"),
        (user, Some("n"), "two"),
        (user, Some("m"), "three"),
        (agent, None, "second"),
    ] {
        outputs.extend(normaliser.update(&raw(&said(kind, id, text)), AT));
    }
    outputs.extend(normaliser.end_history(AT));
    let begun: Vec<String> = outputs
        .into_iter()
        .filter_map(|output| match output {
            Output::Event(event) if matches!(event.payload, Payload::ResponseStart { .. }) => {
                Some(event.turn_id.to_string())
            }
            _ => None,
        })
        .collect();
    assert_eq!(begun, ["s1.m", "s1.n", "s1.m.3"]);
}

#[test]
fn a_call_without_an_id_is_no_call() {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "", "title": "x"});
    assert_eq!(update(&mut in_a_turn(), call), [""; 0]);
}
