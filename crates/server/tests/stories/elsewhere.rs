//! Sessions that went on, or began, outside: read from Claude Code's own file, completed, never replaced.

use std::path::PathBuf;

use liminal_contract::{Body, SessionId};
use serde_json::{Value, json};

use crate::support::{App, Browser, History, Launch, descendants};

/// A session of the original's list that our journal has never seen, and the file that Claude Code keeps of it.
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
    std::fs::write(&file, exchange(&session, None, "hello there", "Good day.")).unwrap();
    let app = launch
        .file("projects.json", &projects.to_string())
        .file("sessions.json", &sessions.to_string())
        .start()
        .await;
    let browser = app.browser().await;
    (app, browser, session, file)
}

/// A question and its answer as Claude Code keeps them, behind a record or at the beginning.
fn exchange(session: &SessionId, behind: Option<&str>, ask: &str, answer: &str) -> String {
    let [asked, answered] = [1, 2].map(|_| uuid::Uuid::now_v7().to_string());
    let record = |parent: Option<&str>, uuid: &str, kind: &str, message: Value| {
        json!({
            "parentUuid": parent, "isSidechain": false, "uuid": uuid, "type": kind,
            "timestamp": "2026-11-16T10:00:00.000Z", "userType": "external", "cwd": "/",
            "sessionId": session.local(), "version": "2.1.325", "message": message,
        })
    };
    let ask = record(behind, &asked, "user", json!({"role": "user", "content": ask}));
    let content = json!([{"type": "text", "text": answer}]);
    let message = json!({
        "id": format!("msg_{answered}"), "type": "message", "role": "assistant", "model": "m",
        "content": content, "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    format!("{ask}\n{}\n", record(Some(&asked), &answered, "assistant", message))
}

fn last_record(file: &PathBuf) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut chained = records.filter(|record| record["isSidechain"] == false);
    chained.next_back().unwrap()["uuid"].as_str().unwrap().to_owned()
}

fn append(file: &PathBuf, text: &str) {
    let before = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, before + text).unwrap();
}

fn notices(history: &History) -> usize {
    history.entries.iter().filter(|entry| matches!(entry.body, Body::Notice { .. })).count()
}

#[tokio::test]
async fn a_session_of_the_originals_list_is_read_from_claudes_own_file_without_starting_it() {
    let (app, mut browser, session, _file) = from_before().await;
    let listed = browser.projects().await;
    let titles: Vec<_> =
        browser.sessions(&listed[0]).await.into_iter().map(|session| session.title).collect();
    assert_eq!(titles, ["From before"]);
    assert_eq!(browser.opens(&session).await.texts(), ["hello there", "Good day."]);
    assert!(descendants(app.pid()).is_empty(), "nothing was started for it");
}

#[tokio::test]
async fn what_was_said_in_a_terminal_is_appended_with_a_notice_and_only_once() {
    let (app, mut browser, session, file) = from_before().await;
    let before = browser.opens(&session).await;
    let last = last_record(&file);
    append(&file, &exchange(&session, Some(&last), "in a terminal", "I was there."));

    let after = browser.opens(&session).await;
    assert_eq!(after.texts(), ["hello there", "Good day.", "in a terminal", "I was there."]);
    assert_eq!(after.entries[..before.entries.len()], before.entries, "what was there stays");
    assert_eq!((after.cursor.stream.as_str(), notices(&after)), (before.cursor.stream.as_str(), 1));
    let app = app.restart().await;
    assert_eq!(app.browser().await.opens(&session).await.entries, after.entries);
    assert!(descendants(app.pid()).is_empty(), "nothing was started for it");
}

#[tokio::test]
async fn a_branch_that_left_ours_comes_under_a_new_stream_and_ours_stays_readable_above_it() {
    let (_app, mut browser, session, file) = from_before().await;
    let before = browser.opens(&session).await;
    std::fs::write(&file, exchange(&session, None, "begun anew", "Gladly.")).unwrap();

    let after = browser.opens(&session).await;
    assert_ne!(after.cursor.stream, before.cursor.stream);
    assert_eq!(after.texts(), ["hello there", "Good day.", "begun anew", "Gladly."]);
}
