//! An agent, its provider, and a conversation as a reader would see it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_agents::acp::{AcpAgent, AcpHost, AcpProvider, Patience};
use liminal_agents::catalogue::Processes;
use liminal_agents::lifecycle::Timing;
use liminal_agents::process::{GuardCommand, Launch};
use liminal_agents::{
    AgentPrompt, CliProvider, History, LoadSession, NewSession, Output, ProviderError,
    ProviderSession, StatusChange,
};
use liminal_contract::{
    Answer, CliType, Details, ItemId, ItemStatus, OutcomeBy, SessionId, Timestamp, TurnEventKind,
    TurnId, TurnStatus,
};
use liminal_scripted_agent::{Script, ScriptBuilder};
use liminal_stream::{
    Emission, Now, Pacing, SessionFact, Source, SourcePart, Upsert, UpsertProcessor,
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-agent");

/// Longer than anything here takes: a story that waits this long has failed.
const TOO_LONG: Duration = Duration::from_secs(120);

/// An agent and where it works.
pub struct App {
    pub provider: AcpProvider,
    pub statuses: mpsc::UnboundedReceiver<StatusChange>,
    home: TempDir,
}

/// What a story may change.
pub struct Setup {
    pub agent: AcpAgent,
    pub timing: Timing,
    pub patience: Patience,
}

impl App {
    pub fn new(script: ScriptBuilder) -> Self {
        Self::with(script, |_| {})
    }

    pub fn with(script: ScriptBuilder, change: impl FnOnce(&mut Setup)) -> Self {
        let home = tempfile::tempdir().unwrap();
        for dir in ["project", "data", "history"] {
            std::fs::create_dir(home.path().join(dir)).unwrap();
        }
        let path = home.path().join("script.json");
        let script: Script = script.build();
        std::fs::write(&path, script.to_json()).unwrap();
        let launch = Launch::new("Scripted", PROGRAM, home.path()).args([
            "--script".as_ref(),
            path.as_os_str(),
            "--history".as_ref(),
            home.path().join("history").as_os_str(),
        ]);
        let agent = AcpAgent {
            cli_type: CliType::parse("scripted").unwrap(),
            name: "Scripted".to_owned(),
            launch,
            login: Some("scripted login".to_owned()),
            ask_mode: None,
            fs: true,
            terminal: true,
            processes: Processes::Shared,
            mcp: Default::default(),
        };
        let timing = Timing { back_off: vec![Duration::from_millis(1); 5], ..Timing::default() };
        let mut setup = Setup { agent, timing, patience: Patience::default() };
        change(&mut setup);
        let (tell, statuses) = mpsc::unbounded_channel();
        let host = AcpHost {
            guard: GuardCommand::new(PROGRAM),
            data_dir: home.path().join("data"),
            statuses: tell,
            timing: setup.timing,
            patience: setup.patience,
        };
        Self { provider: AcpProvider::new(setup.agent, host), statuses, home }
    }

    /// Where sessions work.
    pub fn project(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("project")
    }

    pub async fn create(&self) -> Chat {
        self.try_create().await.unwrap()
    }

    pub async fn try_create(&self) -> Result<Chat, ProviderError> {
        let new = NewSession {
            project_dir: self.project(),
            session_id: None,
            chosen: Vec::new(),
            wanted: Vec::new(),
        };
        let made = timeout(TOO_LONG, self.provider.create_session(new)).await.unwrap()?;
        Ok(Chat::of(&self.provider, made))
    }

    pub async fn load(&self, agent_ref: &str, history: History) -> Result<Chat, ProviderError> {
        let load = LoadSession {
            session_id: SessionId::parse(&format!("scripted:{agent_ref}")).unwrap(),
            agent_ref: agent_ref.to_owned(),
            project_dir: self.project(),
            history,
            options: Vec::new(),
        };
        let loaded = timeout(TOO_LONG, self.provider.load_session(load)).await.unwrap()?;
        Ok(Chat::of(&self.provider, loaded))
    }

    /// The statuses so far, by their names.
    pub fn statuses(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.statuses.try_recv().ok())
            .map(|change| format!("{:?}", change.status).to_lowercase())
            .collect()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    pub async fn stop(self) {
        timeout(TOO_LONG, self.provider.shutdown()).await.unwrap();
    }
}

/// Waits until a file exists. The agent creates it to show how far it is.
pub async fn appears(path: &Path) {
    let there = async {
        while !path.exists() {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(TOO_LONG, there).await.unwrap_or_else(|_| panic!("{} never appeared", path.display()));
}

/// One conversation.
pub struct Chat {
    pub id: SessionId,
    pub provider: AcpProvider,
    output: mpsc::UnboundedReceiver<liminal_agents::Metered>,
    processor: UpsertProcessor,
    turns: u32,
    pub items: Vec<Upsert>,
    pub ends: Vec<TurnEnd>,
    pub facts: Vec<SessionFact>,
    pub left: Vec<Details>,
    pub history_told: bool,
    pub closed: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    pub turn: String,
    /// `completed`, `cancelled`, or the error's code.
    pub how: String,
    pub words: String,
    pub details: Option<Details>,
}

impl Chat {
    fn of(provider: &AcpProvider, session: ProviderSession) -> Self {
        let processor = UpsertProcessor::new(
            session.session_id.clone(),
            Pacing::paced(Duration::from_millis(33)),
        );
        Self {
            id: session.session_id,
            provider: provider.clone(),
            output: session.output,
            processor,
            turns: 0,
            items: Vec::new(),
            ends: Vec::new(),
            facts: Vec::new(),
            left: Vec::new(),
            history_told: false,
            closed: false,
        }
    }

    /// Sends a message. The turns of a chat are `t1`, `t2`, …
    pub async fn send(&mut self, text: &str) {
        self.try_send(text).await.unwrap();
    }

    pub async fn try_send(&mut self, text: &str) -> Result<(), ProviderError> {
        self.send_prompt(&text.into()).await
    }

    pub async fn send_prompt(&mut self, prompt: &AgentPrompt) -> Result<(), ProviderError> {
        self.turns += 1;
        let turn = TurnId::new(format!("t{}", self.turns));
        timeout(TOO_LONG, self.provider.send_message(&self.id, &turn, prompt)).await.unwrap()
    }

    /// Sends a message and waits for the end of its turn.
    pub async fn asks(&mut self, text: &str) -> TurnEnd {
        self.send(text).await;
        self.turn_ends().await
    }

    pub async fn cancel(&self) -> Result<(), ProviderError> {
        timeout(TOO_LONG, self.provider.cancel_turn(&self.id)).await.unwrap()
    }

    pub async fn answer(&self, item: &str, option: Option<&str>) -> Result<(), ProviderError> {
        let answer = Answer { option_id: option.map(str::to_owned), ..Answer::default() };
        self.provider.answer(&self.id, &ItemId::new(item), answer, OutcomeBy::User).await
    }

    /// Waits for the next turn to end.
    pub async fn turn_ends(&mut self) -> TurnEnd {
        let before = self.ends.len();
        self.until("a turn ends", |chat| chat.ends.len() > before).await;
        self.ends[before].clone()
    }

    pub async fn sees(&mut self, text: &str) {
        self.until(text, |chat| chat.transcript().contains(text)).await;
    }

    /// Waits for a fact about the conversation. If it does not come, shows what did.
    pub async fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            match timeout(TOO_LONG, self.output.recv()).await {
                Ok(Some(metered)) => self.take(metered.output),
                Ok(None) if !self.closed => self.closed = true,
                Ok(None) => panic!("the session closed before: {what}\n{}", self.transcript()),
                Err(_) => panic!("never came: {what}\n{}\n{:?}", self.transcript(), self.ends),
            }
        }
    }

    fn take(&mut self, output: Output) {
        let now = Now { mono: Duration::ZERO, wall: Timestamp::from_millis(0) };
        match output {
            Output::Event(event) => {
                let mut emissions = self.processor.process(event, now);
                emissions.extend(self.processor.flush_all(now));
                emissions.into_iter().for_each(|emission| self.show(emission));
            }
            Output::Fact(fact) => self.facts.push(fact),
            Output::HistoryReplaced => panic!("an ACP agent's history follows no mark"),
            Output::HistoryTold => self.history_told = true,
            Output::Returned { message } => panic!("it returned {message}"),
            Output::AgentLeft(details) => self.left.push(details),
        }
    }

    fn show(&mut self, emission: Emission) {
        match emission {
            Emission::Grew(growth) => {
                let item = self.items.iter_mut().find(|item| item.item_id == growth.item_id);
                item.unwrap().grow(&growth);
            }
            Emission::Put(upsert) => {
                match self.items.iter_mut().find(|item| item.item_id == upsert.item_id) {
                    Some(item) => *item = upsert,
                    None => self.items.push(upsert),
                }
            }
            Emission::Turn(event) => {
                let turn = event.turn_id.to_string();
                let end = match event.kind {
                    TurnEventKind::TurnStarted { .. } => return,
                    TurnEventKind::TurnComplete { status, stop_reason, .. } => {
                        let how = match status {
                            TurnStatus::Completed => "completed",
                            TurnStatus::Cancelled => "cancelled",
                        };
                        let words = stop_reason.unwrap_or_default();
                        TurnEnd { turn, how: how.to_owned(), words, details: None }
                    }
                    TurnEventKind::TurnError { error_code, error_message, details } => {
                        let how = format!("{error_code:?}");
                        TurnEnd { turn, how, words: error_message, details }
                    }
                };
                self.ends.push(end);
            }
        }
    }

    /// All items as a reader sees them, one per line.
    pub fn transcript(&self) -> String {
        let mut text = String::new();
        for item in &self.items {
            let state = match item.status {
                ItemStatus::Create | ItemStatus::Update => "…",
                ItemStatus::Complete => "",
                ItemStatus::Error => "!",
            };
            let line = match &item.source {
                Source::Message { content, origin, .. } => format!("{origin:?}: {content}"),
                Source::Thinking { content, .. } => format!("Thinks: {content}"),
                Source::ToolCall(call) => {
                    let failed =
                        if call.tool_output_is_error == Some(true) { " failed" } else { "" };
                    let refused = if call.refused == Some(true) { " refused" } else { "" };
                    let output = call.tool_output.as_deref().unwrap_or_default();
                    format!(
                        "{:?} {}{failed}{refused}: {output}{}",
                        call.tool_kind,
                        call.title,
                        parts(&call.parts)
                    )
                }
                Source::Plan { entries } => {
                    let entries =
                        entries.iter().map(|entry| format!("{:?} {}", entry.status, entry.text));
                    format!("Plan: {}", entries.collect::<Vec<_>>().join(", "))
                }
                Source::Permission(ask) => {
                    let options: Vec<_> =
                        ask.options.iter().map(|it| it.option_id.as_str()).collect();
                    let outcome = ask.outcome.as_ref().map(|outcome| {
                        format!(
                            " -> {} by {:?}",
                            outcome.option_id.as_deref().unwrap_or("nothing"),
                            outcome.by
                        )
                    });
                    format!(
                        "May I {}? {}{}",
                        ask.title,
                        options.join("/"),
                        outcome.unwrap_or_default()
                    )
                }
                Source::Notice(notice) => format!("Notice: {}", notice.text),
                Source::Interlude(interlude) => format!("{interlude:?}"),
            };
            writeln!(text, "{line}{state}").unwrap();
        }
        text
    }
}

fn parts(parts: &[SourcePart]) -> String {
    let part = |part: &SourcePart| match part {
        SourcePart::Diff { path, old, new } => {
            let name =
                Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!(
                " [{name}: {:?} to {:?}]",
                old.as_deref().unwrap_or(""),
                new.as_deref().unwrap_or("")
            )
        }
        other => format!(" [{other:?}]"),
    };
    parts.iter().map(part).collect()
}
