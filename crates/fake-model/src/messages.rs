//! The part of the Messages API that Claude Code uses: streamed or plain, text, thinking, tools, errors.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::http::{Reply, Request, Sse};
use crate::script::{Act, Tool, heard, long, pieces};

/// How many characters of a tool result are repeated.
const QUOTED: usize = 120;

/// Answers `POST /v1/messages`.
pub(crate) fn answer(request: &Request, reply: Reply) -> io::Result<()> {
    let act = act(&request.body);
    let model = request.body["model"].as_str().unwrap_or("fake").to_owned();
    match act {
        Act::Fail(status) => return reply.json(status, &failure(status)),
        Act::Hang => return reply.hang(),
        _ => {}
    }
    if request.body["stream"] != true {
        return reply.json(200, &whole(&model, act));
    }
    let mut stream = Stream { events: reply.events()?, index: 0 };
    stream.begin(&model)?;
    let stop_reason = match act {
        Act::Say(text) => {
            stream.text(pieces(&text).map(str::to_owned))?;
            "end_turn"
        }
        Act::Think { thought, answer } => {
            stream.thinking(&thought)?;
            stream.text(pieces(&answer).map(str::to_owned))?;
            "end_turn"
        }
        Act::Call { words, tools } => {
            if !words.is_empty() {
                stream.text(pieces(&words).map(str::to_owned))?;
            }
            for tool in tools {
                stream.tool(&tool)?;
            }
            "tool_use"
        }
        Act::Long { words, pause } => {
            stream.text(long(words).inspect(|_| thread::sleep(pause)))?;
            "end_turn"
        }
        Act::Stall(text) => {
            stream.open_text()?;
            stream.grow(&text)?;
            return stream.events.hang();
        }
        Act::Heard | Act::Fail(_) | Act::Hang => "end_turn",
    };
    stream.end(stop_reason)
}

/// After a tool result, repeats it; otherwise does what the last prompt says.
fn act(body: &Value) -> Act {
    let mut users = messages_of_the_user(body);
    let Some(last) = users.next_back() else { return Act::Say(String::new()) };
    let answers: Vec<String> = blocks(last)
        .iter()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| text_of(&block["content"]))
        .collect();
    match (typed(last).pop(), answers.is_empty()) {
        (Some(prompt), _) => match Act::of(&prompt) {
            Act::Heard => {
                let prompts: Vec<String> = messages_of_the_user(body).flat_map(typed).collect();
                Act::Say(heard(&prompts))
            }
            act => act,
        },
        (None, false) => {
            let said: String = answers.join(" | ").chars().take(QUOTED).collect();
            Act::Say(format!("The tool answered: {said}"))
        }
        (None, true) => Act::Say("Hello from the fake model.".to_owned()),
    }
}

fn messages_of_the_user(body: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.filter(|message| message["role"] == "user")
}

fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// What the user typed, without the reminders that Claude Code adds.
fn typed(message: &Value) -> Vec<String> {
    let blocks = blocks(message);
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let texts = texts.filter_map(|block| block["text"].as_str());
    texts
        .filter(|text| {
            !text.trim_start().starts_with('<') && !text.starts_with("[Request interrupted")
        })
        .map(str::to_owned)
        .collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

fn failure(status: u16) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": format!("fake {kind} {status}")}})
}

fn unique() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn message(model: &str, content: &Value, stop_reason: &Value, output_tokens: usize) -> Value {
    json!({
        "id": format!("msg_fake_{:08}", unique()), "type": "message", "role": "assistant",
        "model": model, "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": usage(output_tokens),
    })
}

fn usage(output_tokens: usize) -> Value {
    json!({
        "input_tokens": 120, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    })
}

