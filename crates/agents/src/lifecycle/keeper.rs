//! The task that runs one agent's process as [`Lifecycle`] says. Owns the process and the requests waiting for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use liminal_contract::{AgentStatus, CliType, SessionId, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Action, Event, Lifecycle, Status, Timing};
use crate::process::{Process, Stop};
use crate::{ProviderError, StatusChange};

/// How long to wait until a crashed agent's remaining processes have ended.
const LEFTOVERS: Duration = Duration::from_secs(2);

/// How to start an agent and connect to it.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    type Link: Send + Sync + 'static;

    /// Starts the process and performs the handshake. Must call [`Attempt::runs`] as soon as the process is running:
    /// from then on the keeper ends it if this fails or takes too long, and watches it afterwards. The future is
    /// dropped when the time is up.
    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Self::Link>, ProviderError>;
}

/// One start of the process, from the attempt to connect until its end.
#[derive(Debug, Clone, Default)]
pub struct Attempt {
    generation: u64,
    process: Arc<Mutex<Option<Process>>>,
    stopped: Arc<AtomicBool>,
}

impl Attempt {
    pub fn runs(&self, process: &Process) {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(process.clone());
    }

    /// Different for each start by the same keeper.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether we stopped the process. If not, its end is a crash.
    pub fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn process(&self) -> Option<Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Handle to one agent's process. When the last clone is dropped, the process is ended.
#[derive(Debug)]
pub struct Keeper<L> {
    asks: mpsc::UnboundedSender<Request<L>>,
    now: watch::Receiver<Current<L>>,
}

impl<L> Clone for Keeper<L> {
    fn clone(&self) -> Self {
        Self { asks: self.asks.clone(), now: self.now.clone() }
    }
}

#[derive(Debug)]
struct Current<L> {
    status: AgentStatus,
    /// The status is that already while the process is being ended; this is not.
    is_idle: bool,
    link: Option<Arc<L>>,
}

type Reply<L> = oneshot::Sender<Result<Arc<L>, ProviderError>>;

#[derive(Debug)]
enum Request<L> {
    Link(Reply<L>),
    Reconnect(Reply<L>),
    Notify(Event),
    Shutdown { how: Stop, done: oneshot::Sender<()> },
}

/// A running turn. While one is held, the process is not stopped as idle.
#[derive(Debug)]
pub struct RunningTurn<L> {
    asks: mpsc::UnboundedSender<Request<L>>,
    completed: bool,
}

impl<L> RunningTurn<L> {
    /// The agent completed the turn, so it works: resets the count of its crashes.
    pub fn complete(mut self) {
        self.completed = true;
    }
}

impl<L> Drop for RunningTurn<L> {
    fn drop(&mut self) {
        let ended = Event::TurnEnded { completed: self.completed };
        let _keeper_gone = self.asks.send(Request::Notify(ended));
    }
}

impl<L: Send + Sync + 'static> Keeper<L> {
    /// For an agent that is already connected and neither watched nor restarted.
    #[cfg(test)]
    pub(crate) fn alone(link: Arc<L>) -> Self {
        let connected =
            Current { status: AgentStatus::Connected, is_idle: false, link: Some(link) };
        Self { asks: mpsc::unbounded_channel().0, now: watch::channel(connected).1 }
    }

    /// The agent is not started yet. Every change of its state goes to `statuses`. `about` is the agent, and the
    /// session if the process belongs to one.
    pub fn new(
        about: (CliType, Option<SessionId>),
        name: &str,
        timing: Timing,
        connect: Arc<dyn Connect<Link = L>>,
        statuses: mpsc::UnboundedSender<StatusChange>,
    ) -> Self {
        let (asks, requests) = mpsc::unbounded_channel();
        let (done, reports) = mpsc::unbounded_channel();
        let idle = Current { status: AgentStatus::Idle, is_idle: true, link: None };
        let (tell, now) = watch::channel(idle);
        let task = KeeperTask {
            about,
            name: name.to_owned(),
            start: (timing.start, timing.longest_start),
            lifecycle: Lifecycle::new(name, timing),
            connect,
            statuses,
            epoch: Instant::now(),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            end: Stop::Now,
            running: Running::Nothing,
            generation: 0,
            done,
            tell,
        };
        tokio::spawn(task.run(requests, reports));
        Self { asks, now }
    }

