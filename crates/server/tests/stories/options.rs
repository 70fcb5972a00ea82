//! The agent's own options: set at once, kept without a process, carried over, refused.

use liminal_contract::{
    Asks, CliType, ClientMessage, ErrorCode, OptionValue, Policy, Project, ServerMessage,
    SessionFacts, SessionId,
};
use liminal_scripted_agent::{AgentOption, ScriptBuilder, Step, Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Browser, Launch};

fn agent() -> ScriptBuilder {
    let agent = offering().on_prompt("wait").say("Working.").wait_for_cancel();
    agent.on_any_prompt().say("Done.")
}

/// An agent with a mode, a model, an effort and a flag.
fn offering() -> ScriptBuilder {
    let mut model = AgentOption::new(
        "model",
        "Model",
        "model",
        &[("big", "Big"), ("small", "Small"), ("pro", "Pro")],
    );
    model.choices[2].kind = Some("refused".into());
    let options = vec![
        AgentOption::new("mode", "Mode", "mode", &[("ask", "Ask"), ("yolo", "All")]),
        model,
        AgentOption::new("effort", "Effort", "thought_level", &[("low", "Low"), ("high", "High")]),
        AgentOption::new("fast", "Fast", "other", &[]),
    ];
    script().about(move |about| about.options = options)
}

/// The value of an option, and whether the agent has yet to be told.
fn value(facts: &SessionFacts, id: &str) -> Option<(String, bool)> {
    let option = facts.options.iter().find(|option| option.id == id)?;
    Some((option.value.to_string(), option.pending))
}

fn is(facts: &SessionFacts, id: &str, wanted: &str) -> bool {
    value(facts, id) == Some((wanted.into(), false))
}

fn code(reply: &ServerMessage) -> Option<ErrorCode> {
    match reply {
        ServerMessage::Error { code, .. } => Some(*code),
        _ => None,
    }
}

async fn tries_to_create(
    browser: &mut Browser,
    project: &Project,
    options: &[(&str, OptionValue)],
    confirmed: bool,
) -> ServerMessage {
    let option = |(id, value): &(&str, OptionValue)| ((*id).to_owned(), value.clone());
    let create = ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace: None,
        options: options.iter().map(option).collect(),
        confirmed: Some(confirmed),
    };
    browser.ask(create).await
}

async fn session(app: &App, agent: &str) -> (Browser, SessionId) {
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, agent).await;
    browser.knows(&session, |facts| value(facts, "mode").is_some()).await;
    (browser, session)
}

#[tokio::test]
async fn an_option_is_set_at_once_also_during_a_turn_and_everyone_sees_it() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    browser.says_to(&session, "wait").await;
    browser.sees_text(&session, "Working.").await;
    assert_eq!(browser.sets_option(&session, "model", "small", false).await, ServerMessage::Ok {});
    assert_eq!(browser.sets_option(&session, "fast", true, false).await, ServerMessage::Ok {});
    let mut second = app.browser().await;
    let is_set = |facts: &SessionFacts| is(facts, "model", "small") && is(facts, "fast", "on");
    second.knows(&session, is_set).await;
    browser.cancels(&session).await;
}

#[tokio::test]
async fn what_the_agent_refuses_or_does_not_offer_goes_back_with_words() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    for (id, value) in [("model", "pro"), ("model", "huge"), ("unknown", "x"), ("fast", "x")] {
        let reply = browser.sets_option(&session, id, value, false).await;
        assert_eq!(code(&reply), Some(ErrorCode::OptionRefused), "{id} {value} {reply:?}");
    }
    let long = "x".repeat(1 << 20);
    let reply = browser.sets_option(&session, &long, long.as_str(), false).await;
    let ServerMessage::Error { message, .. } = reply else { panic!("{reply:?}") };
    assert!(message.len() < 1000, "the error repeats {} bytes", message.len());
    assert!(is(&browser.opens(&session).await.facts, "model", "big"));
}

#[tokio::test]
async fn without_a_process_a_choice_is_kept_and_set_before_the_next_message() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&session).await;
    assert_eq!(browser.sets_option(&session, "model", "small", false).await, ServerMessage::Ok {});
    let facts = browser.knows(&session, |facts| !is(facts, "model", "big")).await.facts;
    assert_eq!(value(&facts, "model"), Some(("small".into(), true)));
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let facts = browser.opens(&session).await.facts;
    assert_eq!(value(&facts, "model"), Some(("small".into(), true)), "it is in the journal");
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    browser.knows(&session, |facts| is(facts, "model", "small")).await;
}

