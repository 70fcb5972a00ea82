mod answering;
mod deleting;
mod model;
mod reading;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use liminal_agents::process::GuardCommand;
use liminal_agents::{
    AgentPrompt, CliProvider, Fork, ForkPlace, LoadSession, Metered, NewSession, Output,
    ProviderError, ProviderRegistry, ProviderSession, TaskOutput,
};
use liminal_contract::{
    Answer, Body, CliType, ErrorCode, Frame, ItemId, ItemStatus, McpAct, MessageOrigin, OutcomeBy,
    Policy, ServerMessage, SessionId, TaskAct, TurnEventKind, TurnId, TurnOrigin, TurnOutcome,
    WhenBusy,
};
use liminal_stream::{HistoryMark, NewItem, Payload, ResponseStatus, SessionFact, StreamEvent};
use tokio::sync::mpsc;

use super::*;
use crate::attachments::Attachments;
use crate::changes::Changes;
use crate::feed::Hub;
use crate::feed::{Follow, Outbox};
use crate::journal::Journal;
use crate::projects::{ProjectPath, Projects};
use crate::search::Search;
use crate::store::{ChoicesFile, ComparisonsFile, RefsFile, SessionsFile, TrustFile};
use crate::workspaces::Workspaces;
use std::sync::{Arc, Mutex};

/// An agent in this process whose output the test decides.
struct Puppet {
    cli_type: CliType,
    says: Mutex<Option<mpsc::UnboundedSender<Metered>>>,
    /// Whether the next `is_alive` panics.
    panics: AtomicBool,
    is_alive: AtomicBool,
    /// Whether it ends every turn immediately.
    answers: AtomicBool,
    /// Whether the test decides when its history ends.
    remembers_slowly: AtomicBool,
    /// How often `is_alive` was called.
    looked_after: AtomicUsize,
    /// Gets each answer, which reaches the agent when the test says so; if it says nothing, the agent is gone.
    answered: Mutex<Option<mpsc::UnboundedSender<HeardAnswer>>>,
    /// It can't be killed while the test holds this.
    killing: tokio::sync::Mutex<()>,
}

type HeardAnswer = (ItemId, tokio::sync::oneshot::Sender<()>);

impl Puppet {
    fn say(&self, output: Output) {
        let says = self.says.lock().unwrap();
        says.as_ref().unwrap().send(Metered { output, charge: None }).unwrap();
    }

    fn hear_answers(&self) -> mpsc::UnboundedReceiver<HeardAnswer> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.answered.lock().unwrap() = Some(sender);
        receiver
    }

    fn event(&self, turn: &TurnId, payload: Payload) {
        self.say(Output::Event(StreamEvent {
            event_id: "e".into(),
            timestamp: liminal_contract::Timestamp::from_millis(0),
            turn_id: turn.clone(),
            session_id: session(),
            payload,
        }));
    }

    fn output(&self) -> mpsc::UnboundedReceiver<Metered> {
        let (says, output) = mpsc::unbounded_channel();
        *self.says.lock().unwrap() = Some(says);
        output
    }
}

fn session() -> SessionId {
    SessionId::parse("puppet:one").unwrap()
}

