//! What to start and how: from a command to a running process and its pipes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;

use super::descriptors;
use super::lines::Stdout;
use super::mark::{Bearer, LaunchMark, ServerMark};
use super::orders::{Errand, Report, send_pipes};
use super::stderr_tail::StderrTail;
use super::stdin::Stdin;
use super::supervise::{Process, Supervised};
use crate::ProviderError;

/// How to run a guard. In the product, it is our own executable with the argument `guard`.
#[derive(Debug, Clone)]
pub struct GuardCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Identifies every process it starts.
    pub server: ServerMark,
}

impl GuardCommand {
    /// `program guard`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let server = ServerMark::random();
        Self { program: program.into(), args: vec!["guard".into()], server }
    }

    /// The running executable, even if an update has replaced its file.
    pub fn own_executable() -> Self {
        #[cfg(target_os = "linux")]
        return Self::new("/proc/self/exe");
        #[cfg(not(target_os = "linux"))]
        Self::new(std::env::current_exe().unwrap_or_else(|_unknown| "liminal".into()))
    }
}

/// Where a program's stdin comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinFrom {
    Us,
    /// It reads end-of-file at once.
    Nothing,
}

/// Where a program's stderr goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StderrTo {
    /// Kept as a tail, shown when the program dies.
    Tail,
    /// Merged into stdout in the order written, as in a terminal.
    Stdout,
}

/// A program to start.
#[derive(Clone)]
pub struct Launch {
    /// As shown to the user.
    pub name: String,
    /// A path, or a name looked up in `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Added to our own environment, overriding it. Never shown or logged.
    pub env: Vec<(OsString, OsString)>,
    /// Names not passed on from our own environment.
    pub env_remove: Vec<OsString>,
    pub cwd: PathBuf,
    /// Shell command that installs it.
    pub install: Option<String>,
    /// Where its stdin comes from.
    pub stdin: StdinFrom,
    /// Where its stderr goes.
    pub stderr: StderrTo,
}

/// Values of the environment may be secret: only their names are shown.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _secret)| name).collect();
        f.debug_struct("Launch")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("env_remove", &self.env_remove)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// A running program and its pipes. Dropping the last clone of `process` ends it.
#[derive(Debug)]
pub struct Started {
    pub process: Process,
    /// Already closed with [`StdinFrom::Nothing`].
    pub stdin: Stdin,
    pub stdout: Stdout,
}

