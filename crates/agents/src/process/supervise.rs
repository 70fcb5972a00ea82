//! Owns one guarded process from its start to the moment when nothing of it is left.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::orders::{Order, Report};
use super::{Exit, StderrTail, Stdin};

/// How long the last words of a process that ended are waited for; a child of it may hold its stderr open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How to end a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// One agent, at leisure: close its stdin, 5 s, SIGTERM, 2 s, SIGKILL.
    Gently,
    /// Because the server stops: close its stdin, 1 s, SIGTERM, 1 s, SIGKILL.
    Now,
    /// SIGKILL.
    Kill,
}

/// A running process. Clones are the same one; when the last is dropped, its guard ends it.
#[derive(Debug, Clone)]
pub struct Process {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pid: i32,
    guard_pid: Option<u32>,
    orders: mpsc::UnboundedSender<Order>,
    exits: watch::Receiver<Option<Exit>>,
    gone: watch::Receiver<bool>,
    stdin: Stdin,
    stderr: StderrTail,
}

impl Process {
    /// Its number.
    pub fn pid(&self) -> i32 {
        self.shared.pid
    }

    /// The number of its guard.
    pub fn guard_pid(&self) -> Option<u32> {
        self.shared.guard_pid
    }

    /// Whether it has not ended.
    pub fn is_alive(&self) -> bool {
        self.shared.exits.borrow().is_none()
    }

    /// How it ended; waits until it did. Any number may wait.
    pub async fn exited(&self) -> Exit {
        let mut exits = self.shared.exits.clone();
        match exits.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Unseen),
            // The task that watches is gone, which happens only when the runtime ends.
            Err(_closed) => Exit::Unseen,
        }
    }

    /// Waits until nothing of it is left: itself, its children, whatever they started, and its guard.
    pub async fn gone(&self) {
        let mut gone = self.shared.gone.clone();
        let _runtime_ends = gone.wait_for(|gone| *gone).await.is_err();
    }

    /// What it wrote to stderr.
    pub fn stderr(&self) -> &StderrTail {
        &self.shared.stderr
    }

    /// What it wrote to stderr last. To be asked when it ended: waits for what is still in the pipe.
    pub async fn last_words(&self) -> String {
        let _a_child_holds_it_open = timeout(LAST_WORDS, self.shared.stderr.drained()).await;
        self.shared.stderr.text()
    }

    /// Ends it and everything it started; returns when nothing is left.
    pub async fn stop(&self, how: Stop) {
        let (before_term, before_kill) = match how {
            Stop::Gently => (Duration::from_secs(5), Duration::from_secs(2)),
            Stop::Now => (Duration::from_secs(1), Duration::from_secs(1)),
            Stop::Kill => return self.kill().await,
        };
        self.shared.stdin.close();
        if timeout(before_term, self.gone()).await.is_ok() {
            return;
        }
        self.order(Order::Terminate);
        if timeout(before_kill, self.gone()).await.is_ok() {
            return;
        }
        self.kill().await;
    }

    async fn kill(&self) {
        self.order(Order::Kill);
        self.gone().await;
    }

    fn order(&self, order: Order) {
        let _gone_already = self.shared.orders.send(order);
    }
}

/// A guard whose agent runs, and what is needed to watch it.
pub(super) struct Supervised {
    guard: Child,
    lifeline: UnixStream,
    mark: String,
    exits: watch::Sender<Option<Exit>>,
}

impl Supervised {
    /// `mark` is the `NAME=value` that every process of it carries.
    pub fn new(
        guard: Child,
        lifeline: UnixStream,
        mark: String,
    ) -> (Self, watch::Receiver<Option<Exit>>) {
        let (exits, seen) = watch::channel(None);
        (Self { guard, lifeline, mark, exits }, seen)
    }

    /// Watches it until nothing of it is left.
    pub fn watch(
        self,
        pid: i32,
        exits: watch::Receiver<Option<Exit>>,
        stdin: Stdin,
        stderr: StderrTail,
    ) -> Process {
        let (orders, given) = mpsc::unbounded_channel();
        let (end, gone) = watch::channel(false);
        let guard_pid = self.guard.id();
        tokio::spawn(self.run(given, end));
        Process { shared: Arc::new(Shared { pid, guard_pid, orders, exits, gone, stdin, stderr }) }
    }

    async fn run(mut self, mut given: mpsc::UnboundedReceiver<Order>, end: watch::Sender<bool>) {
        let (mut reports, mut lifeline) = self.lifeline.split();
        let obey = async {
            while let Some(order) = given.recv().await {
                if lifeline.write_all(&[order.encode()]).await.is_err() {
                    break;
                }
            }
            // The last handle is gone: cut the lifeline, and the guard ends what is left.
            let _guard_gone = lifeline.shutdown().await;
            std::future::pending().await
        };
        let listen = async {
            let mut report = [0; Report::LEN];
            while reports.read_exact(&mut report).await.is_ok() {
                let exit = match Report::decode(report) {
                    Some(Report::Code(code)) => Exit::Code(code),
                    Some(Report::Signal(signal)) => Exit::Signal(signal),
                    Some(Report::Started(_) | Report::Failed(_)) | None => continue,
                };
                self.exits.send_replace(Some(exit));
            }
        };
        tokio::select! {
            () = obey => {}
            () = listen => {}
        }
        let ended = self.guard.wait().await;
        if !ended.is_ok_and(|status| status.success()) {
            tracing::warn!(guard = ?self.guard.id(), "a guard was killed; ending what it guarded");
            let mark = self.mark;
            let _ends_by_itself = tokio::task::spawn_blocking(move || end_marked(&mark)).await;
        }
        self.exits.send_if_modified(|exit| {
            let unseen = exit.is_none();
            if unseen {
                *exit = Some(Exit::Unseen);
            }
            unseen
        });
        let _nobody_waits = end.send(true);
    }
}

/// Ends everything that carries the mark, now that its guard can't. What scrubbed its environment *and* lost its
/// guard to SIGKILL is out of reach; the agent itself is not, because the system kills it with its guard.
#[cfg(target_os = "linux")]
fn end_marked(mark: &str) {
    use super::tree::{Met, marked_with, signal_all};
    let mut pause = Duration::from_millis(5);
    while signal_all(&marked_with(mark), rustix::process::Signal::KILL) == Met::Some {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

/// There is no way to find them here but the group, whose number may have been taken by others.
#[cfg(not(target_os = "linux"))]
fn end_marked(_mark: &str) {}
