//! Projects: added, listed, removed, and never lost.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use liminal_contract::{ClientMessage, ErrorCode, ProjectId, ServerMessage};

use crate::support::{App, Browser};

/// The code of a refusal, and its message.
async fn refusal(browser: &mut Browser, message: ClientMessage) -> (ErrorCode, String) {
    match browser.ask(message).await {
        ServerMessage::Error { code, message, .. } => (code, message),
        other => panic!("not refused: {other:?}"),
    }
}

async fn refused_path(browser: &mut Browser, path: &str) -> (ErrorCode, String) {
    refusal(browser, ClientMessage::ProjectAdd { path: path.into() }).await
}

#[tokio::test]
async fn projects_stand_in_the_order_they_were_added() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    assert_eq!(browser.projects().await, []);
    let mut added = vec![];
    for name in ["zebra", "ape", "mule"] {
        added.push(browser.adds_project(&app.directory(name)).await);
    }
    assert_eq!(browser.projects().await, added);
    let names: Vec<_> = added.iter().map(|project| project.name.as_str()).collect();
    assert_eq!(names, ["zebra", "ape", "mule"]);
    assert_eq!(app.restart().await.browser().await.projects().await, added);
}

#[tokio::test]
async fn what_is_no_directory_to_work_in_is_refused_with_the_reason() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let home = app.directory("");
    let file = format!("{home}/notes.txt");
    std::fs::write(&file, "").unwrap();
    for (path, reason) in [
        (format!("{home}/missing"), "There is no such directory."),
        (file.clone(), "It is a file"),
        (format!("{file}/below"), "Part of the path is a file."),
        ("/".into(), "The root directory"),
        ("/..".into(), "The root directory"),
        (String::new(), "Type the path"),
        ("relative".into(), "Enter the full path"),
        ("./here".into(), "Enter the full path"),
        ("~somebody/x".into(), "Only ~/"),
        (format!("{home}/{}", "x".repeat(300)), "It can't be opened: "),
        ("/tmp/\0".into(), "It can't be opened: "),
    ] {
        let (code, sentence) = refused_path(&mut browser, &path).await;
        assert_eq!(code, ErrorCode::ProjectPathInvalid, "{path:?}");
        assert!(sentence.starts_with("Project path is invalid or inaccessible. "), "{sentence}");
        assert!(sentence.contains(reason), "{path:?}: {sentence}");
    }
    assert_eq!(browser.projects().await, []);
    assert!(!app.file("projects.json").exists());
}

#[tokio::test]
async fn the_same_directory_is_one_project_however_it_is_spelled() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let path = app.directory("code");
    let home = app.directory("");
    symlink(&path, format!("{home}/link")).unwrap();
    let project = browser.adds_project("~/code").await;
    assert_eq!((project.path.as_str(), project.name.as_str()), (path.as_str(), "code"));
    for spelled in [
        path.clone(),
        format!("{path}/"),
        format!("{home}//./code/../code"),
        format!("{home}/link"),
        "~/link/.".into(),
    ] {
        assert_eq!(
            refused_path(&mut browser, &spelled).await.0,
            ErrorCode::ProjectDuplicate,
            "{spelled}"
        );
    }
    assert_eq!(browser.projects().await, [project]);
}

#[tokio::test]
async fn a_change_in_one_browser_appears_in_the_others() {
    let app = App::start().await;
    let (mut one, mut two) = (app.browser().await, app.browser().await);
    let project = one.adds_project(&app.directory("code")).await;
    assert_eq!(
        two.sees_told("project:added").await,
        ServerMessage::ProjectAdded { project: project.clone() }
    );
    let removed = ServerMessage::ProjectRemoved { project_id: project.id.clone() };
    assert_eq!(two.ask(ClientMessage::ProjectRemove { project_id: project.id }).await, removed);
    assert_eq!(one.sees_told("project:removed").await, removed);
}

