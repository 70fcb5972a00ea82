//! Forms of an ACP agent and pages that it asks the user to open: only the user answers them.

use std::collections::BTreeMap;

use liminal_contract::{
    AnswerValue, Body, ClientMessage, ErrorCode, ItemId, Outcome, OutcomeBy, Policy, ServerMessage,
    SessionId,
};
use liminal_scripted_agent::{ScriptBuilder, Step, Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Browser, Launch};

fn elicits(params: Value) -> ScriptBuilder {
    script().on_prompt("go").step(Step::Elicit(params)).stop("end_turn")
}

fn form() -> Value {
    json!({"mode": "form", "message": "Which colour?\nIt can be changed later.", "requestedSchema": {
        "type": "object", "required": ["colour"], "properties": {
            "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
            "count": {"type": "integer", "maximum": 9},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    }}})
}

async fn asked(params: Value) -> (App, Browser, SessionId, ItemId) {
    let app = Launch::new().agent(elicits(params)).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    browser.sets_policy(&session, Policy::Auto).await;
    browser.says_to(&session, "go").await;
    let item = browser.sees_ask(&session).await;
    (app, browser, session, item)
}

async fn answers(
    browser: &mut Browser,
    (session_id, item_id): (SessionId, ItemId),
    option: Option<&str>,
    answers: &[(&str, AnswerValue)],
) -> ServerMessage {
    let answers: BTreeMap<_, _> =
        answers.iter().map(|(id, answer)| ((*id).to_owned(), answer.clone())).collect();
    let (option_id, answers) =
        (option.map(str::to_owned), Some(answers).filter(|it| !it.is_empty()));
    let answer =
        ClientMessage::SessionPermission { session_id, item_id, option_id, answers, message: None };
    browser.ask(answer).await
}

#[tokio::test]
async fn a_form_waits_for_the_user_under_every_policy_and_is_sent_with_the_types_of_its_schema() {
    let (app, mut browser, session, item) = asked(form()).await;
    let mut other = app.browser().await;
    let history = other.opens(&session).await;
    let open = history.entries.iter().find(|entry| entry.item_id == item).unwrap();
    let Body::Permission { title, questions, outcome, dismissible, .. } = &open.body else {
        panic!("{open:?}")
    };
    assert_eq!((title.as_str(), outcome, dismissible), ("Which colour?", &None, &Some(true)));
    assert_eq!(questions.as_ref().map(Vec::len), Some(3));

    let about = || (session.clone(), item.clone());
    let wrong = answers(&mut browser, about(), Some("accept"), &[("colour", "green".into())]).await;
    let ServerMessage::Error { code, message, .. } = wrong else { panic!("{wrong:?}") };
    assert_eq!(code, ErrorCode::InvalidMessage);
    assert_eq!(message, "“colour” must be one of its choices.");

    let tags = AnswerValue::Several(vec!["y".into()]);
    let right = [("colour", "b".into()), ("count", "3".into()), ("tags", tags)];
    let reply = answers(&mut browser, about(), Some("accept"), &right).await;
    assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
    browser.sees_text(&session, "Action: accept").await;
    let history = browser.opens(&session).await;
    let said = format!("{:?}", history.entries.last().unwrap().body).replace('\\', "");
    for part in [r#""colour": "b""#, r#""count": 3"#, r#""y""#] {
        assert!(said.contains(part), "{said}");
    }
    let closed = history.entries.iter().find(|entry| entry.item_id == item).unwrap();
    let Body::Permission { outcome: Some(outcome), .. } = &closed.body else {
        panic!("{closed:?}")
    };
    let kept: Vec<_> = outcome.answers.iter().map(|it| (&*it.question, &*it.answer)).collect();
    assert_eq!(kept, [("colour", "Blue"), ("count", "3"), ("tags", "y")]);
}

#[tokio::test]
async fn declining_a_form_and_cancelling_it_are_two_answers() {
    for (option, action) in [(Some("decline"), "Action: decline."), (None, "Action: cancel.")] {
        let (_app, mut browser, session, item) = asked(form()).await;
        let about = (session.clone(), item.clone());
        let reply = answers(&mut browser, about, option, &[]).await;
        assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
        browser.sees_text(&session, action).await;
        let history = browser.opens(&session).await;
        let closed = history.entries.iter().find(|entry| entry.item_id == item).unwrap();
        let expected = Outcome {
            option_id: option.map(str::to_owned),
            ..Outcome::without_choice(OutcomeBy::User)
        };
        let Body::Permission { outcome, .. } = &closed.body else { panic!("{closed:?}") };
        assert_eq!(*outcome, Some(expected));
    }
}

#[tokio::test]
async fn stopping_the_turn_cancels_its_form() {
    let (_app, mut browser, session, item) = asked(form()).await;
    browser.cancels(&session).await;
    let by = browser.sees_item(&session, "permission", |seen| match &seen.body {
        Body::Permission { outcome, .. } if seen.item_id == item => {
            outcome.as_ref().map(|it| it.by)
        }
        _ => None,
    });
    assert_eq!(by.await, OutcomeBy::Cancel);
}

#[tokio::test]
async fn a_page_to_open_is_shown_in_full_and_only_if_it_is_http() {
    let page =
        |url: &str| json!({"mode": "url", "message": "Log in", "url": url, "elicitationId": "1"});
    let (_app, mut browser, session, item) = asked(page("https://example.com/a?b=c")).await;
    let history = browser.opens(&session).await;
    let open = history.entries.iter().find(|entry| entry.item_id == item).unwrap();
    assert!(
        matches!(&open.body, Body::Permission { url: Some(url), .. } if url == "https://example.com/a?b=c")
    );
    let reply = answers(&mut browser, (session.clone(), item), Some("accept"), &[]).await;
    assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
    browser.sees_text(&session, "Action: accept.").await;

    let app = Launch::new().agent(elicits(page("javascript:alert(1)"))).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    browser.says_to(&session, "go").await;
    browser.sees_text(&session, "Action: nothing.").await;
}

#[tokio::test]
async fn a_form_too_large_to_show_is_refused_and_the_user_is_told() {
    let choices: Vec<_> = (0..900).map(|n| format!("choice {n}")).collect();
    let field = json!({"type": "string", "enum": choices});
    let fields: serde_json::Map<_, _> =
        (0..1000).map(|n| (format!("f{n}"), field.clone())).collect();
    let large = json!({"mode": "form", "message": "Choose.",
        "requestedSchema": {"type": "object", "properties": fields}});
    let (_app, mut browser, session) = App::with_session(elicits(large)).await;
    let turn = browser.says_to(&session, "go").await;
    let told = browser.sees_item(&session, "notice", |item| match &item.body {
        Body::Notice { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(
        told.await,
        "The agent asked with a form that can't be shown (more than 1 MB). It was told so."
    );
    browser.sees_end(&turn).await;
}
