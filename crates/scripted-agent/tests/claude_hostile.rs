//! We can still chat to a Claude Code that gets every field of its messages wrong, one after the other.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;

use std::collections::BTreeMap;

use claude::{Pace, Stage};
use liminal_scripted_agent::{Steps, script};
use serde_json::{Value, json};

/// One message of each kind that was ever recorded.
fn messages() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures/claude");
    let recordings = liminal_hostile::recordings(folder, |_ours| None);
    let mut kinds = BTreeMap::new();
    for line in recordings.iter().flat_map(|recording| recording.lines()) {
        let message: Value = serde_json::from_str(line).unwrap();
        let kind = [&message["type"], &message["subtype"], &message["event"]["type"]];
        let part = [&message["message"]["content"][0]["type"], &message["request"]["subtype"]];
        let block =
            [&message["event"]["delta"]["type"], &message["event"]["content_block"]["type"]];
        let kind = json!([kind, part, block]).to_string();
        kinds.entry(kind).or_insert(message);
    }
    kinds.into_values().collect()
}

/// The paths of its fields, as JSON pointers.
fn fields(value: &Value, at: &str, all: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, it)| (escaped(name), it)).collect(),
        // The elements of a list are alike, so the first is enough.
        Value::Array(list) => list.iter().take(1).map(|it| ("0".to_owned(), it)).collect(),
        _ => Vec::new(),
    };
    for (name, it) in inner {
        let at = format!("{at}/{name}");
        fields(it, &at, all);
        all.push(at);
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The message with each of its fields wrong in each of these ways.
fn wrong(message: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    fields(message, "", &mut pointers);
    let nonsense = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("\u{202e}<script>"),
        json!([]),
        json!({"type": "text"}),
    ];
    let mut all = Vec::new();
    for pointer in &pointers {
        for nonsense in &nonsense {
            let mut message = message.clone();
            *message.pointer_mut(pointer).unwrap() = nonsense.clone();
            all.push(message.to_string());
        }
    }
    all
}

#[tokio::test]
async fn a_claude_that_gets_every_field_wrong_is_still_one_to_talk_to() {
    let lines: Vec<String> = messages().iter().flat_map(wrong).collect();
    assert!(lines.len() > 1000, "only {} lines", lines.len());
    let nonsense = script().on_prompt("go");
    let nonsense = lines.iter().fold(nonsense, |script, line| script.raw(line));
    let script = nonsense.say("still here").on_prompt("well?").say("I am well").build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    chat.send("go").await;
    chat.sees("still here").await;
    assert!(chat.is_alive());
    // Its messages about turns are not reliable, so this may have to be stopped first.
    let _nothing_runs = chat.cancel().await;
    chat.send("well?").await;
    chat.sees("I am well").await;
}
