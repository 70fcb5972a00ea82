//! Detects that an agent has gone quiet. Real agents can be silent for minutes, so none is ever killed for it: the user
//! gets a notice and decides.

use std::mem;
use std::time::Duration;

/// Watches one session. Times are on the task's monotonic scale; `N` is the notice that the user got.
#[derive(Debug)]
pub struct Silence<N> {
    patience: Duration,
    state: State<N>,
}

#[derive(Debug)]
enum State<N> {
    /// No turn runs, or it waits for something else.
    Resting,
    /// Output is expected before this.
    Waiting(Duration),
    Noticed(N),
}

impl<N> Silence<N> {
    /// A notice is due after this long without output.
    pub fn new(patience: Duration) -> Self {
        Self { patience, state: State::Resting }
    }

    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// There was output, or it is expected from now on. Returns the notice of the silence, to be settled.
    pub fn spoke(&mut self, now: Duration) -> Option<N> {
        self.turn_to(State::Waiting(now + self.patience))
    }

    /// No output is expected: no turn runs, a tool runs, or a permission waits. Returns the notice to be settled.
    pub fn rest(&mut self) -> Option<N> {
        self.turn_to(State::Resting)
    }

    /// When to check again.
    pub fn deadline(&self) -> Option<Duration> {
        match self.state {
            State::Waiting(until) => Some(until),
            State::Resting | State::Noticed(_) => None,
        }
    }

    /// Whether the notice is due now.
    pub fn is_due(&self, now: Duration) -> bool {
        matches!(self.state, State::Waiting(until) if until <= now)
    }

    /// The user got this notice.
    pub fn noticed(&mut self, notice: N) {
        self.state = State::Noticed(notice);
    }

    fn turn_to(&mut self, next: State<N>) -> Option<N> {
        match mem::replace(&mut self.state, next) {
            State::Noticed(notice) => Some(notice),
            State::Resting | State::Waiting(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_told_once_and_it_is_taken_back_when_the_agent_speaks() {
        let second = Duration::from_secs;
        let mut silence = Silence::new(second(30));
        assert_eq!(silence.deadline(), None);
        assert_eq!(silence.spoke(second(1)), None);
        assert_eq!(silence.deadline(), Some(second(31)));
        assert!(!silence.is_due(second(30)));
        assert!(silence.is_due(second(31)));
        silence.noticed("quiet");
        assert!(!silence.is_due(second(32)));
        assert_eq!(silence.spoke(second(33)), Some("quiet"));
        assert_eq!(silence.rest(), None);
    }
}
