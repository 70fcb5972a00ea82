//! One call of the git program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::start::start;

/// A repository of 100,000 files on a cold disk takes some seconds.
const LONGEST_CALL: Duration = Duration::from_secs(30);
/// In bytes. The list of 100,000 changed paths is about 10 MB.
const LARGEST_ANSWER: u64 = 64 << 20;
/// In bytes. The end of what git says about a failure: a hook says last what is wrong.
const LONGEST_WORDS: usize = 64 << 10;

/// How long a pipe may stay open after git has ended. All that git wrote is in it by then.
const LAST_WORDS: Duration = Duration::from_secs(2);

const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Why git did not answer. The messages tell users what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("This directory isn't in a git repository. Run “git init” there to see changes.")]
    NotARepository,
    #[error("{base} has no commit to start from. Commit something first.")]
    NoCommit {
        /// A branch, or `HEAD`.
        base: String,
    },
    #[error("git could not be started ({0}). Install git 2.30 or newer.")]
    NotStarted(String),
    #[error("Landing needs git 2.38 or newer; this is {version}. Nothing was changed.")]
    TooOldToLand {
        /// As it says itself, such as `git version 2.30.2`.
        version: String,
    },
    #[error("git {call} took longer than {} s and was stopped.", .limit.as_secs())]
    TooSlow { call: String, limit: Duration },
    #[error("git {call} printed more than {} MB.", LARGEST_ANSWER >> 20)]
    TooLarge { call: String },
    #[error("git {call} failed: {words}")]
    Failed {
        call: String,
        /// What git printed to stderr, and the signal that ended it.
        words: String,
    },
    #[error(
        "Another git process is using this repository, so nothing was changed. Try again when it finishes. If none is \
         running, delete {path}."
    )]
    Locked { path: String },
    #[error("These files are in the way in {at}: {names}. Nothing was changed.")]
    InTheWay { at: String, names: String },
    #[error("gh could not open the pull request: {0}")]
    Gh(
        /// What gh printed.
        String,
    ),
    #[error("git {call} printed something unexpected: {what}")]
    Unexpected { call: &'static str, what: String },
    #[error(
        "The repository configures {name}, which can't be turned off. Rename it to see changes here."
    )]
    Filter { name: String },
    #[error("{path} could not be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path} could not be written: {reason}")]
    Unwritable { path: String, reason: String },
    #[error(
        "Parts of this state were removed, by git gc in the repository or with old checkpoints, so it can't be shown."
    )]
    Pruned,
}

impl GitError {
    /// git says it in one place only, in words. We set the language, so they don't vary with the user's.
    pub(crate) fn is_no_repository(&self) -> bool {
        matches!(self, Self::Failed { words, .. }
            if words.contains("not a git repository") || words.contains("must be run in a work tree"))
    }

    /// What git says about an object that is missing differs from call to call.
    pub(crate) fn or_pruned(self) -> Self {
        let missing =
            ["bad object", "unable to read", "could not get object info", "Not a valid object"];
        match self {
            Self::Failed { words, .. } if missing.iter().any(|each| words.contains(each)) => {
                Self::Pruned
            }
            other => other,
        }
    }
}

/// How the user's own programs run: hooks, and `gh`.
#[derive(Debug, Clone)]
pub struct OwnPrograms {
    /// After which they are ended.
    pub limit: Duration,
    /// A variable in the environment of all that they start, by which it is found if we are killed.
    pub mark: Option<(&'static str, OsString)>,
}

impl From<Duration> for OwnPrograms {
    fn from(limit: Duration) -> Self {
        Self { limit, mark: None }
    }
}

/// What a call printed, and how it ended.
pub(crate) struct Answer {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub printed: Vec<u8>,
    /// What it printed to stderr, and the signal that ended it.
    pub words: String,
}

/// How to call git in one directory.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    directory: PathBuf,
    /// `-c name=value`, before the name of the call.
    settings: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
}

