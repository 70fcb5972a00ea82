//! A stage for stories with Claude Code: a project and a home in a temporary directory, and the provider. It works with
//! the scripted agent and with the real program.

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
    CliProvider, Fork, ForkPlace, History, LoadSession, NewSession, ProviderError, ProviderSession,
    StatusChange,
};
use liminal_contract::{AgentStatus, CliType, SessionId};
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::chat::{Chat, PROGRAM, TOO_LONG};

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

    pub async fn create(&self) -> Result<Chat, ProviderError> {
        self.create_in(self.place.project(), None).await
    }

    /// Another session that continues from a place in this one.
    pub async fn fork(&self, chat: &Chat, place: ForkPlace) -> Result<Chat, ProviderError> {
        let fork = self.provider.fork_at(&chat.id, chat.id.local(), place).await;
        assert!(fork.is_some(), "it can't go back there");
        self.create_in(self.place.project(), fork).await
    }

    pub async fn create_in(
        &self,
        project_dir: PathBuf,
        fork: Option<Fork>,
    ) -> Result<Chat, ProviderError> {
        let new = NewSession {
            project_dir,
            session_id: None,
            chosen: Vec::new(),
            wanted: Vec::new(),
            fork,
        };
        let session = self.provider.create_session(new).await?;
        Ok(self.chat(session))
    }

    pub async fn load(&self, agent_ref: &str, history: History) -> Result<Chat, ProviderError> {
        self.load_in(self.place.project(), agent_ref, history).await
    }

    pub async fn load_in(
        &self,
        project_dir: PathBuf,
        agent_ref: &str,
        history: History,
    ) -> Result<Chat, ProviderError> {
        let load = LoadSession { project_dir, ..self.load_of(agent_ref, history) };
        Ok(self.chat(self.provider.load_session(load).await?))
    }

    pub fn load_of(&self, agent_ref: &str, history: History) -> LoadSession {
        LoadSession {
            session_id: SessionId::parse(&format!("claude-code:{agent_ref}")).unwrap(),
            agent_ref: agent_ref.to_owned(),
            project_dir: self.place.project(),
            history,
            options: Vec::new(),
            fork: None,
        }
    }

    fn chat(&self, session: ProviderSession) -> Chat {
        Chat::of(self.provider.clone(), session, |_| uuid::Uuid::now_v7().to_string())
    }

    /// Waits until the process of the session has this status.
    pub async fn status_is(&self, wanted: AgentStatus) {
        let seen = || self.statuses.lock().unwrap().last().copied();
        for _ in 0..TOO_LONG.as_millis() / 10 {
            if seen() == Some(wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never {wanted:?}; seen {:?}", self.statuses.lock().unwrap());
    }
}
