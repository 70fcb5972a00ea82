//! Messages sent while a turn runs: kept in order, changed by anyone, sent once.

use liminal_contract::{
    ClientMessage, ErrorCode, MessageQueue, QueueAct, QueueHold, ServerMessage, SessionId,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Browser};

/// An agent whose first turn lasts until it is stopped.
fn busy() -> ScriptBuilder {
    script()
        .on_prompt("work")
        .say("Working.")
        .wait_for_cancel()
        .stop("cancelled")
        .on_prompt("break")
        .fail(-32000, "It broke.")
        .on_any_prompt()
        .say("Done.")
        .stop("end_turn")
}

/// The messages of the queue.
fn waiting(queue: &MessageQueue) -> Vec<&str> {
    queue.messages.iter().map(|queued| queued.content.as_str()).collect()
}

async fn at_work(browser: &mut Browser, session: &SessionId) {
    browser.says_to(session, "work").await;
    browser.sees_text(session, "Working.").await;
}

/// Waits for the ends of this many turns.
async fn ends(browser: &mut Browser, turns: usize) {
    for _ in 0..turns {
        let ended = |frame: &Value| {
            let payload = &frame["payload"];
            (frame["type"] == "session:turn" && payload["type"] != "turn_started").then_some(())
        };
        browser.sees("the end of a turn", ended).await;
    }
}

fn code(answer: ServerMessage) -> ErrorCode {
    match answer {
        ServerMessage::Error { code, .. } => code,
        other => panic!("no error: {other:?}"),
    }
}

#[tokio::test]
async fn messages_that_wait_are_sent_one_by_one_when_the_turn_is_over() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let (_app, mut browser, session) = App::with_session(
        script()
            .on_prompt("first")
            .wait_for_file(go_on.to_string_lossy())
            .say("One.")
            .stop("end_turn")
            .on_any_prompt()
            .say("More.")
            .stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "first").await;
    assert_eq!(code(browser.tries_to_say_to(&session, "refused").await), ErrorCode::SessionBusy);
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    let send = json!({
        "type": "session:send", "requestId": request, "sessionId": session, "content": "second",
        "whenBusy": "queue",
    });
    browser.says(&send.to_string()).await;
    let queued = browser.sees_reply(request).await;
    assert!(matches!(queued, ServerMessage::SessionQueued { .. }), "{queued:?}");
    browser.says(&send.to_string()).await;
    assert_eq!(browser.sees_reply(request).await, queued, "a repeated message waits once");
    browser.queues(&session, "third").await;
    assert_eq!(waiting(&browser.opens(&session).await.facts.queue), ["second", "third"]);

    std::fs::write(&go_on, "").unwrap();
    browser.sees_end(&turn).await;
    let accepted = browser.sees_reply(request).await;
    let ServerMessage::SessionAccepted { turn_id, .. } = accepted else { panic!("{accepted:?}") };
    browser.sees_end(&turn_id).await;
    browser.sees_queue(&session, None, &[]).await;
    ends(&mut browser, 1).await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["first", "One.", "second", "More.", "third", "More."]);
    assert_eq!(history.turns.len(), 3);
    assert_eq!(history.facts.queue, MessageQueue::default());
}

#[tokio::test]
async fn a_stopped_or_failed_turn_holds_the_queue_until_someone_continues() {
    let (app, mut browser, session) = App::with_session(busy()).await;
    at_work(&mut browser, &session).await;
    for content in ["break", "last"] {
        browser.queues(&session, content).await;
    }
    browser.cancels(&session).await;
    browser.sees_queue(&session, Some("The turn was stopped."), &["break", "last"]).await;
    let mut other = app.browser().await;
    other.opens(&session).await;
    other.continues(&session).await;
    browser.sees_queue(&session, Some("The turn failed."), &["last"]).await;

    let turn = browser.says_to(&session, "in between").await;
    browser.sees_end(&turn).await;
    let held = browser.opens(&session).await.facts.queue;
    assert_eq!(waiting(&held), ["last"], "a message of the user's own leaves the queue held");
    assert_eq!(held.held_by, Some(QueueHold::Earlier), "but no turn failed just now");
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let kept = browser.opens(&session).await;
    assert_eq!(kept.facts.queue, held, "it outlives the server");
    browser.continues(&session).await;
    browser.sees_queue(&session, None, &[]).await;
    ends(&mut browser, 1).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(
        texts,
        ["work", "Working.", "break", "in between", "Done.", "last", "Done."],
        "each exactly once"
    );
}

