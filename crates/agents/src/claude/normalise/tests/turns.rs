//! Which turn a line belongs to, how turns end, and when the agent is idle.

use liminal_contract::{Answer, ErrorCode, MessageOrigin, Outcome};
use liminal_stream::{AgentError, SessionFact};

use super::*;

#[test]
fn a_sub_agent_speaks_under_its_call_and_asks_beyond_the_turn() {
    let mut normaliser = in_a_turn();
    read(
        &mut normaliser,
        &[
            whole(
                "m",
                None,
                json!({
                    "type": "tool_use", "id": "task", "name": "Agent",
                    "input": {"description": "Look", "prompt": "p"},
                }),
            ),
            tool_result("task", json!({"isAsync": true})),
            whole(
                "s",
                Some("task"),
                json!({"type": "tool_use", "id": "inner", "name": "Bash", "input": {"command": "ls"}}),
            ),
            json!({"type": "control_request", "request_id": "r", "request": {
                "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "inner",
            }}),
            json!({"type": "result", "subtype": "success", "is_error": false}),
        ],
    );
    assert!(!normaliser.in_turn());
    assert!(!normaliser.is_idle(), "a question is open");

    let ask = ItemId::new("t:ask:0");
    let allow = Answer { option_id: Some("allow".to_owned()), ..Answer::default() };
    let (reply, said) = normaliser.answer(&ask, &allow, OutcomeBy::User, AT).unwrap();
    assert_eq!(reply["response"]["response"]["behavior"], "allow");
    assert!(matches!(&said[..], [Output::Event(event)] if event.turn_id == TurnId::new("t")));

    let said = read(
        &mut normaliser,
        &[whole("s", Some("task"), json!({"type": "text", "text": "Found it."}))],
    );
    let item_id = ItemId::new("own-1:0:0");
    let origin = MessageOrigin::Agent;
    assert_eq!(
        said,
        [
            started(TurnOrigin::Agent),
            Payload::ItemStart {
                item_id: item_id.clone(),
                parent_call_id: Some("task".to_owned()),
                item: NewItem::Message { initial_content: None, origin },
            },
            Payload::ItemDone {
                item_id,
                final_item: FinalItem::Message { content: "Found it.".to_owned(), origin },
            },
            Payload::done(ResponseStatus::Completed),
        ]
    );
    assert!(normaliser.is_idle());
}

#[test]
fn a_task_in_the_background_keeps_the_process_until_it_ends() {
    let mut normaliser = normaliser();
    let task = json!({"type": "system", "subtype": "task_started", "task_id": "b", "is_backgrounded": true});
    read(&mut normaliser, &[task]);
    assert!(!normaliser.is_idle());
    let said = read(
        &mut normaliser,
        &[json!({
            "type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed",
            "summary": "Build finished",
        })],
    );
    assert!(normaliser.is_idle());
    assert_eq!(said.len(), 0, "the turn that follows says it: {said:?}");
    let said = read(&mut normaliser, &[whole("m", None, json!({"type": "text", "text": "Good."}))]);
    let first = said.iter().find_map(|payload| match payload {
        Payload::ItemStart { item: NewItem::Notice { notice }, .. } => Some(notice.text.clone()),
        _ => None,
    });
    assert_eq!(first.as_deref(), Some("Build finished"), "{said:?}");
}

#[test]
fn a_task_that_the_user_stopped_begins_no_turn_and_is_said_at_once() {
    let mut normaliser = normaliser();
    let task = json!({"type": "system", "subtype": "task_started", "task_id": "b", "is_backgrounded": true});
    let said = read(
        &mut normaliser,
        &[
            task,
            json!({
                "type": "system", "subtype": "task_notification", "task_id": "b", "status": "stopped",
                "summary": "Build",
            }),
        ],
    );
    assert_eq!(said.len(), 4, "a turn of its own with one notice: {said:?}");
}

