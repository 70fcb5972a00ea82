//! Sessions whose process ends, is restarted, or never starts.

use std::time::Duration;

use liminal_agents::catalogue::Processes;
use liminal_agents::{CliProvider, NewSession, ProviderError};
use liminal_contract::AgentStatus;
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

        // It is restarted automatically, and knows both sessions.
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
    let banner = Step::Raw("Set MODEL first".into());
    let app = App::new(script().step(banner).crash(4, "no configuration found"));
    let error = app.try_create().await.err().unwrap();
    let ProviderError::NotConnected { name, reason, stderr_tail } = error else {
        panic!("{error:?}")
    };
    assert_eq!((name.as_str(), reason.as_str()), ("Scripted", "It ended before it was ready."));
    assert!(stderr_tail.contains("no configuration found"), "{stderr_tail}");
    assert!(stderr_tail.contains("Set MODEL first"), "{stderr_tail}");
    app.stop().await;
}

#[tokio::test]
async fn a_process_that_never_answers_is_given_up() {
    let app = App::with(script().hang(), |setup| {
        let limit = Some(Duration::from_millis(200));
        setup.timing = setup.timing.clone().starting_within(limit);
    });
    let error = app.try_create().await.err().unwrap();
    assert!(error.to_string().starts_with("Could not connect to Scripted."), "{error}");
    app.stop().await;
}

#[tokio::test]
async fn a_slow_start_is_told_and_not_given_up() {
    let script = script().wait_for_file("go").on_any_prompt().say("Here at last.");
    let mut app = App::with(script, |setup| setup.timing.start = Duration::from_secs(1));
    let (creating, project) = (app.provider.clone(), app.project());
    let created = tokio::spawn(async move {
        creating
            .create_session(NewSession {
                project_dir: project,
                session_id: None,
                chosen: Vec::new(),
                wanted: Vec::new(),
                fork: None,
            })
            .await
    });
    let hint = loop {
        let status = app.statuses.recv().await.unwrap();
        assert_eq!(status.status, AgentStatus::Starting);
        if let Some(hint) = status.details.and_then(|details| details.hint) {
            break hint;
        }
    };
    assert!(hint.starts_with("Scripted is still starting."), "{hint}");
    std::fs::write(app.file("go"), "").unwrap();
    created.await.unwrap().unwrap();
    app.stop().await;
}

#[tokio::test]
async fn the_process_starts_in_the_project_it_is_needed_for() {
    let app = App::new(script().touch("started-here").on_any_prompt().say("ok"));
    app.create().await;
    assert!(app.file("started-here").exists());
    app.stop().await;
}

#[tokio::test]
async fn a_crash_says_which_other_sessions_were_at_work() {
    let script = script()
        .on_prompt("wait")
        .say("Waiting.")
        .hang()
        .on_prompt("die")
        .crash(3, "")
        .on_any_prompt()
        .say("ok");
    let app = App::new(script);
    let (mut one, mut two, mut idle) = (app.create().await, app.create().await, app.create().await);
    idle.asks("hi").await;
    one.send("wait").await;
    one.sees("Waiting.").await;
    let others = |end: super::chat::TurnEnd| end.details.and_then(|it| it.interrupted);
    assert_eq!(others(two.asks("die").await), Some(vec![one.id.clone()]));
    assert_eq!(others(one.turn_ends().await), Some(vec![two.id.clone()]));
    app.stop().await;
}

#[tokio::test]
async fn with_a_process_for_each_session_a_crash_interrupts_only_that_one() {
    let script = script()
        .on_prompt("wait")
        .say("Waiting.")
        .wait_for_file("go")
        .say("Done.")
        .on_prompt("die")
        .crash(3, "")
        .on_any_prompt()
        .say("Still here.");
    let mut app = App::with(script, |setup| setup.agent.processes = Processes::PerSession);
    let (mut one, mut two) = (app.create().await, app.create().await);
    one.send("wait").await;
    one.sees("Waiting.").await;
    let end = two.asks("die").await;
    assert_eq!(
        (end.how.as_str(), end.details.and_then(|it| it.interrupted)),
        ("ProcessCrash", None)
    );
    std::fs::write(app.file("go"), "").unwrap();
    assert_eq!(one.turn_ends().await.how, "completed");
    assert_eq!(two.asks("hi").await.how, "completed");
    assert_eq!(two.transcript(), "Agent: Still here.\n");
    let mut of: Vec<_> = std::iter::from_fn(|| app.statuses.try_recv().ok())
        .map(|change| change.session_id.unwrap())
        .collect();
    of.sort();
    of.dedup();
    let mut both = [one.id.clone(), two.id.clone()];
    both.sort();
    assert_eq!(of, both);
    app.provider.kill_session(&one.id).await.unwrap();
    assert!(!app.provider.is_alive(&one.id) && app.provider.is_alive(&two.id));
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
        // Longer than a busy machine takes between the two steps of a message.
        setup.timing.idle = Duration::from_millis(500);
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