#[tokio::test]
async fn a_message_that_is_edited_holds_the_queue_and_nothing_is_sent_behind_it() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let (app, mut browser, session) = App::with_session(
        script()
            .on_prompt("first")
            .wait_for_file(go_on.to_string_lossy())
            .say("One.")
            .stop("end_turn")
            .on_any_prompt()
            .say("More.")
            .stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "first").await;
    let message = browser.queues(&session, "draft").await;
    assert_eq!(browser.acts_on(&session, &message, QueueAct::Hold {}).await, ServerMessage::Ok {});
    let being_edited = Some("A message is being edited.");
    browser.sees_queue(&session, being_edited, &["draft"]).await;
    std::fs::write(&go_on, "").unwrap();
    browser.sees_end(&turn).await;
    let held = browser.opens(&session).await.facts.queue;
    assert_eq!((held.held.as_deref(), waiting(&held)), (being_edited, vec!["draft"]));

    let app = app.restart().await;
    let mut browser = app.browser().await;
    let held = browser.opens(&session).await.facts.queue.held_by;
    assert_eq!(held, Some(QueueHold::Restarted), "the edit alone doesn't end this");
    let edit = QueueAct::Edit { was: "draft".into(), content: "final".into() };
    assert_eq!(browser.acts_on(&session, &message, edit).await, ServerMessage::Ok {});
    browser.sees_queue(&session, Some("Liminal Builder was restarted."), &["final"]).await;
    browser.continues(&session).await;
    browser.sees_queue(&session, None, &[]).await;
    ends(&mut browser, 1).await;
    assert_eq!(browser.opens(&session).await.texts(), ["first", "One.", "final", "More."]);
}

#[tokio::test]
async fn everyone_sees_the_queue_and_the_second_of_two_edits_is_refused() {
    let (app, mut mine, session) = App::with_session(busy()).await;
    let mut yours = app.browser().await;
    yours.opens(&session).await;
    at_work(&mut mine, &session).await;
    let first = mine.queues(&session, "first").await;
    let second = mine.queues(&session, "second").await;
    yours.sees_queue(&session, None, &["first", "second"]).await;

    let edit = |content: &str| QueueAct::Edit { was: "first".into(), content: content.into() };
    assert_eq!(mine.acts_on(&session, &first, edit("better")).await, ServerMessage::Ok {});
    let refused = yours.acts_on(&session, &first, edit("other")).await;
    assert_eq!(code(refused), ErrorCode::QueueGone);
    let to_front = QueueAct::Move { before: Some(first.clone()) };
    assert_eq!(yours.acts_on(&session, &second, to_front).await, ServerMessage::Ok {});
    mine.sees_queue(&session, None, &["second", "better"]).await;
    mine.acts_on(&session, &second, QueueAct::Remove {}).await;
    yours.sees_queue(&session, None, &["better"]).await;
    let gone = yours.acts_on(&session, &second, QueueAct::Remove {}).await;
    assert_eq!(code(gone), ErrorCode::QueueGone);
    let empty = QueueAct::Edit { was: "better".into(), content: " ".into() };
    assert_eq!(code(mine.acts_on(&session, &first, empty).await), ErrorCode::InvalidMessage);
}

#[tokio::test]
async fn a_removed_message_does_not_come_back_when_its_send_is_repeated() {
    let (app, mut browser, session) = App::with_session(busy()).await;
    at_work(&mut browser, &session).await;
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    let send = json!({
        "type": "session:send", "requestId": request, "sessionId": session, "content": "no",
        "whenBusy": "queue",
    });
    browser.says(&send.to_string()).await;
    let queued = browser.sees_reply(request).await;
    let ServerMessage::SessionQueued { message, .. } = &queued else { panic!("{queued:?}") };
    browser.acts_on(&session, message, QueueAct::Remove {}).await;
    browser.says(&send.to_string()).await;
    assert_eq!(browser.sees_reply(request).await, queued);
    assert!(browser.opens(&session).await.facts.queue.messages.is_empty());

    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.says(&send.to_string()).await;
    assert_eq!(browser.sees_reply(request).await, queued);
    assert!(browser.opens(&session).await.facts.queue.messages.is_empty());
}

