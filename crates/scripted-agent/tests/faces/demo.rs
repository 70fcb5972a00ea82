//! The demo as a new user meets it, over ACP.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Agent, Place, text_of};

fn start(place: &Place, args: &[&str]) -> Agent {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
    command.args(args).env("LIMINAL_DEMO_PACE", "0");
    command.env("LIMINAL_DEMO_DIR", place.0.join("memory"));
    Agent::run(command, place)
}

/// Answers the agent's requests as our client does, until its prompt is answered. Returns the methods requested.
fn serve(agent: &mut Agent, prompt: u64, allow: bool) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let message = agent.until(|message| message.get("id").is_some());
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["id"], prompt);
            return asked;
        };
        let params = &message["params"];
        let result = match method {
            "fs/read_text_file" => {
                match std::fs::read_to_string(params["path"].as_str().unwrap()) {
                    Ok(content) => json!({"result": {"content": content}}),
                    Err(_) => json!({"error": {"code": -32002, "message": "Resource not found"}}),
                }
            }
            "fs/write_text_file" => {
                let (path, content) = (params["path"].as_str(), params["content"].as_str());
                std::fs::write(path.unwrap(), content.unwrap()).unwrap();
                json!({"result": {}})
            }
            "session/request_permission" => {
                let option = &params["options"][usize::from(!allow)]["optionId"];
                json!({"result": {"outcome": {"outcome": "selected", "optionId": option}}})
            }
            other => panic!("the demo asked for {other}"),
        };
        asked.push(method.to_string());
        let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
        answer.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
        agent.send(&answer);
    }
}

fn talk(agent: &mut Agent, session: &str, text: &str) -> String {
    agent.said.clear();
    let prompt = agent.prompt(session, text);
    serve(agent, prompt, true);
    agent.text()
}

#[test]
fn a_first_message_gets_the_tour_with_thinking_and_a_plan() {
    let place = Place::new();
    let mut agent = start(&place, &[]);
    let session = agent.session(&place.0);
    let answer = talk(&mut agent, &session, "so what is this");
    assert!(answer.starts_with("# Welcome to Liminal Builder"), "{answer}");
    assert!(!text_of(&agent.updates(), "agent_thought_chunk").is_empty());
    let plans: Vec<Value> =
        agent.updates().into_iter().filter(|update| update["sessionUpdate"] == "plan").collect();
    assert_eq!(plans.len(), 4);
    let last = plans[3]["entries"].as_array().unwrap();
    assert!(last.iter().all(|entry| entry["status"] == "completed"), "{last:?}");
}

#[test]
fn what_it_lists_and_reads_is_really_there() {
    let place = Place::new();
    std::fs::write(place.0.join("README.md"), "# A title\n\nSome words.\n\n## A part\n").unwrap();
    let mut agent = start(&place, &[]);
    let session = agent.session(&place.0);
    let answer = talk(&mut agent, &session, "list the files");
    assert!(answer.contains("`read README.md`"), "{answer}");
    let answer = talk(&mut agent, &session, "read README.md");
    assert!(answer.contains("**5 lines**"), "{answer}");
    assert!(answer.contains("- A title\n- A part\n"), "{answer}");
    let answer = talk(&mut agent, &session, "read nothing.md");
    assert!(answer.contains("couldn't read `nothing.md`"), "{answer}");
    let answer = talk(&mut agent, &session, "make a plan");
    assert!(answer.contains("| `md` | 1 | 5 |"), "{answer}");
}

#[test]
fn it_writes_and_runs_only_when_it_may() {
    let place = Place::new();
    let mut agent = start(&place, &[]);
    let session = agent.session(&place.0);
    let note = place.0.join("liminal-demo.md");

    let prompt = agent.prompt(&session, "edit a file");
    assert_eq!(serve(&mut agent, prompt, false), ["session/request_permission"]);
    assert!(!note.exists());
    let prompt = agent.prompt(&session, "edit a file");
    let asked = serve(&mut agent, prompt, true);
    assert_eq!(asked, ["session/request_permission", "fs/write_text_file"]);
    assert!(note.exists());

    agent.said.clear();
    let prompt = agent.prompt(&session, "run echo $((6 * 7)) > made");
    serve(&mut agent, prompt, false);
    assert!(!place.0.join("made").exists());
    let prompt = agent.prompt(&session, "run echo $((6 * 7)) > made; echo told");
    serve(&mut agent, prompt, true);
    assert_eq!(std::fs::read_to_string(place.0.join("made")).unwrap(), "42\n");
    let told = agent
        .updates()
        .iter()
        .any(|update| update["_meta"]["terminal_output_delta"]["data"].as_str() == Some("told\n"));
    assert!(told, "{:#?}", agent.updates());
}

#[test]
fn every_wish_ends_as_it_says() {
    let place = Place::new();
    let mut agent = start(&place, &[]);
    let session = agent.session(&place.0);
    for wish in ["think hard", "a long answer", "show a diff", "colours", "a picture", "ask me"] {
        assert!(talk(&mut agent, &session, wish).len() > 50, "{wish}");
    }
    let prompt = agent.prompt(&session, "fail");
    assert_eq!(agent.answer(prompt)["error"]["code"], -32603);
    let prompt = agent.prompt(&session, "wait");
    agent.until(|message| {
        let text = message["params"]["update"]["content"]["text"].as_str();
        text.is_some_and(|text| text.contains("enough"))
    });
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    );
    assert_eq!(agent.answer(prompt)["result"]["stopReason"], "cancelled");
    let prompt = agent.prompt(&session, "remind me");
    agent.answer(prompt);
    agent.until(|message| {
        message["params"]["update"]["content"]["text"]
            .as_str()
            .is_some_and(|text| text == "message.")
    });
    agent.prompt(&session, "crash");
    let (_, status, stderr) = agent.wait();
    assert_eq!(status.code(), Some(1));
    assert!(stderr.starts_with("demo: crashed because the user asked for it"), "{stderr}");
}

#[test]
fn a_conversation_is_taken_up_after_a_crash() {
    let place = Place::new();
    let mut agent = start(&place, &[]);
    let session = agent.session(&place.0);
    talk(&mut agent, &session, "think hard");
    agent.prompt(&session, "crash");
    agent.wait();

    let mut agent = start(&place, &[]);
    agent.call("initialize", json!({"protocolVersion": 1}));
    let place_of = json!({"sessionId": session, "cwd": place.0, "mcpServers": []});
    let resumed = agent.call("session/resume", place_of.clone());
    assert!(resumed["result"]["configOptions"].is_array(), "{resumed}");
    let loaded = agent.call("session/load", place_of);
    assert!(loaded.get("error").is_none(), "{loaded}");
    assert_eq!(text_of(&agent.updates(), "user_message_chunk"), "think hardcrash");
    assert!(agent.text().ends_with("I'll be back."), "{}", agent.text());
    let later = talk(&mut agent, &session, "nonsense");
    assert!(later.starts_with("> nonsense"), "{later}");
}
