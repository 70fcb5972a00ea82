//! Requests of one browser about one session take effect in the order sent.

use liminal_contract::{
    ClientMessage, ErrorCode, ServerMessage, TurnEventKind, TurnId, TurnStatus,
};
use liminal_scripted_agent::{Steps, act, answered, script};
use serde_json::json;

use crate::support::{App, Launch};

#[tokio::test]
async fn a_stop_sent_right_after_a_message_stops_its_turn() {
    let agent = script().on_any_prompt().say("Working.").wait_for_cancel().stop("cancelled");
    let (_app, mut browser, session) = App::with_session(agent).await;
    for round in 0..20 {
        let (session_id, content) = (session.clone(), format!("go {round}"));
        let sent = browser
            .send(ClientMessage::SessionSend {
                session_id,
                content,
                attachments: Vec::new(),
                when_busy: None,
            })
            .await;
        let cancel = ClientMessage::SessionCancel { session_id: session.clone() };
        let stopped = browser.send(cancel).await;
        let accepted = browser.sees_reply(&sent).await;
        let ServerMessage::SessionAccepted { turn_id, .. } = accepted else {
            panic!("{accepted:?}")
        };
        browser.sees_reply(&stopped).await;
        let end = browser.sees_end(&turn_id).await;
        assert!(
            matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. }),
            "{end:?}"
        );
    }
}

#[tokio::test]
async fn of_two_openings_sent_back_to_back_the_later_one_counts() {
    let agent = script().on_any_prompt().say("ok").stop("end_turn");
    let (_app, mut browser, session) = App::with_session(agent).await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_end(&turn).await;
    let open = || ClientMessage::SessionOpen {
        session_id: session.clone(),
        since: None,
        around: None,
        tails: None,
    };
    for _ in 0..20 {
        browser.send(open()).await;
        let later = browser.send(open()).await;
        let reply = browser.sees_reply(&later).await;
        assert!(matches!(reply, ServerMessage::SessionHistory { .. }), "{reply:?}");
    }
}

#[tokio::test]
async fn a_browser_that_creates_a_session_or_writes_to_it_follows_it() {
    let agent = || script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn");
    let app = Launch::new().agent(agent()).claude(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    for agent in ["scripted", "claude-code"] {
        let session = browser.creates_session(&project, agent).await;
        let turn = browser.says_to(&session, "one").await;
        browser.sees_text(&session, "You said: one").await;
        browser.sees_end(&turn).await;

        let mut other = app.browser().await;
        let turn = other.says_to(&session, "two").await;
        other.sees_text(&session, "You said: two").await;
        other.sees_end(&turn).await;
        browser.sees_end(&turn).await;
        browser.ask(ClientMessage::SessionClose { session_id: session.clone() }).await;
        let turn = other.says_to(&session, "three").await;
        other.sees_end(&turn).await;
        // A browser that sends and leaves at once gets nothing more either.
        let sent = format!("four to {agent}");
        let send = json!({
            "type": "session:send", "requestId": sent, "sessionId": session, "content": "four",
        });
        let close = json!({"type": "session:close", "sessionId": session});
        browser.floods([send, close].iter().map(ToString::to_string)).await;
        let ServerMessage::SessionAccepted { turn_id, .. } = browser.sees_reply(&sent).await else {
            panic!("not accepted")
        };
        other.sees_end(&turn_id).await;
        browser.projects().await;
        let ended = |frame: &serde_json::Value| {
            frame["type"] == "session:turn" && frame["payload"]["type"] == "turn_complete"
        };
        let is_end = |frame: &&serde_json::Value| {
            ended(frame) && frame["payload"]["turnId"] == turn_id.as_str()
        };
        assert_eq!(browser.everything_seen().find(is_end), None, "it closed the session");
        let of =
            |turn: &TurnId, frame: &serde_json::Value| frame["payload"]["turnId"] == turn.as_str();
        assert!(!browser.everything_seen().any(|frame| of(&turn, frame)), "it closed the session");
    }
}

#[tokio::test]
async fn what_a_new_session_says_comes_after_the_reply_that_names_it() {
    let agent = script().on_session().say("Hello.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.sees_text(&session, "Hello.").await;
    let is_about = |frame: &&serde_json::Value| {
        frame["sessionId"] == session.as_str() && frame["type"] != "session:state"
    };
    let first = browser.everything_seen().find(is_about).unwrap();
    assert_eq!(first["type"], "session:created");
}

#[tokio::test]
async fn answers_without_an_option_are_refused_and_the_permission_stays_open() {
    let (_app, mut browser, session) = App::with_session(
        script()
            .on_prompt("act")
            .command("c1", "make")
            .ask("c1", answered("allow", act().say("done")).or(act().say("not done")))
            .stop("end_turn"),
    )
    .await;
    browser.says_to(&session, "act").await;
    let item_id = browser.sees_ask(&session).await;
    let answers = Some([("Which?".to_owned(), "This.".into())].into_iter().collect());
    let session_id = session.clone();
    let permission = ClientMessage::SessionPermission {
        session_id,
        item_id: item_id.clone(),
        option_id: None,
        answers,
        message: None,
    };
    let refused = browser.ask(permission).await;
    let ServerMessage::Error { code, message, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::InvalidMessage);
    assert!(message.contains("`answers` need the `optionId`"), "{message}");
    assert!(matches!(browser.answers(&session, &item_id, "allow").await, ServerMessage::Ok {}));
    browser.sees_text(&session, "done").await;
}

#[tokio::test]
async fn no_page_begins_beyond_what_a_browser_can_count() {
    let (_app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("ok").stop("end_turn")).await;
    let highest = (1_u64 << 53) - 1;
    assert_eq!(browser.goes_up(&session, highest).await, (vec![], false));
    assert_eq!(browser.goes_down(&session, highest).await, (vec![], false));
    let is_refused = async |browser: &mut crate::support::Browser, message| {
        let reply = browser.ask(message).await;
        let ServerMessage::Error { code, message, .. } = reply else { panic!("{reply:?}") };
        assert_eq!(code, ErrorCode::InvalidMessage);
        message
    };
    let session_id = || session.clone();
    let older = ClientMessage::SessionOlder { session_id: session_id(), before: u64::MAX };
    assert!(is_refused(&mut browser, older).await.contains("`before`"));
    let newer = ClientMessage::SessionNewer { session_id: session_id(), after: highest + 1 };
    assert!(is_refused(&mut browser, newer).await.contains("`after`"));
}
