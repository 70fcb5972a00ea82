//! What an agent has beside its conversation: background tasks, MCP servers, its version and account.

use liminal_contract::{
    ClientMessage, McpAct, McpState, ServerMessage, SessionFacts, SessionId, TaskAct, TaskState,
};
use liminal_scripted_agent::{ScriptBuilder, ScriptedServer, Step, Steps, TaskStart, act, script};
use serde_json::json;

use crate::support::{App, Browser, Launch};

const SECRET: &str = "hunter2-in-a-header";

/// A task that runs until the file `done` exists, and then makes the agent speak.
fn agent() -> ScriptBuilder {
    let (id, name, output) = ("t1".to_owned(), "Build it".to_owned(), "one\ntwo\n".to_owned());
    let task = TaskStart { id, name, output };
    let ended = act().wait_for_file("done").step(Step::TaskEnd("t1".into())).say("It is built.");
    let config = json!({"type": "http", "url": "https://x", "headers": {"Authorization": SECRET}});
    let error = format!("401 with {SECRET}");
    let servers = vec![
        ScriptedServer { name: "good".into(), tools: 2, config: json!({}), error: None },
        ScriptedServer { name: "bad".into(), tools: 0, config, error: Some(error) },
    ];
    script()
        .about(move |about| about.mcp = servers)
        .on_prompt("build")
        .step(Step::Task(task))
        .say("Building.")
        .after_turn(ended)
        .on_any_prompt()
        .say("Done.")
}

