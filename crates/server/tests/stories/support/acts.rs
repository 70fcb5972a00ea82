//! Acting on changes: repositories to act in, and the two steps of an act.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use liminal_contract::{
    ActPath, Body, ChangeAct, CliType, ClientMessage, ErrorCode, PathFate, Project, ServerMessage,
    SessionId, TurnId, WorkspaceChoice,
};
use rustix::process::Signal;

use super::{App, Browser, Launch, executable, in_time};

/// Runs git as Ada. Returns its output.
pub fn git(directory: impl AsRef<Path>, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// With an author, and `notes.txt` of nine lines in the first commit.
pub fn repository(app: &App) -> PathBuf {
    let directory = PathBuf::from(app.directory("project"));
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    git(&directory, &["config", "user.name", "Ada"]);
    git(&directory, &["config", "user.email", "ada@example.org"]);
    git(&directory, &["config", "commit.gpgSign", "false"]);
    write(&directory, "notes.txt", &lines(&[]));
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    directory
}

/// A session in a worktree of its own, made from main, and where that is.
pub async fn worktree(
    browser: &mut Browser,
    project: &Project,
    name: &str,
) -> (SessionId, PathBuf) {
    let workspace = WorkspaceChoice::Worktree {
        base: Some("main".to_owned()),
        name: Some(name.to_owned()),
        bring: None,
        setup: None,
    };
    let create = ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace: Some(workspace),
        options: BTreeMap::new(),
        confirmed: None,
    };
    match browser.ask(create).await {
        ServerMessage::SessionCreated { session, .. } => {
            let path = PathBuf::from(session.worktree.unwrap().path);
            browser.opens(&session.id).await;
            (session.id, path)
        }
        other => panic!("not created: {other:?}"),
    }
}

/// The lines 1 to 9, with some of them replaced.
pub fn lines(replaced: &[(usize, &str)]) -> String {
    let line = |n: usize| {
        let new = replaced.iter().find(|(at, _)| *at == n);
        format!("{}\n", new.map_or(n.to_string(), |(_, text)| (*text).to_owned()))
    };
    (1..=9).map(line).collect()
}

pub fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

pub fn read(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|_missing| "no such file".into())
}

pub fn hook(directory: &Path, name: &str, script: &str) {
    let path = directory.join(".git/hooks").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    executable(&path, &format!("#!/bin/sh\n{script}\n"));
}

impl App {
    /// Waits until the state of the files before or after a turn is recorded.
    pub async fn has_recorded(&self, turn: &TurnId, moment: &str) {
        let journal = rusqlite::Connection::open(self.file("journal.db")).unwrap();
        let is_there = || {
            let found = "SELECT 1 FROM checkpoint WHERE turn_id = ?1 AND moment = ?2";
            journal.prepare(found).unwrap().exists([turn.as_str(), moment]).unwrap()
        };
        let recorded = async {
            while !is_there() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        in_time(recorded).await.expect("the state was never recorded");
    }
}

/// A git that stops at a call with these words, once a file says so, and says that it is there.
pub struct Stopped {
    pub at: PathBuf,
    pub reached: PathBuf,
}

impl Stopped {
    pub async fn reached(&self) {
        let is_reached = async {
            while !self.reached.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        in_time(is_reached).await.expect("git never came to that call");
    }

    /// Kills the program where git stopped. The next one is running when this returns.
    pub async fn killed(&self, app: App) -> App {
        self.reached().await;
        let launch = app.launch().clone();
        app.signal(Signal::KILL);
        // Only now: until the program is gone, and git with it, git would go on.
        app.ended().await;
        std::fs::remove_file(&self.at).unwrap();
        launch.start().await
    }
}

impl Launch {
    pub fn git_that_stops(self, words: &str) -> (Self, Stopped) {
        let stopped =
            Stopped { at: self.home().join("stop"), reached: self.home().join("reached") };
        let (at, reached) = (stopped.at.display(), stopped.reached.display());
        let stops = format!(
            "if [ -e {at} ]; then touch {reached}; fi; while [ -e {at} ]; do sleep 0.02; done"
        );
        (self.git_that(words, &stops), stopped)
    }

    /// A git that doesn't know an option yet.
    pub fn git_without(self, words: &str) -> Self {
        self.git_that(words, "echo 'error: unknown switch' >&2; exit 129")
    }

