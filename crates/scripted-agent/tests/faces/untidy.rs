//! What no agent should do, and some do: noise, floods, late messages, refusals, ignored requests.

use liminal_scripted_agent::{Choice, Step, Steps, Tool, act, answered, script};
use serde_json::{Value, json};

use crate::support::{Agent, Place};

fn choice(id: &str) -> Choice {
    Choice { id: id.into(), name: id.into(), kind: None, description: None }
}

#[test]
fn noise_comes_out_as_it_stands() {
    let place = Place::new();
    let script = script()
        .on_any_prompt()
        .raw("warning: not json")
        .raw("")
        .step(Step::InvalidUtf8)
        .step(Step::HugeLine(100_000))
        .stderr("noise");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    agent.prompt(&session, "x");
    assert_eq!(agent.line().unwrap(), b"warning: not json");
    assert_eq!(agent.line().unwrap(), b"");
    assert!(std::str::from_utf8(&agent.line().unwrap()).is_err());
    let huge = agent.line().unwrap();
    assert_eq!(huge.len(), 100_000);
    let huge: Value = serde_json::from_slice(&huge).unwrap();
    assert_eq!(huge["params"]["update"]["sessionUpdate"], "agent_message_chunk");
    assert_eq!(agent.next()["result"]["stopReason"], "end_turn");
    assert_eq!(agent.end().2, "noise\n");
}

