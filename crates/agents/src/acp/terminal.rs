//! Commands that an agent runs through us: real processes under the guard, in the project.
//!
//! A terminal keeps the end of its command's output, up to a limit, and passes all output on to be shown. It does not
//! know sessions or calls.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::TerminalExitStatus;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::ProviderError;
use crate::process::{
    Exit, GuardCommand, Launch, Process, Started, StderrTo, StdinFrom, Stdout, Stop,
};

/// Bytes kept if the agent sets no limit.
const DEFAULT_LIMIT: usize = 1 << 20;

/// The most bytes kept, whatever the agent requests.
const LARGEST_LIMIT: usize = 16 << 20;

/// The most bytes that all terminals keep together. Beyond it, a terminal that grows loses its oldest output, down to
/// [`ALWAYS_KEPT`].
const MOST_KEPT: usize = 64 << 20;

/// Bytes that a terminal may keep however much the others do.
const ALWAYS_KEPT: usize = 64 << 10;

static ALL_KEPT: AtomicUsize = AtomicUsize::new(0);

/// How long to wait for output after the command ended: a leftover child may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_millis(300);

#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub limit: Option<u64>,
}

/// A running or finished command.
#[derive(Debug)]
pub(crate) struct Terminal {
    process: Process,
    kept: Mutex<OutputTail>,
    ended: watch::Receiver<Option<TerminalExitStatus>>,
}

/// The answer to `terminal/output`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub output: String,
    pub truncated: bool,
    pub exit: Option<TerminalExitStatus>,
}

impl Terminal {
    /// Runs a command. Its output goes to `shown` in pieces; the next is read once `shown` has finished with the last.
    pub async fn run<F, S>(
        command: Command,
        guard: &GuardCommand,
        shown: S,
    ) -> Result<Arc<Self>, ProviderError>
    where
        F: Future<Output = ()> + Send,
        S: Fn(String) -> F + Send + Sync + 'static,
    {
        let kept = Mutex::new(OutputTail::up_to(command.limit, &ALL_KEPT));
        let Started { process, stdout, .. } = launch(command).spawn(guard).await?;
        let (end, ended) = watch::channel(None);
        let terminal = Arc::new(Self { process, kept, ended });
        let watched = Arc::clone(&terminal);
        tokio::spawn(async move {
            let exit = watched.watch(stdout, shown).await;
            end.send_replace(Some(exit));
        });
        Ok(terminal)
    }

    pub fn snapshot(&self) -> Snapshot {
        let exit = self.ended.borrow().clone();
        let mut kept = self.kept();
        kept.cut();
        Snapshot { output: kept.text.clone(), truncated: kept.truncated, exit }
    }

    /// Waits for its end. Any number of callers may wait.
    pub async fn ended(&self) -> TerminalExitStatus {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(exit) => exit.clone().unwrap_or_default(),
            // Only when the runtime shuts down.
            Err(_closed) => TerminalExitStatus::default(),
        }
    }

    /// Ends the command. Its output stays.
    pub async fn kill(&self) {
        self.process.stop(Stop::Kill).await;
        self.ended().await;
    }

    async fn watch<F: Future<Output = ()>>(
        &self,
        mut stdout: Stdout,
        shown: impl Fn(String) -> F,
    ) -> TerminalExitStatus {
        let mut text = Decoder::default();
        let mut chunk = vec![0; 16 * 1024];
        let mut exit = None;
        loop {
            let read = match exit {
                None => tokio::select! {
                    read = stdout.read(&mut chunk) => read,
                    how = self.process.exited() => {
                        exit = Some(how);
                        continue;
                    }
                },
                Some(_) => match timeout(LAST_OUTPUT, stdout.read(&mut chunk)).await {
                    Ok(read) => read,
                    Err(_held_open) => break,
                },
            };
            let Ok(1..) = read else { break };
            self.take(text.push(&chunk[..read.unwrap_or_default()]), &shown).await;
        }
        self.take(text.finish(), &shown).await;
        match exit {
            Some(exit) => status(exit),
            None => status(self.process.exited().await),
        }
    }

    async fn take<F: Future<Output = ()>>(&self, piece: String, shown: impl Fn(String) -> F) {
        if !piece.is_empty() {
            self.kept().push(&piece);
            shown(piece).await;
        }
    }

    fn kept(&self) -> MutexGuard<'_, OutputTail> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a growing text.
#[derive(Debug)]
struct OutputTail {
    text: String,
    limit: usize,
    truncated: bool,
    /// The bytes that all terminals keep together.
    all: &'static AtomicUsize,
}

impl OutputTail {
    fn up_to(limit: Option<u64>, all: &'static AtomicUsize) -> Self {
        let limit = limit.map_or(DEFAULT_LIMIT, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX).min(LARGEST_LIMIT)
        });
        Self { text: String::new(), limit, truncated: false, all }
    }

    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        let all = self.all.fetch_add(piece.len(), Ordering::Relaxed) + piece.len();
        // Cutting moves the rest, so it waits until there is much to cut.
        if self.text.len() > (self.limit * 2).max(64 * 1024) {
            self.cut();
        } else if all > MOST_KEPT {
            let room = self.text.len().saturating_sub(all - MOST_KEPT);
            self.cut_to(room.min(self.text.len() / 2).max(ALWAYS_KEPT));
        }
    }

    fn cut(&mut self) {
        self.cut_to(self.limit);
    }

    /// Cuts from the front, at a character boundary.
    fn cut_to(&mut self, limit: usize) {
        let over = self.text.len().saturating_sub(limit);
        if over > 0 {
            let over = self.text.ceil_char_boundary(over);
            self.text.drain(..over);
            self.text.shrink_to(self.text.len() * 2);
            self.all.fetch_sub(over, Ordering::Relaxed);
            self.truncated = true;
        }
    }
}

