//! Claude Code's own file of a session: sessions that were continued or started there are completed from it and never
//! replaced.

use std::path::{Path, PathBuf};

use liminal_contract::{Body, ServerMessage, SessionId, TurnOutcome};
use liminal_scripted_agent::{Steps, script};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{App, Browser, History, Launch, descendants, in_time, items};

async fn started() -> (App, Browser, SessionId) {
    let agent = script()
        .on_prompt_with("half")
        .say("half an ans")
        .hang()
        .on_prompt("count")
        .say("one two ")
        .wait_for_cancel()
        .stop("cancelled")
        .on_prompt("make")
        .say("I make it.")
        .command("c", "make")
        .wait_for_cancel()
        .stop("cancelled")
        .on_any_prompt()
        .say("You said: ")
        .say_prompt()
        .stop("end_turn");
    let app = Launch::new().claude(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "one").await;
    browser.sees_end(&turn).await;
    (app, browser, session)
}

/// The agent's own file of a session.
fn file(app: &App, session: &SessionId) -> PathBuf {
    let name = format!("{}.jsonl", session.local());
    let projects = std::fs::read_dir(app.launch().home().join(".claude/projects")).unwrap();
    projects.map(|project| project.unwrap().path().join(&name)).find(|path| path.exists()).unwrap()
}

fn records(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A message typed in a terminal and the agent's answer, after a record or at the beginning.
fn add_outside(file: &Path, behind: &Value, words: &str) {
    use std::io::Write;
    let (typed, answered) = (uuid::Uuid::now_v7().to_string(), uuid::Uuid::now_v7().to_string());
    let at = "2026-01-02T03:04:05.000Z";
    let message = json!({
        "id": format!("msg_{answered}"), "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Noted."}],
    });
    let records = [
        json!({"type": "user", "uuid": typed, "parentUuid": behind, "timestamp": at,
            "message": {"role": "user", "content": words}}),
        json!({"type": "assistant", "uuid": answered, "parentUuid": typed, "timestamp": at,
            "message": message}),
    ];
    // In one step: the server may look at the file at any time.
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// The id of the last record of a file that has one.
fn last_record(file: &Path) -> Value {
    let last = records(file).into_iter().rev().find(|record| record["uuid"].is_string());
    last.unwrap()["uuid"].clone()
}

fn notices(history: &History) -> usize {
    history.entries.iter().filter(|entry| matches!(entry.body, Body::Notice { .. })).count()
}

/// Ends the agent's process, and waits until its file was checked for the last time.
async fn let_go(app: &App, session: &SessionId) {
    let killed = app.post(&format!("/api/session/{session}/kill"), &json!({})).await;
    assert_eq!(killed.status, 200);
}

#[tokio::test]
async fn a_turn_that_a_crash_cut_short_is_not_told_again_as_if_said_elsewhere() {
    let (app, mut browser, session) = started().await;
    browser.says_to(&session, "half").await;
    browser.sees_text(&session, "half an ans").await;
    let kept = file(&app, &session);
    assert!(records(&kept).iter().any(|record| record["message"]["content"][0]["text"] == "half"));

    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["one", "You said: one", "half", "half an ans"]);
    assert_eq!(history.entries.len(), 4, "and no notice");
    assert_eq!(history.turns[1].outcome, Some(TurnOutcome::Interrupted));
    let turn = browser.says_to(&session, "three").await;
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&session).await.texts()[4..], ["three", "You said: three"]);
}

/// How far the agent's file was read, as the journal remembers it.
async fn mark(app: &App) -> String {
    let journal = Connection::open(app.file("journal.db")).unwrap();
    let remembered = async {
        loop {
            let mark = journal.query_row("SELECT mark FROM session", [], |row| row.get(0));
            match mark.unwrap() {
                Some(mark) => break mark,
                None => tokio::task::yield_now().await,
            }
        }
    };
    in_time(remembered).await.unwrap()
}

/// Restarts the server as if it had not seen what the agent wrote after this mark.
async fn restart_with(app: App, mark: &str) -> App {
    let launch = app.launch().clone();
    app.stop().await;
    let journal = Connection::open(launch.data_dir().join("journal.db")).unwrap();
    assert_eq!(journal.execute("UPDATE session SET mark = ?1", [mark]).unwrap(), 1);
    drop(journal);
    launch.start().await
}

#[tokio::test]
async fn turns_that_the_user_stopped_are_not_told_again_by_an_agent_whose_file_was_not_seen_to_its_end()
 {
    let (app, mut browser, session) = started().await;
    let before = mark(&app).await;
    for (prompt, words) in [("count", "one two "), ("make", "I make it.")] {
        let turn = browser.says_to(&session, prompt).await;
        browser.sees_text(&session, words).await;
        if prompt == "make" {
            browser.sees_item(&session, "tool_call", |_| Some(())).await;
        }
        browser.cancels(&session).await;
        browser.sees_end(&turn).await;
    }
    let seen = browser.opens(&session).await;
    assert_eq!(seen.texts()[2..], ["count", "one two ", "make", "I make it."]);
    let kept = file(&app, &session);
    assert!(std::fs::read_to_string(&kept).unwrap().contains("[Request interrupted by user"));

    let app = restart_with(app, &before).await;
    let again = app.browser().await.opens(&session).await;
    assert_eq!((&again.entries, &again.turns), (&seen.entries, &seen.turns));

    let app = restart_with(app, &before).await;
    add_outside(&kept, &last_record(&kept), "from a terminal");
    let after = app.browser().await.opens(&session).await;
    assert_eq!(after.entries[..seen.entries.len()], seen.entries);
    assert_eq!(after.texts()[6..], ["from a terminal", "Noted."]);
    assert_eq!(after.turns.len(), seen.turns.len() + 1);
}