#[test]
fn a_flood_is_as_many_updates_as_it_says() {
    let place = Place::new();
    let mut agent =
        Agent::start("acp", script().on_any_prompt().flood(20_000, "drop "), &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    agent.answer(prompt);
    assert_eq!(agent.updates().len(), 20_000);

    let mut agent = Agent::start(
        "claude",
        script().on_any_prompt().flood(5_000, "drop ").step(Step::HugeLine(70_000)),
        &place,
        &["--include-partial-messages"],
    );
    agent.send(&json!({"type": "user", "message": {"role": "user", "content": "x"}}));
    agent.until(|message| message["type"] == "result");
    let drops = agent.said.iter().filter(|message| message["event"]["delta"]["text"] == "drop ");
    assert_eq!(drops.count(), 5_000);
    assert!(agent.said.iter().any(|message| message.to_string().len() == 70_000));
}

#[test]
fn words_come_late_and_unasked() {
    let place = Place::new();
    let script = script()
        .on_session()
        .say("before anything")
        .on_any_prompt()
        .command("c", "make")
        .after_turn(act().wait_for_file("go").tool_done("c", "made").say("late"));
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    agent.until(|message| message["params"]["update"]["content"]["text"] == "before anything");
    let prompt = agent.prompt(&session, "x");
    agent.answer(prompt);
    agent.said.clear();
    place.make("go");
    agent.until(|message| message["params"]["update"]["content"]["text"] == "late");
    assert_eq!(agent.updates()[0]["status"], "completed");
}

#[test]
fn a_session_is_refused_until_there_is_a_login() {
    let place = Place::new();
    let script = script()
        .about(|about| about.auth_methods = vec![choice("key")])
        .refuse_new(-32000, "Authentication required");
    let mut agent = Agent::start("acp", script.clone(), &place, &[]);
    let hello = agent.call("initialize", json!({"protocolVersion": 1}));
    assert_eq!(hello["result"]["authMethods"][0]["id"], "key");
    let refused = agent.call("session/new", json!({"cwd": place.0, "mcpServers": []}));
    assert_eq!(refused["error"], json!({"code": -32000, "message": "Authentication required"}));

    let (said, status, stderr) = Agent::start("claude", script, &place, &[]).wait();
    assert_eq!((said, status.code()), (vec![], Some(1)));
    assert_eq!(stderr, "Authentication required\n");
}

#[test]
fn a_slow_start_waits_for_its_file() {
    let place = Place::new();
    let script =
        script().stderr("starting").touch("waiting").wait_for_file("go").on_any_prompt().say("up");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let hello = agent.request("initialize", json!({"protocolVersion": 1}));
    place.sees("waiting");
    place.make("go");
    assert_eq!(agent.answer(hello)["result"]["protocolVersion"], 1);
}

#[test]
fn sigterm_ends_a_claude_as_the_real_one() {
    let place = Place::new();
    let mut agent = Agent::start("claude", script().touch("up"), &place, &[]);
    place.sees("up");
    agent.signal("TERM");
    assert_eq!(agent.wait().1.code(), Some(143));
}

#[test]
fn requests_are_taken_back_both_ways() {
    let place = Place::new();
    let ask = liminal_scripted_agent::Ask {
        title: "May I?".into(),
        options: vec![choice("yes")],
        otherwise: act().say("never mind").wait_for_cancel().into_steps(),
        withdraw_on_file: Some("enough".into()),
        ..Default::default()
    };
    let mut agent =
        Agent::start("acp", script().on_any_prompt().step(Step::Ask(ask.clone())), &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    let asked = agent.asked("session/request_permission");
    place.make("enough");
    let taken = agent.until(|message| message["method"] == "$/cancel_request");
    assert_eq!(taken["params"]["requestId"], asked["id"]);
    agent.until(|message| message["params"]["update"]["content"]["text"] == "never mind");
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": prompt}}),
    );
    assert_eq!(agent.answer(prompt)["error"]["code"], -32800);

    let place = Place::new();
    let mut agent =
        Agent::start("claude", script().on_any_prompt().step(Step::Ask(ask)), &place, &[]);
    agent.send(&json!({"type": "user", "message": {"role": "user", "content": "x"}}));
    let asked = agent.until(|message| message["type"] == "control_request");
    place.make("enough");
    let taken = agent.until(|message| message["type"] == "control_cancel_request");
    assert_eq!(taken["request_id"], asked["request_id"]);
}

#[test]
fn two_sessions_ask_at_once_and_each_gets_its_own_answer() {
    let place = Place::new();
    let script = script().on_any_prompt().ask_out_of_the_blue(
        "May I?",
        answered("allow", act().say("thanks")).or(act().say("pity")),
    );
    let mut agent = Agent::start("acp", script, &place, &[]);
    let first = agent.session(&place.0);
    let second = agent.call("session/new", json!({"cwd": place.0, "mcpServers": []}));
    let second = second["result"]["sessionId"].as_str().unwrap().to_string();
    agent.prompt(&first, "x");
    agent.prompt(&second, "x");
    let asks =
        [agent.asked("session/request_permission"), agent.asked("session/request_permission")];
    for ask in asks.iter().rev() {
        let option = if ask["params"]["sessionId"] == first.as_str() { "allow" } else { "reject" };
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        agent.send(&json!({"jsonrpc": "2.0", "id": ask["id"], "result": outcome}));
    }
    for _ in 0..2 {
        let said = agent.until(|message| message["method"] == "session/update");
        let mine = said["params"]["sessionId"] == first.as_str();
        let text = &said["params"]["update"]["content"]["text"];
        assert_eq!(text, if mine { "thanks" } else { "pity" });
    }
}

#[test]
fn files_and_terminals_are_the_clients_where_it_offers_them() {
    let place = Place::new();
    let script = script()
        .on_any_prompt()
        .tool(Tool {
            id: "r".into(),
            title: "Read".into(),
            kind: "read".into(),
            ..Default::default()
        })
        .read_file("r", "there.txt")
        .write_file("new.txt", "words")
        .command("t", "make")
        .run_by_client("t", "make");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");

    let read = agent.asked("fs/read_text_file");
    assert_eq!(read["params"], json!({"sessionId": session, "path": place.path("there.txt")}));
    let error = json!({"code": -32002, "message": "Resource not found"});
    agent.send(&json!({"jsonrpc": "2.0", "id": read["id"], "error": error}));
    let write = agent.asked("fs/write_text_file");
    assert_eq!(write["params"]["content"], "words");
    agent.send(&json!({"jsonrpc": "2.0", "id": write["id"], "result": null}));
    for (method, result) in [
        ("terminal/create", json!({"terminalId": "term-1"})),
        ("terminal/wait_for_exit", json!({"exitCode": 2, "signal": null})),
        ("terminal/output", json!({"output": "oops", "truncated": false})),
        ("terminal/release", json!({})),
    ] {
        let asked = agent.asked(method);
        agent.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    }
    agent.answer(prompt);
    let updates = agent.updates();
    let ends: Vec<&Value> = updates.iter().filter(|update| update["status"] == "failed").collect();
    assert_eq!(ends[0]["content"][0]["content"]["text"], "Resource not found");
    assert_eq!(ends[1]["content"], json!([{"type": "terminal", "terminalId": "term-1"}]));
}

#[test]
fn a_stopped_turn_ends_its_command() {
    let place = Place::new();
    let command = "echo $$ > pid; echo up; exec sleep 600";
    let script = script().on_any_prompt().command("c", "sleep").run("c", command);
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    agent.until(|message| message["params"]["update"]["content"][0]["content"]["text"] == "up\n");
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    );
    assert_eq!(agent.answer(prompt)["result"]["stopReason"], "cancelled");
    let pid = std::fs::read_to_string(place.path("pid")).unwrap();
    let alive = std::process::Command::new("kill").args(["-0", pid.trim()]).output().unwrap();
    assert!(!alive.status.success(), "{pid} still runs");
}

