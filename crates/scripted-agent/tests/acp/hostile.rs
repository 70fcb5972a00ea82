//! Whatever an agent requests, it gets exactly one response to each request, and none of its commands is left running.

use std::path::Path;

use liminal_scripted_agent::{Step, Steps, script};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::chat::Chat;
use super::support::App;

/// A method and its params.
type Request = (&'static str, Value);

/// Requests as agents send them. The commands end on their own, even with a damaged byte.
fn requests() -> Vec<Request> {
    let create = "terminal/create";
    let of_terminals =
        ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];
    let mut all = vec![
        ("fs/read_text_file", json!({"path": "text", "line": 1, "limit": 1})),
        ("fs/read_text_file", json!({"path": "up/../text", "line": 4_294_967_295_u64, "limit": 0})),
        ("fs/write_text_file", json!({"path": "new/text", "content": "made"})),
        ("fs/write_text_file", json!({"path": "away", "content": "made"})),
        (create, json!({"command": "seq", "args": ["20000"], "outputByteLimit": 10})),
        (
            create,
            json!({"command": "seq 20000 | tr 1 '\\377'", "outputByteLimit": 18_446_744_073_709_551_615_u64}),
        ),
        (
            create,
            json!({"command": "cat", "cwd": ".", "env": [{"name": "A=B", "value": "\u{202E}"}]}),
        ),
        (create, json!({"command": "printf '\\303'; kill -9 $$", "env": [], "outputByteLimit": 0})),
        (create, json!({"command": "no-such-program", "args": ["x"], "outputByteLimit": -1})),
    ];
    for method in of_terminals {
        for terminal in ["term_1", "term_2", "term_3", "term_0", ""] {
            all.push((method, json!({"terminalId": terminal})));
        }
    }
    all
}

/// Any of these requests, most of them damaged.
fn request() -> impl Strategy<Value = Request> {
    select(requests()).prop_flat_map(|(method, params)| {
        liminal_hostile::text(vec![params.to_string()]).prop_map(move |damaged| {
            let params = serde_json::from_slice(&damaged).ok().filter(|params| depth(params) < 90);
            let text = || Value::from(String::from_utf8_lossy(&damaged).into_owned());
            (method, params.unwrap_or_else(text))
        })
    })
}

/// The depth of a value. One too deep to be parsed is not a request, and cannot be in a script either.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(inner) => 1 + inner.iter().map(depth).max().unwrap_or_default(),
        Value::Object(inner) => 1 + inner.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Requests about a command that does not end on its own. It is awaited only after it was ended.
fn uses() -> impl Strategy<Value = Vec<Request>> {
    let uses = ["terminal/output", "terminal/kill", "terminal/wait_for_exit", "terminal/release"];
    vec(select(uses.to_vec()), 0..6).prop_map(|uses| {
        let ends = |method: &&str| matches!(*method, "terminal/kill" | "terminal/release");
        let ended = uses.iter().position(ends).unwrap_or(uses.len());
        uses.into_iter()
            .enumerate()
            .filter(|(at, method)| *method != "terminal/wait_for_exit" || *at > ended)
            .map(|(_, method)| (method, json!({"terminalId": "term_1"})))
            .collect()
    })
}

/// Lets an agent send all these requests, one after the other, and returns the responses.
async fn answers(requests: &[Request]) -> Vec<Value> {
    let asking = requests.iter().fold(script().on_any_prompt(), |script, (method, params)| {
        script.step(Step::RawRequest((*method).to_owned(), params.clone()))
    });
    let app = App::new(asking);
    std::fs::write(app.file("text"), b"one\n\xFF\n").unwrap();
    std::os::unix::fs::symlink("..", app.file("up")).unwrap();
    std::os::unix::fs::symlink("../data/token", app.file("away")).unwrap();
    let project = app.project();
    let mut chat = app.create().await;
    assert_eq!(chat.asks("go").await.how, "completed");
    app.stop().await;
    assert!(!somebody_is_in(&project), "something of it still runs");
    said(&chat)
}

/// The responses, as the agent repeated them.
fn said(chat: &Chat) -> Vec<Value> {
    let said: String = chat
        .items
        .iter()
        .map(|item| match &item.source {
            liminal_stream::Source::Message { content, .. } => content.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    serde_json::Deserializer::from_str(&said).into_iter().map(Result::unwrap).collect()
}

/// Whether a process works in a directory.
fn somebody_is_in(directory: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.filter_map(Result::ok).any(|process| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
    })
}

fn check(asked: &[Request], answers: &[Value]) {
    assert_eq!(answers.len(), asked.len());
    for (asked, answer) in asked.iter().zip(answers) {
        let code = answer["error"]["code"].as_i64();
        let known = matches!(code, None | Some(-32601 | -32602 | -32603 | -32002));
        assert!(known && answer.get("result").is_some() != code.is_some(), "{asked:?}: {answer}");
    }
}

fn play(requests: &[Request]) -> Vec<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(answers(requests));
    check(requests, &answers);
    answers
}

proptest! {
    #![proptest_config(liminal_hostile::cases(16))]

    #[test]
    fn an_agent_may_ask_for_anything(requests in vec(request(), 1..12)) {
        play(&requests);
    }

    #[test]
    fn a_command_may_be_used_in_any_order(uses in uses()) {
        let command = "printf 'up\\377'; exec sleep 600";
        let mut requests = vec![("terminal/create", json!({"command": command}))];
        requests.extend(uses);
        let answers = play(&requests);
        let mut released = false;
        for ((method, _), answer) in requests.iter().zip(&answers) {
            prop_assert_eq!(answer["error"]["code"] == -32002, released, "{}: {}", method, answer);
            if *method == "terminal/wait_for_exit" && !released {
                prop_assert_eq!(&answer["result"], &json!({"signal": "SIGKILL"}));
            }
            released |= *method == "terminal/release";
        }
    }
}