#[test]
fn a_message_sent_while_the_agent_is_at_something_else_gets_its_own_turn() {
    let mut normaliser = normaliser();
    let said = |text: &str| whole(text, None, json!({"type": "text", "text": text}));
    let life =
        |state: &str| json!({"type": "command_lifecycle", "command_uuid": "t", "state": state});
    let result = json!({"type": "result", "subtype": "success", "is_error": false});
    let mut turns = Vec::new();
    let mut hear = |normaliser: &mut Normaliser, value: &Value| {
        for output in normaliser.read(line(value), AT) {
            if let Output::Event(event) = output
                && matches!(event.payload, Payload::ItemDone { .. })
            {
                turns.push(event.turn_id.as_str().to_owned());
            }
        }
    };
    hear(&mut normaliser, &said("own"));
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    for value in
        [life("queued"), said("own too"), result.clone(), life("started"), said("yours"), result]
    {
        hear(&mut normaliser, &value);
    }
    assert_eq!(turns, ["own-1", "own-1", "t"]);
    assert!(normaliser.is_idle());
}

#[test]
fn a_message_withdrawn_before_it_was_taken_up_ends_cancelled() {
    let mut normaliser = in_a_turn();
    normaliser.cancel(AT);
    let life =
        |state: &str| json!({"type": "command_lifecycle", "command_uuid": "t", "state": state});
    let said = read(&mut normaliser, &[life("queued"), life("cancelled")]);
    assert_eq!(said, [started(TurnOrigin::User), Payload::done(ResponseStatus::Cancelled)]);
}

#[test]
fn the_end_of_the_process_ends_turn_and_questions() {
    let mut normaliser = in_a_turn();
    read(
        &mut normaliser,
        &[json!({"type": "control_request", "request_id": "r", "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
        }})],
    );
    let error = AgentError::new(ErrorCode::ProcessCrash, "gone", None);
    let said = payloads(normaliser.left(error.clone(), AT));
    assert_eq!(
        said,
        [
            Payload::ItemDone {
                item_id: ItemId::new("t:ask:0"),
                final_item: FinalItem::Permission {
                    outcome: Outcome::without_choice(OutcomeBy::AgentLeft),
                },
            },
            Payload::ResponseError { error },
        ]
    );
    assert!(normaliser.is_idle());
}

#[test]
fn the_cost_of_a_session_goes_on_from_the_sum_after_a_clear() {
    let mut normaliser = normaliser();
    normaliser.attach(Some(0.0));
    let mut costs = Vec::new();
    for (n, total) in [0.5, 0.75, 0.0, 0.125].into_iter().enumerate() {
        normaliser.begin(TurnId::new(format!("t{n}")), format!("m{n}"));
        let result = json!({
            "type": "result", "subtype": "success", "is_error": false, "total_cost_usd": total,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        for output in normaliser.read(line(&result), AT) {
            match output {
                Output::Fact(SessionFact::Usage(usage)) => costs.push(usage.cost_usd.unwrap()),
                Output::Event(event) => {
                    if let Payload::ResponseDone { usage, .. } = event.payload {
                        costs.push(usage.unwrap().cost_usd.unwrap());
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!(costs, [0.5, 0.5, 0.75, 0.25, 0.75, 0.0, 0.875, 0.125], "session, turn, and so on");
}

#[test]
fn a_cost_that_no_number_can_hold_is_left_out() {
    let mut normaliser = normaliser();
    normaliser.attach(Some(0.0));
    normaliser.begin(TurnId::new("t"), "m".to_owned());
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 1e308,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let told = normaliser.read(line(&result), AT);
    let costs: Vec<_> = told
        .iter()
        .filter_map(|output| match output {
            Output::Fact(SessionFact::Usage(usage)) => Some(usage.cost_usd),
            Output::Event(event) => match &event.payload {
                Payload::ResponseDone { usage: Some(usage), .. } => Some(usage.cost_usd),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(costs, [None, None], "of the session and of the turn");
}