#[tokio::test]
async fn a_new_session_starts_with_the_last_choice_in_its_project_only() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, first) = session(&app, "scripted").await;
    browser.sets_option(&first, "effort", "high", false).await;
    assert_eq!(browser.sets_option(&first, "mode", "yolo", true).await, ServerMessage::Ok {});
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let here = browser.projects().await.remove(0);
    let next = browser.creates_session(&here, "scripted").await;
    let all = |facts: &SessionFacts| {
        let is_free = facts.asks == Asks::AgentDecides;
        is(facts, "effort", "high") && is(facts, "mode", "yolo") && is_free
    };
    browser.knows(&next, all).await;
    let there = browser.adds_project(&app.directory("elsewhere")).await;
    let other = browser.creates_session(&there, "scripted").await;
    let facts = browser.knows(&other, |facts| value(facts, "mode").is_some()).await.facts;
    assert!(is(&facts, "effort", "low") && is(&facts, "mode", "ask"));
}

#[tokio::test]
async fn a_session_can_be_created_with_options_and_the_next_one_has_them_too() {
    let app = Launch::new().agent(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let choice = |value: &str| OptionValue::Choice(value.to_owned());
    let options = [("effort", choice("high")), ("fast", OptionValue::Flag(true))];
    let reply = tries_to_create(&mut browser, &project, &options, false).await;
    let ServerMessage::SessionCreated { session_id, .. } = reply else { panic!("{reply:?}") };
    let both = |facts: &SessionFacts| is(facts, "effort", "high") && is(facts, "fast", "on");
    browser.knows(&session_id, both).await;
    let next = browser.creates_session(&project, "scripted").await;
    browser.knows(&next, both).await;
}

#[tokio::test]
async fn a_session_is_not_created_with_options_that_are_not_offered_or_not_confirmed() {
    let app = Launch::new().agent(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let choice = |value: &str| OptionValue::Choice(value.to_owned());
    let low = || ("effort", choice("low"));
    for (option, wanted) in [
        (("model", choice("huge")), ErrorCode::OptionRefused),
        (("model", choice("pro")), ErrorCode::OptionRefused),
        (("unknown", choice("x")), ErrorCode::OptionRefused),
        (("mode", choice("yolo")), ErrorCode::OptionUnconfirmed),
    ] {
        let reply = tries_to_create(&mut browser, &project, &[low(), option], false).await;
        assert_eq!(code(&reply), Some(wanted), "{reply:?}");
    }
    assert_eq!(browser.sessions(&project).await, [], "none of them is listed");
    let yolo = [("mode", choice("yolo"))];
    let reply = tries_to_create(&mut browser, &project, &yolo, true).await;
    let ServerMessage::SessionCreated { session_id, .. } = reply else { panic!("{reply:?}") };
    browser.knows(&session_id, |facts| is(facts, "mode", "yolo")).await;
    let reply = tries_to_create(&mut browser, &project, &yolo, false).await;
    assert_eq!(code(&reply), None, "confirmed once per project: {reply:?}");
}

#[tokio::test]
async fn the_last_of_many_choices_stays_in_its_session_and_for_new_ones() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, first) = session(&app, "scripted").await;
    let mut sent = Vec::new();
    for n in 0..21 {
        let value = OptionValue::Choice(["small", "big"][n % 2].to_owned());
        let (session_id, id) = (first.clone(), "model".to_owned());
        let set = ClientMessage::SessionOption { session_id, id, value, confirmed: None };
        sent.push(browser.send(set).await);
    }
    for request in sent {
        assert_eq!(browser.sees_reply(&request).await, ServerMessage::Ok {});
    }
    assert!(is(&browser.opens(&first).await.facts, "model", "small"));
    let here = browser.projects().await.remove(0);
    let next = browser.creates_session(&here, "scripted").await;
    browser.knows(&next, |facts| is(facts, "model", "small")).await;
}

#[tokio::test]
async fn a_choice_that_can_not_be_kept_for_new_sessions_says_so() {
    let launch = Launch::new().agent(agent()).file("choices.json", "damaged");
    let app = launch.start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    let reply = browser.sets_option(&session, "model", "small", false).await;
    let ServerMessage::Error { code, message, session_id, .. } = reply else { panic!("{reply:?}") };
    assert_eq!((code, session_id), (ErrorCode::StoreCorrupt, Some(session.clone())));
    let words = "Set for this session. New sessions won't start with it, because choices.json ";
    assert!(message.starts_with(words) && !message.contains("not changed"), "{message}");
    browser.knows(&session, |facts| is(facts, "model", "small")).await;
    assert_eq!(std::fs::read_to_string(app.file("choices.json")).unwrap(), "damaged");
}

