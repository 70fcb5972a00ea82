//! A provider and an agent that is this test: over pipes in memory, with injected time.

use std::sync::Weak;

use async_trait::async_trait;
use liminal_contract::CliType;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::super::agent::{AcpAgent, Patience};
use super::super::connect::greet;
use super::super::provider::{AcpHost, AcpProvider};
use super::*;
use crate::lifecycle::{Attempt, Connect, Timing};
use crate::process::{GuardCommand, Launch};
use crate::{CliProvider, NewSession, ProviderError};

/// Reaches the agent over pipes in memory.
struct InMemory {
    shared: Weak<Shared>,
    theirs: Mutex<Option<DuplexStream>>,
}

#[async_trait]
impl Connect for InMemory {
    type Link = Link;

    async fn connect(&self, _no_process: &Attempt) -> Result<Arc<Link>, ProviderError> {
        let (shared, ours) =
            (self.shared.upgrade().unwrap(), self.theirs.lock().unwrap().take().unwrap());
        let (reads, mut writes) = tokio::io::split(ours);
        let (link, mut outgoing) = Link::new(shared, Budget::default());
        tokio::spawn(async move {
            while let Some(Outgoing { line, .. }) = outgoing.recv().await {
                writes.write_all(&line).await.unwrap();
            }
        });
        let reading = Arc::clone(&link);
        tokio::spawn(async move {
            let mut lines = Lines::of(reads, reading.budget.clone());
            reading.read(&mut lines).await;
            let error = ProviderError::ProcessEnded {
                name: "Fake".into(),
                stderr_tail: "last words".into(),
            };
            reading.close(&error, "last words");
        });
        greet(&link).await?;
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

    async fn greets(&mut self) {
        let request = self.hears_call("initialize").await;
        assert_eq!(request["params"]["protocolVersion"], 1);
        let fs = json!({"readTextFile": true, "writeTextFile": true});
        assert_eq!(request["params"]["clientCapabilities"]["fs"], fs);
        let capabilities = json!({"sessionCapabilities": {"close": {}}});
        self.answers(&request, json!({"protocolVersion": 1, "agentCapabilities": capabilities}))
            .await;
    }
}

fn fake() -> (AcpProvider, Agent) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reads, writes) = tokio::io::split(theirs);
    let agent = AcpAgent {
        cli_type: CliType::parse("fake").unwrap(),
        name: "Fake".into(),
        launch: Launch::new("Fake", "fake", "/"),
        login: None,
        ask_mode: None,
        fs: true,
        terminal: true,
    };
    let host = AcpHost {
        guard: GuardCommand::new("none"),
        data_dir: "/nowhere".into(),
        statuses: mpsc::unbounded_channel().0,
        timing: Timing { start: Duration::from_secs(15), ..Timing::default() },
        patience: Patience::default(),
    };
    let provider = AcpProvider::connecting(agent, host, |shared| {
        Arc::new(InMemory { shared: Arc::downgrade(shared), theirs: Mutex::new(Some(ours)) })
    });
    (provider, Agent { reads: BufReader::new(reads).lines(), writes })
}

fn create(
    provider: &AcpProvider,
) -> tokio::task::JoinHandle<Result<crate::ProviderSession, ProviderError>> {
    let provider = provider.clone();
    tokio::spawn(async move {
        provider.create_session(NewSession { project_dir: "/".into(), session_id: None }).await
    })
}

/// With the session `s1` made.
async fn in_a_session() -> (AcpProvider, Agent, crate::ProviderSession) {
    let (provider, mut agent) = fake();
    let creating = create(&provider);
    agent.greets().await;
    let request = agent.hears_call("session/new").await;
    agent.answers(&request, json!({"sessionId": "s1"})).await;
    let session = creating.await.unwrap().unwrap();
    (provider, agent, session)
}

/// How long the turn that goes on stays silent before it ends.
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
    let first = session.output.recv().await.unwrap().output;
    assert_eq!(first, crate::Output::Fact(liminal_stream::SessionFact::Title("Early".into())));
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
    assert_eq!((name, title), (&json!("liminal"), &json!("Liminal Builder")));
    let can = &said["clientCapabilities"];
    assert_eq!(can["fs"], json!({"readTextFile": true, "writeTextFile": true}));
    assert_eq!(can["terminal"], json!(true));
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
    provider.send_message(&session.session_id, &turn, "hi").await.unwrap();
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
    provider.send_message(&session.session_id, &TurnId::new("t1"), "hi").await.unwrap();
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

    // That a question was about a call does not mean that the call runs.
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
