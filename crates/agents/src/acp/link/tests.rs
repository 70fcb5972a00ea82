//! A provider whose agent is the test itself: over pipes in memory, with injected time.

use std::sync::Weak;

use async_trait::async_trait;
use liminal_contract::CliType;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::super::agent::{AcpAgent, Patience};
use super::super::attach;
use super::super::connect::greet;
use super::super::provider::{AcpHost, AcpProvider};
use super::*;
use crate::catalogue::Processes;
use crate::lifecycle::{Attempt, Connect, Timing};
use crate::process::{GuardCommand, Launch};
use crate::{CliProvider, NewSession, ProviderError};

/// Connects to the agent over pipes in memory: to the first one, after a restart to the next.
struct InMemory {
    shared: Weak<Shared>,
    pipes: Arc<Mutex<Vec<DuplexStream>>>,
}

#[async_trait]
impl Connect for InMemory {
    type Link = Link;

    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Link>, ProviderError> {
        let (shared, ours) =
            (self.shared.upgrade().unwrap(), self.pipes.lock().unwrap().pop().unwrap());
        let (reads, mut writes) = tokio::io::split(ours);
        let (link, mut outgoing) = Link::new(shared, attempt.generation());
        tokio::spawn(async move {
            while let Some(Outgoing { line, .. }) = outgoing.recv().await {
                writes.write_all(&line).await.unwrap();
            }
        });
        let reading = Arc::clone(&link);
        tokio::spawn(async move {
            let mut lines = Lines::of(reads, reading.budget.clone());
            reading.read(&mut lines, Noise::new("Fake")).await;
            let error = ProviderError::ProcessEnded {
                name: "Fake".into(),
                stderr_tail: "last words".into(),
            };
            reading.close(&error);
        });
        greet(&link).await?;
        tokio::spawn(attach::attach_lost_sessions(Arc::clone(&link)));
        Ok(link)
    }
}

/// The agent's side.
struct Agent {
    reads: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writes: WriteHalf<DuplexStream>,
}