#[tokio::test]
async fn a_choice_that_skips_questions_is_confirmed_once_per_project() {
    let app = Launch::new().agent(agent()).start().await;
    let (mut browser, first) = session(&app, "scripted").await;
    let refused = browser.sets_option(&first, "mode", "yolo", false).await;
    assert_eq!(code(&refused), Some(ErrorCode::OptionUnconfirmed));
    assert!(is(&browser.opens(&first).await.facts, "mode", "ask"));
    browser.sets_option(&first, "mode", "yolo", true).await;
    browser.sets_option(&first, "mode", "ask", false).await;
    let again = browser.sets_option(&first, "mode", "yolo", false).await;
    assert_eq!(again, ServerMessage::Ok {});
    browser.sets_policy(&first, Policy::Auto).await;
}

#[tokio::test]
async fn options_without_number_length_or_sense_break_no_session() {
    let update = |options: Value| {
        Step::RawUpdate(json!({"sessionUpdate": "config_option_update", "configOptions": options}))
    };
    let choices = json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]);
    let option = |id: &str, name: &str| {
        let mut option = json!({"id": id, "name": name, "type": "select", "currentValue": "a"});
        option["options"] = choices.clone();
        option
    };
    let mut many: Vec<_> = (0..1000).map(|n| option(&format!("o{n}"), &format!("O {n}"))).collect();
    let models = json!([{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}]);
    many.push(json!({"id": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": "big", "options": models}));
    let mut elsewhere = option("elsewhere", "Elsewhere");
    elsewhere["currentValue"] = json!("nowhere");
    let mut categorised = option("categorised", "Categorised");
    categorised["category"] = json!({"deep": ["unknown"]});
    let odd = json!([
        option("long", &"x".repeat(10_000)), elsewhere, categorised,
        {"id": "slider", "name": "Slider", "type": "slider", "currentValue": 7, "max": 9},
        {"id": 4}, null, "text", {"id": "bare"}, option(&"y".repeat(10_000), "Endless"),
    ]);
    let agent = offering()
        .on_prompt("many")
        .step(update(json!(many)))
        .say("There are many.")
        .on_prompt("odd")
        .step(update(odd))
        .say("They are odd.")
        .on_prompt("gone")
        .step(update(json!([])))
        .say("They are gone.")
        .on_prompt("nonsense")
        .step(update(json!({"no": "list"})))
        .say("It is nonsense.")
        .on_any_prompt()
        .say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    let shown = async |browser: &mut Browser, prompt: &str, said: &str| {
        let turn = browser.says_to(&session, prompt).await;
        browser.sees_end(&turn).await;
        let history = browser.opens(&session).await;
        assert_eq!(history.texts().last().map(String::as_str), Some(said));
        let bytes = serde_json::to_vec(&history.facts).unwrap().len();
        assert!(bytes < 64 * 1024, "{prompt}: {bytes} bytes of facts");
        history.facts
    };
    let facts = shown(&mut browser, "many", "There are many.").await;
    assert!(facts.options.len() > 20 && facts.options.len() < 1000, "{}", facts.options.len());
    let reply = browser.sets_option(&session, "model", "small", false).await;
    assert_eq!(reply, ServerMessage::Ok {}, "the model is kept, although it comes last");

    let facts = shown(&mut browser, "odd", "They are odd.").await;
    let named = |id: &str| facts.options.iter().find(|option| option.id == id);
    assert!(named("long").is_some_and(|option| option.name.chars().count() <= 200));
    assert_eq!(named("elsewhere").map(|option| option.value.to_string()), Some("nowhere".into()));
    assert!(named("categorised").is_some());
    assert!(named("slider").is_none() && named("bare").is_none());
    assert!(facts.options.iter().all(|option| option.id.len() <= 200), "{:?}", facts.options);

    let same = shown(&mut browser, "nonsense", "It is nonsense.").await;
    assert_eq!(same.options, facts.options, "ignored");
    let facts = shown(&mut browser, "gone", "They are gone.").await;
    assert_eq!(facts.options, []);
    let reply = browser.sets_option(&session, "o3", "b", false).await;
    assert_eq!(code(&reply), Some(ErrorCode::OptionRefused), "{reply:?}");
    shown(&mut browser, "hello", "Done.").await;
}

#[tokio::test]
async fn a_value_that_is_no_longer_offered_falls_back_and_says_so() {
    let launch = Launch::new().agent(agent());
    let script = launch.data_dir().join("scripted.json");
    let app = launch.start().await;
    let (mut browser, session) = session(&app, "scripted").await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    browser.sets_option(&session, "model", "small", false).await;
    let upgraded = std::fs::read_to_string(&script).unwrap().replace("\"small\"", "\"tiny\"");
    std::fs::write(&script, upgraded).unwrap();
    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let facts = browser.knows(&session, |facts| is(facts, "model", "big")).await.facts;
    let model = facts.options.iter().find(|option| option.id == "model").unwrap();
    let words = model.error.clone().unwrap_or_default();
    assert!(words.starts_with("small is no longer available"), "{words}");
}
