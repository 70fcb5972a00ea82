//! The life of agents as a page sees it: started, shared, lost, restarted, distinguished.

use std::path::Path;

use liminal_contract::{
    AgentStatus, Body, CliType, ClientMessage, ErrorCode, ItemStatus, ServerMessage, SessionId,
    TurnEventKind, TurnStatus, UpsertObject,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Browser, Launch, are_gone, descendants, executable};

fn echo() -> ScriptBuilder {
    script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
}

/// The next status of this agent that the page receives.
async fn sees_status(browser: &mut Browser, agent: &str) -> AgentStatus {
    let found = |frame: &Value| {
        (frame["type"] == "agent:status" && frame["cliType"] == agent)
            .then(|| serde_json::from_value(frame["status"].clone()).unwrap())
    };
    browser.sees(&format!("a status of {agent}"), found).await
}

async fn reconnects(browser: &mut Browser, agent: &str) -> ServerMessage {
    let cli_type = CliType::parse(agent).unwrap();
    browser.ask(ClientMessage::SessionReconnect { cli_type, session_id: None }).await
}

#[tokio::test]
async fn the_first_session_starts_the_agent_and_the_next_ones_share_it() {
    let app = Launch::new().agent(echo()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    assert_eq!(descendants(app.pid()), [0; 0], "nothing runs before it is needed");

    browser.creates_session(&project, "scripted").await;
    assert_eq!(sees_status(&mut browser, "scripted").await, AgentStatus::Starting);
    assert_eq!(sees_status(&mut browser, "scripted").await, AgentStatus::Connected);
    let processes = descendants(app.pid());
    assert!(!processes.is_empty());

    browser.creates_session(&project, "scripted").await;
    assert_eq!(descendants(app.pid()), processes);
}

#[tokio::test]
async fn the_agent_outlives_the_page() {
    let (app, browser, session) = App::with_session(echo()).await;
    let processes = descendants(app.pid());
    browser.leaves().await;

    // A later page gets the agents' status at once, and finds the same process.
    let mut browser = app.browser().await;
    assert_eq!(sees_status(&mut browser, "scripted").await, AgentStatus::Connected);
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "still there?").await;
    assert!(matches!(browser.sees_end(&turn).await, TurnEventKind::TurnComplete { .. }));
    assert_eq!(descendants(app.pid()), processes);
}

#[tokio::test]
async fn a_crashed_agent_is_told_and_comes_back_by_itself() {
    let (_app, mut browser, session) =
        App::with_session(script().on_prompt("die").crash(1, "gone").on_any_prompt().say("back"))
            .await;
    let turn = browser.says_to(&session, "die").await;
    browser.sees_end(&turn).await;
    for expected in [
        AgentStatus::Starting,
        AgentStatus::Connected,
        AgentStatus::Disconnected,
        AgentStatus::Reconnecting,
    ] {
        assert_eq!(sees_status(&mut browser, "scripted").await, expected);
    }
    while sees_status(&mut browser, "scripted").await != AgentStatus::Connected {}
    let turn = browser.says_to(&session, "again").await;
    assert!(matches!(browser.sees_end(&turn).await, TurnEventKind::TurnComplete { .. }));
}

#[tokio::test]
async fn the_user_reconnects_an_agent_that_could_not_be_started() {
    let launch = Launch::new();
    let program = launch.home().join("an-agent");
    let agents = json!({"agents": [{"id": "late", "name": "Late", "command": program}]});
    let app = launch.file("agents.json", &agents.to_string()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    browser.tries_to_create(&project, "late").await;
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Starting);
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Disconnected);

    let still_missing = reconnects(&mut browser, "late").await;
    let ServerMessage::Error { code, message, .. } = still_missing else {
        panic!("{still_missing:?}")
    };
    assert_eq!(code, ErrorCode::AgentUnavailable);
    assert_eq!(message, "Could not start Late. Check that it's installed.");
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Reconnecting);
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Disconnected);

    let wrapper = format!("#!/bin/sh\nexec {} demo-agent\n", env!("CARGO_BIN_EXE_liminal"));
    executable(&program, &wrapper);
    assert!(matches!(reconnects(&mut browser, "late").await, ServerMessage::Ok {}));
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Reconnecting);
    assert_eq!(sees_status(&mut browser, "late").await, AgentStatus::Connected);
    browser.creates_session(&project, "late").await;
}

