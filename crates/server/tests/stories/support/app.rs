//! A running `liminal` with its own home directory.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::{Answer, Browser, Call, Ended, in_time};

/// A running program. It is killed when the story ends.
pub struct App {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<String>>,
    stderr_ended: JoinHandle<()>,
    first_line: String,
    token: String,
    launch: Launch,
}

/// How it is started.
#[derive(Clone)]
pub struct Launch {
    home: Arc<TempDir>,
    flags: Vec<String>,
    variables: Vec<(String, String)>,
    port: String,
    is_ordinary: bool,
    /// Shell commands that run before the shell becomes the program.
    first: Option<String>,
}

impl Launch {
    /// In a new, empty home, on any free port, without a display.
    pub fn new() -> Self {
        Self {
            home: Arc::new(tempfile::tempdir().unwrap()),
            flags: vec![],
            variables: vec![],
            port: "0".into(),
            is_ordinary: false,
            first: None,
        }
    }

    /// A limit on file size, which stands in for a full disk, is an error to it and does not kill it.
    pub fn told_of_full_disks(mut self) -> Self {
        self.first = Some("trap '' XFSZ".into());
        self
    }

    /// With a low limit on open files, which it may raise.
    pub fn few_files(mut self) -> Self {
        self.first = Some("ulimit -S -n 300".into());
        self
    }

    /// Not as root, for whom nothing is read-only.
    pub fn without_root(mut self) -> Self {
        self.is_ordinary = true;
        self
    }

    /// With at most this many descriptors.
    pub fn descriptors(mut self, most: u32) -> Self {
        self.first = Some(format!("ulimit -n {most}"));
        self
    }

    /// With one more flag or argument.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.into());
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub fn port(mut self, port: u16) -> Self {
        self.port = port.to_string();
        self
    }

    /// The user's home. It holds the data directory and nothing else.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the program keeps everything.
    pub fn data_dir(&self) -> PathBuf {
        self.home().join(".liminal-builder")
    }

    /// Puts a file into the data directory before the program is started.
    pub fn file(self, name: &str, text: &str) -> Self {
        let directory = self.data_dir();
        if !directory.exists() {
            use std::os::unix::fs::DirBuilderExt;
            std::fs::DirBuilder::new().mode(0o700).create(&directory).unwrap();
        }
        std::fs::write(directory.join(name), text).unwrap();
        self
    }

    /// A command of the program in this home, such as `token`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_liminal");
        let mut command = Command::new(if self.first.is_some() { "sh" } else { program });
        if let Some(first) = &self.first {
            command.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), program]);
        }
        command
            .args(arguments)
            .args(&self.flags)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if self.is_ordinary && rustix::process::geteuid().is_root() {
            give(self.home(), NOBODY);
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Starts the server and waits until it prints its address.
    pub async fn start(self) -> App {
        let mut child = self
            .command(&["--port", &self.port])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stderr, stderr_ended) = collect(child.stderr.take().unwrap());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first_line = String::new();
        let read = in_time(stdout.read_line(&mut first_line)).await;
        let token = first_line.trim_end().split_once("#token=").map(|(_, token)| token.to_owned());
        let Some(token) = token else {
            panic!(
                "liminal did not start ({read:?}). It printed {first_line:?} and, on stderr:\n{}",
                stderr.lock().unwrap()
            );
        };
        App { child, stdout, stderr, stderr_ended, first_line, token, launch: self }
    }
}

impl App {
    pub async fn start() -> Self {
        Launch::new().start().await
    }

    /// The line it printed when it listened.
    pub fn first_line(&self) -> &str {
        self.first_line.trim_end()
    }

    /// `127.0.0.1:port`.
    pub fn host(&self) -> &str {
        self.first_line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap()
    }

    /// `http://127.0.0.1:port`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    pub fn port(&self) -> u16 {
        self.host().rsplit(':').next().unwrap().parse().unwrap()
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// How it was started: its home, its data directory, and more commands in them.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The path of a file in the data directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.launch.data_dir().join(name)
    }

    /// A JSON file of the data directory.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }

    /// Makes a directory in the user's home and returns its canonical path.
    pub fn directory(&self, name: &str) -> String {
        let path = self.launch.home().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    /// A page that is logged in.
    pub async fn browser(&self) -> Browser {
        match Browser::try_connect(self.host(), self.token()).await {
            Ok(browser) => browser,
            Err(error) => panic!("no connection: {error}. stderr:\n{}", self.stderr()),
        }
    }

    /// A request with the right `Host` and nothing else.
    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.host(), method, path)
    }

    /// A GET with the credential.
    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).bearer(self.token()).send().await
    }

    /// A POST of JSON with the credential.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path).bearer(self.token()).json(body).send().await
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().unwrap().try_into().unwrap()).unwrap()
    }

    /// Its stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until it ends, on its own or by an earlier signal.
    pub async fn ended(mut self) -> Ended {
        let mut rest = String::new();
        let status = in_time(async {
            self.stdout.read_to_string(&mut rest).await.unwrap();
            self.child.wait().await.unwrap()
        })
        .await;
        let Some(status) = status else {
            panic!("liminal did not end. stderr:\n{}", self.stderr())
        };
        let _read_to_its_end = in_time(&mut self.stderr_ended).await;
        Ended { status, stdout: format!("{}{rest}", self.first_line), stderr: self.stderr() }
    }

    /// Stops it as a user would.
    pub async fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Kills it, and starts it again in the same home.
    pub async fn crash_and_restart(self) -> Self {
        let launch = self.launch.clone();
        self.signal(Signal::KILL);
        self.ended().await;
        launch.start().await
    }

    /// Stops it and starts it again, in the same home and on the same port.
    pub async fn restart(self) -> Self {
        let launch = self.launch.clone().port(self.port());
        self.stop().await;
        launch.start().await
    }
}

/// A user id other than root.
const NOBODY: u32 = 65534;

/// Gives a directory and everything in it to this user.
fn give(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|inside| give(&inside.unwrap().path(), user));
    }
}

/// Keeps reading, so that the program never blocks on writing.
fn collect(
    mut from: impl tokio::io::AsyncRead + Unpin + Send + 'static,
) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let collected = text.clone();
    let task = tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            collected.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    });
    (text, task)
}