impl Git {
    /// Runs nothing configured in the repository but its filters.
    pub fn quiet(directory: &Path) -> Self {
        let settings = [
            NO_HOOKS,
            "core.fsmonitor=false",
            "core.untrackedCache=false",
            "core.pager=cat",
            "diff.external=",
            "diff.orderFile=/dev/null",
            "diff.ignoreSubmodules=dirty",
            "submodule.recurse=false",
            "status.submoduleSummary=false",
            "log.showSignature=false",
        ];
        let settings = settings.into_iter().map(OsString::from).collect();
        Self { directory: directory.to_owned(), settings, environment: Vec::new() }
    }

    pub fn in_directory(self, directory: &Path) -> Self {
        Self { directory: directory.to_owned(), ..self }
    }

    /// Runs the hooks that the user set up.
    pub fn with_hooks(mut self) -> Self {
        self.settings.retain(|setting| setting != NO_HOOKS);
        self
    }

    pub fn marked(mut self, own: &OwnPrograms) -> Self {
        self.environment.extend(own.mark.clone());
        self
    }

    pub fn with_setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.into());
        self
    }

    pub fn with_variable(mut self, name: &'static str, value: OsString) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Without the filters too: each that any configuration names is set to nothing.
    pub async fn without_filters(self) -> Result<Self, GitError> {
        let value = |name: &[u8]| if name.ends_with(b".required") { "false" } else { "" };
        self.with_each(r"^filter\..*\.(clean|smudge|process|required)$", value).await
    }

    /// Merges as git itself does, whatever programs any configuration names for it.
    pub async fn without_merge_drivers(self) -> Result<Self, GitError> {
        // It ends with a high number for binary files, which git would take for a program that failed.
        let own = "git merge-file --quiet --marker-size=%L -L %X -L %S -L %Y %A %O %B || exit 1";
        self.with_each(r"^merge\..*\.driver$", |_| own).await
    }

    /// Sets each setting that any configuration has and whose name matches.
    async fn with_each(
        mut self,
        pattern: &str,
        value: impl Fn(&[u8]) -> &'static str,
    ) -> Result<Self, GitError> {
        let named = self.run(["config", "--name-only", "-z", "--get-regexp", pattern]).await;
        let named = match named {
            Ok(named) => named,
            // It fails without a word when nothing matches.
            Err(GitError::Failed { words, .. }) if words.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        };
        for name in named.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            // `-c` takes the text up to the first `=` for the name, so it would stay as it is.
            if name.contains(&b'=') {
                return Err(GitError::Filter { name: String::from_utf8_lossy(name).into_owned() });
            }
            let setting = [name, b"=", value(name).as_bytes()].concat();
            self.settings.push(os_string(setting));
        }
        Ok(self)
    }

    /// What the call prints.
    pub async fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<u8>, GitError> {
        self.run_with(arguments, Vec::new()).await
    }

    /// What the call prints when it is given this input.
    pub async fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        let arguments: Vec<OsString> =
            arguments.into_iter().map(|each| each.as_ref().to_owned()).collect();
        let call = arguments.first().map_or_else(String::new, |name| name.to_string_lossy().into());
        let answer = self.attempt(arguments, input, LONGEST_CALL).await?;
        if answer.code == Some(0) {
            return Ok(answer.printed);
        }
        Err(GitError::Failed { call, words: answer.words })
    }

    /// What the call answers, however it ends, within the time limit.
    pub async fn attempt(
        &self,
        arguments: Vec<OsString>,
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<Answer, GitError> {
        let call = arguments.first().map_or_else(String::new, |name| name.to_string_lossy().into());
        finish(self.start(&arguments).await?, &call, input, limit).await
    }

    /// The one line that the call prints.
    pub async fn line<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<u8>, GitError> {
        let mut line = self.run(arguments).await?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(line)
    }

    async fn start(&self, arguments: &[OsString]) -> Result<Child, GitError> {
        let mut command = Command::new("git");
        for setting in &self.settings {
            command.arg("-c").arg(setting);
        }
        command.arg("--no-pager").arg("--literal-pathspecs").args(arguments);
        // A variable of a surrounding git (we may run in a hook) would point it elsewhere.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Of its own, so that hooks end with it.
            .process_group(0)
            .kill_on_drop(true);
        start(command).await.map_err(|error| match error.kind() {
            // Of the directory, not of git.
            std::io::ErrorKind::NotFound if !self.directory.is_dir() => GitError::Unreadable {
                path: self.directory.display().to_string(),
                reason: "it is no longer there".to_owned(),
            },
            _ => GitError::NotStarted(error.to_string()),
        })
    }
}

