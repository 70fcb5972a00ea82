//! Permissions outside turns: shown, answered, kept over a reload, and void once the agent no longer waits.

use liminal_contract::{Body, ErrorCode, ItemId, OutcomeBy, Policy, ServerMessage, SessionId};
use liminal_scripted_agent::{ScriptBuilder, Steps, Tool, act, answered, script};

use crate::support::{App, Browser, Launch};

/// Asks for permission after its turn is over.
fn asks_late() -> ScriptBuilder {
    script()
        .on_prompt("go")
        .say("Going.")
        .after_turn(
            act().command("c1", "make").ask(
                "c1",
                answered("allow", act().tool_done("c1", "made").say("Made."))
                    .or(act().tool_failed("c1", "not made").say("Not made.")),
            ),
        )
        .stop("end_turn")
}

async fn started(agent: &str, launch: Launch) -> (App, Browser, SessionId) {
    let app = launch.agent(asks_late()).claude(asks_late()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, agent).await;
    browser.opens(&session).await;
    (app, browser, session)
}

async fn outcome(browser: &mut Browser, session: &SessionId, item: &ItemId) -> OutcomeBy {
    browser
        .sees_item(session, "permission", |seen| match &seen.body {
            Body::Permission { outcome: Some(outcome), .. } if seen.item_id == *item => {
                Some(outcome.by)
            }
            _ => None,
        })
        .await
}

#[tokio::test]
async fn a_question_outside_a_turn_waits_over_a_reload_and_can_be_answered() {
    for agent in ["scripted", "claude-code"] {
        let (app, mut browser, session) = started(agent, Launch::new()).await;
        browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        browser.sees_state(&session, "waiting").await;

        browser.leaves().await;
        let mut browser = app.browser().await;
        let history = browser.opens(&session).await;
        let open = history.entries.iter().find(|entry| entry.item_id == asked).unwrap();
        assert!(matches!(open.body, Body::Permission { outcome: None, .. }));
        let reply = browser.answers(&session, &asked, "allow").await;
        assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
        assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::User);
        browser.sees_text(&session, "Made.").await;
        let history = browser.opens(&session).await;
        let places: Vec<u64> = history.entries.iter().map(|entry| entry.index).collect();
        assert_eq!(places, (0..places.len() as u64).collect::<Vec<_>>(), "each has one place");
    }
}

#[tokio::test]
async fn the_policy_auto_answers_outside_a_turn_too() {
    for agent in ["scripted", "claude-code"] {
        let (_app, mut browser, session) = started(agent, Launch::new()).await;
        browser.sets_policy(&session, Policy::Auto).await;
        browser.says_to(&session, "go").await;
        let by = browser.sees_item(&session, "permission", |item| match &item.body {
            Body::Permission { outcome, .. } => outcome.as_ref().map(|outcome| outcome.by),
            _ => None,
        });
        assert_eq!(by.await, OutcomeBy::Policy);
        browser.sees_text(&session, "Made.").await;
    }
}

#[tokio::test]
async fn a_plan_is_for_the_user_to_approve_whatever_the_policy() {
    let plan = Tool {
        id: "p1".into(),
        name: "ExitPlanMode".into(),
        title: "Implement this plan?".into(),
        kind: "switch_mode".into(),
        input: serde_json::json!({"plan": "# Plan\n\n1. Build it."}),
        locations: Vec::new(),
    };
    // To Claude Code, an approval also sets the mode, which the script takes for the lasting answer.
    let built = || act().tool_done("p1", "").say("Built.");
    let then = answered("allow", built()).and("always", built()).or(act().say("No."));
    let agent = || script().on_prompt("go").tool(plan.clone()).ask("p1", then.clone());
    let app = Launch::new().agent(agent()).claude(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    for agent in ["scripted", "claude-code"] {
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        browser.sets_policy(&session, Policy::Auto).await;
        browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        browser.answers(&session, &asked, "allow").await;
        assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::User);
        browser.sees_text(&session, "Built.").await;
    }
}

#[tokio::test]
async fn a_question_with_several_answers_is_for_the_user_whatever_the_policy() {
    let colours = || answered("red", act().say("Red.")).or(act().say("Another."));
    let agent = || script().on_prompt("go").question("q1", "Which?", &["red", "blue"], colours());
    let (_app, mut browser, session) = App::with_session(agent()).await;
    browser.sets_policy(&session, Policy::Auto).await;
    browser.says_to(&session, "go").await;
    let asked = browser.sees_ask(&session).await;
    browser.answers(&session, &asked, "red").await;
    assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::User);
    browser.sees_text(&session, "Red.").await;
}