impl Agent {
    async fn hears(&mut self) -> Value {
        serde_json::from_str(&self.reads.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn hears_call(&mut self, method: &str) -> Value {
        let message = self.hears().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    async fn says(&mut self, message: Value) {
        self.writes.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answers(&mut self, request: &Value, result: Value) {
        self.says(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    async fn tells(&mut self, session: &str, update: Value) {
        let params = json!({"sessionId": session, "update": update});
        self.says(json!({"jsonrpc": "2.0", "method": "session/update", "params": params})).await;
    }

    async fn refuses(&mut self, request: &Value, code: i64, words: &str) {
        let error = json!({"code": code, "message": words});
        self.says(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    }

    async fn greets(&mut self) {
        self.greets_offering(json!({"sessionCapabilities": {"close": {}}})).await;
    }

    async fn greets_offering(&mut self, capabilities: Value) {
        let request = self.hears_call("initialize").await;
        assert_eq!(request["params"]["protocolVersion"], 1);
        let fs = json!({"readTextFile": true, "writeTextFile": true});
        assert_eq!(request["params"]["clientCapabilities"]["fs"], fs);
        self.answers(&request, json!({"protocolVersion": 1, "agentCapabilities": capabilities}))
            .await;
    }
}

fn fake() -> (AcpProvider, Agent) {
    let (provider, agents) = fakes(1);
    (provider, agents.into_iter().next().unwrap())
}

fn fake_that_asks_in(mode: &str) -> (AcpProvider, Agent) {
    let (provider, agents) = fakes_with(1, Some(mode.to_owned()));
    (provider, agents.into_iter().next().unwrap())
}

/// Can be restarted as often as there are agents.
fn fakes(starts: usize) -> (AcpProvider, Vec<Agent>) {
    fakes_with(starts, None)
}

fn fakes_with(starts: usize, ask_mode: Option<String>) -> (AcpProvider, Vec<Agent>) {
    let (ours, agents): (Vec<_>, Vec<_>) = (0..starts)
        .map(|_| {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (reads, writes) = tokio::io::split(theirs);
            (ours, Agent { reads: BufReader::new(reads).lines(), writes })
        })
        .unzip();
    let agent = AcpAgent {
        cli_type: CliType::parse("fake").unwrap(),
        name: "Fake".into(),
        launch: Launch::new("Fake", "fake", "/"),
        login: None,
        ask_mode,
        fs: true,
        terminal: true,
        processes: Processes::Shared,
        mcp: Default::default(),
    };
    let host = AcpHost {
        guard: GuardCommand::new("none"),
        data_dir: "/nowhere".into(),
        statuses: mpsc::unbounded_channel().0,
        timing: Timing { start: Duration::from_secs(15), ..Timing::default() },
        patience: Patience::default(),
    };
    let pipes = Arc::new(Mutex::new(ours.into_iter().rev().collect()));
    let provider = AcpProvider::connecting(agent, host, move |shared| {
        Arc::new(InMemory { shared: Arc::downgrade(shared), pipes: Arc::clone(&pipes) })
    });
    (provider, agents)
}

fn load(
    provider: &AcpProvider,
    agent_ref: &str,
) -> tokio::task::JoinHandle<Result<crate::ProviderSession, ProviderError>> {
    let provider = provider.clone();
    let load = crate::LoadSession {
        session_id: liminal_contract::SessionId::parse(&format!("fake:{agent_ref}")).unwrap(),
        agent_ref: agent_ref.to_owned(),
        project_dir: "/".into(),
        history: crate::History::Known,
        options: Vec::new(),
        fork: None,
    };
    tokio::spawn(async move { provider.load_session(load).await })
}

fn create(
    provider: &AcpProvider,
) -> tokio::task::JoinHandle<Result<crate::ProviderSession, ProviderError>> {
    let provider = provider.clone();
    tokio::spawn(async move {
        provider
            .create_session(NewSession {
                project_dir: "/".into(),
                session_id: None,
                chosen: Vec::new(),
                wanted: Vec::new(),
                fork: None,
            })
            .await
    })
}

/// With the session `s1` created.
async fn in_a_session() -> (AcpProvider, Agent, crate::ProviderSession) {
    in_a_session_with(json!({"sessionCapabilities": {"close": {}}})).await
}

async fn in_a_session_that_loads() -> (AcpProvider, Agent, crate::ProviderSession) {
    in_a_session_with(json!({"loadSession": true})).await
}

async fn in_a_session_with(offers: Value) -> (AcpProvider, Agent, crate::ProviderSession) {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets_offering(offers).await;
    let request = agent.hears_call("session/new").await;
    agent.answers(&request, json!({"sessionId": "s1"})).await;
    let session = creating.await.unwrap().unwrap();
    (provider, agent, session)
}

/// How long the current turn stays silent before it ends.
async fn silence_before_the_end(session: &mut crate::ProviderSession) -> Duration {
    let mut heard = tokio::time::Instant::now();
    loop {
        let said = session.output.recv().await.unwrap().output;
        if let crate::Output::Event(event) = said {
            if let liminal_stream::Payload::ResponseDone { .. } = event.payload {
                return heard.elapsed();
            }
            heard = tokio::time::Instant::now();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_mode_that_asks_may_be_an_option() {
    let (provider, mut agent) = fake_that_asks_in("ask");
    let creating = create(&provider);
    agent.greets().await;
    let request = agent.hears_call("session/new").await;
    let option = json!({
        "id": "approvals", "name": "Approvals", "type": "select", "currentValue": "auto",
        "options": [{"value": "auto", "name": "Auto"}, {"value": "ask", "name": "Ask"}],
    });
    agent.answers(&request, json!({"sessionId": "s1", "configOptions": [option]})).await;
    let request = agent.hears_call("session/set_config_option").await;
    let params = json!({"sessionId": "s1", "configId": "approvals", "value": "ask"});
    assert_eq!(request["params"], params);
    agent.answers(&request, json!({})).await;
    let mut session = creating.await.unwrap().unwrap();
    let mut last = None;
    while let Ok(said) = session.output.try_recv() {
        if let crate::Output::Fact(liminal_stream::SessionFact::Asks(asks)) = said.output {
            last = Some(asks);
        }
    }
    assert_eq!(last, Some(liminal_contract::Asks::Always));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_never_answered_is_given_up_and_closed_when_it_comes() {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets().await;
    let request = agent.hears_call("session/new").await;
    assert_eq!(request["params"], json!({"cwd": "/", "mcpServers": []}));

    let error = creating.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "Could not connect to Fake. It did not answer within 60 s.");
    let given_up = agent.hears_call("$/cancel_request").await;
    assert_eq!(given_up["params"], json!({"requestId": request["id"]}));

    agent.answers(&request, json!({"sessionId": "late"})).await;
    let closed = agent.hears_call("session/close").await;
    assert_eq!(closed["params"], json!({"sessionId": "late"}));
}

#[tokio::test(start_paused = true)]
async fn what_is_told_before_the_session_is_named_is_kept() {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets().await;
    let request = agent.hears_call("session/new").await;
    agent.tells("s1", json!({"sessionUpdate": "session_info_update", "title": "Early"})).await;
    agent
        .tells("other", json!({"sessionUpdate": "session_info_update", "title": "Not ours"}))
        .await;
    agent.answers(&request, json!({"sessionId": "s1"})).await;
    let mut session = creating.await.unwrap().unwrap();
    assert_eq!((session.session_id.as_str(), session.agent_ref.as_str()), ("fake:s1", "s1"));
    let told = std::iter::from_fn(|| session.output.try_recv().ok().map(|metered| metered.output));
    let is_title = |output: &crate::Output| {
        matches!(output, crate::Output::Fact(liminal_stream::SessionFact::Title(_)))
    };
    let titles: Vec<_> = told.filter(is_title).collect();
    assert_eq!(titles, [crate::Output::Fact(liminal_stream::SessionFact::Title("Early".into()))]);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_does_not_fit_gets_one_of_ours() {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets().await;
    let request = agent.hears_call("session/new").await;
    agent.answers(&request, json!({"sessionId": "/tmp/a session"})).await;
    let session = creating.await.unwrap().unwrap();
    assert_eq!(session.agent_ref, "/tmp/a session");
    assert_eq!(session.session_id.cli_type().as_str(), "fake");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_agent_is_the_answer_to_everything_that_waits() {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets().await;
    agent.hears_call("session/new").await;
    drop(agent);
    assert_eq!(
        creating.await.unwrap().unwrap_err(),
        ProviderError::ProcessEnded { name: "Fake".into(), stderr_tail: "last words".into() }
    );
}

#[tokio::test(start_paused = true)]
async fn initialize_says_who_we_are_and_what_we_can() {
    let (provider, mut agent) = fake();
    let _unanswered = create(&provider);
    let mut said = agent.hears_call("initialize").await["params"].take();
    assert_eq!(said["clientInfo"]["version"].take(), json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(said["protocolVersion"], 1);
    let (name, title) = (&said["clientInfo"]["name"], &said["clientInfo"]["title"]);
    assert_eq!((name, title), (&json!("liminal-builder"), &json!("Liminal Builder")));
    let can = &said["clientCapabilities"];
    assert_eq!(can["fs"], json!({"readTextFile": true, "writeTextFile": true}));
    assert_eq!(can["terminal"], json!(true));
    assert_eq!(can["plan"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn another_version_of_the_protocol_is_refused() {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    let request = agent.hears_call("initialize").await;
    agent.answers(&request, json!({"protocolVersion": 7})).await;
    let error = creating.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, ProviderError::Protocol { what, .. } if what.contains("version 7")),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_nobody_hears_ends_the_turn_after_ten_seconds() {
    let (provider, mut agent, session) = in_a_session().await;
    let turn = TurnId::new("t1");
    provider.send_message(&session.session_id, &turn, &"hi".into()).await.unwrap();
    let prompt = agent.hears_call("session/prompt").await;
    assert_eq!(
        prompt["params"],
        json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "hi"}]})
    );

    let before = tokio::time::Instant::now();
    let stopped = provider.cancel_turn(&session.session_id).await;
    assert_eq!(stopped, Err(ProviderError::InterruptUnanswered { name: "Fake".into() }));
    assert_eq!(before.elapsed(), Duration::from_secs(10));
    let cancel = agent.hears_call("session/cancel").await;
    assert_eq!(cancel.get("id"), None, "it is a notification");
    assert_eq!(
        agent.hears_call("$/cancel_request").await["params"],
        json!({"requestId": prompt["id"]})
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_with_our_own_id_is_not_taken_for_an_answer() {
    let (provider, mut agent, session) = in_a_session().await;
    provider.send_message(&session.session_id, &TurnId::new("t1"), &"hi".into()).await.unwrap();
    let prompt = agent.hears_call("session/prompt").await;
    let id = &prompt["id"];
    let ask = json!({"sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": []});
    agent.says(json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": ask})).await;
    agent.says(json!({"jsonrpc": "2.0", "id": "x", "method": "no/such", "params": {}})).await;
    let refused = agent.hears().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("x"), &json!(-32601)));
    agent
        .says(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}))
        .await;
    let withdrawn = agent.hears().await;
    assert_eq!((&withdrawn["id"], &withdrawn["error"]["code"]), (id, &json!(-32800)));
    assert!(provider.is_alive(&session.session_id));
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_the_agents_own_is_over_when_it_is_quiet_and_no_call_of_it_runs() {
    let (provider, mut agent, mut session) = in_a_session().await;
    let text = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});

    agent.tells("s1", text("By the way")).await;
    let silence = silence_before_the_end(&mut session).await;
    assert!(silence <= Duration::from_secs(2), "{silence:?}");

    agent.tells("s1", text("And")).await;
    let idle = json!({"codex": {"threadStatus": {"type": "idle"}}});
    agent.tells("s1", json!({"sessionUpdate": "session_info_update", "_meta": idle})).await;
    let silence = silence_before_the_end(&mut session).await;
    assert_eq!(silence, Duration::ZERO, "codex reports the end");

    // A permission about a call does not mean that the call is running.
    let ask =
        json!({"sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": [{"optionId": "y"}]});
    agent
        .says(json!({"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": ask}))
        .await;
    let item = loop {
        let crate::Output::Event(event) = session.output.recv().await.unwrap().output else {
            continue;
        };
        if let liminal_stream::Payload::ItemStart { item_id, item, .. } = event.payload
            && matches!(item, liminal_stream::NewItem::Permission { .. })
        {
            break item_id;
        }
    };
    let yes = liminal_contract::Answer { option_id: Some("y".into()), ..Default::default() };
    let by = liminal_contract::OutcomeBy::User;
    provider.answer(&session.session_id, &item, yes, by).await.unwrap();
    agent.hears().await;
    agent.tells("s1", text("Thanks.")).await;
    let silence = silence_before_the_end(&mut session).await;
    assert!(silence <= Duration::from_secs(2), "{silence:?}");

    agent
        .tells("s1", json!({"sessionUpdate": "tool_call", "toolCallId": "d", "title": "make"}))
        .await;
    let silence = silence_before_the_end(&mut session).await;
    assert!(silence >= Duration::from_secs(60), "{silence:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_loaded_once_after_a_restart_and_not_again_by_its_next_message() {
    let (provider, agents) = fakes(2);
    let [mut first, mut second]: [Agent; 2] = agents.try_into().ok().unwrap();
    let creating = create(&provider);
    first.greets().await;
    let request = first.hears_call("session/new").await;
    first.answers(&request, json!({"sessionId": "s1"})).await;
    let mut session = creating.await.unwrap().unwrap();
    drop(first);
    while !matches!(session.output.recv().await.unwrap().output, crate::Output::AgentLeft(_)) {}

    let again = provider.clone();
    let restarting = tokio::spawn(async move { again.reconnect(None).await });
    second.greets_offering(json!({"loadSession": true})).await;
    restarting.await.unwrap().unwrap();
    let request = second.hears_call("session/load").await;
    second.answers(&request, json!({})).await;

    let attached = load(&provider, "s1").await.unwrap().unwrap();
    let turn = TurnId::new("t1");
    provider.send_message(&attached.session_id, &turn, &"hi".into()).await.unwrap();
    second.hears_call("session/prompt").await;
}

#[tokio::test(start_paused = true)]
async fn only_an_agent_that_says_so_has_forgotten_a_session() {
    let (provider, mut agent, _session) = in_a_session_that_loads().await;
    for (code, words, forgotten) in [
        (-32002, "Resource not found", true),
        (-32603, "Internal error: no rollout found for thread id 7", true),
        (-32603, "Unknown session: old", true),
        (-32603, "Session old is already loaded", false),
        (-32603, "session old is archived", false),
        (-32603, "Command not found: git", false),
        (-32601, "Method not found", false),
        (-32000, "Please log in", false),
    ] {
        let loading = load(&provider, "old");
        let request = agent.hears_call("session/load").await;
        agent.refuses(&request, code, words).await;
        let error = loading.await.unwrap().unwrap_err();
        let is_unknown = matches!(error, ProviderError::SessionUnknown { .. });
        assert_eq!(is_unknown, forgotten, "{words}: {error:?}");
        assert!(code == -32000 || error.to_string().contains(words), "{words}: {error}");
    }
}