#[test]
fn facts_echoes_and_anything_else_can_be_told() {
    let place = Place::new();
    let script = script()
        .on_any_prompt()
        .echo_prompt()
        .title("A title")
        .usage(10, 100)
        .tool(Tool { id: "c".into(), title: "Think".into(), ..Default::default() })
        .diff("c", "a.txt", None, "new\n")
        .raw_update(json!({"sessionUpdate": "from_the_future", "x": 1}))
        .step(Step::RawRequest("_surprise".into(), json!({})));
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    let surprise = agent.asked("_surprise");
    agent.send(&json!({"jsonrpc": "2.0", "id": surprise["id"], "error": {"code": -32601, "message": "no"}}));
    agent.answer(prompt);
    let updates = agent.updates();
    let kinds: Vec<&str> =
        updates.iter().filter_map(|update| update["sessionUpdate"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "user_message_chunk",
            "session_info_update",
            "usage_update",
            "tool_call",
            "tool_call_update",
            "from_the_future",
            "agent_message_chunk",
        ]
    );
    let path = place.path("a.txt");
    assert_eq!(
        updates[4]["content"],
        json!([{"type": "diff", "path": path, "oldText": null, "newText": "new\n"}])
    );
    assert!(agent.text().contains("-32601"), "{}", agent.text());
}

#[test]
fn the_first_rule_that_matches_is_the_one() {
    let place = Place::new();
    let script = script().on_prompt("x").say("first").on_prompt_with("X").say("second");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    for text in ["x", "ax", "y"] {
        let prompt = agent.prompt(&session, text);
        agent.answer(prompt);
    }
    assert_eq!(agent.text(), "firstsecondThe script has no rule for \"y\".");
}

#[test]
fn a_bad_script_or_command_line_is_told_and_nothing_runs() {
    let place = Place::new();
    std::fs::write(
        place.0.join("bad.json"),
        "{\"rules\": [{\"on\": \"any\", \"steps\": [\"dance\"]}]}",
    )
    .unwrap();
    std::fs::write(place.0.join("good.json"), script().build().to_json()).unwrap();
    for (args, words) in [
        (vec!["--script", "none.json"], "could not read the script none.json"),
        (vec!["--script", "bad.json"], "the script bad.json is invalid: unknown variant `dance`"),
        (vec!["--face", "mime", "--script", "good.json"], "unknown face \"mime\"\nusage:"),
        (vec!["--script", "good.json", "--loud"], "unknown argument: --loud\nusage:"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
        command.args(&args);
        let (said, status, stderr) = Agent::run(command, &place).wait();
        assert_eq!((said, status.code()), (vec![], Some(2)), "{args:?}");
        assert!(stderr.starts_with(words), "{args:?}: {stderr}");
    }
}
