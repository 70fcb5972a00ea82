//! Messages that arrive while a turn runs: the turn reads them after a tool's result; one that it never reads gets its
//! own turn.

use std::mem;

use serde_json::{Value, json};

use super::ClaudeAgent;
use super::turn::ClaudeTurn;
use crate::mint;

impl ClaudeAgent {
    /// Keeps a message for the running turn, if there is one and the message is for it.
    pub(super) fn hand(&self, message: &Value) -> bool {
        if message["priority"] != "next" {
            return false;
        }
        let mut state = self.lock();
        let runs = state.running.is_some();
        if runs {
            state.handed.push(message.clone());
        }
        drop(state);
        self.lifecycle(message, "queued");
        runs
    }

    pub(super) fn has_handed(&self) -> bool {
        !self.lock().handed.is_empty()
    }

    pub(super) fn next_handed(&self) -> Option<Value> {
        let mut state = self.lock();
        (!state.handed.is_empty()).then(|| state.handed.remove(0))
    }

    /// Returns the ids of the messages that nobody reads now.
    pub(super) fn cancel_handed(&self) -> Vec<Value> {
        let handed = mem::take(&mut self.lock().handed);
        handed.iter().for_each(|message| self.lifecycle(message, "cancelled"));
        handed.into_iter().map(|message| message["uuid"].clone()).collect()
    }

    pub(super) fn lifecycle(&self, message: &Value, state: &str) {
        let uuid = &message["uuid"];
        self.send(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}));
    }
}

impl ClaudeTurn<'_> {
    /// A step is done: reads what arrived meanwhile.
    pub(super) fn read_handed(&mut self) {
        while let Some(message) = self.agent.next_handed() {
            self.agent.lifecycle(&message, "started");
            let queued = json!({
                "type": "queued_command", "prompt": message["message"]["content"],
                "source_uuid": message["uuid"], "commandMode": "prompt",
            });
            let line = json!({"type": "attachment", "attachment": queued});
            self.agent.file.chained(self.agent, &mint::uuid(), line);
            self.answers.push(message["uuid"].clone());
        }
    }
}