#[async_trait]
impl CliProvider for Puppet {
    fn cli_type(&self) -> &CliType {
        &self.cli_type
    }
    async fn create_session(&self, _: NewSession) -> Result<ProviderSession, ProviderError> {
        let output = self.output();
        Ok(ProviderSession { session_id: session(), agent_ref: "one".into(), output })
    }
    async fn load_session(&self, _: LoadSession) -> Result<ProviderSession, ProviderError> {
        let output = self.output();
        if !self.remembers_slowly.load(Ordering::SeqCst) {
            self.say(Output::HistoryTold);
        }
        Ok(ProviderSession { session_id: session(), agent_ref: "one".into(), output })
    }
    async fn send_message(
        &self,
        _: &SessionId,
        turn: &TurnId,
        _: &AgentPrompt,
    ) -> Result<(), ProviderError> {
        if self.answers.load(Ordering::SeqCst) {
            self.event(turn, Payload::done(ResponseStatus::Completed));
        }
        Ok(())
    }
    async fn steer(&self, _: &SessionId, _: &str, _: &AgentPrompt) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn fork_at(&self, _: &SessionId, _: &str, _: ForkPlace) -> Option<Fork> {
        None
    }
    async fn cancel_turn(&self, _: &SessionId) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn answer(
        &self,
        _: &SessionId,
        item: &ItemId,
        _: Answer,
        _: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let heard = self.answered.lock().unwrap().clone();
        let Some(heard) = heard else { return Ok(()) };
        let (go_on, goes_on) = tokio::sync::oneshot::channel();
        heard.send((item.clone(), go_on)).unwrap();
        goes_on.await.map_err(|_gone| ProviderError::PermissionClosed)
    }
    async fn set_option(
        &self,
        _: &SessionId,
        _: &str,
        _: liminal_contract::OptionValue,
    ) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn act_on_task(
        &self,
        _: &SessionId,
        _: &str,
        _: TaskAct,
    ) -> Result<Option<TaskOutput>, ProviderError> {
        Ok(None)
    }
    async fn act_on_mcp(&self, _: &SessionId, _: &str, _: McpAct) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn kill_session(&self, _: &SessionId) -> Result<(), ProviderError> {
        let _killed = self.killing.lock().await;
        Ok(())
    }
    fn let_go(&self, _: &SessionId) -> bool {
        *self.says.lock().unwrap() = None;
        true
    }
    fn is_alive(&self, _: &SessionId) -> bool {
        assert!(!self.panics.swap(false, Ordering::SeqCst), "panics as the test wants");
        self.looked_after.fetch_add(1, Ordering::SeqCst);
        self.is_alive.load(Ordering::SeqCst)
    }
    async fn reconnect(&self, _: Option<&SessionId>) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn shutdown(&self) {}
}

async fn next(outbox: &Outbox) -> ServerMessage {
    let text = tokio::time::timeout(Duration::from_secs(30), outbox.next()).await.unwrap().unwrap();
    serde_json::from_slice::<Frame>(&text).unwrap().message
}

/// An opening as a browser requests it.
fn opening(outbox: &Arc<Outbox>) -> Open {
    let (outbox, follow) = (outbox.clone(), Follow::Whole);
    outbox.expect(&session(), follow);
    Open { outbox, since: None, around: None, follow, request_id: None }
}

fn message(content: &str) -> super::Send {
    let (content, when_busy) = (content.to_owned(), WhenBusy::Refuse);
    super::Send {
        session: session(),
        content,
        attachments: Vec::new(),
        request_id: None,
        when_busy,
        sender: None,
    }
}

fn began(sent: Sent) -> TurnId {
    match sent {
        Sent::Began(turn) => turn,
        Sent::Queued { message, .. } => panic!("{message} waits"),
    }
}

/// Waits until the journal's listener knows of everything committed so far.
async fn all_is_told(journal: &Journal) {
    let (done, wait) = tokio::sync::oneshot::channel();
    let other = SessionId::parse("puppet:other").unwrap();
    journal.interrupt(&other, Box::new(move || done.send(()).unwrap()));
    wait.await.unwrap();
}

/// The next message for which `find` finds something.
async fn sees<T>(outbox: &Outbox, find: impl Fn(ServerMessage) -> Option<T>) -> T {
    loop {
        if let Some(found) = find(next(outbox).await) {
            return found;
        }
    }
}

/// A service whose one agent is the puppet, with one session and one browser.
struct Stage {
    _home: tempfile::TempDir,
    puppet: Arc<Puppet>,
    service: Arc<SessionService>,
    client: crate::feed::Client,
}

impl Stage {
    async fn new(idle: Duration) -> Self {
        Self::with_patience(idle, Duration::from_secs(60)).await
    }

