use std::ffi::OsString;

use super::*;
use crate::catalogue::{Catalogue, Overrides};

/// Loads nothing of the projects' own.
struct Nothing;

impl Trust for Nothing {
    fn is_confirmed(&self, _project: &Path) -> bool {
        false
    }
    fn confirm(&self, _project: &Path) {}
}

/// A provider whose Claude Code has one session on disk, and what loads that.
fn with_a_session(home: &Path) -> (ClaudeProvider, LoadSession) {
    let folder = home.join("projects/-project");
    std::fs::create_dir_all(&folder).unwrap();
    let said =
        r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"Hi"}}"#;
    std::fs::write(folder.join("one.jsonl"), format!("{said}\n")).unwrap();
    let catalogue = Catalogue::new(None, &Overrides::default(), Path::new("/nowhere"));
    let cli_type = CliType::parse("claude-code").unwrap();
    let mut entry = catalogue.get(&cli_type).unwrap().clone();
    entry.env.push((OsString::from("CLAUDE_CONFIG_DIR"), home.into()));
    let provider = ClaudeProvider::new(ClaudeOptions {
        entry,
        guard: GuardCommand::new("/nowhere"),
        statuses: mpsc::unbounded_channel().0,
        trust: Arc::new(Nothing),
        start: None,
        idle: Duration::from_secs(600),
        interrupt: Duration::from_secs(1),
    });
    let load = LoadSession {
        session_id: SessionId::new(&cli_type, "one").unwrap(),
        agent_ref: "one".to_owned(),
        project_dir: home.to_owned(),
        history: History::All,
        options: Vec::new(),
        fork: None,
    };
    (provider, load)
}

#[tokio::test]
async fn nothing_is_kept_of_a_session_that_was_only_read_and_let_go() {
    let home = tempfile::tempdir().unwrap();
    let (provider, load) = with_a_session(home.path());
    // The second time it is read like the first.
    for _ in 0..2 {
        let mut loaded = provider.load_session(load.clone()).await.unwrap();
        let mut has_told = false;
        while !has_told {
            has_told = matches!(loaded.output.recv().await.unwrap().output, Output::HistoryTold);
        }
        assert!(provider.let_go(&load.session_id));
        assert!(provider.sessions().is_empty());
        // Nor by a task: nobody is left who could say more.
        assert!(loaded.output.recv().await.is_none());
    }
}
