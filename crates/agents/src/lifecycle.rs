//! The life of one agent's process: when to start it, restart it, give up on it, and stop it.
//!
//! [`Lifecycle`] holds the rules: events in, actions out, time as an argument, no I/O. [`Keeper`] is the task that
//! carries them out. Neither knows what is sent to the agent.

mod keeper;

use std::time::Duration;

use liminal_contract::{AgentStatus, Details};

use crate::ProviderError;

pub use keeper::{Attempt, Connect, Keeper, RunningTurn};

/// All timeouts and pauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// From spawn to handshake. After this a start is slow: the user is told, and a process that is not running is
    /// given up.
    pub start: Duration,
    /// When to give up on one that is running (`ACP_START_TIMEOUT_MS`).
    pub longest_start: Duration,
    /// How long a process may be without a turn before it is stopped (`LIMINAL_IDLE_MS`).
    pub idle: Duration,
    /// After being connected this long, an agent counts as healthy: its crashes are counted from one again.
    pub sound: Duration,
    /// The pause before each attempt. When all have failed, only the user can start it again.
    pub back_off: Vec<Duration>,
    pub restart: Restart,
}

/// Who restarts a crashed agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// We do, after each pause of [`Timing::back_off`], while it is needed.
    ByItself,
    /// The user does, with the next message or Reconnect.
    WhenNeeded,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(15),
            longest_start: Duration::from_secs(60),
            idle: Duration::from_secs(10 * 60),
            sound: Duration::from_secs(60),
            back_off: [1, 2, 4, 8, 16].map(Duration::from_secs).to_vec(),
            restart: Restart::ByItself,
        }
    }
}

impl Timing {
    #[must_use]
    pub fn starting_within(self, limit: Option<Duration>) -> Self {
        let limit = limit.unwrap_or(self.longest_start);
        Self { start: self.start.min(limit), longest_start: limit, ..self }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// The agent is needed.
    Asked,
    /// The user wants a restart, whatever the agent is doing.
    Reconnect,
    Connected,
    /// The attempt takes long, but its process is running.
    Slow,
    /// The attempt failed.
    Failed(ProviderError),
    /// The process ended without being stopped.
    Left(ProviderError),
    /// The process that we stopped is gone.
    Stopped,
    TurnStarted,
    TurnEnded {
        /// False if a crash cut it short.
        completed: bool,
    },
    /// Its settings changed: stop it now unless a turn is running; the next request starts it again.
    Rest,
    /// The deadline has passed.
    Tick,
    Shutdown,
}

/// What the keeper must do, in this order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Send to every browser.
    Publish(Status),
    /// Start the process. Never issued during another attempt or while a process is running.
    Connect,
    /// End the process, or the attempt in progress.
    Stop,
    /// Give the agent to everyone waiting for it.
    Serve,
    /// Return this error to everyone waiting for the agent.
    Refuse(ProviderError),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    pub status: AgentStatus,
    /// Counted from one.
    pub attempt: Option<u32>,
    /// How long until that attempt.
    pub retry_in: Option<Duration>,
    pub details: Option<Details>,
}

#[derive(Debug)]
pub(crate) struct Lifecycle {
    name: String,
    timing: Timing,
    state: State,
    /// Automatic attempts since the last reset.
    tries: u32,
    /// Running turns. Turns cut short by a crash are also reported as ended, so the count survives a restart.
    turns: usize,
    /// When the agent was last used.
    quiet_since: Duration,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Idle,
    Trying(StartReason),
    /// Between two attempts.
    Waiting {
        at: Duration,
    },
    Connected {
        since: Duration,
    },
    /// The process is being ended.
    Stopping(AfterStop),
    /// A requested start failed; the next request tries again.
    NotStarted,
    /// It crashed; the next request starts it again ([`Restart::WhenNeeded`]).
    Lost,
    /// All automatic attempts failed, the last for this reason. Only the user can start it again.
    GivenUp(ProviderError),
    Shut,
}

/// Why an attempt was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartReason {
    First,
    Automatic,
    ByUser,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterStop {
    Idle,
    Start(StartReason),
}

impl Lifecycle {
    /// An agent that is not running and not needed. `name` is its display name.
    pub fn new(name: impl Into<String>, timing: Timing) -> Self {
        Self {
            name: name.into(),
            timing,
            state: State::Idle,
            tries: 0,
            turns: 0,
            quiet_since: Duration::ZERO,
        }
    }

