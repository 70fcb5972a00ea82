//! Turns told again from the agent's own history: the same items by the same rules, without a result line to end them.

use liminal_contract::{ErrorCode, ItemId, MessageOrigin, Timestamp, TurnId, TurnOrigin, Usage};
use liminal_stream::{AgentError, FinalItem, NewItem, Notice, Payload, ResponseStatus};

use super::{Normaliser, ending};
use crate::Output;
use crate::claude::wire::{ApiUsage, AssistantLine, UserLine};

/// How a turn of the history began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retold {
    /// Its id, made of the record that began it.
    pub turn: TurnId,
    /// What the user typed; `None` when the agent began it by itself.
    pub typed: Option<String>,
    /// The model that answered.
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

    /// Something the user typed while the agent was at work.
    pub fn retell_typed(&mut self, record: &str, content: String, now: Timestamp) {
        self.now = now;
        if let Some(turn) = &self.turn {
            let item_id = ItemId::new(format!("{}:{record}", turn.id));
            self.user_message(item_id, content);
        }
    }

    fn user_message(&mut self, item_id: ItemId, content: String) {
        let origin = MessageOrigin::User;
        self.start(item_id.clone(), None, NewItem::Message { initial_content: None, origin });
        let final_item = FinalItem::Message { content, origin };
        self.emit(Payload::ItemDone { item_id, final_item });
    }

    /// Blocks of the model's.
    pub fn retell_assistant(&mut self, line: AssistantLine, now: Timestamp) {
        self.now = now;
        self.assistant(line);
    }

    /// Results of tools.
    pub fn retell_user(&mut self, line: UserLine, now: Timestamp) {
        self.now = now;
        self.user(line);
    }

    /// Something to say in the turn that is told.
    pub fn retell_notice(&mut self, notice: Notice, now: Timestamp) {
        self.now = now;
        self.notice(notice);
    }

    /// The open call of a sub-agent that was given this prompt.
    pub fn call_with_prompt(&self, prompt: &str) -> Option<&str> {
        let asks = |call: &super::Call| {
            !call.done && call.input.get("prompt").and_then(|text| text.as_str()) == Some(prompt)
        };
        self.calls.iter().find(|(_, call)| asks(call)).map(|(id, _)| id.as_str())
    }

    /// Whether a turn is being told.
    pub fn is_telling(&self) -> bool {
        self.turn.is_some()
    }

    /// Ends the turn that is told, if there is one.
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
            self.finish_what_is_open();
            self.end(ResponseStatus::Completed, stop_reason, usage);
        }
    }

    /// What was said since this was asked last.
    pub fn take_said(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.said)
    }
}
