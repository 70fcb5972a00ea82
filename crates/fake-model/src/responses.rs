//! The part of the Responses API that codex uses: streamed text, thinking, calls, errors.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::http::{Reply, Request, Sse};
use crate::script::{Act, Tool, heard, long, pieces};

/// Answers `POST /v1/responses`.
pub(crate) fn answer(request: &Request, reply: Reply) -> io::Result<()> {
    let act = act(&request.body);
    match act {
        Act::Fail(status) => {
            let message = format!("fake error {status}");
            return reply.json(
                status,
                &json!({"error": {"message": message, "type": "server_error", "code": "fake_error"}}),
            );
        }
        Act::Hang => return reply.hang(),
        _ => {}
    }
    let mut stream = Stream { events: reply.events()?, id: unique("resp") };
    stream.begin()?;
    match act {
        Act::Say(text) => stream.message(pieces(&text).map(str::to_owned))?,
        Act::Think { thought, answer } => {
            stream.thought(&thought)?;
            stream.message(pieces(&answer).map(str::to_owned))?;
        }
        Act::Call { words, tools } => {
            if !words.is_empty() {
                stream.message(pieces(&words).map(str::to_owned))?;
            }
            for tool in &tools {
                stream.call(tool)?;
            }
        }
        Act::Long { words, pause } => {
            stream.message(long(words).inspect(|_| thread::sleep(pause)))?;
        }
        Act::Stall(text) => {
            stream.open_message(&unique("msg"))?;
            stream.grow(&text)?;
            return stream.events.hang();
        }
        Act::Heard | Act::Fail(_) | Act::Hang => {}
    }
    stream.end()
}

/// After a tool result, repeats it; otherwise does what the last prompt says.
fn act(body: &Value) -> Act {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, item) in items.iter().enumerate().rev() {
        if let Some("function_call_output" | "custom_tool_call_output") = item["type"].as_str() {
            let output = &item["output"];
            let words = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
            return Act::Say(format!("The tool answered: {words}"));
        }
        if let Some(prompt) = typed(item) {
            return match Act::of(&prompt) {
                Act::Heard => {
                    Act::Say(heard(&items[..=at].iter().filter_map(typed).collect::<Vec<_>>()))
                }
                act => act,
            };
        }
    }
    Act::Say("Hello from the fake model.".to_owned())
}

/// What the user typed, if the item is that. Skips the user messages in angle brackets, in which codex describes itself
/// and its environment.
fn typed(item: &Value) -> Option<String> {
    if !matches!(item["type"].as_str(), Some("message") | None) || item["role"] != "user" {
        return None;
    }
    let blocks = item["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    Some(texts.join("\n")).filter(|text| !text.trim_start().starts_with(['<', '#']))
}

fn unique(kind: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("{kind}_fake_{:08}", NEXT.fetch_add(1, Ordering::Relaxed))
}

struct Stream {
    events: Sse,
    id: String,
}

impl Stream {
    fn begin(&mut self) -> io::Result<()> {
        let response = json!({"id": self.id, "object": "response", "status": "in_progress"});
        self.events.event(&json!({"type": "response.created", "response": response}))
    }

    fn open_message(&mut self, id: &str) -> io::Result<()> {
        let item = json!({"type": "message", "id": id, "role": "assistant", "content": []});
        self.events
            .event(&json!({"type": "response.output_item.added", "output_index": 0, "item": item}))
    }

    fn grow(&mut self, text: &str) -> io::Result<()> {
        self.events.event(&json!({
            "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text,
        }))
    }

    fn message(&mut self, said: impl Iterator<Item = String>) -> io::Result<()> {
        let id = unique("msg");
        self.open_message(&id)?;
        let mut whole = String::new();
        for piece in said {
            self.grow(&piece)?;
            whole.push_str(&piece);
        }
        let content = json!([{"type": "output_text", "text": whole}]);
        self.done(&json!({"type": "message", "id": id, "role": "assistant", "content": content}))
    }

    fn thought(&mut self, thought: &str) -> io::Result<()> {
        let id = unique("rs");
        let item = json!({"type": "reasoning", "id": id, "summary": []});
        self.events.event(
            &json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        )?;
        self.events
            .event(&json!({"type": "response.reasoning_summary_part.added", "summary_index": 0}))?;
        for piece in pieces(thought) {
            self.events.event(
                &json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}),
            )?;
        }
        let summary = json!([{"type": "summary_text", "text": thought}]);
        self.done(&json!({"type": "reasoning", "id": id, "summary": summary}))
    }

    fn call(&mut self, tool: &Tool) -> io::Result<()> {
        let (id, call_id) = (unique("fc"), unique("call"));
        self.done(&match call(tool) {
            Call::Function(name, arguments) => json!({
                "type": "function_call", "id": id, "call_id": call_id,
                "name": name, "arguments": arguments.to_string(),
            }),
            Call::Patch(patch) => json!({
                "type": "custom_tool_call", "id": id, "call_id": call_id, "status": "completed",
                "name": "apply_patch", "input": patch,
            }),
        })
    }

    fn done(&mut self, item: &Value) -> io::Result<()> {
        self.events
            .event(&json!({"type": "response.output_item.done", "output_index": 0, "item": item}))
    }

    fn end(mut self) -> io::Result<()> {
        let usage = json!({
            "input_tokens": 120, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 150,
        });
        let response =
            json!({"id": self.id, "object": "response", "status": "completed", "usage": usage});
        self.events.event(&json!({"type": "response.completed", "response": response}))
    }
}

/// A call in the form codex's tools expect: arguments, or the text of a patch.
enum Call {
    Function(String, Value),
    Patch(String),
}

/// A call of one of codex's tools.
fn call(tool: &Tool) -> Call {
    let shell = |command: &str| Call::Function("exec_command".into(), json!({"cmd": command}));
    match tool {
        Tool::Bash(command) => shell(command),
        Tool::Read(path) => shell(&format!("cat '{path}'")),
        Tool::Edit(path) => Call::Patch(format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-alpha\n+beta\n*** End Patch\n"
        )),
        Tool::Ask | Tool::Task(_) => shell("echo not in codex"),
        Tool::Named { name, arguments } => Call::Function(
            name.clone(),
            serde_json::from_str(arguments).unwrap_or_else(|_| json!({})),
        ),
    }
}
