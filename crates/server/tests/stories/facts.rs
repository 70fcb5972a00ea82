//! Facts that an agent reports about a session: kept, shown to everyone, there after a restart.

use liminal_contract::{Asks, OptionValue, SessionFacts};
use liminal_scripted_agent::{ScriptBuilder, SessionMode, SlashCommand, Steps, script};
use serde_json::{Value, json};

use crate::support::{Launch, descendants};

/// An agent with two modes, neither of which asks.
fn decides() -> ScriptBuilder {
    let mode = |id: &str| SessionMode { id: id.into(), name: id.to_uppercase() };
    let modes = vec![mode("agent"), mode("yolo")];
    let help = SlashCommand { name: "help".into(), description: "d".repeat(500) };
    script()
        .about(move |about| (about.modes, about.commands) = (modes, vec![help]))
        .on_any_prompt()
        .usage(7, 9)
        .say("Done.")
}

#[tokio::test]
async fn an_agent_that_acts_without_asking_is_known_before_the_first_turn_to_everyone_and_for_good()
{
    let launch = Launch::new().agent(decides()).asking_in("scripted", "careful");
    let app = launch.start().await;
    let mut first = app.browser().await;
    let project = first.adds_project(&app.directory("project")).await;
    let session = first.creates_session(&project, "scripted").await;
    let told = first.knows(&session, |facts| facts.asks == Asks::AgentDecides).await;
    assert_eq!(told.entries, [], "before the first turn");
    let mut second = app.browser().await;
    assert_eq!(second.opens(&session).await.facts.asks, Asks::AgentDecides);

    let turn = first.says_to(&session, "go").await;
    first.sees_end(&turn).await;
    let app = app.restart().await;
    assert!(descendants(app.pid()).is_empty(), "no agent was started");
    let history = app.browser().await.opens(&session).await;
    assert_eq!(
        (history.facts.asks, history.texts()),
        (Asks::AgentDecides, vec!["go".into(), "Done.".into()])
    );
}

#[tokio::test]
async fn modes_commands_and_usage_are_kept_and_followers_get_what_changed() {
    let app = Launch::new().agent(decides()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    let is_there = |facts: &SessionFacts| !facts.commands.is_empty() && !facts.options.is_empty();
    let facts = browser.knows(&session, is_there).await.facts;
    assert_eq!((facts.asks, facts.usage), (Asks::Always, None));
    assert_eq!(facts.options[0].value, OptionValue::Choice("agent".into()));
    assert_eq!(facts.commands[0].description.len(), 200);

    browser.says_to(&session, "go").await;
    let changed = |frame: &Value| {
        let is_usage = frame["type"] == "session:facts" && !frame["facts"]["usage"].is_null();
        is_usage.then(|| (frame["facts"].clone(), frame["seq"].as_u64()))
    };
    let (changed, seq) = browser.sees("a change of the facts", changed).await;
    assert_eq!(changed, json!({"usage": {"contextUsed": 7, "contextSize": 9}}));
    assert!(seq > Some(0));
}
