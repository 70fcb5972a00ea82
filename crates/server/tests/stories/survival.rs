//! After the worst crash, nothing that was shown is lost.

use liminal_contract::{ServerMessage, SessionState, TurnEventKind, TurnOutcome, TurnStatus};
use liminal_scripted_agent::{Steps, act, script};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{App, Launch};

#[tokio::test]
async fn whatever_a_browser_has_seen_is_there_after_the_server_was_killed() {
    let mut app = Launch::new()
        .agent(script().on_any_prompt().repeat(2000, act().say("word ").pause(1)).stop("end_turn"))
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    // Any moment will do, and these are spread over the first tenths of a second of an answer.
    for n in 0..100_usize {
        let mut browser = app.browser().await;
        browser.opens(&session).await;
        let turn = browser.says_to(&session, &format!("go {n}")).await;
        let updates = 1 + (n * 7) % 12;
        let mut seen = String::new();
        for _ in 0..updates {
            seen = browser
                .sees("an update", |frame| {
                    let payload = &frame["payload"];
                    let is_it = frame["type"] == "session:upsert"
                        && payload["turnId"] == turn.as_str()
                        && payload["origin"] == "agent";
                    is_it.then(|| payload["content"].as_str().unwrap().to_owned())
                })
                .await;
        }
        app = app.crash_and_restart().await;
        let mut browser = app.browser().await;
        let history = browser.opens(&session).await;
        let kept = history.texts().pop().unwrap();
        assert!(kept.starts_with(&seen), "{seen:?} was seen, {kept:?} is left");
        let row = history.turns.iter().find(|row| row.turn_id == turn).unwrap();
        assert_eq!(row.outcome, Some(TurnOutcome::Interrupted));
        assert!(history.texts().contains(&format!("go {n}")));
    }
}

#[tokio::test]
async fn a_session_goes_on_with_its_agent_after_a_restart() {
    let (app, mut browser, session) = App::with_session(
        script()
            .on_prompt("first")
            .say("half an ans")
            .wait_for_cancel()
            .stop("cancelled")
            .on_prompt("second")
            .say("a whole one")
            .stop("end_turn"),
    )
    .await;
    browser.says_to(&session, "first").await;
    browser.sees_text(&session, "half an ans").await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let project = browser.projects().await.remove(0);
    assert_eq!(browser.sessions(&project).await[0].state, SessionState::Interrupted);
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["first", "half an ans"]);
    assert_eq!(history.turns[0].outcome, Some(TurnOutcome::Interrupted));
    let turn = browser.says_to(&session, "second").await;
    let end = browser.sees_end(&turn).await;
    assert!(matches!(end, TurnEventKind::TurnComplete { .. }), "{end:?}");
    assert_eq!(
        browser.opens(&session).await.texts(),
        ["first", "half an ans", "second", "a whole one"]
    );
    assert_eq!(browser.sessions(&project).await[0].state, SessionState::Idle);
}

#[tokio::test]
async fn closing_the_page_in_the_middle_of_an_answer_changes_nothing() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let (app, mut browser, session) = App::with_session(
        script()
            .on_prompt("talk")
            .say("before ")
            .wait_for_file(go_on.to_string_lossy())
            .say("after")
            .stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "talk").await;
    browser.sees_text(&session, "before ").await;
    browser.leaves().await;
    std::fs::write(&go_on, "").unwrap();
    let mut browser = app.browser().await;
    let history = browser.opens(&session).await;
    if history.turns[0].outcome.is_none() {
        browser.sees_end(&turn).await;
    }
    assert_eq!(browser.opens(&session).await.texts(), ["talk", "before after"]);
}

#[tokio::test]
async fn a_silent_agent_is_remarked_on_and_nothing_is_killed() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let app = Launch::new()
        .variable("ACP_PROMPT_TIMEOUT_MS", "200")
        .agent(
            script()
                .on_prompt("think")
                .wait_for_file(go_on.to_string_lossy())
                .say("42")
                .stop("end_turn"),
        )
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "think").await;
    browser
        .sees_item(&session, "notice", |item| {
            (item.status == liminal_contract::ItemStatus::Create).then_some(())
        })
        .await;
    std::fs::write(&go_on, "").unwrap();
    browser.sees_text(&session, "42").await;
    browser
        .sees_item(&session, "notice", |item| {
            (item.status == liminal_contract::ItemStatus::Complete).then_some(())
        })
        .await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn one_agent_down_leaves_the_sessions_of_another_alone() {
    let app = Launch::new()
        .agents(&[
            ("dies", script().on_any_prompt().crash(1, "no")),
            ("lives", script().on_any_prompt().say("alive").stop("end_turn")),
        ])
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let dies = browser.creates_session(&project, "dies").await;
    let lives = browser.creates_session(&project, "lives").await;
    browser.opens(&dies).await;
    browser.opens(&lives).await;
    let crashed = browser.says_to(&dies, "x").await;
    let answered = browser.says_to(&lives, "x").await;
    assert!(matches!(browser.sees_end(&crashed).await, TurnEventKind::TurnError { .. }));
    assert!(matches!(browser.sees_end(&answered).await, TurnEventKind::TurnComplete { .. }));
    let status = |frame: &Value| {
        (frame["type"] == "agent:status"
            && frame["cliType"] == "dies"
            && frame["status"] == "reconnecting")
            .then_some(())
    };
    browser.sees("that it is started again", status).await;
    assert!(matches!(
        browser.ask(liminal_contract::ClientMessage::AgentsList {}).await,
        ServerMessage::AgentsList { .. }
    ));
}

