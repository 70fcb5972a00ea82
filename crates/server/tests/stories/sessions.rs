//! Sessions: created, used, left and reopened.

use liminal_contract::{
    Body, ClientMessage, ErrorCode, ServerMessage, SessionState, TurnEventKind, TurnOutcome,
    TurnStatus,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::{App, Launch};

fn completed(end: &TurnEventKind) -> bool {
    matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Completed, .. })
}

#[tokio::test]
async fn an_answer_streams_and_is_there_after_a_reload() {
    let (app, mut browser, session) = App::with_session(
        script().on_prompt("hello").say("Hello ").say("**you**.").stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_text(&session, "Hello **you**.").await;
    assert!(completed(&browser.sees_end(&turn).await));

    let mut other = app.browser().await;
    let history = other.opens(&session).await;
    assert_eq!(history.texts(), ["hello", "Hello **you**."]);
    assert!(history.entries.iter().all(|entry| entry.turn_id == turn));
    assert_eq!(history.turns[0].outcome, Some(TurnOutcome::Completed));
    let Body::Message { blocks, .. } = &history.entries[1].body else { panic!("not a message") };
    assert_eq!(blocks.iter().collect::<Vec<_>>(), ["<p>Hello <strong>you</strong>.</p>"]);
}

#[tokio::test]
async fn a_message_may_follow_a_greeting_at_once() {
    let greets =
        script().on_session().say("Welcome!").on_any_prompt().say("You said: ").say_prompt();
    let app = Launch::new().agent(greets).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    // Who creates a session follows it. If it were opened too, the greeting could be in its history.
    let session = browser.creates_session(&project, "scripted").await;
    browser.sees_text(&session, "Welcome!").await;
    let turn = browser.says_to(&session, "hello").await;
    assert!(completed(&browser.sees_end(&turn).await));
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["Welcome!", "hello", "You said: hello"]);
    assert!(history.turns.iter().all(|turn| turn.outcome == Some(TurnOutcome::Completed)));
}

#[tokio::test]
async fn stopping_an_answer_keeps_the_words_already_said() {
    let (_app, mut browser, session) = App::with_session(
        script().on_prompt("count").say("one ").say("two ").wait_for_cancel().stop("cancelled"),
    )
    .await;
    let turn = browser.says_to(&session, "count").await;
    browser.sees_text(&session, "one two ").await;
    browser.cancels(&session).await;
    let end = browser.sees_end(&turn).await;
    assert!(matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. }));
    assert_eq!(browser.opens(&session).await.texts(), ["count", "one two "]);
    assert!(matches!(browser.cancels(&session).await, ServerMessage::Ok {}));
}

#[tokio::test]
async fn a_crash_mid_answer_ends_the_turn_keeps_its_words_and_the_session_goes_on() {
    let (_app, mut browser, session) = App::with_session(
        script()
            .on_prompt("die")
            .say("last words")
            .crash(3, "the reason it died")
            .on_prompt("again")
            .say("I am back.")
            .stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "die").await;
    let TurnEventKind::TurnError { error_code, details, .. } = browser.sees_end(&turn).await else {
        panic!("not an error")
    };
    assert_eq!(error_code, ErrorCode::ProcessCrash);
    assert!(details.unwrap().stderr_tail.unwrap().contains("the reason it died"));

    let turn = browser.says_to(&session, "again").await;
    assert!(completed(&browser.sees_end(&turn).await));
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts, ["die", "last words", "again", "I am back."]);
}