    /// The agent, started if it is not running. Concurrent calls start it once.
    pub async fn link(&self) -> Result<Arc<L>, ProviderError> {
        self.ask(Request::Link).await
    }

    /// `None` if the agent is not connected.
    pub fn connected(&self) -> Option<Arc<L>> {
        self.now.borrow().link.clone()
    }

    /// Waits until `link` is no longer current: its process is gone or being stopped.
    pub async fn replaced(&self, link: &Arc<L>) {
        let mut now = self.now.clone();
        let is_other = |now: &Current<L>| now.link.as_ref().is_none_or(|it| !Arc::ptr_eq(it, link));
        let _keeper_gone = now.wait_for(is_other).await.is_err();
    }

    pub fn status(&self) -> AgentStatus {
        self.now.borrow().status
    }

    /// Whether nothing is lost with the keeper: there is no process, and none is starting or being ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.now.borrow().is_idle
    }

    /// Whether the process is being ended, and no other one is to follow.
    pub(crate) fn is_ending(&self) -> bool {
        let now = self.now.borrow();
        now.status == AgentStatus::Idle && !now.is_idle
    }

    /// Restarts the agent at the user's request, even if it is connected.
    pub async fn reconnect(&self) -> Result<Arc<L>, ProviderError> {
        self.ask(Request::Reconnect).await
    }

    /// Marks the start of a turn.
    pub fn turn(&self) -> RunningTurn<L> {
        let _keeper_gone = self.asks.send(Request::Notify(Event::TurnStarted));
        RunningTurn { asks: self.asks.clone(), completed: false }
    }

    /// Stops it unless a turn is running; the next request starts it.
    pub(crate) fn rest(&self) {
        let _keeper_gone = self.asks.send(Request::Notify(Event::Rest));
    }

    /// Ends the process because the server is stopping; it can't be started again.
    pub async fn shutdown(&self) {
        self.end(Stop::Now).await;
    }

    /// Ends the process; it can't be started again.
    pub(crate) async fn end(&self, how: Stop) {
        let (done, ended) = oneshot::channel();
        let _gone_already = self.asks.send(Request::Shutdown { how, done });
        let _gone_meanwhile = ended.await;
    }

    async fn ask(&self, ask: impl FnOnce(Reply<L>) -> Request<L>) -> Result<Arc<L>, ProviderError> {
        let (reply, answer) = oneshot::channel();
        let _no_answer_then = self.asks.send(ask(reply));
        answer.await.unwrap_or_else(|_keeper_gone| {
            Err(ProviderError::NotConnected {
                name: String::from("the agent"),
                reason: String::from("The server is stopping."),
                stderr_tail: String::new(),
            })
        })
    }
}

enum Running<L> {
    Nothing,
    Trying { attempt: Attempt, task: JoinHandle<()> },
    Connected { link: Arc<L>, attempt: Attempt },
}

/// The result of a background task, and the start of the process it belongs to.
struct Report<L> {
    generation: u64,
    kind: ReportKind<L>,
}

enum ReportKind<L> {
    Connected(Arc<L>),
    Slow,
    Failed(ProviderError),
    Left(ProviderError),
    Stopped,
}

