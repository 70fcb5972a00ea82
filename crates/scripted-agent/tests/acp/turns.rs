//! Turns: bound, streamed, ended, stopped, and those the agent starts on its own.

use std::time::Duration;

use liminal_agents::{CliProvider, ProviderError};
use liminal_contract::AuthMethod;
use liminal_scripted_agent::{Choice, PlanStatus, Step, Steps, act, script};
use liminal_stream::SessionFact;

use super::chat::TurnEnd;
use super::support::{App, appears};

#[tokio::test]
async fn everything_an_agent_does_in_a_turn_is_seen_in_its_order() {
    let app = App::new(
        script()
            .on_any_prompt()
            .think("Hm. ")
            .think("Let me look.")
            .say("I look ")
            .say("at it.")
            .command("c", "ls")
            .tool_output("c", "a.txt\n")
            .tool_done("c", "b.txt\n")
            .diff("d", "a.txt", Some("old"), "new")
            .tool_failed("d", "no room")
            .plan(&[("Look", PlanStatus::Completed), ("Think", PlanStatus::Pending)])
            .echo_prompt()
            .say("Done.")
            .title("Looking"),
    );
    let mut chat = app.create().await;
    let end = chat.asks("look").await;
    assert_eq!(
        end,
        TurnEnd {
            turn: "t1".into(),
            how: "completed".into(),
            words: "end_turn".into(),
            details: None
        }
    );
    assert_eq!(
        chat.transcript(),
        "Thinks: Hm. Let me look.\n\
         Agent: I look at it.\n\
         Execute ls: a.txt\nb.txt\n\n\
         Other  failed: no room [a.txt: \"old\" to \"new\"]\n\
         Plan: Completed Look, Pending Think\n\
         Agent: Done.\n"
    );
    assert!(chat.facts.contains(&SessionFact::Title("Looking".into())));
    app.stop().await;
}

#[tokio::test]
async fn a_send_returns_when_the_turn_is_bound_and_a_second_one_is_refused() {
    let app = App::new(script().on_any_prompt().say("one ").wait_for_cancel().stop("cancelled"));
    let mut chat = app.create().await;
    chat.send("count").await;
    let busy = chat.try_send("again").await.unwrap_err();
    assert_eq!(busy, ProviderError::Busy { name: "Scripted".into() });
    chat.sees("one ").await;
    assert_eq!(chat.cancel().await, Ok(()));
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    // The text so far stays, and is neither complete nor failed.
    assert_eq!(chat.transcript(), "Agent: one …\n");
    app.stop().await;
}

#[tokio::test]
async fn a_command_that_is_stopped_with_its_turn_did_not_fail() {
    let app = App::new(
        script()
            .on_any_prompt()
            .command("c", "npm test")
            .tool_output("c", "3 of 9")
            .wait_for_cancel()
            .stop("cancelled"),
    );
    let mut chat = app.create().await;
    chat.send("test").await;
    chat.sees("3 of 9").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert_eq!(chat.transcript(), "Execute npm test: 3 of 9…\n");
    app.stop().await;
}

#[tokio::test]
async fn a_finish_after_the_user_asked_to_stop_is_a_cancellation() {
    let app = App::new(
        script().on_any_prompt().say("one ").wait_for_cancel().say("two").stop("end_turn"),
    );
    let mut chat = app.create().await;
    chat.send("count").await;
    chat.sees("one ").await;
    chat.cancel().await.unwrap();
    let end = chat.turn_ends().await;
    assert_eq!((end.how.as_str(), end.words.as_str()), ("cancelled", "end_turn"));
    assert_eq!(chat.transcript(), "Agent: one two…\n");
    app.stop().await;
}

