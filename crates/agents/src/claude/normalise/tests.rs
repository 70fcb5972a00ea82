//! Every recorded line, and what it becomes. `fixtures/claude/NAME.said` holds the expectation; refresh it with
//! `UPDATE_FIXTURES=1 cargo test -p liminal-agents` and read the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use liminal_contract::{
    Answer, ErrorCode, MessageOrigin, Outcome, PlanEntry, PlanStatus, SessionId,
};
use liminal_stream::{
    AgentError, Emission, Now, Pacing, Patch, Source, SourcePart, ToolPatch, UpsertProcessor,
};
use serde_json::Value;

use super::*;

const START: i64 = 1_794_781_000_000;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude")
}

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

fn line(value: &Value) -> Line {
    Line::parse(value.to_string().as_bytes()).unwrap()
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
            let now = Timestamp::from_millis(START + step["t_ms"].as_i64().unwrap());
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

    /// What was written to the agent then, as the calls that write it now.
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
                let answers: BTreeMap<String, String> =
                    serde_json::from_value(response["updatedInput"]["answers"].clone())
                        .unwrap_or_default();
                let answer = Answer { option_id: Some(option.to_owned()), answers };
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
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
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
    let now = Timestamp::from_millis(START);
    lines.iter().flat_map(|value| payloads(normaliser.read(line(value), now))).collect()
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

#[test]
fn recorded_turns_read_as_a_transcript() {
    let replay = Replay::of("tool-write-read-edit");
    let mut processor =
        UpsertProcessor::new(SessionId::parse("claude-code:s").unwrap(), Pacing::default());
    let now = Now { mono: std::time::Duration::ZERO, wall: Timestamp::from_millis(START) };
    let mut last: BTreeMap<String, (liminal_contract::ItemStatus, Source)> = BTreeMap::new();
    let mut order = Vec::new();
    for output in replay.said.into_iter().flat_map(|(_, said)| said) {
        let Output::Event(event) = output else { continue };
        for emission in processor.process(event, now) {
            if let Emission::Upsert(upsert) = emission {
                let id = upsert.item_id.as_str().to_owned();
                if !order.contains(&id) {
                    order.push(id.clone());
                }
                last.insert(id, (upsert.status, upsert.source));
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
fn always_holds_for_the_session_and_writes_no_settings_file() {
    let replay = Replay::of("tool-allow-always");
    let response = &replay.replies[0]["response"]["response"];
    assert_eq!(
        response["updatedPermissions"],
        json!([
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch always.txt"}], "behavior": "allow", "destination": "session"},
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
        assert!(!open.is_some_and(|id| ends(&id)), "{name}");
    }
}

#[test]
fn a_tool_that_failed_because_it_was_stopped_keeps_what_it_said_and_did_not_fail() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    let call =
        json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "npm test"}});
    read(&mut normaliser, &[whole("m", None, call)]);
    normaliser.cancel(Timestamp::from_millis(START));
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
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let said =
        read(&mut normaliser, &[whole("m", None, json!({"type": "image", "source": source}))]);
    let Some(Payload::ItemDone { final_item, .. }) = said.last() else { panic!("{said:?}") };
    let FinalItem::FunctionCallOutput { about, .. } = final_item else { panic!("{final_item:?}") };
    let image = SourcePart::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    assert_eq!(about.parts, Some(vec![image]));
}

#[test]
fn a_result_of_an_unknown_call_makes_its_own_card() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    let said = read(&mut normaliser, &[tool_result("toolu_x", Value::Null)]);
    let item_id = ItemId::new("t:call:toolu_x");
    assert_eq!(said[0], started(TurnOrigin::User));
    assert_eq!(
        said.last(),
        Some(&Payload::ItemDone {
            item_id,
            final_item: FinalItem::FunctionCallOutput {
                call_id: "toolu_x".to_owned(),
                output: "ok".to_owned(),
                is_error: false,
                about: Box::default(),
            },
        })
    );
}

#[test]
fn an_unknown_line_is_told_as_it_came() {
    let value = json!({"type": "system", "subtype": "brand_new", "x": [1]});
    assert_eq!(
        normaliser().read(line(&value), Timestamp::from_millis(START)),
        [Output::Fact(SessionFact::Other { kind: "system/brand_new".to_owned(), value })]
    );
    let odd = json!({"type": "assistant", "message": 7});
    assert_eq!(
        normaliser().read(line(&odd), Timestamp::from_millis(START)),
        [Output::Fact(SessionFact::Other { kind: "assistant".to_owned(), value: odd })]
    );
}

#[test]
fn an_unknown_block_is_named_to_the_user() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    let said = read(&mut normaliser, &[whole("m", None, json!({"type": "hologram", "d": 3}))]);
    assert!(
        said.iter().any(|payload| matches!(payload,
            Payload::ItemDone { final_item: FinalItem::Notice { notice }, .. }
                if notice.text.contains("hologram"))),
        "{said:?}"
    );
}

#[test]
fn steps_of_the_agent_are_one_plan_that_changes() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    let create = |call: &str, subject: &str| {
        whole(
            "m",
            None,
            json!({"type": "tool_use", "id": call, "name": "TaskCreate", "input": {"subject": subject, "description": "d"}}),
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
                json!({"type": "tool_use", "id": "c", "name": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}),
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
fn a_sub_agent_speaks_under_its_call_and_asks_beyond_the_turn() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    read(
        &mut normaliser,
        &[
            whole(
                "m",
                None,
                json!({"type": "tool_use", "id": "task", "name": "Agent", "input": {"description": "Look", "prompt": "p"}}),
            ),
            tool_result("task", json!({"isAsync": true})),
            whole(
                "s",
                Some("task"),
                json!({"type": "tool_use", "id": "inner", "name": "Bash", "input": {"command": "ls"}}),
            ),
            json!({"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "inner"}}),
            json!({"type": "result", "subtype": "success", "is_error": false}),
        ],
    );
    assert!(!normaliser.in_turn());
    assert!(!normaliser.is_idle(), "a question is open");

    let ask = ItemId::new("t:ask:0");
    let allow = Answer { option_id: Some("allow".to_owned()), ..Answer::default() };
    let (reply, said) =
        normaliser.answer(&ask, &allow, OutcomeBy::User, Timestamp::from_millis(START)).unwrap();
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
        &[
            json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed", "summary": "Build finished"}),
        ],
    );
    assert!(normaliser.is_idle());
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
        for output in normaliser.read(line(value), Timestamp::from_millis(START)) {
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
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    normaliser.cancel(Timestamp::from_millis(START));
    let life =
        |state: &str| json!({"type": "command_lifecycle", "command_uuid": "t", "state": state});
    let said = read(&mut normaliser, &[life("queued"), life("cancelled")]);
    assert_eq!(said, [started(TurnOrigin::User), Payload::done(ResponseStatus::Cancelled)]);
}

#[test]
fn the_end_of_the_process_ends_turn_and_questions() {
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    read(
        &mut normaliser,
        &[
            json!({"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}}),
        ],
    );
    let error = AgentError::new(ErrorCode::ProcessCrash, "gone", None);
    let said = payloads(normaliser.left(error.clone(), Timestamp::from_millis(START)));
    assert_eq!(
        said,
        [
            Payload::ItemDone {
                item_id: ItemId::new("t:ask:0"),
                final_item: FinalItem::Permission {
                    outcome: Outcome { option_id: None, by: OutcomeBy::AgentLeft },
                },
            },
            Payload::ResponseError { error },
        ]
    );
    assert!(normaliser.is_idle());
}

#[test]
fn a_call_without_an_id_or_a_name_is_no_call() {
    for call in [
        json!({"type": "tool_use", "id": "", "name": "Bash", "input": {}}),
        json!({"type": "tool_use", "id": "toolu_x", "name": "", "input": {}}),
        json!({"type": "tool_result", "tool_use_id": "", "content": "ok"}),
    ] {
        let mut normaliser = normaliser();
        normaliser.begin(TurnId::new("t"), "t".to_owned());
        let said = read(&mut normaliser, &[whole("msg", None, call.clone())]);
        let is_call = |payload: &Payload| {
            matches!(payload, Payload::ItemStart { item: NewItem::FunctionCall { .. }, .. })
        };
        assert!(!said.iter().any(is_call), "{call}: {said:?}");
    }
}

#[test]
fn more_tokens_than_can_be_counted_are_as_many_as_can() {
    let most = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX,
        "cache_read_input_tokens": u64::MAX});
    let message = json!({"type": "stream_event", "event": {"type": "message_start",
        "message": {"id": "m", "model": "m", "content": [], "usage": most.clone()}}});
    let whole = json!({"type": "assistant",
        "message": {"id": "m", "model": "m", "content": [{"type": "text", "text": "a"}], "usage": most}});
    let mut normaliser = normaliser();
    normaliser.begin(TurnId::new("t"), "t".to_owned());
    assert_eq!(read(&mut normaliser, &[message, whole])[0], started(TurnOrigin::User));
}
