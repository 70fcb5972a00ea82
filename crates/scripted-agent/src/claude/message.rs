//! One message of the model as the API streams it: blocks that open, grow and close, each sent again in full.

use serde_json::{Value, json};

use super::ledger::INPUT;
use super::turn::ClaudeTurn;
use crate::mint;

/// Characters of a call's arguments in one delta.
const ARGUMENTS_PIECE: usize = 24;

pub(super) struct Message {
    id: String,
    /// The index of the next block.
    next: u32,
    open: Option<Block>,
    /// Whether it calls tools: then only more calls can follow in it.
    calls: bool,
    chars: usize,
    /// For the session's file: uuid and block.
    blocks: Vec<(String, Value)>,
}

struct Block {
    kind: BlockKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
}

impl ClaudeTurn<'_> {
    /// Text or thinking grows.
    pub(super) fn grow(&mut self, kind: BlockKind, text: &str) {
        self.open_block(kind);
        if kind == BlockKind::Thinking && self.agent.partial && self.parent.is_none() {
            self.count_thinking(text);
        }
        self.event(json!({
            "type": "content_block_delta", "index": self.block(), "delta": delta(kind, text),
        }));
        if let Some(message) = &mut self.message {
            message.chars += text.chars().count();
            if let Some(block) = &mut message.open {
                block.text.push_str(text);
            }
        }
    }

    fn count_thinking(&self, text: &str) {
        let block = self.message.as_ref().and_then(|message| message.open.as_ref());
        let before = block.map_or(0, |block| block.text.chars().count());
        let after = (before + text.chars().count()).div_ceil(4);
        self.agent.send(json!({
            "type": "system", "subtype": "thinking_tokens", "estimated_tokens": after,
            "estimated_tokens_delta": after - before.div_ceil(4),
        }));
    }

    /// Opens a block of this kind, unless the last block is one.
    pub(super) fn open_block(&mut self, kind: BlockKind) {
        if self.message.as_ref().is_some_and(|message| message.calls) {
            self.close_message("tool_use");
        }
        self.open_message();
        let open = self.message.as_ref().and_then(|message| message.open.as_ref());
        if open.is_some_and(|block| block.kind == kind) {
            return;
        }
        self.close_block();
        let empty = match kind {
            BlockKind::Text => json!({"type": "text", "text": ""}),
            BlockKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        };
        self.event(json!({
            "type": "content_block_start", "index": self.block(), "content_block": empty,
        }));
        if let Some(message) = &mut self.message {
            message.open = Some(Block { kind, text: String::new() });
        }
    }

    /// Sends a complete block that calls a tool.
    pub(super) fn call_block(&mut self, id: &str, name: &str, input: &Value) {
        self.open_message();
        self.close_block();
        let index = self.block();
        let empty = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        self.event(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        let arguments: Vec<char> = input.to_string().chars().collect();
        for piece in arguments.chunks(ARGUMENTS_PIECE) {
            let piece: String = piece.iter().collect();
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            self.event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        self.assistant(json!({"type": "tool_use", "id": id, "name": name, "input": input}), false);
        self.event(json!({"type": "content_block_stop", "index": index}));
        if let Some(message) = &mut self.message {
            message.calls = true;
            message.chars += arguments.len();
            message.next += 1;
        }
    }

    /// Ends the message, if one is open.
    pub(super) fn close_message(&mut self, stop: &str) {
        self.close_message_around(stop, |_| ());
    }

    /// Ends the message, and does something just before that, such as asking for permission.
    pub(super) fn close_message_around<T>(
        &mut self,
        stop: &str,
        between: impl FnOnce(&Self) -> T,
    ) -> T {
        self.close_block();
        let Some(message) = self.message.take() else { return between(self) };
        let output = (message.chars.div_ceil(4) as u64).max(1);
        self.event_of(
            &message.id,
            json!({
                "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
                "usage": usage(output),
            }),
        );
        let unparted = self.agent.unparted();
        let done = between(self);
        self.event_of(&message.id, json!({"type": "message_stop"}));
        drop(unparted);
        self.agent.lock().ledger.request(output);
        self.requests += 1;
        self.keep_message(&message, Some(stop), output);
        done
    }

    /// Cuts the message off, with a note in between that it was interrupted.
    pub(super) fn abort_message(&mut self, interrupted: impl FnOnce(&Self)) {
        let Some(block) = self.message.as_mut().and_then(|message| message.open.take()) else {
            let Some(message) = self.message.take() else { return interrupted(self) };
            interrupted(self);
            self.keep_message(&message, None, 1);
            return self.event_of(&message.id, json!({"type": "message_stop"}));
        };
        self.said.clone_from(&block.text);
        self.assistant(whole(&block), true);
        interrupted(self);
        self.event(json!({"type": "content_block_stop", "index": self.block()}));
        let Some(message) = self.message.take() else { return };
        self.event_of(
            &message.id,
            json!({
                "type": "message_delta", "context_management": null,
                "delta": {"stop_reason": null, "stop_sequence": null}, "usage": usage(1),
            }),
        );
        self.event_of(&message.id, json!({"type": "message_stop"}));
        self.requests += 1;
        self.keep_message(&message, None, 1);
    }

    /// The line of a text delta, for floods.
    pub(super) fn delta_line(&self, text: &str) -> Value {
        json!({
            "type": "stream_event",
            "event": {
                "type": "content_block_delta", "index": self.block(),
                "delta": delta(BlockKind::Text, text),
            },
            "session_id": self.agent.session,
            "parent_tool_use_id": self.parent,
            "uuid": mint::uuid(),
        })
    }

    /// Reports a request to the model, once per request.
    pub(super) fn request(&mut self) {
        if self.parent.is_none() && !self.requesting {
            self.requesting = true;
            let status = json!({"type": "system", "subtype": "status", "status": "requesting"});
            self.agent.send(status);
        }
    }

    fn open_message(&mut self) {
        if self.message.is_some() {
            return;
        }
        if std::mem::take(&mut self.unasked) {
            self.agent.send(self.agent.init());
        }
        self.request();
        self.requesting = false;
        let id = mint::api("msg_");
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": self.agent.brain.about().model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(1),
        });
        self.event_of(&id, json!({"type": "message_start", "message": message}));
        self.message =
            Some(Message { id, next: 0, open: None, calls: false, chars: 0, blocks: Vec::new() });
    }

    fn close_block(&mut self) {
        let Some(block) = self.message.as_mut().and_then(|message| message.open.take()) else {
            return;
        };
        let index = self.block();
        match block.kind {
            BlockKind::Text => self.said.clone_from(&block.text),
            BlockKind::Thinking => self.event(json!({
                "type": "content_block_delta", "index": index,
                "delta": {"type": "signature_delta", "signature": "c2ln"},
            })),
        }
        self.assistant(whole(&block), false);
        self.event(json!({"type": "content_block_stop", "index": index}));
        if let Some(message) = &mut self.message {
            message.next += 1;
        }
    }

    fn block(&self) -> u32 {
        self.message.as_ref().map_or(0, |message| message.next)
    }

    fn event(&self, event: Value) {
        if let Some(message) = &self.message {
            self.event_of(&message.id, event);
        }
    }

    /// Sends a raw event of the API. Those of a sub-agent are not sent.
    fn event_of(&self, message: &str, event: Value) {
        if self.agent.partial && self.parent.is_none() {
            self.agent.send(json!({
                "type": "stream_event", "event": event, "parent_tool_use_id": null,
                "api_message_id": message,
            }));
        }
    }

    /// Sends a complete block.
    fn assistant(&mut self, block: Value, aborted: bool) {
        let Some(message) = &mut self.message else { return };
        let uuid = mint::uuid();
        message.blocks.push((uuid.clone(), block.clone()));
        let mut told = json!({
            "type": "assistant",
            "message": {
                "id": message.id, "type": "message", "role": "assistant",
                "model": self.agent.brain.about().model, "content": [block], "stop_reason": null,
                "stop_sequence": null, "usage": usage(1), "context_management": null,
            },
            "parent_tool_use_id": self.parent,
            "timestamp": crate::clock::now(),
            "request_id": "req_script",
        });
        if aborted {
            told["aborted"] = json!(true);
        }
        self.agent.send_as(told, &uuid);
    }

    /// Writes a message's blocks to the file when it has ended.
    fn keep_message(&self, message: &Message, stop: Option<&str>, output: u64) {
        for (index, (uuid, block)) in message.blocks.iter().enumerate() {
            let mut line = json!({
                "type": "assistant",
                "message": {
                    "id": message.id, "type": "message", "role": "assistant",
                    "model": self.agent.brain.about().model, "content": [block], "stop_reason": stop,
                    "stop_sequence": null, "usage": usage(output),
                },
                "apiBlockIndex": index,
                "requestId": "req_script",
            });
            if stop.is_none() {
                line["isAbortedMidStream"] = json!(true);
            }
            self.keep_line(uuid, line);
        }
    }
}

fn delta(kind: BlockKind, text: &str) -> Value {
    match kind {
        BlockKind::Text => json!({"type": "text_delta", "text": text}),
        BlockKind::Thinking => json!({"type": "thinking_delta", "thinking": text}),
    }
}

fn whole(block: &Block) -> Value {
    match block.kind {
        BlockKind::Text => json!({"type": "text", "text": block.text}),
        BlockKind::Thinking => {
            json!({"type": "thinking", "thinking": block.text, "signature": "c2ln"})
        }
    }
}

fn usage(output: u64) -> Value {
    json!({
        "input_tokens": INPUT, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output,
    })
}
