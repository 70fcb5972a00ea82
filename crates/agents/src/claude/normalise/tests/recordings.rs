//! Every recorded line, and what it becomes. `fixtures/claude/NAME.said` holds the expectation; refresh it with
//! `UPDATE_RECORDINGS=1 cargo test -p liminal-agents` and read the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use liminal_contract::{Answer, AnswerValue, ItemStatus};
use liminal_stream::{Emission, Now, Pacing, Source, UpsertProcessor};

use super::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude")
}

/// A conversation as it was recorded, driven through a normaliser.
struct Replay {
    normaliser: Normaliser,
    turns: usize,
    asks: usize,
    said: Vec<(usize, Vec<Output>)>,
    replies: Vec<Value>,
}

impl Replay {
    fn of(name: &str) -> Self {
        let mut replay = Self {
            normaliser: normaliser(),
            turns: 0,
            asks: 0,
            said: Vec::new(),
            replies: Vec::new(),
        };
        let text = fs::read_to_string(fixtures().join(name).with_extension("jsonl")).unwrap();
        for (at, text) in text.lines().enumerate() {
            let step: Value = serde_json::from_str(text).unwrap();
            let now = Timestamp::from_millis(AT.as_millis() + step["t_ms"].as_i64().unwrap());
            let said = match step["dir"].as_str() {
                Some("in") => replay.write(&step["msg"], now),
                Some("out") => replay.normaliser.read(line(&step["msg"]), now),
                _ => continue,
            };
            if !said.is_empty() {
                replay.said.push((at + 1, said));
            }
        }
        replay
    }

    /// Turns what we wrote in the recording into the calls that write it now.
    fn write(&mut self, message: &Value, now: Timestamp) -> Vec<Output> {
        let response = &message["response"]["response"];
        match (message["type"].as_str(), message["request"]["subtype"].as_str()) {
            (Some("user"), _) => {
                self.turns += 1;
                let uuid = message["uuid"].as_str().unwrap_or("no-uuid").to_owned();
                self.normaliser.begin(TurnId::new(format!("turn-{}", self.turns)), uuid);
                Vec::new()
            }
            (_, Some("interrupt")) => self.normaliser.cancel(now),
            (Some("control_response"), _) => {
                let option = match response["behavior"].as_str() {
                    Some("allow") if response["updatedPermissions"].is_array() => "allow-session",
                    Some("allow") => "allow",
                    _ => "deny",
                };
                let answers: BTreeMap<String, AnswerValue> =
                    serde_json::from_value(response["updatedInput"]["answers"].clone())
                        .unwrap_or_default();
                let answer =
                    Answer { option_id: Some(option.to_owned()), answers, ..Answer::default() };
                let item =
                    ItemId::ask(&self.normaliser.turn.as_ref().unwrap().id.clone(), self.asks);
                let (reply, said) =
                    self.normaliser.answer(&item, &answer, OutcomeBy::User, now).unwrap();
                if response["behavior"] == "allow" && option == "allow" {
                    assert_eq!(&reply, message);
                }
                self.replies.push(reply);
                said
            }
            _ => Vec::new(),
        }
    }