    /// The status last sent to the browsers.
    pub fn status(&self) -> AgentStatus {
        match self.state {
            State::Idle | State::Shut | State::Stopping(AfterStop::Idle) => AgentStatus::Idle,
            State::Trying(StartReason::First)
            | State::Stopping(AfterStop::Start(StartReason::First)) => AgentStatus::Starting,
            State::Trying(StartReason::Automatic | StartReason::ByUser)
            | State::Stopping(AfterStop::Start(StartReason::Automatic | StartReason::ByUser))
            | State::Waiting { .. } => AgentStatus::Reconnecting,
            State::Connected { .. } => AgentStatus::Connected,
            State::NotStarted | State::Lost | State::GivenUp(_) => AgentStatus::Disconnected,
        }
    }

    /// Whether there is no process, not even one that is being ended, and nothing is wrong with it.
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// When [`Event::Tick`] is due.
    pub fn deadline(&self) -> Option<Duration> {
        match self.state {
            State::Waiting { at } => Some(at),
            State::Connected { .. } if self.turns == 0 => Some(self.quiet_since + self.timing.idle),
            State::Connected { .. }
            | State::Idle
            | State::Trying(_)
            | State::Stopping(_)
            | State::NotStarted
            | State::Lost
            | State::GivenUp(_)
            | State::Shut => None,
        }
    }

    pub fn on(&mut self, event: Event, now: Duration) -> Vec<Action> {
        match event {
            Event::Asked => self.asked(now),
            Event::Reconnect => self.reconnect(),
            Event::Connected => self.connected(now),
            Event::Slow => self.slow(),
            Event::Failed(error) => self.failed(error, now),
            Event::Left(error) => self.left(&error, now),
            Event::Stopped => self.stopped(),
            Event::TurnStarted => {
                self.turns += 1;
                self.quiet_since = now;
                vec![]
            }
            Event::TurnEnded { completed } => {
                self.turns = self.turns.saturating_sub(1);
                self.quiet_since = now;
                if completed {
                    self.tries = 0;
                }
                vec![]
            }
            Event::Rest => self.rest(),
            Event::Tick => self.tick(now),
            Event::Shutdown => self.shutdown(),
        }
    }

    fn asked(&mut self, now: Duration) -> Vec<Action> {
        self.quiet_since = now;
        match &self.state {
            State::Idle | State::NotStarted => self.start(StartReason::First),
            State::Lost => self.start(StartReason::ByUser),
            // A request does not wait for the back-off; it is the same attempt, only sooner.
            State::Waiting { .. } => self.start(StartReason::Automatic),
            State::Connected { .. } => vec![Action::Serve],
            State::Stopping(AfterStop::Idle) => {
                self.state = State::Stopping(AfterStop::Start(StartReason::First));
                vec![self.publish(None)]
            }
            State::Trying(_) | State::Stopping(AfterStop::Start(_)) => vec![],
            State::GivenUp(last) => vec![Action::Refuse(self.given_up(last))],
            State::Shut => vec![Action::Refuse(self.shut())],
        }
    }

    fn reconnect(&mut self) -> Vec<Action> {
        self.tries = 0;
        match self.state {
            State::Idle
            | State::Waiting { .. }
            | State::NotStarted
            | State::Lost
            | State::GivenUp(_) => self.start(StartReason::ByUser),
            State::Connected { .. } => {
                self.state = State::Stopping(AfterStop::Start(StartReason::ByUser));
                vec![self.publish(None), Action::Stop]
            }
            State::Stopping(AfterStop::Idle) => {
                self.state = State::Stopping(AfterStop::Start(StartReason::ByUser));
                vec![self.publish(None)]
            }
            State::Trying(_) | State::Stopping(AfterStop::Start(_)) => vec![],
            State::Shut => vec![Action::Refuse(self.shut())],
        }
    }

    fn connected(&mut self, now: Duration) -> Vec<Action> {
        // Otherwise it is too late: the attempt was stopped, and its process is being ended.
        let State::Trying(_) = self.state else { return vec![] };
        self.state = State::Connected { since: now };
        self.quiet_since = now;
        vec![self.publish(None), Action::Serve]
    }

    fn slow(&self) -> Vec<Action> {
        let State::Trying(_) = self.state else { return vec![] };
        let hint = format!("{} is still starting. The first start can take a while.", self.name);
        vec![self.publish(Some(Details { hint: Some(hint), ..Details::default() }))]
    }

