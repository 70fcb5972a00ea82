//! Attachments: stored before they are sent, kept with the message, given to the agent.

use liminal_contract::{
    Attachment, AttachmentKind, AttachmentRef, Body, ClientMessage, ErrorCode, QueueAct,
    ServerMessage, SessionId, TurnId, WhenBusy,
};
use liminal_scripted_agent::{Steps, script};
use serde_json::{Value, json};

use crate::support::{Answer, App, Browser, Launch, run};

const LARGEST: usize = 20 * 1024 * 1024;

/// A picture as far as its header tells.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes().iter().chain(&height.to_be_bytes()));
    bytes
}

async fn upload(app: &App, name: &str, kind: &str, bytes: Vec<u8>) -> Answer {
    let call = app.call("POST", &format!("/api/attachment?name={name}")).bearer(app.token());
    call.header("Content-Type", kind).body(bytes).send().await
}

async fn uploaded(app: &App, name: &str, bytes: &[u8]) -> String {
    let answer = upload(app, name, "application/octet-stream", bytes.to_vec()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn by_id(id: &str) -> AttachmentRef {
    AttachmentRef::Uploaded { id: id.into(), name: Some("it".into()), path: None, lines: None }
}

fn in_project(path: &str, lines: Option<(u32, u32)>) -> AttachmentRef {
    AttachmentRef::InWorkspace { path: path.into(), lines }
}

async fn sends(
    browser: &mut Browser,
    session: &SessionId,
    content: &str,
    attachments: Vec<AttachmentRef>,
) -> ServerMessage {
    let (session_id, content) = (session.clone(), content.to_owned());
    let when_busy = Some(WhenBusy::Queue);
    browser.ask(ClientMessage::SessionSend { session_id, content, attachments, when_busy }).await
}

fn began(reply: ServerMessage) -> TurnId {
    match reply {
        ServerMessage::SessionAccepted { turn_id, .. } => turn_id,
        other => panic!("not accepted: {other:?}"),
    }
}

fn refused(reply: &ServerMessage, code: ErrorCode) {
    assert!(matches!(reply, ServerMessage::Error { code: said, .. } if *said == code), "{reply:?}");
}

async fn attached(browser: &mut Browser, session: &SessionId) -> Vec<Attachment> {
    let entries = browser.opens(session).await.entries;
    entries
        .into_iter()
        .flat_map(|entry| match entry.body {
            Body::Message { attachments, .. } => attachments,
            _ => Vec::new(),
        })
        .collect()
}

async fn echoing() -> (App, Browser, SessionId) {
    App::with_session(script().on_any_prompt().say_prompt().stop("end_turn")).await
}

#[tokio::test]
async fn a_picture_reaches_the_agent_stays_with_the_message_and_is_served_only_to_us() {
    let (app, mut browser, session) = echoing().await;
    let id = uploaded(&app, "shot.png", &png(640, 480)).await;
    assert_eq!(uploaded(&app, "other-name.png", &png(640, 480)).await, id, "stored once");
    let turn = began(sends(&mut browser, &session, "", vec![by_id(&id)]).await);
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts.last().unwrap(), "[a picture, image/png, 24 bytes]");

    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let kept = attached(&mut browser, &session).await;
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].kind, kept[0].width), (AttachmentKind::Image, Some(640)));
    let url = kept[0].url.clone().unwrap();
    let served = app.get(&url).await;
    assert_eq!((served.status, served.header("content-type")), (200, Some("image/png")));
    assert_eq!(served.header("x-content-type-options"), Some("nosniff"));
    app.call("GET", &url).send().await.is_refused_with(401, "UNAUTHORIZED");
    app.call("POST", "/api/attachment").body("x").send().await.is_refused_with(401, "UNAUTHORIZED");
    for name in ["0a-1.png", "..%2Fjournal.db", "journal.db"] {
        let path = format!("/api/attachment/{name}");
        app.get(&path).await.is_refused_with(404, "ATTACHMENT_NOT_FOUND");
    }
}

