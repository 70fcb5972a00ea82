//! Messages that reach an agent while a turn runs, where it can take them.

use liminal_contract::{QueueAct, ServerMessage, SessionId, Steers, TurnId};
use liminal_scripted_agent::{ScriptBuilder, Steps, act, answered, script};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{App, Browser, Launch};

/// A session with the Claude face, and a directory whose files the script waits for.
async fn claude(script: impl FnOnce(&str) -> ScriptBuilder) -> (App, Browser, SessionId, TempDir) {
    let gate = tempfile::tempdir().unwrap();
    let app = Launch::new().claude(script(&gate.path().to_string_lossy())).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    (app, browser, session, gate)
}

fn in_tools(gate: &str) -> ScriptBuilder {
    script()
        .on_prompt("work")
        .say("First.")
        .command("c", "make")
        .wait_for_message()
        .wait_for_file(format!("{gate}/made"))
        .tool_done("c", "made")
        .wait_for_file(format!("{gate}/end"))
        .say("Second.")
        .stop("end_turn")
        .on_any_prompt()
        .say("Answer.")
        .stop("end_turn")
}

fn in_prose(gate: &str) -> ScriptBuilder {
    script()
        .on_prompt("work")
        .say("Prose.")
        .wait_for_message()
        .wait_for_file(format!("{gate}/end"))
        .stop("end_turn")
        .on_any_prompt()
        .say("Answer.")
        .stop("end_turn")
}

fn open(gate: &TempDir, name: &str) {
    std::fs::write(gate.path().join(name), "").unwrap();
}

/// Queues a message and sends it now.
async fn steers(browser: &mut Browser, session: &SessionId, content: &str) -> String {
    let message = browser.queues(session, content).await;
    let acted = browser.acts_on(session, &message, QueueAct::Steer {}).await;
    assert_eq!(acted, ServerMessage::Ok {});
    message
}

/// Waits until the agent has the message.
async fn is_handed(browser: &mut Browser, session: &SessionId, message: &str) {
    let handed = |frame: &Value| {
        let messages = frame["facts"]["queue"]["messages"].as_array()?;
        let is_it = |queued: &Value| queued["message"] == message && queued["handed"] == true;
        (frame["sessionId"] == session.as_str() && messages.iter().any(is_it)).then_some(())
    };
    browser.sees("a message that is handed over", handed).await;
}

#[tokio::test]
async fn claude_reads_a_message_after_its_step_and_the_transcript_has_it_there() {
    let (app, mut browser, session, gate) = claude(in_tools).await;
    browser.knows(&session, |facts| facts.steers == Steers::AfterStep).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_text(&session, "First.").await;
    let message = steers(&mut browser, &session, "and this").await;
    is_handed(&mut browser, &session, &message).await;
    open(&gate, "made");
    browser.sees_queue(&session, None, &[]).await;
    open(&gate, "end");
    browser.sees_end(&turn).await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["work", "First.", "and this", "Second."]);
    assert_eq!(history.turns.len(), 1, "one turn answers both");

    // The agent's own file has it at the same place.
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    assert_eq!(browser.opens(&session).await.texts(), history.texts());
}

#[tokio::test]
async fn a_message_handed_over_in_the_last_words_gets_the_next_turn() {
    let (_app, mut browser, session, gate) = claude(in_prose).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Prose.").await;
    let message = steers(&mut browser, &session, "and this").await;
    is_handed(&mut browser, &session, &message).await;
    open(&gate, "end");
    browser.sees_end(&turn).await;
    browser.sees_end(&TurnId::new(message)).await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["work", "Prose.", "and this", "Answer."]);
    assert_eq!((history.turns.len(), history.facts.queue.messages.len()), (2, 0));
}

#[tokio::test]
async fn stop_returns_what_was_handed_over_to_the_top_of_the_queue() {
    let (_app, mut browser, session, _gate) = claude(in_prose).await;
    browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Prose.").await;
    browser.queues(&session, "later").await;
    let message = steers(&mut browser, &session, "and this").await;
    is_handed(&mut browser, &session, &message).await;
    browser.cancels(&session).await;
    let stopped = |queue: &liminal_contract::MessageQueue| {
        queue.held.is_some() && queue.messages.iter().all(|queued| !queued.handed)
    };
    let history = browser.knows(&session, |facts| stopped(&facts.queue)).await;
    let waiting: Vec<_> = history.facts.queue.messages.iter().map(|it| &it.content).collect();
    assert_eq!(waiting, ["and this", "later"]);
    assert_eq!(history.texts(), ["work", "Prose."]);
}

#[tokio::test]
async fn a_command_never_steers_and_an_agent_that_leaves_returns_the_message() {
    let (app, mut browser, session, _gate) = claude(in_prose).await;
    browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Prose.").await;
    let message = steers(&mut browser, &session, "and this").await;
    is_handed(&mut browser, &session, &message).await;
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let history = browser.knows(&session, |facts| facts.queue.held.is_some()).await;
    let queue = &history.facts.queue;
    assert_eq!(queue.messages.len(), 1, "it stands in the queue");
    assert!(!queue.messages[0].handed, "{queue:?}");
    assert_eq!(history.texts(), ["work", "Prose."]);

    browser.continues(&session).await;
    browser.sees_end(&TurnId::new(message)).await;
    browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Prose.").await;
    steers(&mut browser, &session, "/help").await;
    browser.knows(&session, |facts| facts.queue.messages.is_empty()).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(&texts[2..5], ["and this", "Answer.", "work"], "each once");
}

#[tokio::test]
async fn sending_now_refuses_the_permission_that_the_message_would_wait_for() {
    let asks = |_: &str| {
        let refused = answered("reject", act().tool_failed("c", "refused"));
        script()
            .on_prompt("work")
            .command("c", "make")
            .ask("c", refused)
            .say("Over.")
            .stop("end_turn")
    };
    let (_app, mut browser, session, _gate) = claude(asks).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_ask(&session).await;
    steers(&mut browser, &session, "not that").await;
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    assert!(texts.contains(&"not that".to_owned()), "{texts:?}");
    assert_eq!(texts.last().map(String::as_str), Some("Over."), "{texts:?}");
}

#[tokio::test]
async fn an_agent_that_steers_at_once_takes_the_message_in_the_middle_of_its_words() {
    let gate = tempfile::tempdir().unwrap();
    let end = gate.path().join("end").to_string_lossy().into_owned();
    let mut script = script()
        .on_prompt("work")
        .say("Half")
        .wait_for_file(end)
        .say(" and half.")
        .stop("end_turn");
    script = script.about(|about| about.steering = true);
    let (_app, mut browser, session) = App::with_session(script).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Half").await;
    assert_eq!(browser.opens(&session).await.facts.steers, Steers::AtOnce);
    steers(&mut browser, &session, "and this").await;
    browser.sees_queue(&session, None, &[]).await;
    open(&gate, "end");
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts, ["work", "Half", "and this", " and half."]);
}
