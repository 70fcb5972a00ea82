//! What a session costs and how full its context is; compaction, cleared conversations and local commands; and a
//! message that the session sends by itself when a limit is lifted.

use std::time::{Duration, SystemTime};

use liminal_contract::{
    Body, ClientMessage, ItemStatus, ServerMessage, SessionId, Timestamp, TurnEventKind,
    UpsertObject,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use serde_json::json;

use crate::support::{App, Browser, Clock, Launch};

const HOUR: Duration = Duration::from_secs(3600);

async fn claude(script: ScriptBuilder) -> (App, Browser, SessionId) {
    claude_in(Launch::new(), script).await
}

async fn claude_in(launch: Launch, script: ScriptBuilder) -> (App, Browser, SessionId) {
    let app = launch.claude(script).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    (app, browser, session)
}

/// Claude Code's own words about its limits.
fn limited(status: &str, used: f64, resets_at: u64) -> serde_json::Value {
    json!({"type": "rate_limit_event", "rate_limit_info": {
        "status": status, "resetsAt": resets_at, "rateLimitType": "five_hour",
        "unifiedWindows": {"five_hour": {"utilization": used, "resetsAt": resets_at}},
    }})
}

#[tokio::test]
async fn how_full_the_context_is_and_the_limits_are_known_after_a_turn_and_after_a_restart() {
    let resets_at = 1_794_852_914;
    let agent = script()
        .on_any_prompt()
        .usage(150_000, 200_000)
        .raw_update(limited("allowed", 0.42, resets_at))
        .say("Done.");
    let (app, mut browser, session) = claude(agent).await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_end(&turn).await;
    let usage = |history: crate::support::History| history.facts.usage.unwrap_or_default();
    let told = usage(browser.knows(&session, |facts| facts.usage.as_ref().is_some_and(full)).await);
    assert_eq!((told.context_used, told.context_size), (Some(150_000), Some(200_000)));
    assert!(told.cost_usd.is_some());
    let [limit] = &told.limits[..] else { panic!("{told:?}") };
    let at = Timestamp::from_millis(1000 * i64::try_from(resets_at).unwrap());
    assert_eq!((limit.name.as_str(), limit.used_percent), ("5-hour limit", 42.0));
    assert_eq!(limit.resets_at, Some(at));

    let app = app.restart().await;
    assert_eq!(usage(app.browser().await.opens(&session).await), told);
}

fn full(usage: &liminal_contract::SessionUsage) -> bool {
    usage.context_used == Some(150_000) && usage.cost_usd.is_some() && !usage.limits.is_empty()
}

#[tokio::test]
async fn local_output_a_compaction_and_a_cleared_conversation_are_nobodys_words() {
    let output = "<local-command-stdout>## Context</local-command-stdout>";
    let agent = script()
        .on_prompt("/context")
        .raw_update(json!({"type": "assistant", "local_command_source": output,
            "local_command_run": {"command": "context", "args": "all"},
            "message": {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "## Context"}]}}))
        .on_prompt("/compact")
        .raw_update(json!({"type": "system", "subtype": "status", "status": "compacting"}))
        .raw_update(json!({"type": "system", "subtype": "status", "status": null, "compact_result": "success"}))
        .raw_update(json!({"type": "system", "subtype": "compact_boundary",
            "compact_metadata": {"trigger": "manual", "pre_tokens": 9000, "post_tokens": 700}}))
        .raw_update(json!({"type": "user", "isSynthetic": true, "message": {"content": "We **built** it."}}))
        .on_prompt("/clear")
        .raw_update(json!({"type": "conversation_reset", "trigger": "clear"}));
    let (app, mut browser, session) = claude(agent).await;
    for command in ["/context", "/compact", "/clear"] {
        let turn = browser.says_to(&session, command).await;
        browser.sees_end(&turn).await;
    }
    let others = |entries: Vec<UpsertObject>| -> Vec<Body> {
        let is_other = |item: &UpsertObject| !matches!(item.body, Body::Message { .. });
        assert!(entries.iter().all(|item| item.status == ItemStatus::Complete));
        entries.into_iter().filter(is_other).map(|item| item.body).collect()
    };
    let expected = [
        Body::CommandOutput {
            command: "/context all".into(),
            text: "## Context".into(),
            blocks: ["<h2>Context</h2>"].into_iter().collect(),
        },
        Body::Compaction {
            summary: Some("We **built** it.".into()),
            blocks: ["<p>We <strong>built</strong> it.</p>"].into_iter().collect(),
            before: Some(9000),
            after: Some(700),
        },
        Body::Cleared {},
    ];
    assert_eq!(others(browser.opens(&session).await.entries), expected);
    let export = app.get(&format!("/api/session/{session}/export?format=md")).await;
    for words in ["**Output of /context all**", "> We **built** it.", "was cleared"] {
        assert!(export.body.contains(words), "{words} is not in {}", export.body);
    }
    let app = app.restart().await;
    assert_eq!(others(app.browser().await.opens(&session).await.entries), expected);
}

