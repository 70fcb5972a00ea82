//! The life of agents: started when needed, stopped when idle, restarted after a crash.

use liminal_contract::{
    ClientMessage, ErrorCode, ServerMessage, TurnEventKind, TurnOutcome, TurnStatus,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Launch, are_gone, descendants, in_time};

fn completed(end: &TurnEventKind) -> bool {
    matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Completed, .. })
}

fn answers() -> ScriptBuilder {
    script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
}

#[tokio::test]
async fn an_agent_with_nothing_to_do_is_stopped_and_the_next_message_resumes_it() {
    for agent in ["scripted", "claude-code"] {
        let launch = Launch::new().variable("LIMINAL_IDLE_MS", "300");
        let may_end = launch.home().join("may-end");
        let waits = || {
            let first = script().on_prompt("one").say("You said: ").say_prompt();
            let first = first.wait_for_file(may_end.to_string_lossy()).stop("end_turn");
            first.on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
        };
        let app = launch.agent(waits()).claude(waits()).start().await;
        let mut browser = app.browser().await;
        let project = browser.adds_project(&app.directory("project")).await;
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        let turn = browser.says_to(&session, "one").await;
        browser.sees_text(&session, "You said: one").await;
        let processes = descendants(app.pid());
        assert!(!processes.is_empty());
        std::fs::write(&may_end, "").unwrap();
        assert!(completed(&browser.sees_end(&turn).await));
        browser.sees_status(agent, "connected").await;
        browser.sees_status(agent, "idle").await;
        are_gone(&processes).await;

        let turn = browser.says_to(&session, "two").await;
        assert!(completed(&browser.sees_end(&turn).await));
        let texts = browser.opens(&session).await.texts();
        assert_eq!(texts, ["one", "You said: one", "two", "You said: two"]);
    }
}

#[tokio::test]
async fn a_session_that_nobody_used_for_long_is_let_go_and_the_next_message_goes_on_with_it() {
    for agent in ["scripted", "claude-code"] {
        // Longer than a busy machine may take between the start of a process and its first turn.
        let launch = Launch::new().variable("LIMINAL_IDLE_MS", "500");
        let app = launch.agent(answers()).claude(answers()).start().await;
        let mut browser = app.browser().await;
        let project = browser.adds_project(&app.directory("project")).await;
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        let mut expected = Vec::new();
        for words in ["one", "two"] {
            let turn = browser.says_to(&session, words).await;
            assert!(completed(&browser.sees_end(&turn).await));
            expected.extend([words.to_owned(), format!("You said: {words}")]);
            let session_id = session.clone();
            browser.ask(ClientMessage::SessionClose { session_id }).await;
            // A session without a task is not attached.
            let attached = format!("/api/session/list?projectId={}", project.id);
            let rests = async { while app.get(&attached).await.json()["sessions"] != json!([]) {} };
            in_time(rests).await.unwrap();
        }
        assert_eq!(browser.opens(&session).await.texts(), expected);
    }
}

#[tokio::test]
async fn an_agent_that_crashes_again_and_again_is_given_up_until_the_user_reconnects() {
    let place = tempfile::tempdir().unwrap();
    let mended = place.path().join("mended");
    // Until it is repaired, the program dies at its first request.
    let agent = script().on_any_prompt().say("alive").stop("end_turn");
    let launch = Launch::new()
        .variable("LIMINAL_RETRY_MS", "1")
        .agents(&[("breaks", agent), ("lives", answers())])
        .breaking("breaks", &mended);
    std::fs::write(&mended, "").unwrap();
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "breaks").await;
    let other = browser.creates_session(&project, "lives").await;
    browser.opens(&session).await;
    browser.opens(&other).await;
    browser.sees_status("breaks", "connected").await;

    std::fs::remove_file(&mended).unwrap();
    app.kill_agent("breaks");
    browser.sees_status("breaks", "disconnected").await;
    for attempt in 1..=5 {
        let waits = browser
            .sees("the next try", |frame| {
                (frame["cliType"] == "breaks" && frame["retryAt"].is_string())
                    .then(|| frame.clone())
            })
            .await;
        assert_eq!(
            (&waits["status"], &waits["attempt"]),
            (&"reconnecting".into(), &attempt.into())
        );
    }
    browser.sees_status("breaks", "disconnected").await;
    let turn = browser.says_to(&session, "hello").await;
    let TurnEventKind::TurnError { error_code, error_message, .. } = browser.sees_end(&turn).await
    else {
        panic!("not an error")
    };
    assert_eq!(error_code, ErrorCode::AgentUnavailable);
    assert!(error_message.contains("Reconnect"), "{error_message}");
    let turn = browser.says_to(&other, "you").await;
    assert!(completed(&browser.sees_end(&turn).await), "one agent's crash doesn't affect another");

    std::fs::write(&mended, "").unwrap();
    assert!(matches!(browser.reconnects(&session).await, ServerMessage::Ok {}));
    browser.sees_status("breaks", "reconnecting").await;
    browser.sees_status("breaks", "connected").await;
    let never = |frame: &&Value| frame["cliType"] == "breaks" && frame["status"] == "starting";
    assert_eq!(
        browser.everything_seen().filter(never).count(),
        1,
        "only the first start is a start"
    );
    let turn = browser.says_to(&session, "hello").await;
    assert!(completed(&browser.sees_end(&turn).await));
}