#[tokio::test]
async fn nothing_to_stop_is_no_error() {
    let app = App::new(script().on_any_prompt().say("hi"));
    let mut chat = app.create().await;
    assert_eq!(chat.cancel().await, Ok(()));
    chat.asks("hello").await;
    assert_eq!(chat.cancel().await, Ok(()));
    app.stop().await;
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_not_heard_until_it_answers() {
    let script = script()
        .on_prompt("long")
        .say("one ")
        .ignore_cancel()
        .wait_for_file("go-on")
        .say("two")
        .command("late", "rm -rf /")
        .stop("end_turn")
        .on_prompt("next")
        .say("fresh");
    let app = App::with(script, |setup| setup.patience.interrupt = Duration::from_millis(50));
    let mut chat = app.create().await;
    chat.send("long").await;
    chat.sees("one ").await;

    let unanswered = chat.cancel().await.unwrap_err();
    assert_eq!(unanswered, ProviderError::InterruptUnanswered { name: "Scripted".into() });
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert!(matches!(chat.try_send("next").await, Err(ProviderError::Busy { .. })));

    std::fs::write(app.file("go-on"), "").unwrap();
    // Only its response makes the session usable again; there is nothing else to wait for.
    while let Err(error) = chat.try_send("next").await {
        assert_eq!(error, ProviderError::Busy { name: "Scripted".into() });
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(chat.turn_ends().await.how, "completed");
    assert_eq!(chat.transcript(), "Agent: one …\nAgent: fresh\n");
    app.stop().await;
}

#[tokio::test]
async fn an_error_as_the_answer_is_a_failed_turn_with_the_agents_words() {
    let app =
        App::new(script().on_any_prompt().say("I try. ").fail(-32603, "The model is overloaded"));
    let mut chat = app.create().await;
    let end = chat.asks("hello").await;
    assert_eq!(
        (end.how.as_str(), end.words.as_str()),
        ("AgentProtocolError", "The model is overloaded")
    );
    assert_eq!(chat.asks("again").await.how, "AgentProtocolError");
    app.stop().await;
}

#[tokio::test]
async fn a_login_that_ran_out_names_the_command() {
    let app = App::new(
        script()
            .about(|about| {
                about.auth_methods = vec![Choice {
                    id: "key".into(),
                    name: "API key".into(),
                    kind: None,
                    description: None,
                }];
            })
            .on_any_prompt()
            .fail(-32000, "Authentication required"),
    );
    let mut chat = app.create().await;
    let end = chat.asks("hello").await;
    assert_eq!(end.how, "AuthRequired");
    let details = end.details.unwrap();
    assert_eq!(details.command.as_deref(), Some("scripted login"));
    let (id, name) = ("key".into(), "API key".into());
    let key = AuthMethod { id, name, description: None, command: None };
    assert_eq!(details.auth_methods, Some(vec![key]));
    app.stop().await;
}

#[tokio::test]
async fn what_comes_while_idle_is_a_turn_of_the_agents_own() {
    let script = script()
        .on_prompt("start")
        .say("Started.")
        .after_turn(act().wait_for_file("wake").say("By the way, ").say("it is done."))
        .on_prompt("next")
        .say("Yes?");
    // Longer than a busy machine takes between two words.
    let app = App::with(script, |setup| setup.patience.own_turn_quiet = Duration::from_secs(2));
    let mut chat = app.create().await;
    chat.asks("start").await;
    std::fs::write(app.file("wake"), "").unwrap();
    chat.sees("it is done.").await;
    let own = chat.turn_ends().await;
    assert_eq!(own.how, "completed");
    assert_ne!(own.turn, "t1");
    assert_eq!(chat.asks("next").await.turn, "t2");
    assert_eq!(chat.transcript(), "Agent: Started.\nAgent: By the way, it is done.\nAgent: Yes?\n");
    app.stop().await;
}

#[tokio::test]
async fn a_message_ends_a_turn_of_the_agents_own_and_stop_does_too() {
    let script = script()
        .on_session()
        .say("Welcome!")
        .on_any_prompt()
        .say("Hello.")
        .after_turn(act().say("And another thing"));
    let app = App::with(script, |setup| setup.patience.own_turn_quiet = Duration::from_secs(3600));
    let mut chat = app.create().await;
    chat.sees("Welcome!").await;
    chat.send("hi").await;
    assert_eq!(chat.turn_ends().await.how, "completed");
    assert_eq!(chat.turn_ends().await.turn, "t1");
    chat.sees("And another thing").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    app.stop().await;
}

#[tokio::test]
async fn two_sessions_of_one_process_do_not_mix() {
    let app = App::new(script().on_any_prompt().say("You said ").say_prompt());
    let (mut one, mut two) = (app.create().await, app.create().await);
    one.send("one").await;
    two.send("two").await;
    one.turn_ends().await;
    two.turn_ends().await;
    assert_eq!(one.transcript(), "Agent: You said one\n");
    assert_eq!(two.transcript(), "Agent: You said two\n");
    app.stop().await;
}

#[tokio::test]
async fn garbage_on_stdout_costs_nothing() {
    let app = App::new(
        script()
            .on_any_prompt()
            .say("before ")
            .raw("Listening on port 7")
            .raw("")
            .raw("{\"jsonrpc\":")
            .raw("[1,2]")
            .step(Step::InvalidUtf8)
            .raw("{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}")
            .raw("{\"jsonrpc\":\"2.0\",\"method\":\"_strange/notice\",\"params\":{}}")
            .raw_update(serde_json::json!({"sessionUpdate": "mood", "mood": "calm"}))
            .say("after"),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("hi").await.how, "completed");
    assert_eq!(chat.transcript(), "Agent: before after\n");
    app.stop().await;
}

#[tokio::test]
async fn a_request_we_do_not_know_is_answered_so() {
    let app = App::new(
        script()
            .on_any_prompt()
            .step(Step::RawRequest("brew/coffee".into(), serde_json::json!({}))),
    );
    let mut chat = app.create().await;
    chat.asks("hi").await;
    assert!(chat.transcript().contains("-32601"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn a_killed_session_is_closed_and_others_go_on() {
    let app = App::new(
        script()
            .on_prompt("wait")
            .touch("waiting")
            .wait_for_cancel()
            .stop("cancelled")
            .on_any_prompt()
            .say("hi"),
    );
    let (mut one, mut two) = (app.create().await, app.create().await);
    one.send("wait").await;
    appears(&app.file("waiting")).await;
    app.provider.kill_session(&one.id).await.unwrap();
    assert_eq!(one.turn_ends().await.how, "cancelled");
    one.until("it is closed", |chat| chat.closed).await;
    assert!(!app.provider.is_alive(&one.id));
    assert!(matches!(one.try_send("hi").await, Err(ProviderError::SessionUnknown { .. })));
    assert!(app.provider.is_alive(&two.id));
    assert_eq!(two.asks("hi").await.how, "completed");
    app.stop().await;
}
