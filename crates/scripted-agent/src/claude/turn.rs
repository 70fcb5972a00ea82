//! One turn on the Claude wire: turns steps into messages of the model, tool results and control requests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::{Value, json};

use super::message::{BlockKind, Message};
use super::tools::{Call, ToolResult};
use super::{ClaudeAgent, merged};
use crate::cancel::Cancel;
use crate::face::{Answer, CommandExit, Face};
use crate::mint;
use crate::script::{
    Ask, Choice, FileDiff, Image, PlanEntry, Question, TaskStart, Tool, ToolEnd, UsageFact,
};
use crate::wire::Wire;

/// How often a waiting agent checks whether to withdraw its request.
const WITHDRAW_CHECK: Duration = Duration::from_millis(5);

pub(super) struct ClaudeTurn<'a> {
    pub(super) agent: &'a Arc<ClaudeAgent>,
    pub(super) turn: u32,
    cancel: &'a Cancel,
    pub(super) message: Option<Message>,
    /// The call of the sub-agent that is active.
    pub(super) parent: Option<String>,
    /// The text of the last block.
    pub(super) said: String,
    /// The number of requests to the model.
    pub(super) requests: u32,
    pub(super) calls: BTreeMap<String, Call>,
    pub(super) denials: Vec<Value>,
    /// The ids of the messages that it answers.
    pub(super) answers: Vec<Value>,
    plans: u32,
    images: u32,
    /// Outside of any turn: the first message starts a turn of the agent, which is announced first.
    pub(super) unasked: bool,
    /// A request to the model was reported, and no answer has begun.
    pub(super) requesting: bool,
}

impl<'a> ClaudeTurn<'a> {
    pub(super) fn new(agent: &'a Arc<ClaudeAgent>, turn: u32, cancel: &'a Cancel) -> Self {
        Self {
            agent,
            turn,
            cancel,
            message: None,
            parent: None,
            said: String::new(),
            requests: 0,
            calls: BTreeMap::new(),
            denials: Vec::new(),
            answers: Vec::new(),
            plans: 0,
            images: 0,
            unasked: false,
            requesting: false,
        }
    }

    /// Writes a line of the conversation to the session's file.
    pub(super) fn keep_line(&self, uuid: &str, line: Value) {
        match &self.parent {
            None => self.agent.file.chained(self.agent, uuid, line),
            Some(_) => self.agent.file.aside(self.agent, uuid, line),
        }
    }

    pub(super) fn user_text(&self, text: &str) {
        self.user(json!([{"type": "text", "text": text}]), &json!({}), &json!({}));
    }

    pub(super) fn tool_result(&self, id: &str, result: &ToolResult, meta: &Value) {
        let content = json!([{
            "type": "tool_result", "tool_use_id": id, "content": result.content,
            "is_error": result.is_error,
        }]);
        let meta = merged(json!({ "id": id }), meta);
        let told = json!({"tool_use_result": result.structure, "tool_result_meta": [meta]});
        self.user(content, &told, &json!({"toolUseResult": result.structure}));
    }

    /// Sends a message with the role of the user.
    fn user(&self, content: Value, told: &Value, kept: &Value) {
        let message = json!({"role": "user", "content": content});
        let uuid = self.agent.send(merged(
            json!({
                "type": "user", "message": message, "parent_tool_use_id": self.parent,
                "timestamp": crate::clock::now(),
            }),
            told,
        ));
        self.keep_line(&uuid, merged(json!({"type": "user", "message": message}), kept));
    }