#[tokio::test]
async fn an_agent_that_makes_no_handshake_is_told_and_leaves_nothing() {
    let app = Launch::new().agent(script().crash(4, "no configuration found")).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let refused = browser.tries_to_create(&project, "scripted").await;
    let ServerMessage::Error { code, message, details, .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(code, ErrorCode::AgentUnavailable);
    assert!(message.starts_with("Could not connect to The scripted agent."), "{message}");
    assert!(details.unwrap().stderr_tail.unwrap().contains("no configuration found"));
    assert!(browser.sessions(&project).await.is_empty());
    are_gone(&descendants(app.pid())).await;
}

#[tokio::test]
async fn what_the_agent_refuses_and_fails_at_is_told_in_its_words() {
    let app = Launch::new()
        .agents(&[
            ("refuses", script().refuse_new(-32603, "Quota exceeded")),
            ("fails", script().on_any_prompt().fail(-32603, "The model is overloaded")),
        ])
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let refused = browser.tries_to_create(&project, "refuses").await;
    let ServerMessage::Error { code, message, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::SessionCreateFailed);
    assert_eq!(message, "Could not create session. Quota exceeded");

    let session = browser.creates_session(&project, "fails").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "go").await;
    let TurnEventKind::TurnError { error_code, error_message, .. } = browser.sees_end(&turn).await
    else {
        panic!("it did not fail")
    };
    assert_eq!(error_code, ErrorCode::AgentProtocolError);
    assert_eq!(error_message, "The model is overloaded");
}

/// A growing message, a tool with its result, and an end, as the page receives them.
async fn answers_with_a_tool(browser: &mut Browser, session: &SessionId, go_on: &Path) {
    browser.opens(session).await;
    let turn = browser.says_to(session, "look").await;
    browser.sees_text(session, "I look ").await;
    let shown = |complete: bool| {
        move |item: &UpsertObject| match &item.body {
            Body::ToolCall { call_id, tool_output, tool_name, .. }
                if (item.status == ItemStatus::Complete) == complete =>
            {
                assert!(!tool_name.is_empty());
                assert!(
                    complete || item.status == ItemStatus::Create,
                    "the first is the invocation"
                );
                Some((item.item_id.clone(), call_id.clone(), tool_output.clone()))
            }
            _ => None,
        }
    };
    let begun = browser.sees_item(session, "tool_call", shown(false)).await;
    std::fs::write(go_on, "").unwrap();
    let ended = browser.sees_item(session, "tool_call", shown(true)).await;
    assert_eq!((&begun.0, &begun.1), (&ended.0, &ended.1));
    assert_eq!(ended.2.as_deref().map(str::trim_end), Some("a.txt"));
    browser.sees_text(session, "There is one file.").await;
    let end = browser.sees_end(&turn).await;
    assert!(matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Completed, .. }));
}

#[tokio::test]
async fn claude_and_an_acp_agent_look_the_same_to_a_page() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = |agent: &str| gate.path().join(agent);
    let plays = |agent: &str| {
        script()
            .on_any_prompt()
            .say("I look ")
            .say("around.")
            .command("c", "ls")
            .wait_for_file(go_on(agent).to_string_lossy())
            .tool_done("c", "a.txt\n")
            .say("There is one file.")
            .stop("end_turn")
    };
    let app = Launch::new().agent(plays("scripted")).claude(plays("claude-code")).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let mut told = Vec::new();
    for agent in ["claude-code", "scripted"] {
        let session = browser.creates_session(&project, agent).await;
        assert_eq!(session.cli_type().as_str(), agent);
        answers_with_a_tool(&mut browser, &session, &go_on(agent)).await;
        told.push(session);
    }

    // The transcript is there after a restart, with no agent running.
    let app = app.restart().await;
    let mut browser = app.browser().await;
    for session in &told {
        let history = browser.opens(session).await;
        assert_eq!(history.texts(), ["look", "I look around.", "There is one file."]);
    }
    assert_eq!(descendants(app.pid()), [0; 0]);
}