#[tokio::test]
async fn a_directory_that_comes_back_has_its_old_id_and_its_sessions() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let path = app.directory("code");
    let first = browser.adds_project(&path).await;
    let session = serde_json::json!({
        "id": "demo:1", "projectId": first.id, "cliType": "demo", "archived": false, "title": "Hello",
        "lastActiveAt": "2025-11-15T23:42:00.000Z", "createdAt": "2025-11-15T23:42:00.000Z",
    });
    let launch = app.launch().clone();
    app.stop().await;
    let sessions = serde_json::json!({"version": 1, "sessions": [session]});
    let app = launch.file("sessions.json", &sessions.to_string()).start().await;
    let mut browser = app.browser().await;

    browser.ask(ClientMessage::ProjectRemove { project_id: first.id.clone() }).await;
    assert_eq!(browser.projects().await, []);
    assert_eq!(app.json("sessions.json"), sessions);

    let app = app.restart().await;
    let again = app.browser().await.adds_project(&path).await;
    assert_eq!(again.id, first.id);
    assert_eq!(app.json("sessions.json"), sessions);
}

#[tokio::test]
async fn what_is_no_project_can_not_be_removed() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let unknown = ClientMessage::ProjectRemove { project_id: ProjectId::new("unknown") };
    assert_eq!(refusal(&mut browser, unknown).await.0, ErrorCode::ProjectNotFound);
}

#[tokio::test]
async fn a_hundred_at_once_are_all_kept_and_all_told() {
    let app = App::start().await;
    let mut watcher = app.browser().await;
    let mut adding = vec![];
    for n in 0..100 {
        let (path, mut browser) = (app.directory(&format!("p{n}")), app.browser().await);
        adding.push(tokio::spawn(async move { browser.adds_project(&path).await.id }));
    }
    let mut ids = BTreeSet::new();
    for add in adding {
        ids.insert(add.await.unwrap());
    }
    assert_eq!(ids.len(), 100);
    let mut told = vec![];
    for _ in 0..100 {
        let ServerMessage::ProjectAdded { project } = watcher.sees_told("project:added").await
        else {
            unreachable!()
        };
        told.push(project);
    }
    assert_eq!(watcher.projects().await, told, "changes are sent in the order of the list");

    let kept = app.crash_and_restart().await.browser().await.projects().await;
    assert_eq!(kept, told);
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_crash() {
    let mut app = App::start().await;
    let mut added = vec![];
    for name in ["a", "b", "c"] {
        let path = app.directory(name);
        added.push(app.browser().await.adds_project(&path).await);
        app = app.crash_and_restart().await;
        assert_eq!(app.browser().await.projects().await, added);
    }
}

#[tokio::test]
async fn directories_are_suggested_as_one_types() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    for name in ["code/alpha", "code/beta", "coffee", ".hidden"] {
        app.directory(name);
    }
    let mut suggested = async |prefix: &str| match browser
        .ask(ClientMessage::PathComplete { prefix: prefix.into() })
        .await
    {
        ServerMessage::PathCompletions { prefix: asked, entries, .. } if asked == prefix => entries,
        other => panic!("no suggestions: {other:?}"),
    };
    assert_eq!(suggested("~/co").await, ["~/code", "~/coffee"]);
    assert_eq!(suggested("~/code/").await, ["~/code/alpha", "~/code/beta"]);
    assert_eq!(suggested("~").await, ["~/code", "~/coffee"]);
    assert_eq!(suggested("~/.h").await, ["~/.hidden"]);
    let home = app.directory("");
    assert_eq!(suggested(&format!("{home}/cof")).await, [format!("{home}/coffee")]);
    assert_eq!(suggested("/nowhere/at/all").await, [""; 0]);
}

#[tokio::test]
async fn no_room_on_the_disk_is_said_and_changes_nothing() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let first = browser.adds_project(&app.directory("a")).await;
    // A directory in the place of the temporary file can't be opened for writing, not even by root.
    std::fs::create_dir(app.file("projects.json.tmp")).unwrap();
    let (code, sentence) = refused_path(&mut browser, &app.directory("b")).await;
    assert_eq!(code, ErrorCode::StoreFull);
    assert!(sentence.contains("projects.json"), "{sentence}");
    assert_eq!(browser.projects().await, std::slice::from_ref(&first));

    std::fs::remove_dir(app.file("projects.json.tmp")).unwrap();
    let second = browser.adds_project(&app.directory("b")).await;
    assert_eq!(browser.projects().await, [first, second]);
}
