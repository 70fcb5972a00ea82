//! Noticing that an agent has gone quiet. Real agents are silent for minutes, so nothing is ever killed for it; the
//! user is told and decides.

use std::time::Duration;

/// Watches one session. Times are on the task's monotonic scale.
#[derive(Debug)]
pub struct Silence {
    patience: Duration,
    state: State,
}

#[derive(Debug, PartialEq)]
enum State {
    /// No turn, or something else is being waited for.
    Resting,
    /// The agent should speak before this.
    Waiting(Duration),
    /// The user has been told.
    Told,
}

impl Silence {
    /// Tells after this long without a word.
    pub fn new(patience: Duration) -> Self {
        Self { patience, state: State::Resting }
    }

    /// The agent spoke or is expected to speak from now on. True when the user had been told that it did not.
    pub fn spoke(&mut self, now: Duration) -> bool {
        let was_told = self.state == State::Told;
        self.state = State::Waiting(now + self.patience);
        was_told
    }

    /// Nothing is expected: no turn runs, a tool runs, or a permission waits. True when the user had been told.
    pub fn rest(&mut self) -> bool {
        let was_told = self.state == State::Told;
        self.state = State::Resting;
        was_told
    }

    /// When to look again.
    pub fn deadline(&self) -> Option<Duration> {
        match self.state {
            State::Waiting(until) => Some(until),
            State::Resting | State::Told => None,
        }
    }

    /// Whether the user should be told now.
    pub fn is_due(&mut self, now: Duration) -> bool {
        let due = matches!(self.state, State::Waiting(until) if until <= now);
        if due {
            self.state = State::Told;
        }
        due
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
        assert!(!silence.spoke(second(1)));
        assert_eq!(silence.deadline(), Some(second(31)));
        assert!(!silence.is_due(second(30)));
        assert!(silence.is_due(second(31)));
        assert!(!silence.is_due(second(32)));
        assert!(silence.spoke(second(33)));
        assert!(!silence.rest());
    }
}
