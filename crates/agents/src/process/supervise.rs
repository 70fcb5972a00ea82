//! Owns one guarded process from its start until no descendant of it is left.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::leftovers::end_launch;
use super::mark::LaunchMark;
use super::orders::{Order, Report};
use super::{Exit, StderrTail, Stdin};

/// How long to wait for the rest of stderr after a process ended; a child may hold it open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How to end a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// For one agent: close its stdin, 5 s, SIGTERM, 2 s, SIGKILL.
    Gently,
    /// When the server stops: close its stdin, 1 s, SIGTERM, 1 s, SIGKILL.
    Now,
    /// SIGKILL at once.
    Kill,
}

/// A handle to a running process. When the last clone is dropped, the guard ends the process.
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
    pub fn pid(&self) -> i32 {
        self.shared.pid
    }

    pub fn guard_pid(&self) -> Option<u32> {
        self.shared.guard_pid
    }

    pub fn is_alive(&self) -> bool {
        self.shared.exits.borrow().is_none()
    }

    /// Waits until it ends. Any number of callers may wait.
    pub async fn exited(&self) -> Exit {
        let mut exits = self.shared.exits.clone();
        match exits.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Unseen),
            // The watching task is gone, which only happens when the runtime ends.
            Err(_closed) => Exit::Unseen,
        }
    }

    /// Waits until the process, all its descendants and its guard have ended.
    pub async fn gone(&self) {
        let mut gone = self.shared.gone.clone();
        let _runtime_ends = gone.wait_for(|gone| *gone).await.is_err();
    }

    pub fn stderr(&self) -> &StderrTail {
        &self.shared.stderr
    }

    /// The tail of stderr. Call after it ended: waits briefly for what is still in the pipe.
    pub async fn last_words(&self) -> String {
        let _a_child_holds_it_open = timeout(LAST_WORDS, self.shared.stderr.drained()).await;
        self.shared.stderr.text()
    }

    /// Ends it and all its descendants; returns when none is left.
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
    mark: LaunchMark,
    exits: watch::Sender<Option<Exit>>,
}

impl Supervised {
    /// Every process of this launch carries `mark`.
    pub fn new(
        guard: Child,
        lifeline: UnixStream,
        mark: LaunchMark,
    ) -> (Self, watch::Receiver<Option<Exit>>) {
        let (exits, seen) = watch::channel(None);
        (Self { guard, lifeline, mark, exits }, seen)
    }

    /// Watches the process until no descendant is left.
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
            // The last handle is gone: cut the lifeline, and the guard ends the process.
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
            tracing::warn!(guard = ?self.guard.id(), "a guard was killed; ending its processes");
            let mark = self.mark;
            let _done_either_way = tokio::task::spawn_blocking(move || end_launch(mark)).await;
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
