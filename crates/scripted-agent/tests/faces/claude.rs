//! The Claude face over its pipes, compared with recordings of the real program in the same situation.

use liminal_scripted_agent::{PlanStatus, Script, ScriptBuilder, Steps, act, answered, script};
use serde_json::{Value, json};

use crate::support::{Agent, Place};

const USUAL: [&str; 8] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format=stream-json",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
    "--permission-mode=default",
    "--setting-sources=user,project,local",
];

/// A short name for a message; the recordings below use the same names.
fn kind(message: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_string();
    let first = &message["message"]["content"][0]["type"];
    let event = &message["event"];
    match message["type"].as_str() {
        Some("system") => format!("system/{}", text(&message["subtype"])),
        Some("stream_event") => match event["type"].as_str() {
            Some("content_block_start") => {
                format!("start {}", text(&event["content_block"]["type"]))
            }
            Some("content_block_delta") => format!("delta {}", text(&event["delta"]["type"])),
            _ => text(&event["type"]),
        },
        Some("assistant") if message["aborted"] == true => {
            format!("assistant {} aborted", text(first))
        }
        Some(who @ ("assistant" | "user")) => format!("{who} {}", text(first)),
        Some("control_request") => format!("ask {}", text(&message["request"]["subtype"])),
        Some("control_response") => "reply".into(),
        Some("result") => format!("result {}", text(&message["subtype"])),
        other => other.unwrap_or("?").into(),
    }
}

/// The kinds of all messages, with equal neighbours merged.
fn kinds(agent: &Agent) -> String {
    let mut kinds: Vec<String> = agent.said.iter().map(kind).collect();
    kinds.retain(|kind| kind != "system/thinking_tokens");
    kinds.dedup();
    kinds.join(", ")
}

fn start(script: ScriptBuilder, place: &Place, args: &[&str]) -> Agent {
    let args: Vec<&str> = USUAL.iter().chain(args).copied().collect();
    let mut agent = Agent::start("claude", script, place, &args);
    agent.send(&json!({"type": "control_request", "request_id": "r1", "request": {"subtype": "initialize"}}));
    agent
}

fn prompt(agent: &mut Agent, text: &str) {
    agent.send(&json!({
        "type": "user", "parent_tool_use_id": null, "session_id": "",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
    }));
}

fn result(agent: &mut Agent) -> Value {
    agent.until(|message| message["type"] == "result")
}

fn asked(agent: &mut Agent) -> Value {
    agent.until(|message| message["type"] == "control_request")
}

fn answer(agent: &mut Agent, ask: &Value, response: Value) {
    agent.send(&json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": ask["request_id"], "response": response,
    }}));
}

fn interrupt(agent: &mut Agent) {
    agent.send(&json!({"type": "control_request", "request_id": "r2", "request": {"subtype": "interrupt"}}));
}

/// A command that needs permission, and the messages after it.
fn with_command() -> ScriptBuilder {
    script()
        .on_any_prompt()
        .say("I will run a command.")
        .command("c", "ls")
        .ask("c", answered("allow", act().tool_done("c", "one.txt")))
        .say("That was it.")
}

const COMMAND_ASKED: &str = "reply, system/init, system/status, message_start, start text, delta text_delta, \
    assistant text, content_block_stop, start tool_use, delta input_json_delta, assistant tool_use, \
    content_block_stop, message_delta, ask can_use_tool, message_stop";
const ANSWERED: &str = "system/status, message_start, start text, delta text_delta, assistant text, \
    content_block_stop, message_delta, message_stop, result success";

