//! The ACP face checked with the protocol's own types: they can read every message without losing anything.

use agent_client_protocol_schema::v1::{
    CreateTerminalRequest, InitializeResponse, LoadSessionResponse, NewSessionResponse,
    PromptResponse, ReadTextFileRequest, RequestPermissionRequest, SessionNotification,
    WriteTextFileRequest,
};
use liminal_scripted_agent::{
    Choice, PlanStatus, SessionMode, SlashCommand, Steps, Tool, act, answered, script,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::{Agent, Place};

/// Reads a message as its type. The types silently drop unknown fields, so the result must equal the input.
fn is<T: DeserializeOwned + Serialize>(sent: &Value) {
    let read: T =
        serde_json::from_value(sent.clone()).unwrap_or_else(|error| panic!("{error}: {sent:#}"));
    let (read, sent) =
        (without_nulls(serde_json::to_value(read).unwrap()), without_nulls(sent.clone()));
    contains(&read, &sent);
}

/// Everything of `small` is in `large`: defaults may be added, nothing may be lost.
fn contains(large: &Value, small: &Value) {
    match (large, small) {
        (Value::Object(large), Value::Object(small)) => {
            for (key, value) in small {
                let Some(found) = large.get(key) else {
                    panic!("{key}: {value} was not understood")
                };
                contains(found, value);
            }
        }
        (Value::Array(large), Value::Array(small)) => {
            assert_eq!(large.len(), small.len());
            large.iter().zip(small).for_each(|(large, small)| contains(large, small));
        }
        (large, small) => assert_eq!(large, small),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(all) => all.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn everything_it_says_is_understood_whole() {
    let place = Place::new();
    let tool = Tool {
        id: "r".into(),
        name: "Read".into(),
        title: "Read it".into(),
        kind: "read".into(),
        input: json!({"file_path": "a.txt"}),
        locations: vec!["a.txt".into()],
    };
    let told = script()
        .about(|about| {
            about.modes = vec![SessionMode { id: "ask".into(), name: "Ask".into() }];
            about.commands = vec![SlashCommand { name: "help".into(), description: "Help".into() }];
            let key =
                Choice { id: "key".into(), name: "Key".into(), kind: None, description: None };
            about.auth_methods = vec![key];
        })
        .on_any_prompt()
        .echo_prompt()
        .think("hm")
        .say("Hello")
        .image("image/png", "aGk=")
        .plan(&[("one", PlanStatus::Completed), ("two", PlanStatus::InProgress)])
        .tool(tool)
        .read_file("r", "a.txt")
        .command("c", "make")
        .tool_output("c", "made\n")
        .diff("c", "a.txt", Some("a"), "b")
        .ask("c", answered("allow", act().run_by_client("c", "make")))
        .write_file("b.txt", "words")
        .title("A title")
        .usage(10, 100);
    let mut agent = Agent::start("acp", told, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    let answers = [
        ("fs/read_text_file", json!({"content": "a"})),
        (
            "session/request_permission",
            json!({"outcome": {"outcome": "selected", "optionId": "allow"}}),
        ),
        ("terminal/create", json!({"terminalId": "t"})),
        ("terminal/wait_for_exit", json!({"exitCode": 0})),
        ("terminal/output", json!({"output": "", "truncated": false})),
        ("terminal/release", json!({})),
        ("fs/write_text_file", json!({})),
    ];
    for (method, result) in answers {
        let ask = agent.asked(method);
        agent.send(&json!({"jsonrpc": "2.0", "id": ask["id"], "result": result}));
    }
    agent.answer(prompt);
    let load = json!({"sessionId": session, "cwd": place.0, "mcpServers": []});
    let load = agent.request("session/load", load);
    agent.answer(load);

    let mut seen = 0;
    for message in &agent.said {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("session/update") => is::<SessionNotification>(params),
            Some("session/request_permission") => is::<RequestPermissionRequest>(params),
            Some("fs/read_text_file") => is::<ReadTextFileRequest>(params),
            Some("fs/write_text_file") => is::<WriteTextFileRequest>(params),
            Some("terminal/create") => is::<CreateTerminalRequest>(params),
            Some(_) => {}
            None => {
                let result = &message["result"];
                match message["id"].as_u64().unwrap() {
                    1 => is::<InitializeResponse>(result),
                    2 => is::<NewSessionResponse>(result),
                    3 => is::<PromptResponse>(result),
                    _ => is::<LoadSessionResponse>(result),
                }
            }
        }
        seen += 1;
    }
    assert!(seen > 25, "{seen}");
}