#[tokio::test]
async fn an_agent_with_a_process_per_session_is_connected_while_one_of_them_runs() {
    let app = Launch::new().claude(echo()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let status = async |browser: &mut Browser| {
        let ServerMessage::AgentsList { agents } = browser.ask(ClientMessage::AgentsList {}).await
        else {
            panic!("no list")
        };
        agents.into_iter().find(|agent| agent.cli_type.as_str() == "claude-code").unwrap().status
    };
    assert_eq!(status(&mut browser).await, AgentStatus::Idle);
    let session = browser.creates_session(&project, "claude-code").await;
    browser.creates_session(&project, "claude-code").await;
    assert_eq!(status(&mut browser).await, AgentStatus::Connected);
    app.post(&format!("/api/session/{session}/kill"), &serde_json::json!({})).await;
    assert_eq!(status(&mut browser).await, AgentStatus::Connected);
}

#[tokio::test]
async fn an_acp_agent_may_have_a_process_per_session() {
    let launch = Launch::new().agent(echo()).processes_per_session("scripted");
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let one = browser.creates_session(&project, "scripted").await;
    let two = browser.creates_session(&project, "scripted").await;
    for session in [one, two] {
        let turn = browser.says_to(&session, "hello").await;
        browser.sees_end(&turn).await;
    }
    assert_eq!(app.agents("scripted").len(), 2);
}

#[tokio::test]
async fn a_conversation_travels_as_history_upserts_and_turns_and_nothing_else() {
    let (_app, mut browser, session) = App::with_session(
        script().on_any_prompt().think("Hm.").say("One ").say("two.").stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_end(&turn).await;
    browser.opens(&session).await;
    let mut kinds: Vec<&str> = browser
        .everything_seen()
        .filter(|frame| frame["sessionId"] == session.as_str())
        .filter_map(|frame| frame["type"].as_str())
        // What the agent can do; before or after the opening.
        .filter(|kind| *kind != "session:facts")
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "session:accepted",
            "session:created",
            "session:history",
            "session:state",
            "session:title-updated",
            "session:turn",
            "session:upsert",
        ]
    );
    let turns = browser
        .everything_seen()
        .filter(|frame| frame["type"] == "session:upsert" || frame["type"] == "session:turn")
        .map(|frame| frame["payload"]["turnId"].as_str().unwrap());
    assert!(turns.into_iter().all(|known| known == turn.as_str()));
}

#[tokio::test]
async fn a_session_the_journal_never_saw_is_read_from_its_agent() {
    let app = Launch::new().agent(echo()).claude(echo()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let mut sessions = Vec::new();
    for agent in ["claude-code", "scripted"] {
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        let turn = browser.says_to(&session, "remember me").await;
        browser.sees_end(&turn).await;
        sessions.push(session);
    }
    let launch = app.launch().clone();
    app.stop().await;
    for file in std::fs::read_dir(launch.data_dir()).unwrap() {
        let file = file.unwrap().path();
        if file.file_name().unwrap().to_string_lossy().contains(".db") {
            std::fs::remove_file(file).unwrap();
        }
    }

    let app = launch.start().await;
    let mut browser = app.browser().await;
    for session in &sessions {
        let texts = browser.opens(session).await.texts();
        assert_eq!(texts, ["remember me", "You said: remember me"]);
    }
}
