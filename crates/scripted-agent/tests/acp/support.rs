//! A scripted agent that speaks ACP, its provider, and where it works.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use liminal_agents::acp::{AcpAgent, AcpHost, AcpProvider, Patience};
use liminal_agents::catalogue::Processes;
use liminal_agents::lifecycle::Timing;
use liminal_agents::process::{GuardCommand, Launch};
use liminal_agents::{
    CliProvider, Fork, History, LoadSession, NewSession, ProviderError, ProviderSession,
    StatusChange,
};
use liminal_contract::{CliType, SessionId};
use liminal_scripted_agent::{Script, ScriptBuilder};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::chat::{Chat, PROGRAM, TOO_LONG};

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
        self.create_with(None).await
    }

    /// Remembers another session.
    pub async fn create_with(&self, fork: Option<Fork>) -> Result<Chat, ProviderError> {
        let new = NewSession {
            project_dir: self.project(),
            session_id: None,
            chosen: Vec::new(),
            wanted: Vec::new(),
            fork,
        };
        let made = timeout(TOO_LONG, self.provider.create_session(new)).await.unwrap()?;
        Ok(self.chat(made))
    }

    pub async fn load(&self, agent_ref: &str, history: History) -> Result<Chat, ProviderError> {
        let load = LoadSession {
            session_id: SessionId::parse(&format!("scripted:{agent_ref}")).unwrap(),
            agent_ref: agent_ref.to_owned(),
            project_dir: self.project(),
            history,
            options: Vec::new(),
            fork: None,
        };
        let loaded = timeout(TOO_LONG, self.provider.load_session(load)).await.unwrap()?;
        Ok(self.chat(loaded))
    }

    /// The turns of a chat are `t1`, `t2`, …
    fn chat(&self, session: ProviderSession) -> Chat {
        Chat::of(Arc::new(self.provider.clone()), session, |number| format!("t{number}"))
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