    fn events(&self) -> impl Iterator<Item = &Payload> {
        self.said.iter().flat_map(|(_, said)| said).filter_map(|output| match output {
            Output::Event(event) => Some(&event.payload),
            _ => None,
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (at, said) in &self.said {
            for output in said {
                match output {
                    Output::Event(event) => {
                        let payload = serde_json::to_string(&event.payload).unwrap();
                        writeln!(text, "{at} {} {} {payload}", event.event_id, event.timestamp)
                    }
                    other => writeln!(text, "{at} {other:?}"),
                }
                .unwrap();
            }
        }
        text
    }
}

/// A line of an expectation. The order of a JSON object's fields means nothing.
fn parts(line: &str) -> (&str, Value) {
    let (before, json) = line.split_at(line.find('{').unwrap_or(line.len()));
    match serde_json::from_str(json) {
        Ok(value) => (before, value),
        Err(_) => (line, Value::Null),
    }
}

#[test]
fn every_recording_becomes_what_it_should() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        seen += 1;
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let said = Replay::of(&name).text();
        let expected = path.with_extension("said");
        if std::env::var_os("UPDATE_RECORDINGS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        let known = fs::read_to_string(&expected).unwrap_or_default();
        if !known.lines().map(parts).eq(said.lines().map(parts)) {
            wrong.push(name);
        }
    }
    assert_eq!(seen, 37, "all recordings are here");
    assert!(wrong.is_empty(), "these become something else now: {wrong:?}");
}

#[test]
fn recorded_turns_read_as_a_transcript() {
    let replay = Replay::of("tool-write-read-edit");
    let mut processor =
        UpsertProcessor::new(SessionId::parse("claude-code:s").unwrap(), Pacing::default());
    let now = Now { mono: std::time::Duration::ZERO, wall: AT };
    let mut last: BTreeMap<String, (ItemStatus, Source)> = BTreeMap::new();
    let mut order = Vec::new();
    for output in replay.said.into_iter().flat_map(|(_, said)| said) {
        let Output::Event(event) = output else { continue };
        for emission in processor.process(event, now) {
            match emission {
                Emission::Put(upsert) => {
                    let id = upsert.item_id.as_str().to_owned();
                    if !order.contains(&id) {
                        order.push(id.clone());
                    }
                    last.insert(id, (upsert.status, upsert.source));
                }
                Emission::Grew(growth) => {
                    let (status, source) = last.get_mut(growth.item_id.as_str()).unwrap();
                    *status = ItemStatus::Update;
                    source.grow(&growth.text);
                }
                Emission::Turn(_) => {}
            }
        }
    }
    let lines: Vec<String> = order
        .iter()
        .map(|id| match &last[id] {
            (status, Source::ToolCall(call)) => format!("{status:?} {}", call.title),
            (status, Source::Permission(ask)) => format!("{status:?} ask: {}", ask.title),
            (status, Source::Message { content, .. }) => {
                format!("{status:?} {}", content.chars().take(17).collect::<String>())
            }
            (status, _) => format!("{status:?}"),
        })
        .collect();
    assert_eq!(
        lines,
        [
            "Complete Write notes.txt",
            "Complete ask: Write notes.txt",
            "Complete The tool answered",
            "Complete Read notes.txt",
            "Complete The tool answered",
            "Complete Edit notes.txt",
            "Complete ask: Edit notes.txt",
            "Complete The tool answered",
        ]
    );
}

#[test]
fn each_block_of_an_answer_is_an_item_of_its_own() {
    let events = Replay::of("two-tools").said.into_iter().flat_map(|(_, said)| said);
    let begun: Vec<String> = events
        .filter_map(|output| match output {
            Output::Event(event) => match event.payload {
                Payload::ItemStart {
                    item_id,
                    item: NewItem::Message { .. } | NewItem::FunctionCall { .. },
                    ..
                } => Some(item_id.as_str().to_owned()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(
        begun,
        [
            "turn-1:0:0",
            "turn-1:call:toolu_c10279551501413eaeb6",
            "turn-1:call:toolu_d446f8d46b8c43b3aca2",
            "turn-1:1:0",
        ]
    );
}

#[test]
fn always_holds_for_the_session_and_writes_no_settings_file() {
    let replay = Replay::of("tool-allow-always");
    let response = &replay.replies[0]["response"]["response"];
    assert_eq!(
        response["updatedPermissions"],
        json!([
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch always.txt"}],
                "behavior": "allow", "destination": "session"},
            {"type": "addDirectories", "directories": ["/home/user/demo"], "destination": "session"},
        ])
    );
}

#[test]
fn what_the_user_stopped_is_neither_complete_nor_failed() {
    for name in ["cancel", "cancel-tool", "cancel-permission", "cancel-hang"] {
        let replay = Replay::of(name);
        let first: Vec<&Payload> = replay
            .events()
            .take_while(|payload| !matches!(payload, Payload::ResponseDone { .. }))
            .collect();
        let open = match name {
            "cancel" => Some(ItemId::new("turn-1:0:0")),
            "cancel-tool" => Some(ItemId::new("turn-1:call:toolu_714be45dc8d54bdfba5d")),
            "cancel-permission" => Some(ItemId::new("turn-1:call:toolu_8a5fcd4706a94980bc4e")),
            _ => None,
        };
        let ends = |id: &ItemId| {
            first.iter().any(|payload| match payload {
                Payload::ItemDone { item_id, final_item } => {
                    item_id == id && !matches!(final_item, FinalItem::FunctionCall { .. })
                }
                Payload::ItemError { item_id, .. } => item_id == id,
                _ => false,
            })
        };
        let begins = |id: &ItemId| {
            first.iter().any(
                |payload| matches!(payload, Payload::ItemStart { item_id, .. } if item_id == id),
            )
        };
        assert!(open.is_none_or(|id| begins(&id) && !ends(&id)), "{name}");
    }
}