async fn claude() -> (App, Browser, SessionId) {
    let app = Launch::new().claude(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    (app, browser, session)
}

async fn scripted() -> (App, Browser, SessionId) {
    let app = Launch::new().agent(agent()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    (app, browser, session)
}

fn task(session: &SessionId, act: TaskAct) -> ClientMessage {
    ClientMessage::SessionTask { session_id: session.clone(), task_id: "t1".into(), act }
}

fn server(session: &SessionId, server: &str, act: McpAct) -> ClientMessage {
    ClientMessage::SessionMcp { session_id: session.clone(), server: server.into(), act }
}

fn task_is(facts: &SessionFacts, state: TaskState) -> bool {
    facts.tasks.iter().any(|task| task.id == "t1" && task.state == state)
}

fn server_is(facts: &SessionFacts, name: &str, state: McpState) -> bool {
    facts.agent.mcp.iter().any(|server| server.name == name && server.state == state)
}

async fn a_task_is_listed_read_and_ends_with_a_turn(
    (app, mut browser, session): (App, Browser, SessionId),
) {
    let turn = browser.says_to(&session, "build").await;
    browser.sees_end(&turn).await;
    let facts = browser.knows(&session, |facts| task_is(facts, TaskState::Running)).await.facts;
    assert_eq!((facts.tasks.len(), facts.tasks[0].name.as_str()), (1, "Build it"));
    let reply = browser.ask(task(&session, TaskAct::Output)).await;
    let ServerMessage::SessionTaskOutput { text, cut, .. } = reply else { panic!("{reply:?}") };
    assert_eq!((text.as_str(), cut), ("one\ntwo", false));
    std::fs::write(std::path::Path::new(&app.directory("project")).join("done"), "").unwrap();
    browser.sees_text(&session, "It is built.").await;
    let history = browser.knows(&session, |facts| task_is(facts, TaskState::Completed)).await;
    assert!(history.facts.tasks[0].ended_at.is_some());
    let words = serde_json::to_string(&history.entries).unwrap();
    let why = words.find("Build it").expect("what started the turn is shown");
    assert!(why < words.find("It is built.").unwrap(), "before its words");
}

#[tokio::test]
async fn a_background_task_of_claude_is_listed_read_and_ends_with_a_turn_that_says_why() {
    a_task_is_listed_read_and_ends_with_a_turn(claude().await).await;
}

#[tokio::test]
async fn a_background_task_over_acp_is_listed_read_and_ends_with_a_turn_that_says_why() {
    a_task_is_listed_read_and_ends_with_a_turn(scripted().await).await;
}

#[tokio::test]
async fn a_task_is_stopped_and_stays_so_after_a_restart() {
    let (app, mut browser, session) = claude().await;
    let turn = browser.says_to(&session, "build").await;
    browser.sees_end(&turn).await;
    browser.knows(&session, |facts| task_is(facts, TaskState::Running)).await;
    assert_eq!(browser.ask(task(&session, TaskAct::Stop)).await, ServerMessage::Ok {});
    browser.knows(&session, |facts| task_is(facts, TaskState::Stopped)).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    assert!(task_is(&browser.opens(&session).await.facts, TaskState::Stopped), "it is journalled");
    let reply = browser.ask(task(&session, TaskAct::Output)).await;
    assert!(matches!(reply, ServerMessage::Error { .. }), "no process has it: {reply:?}");
}

#[tokio::test]
async fn servers_are_listed_reconnected_and_switched_off_and_their_secrets_stay_here() {
    let (app, mut browser, session) = claude().await;
    let both = |facts: &SessionFacts| {
        server_is(facts, "good", McpState::Connected)
            && server_is(facts, "bad", McpState::Failed)
            && facts.agent.version.is_some()
            && facts.agent.account.is_some()
    };
    let facts = browser.knows(&session, both).await.facts;
    assert_eq!(facts.agent.mcp[0].tools, Some(2));
    assert!(!format!("{facts:?}").contains(SECRET), "{facts:?}");
    let reply = browser.ask(server(&session, "bad", McpAct::Reconnect)).await;
    let ServerMessage::Error { message, .. } = &reply else { panic!("{reply:?}") };
    assert!(message.contains("401") && !message.contains(SECRET), "{message}");
    let off = server(&session, "good", McpAct::Disable);
    assert_eq!(browser.ask(off).await, ServerMessage::Ok {});
    browser.knows(&session, |facts| server_is(facts, "good", McpState::Disabled)).await;
    let on = server(&session, "good", McpAct::Enable);
    assert_eq!(browser.ask(on).await, ServerMessage::Ok {});
    browser.knows(&session, |facts| server_is(facts, "good", McpState::Connected)).await;
    let unknown = browser.ask(server(&session, "nobody", McpAct::Reconnect)).await;
    assert!(matches!(unknown, ServerMessage::Error { .. }), "{unknown:?}");
    // In no file of ours: neither the journal nor a log.
    let data_dir = app.launch().data_dir();
    for entry in std::fs::read_dir(data_dir).unwrap().flatten() {
        let is_script = entry.file_name() == "claude-code.json";
        if let Ok(bytes) = std::fs::read(entry.path())
            && !is_script
        {
            let has_secret = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
            assert!(!has_secret, "{:?}", entry.file_name());
        }
    }
}

#[tokio::test]
async fn the_servers_of_agents_json_are_named_without_their_configuration() {
    let servers = json!({
        "files": {"command": "files-mcp", "env": {"TOKEN": SECRET}},
        "web": {"url": "https://x", "headers": {"Authorization": SECRET}},
    });
    let agent = script().on_any_prompt().say("Done.");
    let app = Launch::new().agent(agent).with_servers("scripted", &servers).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    let both = |facts: &SessionFacts| {
        server_is(facts, "files", McpState::Unreported)
            && server_is(facts, "web", McpState::Unsupported)
    };
    let facts = browser.knows(&session, both).await.facts;
    assert!(!format!("{facts:?}").contains(SECRET), "{facts:?}");
}

/// An agent that repeats a secret of its configuration: in what it reports, on stderr, and in an error.
#[tokio::test]
async fn an_agent_that_repeats_the_secrets_of_its_servers_is_not_quoted() {
    let servers = json!({"files": {"command": "files-mcp", "env": {"TOKEN": SECRET}}});
    let error = format!("401 with {SECRET}");
    let reported = json!([{"name": "files", "state": "failed", "error": error}]);
    let update = json!({"sessionUpdate": "session_info_update",
        "_meta": {"liminal": {"mcpServers": reported}}});
    let agent = script()
        .on_prompt("report")
        .step(Step::RawUpdate(update))
        .say("Reported.")
        .on_prompt("refuse")
        .fail(-32603, &format!("no: {SECRET}"))
        .on_prompt("crash")
        .crash(3, &format!("started with {SECRET}, then failed"))
        .on_any_prompt()
        .say("Done.");
    let app = Launch::new().agent(agent).with_servers("scripted", &servers).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    let mut told = String::new();
    for words in ["report", "refuse", "crash", "on"] {
        let turn = browser.says_to(&session, words).await;
        browser.sees_end(&turn).await;
        let history = browser.opens(&session).await;
        told += &serde_json::to_string(&(history.facts, history.entries, history.turns)).unwrap();
    }
    assert!(!told.contains(SECRET), "{told}");
    for rest in ["401 with …", "then failed"] {
        assert!(told.contains(rest), "{rest} in {told}");
    }
}
