//! Several browsers on one session, slow ones, and ones that come back.

use liminal_contract::{
    Body, ClientMessage, ErrorCode, OutcomeBy, Policy, ServerMessage, TurnEventKind,
};
use liminal_scripted_agent::{Steps, act, answered, script};

use crate::support::App;

#[tokio::test]
async fn two_browsers_see_the_same_and_the_first_answer_to_a_question_wins() {
    let (app, mut one, session) = App::with_session(
        script()
            .on_prompt("act")
            .command("c1", "rm -rf target")
            .ask("c1", answered("allow", act().say("done")).or(act().say("not done")))
            .stop("end_turn"),
    )
    .await;
    let mut two = app.browser().await;
    two.opens(&session).await;
    let turn = one.says_to(&session, "act").await;
    two.sees_text(&session, "act").await;
    let asked = one.sees_ask(&session).await;
    assert_eq!(two.sees_ask(&session).await, asked);

    // A page that is loaded now finds the permission open.
    let mut three = app.browser().await;
    let history = three.opens(&session).await;
    assert!(history.entries.iter().any(|entry| entry.item_id == asked));

    assert!(matches!(two.answers(&session, &asked, "allow").await, ServerMessage::Ok {}));
    let late = one.answers(&session, &asked, "reject").await;
    assert!(matches!(late, ServerMessage::Error { code: ErrorCode::PermissionClosed, .. }));
    for browser in [&mut one, &mut two, &mut three] {
        let by = browser
            .sees_item(&session, "permission", |item| match &item.body {
                Body::Permission { outcome: Some(outcome), .. } => Some(outcome.clone()),
                _ => None,
            })
            .await;
        assert_eq!((by.by, by.option_id.as_deref()), (OutcomeBy::User, Some("allow")));
        browser.sees_text(&session, "done").await;
        browser.sees_end(&turn).await;
    }
}

#[tokio::test]
async fn the_policy_auto_allows_once_at_once() {
    let (_app, mut browser, session) = App::with_session(
        script()
            .on_prompt("act")
            .command("c1", "ls")
            .ask("c1", answered("allow", act().say("allowed")).or(act().say("refused")))
            .stop("end_turn"),
    )
    .await;
    browser.sets_policy(&session, Policy::Auto).await;
    let turn = browser.says_to(&session, "act").await;
    browser.sees_text(&session, "allowed").await;
    browser.sees_end(&turn).await;
    let history = browser.opens(&session).await;
    let by = history.entries.iter().find_map(|entry| match &entry.body {
        Body::Permission { outcome, .. } => outcome.as_ref().map(|outcome| outcome.by),
        _ => None,
    });
    assert_eq!(by, Some(OutcomeBy::Policy));
}

#[tokio::test]
async fn a_question_is_void_when_the_agent_left() {
    let (app, mut browser, session) = App::with_session(
        script().on_prompt("act").command("c1", "ls").ask("c1", answered("allow", act())),
    )
    .await;
    let turn = browser.says_to(&session, "act").await;
    let asked = browser.sees_ask(&session).await;
    app.kill_agent("scripted");
    let end = browser.sees_end(&turn).await;
    assert!(matches!(end, TurnEventKind::TurnError { error_code: ErrorCode::ProcessCrash, .. }));
    let late = browser.answers(&session, &asked, "allow").await;
    assert!(matches!(late, ServerMessage::Error { code: ErrorCode::PermissionClosed, .. }));
    let history = browser.opens(&session).await;
    let by = history.entries.iter().find_map(|entry| match &entry.body {
        Body::Permission { outcome, .. } => outcome.as_ref().map(|outcome| outcome.by),
        _ => None,
    });
    assert_eq!(by, Some(OutcomeBy::AgentLeft));
}

#[tokio::test]
async fn a_browser_that_comes_back_with_its_cursor_gets_what_it_missed() {
    let (app, mut browser, session) = App::with_session(
        script()
            .on_prompt("one")
            .say("first")
            .stop("end_turn")
            .on_prompt("two")
            .say("second")
            .stop("end_turn"),
    )
    .await;
    let turn = browser.says_to(&session, "one").await;
    browser.sees_end(&turn).await;
    let left = browser.opens(&session).await.cursor;
    browser.leaves().await;

    let mut other = app.browser().await;
    let all = other.opens(&session).await;
    let turn = other.says_to(&session, "two").await;
    other.sees_end(&turn).await;

    let mut back = app.browser().await;
    let missed = back.opens_since(&session, Some(left), true).await;
    assert_eq!(missed.texts(), ["two", "second"]);
    assert_eq!(missed.turns.iter().map(|turn| &turn.turn_id).collect::<Vec<_>>(), [&turn]);
    assert_eq!(all.entries.len() as u64, missed.entries[0].index);
}

#[tokio::test]
async fn every_opening_is_answered_also_one_that_was_overtaken() {
    let (_app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("ok").stop("end_turn")).await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let open = || ClientMessage::SessionOpen {
        session_id: session.clone(),
        since: None,
        around: None,
        tails: None,
    };
    let mut requests = Vec::new();
    for _ in 0..20 {
        requests.push(browser.send(open()).await);
        requests
            .push(browser.send(ClientMessage::SessionClose { session_id: session.clone() }).await);
        requests.push(browser.send(open()).await);
    }
    for request in &requests {
        let reply = browser.sees_reply(request).await;
        let is_answer =
            matches!(reply, ServerMessage::Ok {} | ServerMessage::SessionHistory { .. });
        assert!(is_answer, "{reply:?}");
    }
    assert_eq!(browser.opens(&session).await.texts(), ["hello", "ok"]);
}

#[tokio::test]
async fn a_session_that_was_closed_while_it_was_being_opened_is_not_followed() {
    let (app, mut one, session) =
        App::with_session(script().on_any_prompt().say("ok").stop("end_turn")).await;
    let mut two = app.browser().await;
    let mut requests = Vec::new();
    for _ in 0..20 {
        let session_id = session.clone();
        let open =
            ClientMessage::SessionOpen { session_id, since: None, around: None, tails: None };
        requests.push(two.send(open).await);
        requests.push(two.send(ClientMessage::SessionClose { session_id: session.clone() }).await);
    }
    for request in &requests {
        two.sees_reply(request).await;
    }
    let turn = one.says_to(&session, "hello").await;
    one.sees_end(&turn).await;
    // Everything sent before the first of these is written before the second is answered.
    two.projects().await;
    two.projects().await;
    assert!(two.everything_seen().all(|frame| frame["type"] != "session:upsert"));
}

#[tokio::test]
async fn a_browser_that_stops_reading_is_dropped_and_nobody_else_notices() {
    // More than the two buffers of a socket and the outbox hold together.
    let lines = "a line of an answer that goes on and on\n".repeat(1200);
    let agent = script().on_prompt("flood").repeat(400, act().new_message().say(&lines));
    let (app, mut reads, session) = App::with_session(agent.stop("end_turn")).await;
    let mut stuck = app.browser().await;
    stuck.opens(&session).await;
    let turn = reads.says_to(&session, "flood").await;
    reads.sees_end(&turn).await;
    assert_eq!(stuck.sees_close().await, 4000);
}
