//! Comments on changes: kept until they are sent, all as one message.

use std::path::Path;

use liminal_contract::{
    ChangeScope, ClientMessage, Comment, DiffSide, ErrorCode, MovedComment, NewComment,
    ServerMessage, SessionId,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::git;
use crate::support::{App, Browser, Launch};

fn about(lines: [u32; 2], snippet: &str, text: &str) -> NewComment {
    NewComment {
        id: None,
        path: "one.txt".to_owned(),
        side: DiffSide::New,
        lines,
        snippet: snippet.to_owned(),
        text: text.to_owned(),
    }
}

async fn keep(browser: &mut Browser, session: &SessionId, comment: NewComment) -> ServerMessage {
    browser.ask(ClientMessage::ChangesComment { session_id: session.clone(), comment }).await
}

async fn comments(browser: &mut Browser, session: &SessionId) -> Vec<Comment> {
    browser.opens(session).await.facts.comments.clone()
}

async fn moved(browser: &mut Browser, session: &SessionId) -> Vec<MovedComment> {
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
        ServerMessage::ChangesList { moved, .. } => moved,
        other => panic!("no list: {other:?}"),
    }
}

/// A project with a changed file of three lines.
async fn project(app: &App, browser: &mut Browser) -> (String, SessionId) {
    let directory = app.directory("project");
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(Path::new(&directory).join("one.txt"), "a\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    std::fs::write(Path::new(&directory).join("one.txt"), "a\nb\nc\n").unwrap();
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    (directory, session)
}

#[tokio::test]
async fn comments_outlive_the_server_and_go_to_the_agent_as_one_message() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (_, session) = project(&app, &mut browser).await;
    let first = about([2, 3], "b\nc", "Why both?");
    assert_eq!(keep(&mut browser, &session, first).await, ServerMessage::Ok {});
    keep(&mut browser, &session, about([1, 1], "a", "Drop this.")).await;
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let kept = comments(&mut browser, &session).await;
    let texts: Vec<_> = kept.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(texts, ["Why both?", "Drop this."]);

    let edited = NewComment { id: Some(kept[0].id.clone()), ..about([2, 3], "b\nc", "Why?") };
    keep(&mut browser, &session, edited).await;
    let comment_id = Some(kept[1].id.clone());
    let session_id = session.clone();
    browser.ask(ClientMessage::ChangesUncomment { session_id, comment_id }).await;
    let send = || ClientMessage::ChangesSendComments { session_id: session.clone() };
    match browser.ask(send()).await {
        ServerMessage::SessionAccepted { turn_id, .. } => browser.sees_end(&turn_id).await,
        other => panic!("not sent: {other:?}"),
    };
    let history = browser.opens(&session).await;
    let expected =
        "A comment on the changes:\n\n`one.txt`, lines 2-3:\n\n```\nb\nc\n```\n\nWhy?".to_owned();
    assert_eq!(history.texts(), [expected, "Done.".to_owned()]);
    assert_eq!(history.facts.comments, []);
    assert!(matches!(
        browser.ask(send()).await,
        ServerMessage::Error { code: ErrorCode::InvalidMessage, .. }
    ));
}

#[tokio::test]
async fn comments_stay_if_their_message_is_refused() {
    let app = Launch::new().agent(script().on_any_prompt().say("Working.").hang()).start().await;
    let mut browser = app.browser().await;
    let (_, session) = project(&app, &mut browser).await;
    browser.opens(&session).await;
    browser.says_to(&session, "work").await;
    for message in 0..100 {
        browser.queues(&session, &message.to_string()).await;
    }
    keep(&mut browser, &session, about([1, 1], "a", "Drop this.")).await;
    let send = ClientMessage::ChangesSendComments { session_id: session.clone() };
    let refused = browser.ask(send).await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionBusy, .. }),
        "{refused:?}"
    );
    assert_eq!(comments(&mut browser, &session).await.len(), 1);
}

#[tokio::test]
async fn a_comment_says_when_its_code_moved() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (directory, session) = project(&app, &mut browser).await;
    keep(&mut browser, &session, about([2, 3], "b\nc", "Why?")).await;
    let id = comments(&mut browser, &session).await[0].id.clone();
    assert_eq!(moved(&mut browser, &session).await, []);
    let file = Path::new(&directory).join("one.txt");
    std::fs::write(&file, "a\nnew\nb\nc\n").unwrap();
    let line = Some(3);
    assert_eq!(moved(&mut browser, &session).await, [MovedComment { id: id.clone(), line }]);
    std::fs::write(&file, "a\n").unwrap();
    assert_eq!(moved(&mut browser, &session).await, [MovedComment { id, line: None }]);
}

#[tokio::test]
async fn a_comment_without_words_or_lines_is_refused() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (_, session) = project(&app, &mut browser).await;
    let long = "x".repeat(9000);
    for (lines, snippet, text) in
        [([1, 1], "a", "  "), ([0, 1], "a", "x"), ([2, 1], "a", "x"), ([1, 1], long.as_str(), "x")]
    {
        assert!(matches!(
            keep(&mut browser, &session, about(lines, snippet, text)).await,
            ServerMessage::Error { code: ErrorCode::InvalidMessage, .. }
        ));
    }
    assert_eq!(comments(&mut browser, &session).await, []);
}