#[tokio::test]
async fn a_change_of_policy_answers_nothing_that_is_already_asked() {
    let agent = || {
        let asks = |id: &str| answered("allow", act().tool_done(id, "made").say("Made."));
        script()
            .on_prompt("go")
            .command("c1", "make")
            .ask("c1", asks("c1"))
            .command("c2", "make again")
            .ask("c2", asks("c2"))
            .stop("end_turn")
    };
    let app = Launch::new().agent(agent()).claude(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    for agent in ["scripted", "claude-code"] {
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        let turn = browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        browser.sets_policy(&session, Policy::Auto).await;
        let reply = browser.answers(&session, &asked, "allow").await;
        assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
        assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::User);
        browser.sees_end(&turn).await;
        let entries = browser.opens(&session).await.entries;
        let by: Vec<OutcomeBy> = entries
            .iter()
            .filter_map(|entry| match &entry.body {
                Body::Permission { outcome, .. } => outcome.as_ref().map(|outcome| outcome.by),
                _ => None,
            })
            .collect();
        assert_eq!(by, [OutcomeBy::User, OutcomeBy::Policy], "{agent}");
    }
}

#[tokio::test]
async fn what_the_policy_answers_never_waits_and_is_no_question_to_anyone() {
    for agent in ["scripted", "claude-code"] {
        let (_app, mut browser, session) = started(agent, Launch::new()).await;
        browser.sets_policy(&session, Policy::Auto).await;
        browser.says_to(&session, "go").await;
        browser.sees_text(&session, "Made.").await;
        let asks = |frame: &&serde_json::Value| {
            frame["type"] == "session:state" && frame["state"] == "waiting"
                || frame["payload"]["type"] == "permission" && frame["payload"]["outcome"].is_null()
        };
        assert_eq!(browser.everything_seen().find(asks), None, "{agent}");
    }
}

#[tokio::test]
async fn a_question_outside_a_turn_is_void_when_the_server_or_the_agent_is_gone() {
    for agent in ["scripted", "claude-code"] {
        let (app, mut browser, session) = started(agent, Launch::new()).await;
        browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        let app = app.crash_and_restart().await;
        let mut browser = app.browser().await;
        let history = browser.opens(&session).await;
        let void = history.entries.iter().find(|entry| entry.item_id == asked).unwrap();
        let Body::Permission { outcome: Some(void), .. } = &void.body else { panic!("open") };
        assert_eq!(void.by, OutcomeBy::AgentLeft);
        let late = browser.answers(&session, &asked, "allow").await;
        assert!(matches!(late, ServerMessage::Error { code: ErrorCode::PermissionClosed, .. }));

        browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        app.kill_agent(agent);
        assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::AgentLeft);
        let late = browser.answers(&session, &asked, "allow").await;
        assert!(matches!(late, ServerMessage::Error { code: ErrorCode::PermissionClosed, .. }));
    }
}

#[tokio::test]
async fn a_project_with_settings_of_its_own_is_asked_about_and_can_be_worked_in_meanwhile() {
    let agent = script().on_any_prompt().say("ok").stop("end_turn");
    // `auto` approves once; this option approves permanently, so the user is asked.
    let launch = Launch::new().claude(agent).variable("LIMINAL_PERMISSIONS", "auto");
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let servers = r#"{"mcpServers": {"x": {"command": "x"}}}"#;
    std::fs::write(format!("{directory}/.mcp.json"), servers).unwrap();
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "claude-code").await;
    let history = browser.opens(&session).await;
    let asked = match history.entries.first() {
        Some(entry) => entry.item_id.clone(),
        None => browser.sees_ask(&session).await,
    };
    assert_eq!(browser.sessions(&project).await[0].state, liminal_contract::SessionState::Waiting);
    let turn = browser.says_to(&session, "go on").await;
    browser.sees_end(&turn).await;

    let reply = browser.answers(&session, &asked, "load").await;
    assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
    assert_eq!(outcome(&mut browser, &session, &asked).await, OutcomeBy::User);
    browser.sees_state(&session, "idle").await;
    let turn = browser.says_to(&session, "and on").await;
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&session).await.entries[0].item_id, asked);
    let other = browser.creates_session(&project, "claude-code").await;
    assert!(browser.opens(&other).await.entries.is_empty(), "it is asked once");
}
