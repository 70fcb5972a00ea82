//! Items other than text: calls, pictures, plans.

use liminal_contract::{PlanEntry, PlanStatus};
use liminal_stream::{Patch, SourcePart, ToolPatch};

use super::*;

#[test]
fn a_tool_that_failed_because_it_was_stopped_keeps_what_it_said_and_did_not_fail() {
    let mut normaliser = in_a_turn();
    let call =
        json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "npm test"}});
    read(&mut normaliser, &[whole("m", None, call)]);
    normaliser.cancel(AT);
    let failed =
        json!({"type": "tool_result", "tool_use_id": "c", "content": "3 of 9", "is_error": true});
    let said = read(
        &mut normaliser,
        &[
            json!({"type": "user", "message": {"role": "user", "content": [failed]}}),
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true}),
        ],
    );
    let output = Some("3 of 9".to_owned());
    let patch = Patch::Tool(Box::new(ToolPatch { output, ..ToolPatch::default() }));
    let item_id = ItemId::new("t:call:c");
    assert_eq!(
        said,
        [Payload::ItemUpdate { item_id, patch }, Payload::done(ResponseStatus::Cancelled)]
    );
}

#[test]
fn a_picture_of_the_models_is_shown() {
    let mut normaliser = in_a_turn();
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let said =
        read(&mut normaliser, &[whole("m", None, json!({"type": "image", "source": source}))]);
    let Some(Payload::ItemDone { final_item, .. }) = said.last() else { panic!("{said:?}") };
    let FinalItem::FunctionCallOutput { about, .. } = final_item else { panic!("{final_item:?}") };
    let image = SourcePart::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    assert_eq!(about.parts, Some(vec![image]));
}

#[test]
fn steps_of_the_agent_are_one_plan_that_changes() {
    let mut normaliser = in_a_turn();
    let create = |call: &str, subject: &str| {
        whole(
            "m",
            None,
            json!({
                "type": "tool_use", "id": call, "name": "TaskCreate",
                "input": {"subject": subject, "description": "d"},
            }),
        )
    };
    let said = read(
        &mut normaliser,
        &[
            create("a", "Look"),
            tool_result("a", json!({"task": {"id": "1", "subject": "Look"}})),
            create("b", "Leap"),
            tool_result("b", json!({"task": {"id": "2", "subject": "Leap"}})),
            whole(
                "m",
                None,
                json!({
                    "type": "tool_use", "id": "c", "name": "TaskUpdate",
                    "input": {"taskId": "1", "status": "completed"},
                }),
            ),
            tool_result("c", json!({"success": true, "taskId": "1", "updatedFields": ["status"]})),
        ],
    );
    let entry = |text: &str, status| PlanEntry { text: text.to_owned(), status, priority: None };
    let item_id = ItemId::new("t:plan");
    assert_eq!(
        said,
        [
            started(TurnOrigin::User),
            Payload::ItemStart {
                item_id: item_id.clone(),
                parent_call_id: None,
                item: NewItem::Plan { entries: vec![entry("Look", PlanStatus::Pending)] },
            },
            Payload::ItemUpdate {
                item_id: item_id.clone(),
                patch: Patch::Plan {
                    entries: vec![
                        entry("Look", PlanStatus::Pending),
                        entry("Leap", PlanStatus::Pending)
                    ],
                },
            },
            Payload::ItemUpdate {
                item_id,
                patch: Patch::Plan {
                    entries: vec![
                        entry("Look", PlanStatus::Completed),
                        entry("Leap", PlanStatus::Pending),
                    ],
                },
            },
        ]
    );
}

#[test]
fn a_call_that_only_streamed_keeps_its_input_around_half_an_emoji() {
    let mut normaliser = in_a_turn();
    let event = |event: Value| json!({"type": "stream_event", "event": event});
    let call = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {}});
    let input = r#"{"command":"echo \ud83c"}"#;
    let said = read(
        &mut normaliser,
        &[
            event(
                json!({"type": "message_start", "message": {"id": "m", "model": "m", "content": []}}),
            ),
            event(json!({"type": "content_block_start", "index": 0, "content_block": call})),
            event(json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": input}})),
            json!({"type": "result", "subtype": "success"}),
        ],
    );
    let arguments = said.iter().find_map(|payload| match payload {
        Payload::ItemDone { final_item: FinalItem::FunctionCall { arguments, .. }, .. } => {
            Some(arguments)
        }
        _ => None,
    });
    let command = arguments.and_then(|arguments| arguments.get("command"));
    assert_eq!(command, Some(&json!("echo \u{FFFD}")), "{said:?}");
}