#[test]
fn a_tool_that_is_allowed_goes_as_recorded() {
    let place = Place::new();
    let mut agent = start(with_command(), &place, &[]);
    prompt(&mut agent, "go");
    let ask = asked(&mut agent);
    let input = ask["request"]["input"].clone();
    answer(&mut agent, &ask, json!({"behavior": "allow", "updatedInput": input}));
    let result = result(&mut agent);

    assert_eq!(kinds(&agent), format!("{COMMAND_ASKED}, user tool_result, {ANSWERED}"));
    assert_eq!(ask["request"]["tool_use_id"], "c");
    assert_eq!(ask["request"]["input"], json!({"command": "ls"}));
    let given = agent.said.iter().find(|message| message["type"] == "user").unwrap();
    assert_eq!(
        given["tool_use_result"],
        json!({"stdout": "one.txt", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
    );
    assert_eq!(result["result"], "That was it.");
    assert_eq!(result["is_error"], false);
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["usage"]["input_tokens"], 240);
    let (rest, status, stderr) = agent.end();
    assert_eq!((rest, status.code(), stderr.as_str()), (vec![], Some(0), ""));
}

#[test]
fn a_tool_that_is_denied_goes_as_recorded() {
    let place = Place::new();
    let mut agent = start(with_command(), &place, &[]);
    prompt(&mut agent, "go");
    let ask = asked(&mut agent);
    answer(&mut agent, &ask, json!({"behavior": "deny", "message": "The user said no."}));
    let end = result(&mut agent);
    assert_eq!(kinds(&agent), format!("{COMMAND_ASKED}, user tool_result, {ANSWERED}"));
    assert_eq!(end["permission_denials"][0]["tool_use_id"], "c");

    agent.said.clear();
    prompt(&mut agent, "again");
    let ask = asked(&mut agent);
    assert_eq!(ask["request"]["tool_use_id"], "c.2");
    answer(&mut agent, &ask, json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    let end = result(&mut agent);
    let asked = COMMAND_ASKED.strip_prefix("reply, ").unwrap();
    assert_eq!(
        kinds(&agent),
        format!("{asked}, user tool_result, user text, result error_during_execution")
    );
    assert_eq!(end["terminal_reason"], "aborted_tools");
}

#[test]
fn an_interrupt_breaks_the_words_off_as_recorded() {
    let place = Place::new();
    let script = script()
        .on_prompt("count")
        .say("one ")
        .say("two ")
        .wait_for_cancel()
        .on_any_prompt()
        .say("yes");
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "count");
    agent.until(|message| message["event"]["delta"]["text"] == "two ");
    interrupt(&mut agent);
    let end = result(&mut agent);
    assert_eq!(
        kinds(&agent),
        "reply, system/init, system/status, message_start, start text, delta text_delta, reply, \
         assistant text aborted, user text, content_block_stop, message_delta, message_stop, \
         result error_during_execution"
    );
    assert_eq!(
        (&end["is_error"], &end["terminal_reason"]),
        (&json!(true), &json!("aborted_streaming"))
    );
    let aborted = agent.said.iter().find(|message| message["aborted"] == true).unwrap();
    assert_eq!(aborted["message"]["content"], json!([{"type": "text", "text": "one two "}]));

    agent.said.clear();
    prompt(&mut agent, "still there?");
    result(&mut agent);
    assert_eq!(kinds(&agent), format!("system/init, {ANSWERED}"));
}

#[test]
fn an_interrupt_takes_an_open_question_back_as_recorded() {
    let place = Place::new();
    let mut agent = start(with_command(), &place, &[]);
    prompt(&mut agent, "go");
    let ask = asked(&mut agent);
    interrupt(&mut agent);
    let end = result(&mut agent);
    assert_eq!(
        kinds(&agent),
        format!(
            "{COMMAND_ASKED}, control_cancel_request, reply, user tool_result, user text, \
             result error_during_execution"
        )
    );
    let cancelled =
        agent.said.iter().find(|message| message["type"] == "control_cancel_request").unwrap();
    assert_eq!(cancelled["request_id"], ask["request_id"]);
    assert_eq!(end["stop_reason"], "tool_use");
}

#[test]
fn thinking_and_failures_go_as_recorded() {
    let place = Place::new();
    let script = script()
        .on_prompt("think")
        .think("First ")
        .think("then.")
        .say("So.")
        .on_prompt("login")
        .fail(-32000, "Not logged in · Please run /login")
        .on_prompt("busy")
        .fail(529, "overloaded");
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "think");
    result(&mut agent);
    assert_eq!(
        kinds(&agent),
        "reply, system/init, system/status, message_start, start thinking, delta thinking_delta, \
         delta signature_delta, assistant thinking, content_block_stop, start text, \
         delta text_delta, assistant text, content_block_stop, message_delta, message_stop, \
         result success"
    );
    agent.said.clear();
    prompt(&mut agent, "login");
    let end = result(&mut agent);
    assert_eq!(kinds(&agent), "system/init, system/status, assistant text, result success");
    assert_eq!(agent.said[2]["error"], "authentication_failed");
    assert_eq!((&end["is_error"], &end["api_error_status"]), (&json!(true), &json!(401)));
    prompt(&mut agent, "busy");
    assert_eq!(result(&mut agent)["result"], "API Error: 529 overloaded");
}