    async fn with_patience(idle: Duration, patience: Duration) -> Self {
        let home = tempfile::tempdir().unwrap();
        let puppet = Arc::new(Puppet {
            cli_type: CliType::parse("puppet").unwrap(),
            says: Mutex::default(),
            panics: AtomicBool::new(false),
            is_alive: AtomicBool::new(true),
            answers: AtomicBool::new(false),
            remembers_slowly: AtomicBool::new(false),
            looked_after: AtomicUsize::new(0),
            answered: Mutex::default(),
            killing: tokio::sync::Mutex::default(),
        });
        let mut registry = ProviderRegistry::new();
        registry.register(puppet.clone());
        let journal = Journal::open(home.path()).unwrap().journal;
        let sessions = Arc::new(SessionsFile::open(home.path(), &journal));
        let projects = Arc::new(Projects::open(home.path()));
        let hub = Arc::new(Hub::default());
        let directory = ProjectPath::resolve(home.path().to_str().unwrap()).unwrap();
        let project = projects.add(directory, |_| {}).await.unwrap();
        let service = SessionService::start(Surroundings {
            attachments: Arc::new(Attachments::open(home.path())),
            search: Search::start(home.path(), &journal, sessions.clone()).unwrap(),
            changes: Arc::new(Changes::new(home.path(), journal.clone())),
            journal,
            hub: hub.clone(),
            projects,
            sessions,
            choices: ChoicesFile::open(home.path()),
            comparisons: ComparisonsFile::open(home.path()),
            refs: RefsFile::open(home.path()),
            workspaces: Workspaces::beside(home.path(), GuardCommand::new("/nowhere")),
            trust: Arc::new(TrustFile::open(home.path())),
            registry,
            policy: Policy::Ask,
            patience,
            idle,
            at_work: AtWork::default(),
            unread: Unread::default(),
        })
        .await
        .unwrap();
        service.create(&project.id, &puppet.cli_type, Start::default(), None).await.unwrap();
        Self { _home: home, puppet, service, client: hub.join() }
    }