    fn wire_id(&self, id: &str) -> String {
        match self.turn {
            0 | 1 => id.into(),
            turn => format!("{id}.{turn}"),
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &Value) {
        let wire_id = self.wire_id(id);
        self.call_block(&wire_id, name, input);
        let call = Call { wire_id, name: name.into(), input: input.clone(), ..Call::default() };
        self.calls.insert(id.into(), call);
    }

    /// Ends a call with this result.
    fn answer_call(&mut self, id: &str, result: &ToolResult, meta: &Value) {
        self.close_message("tool_use");
        if let Some(call) = self.calls.get_mut(id) {
            call.ended = true;
            let wire_id = call.wire_id.clone();
            self.tool_result(&wire_id, result, meta);
            if self.parent.is_none() {
                self.read_handed();
            }
        }
    }

    /// Asks for permission to use a tool. `None` if no answer will come.
    fn can_use(&mut self, request: &Value, withdraw: &dyn Fn() -> bool) -> Option<Value> {
        let (id, answer) =
            self.close_message_around("tool_use", |turn| turn.agent.control(request));
        loop {
            match answer.recv_timeout(WITHDRAW_CHECK) {
                Ok(answer) => return Some(answer["response"].clone()),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if withdraw() => {
                    self.agent.withdraw(&id);
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn deny(&mut self, id: &str, answer: &Value) {
        let words = answer["message"].as_str().unwrap_or("denied").to_string();
        let result = ToolResult {
            content: json!(words),
            is_error: true,
            structure: json!(format!("Error: {words}")),
        };
        let decision = json!({"decision": "reject", "source": "user_reject"});
        self.answer_call(id, &result, &json!({"permission_decision": decision}));
    }
}

impl Face for ClaudeTurn<'_> {
    fn say(&mut self, text: &str) {
        self.grow(BlockKind::Text, text);
    }

    fn think(&mut self, text: &str) {
        self.grow(BlockKind::Thinking, text);
    }

    fn new_message(&mut self) {
        self.close_message("end_turn");
    }

    fn echo(&mut self, prompt: &str) {
        let message = json!({"role": "user", "content": [{"type": "text", "text": prompt}]});
        self.agent.send(json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "isReplay": true,
        }));
    }

    /// On this wire a picture comes from a tool that read a file.
    fn image(&mut self, image: &Image) {
        let source = json!({"type": "base64", "media_type": image.mime, "data": image.data});
        let result = ToolResult {
            content: json!([{"type": "image", "source": source}]),
            is_error: false,
            structure: json!({"type": "image", "file": {"type": image.mime, "base64": image.data}}),
        };
        let id = image.call.clone().unwrap_or_else(|| {
            self.images += 1;
            format!("image-{}", self.images)
        });
        if !self.calls.contains_key(&id) {
            self.call(&id, "Read", &json!({"file_path": format!("{id}.png")}));
        }
        self.answer_call(&id, &result, &json!({}));
    }

    fn tool(&mut self, tool: &Tool) {
        let input = if tool.input.is_null() { json!({}) } else { tool.input.clone() };
        self.call(&tool.id, if tool.name.is_empty() { "Bash" } else { &tool.name }, &input);
    }

    fn tool_output(&mut self, id: &str, text: &str) {
        if let Some(call) = self.calls.get_mut(id) {
            call.output.push_str(text);
        }
    }

    fn diff(&mut self, diff: &FileDiff) {
        if let Some(call) = self.calls.get_mut(&diff.id) {
            call.diff = Some(diff.clone());
        }
    }

    fn tool_end(&mut self, end: &ToolEnd) {
        let Some(call) = self.calls.get_mut(&end.id).filter(|call| !call.ended) else { return };
        call.output.push_str(&end.output);
        let result = call.give(end);
        let decision = json!({"decision": "accept", "source": "user_temporary"});
        self.answer_call(&end.id, &result, &json!({"permission_decision": decision}));
    }

    fn plan(&mut self, entries: &[PlanEntry]) {
        self.plans += 1;
        let id = format!("plan-{}", self.plans);
        let todos: Vec<Value> = entries
            .iter()
            .map(|entry| {
                let (text, status) = (&entry.text, entry.status.word());
                json!({"content": text, "status": status, "activeForm": text})
            })
            .collect();
        self.call(&id, "TodoWrite", &json!({ "todos": todos }));
        let result = ToolResult {
            content: json!("Todos have been modified successfully."),
            is_error: false,
            structure: json!({"oldTodos": [], "newTodos": todos}),
        };
        self.answer_call(&id, &result, &json!({}));
    }

    fn ask(&mut self, ask: &Ask, withdraw: &dyn Fn() -> bool) -> Answer {
        let id = ask.tool.clone().unwrap_or_default();
        let known = self.calls.get(&id).cloned().unwrap_or_else(|| Call {
            wire_id: mint::api("toolu_"),
            name: ask.title.clone(),
            input: json!({}),
            ..Call::default()
        });
        let request = json!({
            "subtype": "can_use_tool",
            "tool_name": known.name,
            "display_name": known.name,
            "input": known.input,
            "description": ask.title,
            "permission_suggestions": suggestions(&known),
            "tool_use_id": known.wire_id,
        });
        let Some(answer) = self.can_use(&request, withdraw) else {
            return if self.cancel.is_set() { Answer::Cancelled } else { Answer::Nothing };
        };
        if answer["behavior"] == "allow" {
            let always = answer["updatedPermissions"].as_array().is_some_and(|all| !all.is_empty());
            return chosen(&ask.options, if always { "allow_always" } else { "allow_once" });
        }
        self.denials.push(json!({
            "tool_name": known.name, "tool_use_id": known.wire_id, "tool_input": known.input,
        }));
        if answer["interrupt"] == true {
            return Answer::Cancelled;
        }
        self.deny(&id, &answer);
        chosen(&ask.options, "reject_once")
    }

    fn question(&mut self, question: &Question) -> Answer {
        let options: Vec<Value> = question
            .options
            .iter()
            .map(|option| json!({"label": option.name, "description": option.description}))
            .collect();
        let input = json!({"questions": [{
            "question": question.question, "header": question.header, "options": options,
            "multiSelect": question.multiple,
        }]});
        self.call(&question.id, "AskUserQuestion", &input);
        let request = json!({
            "subtype": "can_use_tool", "tool_name": "AskUserQuestion",
            "display_name": "AskUserQuestion", "input": input,
            "tool_use_id": self.wire_id(&question.id), "requires_user_interaction": true,
        });
        let Some(answer) = self.can_use(&request, &|| false) else {
            return if self.cancel.is_set() { Answer::Cancelled } else { Answer::Nothing };
        };
        if answer["behavior"] != "allow" {
            self.deny(&question.id, &answer);
            return Answer::Nothing;
        }
        let answered = &answer["updatedInput"];
        let choice = answered["answers"][&question.question].as_str().unwrap_or_default();
        let words =
            format!("Your questions have been answered: {:?}={choice:?}.", question.question);
        let result =
            ToolResult { content: json!(words), is_error: false, structure: answered.clone() };
        self.answer_call(&question.id, &result, &json!({}));
        Answer::Chosen(choice.into())
    }

    fn read_file(&mut self, path: &str) -> io::Result<String> {
        fs::read_to_string(self.agent.cwd.join(path))
    }

    fn write_file(&mut self, path: &str, content: &str) -> io::Result<()> {
        fs::write(self.agent.cwd.join(path), content)
    }

    /// This wire has no client terminals.
    fn run_by_client(&mut self, _id: &str, _command: &str) -> Option<CommandExit> {
        None
    }

    fn title(&mut self, title: &str) {
        self.agent
            .send(json!({"type": "system", "subtype": "session_title_changed", "title": title}));
    }

    fn task(&mut self, task: &TaskStart) {
        self.agent.lock().beside.start(task);
        self.agent.send(json!({
            "type": "system", "subtype": "task_started", "task_id": task.id,
            "description": task.name, "is_backgrounded": true, "task_type": "local_bash",
        }));
    }

    fn task_end(&mut self, id: &str) -> bool {
        self.agent.end_task(id, "completed")
    }

    fn usage(&mut self, usage: &UsageFact) {
        self.agent.lock().ledger.set(usage.used, usage.size, usage.cost_usd);
    }

    fn under(&mut self, call: Option<&str>) {
        match call {
            Some(call) => {
                self.close_message("tool_use");
                self.parent = Some(self.wire_id(call));
            }
            None => {
                self.close_message("end_turn");
                self.parent = None;
            }
        }
    }

    fn api_retry(&mut self, attempt: u32, of: u32) {
        self.agent.send(json!({
            "type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": of,
            "retry_delay_ms": 500, "error_status": 529, "error": "overloaded",
        }));
    }

    fn raw_update(&mut self, update: &Value) {
        self.agent.send(update.clone());
    }

    fn raw_request(&mut self, method: &str, params: &Value) -> Value {
        let request = merged(json!({ "subtype": method }), params);
        self.agent.control(&request).1.recv().unwrap_or_default()
    }

    fn flood(&mut self, text: &str, count: u64) {
        self.open_block(BlockKind::Text);
        let line = self.delta_line(text).to_string();
        self.agent.wire.flood(line.as_bytes(), count);
    }

    fn huge_line(&mut self, bytes: u64) {
        self.open_block(BlockKind::Text);
        let line = self.delta_line("\u{1}").to_string();
        if let Some((head, tail)) = line.split_once("\\u0001") {
            self.agent.wire.huge(head, bytes, tail);
        }
    }

    fn has_message(&self) -> bool {
        self.answers.len() > 1 || self.agent.has_handed()
    }

    fn wire(&self) -> &Wire {
        &self.agent.wire
    }

    /// Nothing to do: the file is up to date. It lacks a message that is cut off, as with the real program.
    fn keep(&mut self) {}
}

/// The rule for a permission that is allowed from now on.
fn suggestions(call: &Call) -> Value {
    match call.input["command"].as_str() {
        Some(command) => json!([{
            "type": "addRules", "rules": [{"toolName": call.name, "ruleContent": command}],
            "behavior": "allow", "destination": "localSettings",
        }]),
        None => json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]),
    }
}

/// The first option of a kind.
fn chosen(options: &[Choice], kind: &str) -> Answer {
    let option = options.iter().find(|option| option.kind.as_deref() == Some(kind));
    option.map_or(Answer::Nothing, |option| Answer::Chosen(option.id.clone()))
}
