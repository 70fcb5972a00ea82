//! Claude Code's output, line by line: from recordings, and lines that no recording has.

mod items;
mod recordings;
mod strange;
mod turns;

use serde_json::Value;

use super::*;

const AT: Timestamp = Timestamp::from_millis(1_794_781_000_000);

/// For a session whose agent begins turns `own-1`, `own-2`, …
fn normaliser() -> Normaliser {
    let mut own = 0;
    Normaliser::new(
        SessionId::parse("claude-code:s").unwrap(),
        String::new(),
        PathBuf::from("/home/user/demo"),
        Some(0.0),
        Box::new(move || {
            own += 1;
            TurnId::new(format!("own-{own}"))
        }),
    )
}

/// A normaliser in the middle of the turn `t`.
fn in_a_turn() -> Normaliser {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    normaliser
}

fn line(value: &Value) -> Line {
    Line::parse(value.to_string().as_bytes()).unwrap()
}

fn payloads(said: Vec<Output>) -> Vec<Payload> {
    said.into_iter()
        .filter_map(|output| match output {
            Output::Event(event) => Some(event.payload),
            _ => None,
        })
        .collect()
}

/// Reads lines one after the other.
fn read(normaliser: &mut Normaliser, lines: &[Value]) -> Vec<Payload> {
    lines.iter().flat_map(|value| payloads(normaliser.read(line(value), AT))).collect()
}

fn whole(id: &str, parent: Option<&str>, block: Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent,
        "message": {"id": id, "model": "m", "content": [block]}})
}

fn tool_result(call: &str, structured: Value) -> Value {
    json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": call, "content": "ok"}]}, "tool_use_result": structured})
}

fn started(origin: TurnOrigin) -> Payload {
    Payload::ResponseStart {
        model_id: String::new(),
        provider_id: "claude-code".to_owned(),
        origin,
    }
}
