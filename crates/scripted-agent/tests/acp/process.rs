//! What happens to sessions when the process behind them ends, is started again, or never starts.

use std::time::Duration;

use liminal_agents::{CliProvider, ProviderError};
use liminal_scripted_agent::{Replay, Step, Steps, script};

use super::support::{App, appears};

#[tokio::test]
async fn a_crash_mid_answer_ends_the_turn_and_keeps_its_words() {
    for (load, resume) in [(Replay::BeforeAnswer, true), (Replay::AfterAnswer, false)] {
        let mut app = App::new(
            script()
                .about(|about| (about.load, about.resume) = (load, resume))
                .on_prompt("die")
                .say("I am ")
                .stderr("something is wrong")
                .crash(3, "this is the end")
                .on_any_prompt()
                .say("Still here."),
        );
        let (mut one, mut two) = (app.create().await, app.create().await);
        assert_eq!(two.asks("hi").await.how, "completed");

        let end = one.asks("die").await;
        assert_eq!(
            (end.how.as_str(), end.words.as_str()),
            ("ProcessCrash", "Connection to Scripted lost.")
        );
        let tail = end.details.unwrap().stderr_tail.unwrap();
        assert!(tail.contains("something is wrong") && tail.contains("this is the end"), "{tail}");
        assert!(one.transcript().starts_with("Agent: I am "));
        for chat in [&mut one, &mut two] {
            chat.until("it is told", |chat| chat.left.len() == 1).await;
        }

        // It is started again by itself, and both sessions are known to it.
        assert_eq!(one.asks("hi").await.how, "completed");
        assert_eq!(two.asks("hi").await.how, "completed");
        assert!(app.provider.is_alive(&one.id));
        assert_eq!(two.transcript(), "Agent: Still here.\nAgent: Still here.\n");
        let statuses = app.statuses();
        assert_eq!(statuses[..3], ["starting", "connected", "disconnected"]);
        assert_eq!(statuses.last().map(String::as_str), Some("connected"));
        app.stop().await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_says_how_to_install_it() {
    let app = App::with(script(), |setup| {
        setup.agent.launch.program = "no-such-agent".into();
        setup.agent.launch.install = Some("npm install no-such-agent".into());
    });
    let error = app.try_create().await.err().unwrap();
    assert_eq!(error.to_string(), "Could not start Scripted. Check that it's installed.");
    assert_eq!(error.details().unwrap().command.as_deref(), Some("npm install no-such-agent"));
    app.stop().await;
}

#[tokio::test]
async fn a_process_that_ends_before_the_handshake_says_why() {
    let app = App::new(script().crash(4, "no configuration found"));
    let error = app.try_create().await.err().unwrap();
    let ProviderError::NotConnected { name, reason, stderr_tail } = error else {
        panic!("{error:?}")
    };
    assert_eq!((name.as_str(), reason.as_str()), ("Scripted", "It ended before it was ready."));
    assert!(stderr_tail.contains("no configuration found"), "{stderr_tail}");
    app.stop().await;
}

#[tokio::test]
async fn a_process_that_never_answers_is_given_up() {
    let app = App::with(script().hang(), |setup| setup.timing.start = Duration::from_millis(200));
    let error = app.try_create().await.err().unwrap();
    assert!(error.to_string().starts_with("Could not connect to Scripted."), "{error}");
    app.stop().await;
}

#[tokio::test]
async fn a_line_without_end_breaks_the_protocol() {
    let app = App::new(script().on_any_prompt().say("a lot: ").step(Step::HugeLine(65 << 20)));
    let mut chat = app.create().await;
    let end = chat.asks("go").await;
    assert_eq!(end.how, "ProtocolError");
    assert!(end.words.contains("64 MB"), "{}", end.words);
    app.stop().await;
}

#[tokio::test]
async fn the_user_may_start_it_again_and_the_sessions_go_on() {
    let mut app =
        App::new(script().on_prompt("wait").touch("waiting").hang().on_any_prompt().say("Here."));
    let mut chat = app.create().await;
    chat.send("wait").await;
    appears(&app.file("waiting")).await;
    app.provider.reconnect(None).await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "ProcessCrash");
    assert_eq!(chat.asks("hi").await.how, "completed");
    assert_eq!(app.statuses(), ["starting", "connected", "reconnecting", "connected"]);
    app.stop().await;
}

#[tokio::test]
async fn an_idle_process_is_stopped_and_the_next_message_starts_it() {
    let mut app = App::with(script().on_any_prompt().say("Here."), |setup| {
        setup.timing.idle = Duration::from_millis(50);
    });
    let mut chat = app.create().await;
    chat.asks("hi").await;
    chat.until("it leaves", |chat| chat.left.len() == 1).await;
    assert!(!app.provider.is_alive(&chat.id));
    assert_eq!(chat.asks("hi").await.how, "completed");
    let statuses = app.statuses();
    assert_eq!(statuses[..5], ["starting", "connected", "idle", "starting", "connected"]);
    app.stop().await;
}

#[tokio::test]
async fn a_shutdown_ends_the_process_and_refuses_what_comes_later() {
    let app = App::new(script().on_any_prompt().hang());
    let mut chat = app.create().await;
    chat.send("hi").await;
    app.provider.shutdown().await;
    assert!(!app.provider.is_alive(&chat.id));
    assert!(matches!(chat.try_send("hi").await, Err(ProviderError::NotConnected { .. })));
}
