//! The ACP face over its pipes.

use crate::support::{Agent, Place, text_of};
use liminal_scripted_agent::{Replay, SessionMode, Steps, act, answered, script};
use serde_json::json;

#[test]
fn a_prompt_is_answered_in_the_scripts_chunks() {
    let place = Place::new();
    let script = script().on_prompt("hi").say("Hello ").say("you.");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "hi");
    let answer = agent.answer(prompt);

    let chunk = |text: &str| {
        json!({
            "sessionUpdate": "agent_message_chunk", "messageId": "msg-1-1",
            "content": {"type": "text", "text": text},
        })
    };
    assert_eq!(agent.updates(), [chunk("Hello "), chunk("you.")]);
    assert_eq!(
        answer["result"],
        json!({"stopReason": "end_turn", "usage": {"totalTokens": 4, "inputTokens": 1, "outputTokens": 3}})
    );
    let (rest, status, stderr) = agent.end();
    assert_eq!((rest, status.code(), stderr.as_str()), (vec![], Some(0), ""));
}

#[test]
fn a_cancel_reaches_what_stands_behind_wait_for_cancel() {
    let place = Place::new();
    let script =
        script().on_prompt("count").say("one ").say("two ").wait_for_cancel().stop("cancelled");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "count");
    agent.until(|message| message["params"]["update"]["content"]["text"] == "two ");
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    );

    assert_eq!(agent.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_eq!(agent.text(), "one two ");
}

#[test]
fn a_permission_branches_on_its_answer() {
    let place = Place::new();
    let script = script().on_any_prompt().command("c", "make it").ask(
        "c",
        answered("allow", act().run("c", "echo made; echo oops >&2; exit 3").say("made it"))
            .or(act().say("then not")),
    );
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    for (option, text) in [("allow", "made it"), ("reject", "then not")] {
        agent.said.clear();
        let prompt = agent.prompt(&session, "go");
        let ask = agent.asked("session/request_permission");
        assert_eq!(ask["params"]["toolCall"]["title"], "make it");
        assert_eq!(
            ask["params"]["options"][0],
            json!({"optionId": "allow", "name": "Allow", "kind": "allow_once"})
        );
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        agent.send(&json!({"jsonrpc": "2.0", "id": ask["id"], "result": outcome}));
        agent.answer(prompt);
        assert_eq!(agent.text(), text);
    }
}

#[test]
fn a_cancelled_permission_ends_the_turn_and_closes_the_call() {
    let place = Place::new();
    let script = script()
        .on_any_prompt()
        .command("c", "make it")
        .ask("c", answered("allow", act().say("never")))
        .say("never either");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "go");
    let ask = agent.asked("session/request_permission");
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    );
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    agent.send(&json!({"jsonrpc": "2.0", "id": ask["id"], "result": outcome}));

    assert_eq!(agent.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_eq!(
        agent.updates().last(),
        Some(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}))
    );
}

#[test]
fn a_crash_says_its_last_words_and_its_code() {
    let place = Place::new();
    let script = script().on_prompt("die").say("I ").crash(7, "out of luck");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    agent.prompt(&session, "die");
    let (rest, status, stderr) = agent.wait();
    assert_eq!(rest.len(), 1);
    assert_eq!((status.code(), stderr.as_str()), (Some(7), "out of luck\n"));
}

#[test]
fn load_tells_the_history_also_after_a_restart() {
    let place = Place::new();
    let tale = || {
        script()
            .about(|about| about.terminal_meta = true)
            .on_prompt("hi")
            .think("hm")
            .say("Hel")
            .say("lo")
            .command("c", "ls")
            .tool_output("c", "a\n")
            .tool_output("c", "b\n")
            .tool_done("c", "")
            .title("Greeting")
    };
    let history = place.path("history");
    let mut agent = Agent::start("acp", tale(), &place, &["--history", &history]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "hi");
    agent.answer(prompt);
    agent.end();

    let mut agent = Agent::start("acp", tale(), &place, &["--history", &history]);
    agent.call("initialize", json!({"protocolVersion": 1}));
    let loaded =
        agent.call("session/load", json!({"sessionId": session, "cwd": place.0, "mcpServers": []}));
    assert_eq!(loaded["result"], json!({}));
    let updates = agent.updates();
    assert_eq!(updates[0], json!({"sessionUpdate": "session_info_update", "title": "Greeting"}));
    assert_eq!(text_of(&updates, "user_message_chunk"), "hi");
    assert_eq!(text_of(&updates, "agent_thought_chunk"), "hm");
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Hello");
    assert_eq!(updates[4]["status"], "completed");
    assert_eq!(
        updates[5]["_meta"]["terminal_output_delta"],
        json!({"data": "a\nb\n", "terminal_id": "c"})
    );

    let unknown = agent
        .call("session/load", json!({"sessionId": "nobody", "cwd": place.0, "mcpServers": []}));
    assert_eq!(unknown["error"]["code"], -32002);
}

#[test]
fn replay_can_come_after_the_answer() {
    let place = Place::new();
    let past = json!({
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "long ago"},
    });
    let script = script()
        .about(|about| about.load = Replay::AfterAnswer)
        .knows_session("old", vec![past.clone()]);
    let mut agent = Agent::start("acp", script, &place, &[]);
    agent.call("initialize", json!({"protocolVersion": 1}));
    agent.call("session/load", json!({"sessionId": "old", "cwd": place.0, "mcpServers": []}));
    assert_eq!(agent.updates(), Vec::<serde_json::Value>::new());
    agent.next();
    assert_eq!(agent.updates(), [past]);
}

#[test]
fn modes_close_and_unknown_methods_are_answered() {
    let place = Place::new();
    let mode = |id: &str| SessionMode { id: id.into(), name: id.to_uppercase() };
    let script = script().about(|about| about.modes = vec![mode("auto"), mode("ask")]);
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let here = json!({"sessionId": session, "modeId": "ask"});
    assert_eq!(agent.call("session/set_mode", here)["result"], json!({}));
    let place_of = json!({"sessionId": session, "cwd": place.0, "mcpServers": []});
    agent.call("session/close", json!({"sessionId": session}));
    assert_eq!(agent.call("session/resume", place_of)["result"]["modes"]["currentModeId"], "auto");
    assert_eq!(agent.call("session/dance", json!({}))["error"]["code"], -32601);
    assert_eq!(agent.call("session/new", json!({"mcpServers": []}))["error"]["code"], -32602);
}

#[test]
fn a_file_holds_the_agent_and_lets_it_go() {
    let place = Place::new();
    let script = script().on_any_prompt().say("before ").wait_for_file("go").say("after");
    let mut agent = Agent::start("acp", script, &place, &[]);
    let session = agent.session(&place.0);
    let prompt = agent.prompt(&session, "x");
    agent.until(|message| message["params"]["update"]["content"]["text"] == "before ");
    place.make("go");
    agent.answer(prompt);
    assert_eq!(agent.text(), "before after");
}