#[tokio::test]
async fn a_compaction_of_an_acp_agent_is_one_item_that_ends() {
    let update = |status: &str| json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": status});
    let chunk = json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c",
        "content": {"type": "text", "text": "All of it."}});
    let agent = script()
        .on_prompt("/compact")
        .raw_update(update("in_progress"))
        .raw_update(chunk)
        .raw_update(update("completed"))
        .on_prompt("again")
        .raw_update(update("in_progress"))
        .raw_update(update("failed"));
    let (_app, mut browser, session) = App::with_session(agent).await;
    for prompt in ["/compact", "again"] {
        let turn = browser.says_to(&session, prompt).await;
        browser.sees_end(&turn).await;
    }
    let entries = browser.opens(&session).await.entries;
    let seen: Vec<_> = entries
        .iter()
        .filter_map(|item| match &item.body {
            Body::Compaction { summary, .. } => Some((item.status, summary.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(seen, [(ItemStatus::Complete, Some("All of it.")), (ItemStatus::Error, None)]);
}

fn in_time(from_now: Duration) -> Timestamp {
    Timestamp::from(SystemTime::now()).after(from_now)
}

async fn continues_at(browser: &mut Browser, session: &SessionId, at: Option<Timestamp>) {
    let request = ClientMessage::SessionContinueAt { session_id: session.clone(), at };
    let reply = browser.ask(request).await;
    assert!(matches!(reply, ServerMessage::Ok {}), "{reply:?}");
}

#[tokio::test]
async fn a_used_up_limit_says_until_when_and_the_session_continues_by_itself_then_once() {
    let until = in_time(HOUR);
    let seconds = u64::try_from(until.as_millis() / 1000).unwrap();
    let agent = script()
        .on_prompt("go")
        .raw_update(limited("rejected", 1.0, seconds))
        .fail(-32603, "You've hit your 5-hour limit")
        .on_prompt("Continue.")
        .say("Going on.");
    let clock = Clock::new();
    let (app, mut browser, session) = claude_in(Launch::new().clock(&clock), agent).await;
    let turn = browser.says_to(&session, "go").await;
    let TurnEventKind::TurnError { details, .. } = browser.sees_end(&turn).await else {
        panic!("the turn did not fail")
    };
    let resets_at = details.and_then(|details| details.resets_at).map(Timestamp::as_millis);
    assert_eq!(resets_at, Some(1000 * i64::try_from(seconds).unwrap()));

    continues_at(&mut browser, &session, Some(until)).await;
    continues_at(&mut browser, &session, None).await;
    assert_eq!(browser.opens(&session).await.facts.continue_at, None, "it can be withdrawn");
    continues_at(&mut browser, &session, Some(until)).await;
    let planned = browser.opens(&session).await.facts.continue_at;
    assert_eq!(planned.map(|planned| planned.content).as_deref(), Some("Continue."));

    let launch = app.launch().clone().port(app.port());
    app.stop().await;
    // Two seconds before the hour is over, or a little later.
    clock.jumps(3598);
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let history = browser.knows(&session, |facts| facts.continue_at.is_none()).await;
    assert_eq!(history.texts()[1..2], ["Continue."]);
    if history.texts().len() == 2 {
        browser.sees_text(&session, "Going on.").await;
    }
    let app = app.restart().await;
    let texts = app.browser().await.opens(&session).await.texts();
    assert_eq!(texts, ["go", "Continue.", "Going on."]);
}

#[tokio::test]
async fn more_than_an_hour_late_nothing_is_sent_until_the_user_says_so() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say_prompt()).await;
    let long_ago = Timestamp::from_millis(in_time(Duration::ZERO).as_millis() - 7_200_000);
    continues_at(&mut browser, &session, Some(long_ago)).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert!(browser.opens(&session).await.facts.continue_at.is_some(), "the page can ask");
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), ["hello", "hello"]);
    assert_eq!(history.facts.continue_at, None, "the user has taken over");
}

#[tokio::test]
async fn a_planned_message_is_withdrawn_when_the_user_stops_or_archives_the_session() {
    let (_app, mut browser, session) =
        App::with_session(script().on_any_prompt().say_prompt()).await;
    for request in [
        ClientMessage::SessionCancel { session_id: session.clone() },
        ClientMessage::SessionArchive { session_id: session.clone() },
    ] {
        continues_at(&mut browser, &session, Some(in_time(HOUR))).await;
        assert!(browser.opens(&session).await.facts.continue_at.is_some());
        let reply = browser.ask(request).await;
        assert!(!matches!(reply, ServerMessage::Error { .. }), "{reply:?}");
        assert_eq!(browser.opens(&session).await.facts.continue_at, None);
    }
}
