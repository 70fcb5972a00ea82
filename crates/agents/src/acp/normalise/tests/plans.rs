//! Plans as documents, with and without the permission that shows them too.

use serde_json::json;

use super::*;

const PLAN: &str = "# Plan\n\n1. Do this\n";

fn document(id: &str, content: &str) -> Value {
    let plan = json!({"type": "markdown", "planId": id, "content": content});
    json!({"sessionUpdate": "plan_update", "plan": plan})
}

fn review(plan: &str) -> Box<RawValue> {
    let call = json!({"toolCallId": "r", "kind": "switch_mode", "title": "Implement this plan?",
        "status": "pending", "rawInput": {"plan": plan}});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    raw(&json!({"sessionId": "s1", "toolCall": call, "options": options}))
}

fn ask(normaliser: &mut Normaliser, plan: &str) -> Vec<String> {
    told(normaliser.ask(&review(plan), AT).unwrap().2)
}

#[test]
fn a_plan_that_is_to_be_approved_is_on_its_card_only() {
    let mut normaliser = in_a_turn();
    assert_eq!(update(&mut normaliser, document("p", "# Pl")), [""; 0]);
    assert_eq!(update(&mut normaliser, document("p", PLAN)), [""; 0], "it grows");
    let usage = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
    assert!(update(&mut normaliser, usage)[0].starts_with("fact "), "facts don't show it");
    let lines = ask(&mut normaliser, PLAN.trim());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("\"itemType\":\"permission\"") && lines[0].contains("1. Do this"));
    let end = told(normaliser.end_turn(TurnEnd::Stopped { reason: None, usage: None }, AT));
    assert!(!end.join("").contains("Do this"), "{end:?}");
}

#[test]
fn a_plan_that_nobody_asks_about_is_a_message() {
    let mut normaliser = in_a_turn();
    update(&mut normaliser, document("p", PLAN));
    let other = update(&mut normaliser, document("q", "Another."));
    assert!(other.join("").contains("Do this"), "{other:?}");
    let text = json!({"type": "text", "text": "Now."});
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": text});
    let lines = update(&mut normaliser, chunk).join("\n");
    assert!(lines.find("Another.").unwrap() < lines.find("Now.").unwrap(), "{lines}");
    update(&mut normaliser, document("p", "Not this one."));
    update(&mut normaliser, json!({"sessionUpdate": "plan_removed", "planId": "p"}));
    update(&mut normaliser, document("r", "At the end."));
    let end =
        told(normaliser.end_turn(TurnEnd::Stopped { reason: None, usage: None }, AT)).join("");
    assert!(end.contains("At the end.") && !end.contains("Not this one."), "{end}");
}

#[test]
fn another_plan_on_the_card_does_not_hide_the_first() {
    let mut normaliser = in_a_turn();
    update(&mut normaliser, document("p", PLAN));
    let lines = ask(&mut normaliser, "Something else.").join("\n");
    assert!(lines.find("Do this").unwrap() < lines.find("Something else.").unwrap(), "{lines}");
}

#[test]
fn steps_and_files_are_plans_too_and_anything_else_is_skipped() {
    let mut normaliser = in_a_turn();
    let entries = json!([{"content": "Step", "status": "pending", "priority": "high"}]);
    let items = json!({"type": "items", "planId": "p", "entries": entries});
    let lines = update(&mut normaliser, json!({"sessionUpdate": "plan_update", "plan": items}));
    assert!(lines[0].contains("\"itemType\":\"plan\"") && lines[0].contains("Step"), "{lines:?}");
    let file = json!({"type": "file", "planId": "p", "uri": "file:///work/plan.md"});
    update(&mut normaliser, json!({"sessionUpdate": "plan_update", "plan": file}));
    for odd in [json!(null), json!({"type": "film"}), json!({"type": "markdown"}), json!(7)] {
        assert_eq!(
            update(&mut normaliser, json!({"sessionUpdate": "plan_update", "plan": odd})),
            [""; 0]
        );
    }
    assert_eq!(update(&mut normaliser, json!({"sessionUpdate": "plan_removed"})), [""; 0]);
    let end =
        told(normaliser.end_turn(TurnEnd::Stopped { reason: None, usage: None }, AT)).join("");
    assert!(end.contains("file:///work/plan.md"), "{end}");
}
