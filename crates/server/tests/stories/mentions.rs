//! Files of the workspace, found as the user types and passed on to the agent.

use liminal_contract::{ClientMessage, ErrorCode, FileEntry, FileKind, ServerMessage};
use liminal_scripted_agent::{Steps, script};

use crate::support::{App, Browser};

async fn finds(browser: &mut Browser, find: ClientMessage) -> (Vec<FileEntry>, bool) {
    match browser.ask(find).await {
        ServerMessage::FilesFound { entries, more, .. } => (entries, more),
        other => panic!("nothing found: {other:?}"),
    }
}

#[tokio::test]
async fn files_are_found_by_letters_of_their_path_in_a_session_or_a_project() {
    let (app, mut browser, session) = App::with_session(script().on_any_prompt().say("Hm.")).await;
    let project = browser.projects().await.remove(0);
    std::fs::create_dir_all(format!("{}/src", project.path)).unwrap();
    std::fs::write(format!("{}/src/main.rs", project.path), "").unwrap();
    let find = |query: &str, limit| ClientMessage::FilesFind {
        session_id: Some(session.clone()),
        project_id: None,
        query: query.into(),
        limit,
    };
    let main =
        FileEntry { path: "src/main.rs".into(), kind: FileKind::File, matched: vec![4, 5, 9, 10] };
    assert_eq!(finds(&mut browser, find("mars", None)).await, (vec![main.clone()], false));
    let in_project = ClientMessage::FilesFind {
        session_id: None,
        project_id: Some(project.id.clone()),
        query: "s".into(),
        limit: Some(1),
    };
    let (entries, more) = finds(&mut browser, in_project).await;
    assert_eq!(
        (entries[0].path.as_str(), entries[0].kind, more),
        ("src/main.rs", FileKind::File, true),
        "it changed lately"
    );

    let nowhere = ClientMessage::FilesFind {
        session_id: None,
        project_id: None,
        query: String::new(),
        limit: None,
    };
    let refused = browser.ask(nowhere).await;
    let ServerMessage::Error { code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::InvalidMessage);
    drop(app);
}

#[tokio::test]
async fn a_find_that_the_next_one_overtakes_is_answered_at_once() {
    let (_app, mut browser, session) = App::with_session(script().on_any_prompt().say("Hm.")).await;
    let path = browser.projects().await.remove(0).path;
    std::fs::write(format!("{path}/main.rs"), "").unwrap();
    let pipe = format!("{path}/.gitignore");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let find = |query: &str| ClientMessage::FilesFind {
        session_id: Some(session.clone()),
        project_id: None,
        query: query.into(),
        limit: None,
    };
    // The walk waits for someone who writes to the pipe.
    let first = browser.send(find("m")).await;
    let second = browser.send(find("ma")).await;
    let (query, entries, more) = ("m".to_owned(), Vec::new(), true);
    let overtaken = ServerMessage::FilesFound { query, entries, more };
    assert_eq!(browser.sees_reply(&first).await, overtaken);
    std::thread::spawn(move || while std::fs::File::options().write(true).open(&pipe).is_ok() {});
    let reply = browser.sees_reply(&second).await;
    let ServerMessage::FilesFound { entries, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(entries[0].path, "main.rs");
}

#[tokio::test]
async fn a_mentioned_file_goes_to_an_acp_agent_as_a_link_beside_the_words() {
    let (_app, mut browser, session) =
        App::with_session(script().on_any_prompt().say_prompt().stop("end_turn")).await;
    let path = browser.projects().await.remove(0).path;
    std::fs::write(format!("{path}/my notes.md"), "").unwrap();
    let message = "read @\"my notes.md\" and @missing.md";
    let turn = browser.says_to(&session, message).await;
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts[0], message, "as it was written");
    assert!(texts[1].contains(message), "{texts:?}");
    assert!(
        texts[1].contains(&format!("[@my notes.md](file://{path}/my%20notes.md)")),
        "{texts:?}"
    );
    assert_eq!(texts[1].matches("file://").count(), 1);
}
