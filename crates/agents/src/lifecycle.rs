//! The life of one agent's process: when it is started, started again, given up, and stopped.
//!
//! [`Lifecycle`] is the rule: events in, actions out, time as an argument, no I/O. [`Keeper`] is the task that obeys
//! it. Neither knows what is said to the agent.

mod keeper;

use std::time::Duration;

use liminal_contract::{AgentStatus, Details};

use crate::ProviderError;

pub use keeper::{Attempt, Connect, Keeper, RunningTurn};

/// How long everything takes. Time is counted from any fixed moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// From spawn to handshake (`ACP_START_TIMEOUT_MS`).
    pub start: Duration,
    /// Without a turn, until the process is stopped (`LIMINAL_IDLE_MS`).
    pub idle: Duration,
    /// Connected this long, an agent is sound: a crash is counted from one again.
    pub sound: Duration,
    /// Before each try; when all failed, only the user starts it again.
    pub back_off: Vec<Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(15),
            idle: Duration::from_secs(10 * 60),
            sound: Duration::from_secs(60),
            back_off: [1, 2, 4, 8, 16].map(Duration::from_secs).to_vec(),
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// Somebody needs the agent.
    Asked,
    /// The user wants it started again, whatever it does now.
    Reconnect,
    /// The try succeeded.
    Connected,
    /// The try failed.
    Failed(ProviderError),
    /// The process ended by itself.
    Left(ProviderError),
    /// The process that was to be stopped is gone.
    Stopped,
    /// A turn began.
    TurnStarted,
    /// A turn ended; whether the agent completed it.
    TurnEnded {
        /// Not so when it was cut short by a crash.
        completed: bool,
    },
    /// Time passed.
    Tick,
    /// The server ends.
    Shutdown,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Tell every browser.
    Publish(Status),
    /// Start the process. Never while another try is under way or a process lives.
    Connect,
    /// End the process, or the try that is under way.
    Stop,
    /// Those who asked get the agent.
    Serve,
    /// Those who asked get this.
    Refuse(ProviderError),
}

/// What is published.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// The new state.
    pub status: AgentStatus,
    /// Which try is meant.
    pub attempt: Option<u32>,
    /// How long until it.
    pub retry_in: Option<Duration>,
    /// Why.
    pub details: Option<Details>,
}

/// The rule.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    name: String,
    timing: Timing,
    state: State,
    /// Tries made by ourselves since the last reset.
    tries: u32,
    /// Turns that run. Those a crash cut short end too, so this outlives a process.
    turns: usize,
    /// When somebody last had to do with it.
    quiet_since: Duration,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Idle,
    /// A try is under way.
    Trying(Try),
    /// Between two tries.
    Waiting {
        at: Duration,
    },
    Connected {
        since: Duration,
    },
    /// The process is being ended.
    Stopping(Then),
    /// A start that somebody asked for failed; the next who asks tries again.
    NotStarted,
    /// Our own tries are spent, the last for this reason. Only the user starts it again.
    GivenUp(ProviderError),
    Shut,
}

/// Who wanted a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Try {
    First,
    OurOwn,
    Users,
}

/// What follows a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Idle,
    Start(Try),
}

impl Lifecycle {
    /// An agent that is not running and not needed. `name` is what the user calls it.
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