#[test]
fn a_question_is_a_tool_of_its_own() {
    let place = Place::new();
    let script = script().on_any_prompt().question(
        "q",
        "Which colour?",
        &["Red", "Blue"],
        answered("Blue", act().say("Sky.")).or(act().say("Other.")),
    );
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "ask");
    let ask = asked(&mut agent);
    assert_eq!(ask["request"]["requires_user_interaction"], true);
    let mut input = ask["request"]["input"].clone();
    input["answers"] = json!({"Which colour?": "Blue"});
    answer(&mut agent, &ask, json!({"behavior": "allow", "updatedInput": input}));
    assert_eq!(result(&mut agent)["result"], "Sky.");
}

#[test]
fn the_file_is_a_chain_and_resume_goes_on_from_it() {
    let place = Place::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let named = format!("--session-id={id}");
    let mut agent = start(with_command(), &place, &[&named]);
    prompt(&mut agent, "go");
    let ask = asked(&mut agent);
    answer(&mut agent, &ask, json!({"behavior": "allow", "updatedInput": {}}));
    let first = result(&mut agent);
    let told: Vec<Value> = agent
        .said
        .iter()
        .filter(|message| message["type"] == "assistant")
        .map(|message| message["uuid"].clone())
        .collect();
    assert_eq!(first["session_id"], id);
    agent.end();

    let folder: String = place
        .0
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let file = place.0.join("claude/projects").join(folder).join(format!("{id}.jsonl"));
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let before = lines();
    let types: Vec<&str> = before.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        types.join(" "),
        "queue-operation queue-operation user attachment assistant assistant user assistant last-prompt cost-state"
    );
    let kept: Vec<Value> = before
        .iter()
        .filter(|line| line["type"] == "assistant")
        .map(|line| line["uuid"].clone())
        .collect();
    assert_eq!(kept, told);
    assert_chained(&before);

    let in_use = Agent::start("claude", with_command(), &place, &[&named]);
    let (said, status, stderr) = in_use.wait();
    assert_eq!((said, status.code()), (vec![], Some(1)));
    assert_eq!(stderr, format!("Error: Session ID {id} is already in use.\n"));

    let mut agent = start(with_command(), &place, &["--resume", id]);
    prompt(&mut agent, "go on");
    let ask = asked(&mut agent);
    answer(&mut agent, &ask, json!({"behavior": "allow", "updatedInput": {}}));
    let second = result(&mut agent);
    let cost = |result: &Value| result["total_cost_usd"].as_f64().unwrap();
    assert!((cost(&second) - 2.0 * cost(&first)).abs() < 1e-9, "{second}");
    assert_eq!(second["session_id"], id);
    assert!(!kinds(&agent).contains("user text"), "nothing is replayed");
    agent.end();
    assert_chained(&lines());
    assert_eq!(lines().len(), 2 * before.len());
}