/// The answer without streaming.
fn whole(model: &str, act: Act) -> Value {
    let text = |text: String| json!([{"type": "text", "text": text}]);
    let (content, stop_reason) = match act {
        Act::Say(words) | Act::Stall(words) => (text(words), "end_turn"),
        Act::Think { answer, .. } => (text(answer), "end_turn"),
        Act::Long { words, .. } => (text(long(words).collect()), "end_turn"),
        Act::Call { words, tools } => {
            let mut blocks = vec![json!({"type": "text", "text": words})];
            blocks.extend(tools.iter().map(|tool| {
                let (name, input) = call(tool);
                json!({"type": "tool_use", "id": format!("toolu_fake_{:08}", unique()), "name": name, "input": input})
            }));
            (Value::Array(blocks), "tool_use")
        }
        Act::Heard | Act::Fail(_) | Act::Hang => (text(String::new()), "end_turn"),
    };
    message(model, &content, &json!(stop_reason), 20)
}

struct Stream {
    events: Sse,
    index: usize,
}

impl Stream {
    fn begin(&mut self, model: &str) -> io::Result<()> {
        let message = message(model, &json!([]), &Value::Null, 1);
        self.events.event(&json!({"type": "message_start", "message": message}))
    }

    fn open_text(&mut self) -> io::Result<()> {
        self.open(&json!({"type": "text", "text": ""}))
    }

    fn text(&mut self, pieces: impl Iterator<Item = String>) -> io::Result<()> {
        self.open_text()?;
        for piece in pieces {
            self.grow(&piece)?;
        }
        self.close()
    }

    fn thinking(&mut self, thought: &str) -> io::Result<()> {
        self.open(&json!({"type": "thinking", "thinking": "", "signature": ""}))?;
        for piece in pieces(thought) {
            self.delta(&json!({"type": "thinking_delta", "thinking": piece}))?;
        }
        self.delta(&json!({"type": "signature_delta", "signature": "c2ln"}))?;
        self.close()
    }

    fn tool(&mut self, tool: &Tool) -> io::Result<()> {
        let (name, input) = call(tool);
        let id = format!("toolu_fake_{:08}", unique());
        self.open(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}))?;
        let input = input.to_string();
        for piece in pieces(&input) {
            self.delta(&json!({"type": "input_json_delta", "partial_json": piece}))?;
        }
        self.close()
    }

    fn open(&mut self, block: &Value) -> io::Result<()> {
        self.events.event(
            &json!({"type": "content_block_start", "index": self.index, "content_block": block}),
        )
    }

    fn grow(&mut self, text: &str) -> io::Result<()> {
        self.delta(&json!({"type": "text_delta", "text": text}))
    }

    fn delta(&mut self, delta: &Value) -> io::Result<()> {
        self.events
            .event(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}))
    }

    fn close(&mut self) -> io::Result<()> {
        self.events.event(&json!({"type": "content_block_stop", "index": self.index}))?;
        self.index += 1;
        Ok(())
    }

    fn end(mut self, stop_reason: &str) -> io::Result<()> {
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        self.events.event(&json!({"type": "message_delta", "delta": delta, "usage": usage(20)}))?;
        self.events.event(&json!({"type": "message_stop"}))
    }
}

/// A call of one of Claude Code's tools.
fn call(tool: &Tool) -> (String, Value) {
    let (name, input) = match tool {
        Tool::Bash(command) => {
            ("Bash", json!({"command": command, "description": "Run the demo command"}))
        }
        Tool::Read(path) => ("Read", json!({"file_path": path})),
        Tool::Edit(path) => {
            ("Edit", json!({"file_path": path, "old_string": "alpha", "new_string": "beta"}))
        }
        Tool::Ask => (
            "AskUserQuestion",
            json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
                {"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"},
            ]}]}),
        ),
        Tool::Task(prompt) => (
            "Agent",
            json!({"description": "Look into it", "prompt": prompt, "subagent_type": "general-purpose"}),
        ),
        Tool::Named { name, arguments } => {
            (name.as_str(), serde_json::from_str(arguments).unwrap_or_else(|_| json!({})))
        }
    };
    (name.to_owned(), input)
}