#[tokio::test]
async fn a_crash_names_the_other_sessions_that_it_interrupted() {
    let script = script().on_prompt("Count sheep").say("one").hang().on_any_prompt().crash(9, "");
    let app = Launch::new().agent(script).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let one = browser.creates_session(&project, "scripted").await;
    let two = browser.creates_session(&project, "scripted").await;
    browser.opens(&one).await;
    browser.opens(&two).await;
    let counts = browser.says_to(&one, "Count sheep").await;
    browser.sees_text(&one, "one").await;
    let crashes = browser.says_to(&two, "Fall over").await;
    for (turn, other) in [(&crashes, "“Count sheep”"), (&counts, "“Fall over”")] {
        let TurnEventKind::TurnError { error_message, .. } = browser.sees_end(turn).await else {
            panic!("not an error")
        };
        assert!(error_message.contains(other), "{error_message}");
    }
}

#[tokio::test]
async fn whoever_connects_is_told_how_every_agent_is() {
    let app = Launch::new().agent(answers()).claude(answers()).start().await;
    let mut first = app.browser().await;
    let project = first.adds_project(&app.directory("project")).await;
    first.creates_session(&project, "scripted").await;
    let claude = first.creates_session(&project, "claude-code").await;
    first.sees_status("scripted", "connected").await;
    let mut second = app.browser().await;
    assert_eq!(second.sees_status("scripted", "connected").await["sessionId"], Value::Null);
    // Claude Code has one process per session.
    let status = second.sees_status("claude-code", "connected").await;
    assert_eq!(status["sessionId"], claude.as_str());
}

#[tokio::test]
async fn a_restart_frees_a_claude_session_that_hangs_and_one_for_all_starts_those_that_crashed() {
    let script = script()
        .on_prompt("hang")
        .say("Wait")
        .hang()
        .on_prompt("crash")
        .crash(9, "gone")
        .on_any_prompt()
        .say_prompt();
    let app = Launch::new().claude(script).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let hung = browser.says_to(&session, "hang").await;
    browser.sees_text(&session, "Wait").await;
    assert!(matches!(browser.reconnects(&session).await, ServerMessage::Ok {}));
    assert!(matches!(browser.sees_end(&hung).await, TurnEventKind::TurnError { .. }));
    let turn = browser.says_to(&session, "hello").await;
    assert!(completed(&browser.sees_end(&turn).await));

    let crashed = browser.says_to(&session, "crash").await;
    assert!(matches!(browser.sees_end(&crashed).await, TurnEventKind::TurnError { .. }));
    browser.sees_status("claude-code", "disconnected").await;
    let (cli_type, session_id) = (session.cli_type(), None);
    let all = ClientMessage::SessionReconnect { cli_type, session_id };
    assert!(matches!(browser.ask(all).await, ServerMessage::Ok {}));
    browser.sees_status("claude-code", "connected").await;
}

#[tokio::test]
async fn a_reload_of_the_page_keeps_the_agents_running() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("…").wait_for_cancel().stop("cancelled"))
            .await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_text(&session, "…").await;
    let before = descendants(app.pid());
    browser.leaves().await;
    let mut browser = app.browser().await;
    let history = browser.opens(&session).await;
    assert_eq!(history.turns[0].outcome, None);
    assert_eq!(descendants(app.pid()), before);
    browser.cancels(&session).await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn a_stop_with_turns_running_keeps_their_words_and_ends_in_order() {
    let speaks = || script().on_any_prompt().say("half an ans").hang();
    let app = Launch::new().agent(speaks()).claude(speaks()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let mut sessions = Vec::new();
    for agent in ["scripted", "scripted", "claude-code"] {
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        browser.says_to(&session, "go").await;
        browser.sees_text(&session, "half an ans").await;
        sessions.push(session);
    }
    let processes = descendants(app.pid());
    let launch = app.launch().clone();
    let ended = app.stop().await;
    assert!(ended.status.success(), "{ended:?}");
    are_gone(&processes).await;

    let app = launch.start().await;
    let mut browser = app.browser().await;
    for session in &sessions {
        let history = browser.opens(session).await;
        assert_eq!(history.texts(), ["go", "half an ans"], "{session}");
        assert_eq!(history.turns[0].outcome, Some(TurnOutcome::Interrupted));
        assert_eq!(history.entries.len(), 2, "and no notice about it");
    }
}

#[tokio::test]
async fn a_failed_session_is_listed_as_failed_also_after_a_restart() {
    let agent = script().on_prompt("die").crash(1, "").on_prompt("live").stop("end_turn");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    browser.says_to(&session, "die").await;
    browser.sees_state(&session, "failed").await;

    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert_eq!(browser.sessions(&project).await[0].state, liminal_contract::SessionState::Failed);
    let turn = browser.says_to(&session, "live").await;
    browser.sees_state(&session, "idle").await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert_eq!(browser.sessions(&project).await[0].state, liminal_contract::SessionState::Idle);
    assert_eq!(browser.opens(&session).await.turns[1].turn_id, turn);
}

#[tokio::test]
async fn reconnecting_an_agent_that_is_not_there_says_what_to_do() {
    let agents = r#"{"agents":[{"id":"nowhere","name":"Nowhere","command":"no-such-program"}]}"#;
    let app = Launch::new().file("agents.json", agents).start().await;
    let mut browser = app.browser().await;
    let cli_type = liminal_contract::CliType::parse("nowhere").unwrap();
    let reconnect = ClientMessage::SessionReconnect { cli_type, session_id: None };
    let ServerMessage::Error { code, message, .. } = browser.ask(reconnect).await else {
        panic!("it was there")
    };
    assert_eq!(code, ErrorCode::AgentUnavailable);
    assert_eq!(message, "Could not start Nowhere. Check that it's installed.");
    browser.sees_status("nowhere", "disconnected").await;
}
