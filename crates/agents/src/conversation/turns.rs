//! Which turn is running, who started it, and whether it should stop. Derived from the session's own events, so no wire
//! has to keep track of it too. No clock; sends nothing.

use liminal_contract::{TurnId, TurnOrigin};
use liminal_stream::{Payload, ResponseStatus, StreamEvent};
use tokio::sync::oneshot;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    activity: Activity,
    sending: Option<UnsentMessage>,
}

#[derive(Debug, Default)]
enum Activity {
    #[default]
    Nothing,
    /// The agent replays the history.
    Remembering,
    /// A user's message, from the moment it is written, or a turn the agent started on its own.
    Running { turn: TurnId, origin: TurnOrigin, stop: Stop },
    /// A turn that did not stop in time. Its output is dropped until its answer.
    Deaf { turn: TurnId },
}

#[derive(Debug, Default)]
enum Stop {
    #[default]
    NotAsked,
    /// Dropped when the turn ends, which wakes everyone waiting for that.
    Asked { ended: Vec<oneshot::Sender<()>> },
}

/// A message that waits for its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnsentMessage {
    Wanted,
    Stopped,
}

/// The fate of a message that waited for its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Its turn is now running.
    Running,
    /// It was stopped meanwhile and must not be written.
    Stopped,
}

/// The effect of a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// Nothing is running.
    Nothing,
    /// The agent must be told now.
    First,
    /// It was told before.
    AskedBefore,
}

impl Turns {
    /// Reserves the next turn for a message. Fails while another of the user's messages is waiting, running or being
    /// ignored; a turn that the agent started does not matter.
    pub fn reserve(&mut self) -> bool {
        let users = self.is_running() && !self.is_own();
        let free = !users && !self.is_deaf() && self.sending.is_none();
        if free {
            self.sending = Some(UnsentMessage::Wanted);
        }
        free
    }

    pub fn unreserve(&mut self) {
        self.sending = None;
    }

    /// The message is about to be written.
    pub fn bind(&mut self, turn: &TurnId) -> Bound {
        if self.sending.take() == Some(UnsentMessage::Stopped) {
            return Bound::Stopped;
        }
        self.run(turn, TurnOrigin::User);
        Bound::Running
    }

    fn run(&mut self, turn: &TurnId, origin: TurnOrigin) {
        self.activity = Activity::Running { turn: turn.clone(), origin, stop: Stop::NotAsked };
    }

    /// Records an event that is about to be sent. Returns whether it completed the running turn.
    pub fn said(&mut self, event: &StreamEvent) -> bool {
        match &event.payload {
            // The agent's own, or that of a message it was handed in the turn before.
            Payload::ResponseStart { origin, .. } if matches!(self.activity, Activity::Nothing) => {
                self.run(&event.turn_id, *origin);
                false
            }
            Payload::ResponseDone { status, .. } if self.running() == Some(&event.turn_id) => {
                self.clear();
                *status == ResponseStatus::Completed
            }
            Payload::ResponseError { .. } if self.running() == Some(&event.turn_id) => {
                self.clear();
                false
            }
            _ => false,
        }
    }

    pub fn stop(&mut self) -> Stopping {
        if let Some(waiting) = &mut self.sending {
            *waiting = UnsentMessage::Stopped;
            return Stopping::Nothing;
        }
        match &mut self.activity {
            Activity::Running { stop: Stop::Asked { .. }, .. } => Stopping::AskedBefore,
            Activity::Running { stop, .. } => {
                *stop = Stop::Asked { ended: Vec::new() };
                Stopping::First
            }
            Activity::Nothing | Activity::Remembering | Activity::Deaf { .. } => Stopping::Nothing,
        }
    }

    /// The turn that was asked to stop, until it ends.
    pub fn stopping(&self) -> Option<&TurnId> {
        match &self.activity {
            Activity::Running { turn, stop: Stop::Asked { .. }, .. } => Some(turn),
            _ => None,
        }
    }

    /// Waits for the end of the turn that was asked to stop. `None` if it has ended.
    pub fn await_end(&mut self) -> Option<oneshot::Receiver<()>> {
        let Activity::Running { stop: Stop::Asked { ended }, .. } = &mut self.activity else {
            return None;
        };
        let (wait, end) = oneshot::channel();
        ended.push(wait);
        Some(end)
    }

    /// Ignores this turn until its answer.
    pub fn deafen(&mut self, turn: TurnId) {
        self.activity = Activity::Deaf { turn };
    }

    pub fn undeafen(&mut self, answered: &TurnId) {
        if matches!(&self.activity, Activity::Deaf { turn } if turn == answered) {
            self.activity = Activity::Nothing;
        }
    }

    /// The agent may replay the history from here on.
    pub fn remember(&mut self) {
        self.activity = Activity::Remembering;
    }

    pub fn remembered(&mut self) {
        if self.is_remembering() {
            self.activity = Activity::Nothing;
        }
    }

    pub fn clear(&mut self) {
        self.activity = Activity::Nothing;
    }

    pub fn running(&self) -> Option<&TurnId> {
        match &self.activity {
            Activity::Running { turn, .. } => Some(turn),
            Activity::Nothing | Activity::Remembering | Activity::Deaf { .. } => None,
        }
    }

    pub fn is_running(&self) -> bool {
        self.running().is_some()
    }

    pub fn is_own(&self) -> bool {
        matches!(self.activity, Activity::Running { origin: TurnOrigin::Agent, .. })
    }

    pub fn is_deaf(&self) -> bool {
        matches!(self.activity, Activity::Deaf { .. })
    }

    pub fn is_remembering(&self) -> bool {
        matches!(self.activity, Activity::Remembering)
    }
}

#[cfg(test)]
mod tests;