fn assert_chained(lines: &[Value]) {
    let mut last = Value::Null;
    for line in lines.iter().filter(|line| line.get("uuid").is_some()) {
        assert_eq!(line["parentUuid"], last);
        last = line["uuid"].clone();
    }
}

#[test]
fn an_unknown_session_is_not_resumed() {
    let place = Place::new();
    let agent = Agent::start("claude", with_command(), &place, &["--resume=nobody"]);
    let (said, status, stderr) = agent.wait();
    assert_eq!(status.code(), Some(1));
    assert_eq!(stderr, "No conversation found with session ID: nobody\n");
    assert_eq!(said[0]["errors"], json!(["No conversation found with session ID: nobody"]));
    assert_eq!(said[0]["subtype"], "error_during_execution");
}

#[test]
fn a_line_that_is_no_json_ends_it_and_an_unknown_type_does_not() {
    let place = Place::new();
    let mut agent = start(script().on_any_prompt().say("yes"), &place, &[]);
    agent.send(&json!({"type": "surprise"}));
    prompt(&mut agent, "there?");
    result(&mut agent);
    agent.send_raw("not json");
    let (_, status, stderr) = agent.wait();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.starts_with("Error parsing streaming input line"), "{stderr}");
}

#[test]
fn stdin_closed_in_a_turn_lets_it_end_and_a_queued_message_has_its_own() {
    let place = Place::new();
    let script = script().on_any_prompt().say("a").wait_for_file("go").say("b");
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "one");
    prompt(&mut agent, "two");
    agent.until(|message| message["event"]["delta"]["text"] == "a");
    place.make("go");
    let (rest, status, _) = agent.end();
    let results: Vec<&Value> = rest.iter().filter(|message| message["type"] == "result").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(status.code(), Some(0));
}

#[test]
fn without_partial_messages_only_whole_blocks_are_told() {
    let place = Place::new();
    let mut agent =
        Agent::start("claude", script().on_any_prompt().say("a").say("b"), &place, &["--verbose"]);
    prompt(&mut agent, "x");
    result(&mut agent);
    assert_eq!(kinds(&agent), "system/init, system/status, assistant text, result success");
}

#[test]
fn sub_agents_speak_under_their_call_and_plans_are_todos() {
    let place = Place::new();
    let task = liminal_scripted_agent::Tool {
        id: "task".into(),
        name: "Task".into(),
        input: json!({"description": "look"}),
        ..Default::default()
    };
    let script = script()
        .on_any_prompt()
        .plan(&[("look", PlanStatus::InProgress), ("tell", PlanStatus::Pending)])
        .tool(task)
        .sub_agent("task", act().say("looking").command("sub", "ls").tool_done("sub", "x"))
        .tool_done("task", "found")
        .say("done");
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "go");
    result(&mut agent);
    let under: Vec<String> = agent
        .said
        .iter()
        .filter(|message| message["parent_tool_use_id"] == "task")
        .map(kind)
        .collect();
    assert_eq!(under, ["assistant text", "assistant tool_use", "user tool_result"]);
    let todo = agent
        .said
        .iter()
        .find(|message| message["message"]["content"][0]["name"] == "TodoWrite")
        .unwrap();
    assert_eq!(
        todo["message"]["content"][0]["input"]["todos"][0],
        json!({"content": "look", "status": "in_progress", "activeForm": "look"})
    );
}

#[test]
fn what_is_said_while_idle_is_a_turn_of_its_own() {
    let place = Place::new();
    let script =
        script().on_any_prompt().say("now").after_turn(act().wait_for_file("go").say("later"));
    let mut agent = start(script, &place, &[]);
    prompt(&mut agent, "x");
    result(&mut agent);
    agent.said.clear();
    place.make("go");
    assert_eq!(result(&mut agent)["result"], "later");
    assert_eq!(kinds(&agent), format!("system/init, {ANSWERED}"));
}

#[test]
fn a_script_survives_its_way_through_json() {
    let script = with_command().build();
    assert_eq!(Script::from_json(&script.to_json()).unwrap(), script);
}