    /// Sends a message once no other turn runs, and returns the turn it began.
    async fn send(&self, content: &str) -> TurnId {
        loop {
            match self.service.send(message(content)).await {
                Ok(sent) => return began(sent),
                Err(failure) => assert_eq!(failure.code, ErrorCode::SessionBusy),
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_turn_that_ends_in_silence_is_told_before_the_end_of_the_silence() {
    let (idle, patience) = (Duration::from_secs(600), Duration::from_millis(10));
    let Stage { _home, puppet, service, client } = Stage::with_patience(idle, patience).await;
    service.open(&session(), opening(&client.outbox)).await.unwrap();
    let turn = began(service.send(message("hm")).await.unwrap());
    let notice = |message| match message {
        ServerMessage::SessionUpsert { payload, seq, .. } => {
            matches!(payload.body, Body::Notice { .. }).then_some((payload.status, seq))
        }
        _ => None,
    };
    assert_eq!(sees(&client.outbox, notice).await.0, ItemStatus::Create);

    all_is_told(&service.around.journal).await;
    let commits = Arc::new(AtomicUsize::new(0));
    let count = commits.clone();
    service.around.journal.on_commit(Box::new(move |of| {
        count.fetch_add(usize::from(*of == session()), Ordering::SeqCst);
    }));
    puppet.event(&turn, Payload::done(ResponseStatus::Completed));
    let ended = sees(&client.outbox, |message| match message {
        ServerMessage::SessionTurn { seq, .. } => Some(seq),
        _ => None,
    })
    .await;
    assert_eq!(sees(&client.outbox, notice).await, (ItemStatus::Complete, ended + 1));
    // In one commit: of two, the one with the lower number might be sent after the higher one was read.
    all_is_told(&service.around.journal).await;
    assert_eq!(commits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_turn_whose_agent_sends_nothing_more_ends_and_the_next_message_is_answered() {
    let Stage { _home, puppet, service, client } = Stage::new(Duration::from_secs(600)).await;
    service.open(&session(), opening(&client.outbox)).await.unwrap();
    let turn = began(service.send(message("hello")).await.unwrap());
    *puppet.says.lock().unwrap() = None;
    let end = |message| match message {
        ServerMessage::SessionTurn { payload, .. } => match payload.kind {
            TurnEventKind::TurnStarted { .. } => None,
            kind => Some((payload.turn_id, kind)),
        },
        _ => None,
    };
    let (ended, how) = sees(&client.outbox, end).await;
    assert_eq!(ended, turn);
    let code = ErrorCode::ProcessCrash;
    assert!(matches!(how, TurnEventKind::TurnError { error_code, .. } if error_code == code));
    puppet.answers.store(true, Ordering::SeqCst);
    let next = began(service.send(message("again")).await.unwrap());
    let (ended, how) = sees(&client.outbox, end).await;
    assert_eq!(ended, next);
    assert!(matches!(how, TurnEventKind::TurnComplete { .. }), "{how:?}");
}

#[tokio::test]
async fn a_panic_in_one_session_costs_nobody_a_word_and_the_session_goes_on() {
    let Stage { _home, puppet, service, client } = Stage::new(Duration::from_secs(600)).await;
    let open = || opening(&client.outbox);
    service.open(&session(), open()).await.unwrap();
    let turn = began(service.send(message("hello")).await.unwrap());
    puppet.event(
        &turn,
        Payload::ResponseStart {
            model_id: String::new(),
            provider_id: "puppet".into(),
            origin: TurnOrigin::User,
        },
    );
    puppet.event(
        &turn,
        Payload::ItemStart {
            item_id: ItemId::block(&turn, 0, 0),
            parent_call_id: None,
            item: NewItem::Message {
                initial_content: Some("half an answer".into()),
                origin: MessageOrigin::Agent,
            },
        },
    );
    sees(&client.outbox, |message| match message {
        ServerMessage::SessionUpsert { payload, .. } => {
            (payload.item_id == ItemId::block(&turn, 0, 0)).then_some(())
        }
        _ => None,
    })
    .await;

    // From now on the agent has its own history, so the next opening checks whether its process is alive.
    let mark = HistoryMark { bytes: 1, last_id: "x".into() };
    puppet.say(Output::Fact(SessionFact::HistoryMark(mark)));
    puppet.panics.store(true, Ordering::SeqCst);
    // Which opening meets the panic depends on when the mark arrives; the followers get the session in any case.
    while puppet.panics.load(Ordering::SeqCst) {
        let _may_meet_the_panic = service.open(&session(), open()).await;
    }
    let turns = sees(&client.outbox, |message| match message {
        ServerMessage::SessionHistory { turns, entries, .. } => {
            let interrupted = turns.first().and_then(|turn| turn.outcome);
            (interrupted == Some(TurnOutcome::Interrupted)).then_some((turns, entries.len()))
        }
        _ => None,
    })
    .await;
    assert_eq!((turns.0[0].turn_id.clone(), turns.1), (turn, 2));
    service.send(message("and on")).await.unwrap();
}

#[tokio::test]
async fn what_was_asked_before_the_last_handle_was_let_go_is_answered() {
    let stage = Stage::new(Duration::from_secs(600)).await;
    let (record, around) = (stage.service.record(&session()).unwrap(), &stage.service.around);
    let provider = stage.puppet.clone();
    let (handle, _task) = task::SessionTask::start(record, None, provider, around.clone(), None);
    let (reply, answer) = tokio::sync::oneshot::channel();
    assert!(handle.ask(task::SessionRequest::Cancel(reply)).is_ok());
    // On a single-threaded runtime the task has not started yet.
    drop(handle);
    tokio::time::timeout(Duration::from_secs(30), answer).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_session_nobody_needs_has_no_task_and_whoever_asks_in_that_moment_gets_an_answer() {
    let stage = Stage::new(Duration::from_millis(1)).await;
    let Stage { puppet, service, client, .. } = &stage;
    let open = || opening(&client.outbox);
    let until = async |is_so: &dyn Fn() -> bool| {
        let wait = async {
            while !is_so() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
    };
    let has_task = || !service.registry.try_lock().is_ok_and(|registry| registry.all().is_empty());
    puppet.answers.store(true, Ordering::SeqCst);
    puppet.is_alive.store(false, Ordering::SeqCst);
    service.open(&session(), open()).await.unwrap();
    let first = stage.send("hello").await;
    let looked_after = puppet.looked_after.load(Ordering::SeqCst);
    until(&|| puppet.looked_after.load(Ordering::SeqCst) > looked_after + 3).await;
    assert!(has_task(), "a browser follows it");
    client.outbox.unfollow(&session());
    until(&|| !has_task()).await;

    // Tasks come to rest all the time, yet each message is accepted exactly once.
    let mut turns = vec![first];
    for n in 0..200 {
        turns.push(stage.send(&n.to_string()).await);
        if n % 3 == 0 {
            until(&|| !has_task()).await;
        }
    }
    let kept = service.around.journal.read(|reader| reader.turns(&session())).await.unwrap();
    let kept: Vec<TurnId> = kept.into_iter().map(|turn| turn.turn_id).collect();
    assert_eq!(kept, turns);
}
