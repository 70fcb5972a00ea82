//! Turns read from the agent's own history: the same items by the same rules, without a result line to end them.

use liminal_contract::{ErrorCode, ItemId, MessageOrigin, Timestamp, TurnId, TurnOrigin, Usage};
use liminal_stream::{AgentError, FinalItem, NewItem, Notice, Payload, ResponseStatus};

use super::{Normaliser, ending};
use crate::Output;
use crate::claude::wire::{ApiUsage, AssistantLine, Compacted, UserLine};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retold {
    /// Derived from the record that began it.
    pub turn: TurnId,
    /// What the user typed; `None` if the agent began the turn on its own.
    pub typed: Option<String>,
    pub model: String,
}

impl Normaliser {
    /// Begins a turn. One that is still open ends first.
    pub fn retell(&mut self, begins: Retold, now: Timestamp) {
        self.retold_end(false, None, None);
        self.now = now;
        self.model = begins.model;
        let origin = if begins.typed.is_some() { TurnOrigin::User } else { TurnOrigin::Agent };
        let item_id = ItemId::user(&begins.turn);
        self.open(begins.turn, origin, false);
        if let Some(content) = begins.typed {
            self.user_message(item_id, content);
        }
    }

    /// A message the user typed while the agent was working.
    pub fn retell_typed(&mut self, record: &str, content: String, now: Timestamp) {
        self.now = now;
        if let Some(turn) = &self.turn {
            let item_id = ItemId::steered(&turn.id, record);
            self.user_message(item_id, content);
        }
    }

    pub(super) fn user_message(&mut self, item_id: ItemId, content: String) {
        let origin = MessageOrigin::User;
        self.start(item_id.clone(), None, NewItem::Message { initial_content: None, origin });
        let final_item = FinalItem::Message { content, origin };
        self.emit(Payload::ItemDone { item_id, final_item });
    }

    pub fn retell_assistant(&mut self, line: AssistantLine, now: Timestamp) {
        self.now = now;
        self.assistant(line);
    }

    /// `stopped`: the user stopped the turn right after this.
    pub fn retell_user(&mut self, line: UserLine, stopped: bool, now: Timestamp) {
        self.now = now;
        if let Some(turn) = &mut self.turn {
            turn.cancelling |= stopped;
        }
        self.user(line);
    }

    /// Adds a notice to the current turn.
    pub fn retell_notice(&mut self, notice: Notice, now: Timestamp) {
        self.now = now;
        self.notice(notice);
    }

    pub fn retell_compacted(&mut self, compacted: &Compacted, now: Timestamp) {
        self.now = now;
        self.compacted(compacted);
    }

    pub fn retell_summary(&mut self, text: &str, now: Timestamp) {
        self.now = now;
        self.takes_as_summary(text);
    }

    pub fn retell_command_output(&mut self, command: String, text: &str, now: Timestamp) {
        self.now = now;
        self.command_output(command, text);
    }

    /// The open call that started a sub-agent with this prompt.
    pub fn call_with_prompt(&self, prompt: &str) -> Option<&str> {
        let asks = |call: &super::Call| {
            !call.done && call.input.get("prompt").and_then(|text| text.as_str()) == Some(prompt)
        };
        self.calls.iter().find(|(_, call)| asks(call)).map(|(id, _)| id.as_str())
    }

    pub fn is_telling(&self) -> bool {
        self.turn.is_some()
    }

    /// Ends the current turn, if there is one.
    pub fn retold_end(
        &mut self,
        interrupted: bool,
        stop_reason: Option<String>,
        usage: Option<ApiUsage>,
    ) {
        let Some(turn) = &mut self.turn else { return };
        let usage: Option<Usage> = usage.map(ending::tokens);
        if let Some(error) = turn.api_error.take() {
            let code = if error.wants_login {
                ErrorCode::AuthRequired
            } else {
                ErrorCode::AgentProtocolError
            };
            let error = AgentError::new(code, error.words, None);
            self.emit(Payload::ResponseError { error });
            self.after_turn();
        } else if interrupted {
            self.end(ResponseStatus::Cancelled, stop_reason, usage);
        } else {
            self.finish_open_items();
            self.end(ResponseStatus::Completed, stop_reason, usage);
        }
    }

    /// The outputs since the last call.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }
}
