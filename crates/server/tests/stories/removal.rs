//! Removing, archiving and deleting while an agent is working.

use liminal_contract::{
    ClientMessage, ErrorCode, Project, ServerMessage, SessionId, TurnEventKind, TurnOutcome,
    TurnStatus,
};
use liminal_scripted_agent::{Steps, script};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{App, Browser, Launch};

/// An agent that stays in the middle of its answer until the file exists.
async fn at_work() -> (App, Browser, Project, SessionId, TempDir) {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let agent = script()
        .on_any_prompt()
        .say("before ")
        .wait_for_file(go_on.to_string_lossy())
        .say("after")
        .stop("end_turn");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    browser.says_to(&session, "work").await;
    browser.sees_text(&session, "before ").await;
    (app, browser, project, session, gate)
}

async fn goes_on_to_its_end(browser: &mut Browser, session: &SessionId, gate: &TempDir) {
    std::fs::write(gate.path().join("go-on"), "").unwrap();
    browser.sees_text(session, "before after").await;
    let history = browser.opens(session).await;
    let turn = history.turns[0].clone();
    if turn.outcome.is_none() {
        let end = browser.sees_end(&turn.turn_id).await;
        let status = TurnStatus::Completed;
        assert!(matches!(end, TurnEventKind::TurnComplete { status: s, .. } if s == status));
    } else {
        assert_eq!(turn.outcome, Some(TurnOutcome::Completed));
    }
}

#[tokio::test]
async fn an_archived_session_ends_its_turn_first() {
    let (_app, mut browser, project, session, gate) = at_work().await;
    let archive = ClientMessage::SessionArchive { session_id: session.clone() };
    assert!(matches!(browser.ask(archive).await, ServerMessage::SessionArchived { .. }));
    assert!(browser.sessions(&project).await.is_empty());
    goes_on_to_its_end(&mut browser, &session, &gate).await;
    let list = ClientMessage::SessionList { project_id: project.id, archived: Some(true) };
    let ServerMessage::SessionList { sessions, .. } = browser.ask(list).await else {
        panic!("no list")
    };
    assert_eq!(sessions.len(), 1);
}

#[tokio::test]
async fn a_removed_project_stops_its_turns_and_brings_its_sessions_back_when_added_again() {
    let (app, mut browser, project, session, _gate) = at_work().await;
    let remove = ClientMessage::ProjectRemove { project_id: project.id.clone() };
    assert!(matches!(browser.ask(remove).await, ServerMessage::ProjectRemoved { .. }));
    let history = browser.opens(&session).await;
    assert_eq!(history.turns[0].outcome, Some(TurnOutcome::Cancelled));
    assert_eq!(history.texts(), ["work", "before "]);
    let status = app.get(&format!("/api/session/{session}/status")).await.json();
    assert_eq!((&status["isAlive"], &status["state"]), (&json!(false), &json!("dead")));
    let again = browser.adds_project(&app.directory("project")).await;
    let sessions = browser.sessions(&again).await;
    assert_eq!(sessions.iter().map(|session| &session.id).collect::<Vec<_>>(), [&session]);
}

#[tokio::test]
async fn the_queue_of_a_removed_project_is_kept_and_not_sent() {
    let (_app, mut browser, project, session, _gate) = at_work().await;
    browser.queues(&session, "next").await;
    let remove = ClientMessage::ProjectRemove { project_id: project.id };
    assert!(matches!(browser.ask(remove).await, ServerMessage::ProjectRemoved { .. }));
    browser.continues(&session).await;
    let history = browser.opens(&session).await;
    let waiting: Vec<_> =
        history.facts.queue.messages.iter().map(|queued| queued.content.as_str()).collect();
    assert_eq!((waiting.as_slice(), history.turns.len()), (&["next"][..], 1));
}

#[tokio::test]
async fn nothing_is_sent_where_there_is_no_directory_to_work_in() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("here").stop("end_turn")).await;
    let refused = async |browser: &mut Browser| {
        let answer = browser.tries_to_say_to(&session, "work").await;
        let ServerMessage::Error { code, message, session_id, .. } = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(session_id.as_ref(), Some(&session));
        (code, message)
    };
    let (directory, away) = (app.directory("project"), app.launch().home().join("away"));
    std::fs::rename(&directory, &away).unwrap();
    let (code, message) = refused(&mut browser).await;
    assert_eq!(code, ErrorCode::ProjectPathInvalid);
    assert!(message.contains(&directory), "{message}");
    let project = browser.projects().await.remove(0);
    let answer = browser.tries_to_create(&project, "scripted").await;
    assert!(matches!(answer, ServerMessage::Error { code: ErrorCode::ProjectPathInvalid, .. }));

    std::fs::rename(&away, &directory).unwrap();
    browser.ask(ClientMessage::ProjectRemove { project_id: project.id }).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&session).await;
    let (code, message) = refused(&mut browser).await;
    assert_eq!(code, ErrorCode::ProjectNotFound);
    assert!(message.contains("add its directory again"), "{message}");

    browser.adds_project(&directory).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&session).await.texts(), ["work", "here"]);
}

#[tokio::test]
async fn a_deleted_session_is_stopped_first_and_everyone_is_told() {
    let (app, mut browser, project, session, _gate) = at_work().await;
    let mut other = app.browser().await;
    other.opens(&session).await;
    let delete = ClientMessage::SessionDelete { session_id: session.clone(), worktree: None };
    let deleted = browser.ask(delete).await;
    assert!(matches!(deleted, ServerMessage::SessionDeleted { .. }), "{deleted:?}");
    let stopped = other
        .sees("the end of its turn", |frame| {
            (frame["type"] == "session:turn" && frame["payload"]["type"] != "turn_started")
                .then(|| frame["payload"].clone())
        })
        .await;
    assert_eq!(stopped["status"], "cancelled");
    assert!(matches!(
        other.sees_told("session:deleted").await,
        ServerMessage::SessionDeleted { session_id } if session_id == session
    ));
    assert!(browser.sessions(&project).await.is_empty());
    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert!(browser.sessions(&project).await.is_empty());
}