#[tokio::test]
async fn what_agents_cannot_take_is_refused_by_its_header() {
    let app = App::start().await;
    let unsupported = |answer: Answer| answer.is_refused_with(415, "ATTACHMENT_UNSUPPORTED");
    let large = |answer: Answer| answer.is_refused_with(413, "ATTACHMENT_TOO_LARGE");
    unsupported(upload(&app, "a.svg", "image/svg+xml", b"<svg/>".to_vec()).await);
    unsupported(upload(&app, "a.pdf", "application/pdf", b"%PDF\0".to_vec()).await);
    unsupported(upload(&app, "a.txt", "text/plain", Vec::new()).await);
    large(upload(&app, "a.png", "image/png", png(100_000, 100_000)).await);
    let mut most = png(640, 480);
    most.resize(19_000_000, 0);
    assert_eq!(upload(&app, "a.png", "image/png", most.clone()).await.status, 201);
    most.resize(LARGEST + 1, 0);
    large(upload(&app, "a.png", "image/png", most).await);
    let jpeg = [0xff, 0xd8, 0xff, 0xc0, 0, 9, 8, 0, 3, 0, 5, 0];
    let answer = upload(&app, "really-a-jpeg.png", "image/png", jpeg.to_vec()).await;
    assert_eq!(answer.json()["mimeType"], "image/jpeg");
}

#[tokio::test]
async fn an_agent_that_takes_no_pictures_gets_none() {
    let agent = script().about(|about| about.no_pictures = true);
    let (app, mut browser, session) =
        App::with_session(agent.on_any_prompt().say_prompt().stop("end_turn")).await;
    browser.knows(&session, |facts| facts.takes_pictures == Some(false)).await;
    let id = uploaded(&app, "shot.png", &png(640, 480)).await;
    let reply = sends(&mut browser, &session, "see", vec![by_id(&id)]).await;
    refused(&reply, ErrorCode::AttachmentUnsupported);
    let turn = began(sends(&mut browser, &session, "words", Vec::new()).await);
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&session).await.texts(), ["words", "words"]);
}

#[tokio::test]
async fn lines_and_pastes_are_kept_as_they_were_when_the_message_was_sent() {
    let (app, mut browser, session) = echoing().await;
    let project = browser.projects().await.remove(0).path;
    std::fs::write(format!("{project}/a \"b\".rs"), "one\ntwo\nthree\n").unwrap();
    std::fs::create_dir(format!("{project}/src")).unwrap();
    let paste = uploaded(&app, "log", b"zebra crossing\nsecond\n").await;
    let chosen =
        vec![by_id(&paste), in_project("a \"b\".rs", Some((2, 9))), in_project("src", None)];
    let turn = began(sends(&mut browser, &session, "see @\"a \\\"b\\\".rs\":1", chosen).await);
    browser.sees_end(&turn).await;
    std::fs::write(format!("{project}/a \"b\".rs"), "other").unwrap();

    let kept = attached(&mut browser, &session).await;
    let about: Vec<_> = kept.iter().map(|it| (it.kind, it.lines, it.mentioned)).collect();
    assert_eq!(
        about,
        [
            (AttachmentKind::Paste, Some((1, 2)), None),
            (AttachmentKind::Lines, Some((2, 3)), None),
            (AttachmentKind::File, None, None),
            (AttachmentKind::Lines, Some((1, 1)), Some(true)),
        ]
    );
    assert_eq!(app.get(kept[1].url.as_deref().unwrap()).await.body, "two\nthree\n");
    let said = browser.opens(&session).await.texts().pop().unwrap();
    assert!(said.contains("[a text, ") && said.contains("[@src](file://"), "{said}");

    let search = ClientMessage::Search { query: "zebra".into(), limit: None };
    loop {
        let ServerMessage::SearchResults { hits, .. } = browser.ask(search.clone()).await else {
            panic!("no results")
        };
        if !hits.is_empty() {
            break;
        }
    }
}

#[tokio::test]
async fn an_attachment_that_is_gone_is_refused_and_so_are_too_many() {
    let (app, mut browser, session) = echoing().await;
    let project = browser.projects().await.remove(0).path;
    for gone in [
        by_id("0123-4.png"),
        by_id("../journal.db"),
        in_project("vanished.rs", None),
        in_project("../secret", None),
        in_project("new\nline", Some((1, 2))),
    ] {
        let reply = sends(&mut browser, &session, "see", vec![gone]).await;
        refused(&reply, ErrorCode::AttachmentNotFound);
    }
    std::fs::write(format!("{project}/two.rs"), "1\n2\n").unwrap();
    for lines in [(3, 4), (2, 1), (0, 1)] {
        let reply = sends(&mut browser, &session, "see", vec![in_project("two.rs", Some(lines))]);
        refused(&reply.await, ErrorCode::AttachmentUnsupported);
    }
    let many = vec![in_project("two.rs", None); 500];
    refused(&sends(&mut browser, &session, "see", many).await, ErrorCode::AttachmentTooLarge);
    refused(&sends(&mut browser, &session, " ", Vec::new()).await, ErrorCode::InvalidMessage);
    assert_eq!(browser.opens(&session).await.entries.len(), 0, "nothing was sent");
    drop(app);
}