impl Drop for OutputTail {
    fn drop(&mut self) {
        self.all.fetch_sub(self.text.len(), Ordering::Relaxed);
    }
}

/// Decodes UTF-8 that arrives in pieces, which may split a character.
#[derive(Debug, Default)]
struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            // Without a length the character may continue in the next piece; with one it is invalid.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => last_whole(&self.rest),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        text
    }

    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned()
    }
}

/// Where an incomplete last character begins, in bytes that are invalid earlier on.
fn last_whole(bytes: &[u8]) -> usize {
    let near_end = bytes.len().saturating_sub(3)..bytes.len();
    let start = near_end.rev().find(|&at| bytes[at] & 0b1100_0000 == 0b1100_0000);
    match start {
        Some(at) if std::str::from_utf8(&bytes[at..]).is_err_and(|it| it.error_len().is_none()) => {
            at
        }
        _ => bytes.len(),
    }
}

fn launch(command: Command) -> Launch {
    let Command { command, args, env, cwd, .. } = command;
    // Some agents send a whole command line as the program.
    let is_line = args.is_empty()
        && command.contains(|c: char| c.is_whitespace() || "|&;<>()$`\"'*?~#".contains(c));
    let launch = if is_line {
        Launch::new(command.clone(), "/bin/sh", cwd).args(["-c", &command])
    } else {
        Launch::new(command.clone(), &command, cwd).args(args)
    };
    let launch = env.into_iter().fold(launch, |launch, (name, value)| launch.env(name, value));
    Launch { stdin: StdinFrom::Nothing, stderr: StderrTo::Stdout, ..launch }
}

fn status(exit: Exit) -> TerminalExitStatus {
    match exit {
        Exit::Code(code) => TerminalExitStatus::new().exit_code(u32::try_from(code).unwrap_or(1)),
        Exit::Signal(signal) => TerminalExitStatus::new().signal(signal_name(signal)),
        Exit::Unseen => TerminalExitStatus::new().signal("SIGKILL".to_owned()),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return other.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The total kept by the terminals of one test.
    fn nothing_kept() -> &'static AtomicUsize {
        Box::leak(Box::default())
    }

    #[test]
    fn all_terminals_together_keep_no_more_than_they_may() {
        let all = nothing_kept();
        let mut terminals: Vec<_> =
            (0..100).map(|_| OutputTail::up_to(Some(LARGEST_LIMIT as u64), all)).collect();
        for _ in 0..4 {
            for kept in &mut terminals {
                kept.push(&"x".repeat(1 << 20));
                let sum = all.load(Ordering::Relaxed);
                assert!(sum <= MOST_KEPT + 100 * ALWAYS_KEPT + (1 << 20), "{sum}");
            }
        }
        let lengths = terminals.iter().map(|kept| kept.text.len());
        assert!(lengths.clone().all(|length| length >= ALWAYS_KEPT));
        assert_eq!(lengths.sum::<usize>(), all.load(Ordering::Relaxed));
        drop(terminals);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn output_is_cut_from_the_front_at_a_character() {
        let mut kept = OutputTail::up_to(Some(6), nothing_kept());
        kept.push("aéöü");
        kept.cut();
        // Seven bytes; the cut would fall into the é, so that goes as a whole.
        assert_eq!((kept.text.as_str(), kept.truncated), ("éöü", true));
        kept.push("x");
        kept.cut();
        assert_eq!(kept.text, "öüx");
        let mut none = OutputTail::up_to(Some(0), nothing_kept());
        none.push("gone");
        none.cut();
        assert_eq!((none.text.as_str(), none.truncated), ("", true));
    }

    const ODD_BYTES: &[u8] =
        b"a\n\0\x80\xBF\xC2\xC3\xA9\xE2\x82\xAC\xED\xA0\xF0\x9F\x98\x80\xF5\xFF";

    proptest::proptest! {
        #![proptest_config(liminal_hostile::config())]

        #[test]
        fn any_bytes_in_any_pieces_read_as_the_whole_does(
            pieces in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::sample::select(ODD_BYTES.to_vec()),
                    0..6,
                ),
                0..8,
            ),
        ) {
            let mut decoder = Decoder::default();
            let mut read: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
            read.push_str(&decoder.finish());
            let whole = pieces.concat();
            proptest::prop_assert_eq!(read, String::from_utf8_lossy(&whole));
        }
    }

    #[test]
    fn a_limit_without_sense_is_not_kept_to() {
        let mut kept = OutputTail::up_to(Some(u64::MAX), nothing_kept());
        for _ in 0..3 * LARGEST_LIMIT / (1 << 20) {
            kept.push(&"x".repeat(1 << 20));
            assert!(kept.text.len() <= 2 * LARGEST_LIMIT);
        }
        kept.cut();
        assert_eq!((kept.text.len(), kept.truncated), (LARGEST_LIMIT, true));
    }

    #[test]
    fn characters_survive_being_read_in_pieces() {
        let text = "grün 🙂 ok".as_bytes();
        for at in 0..=text.len() {
            let mut decoder = Decoder::default();
            let pieces =
                [decoder.push(&text[..at]), decoder.push(&text[at..]), decoder.finish()].concat();
            assert_eq!(pieces.as_bytes(), text, "cut at {at}");
        }
        let mut broken = Decoder::default();
        assert_eq!(broken.push(b"a\xffb\xc3"), "a\u{fffd}b");
        assert_eq!(broken.push(b"\xa9"), "é");
        assert_eq!(broken.push(b"\xf0\x9f"), "");
        assert_eq!(broken.finish(), "\u{fffd}");
    }
}
