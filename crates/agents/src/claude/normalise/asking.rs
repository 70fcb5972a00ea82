//! The agent's permissions and questions, from request to answer, and its requests that we don't support.

use liminal_contract::{Answer, ItemId, Outcome, OutcomeBy, Severity, Timestamp, TurnId};
use liminal_stream::{FinalItem, NewItem, Payload, Permission, ResponseStatus};
use serde_json::{Value, json};

use super::{Normaliser, Question, control_response, notice};
use crate::Output;
use crate::claude::asks;
use crate::claude::wire::{ControlKind, ControlRequest};
use crate::conversation::NotTaken;

impl Normaliser {
    /// Applies the user's answer. Returns the line to write and the events that follow.
    pub fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        now: Timestamp,
    ) -> Result<(Value, Vec<Output>), NotTaken> {
        self.now = now;
        let (ask, reply) = self.asks.answer(item, |ask| asks::reply(&ask.request, answer))?;
        let message = answer.message.clone().filter(|_| reply.refused);
        if reply.refused {
            self.refused.extend(ask.request.tool_use_id);
        }
        let outcome = Outcome { message, ..Outcome::of(answer, by) };
        let final_item = FinalItem::Permission { outcome };
        self.emit_in(ask.turn, Payload::ItemDone { item_id: item.clone(), final_item });
        Ok((control_response(&ask.request_id, reply.response), std::mem::take(&mut self.outputs)))
    }

    /// Asks a question of our own, outside the agent's turns.
    pub fn ask_own(&mut self, ask: Permission, now: Timestamp) -> (TurnId, ItemId, Vec<Output>) {
        self.now = now;
        self.open_own();
        let turn = self.turn.as_ref().map_or_else(|| TurnId::new(""), |turn| turn.id.clone());
        let item = ItemId::ask(&turn, 0);
        self.start(item.clone(), None, NewItem::Permission { ask: Box::new(ask) });
        self.close(ResponseStatus::Completed);
        (turn, item, std::mem::take(&mut self.outputs))
    }

    /// Settles a question of our own.
    pub fn settle_own(
        &mut self,
        turn: TurnId,
        item_id: ItemId,
        answer: &Answer,
        by: OutcomeBy,
        now: Timestamp,
    ) -> Vec<Output> {
        self.now = now;
        let outcome = Outcome::of(answer, by);
        let final_item = FinalItem::Permission { outcome };
        self.emit_in(turn, Payload::ItemDone { item_id, final_item });
        std::mem::take(&mut self.outputs)
    }

    pub(super) fn asked(&mut self, request: ControlRequest) {
        match request.request {
            ControlKind::CanUseTool(tool) => {
                self.take_up();
                self.ensure_aside();
                let ask = Box::new(asks::ask(&tool, &self.project));
                let Some(turn) = &mut self.turn else { return };
                let item = ItemId::ask(&turn.id, turn.asked);
                turn.asked += 1;
                let parent = tool
                    .tool_use_id
                    .as_ref()
                    .and_then(|id| self.calls.get(id))
                    .and_then(|call| call.parent.clone());
                let question = Question {
                    request_id: request.request_id,
                    turn: turn.id.clone(),
                    parent: parent.clone(),
                    request: tool,
                };
                self.asks.open(item.clone(), question);
                self.start(item, parent, NewItem::Permission { ask });
            }
            ControlKind::Other(value) => match value["subtype"].as_str() {
                // We don't offer dialogs, so this must stay unanswered; the agent withdraws it.
                Some("request_user_dialog") => {}
                Some("elicitation") => {
                    self.replies
                        .push(control_response(&request.request_id, json!({"action": "decline"})));
                    self.aside(notice(
                        Severity::Warning,
                        "A tool server asked for input. This only works in a terminal, so the request was declined.",
                    ));
                }
                subtype => {
                    let error = format!("not supported: {}", subtype.unwrap_or("?"));
                    self.replies.push(json!({"type": "control_response", "response": {
                        "subtype": "error", "request_id": request.request_id, "error": error,
                    }}));
                }
            },
        }
    }

    /// Closes the open questions that `meant` selects.
    pub(super) fn settle(&mut self, by: OutcomeBy, meant: impl Fn(&Question) -> bool) {
        for (item_id, ask) in self.asks.void(meant) {
            let final_item = FinalItem::Permission { outcome: Outcome::without_choice(by) };
            self.emit_in(ask.turn, Payload::ItemDone { item_id, final_item });
        }
    }
}