#[tokio::test]
async fn ten_sessions_made_and_spoken_to_at_the_same_instant_answer_each_their_own() {
    let app = Launch::new()
        .agent(script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn"))
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let cli_type = liminal_contract::CliType::parse("scripted").unwrap();
    let mut asked = Vec::new();
    for _ in 0..10 {
        let create = ClientMessage::SessionCreate {
            project_id: project.id.clone(),
            cli_type: cli_type.clone(),
            content: None,
            attachments: Vec::new(),
            policy: None,
            workspace: None,
            options: Default::default(),
            confirmed: None,
        };
        asked.push(browser.send(create).await);
    }
    let mut sessions = Vec::new();
    for request in asked {
        match browser.sees_reply(&request).await {
            ServerMessage::SessionCreated { session_id, .. } => sessions.push(session_id),
            other => panic!("not made: {other:?}"),
        }
    }
    for session in &sessions {
        browser.opens(session).await;
    }
    let mut sent = Vec::new();
    for session in &sessions {
        let content = format!("words for {session}");
        let send = ClientMessage::SessionSend {
            session_id: session.clone(),
            content,
            attachments: Vec::new(),
            when_busy: None,
        };
        sent.push(browser.send(send).await);
    }
    for (session, request) in sessions.iter().zip(sent) {
        let ServerMessage::SessionAccepted { turn_id, .. } = browser.sees_reply(&request).await
        else {
            panic!("not accepted")
        };
        assert!(completed(&browser.sees_end(&turn_id).await));
        let said = format!("words for {session}");
        assert_eq!(
            browser.opens(session).await.texts(),
            [said.clone(), format!("You said: {said}")]
        );
    }
}

#[tokio::test]
async fn a_message_repeated_by_its_request_is_answered_again_and_sent_once() {
    let (app, mut browser, session) =
        App::with_session(script().on_prompt("once").say("Once.").stop("end_turn")).await;
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    let first = browser.says_as(request, &session, "once").await;
    let ServerMessage::SessionAccepted { turn_id, .. } = &first else { panic!("{first:?}") };
    browser.sees_end(turn_id).await;
    assert_eq!(browser.says_as(request, &session, "once").await, first);
    let mut other = app.browser().await;
    assert_eq!(other.says_as(request, &session, "once").await, first);
    let refused = other.says_as(request, &session, "something else").await;
    assert!(matches!(refused, ServerMessage::Error { code: ErrorCode::InvalidMessage, .. }));

    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert_eq!(browser.says_as(request, &session, "once").await, first);
    assert_eq!(browser.opens(&session).await.texts(), ["once", "Once."]);
}

#[tokio::test]
async fn a_second_message_while_a_turn_runs_is_refused_as_busy() {
    let (_app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("…").wait_for_cancel().stop("cancelled"))
            .await;
    browser.says_to(&session, "one").await;
    let refused = browser.tries_to_say_to(&session, "two").await;
    assert!(matches!(refused, ServerMessage::Error { code: ErrorCode::SessionBusy, .. }));
}

#[tokio::test]
async fn sessions_are_listed_named_hidden_shown_and_deleted() {
    let app =
        Launch::new().agent(script().on_any_prompt().say("ok").stop("end_turn")).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let older = browser.creates_session(&project, "scripted").await;
    let newer = browser.creates_session(&project, "scripted").await;
    browser.opens(&older).await;
    let turn = browser.says_to(&older, "Name me after **this**\nnot that").await;
    browser.sees_end(&turn).await;
    let listed = browser.sessions(&project).await;
    assert_eq!(
        listed.iter().map(|s| (&s.id, s.title.as_str(), s.state)).collect::<Vec<_>>(),
        [
            (&older, "Name me after this", SessionState::Idle),
            (&newer, "New Session", SessionState::Idle)
        ]
    );

    let rename = ClientMessage::SessionRename { session_id: newer.clone(), title: "Mine".into() };
    browser.ask(rename).await;
    browser.ask(ClientMessage::SessionArchive { session_id: older.clone() }).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let listed = browser.sessions(&project).await;
    assert_eq!(listed.iter().map(|s| s.title.as_str()).collect::<Vec<_>>(), ["Mine"]);
    browser.ask(ClientMessage::SessionUnarchive { session_id: older.clone() }).await;
    assert_eq!(browser.opens(&older).await.texts().len(), 2);
    browser.ask(ClientMessage::SessionDelete { session_id: older.clone(), worktree: None }).await;
    assert_eq!(browser.sessions(&project).await.len(), 1);
    let gone = browser.ask(ClientMessage::SessionOpen {
        session_id: older,
        since: None,
        around: None,
        tails: None,
    });
    assert!(matches!(gone.await, ServerMessage::Error { code: ErrorCode::SessionNotFound, .. }));
}

#[tokio::test]
async fn an_agent_that_cannot_be_had_leaves_no_session_behind() {
    let agents =
        r#"{"agents":[{"id":"nowhere","name":"Nowhere","command":"no-such-program-at-all"}]}"#;
    let app = Launch::new().file("agents.json", agents).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let ServerMessage::Error { code, message, .. } =
        browser.tries_to_create(&project, "nowhere").await
    else {
        panic!("it was made")
    };
    assert_eq!(code, ErrorCode::AgentUnavailable);
    assert_eq!(message, "Could not start Nowhere. Check that it's installed.");
    assert!(browser.sessions(&project).await.is_empty());
    let unknown = browser.tries_to_create(&project, "nobody").await;
    assert!(matches!(unknown, ServerMessage::Error { code: ErrorCode::UnsupportedCliType, .. }));
}
