//! A stage for stories with Claude Code: a project and a home in a temporary directory, the provider, and verbs that
//! wait for facts. It works with the scripted agent and with the real program.

#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use liminal_agents::catalogue::{AgentEntry, Speaks};
use liminal_agents::claude::{ClaudeOptions, ClaudeProvider, Trust};
use liminal_agents::process::GuardCommand;
use liminal_agents::{
    AgentPrompt, CliProvider, History, LoadSession, Metered, NewSession, Output, ProviderError,
    StatusChange,
};
use liminal_contract::{
    AgentStatus, Answer, CliType, ItemId, ItemStatus, OutcomeBy, SessionId, Timestamp,
    TurnEventKind, TurnId, TurnStatus,
};
use liminal_stream::{
    Emission, HistoryMark, Interlude, Now, Pacing, Permission, SessionFact, Source, ToolCall,
    Upsert, UpsertProcessor,
};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// The agent, and its guard.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-agent");

/// Longer than anything takes; a story that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(40);

/// Remembers in memory whether the project was confirmed.
#[derive(Default)]
pub struct Confirmed(AtomicBool);

impl Trust for Confirmed {
    fn is_confirmed(&self, _project: &Path) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn confirm(&self, _project: &Path) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// How long things take in a story.
#[derive(Clone)]
pub struct Pace {
    pub start: Duration,
    pub idle: Duration,
    pub interrupt: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(20),
            idle: Duration::from_secs(600),
            interrupt: Duration::from_secs(10),
        }
    }
}

/// A temporary directory, removed after the story.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for dir in ["home", "project"] {
            std::fs::create_dir(place.path().join(dir)).unwrap();
        }
        Self(place)
    }

    pub fn home(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("project")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn exists(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }
}

/// The provider on its stage.
pub struct Stage {
    pub place: Place,
    pub provider: Arc<ClaudeProvider>,
    pub statuses: Arc<Mutex<Vec<AgentStatus>>>,
}

impl Stage {
    /// With this program for `claude`.
    pub fn with(
        program: &str,
        args: &[&str],
        env: &[(&str, &str)],
        pace: Pace,
        place: Place,
    ) -> Self {
        let mut all = vec![
            (OsString::from("HOME"), OsString::from(place.home())),
            (OsString::from("CLAUDE_CONFIG_DIR"), OsString::from(place.home().join(".claude"))),
        ];
        all.extend(env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        let entry = AgentEntry {
            cli_type: CliType::parse("claude-code").unwrap(),
            name: "Claude Code".to_owned(),
            speaks: Speaks::Claude,
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            env: all,
            install: Some("npm install -g @anthropic-ai/claude-code".to_owned()),
            login: None,
            start_timeout: None,
            version_args: None,
            builtin: true,
            always_offered: true,
        };
        let (sender, mut changes) = mpsc::unbounded_channel::<StatusChange>();
        let statuses = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&statuses);
        tokio::spawn(async move {
            while let Some(change) = changes.recv().await {
                seen.lock().unwrap().push(change.status);
            }
        });
        let provider = ClaudeProvider::new(ClaudeOptions {
            entry,
            guard: GuardCommand::new(PROGRAM),
            statuses: sender,
            trust: Arc::new(Confirmed::default()),
            start: Some(pace.start),
            idle: pace.idle,
            interrupt: pace.interrupt,
        });
        Self { place, provider: Arc::new(provider), statuses }
    }

    /// With the scripted agent.
    pub fn scripted(script: &liminal_scripted_agent::Script, pace: Pace) -> Self {
        let place = Place::new();
        let file = place.home().join("script.json");
        std::fs::write(&file, serde_json::to_string(script).unwrap()).unwrap();
        Self::with(
            PROGRAM,
            &["--face", "claude", "--script", file.to_str().unwrap()],
            &[],
            pace,
            place,
        )
    }

    pub async fn create(&self) -> Result<Talk, ProviderError> {
        let new = NewSession {
            project_dir: self.place.project(),
            session_id: None,
            chosen: Vec::new(),
            wanted: Vec::new(),
        };
        let session = self.provider.create_session(new).await?;
        Ok(Talk::new(self, session.session_id, session.output))
    }

    pub async fn load(&self, agent_ref: &str, history: History) -> Result<Talk, ProviderError> {
        let load = LoadSession {
            session_id: SessionId::parse(&format!("claude-code:{agent_ref}")).unwrap(),
            agent_ref: agent_ref.to_owned(),
            project_dir: self.place.project(),
            history,
            options: Vec::new(),
        };
        let session = self.provider.load_session(load).await?;
        Ok(Talk::new(self, session.session_id, session.output))
    }