    /// A git that does something else first at calls with these words.
    fn git_that(self, words: &str, first: &str) -> Self {
        let (tools, path) = (self.home().join("tools"), std::env::var("PATH").unwrap());
        std::fs::create_dir_all(&tools).unwrap();
        let program = format!(
            "#!/bin/sh\ncase \"$*\" in *'{words}'*) {first};; esac\nPATH={path} exec git \"$@\"\n"
        );
        executable(&tools.join("git"), &program);
        self.variable("PATH", &format!("{}:{path}", tools.display()))
    }
}

/// What a preview says.
pub struct Previewed {
    pub paths: Vec<ActPath>,
    pub notes: Vec<String>,
    pub cannot: Vec<String>,
    pub message: Option<String>,
    pub expect: String,
}

impl Previewed {
    /// Each path with what happens to it, and a star if it is ticked.
    pub fn fates(&self) -> Vec<(String, PathFate)> {
        let star = |path: &ActPath| if path.ticked { "*" } else { "" };
        self.paths.iter().map(|path| (format!("{}{}", path.path, star(path)), path.what)).collect()
    }
}

impl Browser {
    pub async fn tries_to_preview(
        &mut self,
        session: &SessionId,
        act: &ChangeAct,
    ) -> ServerMessage {
        let (session_id, act) = (session.clone(), act.clone());
        let (preview, expect) = (Some(true), None);
        self.ask(ClientMessage::ChangesAct { session_id, act, preview, expect }).await
    }

    pub async fn previews(&mut self, session: &SessionId, act: &ChangeAct) -> Previewed {
        match self.tries_to_preview(session, act).await {
            ServerMessage::ChangesPreview { paths, notes, cannot, message, expect, .. } => {
                Previewed { paths, notes, cannot, message, expect }
            }
            other => panic!("no preview: {other:?}"),
        }
    }

    pub async fn tries_to_act(
        &mut self,
        session: &SessionId,
        act: &ChangeAct,
        expect: &str,
    ) -> ServerMessage {
        let message = acting(session, act, expect);
        self.ask(message).await
    }

    /// Looks at the preview and acts. Returns what undoes it.
    pub async fn acts(&mut self, session: &SessionId, act: &ChangeAct) -> String {
        let expect = self.previews(session, act).await.expect;
        match self.tries_to_act(session, act, &expect).await {
            ServerMessage::ChangesDone { undo, .. } => undo.unwrap_or_default(),
            other => panic!("not done: {other:?}"),
        }
    }

    /// The act is refused, at its preview or after it.
    pub async fn is_refused(
        &mut self,
        session: &SessionId,
        act: &ChangeAct,
    ) -> (ErrorCode, String) {
        let expect = match self.tries_to_preview(session, act).await {
            ServerMessage::ChangesPreview { expect, .. } => expect,
            ServerMessage::Error { code, message, .. } => return (code, message),
            other => panic!("{other:?}"),
        };
        match self.tries_to_act(session, act, &expect).await {
            ServerMessage::Error { code, message, .. } => (code, message),
            other => panic!("not refused: {other:?}"),
        }
    }
}

pub fn acting(session: &SessionId, act: &ChangeAct, expect: &str) -> ClientMessage {
    let (session_id, act) = (session.clone(), act.clone());
    ClientMessage::ChangesAct { session_id, act, preview: None, expect: Some(expect.to_owned()) }
}

pub fn commit(message: &str) -> ChangeAct {
    ChangeAct::Commit { message: message.to_owned(), paths: None }
}

pub fn undo(undo: &str) -> ChangeAct {
    ChangeAct::UndoAct { undo: undo.to_owned() }
}

/// Acts, waits until git is at the given call, and kills the program there. The next one is running when this returns.
pub async fn killed_at(
    app: App,
    mut browser: Browser,
    session: &SessionId,
    act: &ChangeAct,
    stopped: &Stopped,
    meanwhile: impl FnOnce(),
) -> App {
    let expect = browser.previews(session, act).await.expect;
    std::fs::write(&stopped.at, "").unwrap();
    browser.send(acting(session, act, &expect)).await;
    stopped.reached().await;
    meanwhile();
    stopped.killed(app).await
}

/// The program says what became of the act that was killed.
pub async fn sees_settled(app: &App, session: &SessionId, words: &str) -> Browser {
    let mut browser = app.browser().await;
    let history = browser.opens(session).await;
    let said = |body: &Body| matches!(body, Body::Notice { text, .. } if text.contains(words));
    if !history.entries.iter().any(|item| said(&item.body)) {
        browser.sees_item(session, "notice", |item| said(&item.body).then_some(())).await;
    }
    browser
}