    fn failed(&mut self, error: ProviderError, now: Duration) -> Vec<Action> {
        let State::Trying(reason) = self.state else { return vec![] };
        // Only the user can log in; another attempt would fail the same way.
        let needs_login = matches!(error, ProviderError::AuthRequired { .. });
        let mut actions = match reason {
            StartReason::Automatic if !needs_login => self.try_again(&error, now),
            StartReason::ByUser if self.timing.restart == Restart::WhenNeeded => {
                self.settle(State::Lost, error.details())
            }
            StartReason::First | StartReason::Automatic | StartReason::ByUser => {
                self.settle(State::NotStarted, error.details())
            }
        };
        actions.push(Action::Refuse(error));
        actions
    }

    fn left(&mut self, error: &ProviderError, now: Duration) -> Vec<Action> {
        let State::Connected { since } = self.state else { return vec![] };
        if self.timing.restart == Restart::WhenNeeded {
            return self.settle(State::Lost, error.details());
        }
        if now.saturating_sub(since) >= self.timing.sound {
            self.tries = 0;
        }
        let gone = Action::Publish(Status {
            status: AgentStatus::Disconnected,
            attempt: None,
            retry_in: None,
            details: error.details(),
        });
        let needed = self.turns > 0 || now.saturating_sub(self.quiet_since) < self.timing.sound;
        let then = if needed {
            self.try_again(error, now)
        } else {
            // Nothing needs it now; the next request starts it.
            self.settle(State::Idle, None)
        };
        let mut actions = vec![gone];
        actions.extend(then);
        // When we give up, both say that it is disconnected.
        actions.dedup();
        actions
    }

    fn stopped(&mut self) -> Vec<Action> {
        let State::Stopping(then) = self.state else { return vec![] };
        match then {
            AfterStop::Idle => {
                self.state = State::Idle;
                vec![]
            }
            AfterStop::Start(reason) => {
                self.state = State::Trying(reason);
                vec![Action::Connect]
            }
        }
    }

    fn tick(&mut self, now: Duration) -> Vec<Action> {
        match self.deadline() {
            Some(deadline) if deadline <= now => match self.state {
                State::Waiting { .. } => self.start(StartReason::Automatic),
                _ => self.rest(),
            },
            Some(_) | None => vec![],
        }
    }

    fn rest(&mut self) -> Vec<Action> {
        if !matches!(self.state, State::Connected { .. }) || self.turns > 0 {
            return vec![];
        }
        self.state = State::Stopping(AfterStop::Idle);
        vec![self.publish(None), Action::Stop]
    }

    fn shutdown(&mut self) -> Vec<Action> {
        if self.state == State::Shut {
            return vec![];
        }
        let was = self.status();
        self.state = State::Shut;
        let mut actions = vec![Action::Refuse(self.shut()), Action::Stop];
        if was != AgentStatus::Idle {
            actions.push(self.publish(None));
        }
        actions
    }

    fn start(&mut self, reason: StartReason) -> Vec<Action> {
        self.state = State::Trying(reason);
        vec![self.publish(None), Action::Connect]
    }

    /// Schedules the next automatic attempt, or gives up.
    fn try_again(&mut self, why: &ProviderError, now: Duration) -> Vec<Action> {
        let Some(delay) = self.timing.back_off.get(self.tries as usize).copied() else {
            return self.settle(State::GivenUp(why.clone()), why.details());
        };
        self.tries += 1;
        self.state = State::Waiting { at: now + delay };
        vec![Action::Publish(Status {
            status: AgentStatus::Reconnecting,
            attempt: Some(self.tries),
            retry_in: Some(delay),
            details: why.details(),
        })]
    }

    fn settle(&mut self, state: State, why: Option<Details>) -> Vec<Action> {
        self.state = state;
        vec![self.publish(why)]
    }

    fn publish(&self, details: Option<Details>) -> Action {
        let attempt =
            matches!(self.state, State::Trying(StartReason::Automatic)).then_some(self.tries);
        Action::Publish(Status { status: self.status(), attempt, retry_in: None, details })
    }

    fn given_up(&self, last: &ProviderError) -> ProviderError {
        if matches!(last, ProviderError::NotInstalled { .. }) {
            // It already says what to do.
            return last.clone();
        }
        let stderr_tail =
            last.details().and_then(|details| details.stderr_tail).unwrap_or_default();
        ProviderError::NotConnected {
            name: self.name.clone(),
            reason: "It keeps failing. Use Reconnect to try again.".into(),
            stderr_tail,
        }
    }

    fn shut(&self) -> ProviderError {
        ProviderError::NotConnected {
            name: self.name.clone(),
            reason: "The server is stopping.".into(),
            stderr_tail: String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