    /// What the browsers were told last.
    pub fn status(&self) -> AgentStatus {
        match self.state {
            State::Idle | State::Shut | State::Stopping(Then::Idle) => AgentStatus::Idle,
            State::Trying(Try::First) | State::Stopping(Then::Start(Try::First)) => {
                AgentStatus::Starting
            }
            State::Trying(Try::OurOwn | Try::Users)
            | State::Stopping(Then::Start(Try::OurOwn | Try::Users))
            | State::Waiting { .. } => AgentStatus::Reconnecting,
            State::Connected { .. } => AgentStatus::Connected,
            State::NotStarted | State::GivenUp(_) => AgentStatus::Disconnected,
        }
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
            | State::GivenUp(_)
            | State::Shut => None,
        }
    }

    /// What follows from an event.
    pub fn on(&mut self, event: Event, now: Duration) -> Vec<Action> {
        match event {
            Event::Asked => self.asked(now),
            Event::Reconnect => self.reconnect(),
            Event::Connected => self.connected(now),
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
            Event::Tick => self.tick(now),
            Event::Shutdown => self.shutdown(),
        }
    }

    fn asked(&mut self, now: Duration) -> Vec<Action> {
        self.quiet_since = now;
        match &self.state {
            State::Idle | State::NotStarted => self.start(Try::First),
            // Who asks does not wait for the back-off; it is the same try, only sooner.
            State::Waiting { .. } => self.start(Try::OurOwn),
            State::Connected { .. } => vec![Action::Serve],
            State::Stopping(Then::Idle) => {
                self.state = State::Stopping(Then::Start(Try::First));
                vec![self.publish(None)]
            }
            State::Trying(_) | State::Stopping(Then::Start(_)) => vec![],
            State::GivenUp(last) => vec![Action::Refuse(self.given_up(last))],
            State::Shut => vec![Action::Refuse(self.shut())],
        }
    }

    fn reconnect(&mut self) -> Vec<Action> {
        self.tries = 0;
        match self.state {
            State::Idle | State::Waiting { .. } | State::NotStarted | State::GivenUp(_) => {
                self.start(Try::Users)
            }
            State::Connected { .. } => {
                self.state = State::Stopping(Then::Start(Try::Users));
                vec![self.publish(None), Action::Stop]
            }
            State::Stopping(Then::Idle) => {
                self.state = State::Stopping(Then::Start(Try::Users));
                vec![self.publish(None)]
            }
            State::Trying(_) | State::Stopping(Then::Start(_)) => vec![],
            State::Shut => vec![Action::Refuse(self.shut())],
        }
    }

    fn connected(&mut self, now: Duration) -> Vec<Action> {
        match self.state {
            State::Trying(_) => {
                self.state = State::Connected { since: now };
                self.quiet_since = now;
                vec![self.publish(None), Action::Serve]
            }
            // It came too late; whoever stopped the try ends the process.
            State::Idle
            | State::Waiting { .. }
            | State::Connected { .. }
            | State::Stopping(_)
            | State::NotStarted
            | State::GivenUp(_)
            | State::Shut => vec![],
        }
    }

    fn failed(&mut self, error: ProviderError, now: Duration) -> Vec<Action> {
        let State::Trying(whose) = self.state else { return vec![] };
        // A login is the user's to do; trying again would only ask for it again.
        let users_to_mend = matches!(error, ProviderError::AuthRequired { .. });
        let mut actions = match whose {
            Try::OurOwn if !users_to_mend => self.try_again(&error, now),
            Try::First | Try::OurOwn | Try::Users => {
                self.settle(State::NotStarted, error.details())
            }
        };
        actions.push(Action::Refuse(error));
        actions
    }

    fn left(&mut self, error: &ProviderError, now: Duration) -> Vec<Action> {
        let State::Connected { since } = self.state else { return vec![] };
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
            // Nobody misses it: the next who asks starts it.
            self.settle(State::Idle, None)
        };
        let mut actions = vec![gone];
        actions.extend(then);
        // When we give up, that it is gone was said already.
        actions.dedup();
        actions
    }

    fn stopped(&mut self) -> Vec<Action> {
        match self.state {
            State::Stopping(Then::Idle) => {
                self.state = State::Idle;
                vec![]
            }
            State::Stopping(Then::Start(whose)) => {
                self.state = State::Trying(whose);
                vec![Action::Connect]
            }
            State::Idle
            | State::Trying(_)
            | State::Waiting { .. }
            | State::Connected { .. }
            | State::NotStarted
            | State::GivenUp(_)
            | State::Shut => vec![],
        }
    }

    fn tick(&mut self, now: Duration) -> Vec<Action> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return vec![];
        }
        match self.state {
            State::Waiting { .. } => self.start(Try::OurOwn),
            State::Connected { .. } => {
                self.state = State::Stopping(Then::Idle);
                vec![self.publish(None), Action::Stop]
            }
            State::Idle
            | State::Trying(_)
            | State::Stopping(_)
            | State::NotStarted
            | State::GivenUp(_)
            | State::Shut => vec![],
        }
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

    fn start(&mut self, whose: Try) -> Vec<Action> {
        self.state = State::Trying(whose);
        vec![self.publish(None), Action::Connect]
    }

    /// Plans the next try of our own, or gives up.
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
        let attempt = matches!(self.state, State::Trying(Try::OurOwn)).then_some(self.tries);
        Action::Publish(Status { status: self.status(), attempt, retry_in: None, details })
    }

    fn given_up(&self, last: &ProviderError) -> ProviderError {
        if matches!(last, ProviderError::NotInstalled { .. }) {
            // It says by itself what to do.
            return last.clone();
        }
        let stderr_tail =
            last.details().and_then(|details| details.stderr_tail).unwrap_or_default();
        ProviderError::NotConnected {
            name: self.name.clone(),
            reason: "It failed again and again. Use Reconnect to start it once more.".into(),
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