    /// Waits until the process of the session has this status.
    pub async fn status_is(&self, wanted: AgentStatus) {
        let seen = || self.statuses.lock().unwrap().last().copied();
        for _ in 0..PATIENCE.as_millis() / 10 {
            if seen() == Some(wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never {wanted:?}; seen {:?}", self.statuses.lock().unwrap());
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Completed,
    Cancelled,
    Failed(String, String),
}

/// One conversation, as a browser would see it.
pub struct Talk {
    provider: Arc<ClaudeProvider>,
    pub id: SessionId,
    output: mpsc::UnboundedReceiver<Metered>,
    processor: UpsertProcessor,
    pub items: Vec<Upsert>,
    pub turns: Vec<(TurnId, TurnEventKind)>,
    pub facts: Vec<SessionFact>,
    pub told: bool,
    pub replaced: bool,
    pub left: bool,
    /// Messages it was handed and did not take up.
    pub returned: Vec<String>,
}

impl Talk {
    fn new(stage: &Stage, id: SessionId, output: mpsc::UnboundedReceiver<Metered>) -> Self {
        Self {
            provider: Arc::clone(&stage.provider),
            processor: UpsertProcessor::new(id.clone(), Pacing::default()),
            id,
            output,
            items: Vec::new(),
            turns: Vec::new(),
            facts: Vec::new(),
            told: false,
            replaced: false,
            left: false,
            returned: Vec::new(),
        }
    }

    pub async fn send(&self, content: &str) -> Result<TurnId, ProviderError> {
        self.send_prompt(&content.into()).await
    }

    pub async fn send_prompt(&self, prompt: &AgentPrompt) -> Result<TurnId, ProviderError> {
        let turn = TurnId::new(uuid::Uuid::now_v7().to_string());
        self.provider.send_message(&self.id, &turn, prompt).await?;
        Ok(turn)
    }

    /// Hands over a message while a turn runs. Returns its id.
    pub async fn steer(&self, content: &str) -> String {
        let message = uuid::Uuid::now_v7().to_string();
        self.provider.steer(&self.id, &message, content).await.unwrap();
        message
    }

    pub async fn cancel(&self) -> Result<(), ProviderError> {
        self.provider.cancel_turn(&self.id).await
    }

    pub async fn answer(&self, item: &ItemId, option: &str) -> Result<(), ProviderError> {
        let answer = Answer { option_id: Some(option.to_owned()), ..Answer::default() };
        self.provider.answer(&self.id, item, answer, OutcomeBy::User).await
    }

    pub async fn answer_with(&self, item: &ItemId, question: &str, words: &str) {
        let answer = Answer {
            option_id: Some("allow".to_owned()),
            answers: [(question.to_owned(), words.into())].into(),
            ..Answer::default()
        };
        self.provider.answer(&self.id, item, answer, OutcomeBy::User).await.unwrap();
    }

    pub fn is_alive(&self) -> bool {
        self.provider.is_alive(&self.id)
    }

    /// Sends a message, and waits until its turn has ended.
    pub async fn ask(&mut self, content: &str) -> Ended {
        let turn = self.send(content).await.unwrap();
        self.ends(&turn).await
    }

    /// Waits until this turn has ended.
    pub async fn ends(&mut self, turn: &TurnId) -> Ended {
        let turn = turn.clone();
        self.until("the end of the turn", move |talk| {
            talk.turns.iter().find_map(|(id, kind)| match kind {
                _ if *id != turn => None,
                TurnEventKind::TurnStarted { .. } => None,
                TurnEventKind::TurnComplete { status: TurnStatus::Completed, .. } => {
                    Some(Ended::Completed)
                }
                TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. } => {
                    Some(Ended::Cancelled)
                }
                TurnEventKind::TurnError { error_code, error_message, .. } => {
                    let code = serde_json::to_value(error_code).unwrap();
                    Some(Ended::Failed(code.as_str().unwrap().to_owned(), error_message.clone()))
                }
            })
        })
        .await
    }

    /// Waits until a permission is open.
    pub async fn asked(&mut self) -> (ItemId, Permission) {
        self.until("a question", |talk| {
            talk.items.iter().find_map(|item| match &item.source {
                Source::Permission(ask) if ask.outcome.is_none() => {
                    Some((item.item_id.clone(), ask.clone()))
                }
                _ => None,
            })
        })
        .await
    }

    /// Waits until a message contains this.
    pub async fn sees(&mut self, text: &str) {
        let text = text.to_owned();
        self.until(&format!("the words {text:?}"), move |talk| {
            talk.texts().iter().any(|said| said.contains(&text)).then_some(())
        })
        .await;
    }

    pub async fn told(&mut self) {
        self.until("the history", |talk| talk.told.then_some(())).await;
    }

    /// Waits until the end of the agent's process was reported.
    pub async fn left(&mut self) {
        self.until("the agent to leave", |talk| talk.left.then_some(())).await;
    }

    /// Waits until the position in the agent's file is reported.
    pub async fn mark(&mut self) -> HistoryMark {
        while let Ok(metered) = self.output.try_recv() {
            self.take(metered.output);
        }
        self.until("a mark of the history", |talk| {
            talk.facts.iter().rev().find_map(|fact| match fact {
                SessionFact::HistoryMark(mark) => Some(mark.clone()),
                _ => None,
            })
        })
        .await
    }

    /// How a permission was settled: with which option, and by whom.
    pub fn outcome(&self, item: &ItemId) -> Option<(Option<String>, OutcomeBy)> {
        let known = self.items.iter().find(|known| known.item_id == *item)?;
        match &known.source {
            Source::Permission(ask) if known.status == ItemStatus::Complete => {
                ask.outcome.clone().map(|outcome| (outcome.option_id, outcome.by))
            }
            _ => None,
        }
    }

    pub fn texts(&self) -> Vec<String> {
        let text = |item: &Upsert| match &item.source {
            Source::Message { content, .. } => Some(content.clone()),
            _ => None,
        };
        self.items.iter().filter_map(text).collect()
    }

    pub fn notices(&self) -> Vec<String> {
        let text = |item: &Upsert| match &item.source {
            Source::Notice(notice) => Some(notice.text.clone()),
            _ => None,
        };
        self.items.iter().filter_map(text).collect()
    }

    pub fn interludes(&self) -> Vec<Interlude> {
        let interlude = |item: &Upsert| match &item.source {
            Source::Interlude(interlude) => Some(interlude.clone()),
            _ => None,
        };
        self.items.iter().filter_map(interlude).collect()
    }

    /// Waits until the agent reported such a fact.
    pub async fn knows(&mut self, what: &str, is_it: impl Fn(&SessionFact) -> bool) {
        self.until(what, |talk| talk.facts.iter().any(&is_it).then_some(())).await;
    }

    pub fn calls(&self) -> Vec<(ItemStatus, ToolCall)> {
        let call = |item: &Upsert| match &item.source {
            Source::ToolCall(call) => Some((item.status, call.clone())),
            _ => None,
        };
        self.items.iter().filter_map(call).collect()
    }

    /// Reads until it is found; shows everything read if it does not come in time.
    async fn until<T>(&mut self, what: &str, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            match tokio::time::timeout_at(end, self.output.recv()).await {
                Ok(Some(metered)) => self.take(metered.output),
                Ok(None) => panic!("closed before {what}: {:#?}\n{:#?}", self.items, self.turns),
                Err(_) => panic!(
                    "no sign of {what}: {:#?}\n{:#?}\nFACTS {:?}",
                    self.items, self.turns, self.facts
                ),
            }
        }
    }

    fn take(&mut self, output: Output) {
        let now = Now { mono: Duration::ZERO, wall: Timestamp::from_millis(0) };
        match output {
            Output::Event(event) => {
                let mut emissions = self.processor.process(event, now);
                emissions.extend(self.processor.flush_all(now));
                for emission in emissions {
                    match emission {
                        Emission::Grew(growth) => {
                            let item =
                                self.items.iter_mut().find(|item| item.item_id == growth.item_id);
                            item.unwrap().grow(&growth);
                        }
                        Emission::Put(upsert) => {
                            let known =
                                self.items.iter_mut().find(|item| item.item_id == upsert.item_id);
                            match known {
                                Some(item) => *item = upsert,
                                None => self.items.push(upsert),
                            }
                        }
                        Emission::Turn(event) => self.turns.push((event.turn_id, event.kind)),
                    }
                }
            }
            Output::Fact(fact) => self.facts.push(fact),
            Output::HistoryTold => self.told = true,
            Output::HistoryReplaced => self.replaced = true,
            Output::Returned { message } => self.returned.push(message),
            Output::AgentLeft(_) => self.left = true,
        }
    }
}
