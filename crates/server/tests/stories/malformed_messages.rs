//! A malformed message gets an error, and affects nothing else.

use liminal_contract::{ClientMessage, ServerMessage};

use crate::support::App;

#[tokio::test]
async fn every_malformed_message_is_answered_and_the_connection_lives_on() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let deep = format!(
        r#"{{"type":"project:list","requestId":"7","x":{}1{}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    for (message, id) in [
        ("nonsense", None),
        ("", None),
        ("[]", None),
        ("null", None),
        (r#"{"type":"project:list","requestId":7}"#, None),
        (r#"{"requestId":"7"}"#, Some("7")),
        (r#"{"type":"project:explode","requestId":"7"}"#, Some("7")),
        (r#"{"type":"project:add","requestId":"7"}"#, Some("7")),
        (r#"{"type":"project:add","path":[],"requestId":"7"}"#, Some("7")),
        (r#"{"type":"session:open","sessionId":"x","requestId":"7"}"#, Some("7")),
        (deep.as_str(), Some("7")),
    ] {
        browser.says(message).await;
        assert_eq!(
            browser.sees_error().await,
            (id.map(str::to_owned), "INVALID_MESSAGE".to_owned()),
            "{message:.80}"
        );
    }
    browser.says_bytes(br#"{"type":"project:list"}"#).await;
    assert_eq!(browser.sees_error().await, (None, "INVALID_MESSAGE".to_owned()));
    assert_eq!(browser.projects().await, []);
}

#[tokio::test]
async fn a_message_of_nine_mebibytes_is_drained_and_answered() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let filler = "x".repeat(9 * 1024 * 1024);
    browser.says(&format!(r#"{{"type":"project:add","path":"{filler}","requestId":"7"}}"#)).await;
    assert_eq!(browser.sees_error().await, (Some("7".to_owned()), "INVALID_MESSAGE".to_owned()));
    assert_eq!(browser.projects().await, []);
}

#[tokio::test]
async fn a_message_of_more_than_sixty_four_mebibytes_ends_its_own_connection_alone() {
    let app = App::start().await;
    let (mut greedy, mut other) = (app.browser().await, app.browser().await);
    greedy.tries_to_say(&"x".repeat(65 * 1024 * 1024)).await;
    assert_eq!(greedy.sees_close().await, 1009);
    assert_eq!(other.projects().await, []);
}

#[tokio::test]
async fn a_flood_does_not_starve_another_connection() {
    let app = App::start().await;
    let (mut flood, mut other) = (app.browser().await, app.browser().await);
    let flooding = tokio::spawn(async move {
        flood
            .floods((0..10_000).map(|n| format!(r#"{{"type":"project:list","requestId":"{n}"}}"#)))
            .await;
        // Answers come in order, so the last one proves that none was dropped.
        flood.sees_reply("9999").await
    });
    for _ in 0..20 {
        assert_eq!(other.projects().await, []);
    }
    assert!(matches!(flooding.await.unwrap(), ServerMessage::ProjectList { .. }));
}

#[tokio::test]
async fn a_page_that_asks_and_never_reads_holds_up_nobody() {
    let app = App::start().await;
    let (mut deaf, mut other) = (app.browser().await, app.browser().await);
    let path = app.directory("x");
    other.adds_project(&path).await;
    deaf.asks_until_nobody_listens(r#"{"type":"project:list"}"#).await;
    assert_eq!(other.projects().await.len(), 1);
    let reply = other.ask(ClientMessage::PathComplete { prefix: format!("{path}/") }).await;
    assert!(matches!(reply, ServerMessage::PathCompletions { .. }));
}