#[tokio::test]
async fn a_message_that_is_sent_now_stops_the_turn_and_goes_first() {
    let (_app, mut browser, session) = App::with_session(busy()).await;
    at_work(&mut browser, &session).await;
    browser.queues(&session, "later").await;
    let urgent = browser.queues(&session, "now").await;
    assert_eq!(browser.acts_on(&session, &urgent, QueueAct::Steer {}).await, ServerMessage::Ok {});
    browser.sees_queue(&session, None, &[]).await;
    ends(&mut browser, 3).await;
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts, ["work", "Working.", "now", "Done.", "later", "Done."]);
}

#[tokio::test]
async fn a_stop_after_a_message_that_is_sent_now_wins() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let slow = script()
        .on_prompt("work")
        .say("Working.")
        .wait_for_cancel()
        .wait_for_file(go_on.to_string_lossy())
        .stop("cancelled")
        .on_any_prompt()
        .say("Done.");
    let (_app, mut browser, session) = App::with_session(slow).await;
    at_work(&mut browser, &session).await;
    let now = browser.queues(&session, "now").await;
    let id = session.clone();
    let sent =
        ClientMessage::SessionQueue { session_id: id, message: now, act: QueueAct::Steer {} };
    browser.send(sent).await;
    let stop = ClientMessage::SessionCancel { session_id: session.clone() };
    assert_eq!(browser.ask(stop).await, ServerMessage::Ok {});
    std::fs::write(&go_on, "").unwrap();
    browser.sees_queue(&session, Some("The turn was stopped."), &["now"]).await;
    assert_eq!(browser.opens(&session).await.texts(), ["work", "Working."]);
}

#[tokio::test]
async fn a_queue_has_room_for_a_hundred_messages_and_says_so() {
    let (_app, mut browser, session) = App::with_session(busy()).await;
    at_work(&mut browser, &session).await;
    for n in 0..100 {
        browser.queues(&session, &format!("message {n}")).await;
    }
    let send = json!({
        "type": "session:send", "requestId": "one-more", "sessionId": session, "content": "more",
        "whenBusy": "queue",
    });
    browser.says(&send.to_string()).await;
    assert_eq!(code(browser.sees_reply("one-more").await), ErrorCode::SessionBusy);
}

#[tokio::test]
async fn each_message_stands_exactly_once_however_often_the_server_is_killed() {
    let agent = script().on_any_prompt().say("Yes.").stop("end_turn");
    let agent = agent.about(|about| about.steering = true);
    let (mut app, mut browser, session) = App::with_session(agent).await;
    let mut sent = Vec::new();
    for n in 0..100_usize {
        let mut kept = 0;
        for part in ["a", "b", "c"] {
            let content = format!("message {n}{part}");
            let request = uuid::Uuid::new_v4().to_string();
            let send = json!({
                "type": "session:send", "requestId": request, "sessionId": session,
                "content": content, "whenBusy": if part == "b" { "steer" } else { "queue" },
            });
            browser.says(&send.to_string()).await;
            if kept == 0 || n % 3 == 0 {
                browser.sees_reply(&request).await;
                kept += 1;
            }
            sent.push((content, send));
        }
        // Any moment will do, and these are spread over three turns.
        for _ in 0..(n * 7) % 12 {
            browser.sees("anything", |_| Some(())).await;
        }
        app = app.crash_and_restart().await;
        browser = app.browser().await;
        browser.opens(&session).await;
        // As a page does that got no answer: the server recognises what it has.
        for (_, send) in &sent[sent.len() - 3..] {
            browser.says(&send.to_string()).await;
            let answer = browser.sees_reply(send["requestId"].as_str().unwrap()).await;
            assert!(!matches!(answer, ServerMessage::Error { .. }), "{answer:?}");
        }
        browser.continues(&session).await;
        // The queue is bounded, and some rounds end before any turn.
        browser.knows(&session, |facts| facts.queue.messages.len() < 20).await;
    }
    let history = browser.knows(&session, |facts| facts.queue.messages.is_empty()).await;
    let mut texts = history.texts();
    let mut first = history.entries.first().map(|entry| entry.index);
    let mut older = history.older;
    while let Some(before) = first.filter(|_| older) {
        let (entries, more) = browser.goes_up(&session, before).await;
        first = entries.first().map(|entry| entry.index);
        older = more;
        texts.extend(entries.iter().filter_map(crate::support::text_of));
    }
    for (content, _) in sent {
        let times = texts.iter().filter(|text| **text == content).count();
        assert_eq!(times, 1, "{content} stands {times} times");
    }
}