/// What a program answers, however it ends. After the time limit it is ended, with all that it started.
pub(crate) async fn finish(
    mut child: Child,
    call: &str,
    input: Vec<u8>,
    limit: Duration,
) -> Result<Answer, GitError> {
    let group = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
    let stdin = child.stdin.take();
    let told = async {
        if let Some(mut stdin) = stdin {
            // A call that fails early doesn't read all of it, and says why itself.
            let _it_ended = stdin.write_all(&input).await;
        }
    };
    let answer = async { tokio::join!(answer(&mut child, call), told).0 };
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer,
        Err(_elapsed) => {
            if let Some(group) = group {
                let kill = rustix::process::Signal::KILL;
                let _ended_already = rustix::process::kill_process_group(group, kill);
            }
            Err(GitError::TooSlow { call: call.to_owned(), limit })
        }
    }
}

/// Reads both pipes to their ends, so that neither can fill up and stop git. What a hook left running may keep them
/// open: once git has ended, it has little time to say more.
async fn answer(child: &mut Child, call: &str) -> Result<Answer, GitError> {
    let lost = |error: std::io::Error| GitError::Failed {
        call: call.to_owned(),
        words: error.to_string(),
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut printed, mut words) = (Vec::new(), Vec::new());
    let status = {
        let reading = async {
            tokio::try_join!(
                read(stdout, LARGEST_ANSWER + 1, &mut printed),
                read_end(stderr, &mut words),
            )
        };
        tokio::pin!(reading);
        tokio::select! {
            read = &mut reading => {
                read.map_err(lost)?;
                child.wait().await
            }
            ended = child.wait() => {
                if let Ok(read) = tokio::time::timeout(LAST_WORDS, reading).await {
                    read.map_err(lost)?;
                }
                ended
            }
        }
        .map_err(lost)?
    };
    if printed.len() as u64 > LARGEST_ANSWER {
        return Err(GitError::TooLarge { call: call.to_owned() });
    }
    let mut words = last_words(&words);
    if status.code().is_none() {
        // git had no time to say anything.
        let lines = [words, format!("It ended with {status}.")];
        words = lines.join("\n").trim().to_owned();
    }
    Ok(Answer { code: status.code(), printed, words })
}

async fn read(
    pipe: Option<impl tokio::io::AsyncRead + Unpin>,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> std::io::Result<()> {
    if let Some(pipe) = pipe {
        pipe.take(limit).read_to_end(bytes).await?;
    }
    Ok(())
}

/// Reads to the end and keeps at least the last [`LONGEST_WORDS`], and at most twice as much.
async fn read_end(
    pipe: Option<impl tokio::io::AsyncRead + Unpin>,
    bytes: &mut Vec<u8>,
) -> std::io::Result<()> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    while pipe.read_buf(bytes).await? > 0 {
        if bytes.len() > 2 * LONGEST_WORDS {
            bytes.drain(..bytes.len() - LONGEST_WORDS);
        }
    }
    Ok(())
}

/// The end of what a program printed, as text.
pub(crate) fn last_words(printed: &[u8]) -> String {
    let end = &printed[printed.len().saturating_sub(LONGEST_WORDS)..];
    String::from_utf8_lossy(end).trim().to_owned()
}

pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_that_a_signal_ended_names_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo half >&2; kill -TERM $$"]).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let answer = finish(child, "add", Vec::new(), LONGEST_CALL).await.unwrap();
        assert_eq!(answer.code, None);
        assert_eq!(answer.words, "half\nIt ended with signal: 15 (SIGTERM).");
    }

    #[tokio::test]
    async fn of_a_long_failure_the_end_is_kept() {
        let mut command = Command::new("sh");
        let script = "head -c 300000 /dev/zero | tr '\\0' x >&2; echo; echo 'test 7 failed' >&2";
        command.args(["-c", script]).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let answer = finish(child, "commit", Vec::new(), LONGEST_CALL).await.unwrap();
        assert!(answer.words.ends_with("xtest 7 failed"), "{}", answer.words.len());
        assert!(answer.words.len() <= LONGEST_WORDS);
    }
}
