//! A session that somebody works on in a terminal: followed live, read-only, continued in a copy or when it is quiet.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use liminal_contract::{BranchAt, BranchKind, ClientMessage, ServerMessage, SessionId};
use liminal_scripted_agent::{Steps, script};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{App, Browser, Launch, descendants, in_time};

/// A session of ours with one turn, and its agent's file.
async fn started() -> (App, Browser, SessionId, Terminal) {
    let agent = script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn");
    let app = Launch::new().claude(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "one").await;
    browser.sees_end(&turn).await;
    let terminal = Terminal::of(&app, &session, Path::new(&project.path));
    is_marked(&app).await;
    (app, browser, session, terminal)
}

/// Waits until the journal has how far the agent's file was seen: what comes after it is somebody else's.
async fn is_marked(app: &App) {
    let journal = Connection::open(app.file("journal.db")).unwrap();
    let marked = async {
        let mark = || journal.query_row("SELECT mark FROM session", [], |row| row.get(0));
        while mark().unwrap_or(None::<String>).is_none() {
            tokio::task::yield_now().await;
        }
    };
    in_time(marked).await.unwrap();
}

/// Another program that writes to the session's file.
struct Terminal {
    file: PathBuf,
    directory: PathBuf,
}

impl Terminal {
    fn of(app: &App, session: &SessionId, directory: &Path) -> Self {
        let name = format!("{}.jsonl", session.local());
        let projects = std::fs::read_dir(app.launch().home().join(".claude/projects")).unwrap();
        let file = projects.map(|project| project.unwrap().path().join(&name));
        let file = file.into_iter().find(|path| path.exists()).unwrap();
        Self { file, directory: directory.to_owned() }
    }

    /// A process called `claude` in the session's directory, as a terminal would have.
    fn runs(&self) -> Running {
        let mut sleep = Command::new("sleep");
        Running(sleep.arg0("claude").arg("600").current_dir(&self.directory).spawn().unwrap())
    }

    fn last(&self) -> Value {
        let text = std::fs::read_to_string(&self.file).unwrap();
        let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.rfind(|record| record["uuid"].is_string()).unwrap()["uuid"].clone()
    }

    fn write(&self, mut record: Value) {
        record["uuid"] = json!(uuid::Uuid::now_v7().to_string());
        record["parentUuid"] = self.last();
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.file).unwrap();
        // In one step: the server may look at the file at any time.
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
    }

    fn types(&self, words: &str) {
        self.write(json!({"type": "user", "message": {"role": "user", "content": words}}));
    }

    fn answers(&self, words: &str, stop: &str) {
        let id = uuid::Uuid::now_v7().to_string();
        self.write(json!({"type": "assistant", "message": {"id": id, "model": "m",
            "stop_reason": stop, "content": [{"type": "text", "text": words}]}}));
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

async fn let_go(app: &App, session: &SessionId) {
    let killed = app.post(&format!("/api/session/{session}/kill"), &json!({})).await;
    assert_eq!(killed.status, 200);
}

/// Waits until the session is told to be in use elsewhere, or not any more.
async fn sees_elsewhere(browser: &mut Browser, is: bool) {
    let told = |frame: &Value| {
        (frame["type"] == "session:facts" && frame["facts"]["elsewhere"] == is).then_some(())
    };
    browser.sees("whether it is in use elsewhere", told).await;
}

#[tokio::test]
async fn a_turn_in_a_terminal_is_followed_live_and_read_only_until_it_ends_there() {
    let (app, mut browser, session, terminal) = started().await;
    let_go(&app, &session).await;
    browser.opens(&session).await;
    let claude = terminal.runs();
    terminal.types("from a terminal");
    sees_elsewhere(&mut browser, true).await;
    browser.sees_text(&session, "from a terminal").await;
    let refused = browser.tries_to_say_to(&session, "me too").await;
    let ServerMessage::Error { code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code.as_str(), "SESSION_ELSEWHERE");
    terminal.answers("Working on it.", "tool_use");
    browser.sees_text(&session, "Working on it.").await;
    terminal.answers("Done.", "end_turn");
    browser.sees_text(&session, "Done.").await;
    assert!(descendants(app.pid()).is_empty(), "nothing was started for it");

    drop(claude);
    sees_elsewhere(&mut browser, false).await;
    let turn = browser.says_to(&session, "me too").await;
    browser.sees_end(&turn).await;
    let history = browser.opens(&session).await;
    let expected = [
        "one",
        "You said: one",
        "from a terminal",
        "Working on it.",
        "Done.",
        "me too",
        "You said: me too",
    ];
    assert_eq!(history.texts(), expected);
    assert_eq!(history.turns.len(), 3, "what was said in the terminal is one turn");
}

#[tokio::test]
async fn a_session_in_use_elsewhere_is_continued_in_a_copy() {
    let (app, mut browser, session, terminal) = started().await;
    let_go(&app, &session).await;
    browser.opens(&session).await;
    let _claude = terminal.runs();
    terminal.types("from a terminal");
    terminal.answers("Noted.", "end_turn");
    sees_elsewhere(&mut browser, true).await;
    browser.sees_text(&session, "Noted.").await;

    let asked = ClientMessage::SessionBranch {
        session_id: session.clone(),
        item_id: None,
        at: BranchAt::After,
        kind: BranchKind::Branch,
        content: None,
        attachments: Vec::new(),
        restore_files: None,
        paths: None,
        expect: None,
    };
    let copied = browser.ask(asked).await;
    let ServerMessage::SessionCreated { session_id: copy, .. } = copied else {
        panic!("{copied:?}")
    };
    let before = ["one", "You said: one", "from a terminal", "Noted."];
    assert_eq!(browser.opens(&copy).await.texts(), before);
    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&copy).await;
    let turn = browser.says_to(&copy, "in the copy").await;
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&copy).await.texts()[4..], ["in the copy", "You said: in the copy"]);
    assert_eq!(browser.opens(&session).await.texts(), before, "the original is as it was");
    let files = std::fs::read_dir(terminal.file.parent().unwrap()).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default());
    let own: Vec<String> = texts.filter(|text| text.contains("in the copy")).collect();
    assert!(own.len() == 1 && own[0].contains("from a terminal"), "the agent copied it: {own:?}");
}

#[tokio::test]
async fn what_was_added_elsewhere_is_shown_before_a_message_to_an_idle_agent_which_starts_again() {
    let (app, mut browser, session, terminal) = started().await;
    let before = descendants(app.pid());
    assert!(!before.is_empty(), "its process runs");
    terminal.types("from a terminal");
    terminal.answers("Noted.", "end_turn");
    let turn = browser.says_to(&session, "two").await;
    browser.sees_end(&turn).await;
    let texts = browser.opens(&session).await.texts();
    let expected = ["one", "You said: one", "from a terminal", "Noted.", "two", "You said: two"];
    assert_eq!(texts, expected);
    assert!(descendants(app.pid()).iter().all(|pid| !before.contains(pid)), "on the new state");
}