#[tokio::test]
async fn what_was_said_in_a_terminal_is_added_with_a_word_about_it() {
    let (app, mut browser, session) = started().await;
    let_go(&app, &session).await;
    let kept = file(&app, &session);
    add_outside(&kept, &last_record(&kept), "from a terminal");

    let mut other = app.browser().await;
    let history = other.opens(&session).await;
    let texts = ["one", "You said: one", "from a terminal", "Noted."];
    assert_eq!(history.texts(), texts);
    assert_eq!(notices(&history), 1);
    browser.sees_text(&session, "Noted.").await;
    assert_eq!(other.opens(&session).await.texts(), texts, "once");
}

#[tokio::test]
async fn a_history_that_was_rewritten_elsewhere_is_shown_anew_to_everyone_who_follows() {
    let (app, mut browser, session) = started().await;
    let before = browser.opens(&session).await;
    let_go(&app, &session).await;
    let kept = file(&app, &session);
    // The user went back to the beginning and asked something else.
    add_outside(&kept, &Value::Null, "another way");

    let mut other = app.browser().await;
    let now = other.opens(&session).await;
    assert_ne!(now.cursor.stream, before.cursor.stream);
    assert!(now.texts().ends_with(&["another way".into(), "Noted.".into()]));
    let ServerMessage::SessionHistory { stream, entries, .. } =
        browser.sees_told("session:history").await
    else {
        panic!("no history")
    };
    assert_eq!((stream, items(&entries)), (now.cursor.stream, now.entries.clone()));
    // Earlier cursors are no longer valid.
    let again = browser.opens_since(&session, Some(before.cursor), true).await;
    assert_eq!(again.entries, now.entries);
}

/// A session from the original's list that our journal has never seen, and Claude Code's file of it.
async fn from_before() -> (App, Browser, SessionId, PathBuf) {
    let launch = Launch::new();
    let home = launch.home().canonicalize().unwrap();
    let project = "1f0c9a52-6a9b-4f3e-9a52-2f0c9a526a9b";
    let session = SessionId::parse("claude-code:0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d").unwrap();
    let at = "2025-01-02T03:04:05.678Z";
    std::fs::create_dir(home.join("old")).unwrap();
    let projects = json!({"version": 1, "data": [{
        "id": project, "path": home.join("old"), "name": "old", "addedAt": at,
    }]});
    let sessions = json!({"version": 1, "data": [{
        "id": session, "projectId": project, "cliType": "claude-code", "archived": false,
        "title": "From before", "lastActiveAt": at, "createdAt": at,
    }]});
    let folder = home.join(".claude/projects/-anywhere");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.jsonl", session.local()));
    add_outside(&file, &Value::Null, "hello there");
    let app = launch
        .file("projects.json", &projects.to_string())
        .file("sessions.json", &sessions.to_string())
        .start()
        .await;
    let browser = app.browser().await;
    (app, browser, session, file)
}

#[tokio::test]
async fn a_session_of_the_originals_list_is_read_from_claudes_own_file_without_starting_it() {
    let (app, mut browser, session, _file) = from_before().await;
    let listed = browser.projects().await;
    let titles: Vec<_> =
        browser.sessions(&listed[0]).await.into_iter().map(|session| session.title).collect();
    assert_eq!(titles, ["From before"]);
    assert_eq!(browser.opens(&session).await.texts(), ["hello there", "Noted."]);
    assert!(descendants(app.pid()).is_empty(), "nothing was started for it");
}

#[tokio::test]
async fn what_was_said_in_a_terminal_is_appended_with_a_notice_and_only_once() {
    let (app, mut browser, session, file) = from_before().await;
    let before = browser.opens(&session).await;
    add_outside(&file, &last_record(&file), "in a terminal");

    let after = browser.opens(&session).await;
    assert_eq!(after.texts(), ["hello there", "Noted.", "in a terminal", "Noted."]);
    assert_eq!(after.entries[..before.entries.len()], before.entries, "existing entries stay");
    assert_eq!((after.cursor.stream.as_str(), notices(&after)), (before.cursor.stream.as_str(), 1));
    let app = app.restart().await;
    assert_eq!(app.browser().await.opens(&session).await.entries, after.entries);
    assert!(descendants(app.pid()).is_empty(), "nothing was started for it");
}

#[tokio::test]
async fn a_branch_that_left_ours_comes_under_a_new_stream_and_ours_stays_readable_above_it() {
    let (_app, mut browser, session, file) = from_before().await;
    let before = browser.opens(&session).await;
    std::fs::remove_file(&file).unwrap();
    add_outside(&file, &Value::Null, "begun anew");

    let after = browser.opens(&session).await;
    assert_ne!(after.cursor.stream, before.cursor.stream);
    assert_eq!(after.texts(), ["hello there", "Noted.", "begun anew", "Noted."]);
}