impl Launch {
    /// With pipes for stdin and stdout, and a tail of stderr.
    pub fn new(
        name: impl Into<String>,
        program: impl AsRef<OsStr>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            name: name.into(),
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            cwd: cwd.into(),
            install: None,
            stdin: StdinFrom::Us,
            stderr: StderrTo::Tail,
        }
    }

    /// Appends arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a variable to its environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Starts it under a guard. On return, the program is running or nothing of it is left.
    pub async fn spawn(&self, guard: &GuardCommand) -> Result<Started, ProviderError> {
        match std::fs::metadata(&self.cwd) {
            Ok(at) if at.is_dir() => {}
            Ok(_) => return Err(self.refused(&not_a_directory(&self.cwd))),
            Err(cause) => {
                return Err(self.refused(&format!(
                    "Can't open its directory {}: {cause}.",
                    self.cwd.display()
                )));
            }
        }
        self.start(guard).await.map_err(|failure| match failure {
            StartFailure::Errno(Errno::NOENT) => ProviderError::NotInstalled {
                name: self.name.clone(),
                program: self.program.to_string_lossy().into_owned(),
                install: self.install.clone(),
            },
            StartFailure::Errno(errno) => self.refused(&format!(
                "Can't run {}: {}.",
                self.program.to_string_lossy(),
                io::Error::from(errno)
            )),
            StartFailure::Guard(cause) => {
                self.refused(&format!("Its guard did not start: {cause}."))
            }
        })
    }

    fn refused(&self, reason: &str) -> ProviderError {
        ProviderError::NotConnected {
            name: self.name.clone(),
            reason: reason.to_owned(),
            stderr_tail: String::new(),
        }
    }

    async fn start(&self, guard: &GuardCommand) -> Result<Started, StartFailure> {
        let mark = LaunchMark::of(guard.server);
        let errand = Errand {
            program: self.program.clone(),
            args: self.args.clone(),
            set: self.env.iter().cloned().chain([mark.variable(Bearer::Guarded)]).collect(),
            remove: self.env_remove.clone(),
            cwd: self.cwd.clone(),
            descriptors: descriptors::limit_before(),
        };
        let errand = errand.encode()?;
        let (ours, theirs) = self.pipes()?;
        // Both ends are close-on-exec from creation, so no other child started at the same moment inherits one. The
        // guard's end becomes its stdin; ours stays with us.
        let (lifeline, guards_end) = StdUnixStream::pair()?;
        send_pipes(&lifeline, errand.len(), theirs.each_ref().map(AsFd::as_fd))?;
        drop(theirs);

        let mut command = Command::new(&guard.program);
        command
            .args(&guard.args)
            .arg(&self.name)
            .envs([mark.variable(Bearer::Guard)])
            .stdin(Stdio::from(OwnedFd::from(guards_end)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if guard.program.is_absolute() {
            // A guard must not block a file system from being unmounted.
            command.current_dir("/").arg0("liminal");
        }
        let mut child = command.spawn()?;
        // The command holds the guard's end of the socket until it is dropped.
        drop(command);

        let (lifeline, pid) = match hand_over(lifeline, &errand).await {
            Ok(running) => running,
            Err(failure) => {
                // The lifeline is cut, so the guard ends; reap it.
                tokio::spawn(async move { child.wait().await });
                return Err(failure);
            }
        };
        let stderr = ours.stderr.map_or_else(StderrTail::none, StderrTail::drain);
        let (supervised, exits) = Supervised::new(child, lifeline, mark);
        let stdin = ours.stdin.map_or_else(Stdin::closed, |pipe| Stdin::over(pipe, exits.clone()));
        let process = supervised.watch(pid, exits, stdin.clone(), stderr);
        Ok(Started { process, stdin, stdout: Stdout::new(ours.stdout) })
    }

    /// The agent's pipes: our ends, and the guard's ends (stdin, stdout, stderr).
    fn pipes(&self) -> io::Result<(OurEnds, [OwnedFd; 3])> {
        let (stdin, their_stdin) = match self.stdin {
            StdinFrom::Us => {
                let (read, write) = io::pipe()?;
                (Some(OwnedFd::from(write)), OwnedFd::from(read))
            }
            StdinFrom::Nothing => (None, OwnedFd::from(File::open("/dev/null")?)),
        };
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = match self.stderr {
            StderrTo::Tail => {
                let (read, write) = io::pipe()?;
                (Some(OwnedFd::from(read)), OwnedFd::from(write))
            }
            StderrTo::Stdout => (None, OwnedFd::from(their_stdout.try_clone()?)),
        };
        let ours = OurEnds {
            stdin: stdin.map(tokio::net::unix::pipe::Sender::from_owned_fd).transpose()?,
            stdout: tokio::net::unix::pipe::Receiver::from_owned_fd(stdout.into())?,
            stderr: stderr.map(tokio::net::unix::pipe::Receiver::from_owned_fd).transpose()?,
        };
        Ok((ours, [their_stdin, their_stdout.into(), their_stderr]))
    }
}

/// Sends the guard its errand and waits until the program runs.
async fn hand_over(
    lifeline: StdUnixStream,
    errand: &[u8],
) -> Result<(UnixStream, i32), StartFailure> {
    lifeline.set_nonblocking(true)?;
    let mut lifeline = UnixStream::from_std(lifeline)?;
    lifeline.write_all(errand).await?;
    let mut report = [0; Report::LEN];
    lifeline.read_exact(&mut report).await?;
    match Report::decode(report) {
        Some(Report::Started(pid)) => Ok((lifeline, pid)),
        Some(Report::Failed(errno)) => Err(StartFailure::Errno(Errno::from_raw_os_error(errno))),
        Some(Report::Code(_) | Report::Signal(_)) | None => {
            Err(StartFailure::Guard(io::Error::other("unexpected report from the guard")))
        }
    }
}

struct OurEnds {
    stdin: Option<tokio::net::unix::pipe::Sender>,
    stdout: tokio::net::unix::pipe::Receiver,
    stderr: Option<tokio::net::unix::pipe::Receiver>,
}

enum StartFailure {
    /// The guard could not start the program.
    Errno(Errno),
    /// The guard itself did not start, or died.
    Guard(io::Error),
}

impl From<io::Error> for StartFailure {
    fn from(cause: io::Error) -> Self {
        Self::Guard(cause)
    }
}

fn not_a_directory(path: &Path) -> String {
    format!("{} is not a directory.", path.display())
}
