//! Plans that are repeated, and commands that were stopped.

use serde_json::json;

use super::super::{TurnEnd, WrittenFile};
use super::*;

fn cancelled() -> TurnEnd {
    TurnEnd::Cancelled { reason: None, usage: None }
}

fn command(status: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "sleep", "kind": "execute",
        "status": status,
    })
}

fn plan(status: &str) -> Value {
    json!({"sessionUpdate": "plan", "entries": [{"content": "Step", "status": status}]})
}

#[test]
fn a_plan_repeated_in_a_later_turn_is_not_shown_again() {
    let mut normaliser = in_a_turn();
    assert_eq!(update(&mut normaliser, plan("pending")).len(), 1);
    normaliser.begin_turn(TurnId::new("t2"), TurnOrigin::User, AT);
    assert_eq!(update(&mut normaliser, plan("pending")), [""; 0]);
    assert!(update(&mut normaliser, plan("completed"))[0].starts_with("t2"));
}

#[test]
fn a_command_that_ends_as_its_turn_is_stopped_is_not_completed() {
    let mut normaliser = in_a_turn();
    update(&mut normaliser, command("in_progress"));
    normaliser.stop();
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"});
    assert_eq!(update(&mut normaliser, done), [""; 0]);
    let ended = told(normaliser.end_turn(cancelled(), AT));
    assert!(ended.len() == 1 && ended[0].contains("response_done"), "{ended:?}");
    assert!(!normaliser.take_survivors());
}

#[test]
fn a_command_without_an_end_survives_its_stopped_turn_once() {
    let mut normaliser = in_a_turn();
    update(&mut normaliser, command("in_progress"));
    normaliser.stop();
    normaliser.end_turn(cancelled(), AT);
    assert!(normaliser.take_survivors());
    assert!(!normaliser.take_survivors());
}

#[test]
fn a_written_file_stays_with_its_call_unless_the_agent_shows_its_own_change() {
    let edit = |more: Value| {
        let mut call = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "w", "kind": "edit",
            "locations": [{"path": "/p/a.txt"}],
        });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let text = json!([{"type": "content", "content": {"type": "text", "text": "ok"}}]);
    let diff = json!([{"type": "diff", "path": "/p/a.txt", "oldText": "a", "newText": "c"}]);
    let written =
        || WrittenFile { path: "/p/a.txt".into(), old: Some("a".into()), new: "b".into() };
    for (content, expected) in [(text, "\"new\":\"b\""), (diff, "\"new\":\"c\"")] {
        let mut normaliser = in_a_turn();
        // It is written before the call is known.
        assert_eq!(told(normaliser.wrote(written(), AT)), [""; 0]);
        let shown = update(&mut normaliser, edit(json!({"status": "in_progress"}))).concat();
        assert!(shown.contains("\"new\":\"b\""), "{shown}");
        let done = edit(json!({"status": "completed", "content": content}));
        let shown = update(&mut normaliser, done).concat();
        assert!(shown.contains(expected), "{shown}");
    }
}
