//! Messages that the agent is handed while a turn runs. It takes each up after a step of the turn, or, if no step
//! follows, in a turn of its own.

use liminal_contract::{ItemId, TurnId};

use super::{Normaliser, WaitingMessage};
use crate::Output;

impl Normaliser {
    /// A message is on its way; `message` is the id it is sent under.
    pub fn hand(&mut self, message: &str, content: &str) {
        self.handed.push((message.to_owned(), content.to_owned()));
    }

    pub(super) fn handed_lifecycle(&mut self, message: &str, state: &str) {
        match state {
            "started" if self.turn.is_some() => self.take_up_handed(message),
            "started" => {
                if let Some((message, _)) = self.take_handed(message) {
                    let turn = TurnId::new(message.clone());
                    self.waiting =
                        Some(WaitingMessage { turn, message, queued: false, cancelling: false });
                }
            }
            "cancelled" => {
                if let Some((message, _)) = self.take_handed(message) {
                    self.outputs.push(Output::Returned { message });
                }
            }
            _ => {}
        }
    }

    /// The agent read it in the running turn.
    pub(super) fn take_up_handed(&mut self, message: &str) {
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) else { return };
        if let Some((message, content)) = self.take_handed(message) {
            self.user_message(ItemId::steered(&turn, &message), content);
        }
    }

    /// Nothing more comes from the agent.
    pub(super) fn return_handed(&mut self) {
        let returned = |(message, _)| Output::Returned { message };
        self.outputs.extend(self.handed.drain(..).map(returned));
    }

    fn take_handed(&mut self, message: &str) -> Option<(String, String)> {
        let at = self.handed.iter().position(|(handed, _)| handed == message)?;
        Some(self.handed.remove(at))
    }
}