#[tokio::test]
async fn a_queued_message_keeps_its_attachments() {
    let busy = script().on_prompt("hang").say("Hm.").wait_for_cancel().stop("cancelled");
    let busy = busy.on_any_prompt().say_prompt().stop("end_turn");
    let (app, mut browser, session) = App::with_session(busy).await;
    let id = uploaded(&app, "shot.png", &png(6, 4)).await;
    let first = began(sends(&mut browser, &session, "hang", Vec::new()).await);
    browser.sees_text(&session, "Hm.").await;
    let reply = sends(&mut browser, &session, "look", vec![by_id(&id)]).await;
    let ServerMessage::SessionQueued { message, .. } = reply else { panic!("{reply:?}") };
    let edit = QueueAct::Edit { was: "look".into(), content: "look here".into() };
    browser.acts_on(&session, &message, edit).await;
    browser.acts_on(&session, &message, QueueAct::Steer {}).await;
    browser.sees_end(&first).await;
    browser.sees_text(&session, "look here\n[a picture, image/png, 24 bytes]").await;
    assert_eq!(attached(&mut browser, &session).await[0].id, Some(id));
}

#[tokio::test]
async fn attachments_are_in_the_export_and_the_backup_and_go_with_the_last_session() {
    let (app, mut browser, session) = echoing().await;
    let project = browser.projects().await.remove(0);
    let other = browser.creates_session(&project, "scripted").await;
    let id = uploaded(&app, "notes", b"kept words").await;
    for session in [&session, &other] {
        let turn = began(sends(&mut browser, session, "see", vec![by_id(&id)]).await);
        browser.sees_end(&turn).await;
    }
    let export = app.get(&format!("/api/session/{session}/export")).await;
    assert_eq!(export.header("content-type"), Some("application/zip"));
    let names =
        [format!("attachments/{id}"), "session.md".into(), format!("[it](attachments/{id})")];
    for part in names.iter().map(String::as_str).chain(["kept words", "PK\u{5}\u{6}"]) {
        assert!(export.body.contains(part), "{part}");
    }
    let copy = app.launch().home().join("copy");
    let backup = run(&mut app.launch().command(&["backup", copy.to_str().unwrap()])).await;
    assert!(backup.status.success(), "{}", backup.stderr);
    assert_eq!(std::fs::read(copy.join("attachments").join(&id)).unwrap(), b"kept words");

    let stored = app.file("attachments").join(&id);
    browser.ask(ClientMessage::SessionDelete { session_id: session, worktree: None }).await;
    assert!(stored.exists(), "the other session has it too");
    browser.ask(ClientMessage::SessionDelete { session_id: other, worktree: None }).await;
    assert!(!stored.exists());
}

#[tokio::test]
async fn frozen_lines_go_with_their_session() {
    let (app, mut browser, session) = echoing().await;
    let project = browser.projects().await.remove(0).path;
    std::fs::write(format!("{project}/a.rs"), "one\ntwo\n").unwrap();
    let chosen = vec![in_project("a.rs", Some((1, 1)))];
    let turn = began(sends(&mut browser, &session, "see @a.rs:2", chosen).await);
    browser.sees_end(&turn).await;
    let stored = || std::fs::read_dir(app.file("attachments")).unwrap().count();
    assert_eq!(stored(), 2);
    browser.ask(ClientMessage::SessionDelete { session_id: session, worktree: None }).await;
    assert_eq!(stored(), 0);
}

#[tokio::test]
async fn the_http_route_and_claude_take_attachments_too() {
    let app =
        Launch::new().claude(script().on_any_prompt().say_prompt().stop("end_turn")).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    std::fs::write(format!("{}/a.rs", project.path), "one\ntwo\n").unwrap();
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let id = uploaded(&app, "shot.png", &png(6, 4)).await;
    let body: Value = json!({
        "content": "look",
        "attachments": [{"id": id}, {"path": "a.rs", "lines": [2, 2]}, {"path": "a.rs"}],
    });
    let sent = app.post(&format!("/api/session/{session}/send"), &body).await;
    assert_eq!(sent.status, 202, "{sent:?}");
    let turn = TurnId::new(sent.json()["turnId"].as_str().unwrap());
    browser.sees_end(&turn).await;
    let said = browser.opens(&session).await.texts().pop().unwrap();
    let lines = "a.rs, lines 2 to 2:\n\n```\ntwo\n```";
    assert_eq!(said, format!("{lines}\nlook\n\n@a.rs\n[a picture, image/png, 24 bytes]"));
}
