//! Where a session is: nothing, starting, running, stopping. Data exists only in the state that owns it.

use std::mem;

use liminal_contract::TurnId;

/// The turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Turn {
    /// Ready for a message.
    #[default]
    Idle,
    /// The message is on disk; its agent is being found for it.
    Starting {
        /// The turn.
        id: TurnId,
        /// The user asked to stop before the agent had the message.
        stop: bool,
    },
    /// The agent has the message.
    Running {
        /// The turn.
        id: TurnId,
    },
    /// The user asked to stop, and the agent was told.
    Cancelling {
        /// The turn.
        id: TurnId,
    },
}

/// What a stop must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing runs, or it is being stopped already.
    Nothing,
    /// The agent must be told.
    TellAgent,
}

impl Turn {
    /// The turn that is under way.
    pub fn id(&self) -> Option<&TurnId> {
        match self {
            Self::Idle => None,
            Self::Starting { id, .. } | Self::Running { id } | Self::Cancelling { id } => Some(id),
        }
    }

    /// Whether a message can be sent.
    pub fn is_idle(&self) -> bool {
        *self == Self::Idle
    }

    /// The agent has the message, or began to speak by itself. Returns false when it should be told to stop.
    pub fn run(&mut self, turn: &TurnId) -> bool {
        match self {
            Self::Starting { id, stop: true } if id == turn => {
                *self = Self::Cancelling { id: turn.clone() };
                false
            }
            Self::Starting { .. } | Self::Idle => {
                *self = Self::Running { id: turn.clone() };
                true
            }
            Self::Running { .. } | Self::Cancelling { .. } => true,
        }
    }

    /// The user asks to stop.
    pub fn stop(&mut self) -> Stop {
        match self {
            Self::Idle | Self::Cancelling { .. } => Stop::Nothing,
            Self::Starting { stop, .. } => {
                *stop = true;
                Stop::Nothing
            }
            Self::Running { id } => {
                *self = Self::Cancelling { id: id.clone() };
                Stop::TellAgent
            }
        }
    }

    /// The turn is over, if it is this one.
    pub fn end(&mut self, turn: &TurnId) -> bool {
        let is_this = self.id() == Some(turn);
        if is_this {
            let _ended = mem::take(self);
        }
        is_this
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> TurnId {
        TurnId::new("t")
    }

    #[test]
    fn a_stop_before_the_agent_has_the_message_is_remembered_until_it_has() {
        let mut turn = Turn::Starting { id: id(), stop: false };
        assert_eq!(turn.stop(), Stop::Nothing);
        assert!(!turn.run(&id()));
        assert_eq!(turn, Turn::Cancelling { id: id() });
    }

    #[test]
    fn a_stop_tells_the_agent_once() {
        let mut turn = Turn::Running { id: id() };
        assert_eq!((turn.stop(), turn.stop()), (Stop::TellAgent, Stop::Nothing));
        assert_eq!(Turn::Idle.stop(), Stop::Nothing);
    }

    #[test]
    fn only_its_own_end_ends_a_turn() {
        let mut turn = Turn::Running { id: id() };
        assert!(!turn.end(&TurnId::new("other")));
        assert!(turn.end(&id()));
        assert!(turn.is_idle());
    }
}
