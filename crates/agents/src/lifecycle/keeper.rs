//! The task that keeps one agent running as [`Lifecycle`] says. Owns the process and everybody who waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use liminal_contract::{AgentStatus, CliType, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Action, Event, Lifecycle, Status, Timing};
use crate::process::{Process, Stop};
use crate::{ProviderError, StatusChange};

/// How long the end of what a crashed agent left behind is waited for.
const LEFTOVERS: Duration = Duration::from_secs(2);

/// How to get from nothing to an agent one can talk to.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// What one talks to it with.
    type Link: Send + Sync + 'static;

    /// Starts the process and shakes hands. Must call [`Attempt::runs`] as soon as the process runs: from then on
    /// the keeper ends it when this fails or takes too long, and watches it afterwards. When this future is
    /// dropped, the time was up.
    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Self::Link>, ProviderError>;
}

/// One try to connect.
#[derive(Debug, Clone, Default)]
pub struct Attempt {
    process: Arc<Mutex<Option<Process>>>,
}

impl Attempt {
    /// This is the process.
    pub fn runs(&self, process: &Process) {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(process.clone());
    }

    fn process(&self) -> Option<Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps one agent's process. Clones are the same; when the last is dropped, the process is ended.
#[derive(Debug)]
pub struct Keeper<L> {
    asks: mpsc::UnboundedSender<Ask<L>>,
    now: watch::Receiver<Now<L>>,
}

impl<L> Clone for Keeper<L> {
    fn clone(&self) -> Self {
        Self { asks: self.asks.clone(), now: self.now.clone() }
    }
}

/// What is true at the moment.
#[derive(Debug)]
struct Now<L> {
    status: AgentStatus,
    link: Option<Arc<L>>,
}

type Reply<L> = oneshot::Sender<Result<Arc<L>, ProviderError>>;

#[derive(Debug)]
enum Ask<L> {
    Link(Reply<L>),
    Reconnect(Reply<L>),
    Turn(Event),
    Shutdown(oneshot::Sender<()>),
}

/// A turn that runs. While one is held the process is not stopped for idleness.
#[derive(Debug)]
pub struct RunningTurn<L> {
    asks: mpsc::UnboundedSender<Ask<L>>,
    completed: bool,
}

impl<L> RunningTurn<L> {
    /// The agent brought it to its end, so it works: the count of its crashes starts anew.
    pub fn complete(mut self) {
        self.completed = true;
    }
}

impl<L> Drop for RunningTurn<L> {
    fn drop(&mut self) {
        let ended = Event::TurnEnded { completed: self.completed };
        let _keeper_gone = self.asks.send(Ask::Turn(ended));
    }
}

impl<L: Send + Sync + 'static> Keeper<L> {
    /// Of an agent that is not running yet. Every change of its state goes to `statuses`.
    pub fn new(
        cli_type: CliType,
        name: &str,
        timing: Timing,
        connect: Arc<dyn Connect<Link = L>>,
        statuses: mpsc::UnboundedSender<StatusChange>,
    ) -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        let (done, happened) = mpsc::unbounded_channel();
        let (tell, now) = watch::channel(Now { status: AgentStatus::Idle, link: None });
        let task = KeeperTask {
            cli_type,
            name: name.to_owned(),
            start: timing.start,
            lifecycle: Lifecycle::new(name, timing),
            connect,
            statuses,
            epoch: Instant::now(),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            running: Running::Nothing,
            generation: 0,
            done,
            tell,
        };
        tokio::spawn(task.run(asked, happened));
        Self { asks, now }
    }

    /// The agent, started if it is not running. However many ask at once, it is started once.
    pub async fn link(&self) -> Result<Arc<L>, ProviderError> {
        self.ask(Ask::Link).await
    }

    /// The agent if it is connected.
    pub fn connected(&self) -> Option<Arc<L>> {
        self.now.borrow().link.clone()
    }

    /// Waits until this is no longer the agent that others would get: it is gone, or being stopped.
    pub async fn replaced(&self, link: &Arc<L>) {
        let mut now = self.now.clone();
        let is_other = |now: &Now<L>| now.link.as_ref().is_none_or(|it| !Arc::ptr_eq(it, link));
        let _keeper_gone = now.wait_for(is_other).await.is_err();
    }

    /// Where its process is in its life.
    pub fn status(&self) -> AgentStatus {
        self.now.borrow().status
    }

    /// Starts it again because the user asked, also when it is connected.
    pub async fn reconnect(&self) -> Result<Arc<L>, ProviderError> {
        self.ask(Ask::Reconnect).await
    }

    /// A turn began.
    pub fn turn(&self) -> RunningTurn<L> {
        let _keeper_gone = self.asks.send(Ask::Turn(Event::TurnStarted));
        RunningTurn { asks: self.asks.clone(), completed: false }
    }

    /// Ends the process and starts none again.
    pub async fn shutdown(&self) {
        let (done, ended) = oneshot::channel();
        let _gone_already = self.asks.send(Ask::Shutdown(done));
        let _gone_meanwhile = ended.await;
    }

    async fn ask(&self, ask: impl FnOnce(Reply<L>) -> Ask<L>) -> Result<Arc<L>, ProviderError> {
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

/// What the keeper holds of the process.
enum Running<L> {
    Nothing,
    Trying { attempt: Attempt, task: JoinHandle<()> },
    Connected { link: Arc<L>, process: Option<Process> },
}

/// What a task of the keeper's brought back, and of which start of the process it speaks.
struct Happened<L> {
    generation: u64,
    what: What<L>,
}

enum What<L> {
    Connected(Arc<L>),
    Failed(ProviderError),
    Left(ProviderError),
    Stopped,
}

struct KeeperTask<L> {
    cli_type: CliType,
    name: String,
    start: Duration,
    lifecycle: Lifecycle,
    connect: Arc<dyn Connect<Link = L>>,
    statuses: mpsc::UnboundedSender<StatusChange>,
    epoch: Instant,
    waiting: VecDeque<Reply<L>>,
    /// Who waits for the shutdown.
    ended: Vec<oneshot::Sender<()>>,
    running: Running<L>,
    generation: u64,
    done: mpsc::UnboundedSender<Happened<L>>,
    tell: watch::Sender<Now<L>>,
}

impl<L: Send + Sync + 'static> KeeperTask<L> {
    async fn run(
        mut self,
        mut asked: mpsc::UnboundedReceiver<Ask<L>>,
        mut happened: mpsc::UnboundedReceiver<Happened<L>>,
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
                Some(what) = happened.recv() => self.take(what),
                ask = asked.recv() => match ask {
                    Some(ask) => self.answer(ask),
                    // Nobody can ask any more.
                    None => return self.stop(),
                },
                () = due => self.step(Event::Tick),
            }
        }
    }

    fn answer(&mut self, ask: Ask<L>) {
        match ask {
            Ask::Link(reply) => {
                self.waiting.push_back(reply);
                self.step(Event::Asked);
            }
            Ask::Reconnect(reply) => {
                self.waiting.push_back(reply);
                self.step(Event::Reconnect);
            }
            Ask::Turn(event) => self.step(event),
            Ask::Shutdown(done) => {
                self.ended.push(done);
                self.step(Event::Shutdown);
                if matches!(self.running, Running::Nothing) {
                    self.ended.clear();
                }
            }
        }
    }

    fn take(&mut self, happened: Happened<L>) {
        if happened.generation != self.generation {
            return;
        }
        let event = match happened.what {
            What::Connected(link) => {
                self.watch(link);
                Event::Connected
            }
            What::Failed(error) => {
                self.running = Running::Nothing;
                Event::Failed(error)
            }
            What::Left(error) => {
                self.running = Running::Nothing;
                Event::Left(error)
            }
            What::Stopped => {
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
        self.tell.send_replace(Now { status: self.lifecycle.status(), link: link.clone() });
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
            cli_type: self.cli_type.clone(),
            status: status.status,
            session_id: None,
            attempt: status.attempt,
            retry_at,
            details: status.details,
        });
    }

    fn begin_try(&mut self) {
        self.generation += 1;
        let attempt = Attempt::default();
        let trying = try_to_connect(
            Arc::clone(&self.connect),
            attempt.clone(),
            self.start,
            self.name.clone(),
        );
        let (done, generation) = (self.done.clone(), self.generation);
        let task = tokio::spawn(async move {
            let what = trying.await.map_or_else(What::Failed, What::Connected);
            let _keeper_gone = done.send(Happened { generation, what });
        });
        self.running = Running::Trying { attempt, task };
    }

    /// Takes over the process of a try that succeeded.
    fn watch(&mut self, link: Arc<L>) {
        let process = match &self.running {
            Running::Trying { attempt, .. } => attempt.process(),
            Running::Nothing | Running::Connected { .. } => None,
        };
        if let Some(process) = process.clone() {
            let (done, generation, name) = (self.done.clone(), self.generation, self.name.clone());
            tokio::spawn(async move {
                process.exited().await;
                let stderr_tail = process.last_words().await;
                // Before the next one starts, nothing of this one should be left.
                let _hangs_in_the_system = timeout(LEFTOVERS, process.gone()).await;
                let what = What::Left(ProviderError::ProcessEnded { name, stderr_tail });
                let _keeper_gone = done.send(Happened { generation, what });
            });
        }
        self.running = Running::Connected { link, process };
    }

    /// Ends what runs; [`What::Stopped`] comes when it is gone.
    fn stop(&mut self) {
        let (process, how) = match &self.running {
            Running::Nothing => return,
            Running::Trying { attempt, task } => {
                task.abort();
                (attempt.process(), Stop::Now)
            }
            Running::Connected { process, .. } => (process.clone(), self.how_to_stop()),
        };
        // What the ended process has to say is of no interest any more.
        self.generation += 1;
        let (done, generation) = (self.done.clone(), self.generation);
        tokio::spawn(async move {
            if let Some(process) = process {
                process.stop(how).await;
            }
            let _keeper_gone = done.send(Happened { generation, what: What::Stopped });
        });
    }

    /// At leisure only when nobody waits for it.
    fn how_to_stop(&self) -> Stop {
        if self.ended.is_empty() && self.waiting.is_empty() { Stop::Gently } else { Stop::Now }
    }
}

/// One try. Whatever goes wrong, nothing of it is left running, and the error says what the process said last.
async fn try_to_connect<L: Send + Sync + 'static>(
    connect: Arc<dyn Connect<Link = L>>,
    attempt: Attempt,
    limit: Duration,
    name: String,
) -> Result<Arc<L>, ProviderError> {
    let outcome = timeout(limit, connect.connect(&attempt)).await;
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
        reason: format!("It did not get ready within {} s.", limit.as_secs_f32()),
        stderr_tail: last_words,
    }))
}