#[tokio::test]
async fn nothing_of_an_agent_is_left_after_a_stop() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("…").hang()).await;
    browser.says_to(&session, "x").await;
    browser.sees_text(&session, "…").await;
    let server = app.pid();
    let children = crate::support::descendants(server);
    assert!(!children.is_empty());
    app.signal(Signal::TERM);
    app.ended().await;
    crate::support::are_gone(&children).await;
}

#[tokio::test]
async fn a_session_its_agent_has_forgotten_starts_anew_under_its_own_id() {
    // Without a directory for histories the agent forgets everything when it ends.
    let app = Launch::new()
        .forgetful_agent(script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn"))
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let never_used = browser.creates_session(&project, "scripted").await;
    let used = browser.creates_session(&project, "scripted").await;
    browser.opens(&used).await;
    let turn = browser.says_to(&used, "one").await;
    browser.sees_end(&turn).await;

    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&never_used).await;
    let turn = browser.says_to(&never_used, "first").await;
    assert!(matches!(browser.sees_end(&turn).await, TurnEventKind::TurnComplete { .. }));
    let history = browser.opens(&never_used).await;
    assert_eq!(history.texts(), ["first", "You said: first"]);
    assert_eq!(history.entries.len(), 2, "nothing was lost, so there is no notice");

    browser.opens(&used).await;
    let turn = browser.says_to(&used, "two").await;
    browser.sees_item(&used, "notice", |_| Some(())).await;
    assert!(matches!(browser.sees_end(&turn).await, TurnEventKind::TurnComplete { .. }));
    let texts = browser.opens(&used).await.texts();
    assert_eq!(texts, ["one", "You said: one", "two", "You said: two"]);
    let turn = browser.says_to(&used, "three").await;
    assert!(matches!(browser.sees_end(&turn).await, TurnEventKind::TurnComplete { .. }));
}

#[tokio::test]
async fn a_stop_need_not_wait_for_an_agent_that_is_still_starting() {
    let gate = tempfile::tempdir().unwrap();
    let may_start = gate.path().join("may-start");
    std::fs::write(&may_start, "").unwrap();
    let (_app, mut browser, session) = App::with_session(
        script()
            .wait_for_file(may_start.to_string_lossy())
            .on_prompt("crash")
            .crash(1, "gone")
            .on_any_prompt()
            .say("here again"),
    )
    .await;
    std::fs::remove_file(&may_start).unwrap();
    let crashed = browser.says_to(&session, "crash").await;
    browser.sees_end(&crashed).await;

    let waiting = browser.says_to(&session, "never mind").await;
    browser.cancels(&session).await;
    let end = browser.sees_end(&waiting).await;
    assert!(matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. }));

    std::fs::write(&may_start, "").unwrap();
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    assert_eq!(
        browser.opens(&session).await.texts(),
        ["crash", "never mind", "hello", "here again"]
    );
}

#[tokio::test]
async fn a_message_that_was_on_disk_but_not_with_the_agent_is_interrupted_and_never_sent_by_itself()
{
    let gate = tempfile::tempdir().unwrap();
    let may_start = gate.path().join("may-start");
    std::fs::write(&may_start, "").unwrap();
    let (app, mut browser, session) = App::with_session(
        script()
            .wait_for_file(may_start.to_string_lossy())
            .on_prompt("crash")
            .crash(1, "gone")
            .on_any_prompt()
            .say("Heard: ")
            .say_prompt()
            .stop("end_turn"),
    )
    .await;
    std::fs::remove_file(&may_start).unwrap();
    let crashed = browser.says_to(&session, "crash").await;
    browser.sees_end(&crashed).await;

    // The agent can't start, so what is accepted now is on disk and nowhere else.
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c";
    let accepted = browser.says_as(request, &session, "lost on the way").await;
    let ServerMessage::SessionAccepted { turn_id, .. } = &accepted else { panic!("{accepted:?}") };
    let app = app.crash_and_restart().await;
    std::fs::write(&may_start, "").unwrap();
    let mut browser = app.browser().await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["crash", "lost on the way"]);
    let turn = history.turns.iter().find(|turn| turn.turn_id == *turn_id).unwrap();
    assert_eq!(turn.outcome, Some(TurnOutcome::Interrupted));

    assert_eq!(browser.says_as(request, &session, "lost on the way").await, accepted);
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts, ["crash", "lost on the way", "hello", "Heard: hello"]);
}