struct KeeperTask<L> {
    /// The agent, and the session if the process belongs to one.
    about: (CliType, Option<SessionId>),
    name: String,
    /// When a start is slow, and when to give up on it.
    start: (Duration, Duration),
    lifecycle: Lifecycle,
    connect: Arc<dyn Connect<Link = L>>,
    statuses: mpsc::UnboundedSender<StatusChange>,
    epoch: Instant,
    waiting: VecDeque<Reply<L>>,
    /// Callers waiting for the shutdown.
    ended: Vec<oneshot::Sender<()>>,
    /// How they want the process ended.
    end: Stop,
    running: Running<L>,
    generation: u64,
    done: mpsc::UnboundedSender<Report<L>>,
    tell: watch::Sender<Current<L>>,
}

impl<L: Send + Sync + 'static> KeeperTask<L> {
    async fn run(
        mut self,
        mut requests: mpsc::UnboundedReceiver<Request<L>>,
        mut reports: mpsc::UnboundedReceiver<Report<L>>,
    ) {
        loop {
            let deadline = self.lifecycle.deadline().map(|deadline| self.epoch + deadline);
            let due = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // A process is not idle if a turn is already waiting to be counted.
                biased;
                Some(report) = reports.recv() => self.take(report),
                ask = requests.recv() => match ask {
                    Some(ask) => self.answer(ask),
                    // All handles are gone.
                    None => return self.stop(),
                },
                () = due => self.step(Event::Tick),
            }
        }
    }

    fn answer(&mut self, ask: Request<L>) {
        match ask {
            Request::Link(reply) => {
                self.waiting.push_back(reply);
                self.step(Event::Asked);
            }
            Request::Reconnect(reply) => {
                self.waiting.push_back(reply);
                self.step(Event::Reconnect);
            }
            Request::Notify(event) => self.step(event),
            Request::Shutdown { how, done } => {
                self.ended.push(done);
                self.end = how;
                self.step(Event::Shutdown);
                if matches!(self.running, Running::Nothing) {
                    self.ended.clear();
                }
            }
        }
    }

    fn take(&mut self, report: Report<L>) {
        if report.generation != self.generation {
            return;
        }
        let event = match report.kind {
            ReportKind::Connected(link) => {
                self.watch(link);
                Event::Connected
            }
            ReportKind::Slow => Event::Slow,
            ReportKind::Failed(error) => {
                self.running = Running::Nothing;
                Event::Failed(error)
            }
            ReportKind::Left(error) => {
                self.running = Running::Nothing;
                Event::Left(error)
            }
            ReportKind::Stopped => {
                self.running = Running::Nothing;
                self.ended.clear();
                Event::Stopped
            }
        };
        self.step(event);
    }

    fn step(&mut self, event: Event) {
        let actions = self.lifecycle.on(event, self.epoch.elapsed());
        let link = match (&self.running, self.lifecycle.status()) {
            (Running::Connected { link, .. }, AgentStatus::Connected) => Some(Arc::clone(link)),
            (Running::Nothing | Running::Trying { .. } | Running::Connected { .. }, _) => None,
        };
        let (status, is_idle) = (self.lifecycle.status(), self.lifecycle.is_idle());
        self.tell.send_replace(Current { status, is_idle, link: link.clone() });
        for action in actions {
            match action {
                Action::Publish(status) => self.publish(status),
                Action::Connect => self.begin_try(),
                Action::Stop => self.stop(),
                Action::Serve => {
                    for reply in self.waiting.drain(..) {
                        let Some(link) = link.clone() else { continue };
                        let _asker_left = reply.send(Ok(link));
                    }
                }
                Action::Refuse(error) => {
                    for reply in self.waiting.drain(..) {
                        let _asker_left = reply.send(Err(error.clone()));
                    }
                }
            }
        }
    }

    fn publish(&self, status: Status) {
        let retry_at = status.retry_in.map(|delay| Timestamp::from(SystemTime::now()).after(delay));
        let _nobody_listens = self.statuses.send(StatusChange {
            cli_type: self.about.0.clone(),
            status: status.status,
            session_id: self.about.1.clone(),
            attempt: status.attempt,
            retry_at,
            details: status.details,
        });
    }

    fn begin_try(&mut self) {
        self.generation += 1;
        let attempt = Attempt { generation: self.generation, ..Attempt::default() };
        let (done, generation) = (self.done.clone(), self.generation);
        let slow = {
            let done = done.clone();
            move || drop(done.send(Report { generation, kind: ReportKind::Slow }))
        };
        let trying = try_to_connect(
            Arc::clone(&self.connect),
            attempt.clone(),
            self.start,
            self.name.clone(),
            slow,
        );
        let task = tokio::spawn(async move {
            let kind = trying.await.map_or_else(ReportKind::Failed, ReportKind::Connected);
            let _keeper_gone = done.send(Report { generation, kind });
        });
        self.running = Running::Trying { attempt, task };
    }

    /// Takes over the process of a successful attempt.
    fn watch(&mut self, link: Arc<L>) {
        let Running::Trying { attempt, .. } = &self.running else { return };
        let attempt = attempt.clone();
        if let Some(process) = attempt.process() {
            let (done, generation, name) = (self.done.clone(), self.generation, self.name.clone());
            tokio::spawn(async move {
                process.exited().await;
                let stderr_tail = process.last_words().await;
                // Nothing of this process should remain when the next one starts.
                let _hangs_in_the_system = timeout(LEFTOVERS, process.gone()).await;
                let kind = ReportKind::Left(ProviderError::ProcessEnded { name, stderr_tail });
                let _keeper_gone = done.send(Report { generation, kind });
            });
        }
        self.running = Running::Connected { link, attempt };
    }

    /// Ends the process or attempt; [`ReportKind::Stopped`] follows when it is gone.
    fn stop(&mut self) {
        let (attempt, how) = match &self.running {
            Running::Nothing => return,
            Running::Trying { attempt, task } => {
                task.abort();
                (attempt, Stop::Now)
            }
            Running::Connected { attempt, .. } => (attempt, self.how_to_stop()),
        };
        attempt.stopped.store(true, Ordering::Release);
        let process = attempt.process();
        // Reports about the ended process are ignored from here on.
        self.generation += 1;
        let (done, generation) = (self.done.clone(), self.generation);
        tokio::spawn(async move {
            if let Some(process) = process {
                process.stop(how).await;
            }
            let _keeper_gone = done.send(Report { generation, kind: ReportKind::Stopped });
        });
    }

    fn how_to_stop(&self) -> Stop {
        match (self.ended.is_empty(), self.waiting.is_empty()) {
            (false, _) => self.end,
            (true, false) => Stop::Now,
            (true, true) => Stop::Gently,
        }
    }
}

/// One attempt. If it fails, nothing is left running, and the error has the end of the process's stderr.
async fn try_to_connect<L: Send + Sync + 'static>(
    connect: Arc<dyn Connect<Link = L>>,
    attempt: Attempt,
    (slow, limit): (Duration, Duration),
    name: String,
    is_slow: impl FnOnce(),
) -> Result<Arc<L>, ProviderError> {
    let mut connecting = connect.connect(&attempt);
    let mut outcome = timeout(slow, &mut connecting).await;
    let mut waited = slow;
    if outcome.is_err() && slow < limit && attempt.process().is_some_and(|it| it.is_alive()) {
        is_slow();
        outcome = timeout(limit - slow, connecting).await;
        waited = limit;
    }
    let failure = match outcome {
        Ok(Ok(link)) => return Ok(link),
        Ok(Err(error)) => Some(error),
        Err(_too_long) => None,
    };
    let mut last_words = String::new();
    if let Some(process) = attempt.process() {
        process.stop(Stop::Kill).await;
        last_words = process.last_words().await;
    }
    Err(failure.unwrap_or_else(|| ProviderError::NotConnected {
        name,
        reason: format!("It was not ready within {} s.", waited.as_secs_f32()),
        stderr_tail: last_words,
    }))
}
