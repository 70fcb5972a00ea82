//! Questions of the agent's, from the request to the answer, and what it asks that we do not offer.

use liminal_contract::{Answer, ItemId, Outcome, OutcomeBy, Severity, Timestamp, TurnId};
use liminal_stream::{Ask, FinalItem, NewItem, Payload, ResponseStatus};
use serde_json::{Value, json};

use super::{Normaliser, NotTaken, OpenAsk, control_response, notice};
use crate::Output;
use crate::claude::asks;
use crate::claude::wire::{Asked, ControlRequest};

impl Normaliser {
    /// The user answers. Gives the line to write and the events that follow.
    pub fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        now: Timestamp,
    ) -> Result<(Value, Vec<Output>), NotTaken> {
        self.now = now;
        let at = self.asks.iter().position(|ask| ask.item == *item).ok_or(NotTaken::Closed)?;
        let reply = asks::reply(&self.asks[at].request, answer).ok_or(NotTaken::NotOffered)?;
        let ask = self.asks.remove(at);
        if reply.refused {
            self.refused.extend(ask.request.tool_use_id);
        }
        let outcome = Outcome { option_id: answer.option_id.clone(), by };
        self.emit_in(
            ask.turn,
            Payload::ItemDone { item_id: ask.item, final_item: FinalItem::Permission { outcome } },
        );
        Ok((control_response(&ask.request_id, reply.response), std::mem::take(&mut self.said)))
    }

    /// A question of our own, outside any turn of the agent's.
    pub fn ask_own(&mut self, ask: Ask, now: Timestamp) -> (TurnId, ItemId, Vec<Output>) {
        self.now = now;
        self.open_own();
        let turn = self.turn.as_ref().map_or_else(|| TurnId::new(""), |turn| turn.id.clone());
        let item = ItemId::ask(&turn, 0);
        self.start(item.clone(), None, NewItem::Permission { ask: Box::new(ask) });
        self.close(ResponseStatus::Completed);
        (turn, item, std::mem::take(&mut self.said))
    }

    /// A question of our own was answered.
    pub fn settle_own(
        &mut self,
        turn: TurnId,
        item_id: ItemId,
        answer: &Answer,
        by: OutcomeBy,
        now: Timestamp,
    ) -> Vec<Output> {
        self.now = now;
        let outcome = Outcome { option_id: answer.option_id.clone(), by };
        let final_item = FinalItem::Permission { outcome };
        self.emit_in(turn, Payload::ItemDone { item_id, final_item });
        std::mem::take(&mut self.said)
    }

    pub(super) fn asked(&mut self, request: ControlRequest) {
        match request.request {
            Asked::CanUseTool(tool) => {
                self.take_up();
                self.make_room();
                let ask = Box::new(asks::ask(&tool, &self.project));
                let Some(turn) = &mut self.turn else { return };
                let item = ItemId::ask(&turn.id, turn.asked);
                turn.asked += 1;
                let parent = tool
                    .tool_use_id
                    .as_ref()
                    .and_then(|id| self.calls.get(id))
                    .and_then(|call| call.parent.clone());
                self.asks.push(OpenAsk {
                    request_id: request.request_id,
                    turn: turn.id.clone(),
                    item: item.clone(),
                    parent: parent.clone(),
                    request: tool,
                });
                self.start(item, parent, NewItem::Permission { ask });
            }
            Asked::Other(value) => match value["subtype"].as_str() {
                // A dialog we did not offer to show must not be answered; the agent withdraws it.
                Some("request_user_dialog") => {}
                Some("elicitation") => {
                    self.replies
                        .push(control_response(&request.request_id, json!({"action": "decline"})));
                    self.aside(notice(
                        Severity::Warning,
                        "A tool server asked for input, which can only be given in a terminal. It was declined.",
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

    /// Closes the open questions that are meant.
    pub(super) fn settle(&mut self, by: OutcomeBy, meant: impl Fn(&OpenAsk) -> bool) {
        let (closed, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.asks).into_iter().partition(&meant);
        self.asks = open;
        for ask in closed {
            let outcome = Outcome { option_id: None, by };
            self.emit_in(
                ask.turn,
                Payload::ItemDone {
                    item_id: ask.item,
                    final_item: FinalItem::Permission { outcome },
                },
            );
        }
    }
}
