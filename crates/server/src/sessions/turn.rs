//! The state of a session's turn: idle, starting, running, stopping. Data exists only in the state that owns it.

use std::mem;

use liminal_contract::{Prompt, TurnId};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TurnState {
    /// Ready for a message.
    #[default]
    Idle,
    /// The user sent a message that the agent does not have yet.
    Starting { id: TurnId, prompt: Handover },
    /// The user asked to stop before the agent had the message.
    StopAsked { id: TurnId, prompt: Handover },
    /// The agent has the message, or started the turn itself.
    Running { id: TurnId },
    /// The stop is on its way to the agent.
    Cancelling { id: TurnId },
}

/// How far the user's message has come on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handover {
    /// On its way to disk; the agent must not get it before.
    Saving(Prompt),
    OnDisk(Prompt),
    /// Being written to the agent.
    Given,
}

/// What to do next for the message.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    Nothing,
    /// It is on disk: send it to the agent.
    Deliver,
    /// It is on disk, and the user asked to stop: end the turn.
    Cancel(TurnId),
}

/// What to do for a stop.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// No turn runs, it is being stopped already, or the agent doesn't have the message yet.
    Nothing,
    TellAgent,
}

impl TurnState {
    /// The user sent a message.
    pub fn begin(&mut self, id: TurnId, prompt: Prompt) {
        *self = Self::Starting { id, prompt: Handover::Saving(prompt) };
    }

    /// The agent started a turn itself.
    pub fn begin_by_agent(&mut self, id: TurnId) {
        *self = Self::Running { id };
    }

    pub fn id(&self) -> Option<&TurnId> {
        match self {
            Self::Idle => None,
            Self::Starting { id, .. }
            | Self::StopAsked { id, .. }
            | Self::Running { id }
            | Self::Cancelling { id } => Some(id),
        }
    }

    /// Whether a message can be sent.
    pub fn is_idle(&self) -> bool {
        *self == Self::Idle
    }

    pub fn saved(&mut self, turn: &TurnId) {
        if let Self::Starting { id, prompt } | Self::StopAsked { id, prompt } = self
            && id == turn
            && let Handover::Saving(saved) = prompt
        {
            *prompt = Handover::OnDisk(mem::take(saved));
        }
    }

    pub fn due(&self) -> Due {
        match self {
            Self::Starting { prompt: Handover::OnDisk(_), .. } => Due::Deliver,
            Self::StopAsked { id, prompt: Handover::OnDisk(_) } => Due::Cancel(id.clone()),
            Self::Idle
            | Self::Starting { .. }
            | Self::StopAsked { .. }
            | Self::Running { .. }
            | Self::Cancelling { .. } => Due::Nothing,
        }
    }

    /// Takes the message, to send it to the agent.
    pub fn give(&mut self) -> Option<(TurnId, Prompt)> {
        match self {
            Self::Starting { id, prompt } => match mem::replace(prompt, Handover::Given) {
                Handover::OnDisk(prompt) => Some((id.clone(), prompt)),
                other => {
                    *prompt = other;
                    None
                }
            },
            _ => None,
        }
    }

    /// The turn, if its message was not sent to the agent yet.
    pub fn ungiven(&self) -> Option<&TurnId> {
        match self {
            Self::Starting { prompt: Handover::Given, .. }
            | Self::StopAsked { prompt: Handover::Given, .. }
            | Self::Idle
            | Self::Running { .. }
            | Self::Cancelling { .. } => None,
            Self::Starting { id, .. } | Self::StopAsked { id, .. } => Some(id),
        }
    }

    /// The turn, if only the agent could end it.
    pub fn given(&self) -> Option<&TurnId> {
        self.id().filter(|_| self.ungiven().is_none())
    }

    /// The agent has the message. If the user asked to stop in the meantime, the agent must get the stop now. A short
    /// turn may be over before we learn that it began.
    pub fn run(&mut self, turn: &TurnId) -> Stop {
        match self {
            Self::StopAsked { id, .. } if id == turn => {
                *self = Self::Cancelling { id: turn.clone() };
                Stop::TellAgent
            }
            Self::Starting { id, .. } if id == turn => {
                *self = Self::Running { id: turn.clone() };
                Stop::Nothing
            }
            _ => Stop::Nothing,
        }
    }

    pub fn stop(&mut self) -> Stop {
        match mem::take(self) {
            Self::Starting { id, prompt } => {
                *self = Self::StopAsked { id, prompt };
                Stop::Nothing
            }
            Self::Running { id } => {
                *self = Self::Cancelling { id };
                Stop::TellAgent
            }
            other => {
                *self = other;
                Stop::Nothing
            }
        }
    }

    /// Ends the turn if it is this one, and returns whether it was.
    pub fn end(&mut self, turn: &TurnId) -> bool {
        let is_this = self.id() == Some(turn);
        if is_this {
            *self = Self::Idle;
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

    fn sent() -> TurnState {
        let mut turn = TurnState::Idle;
        turn.begin(id(), "hi".into());
        turn
    }

    #[test]
    fn a_message_is_given_once_and_only_when_it_is_on_disk() {
        let mut turn = sent();
        assert_eq!((turn.due(), turn.give()), (Due::Nothing, None));
        turn.saved(&TurnId::new("other"));
        assert_eq!(turn.due(), Due::Nothing);
        turn.saved(&id());
        assert_eq!((turn.due(), turn.ungiven()), (Due::Deliver, Some(&id())));
        assert_eq!(turn.give(), Some((id(), "hi".into())));
        assert_eq!((turn.due(), turn.give(), turn.ungiven()), (Due::Nothing, None, None));
        assert_eq!(turn.run(&id()), Stop::Nothing);
        assert_eq!(turn, TurnState::Running { id: id() });
    }

    #[test]
    fn a_stop_before_the_message_is_on_disk_ends_the_turn_when_it_is() {
        let mut turn = sent();
        assert_eq!(turn.stop(), Stop::Nothing);
        assert_eq!(turn.due(), Due::Nothing);
        turn.saved(&id());
        assert_eq!((turn.due(), turn.give()), (Due::Cancel(id()), None));
    }

    #[test]
    fn a_stop_while_the_message_is_given_is_remembered_until_the_agent_has_it() {
        let mut turn = sent();
        turn.saved(&id());
        turn.give();
        assert_eq!(turn.stop(), Stop::Nothing);
        assert_eq!(turn.run(&id()), Stop::TellAgent);
        assert_eq!(turn, TurnState::Cancelling { id: id() });
    }

    #[test]
    fn a_stop_tells_the_agent_once() {
        let mut turn = TurnState::Running { id: id() };
        assert_eq!((turn.stop(), turn.stop()), (Stop::TellAgent, Stop::Nothing));
        assert_eq!(TurnState::Idle.stop(), Stop::Nothing);
    }

    #[test]
    fn only_its_own_end_ends_a_turn_and_nothing_of_an_ended_turn_is_done() {
        let mut turn = sent();
        assert!(!turn.end(&TurnId::new("other")));
        assert!(turn.end(&id()));
        turn.saved(&id());
        assert_eq!((turn.due(), turn.run(&id())), (Due::Nothing, Stop::Nothing));
        assert!(turn.is_idle());
    }
}
