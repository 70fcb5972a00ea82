//! One turn in ACP: turns steps into `session/update` notifications and requests to the client.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::AcpAgent;
use super::session::Session;
use crate::cancel::Cancel;
use crate::face::{Answer, CommandExit, End, Face};
use crate::script::{
    Ask, Choice, FileDiff, Image, PlanEntry, Question, SlashCommand, TaskStart, Tool, ToolEnd,
    UsageFact,
};
use crate::wire::Wire;

pub(super) struct AcpTurn<'a> {
    pub(super) agent: &'a Arc<AcpAgent>,
    pub(super) session: &'a Arc<Session>,
    turn: u32,
    pub(super) cancel: &'a Cancel,
    /// The kind of the last chunk, and the number of messages so far.
    last: Option<&'static str>,
    messages: u32,
    asks: u32,
    said: usize,
    pub(super) calls: BTreeMap<String, OpenCall>,
}

/// What was sent about a call.
#[derive(Default)]
pub(super) struct OpenCall {
    title: String,
    kind: String,
    input: Value,
    output: String,
    /// Diffs and pictures.
    shown: Vec<Value>,
    pub(super) terminal: Option<String>,
    ended: bool,
}

impl<'a> AcpTurn<'a> {
    pub(super) fn new(
        agent: &'a Arc<AcpAgent>,
        session: &'a Arc<Session>,
        turn: u32,
        cancel: &'a Cancel,
    ) -> Self {
        Self {
            agent,
            session,
            turn,
            cancel,
            last: None,
            messages: 0,
            asks: 0,
            said: 0,
            calls: BTreeMap::new(),
        }
    }

    /// A stopped turn leaves no call open.
    pub(super) fn close_calls(&mut self, end: &End) {
        if *end != End::Cancelled {
            return;
        }
        let open: Vec<String> =
            self.calls.iter().filter(|(_, call)| !call.ended).map(|(id, _)| id.clone()).collect();
        for id in open {
            self.tool_end(&ToolEnd { id, failed: true, ..ToolEnd::default() });
        }
    }

    /// The usage of the turn. Deterministic: a token is four characters.
    pub(super) fn used(&self, prompt: &str) -> Value {
        let (input, output) = (prompt.chars().count().div_ceil(4), self.said.div_ceil(4));
        json!({"totalTokens": input + output, "inputTokens": input, "outputTokens": output})
    }

    fn update(&self, update: &Value) {
        self.session.record(update);
        self.session.update(&self.agent.wire, update);
    }

    fn chunk(&mut self, kind: &'static str, content: Value) {
        let update = self.chunk_update(kind, content);
        self.update(&update);
    }

    fn chunk_update(&mut self, kind: &'static str, content: Value) -> Value {
        if self.last != Some(kind) {
            self.last = Some(kind);
            self.messages += 1;
        }
        let mut update = json!({"sessionUpdate": kind, "content": content});
        if !self.agent.brain.about().no_message_ids {
            update["messageId"] = json!(format!("msg-{}-{}", self.turn, self.messages));
        }
        update
    }

    fn call_id(&self, id: &str) -> String {
        match self.turn {
            0 | 1 => id.into(),
            turn => format!("{id}.{turn}"),
        }
    }

    /// Whether a call's output goes into `_meta`, as with codex.
    fn in_meta(&self, call: &OpenCall) -> bool {
        self.agent.brain.about().terminal_meta && call.kind == "execute"
    }

    pub(super) fn call_update(&mut self, id: &str, mut update: Value) {
        self.last = None;
        update["sessionUpdate"] = json!("tool_call_update");
        update["toolCallId"] = json!(self.call_id(id));
        self.update(&update);
    }

    pub(super) fn content(call: &OpenCall) -> Value {
        let mut content = call.shown.clone();
        if let Some(terminal) = &call.terminal {
            content.push(json!({"type": "terminal", "terminalId": terminal}));
        }
        if !call.output.is_empty() {
            let text = json!({"type": "text", "text": call.output});
            content.push(json!({"type": "content", "content": text}));
        }
        Value::Array(content)
    }

    fn locations(&self, paths: &[String]) -> Value {
        paths.iter().map(|path| json!({"path": self.absolute(path)})).collect()
    }

    pub(super) fn absolute(&self, path: &str) -> String {
        self.session.cwd.join(path).to_string_lossy().into_owned()
    }
}

impl Face for AcpTurn<'_> {
    fn say(&mut self, text: &str) {
        self.said += text.chars().count();
        self.chunk("agent_message_chunk", json!({"type": "text", "text": text}));
    }

    fn think(&mut self, text: &str) {
        self.chunk("agent_thought_chunk", json!({"type": "text", "text": text}));
    }

    fn new_message(&mut self) {
        self.last = None;
    }

    fn echo(&mut self, prompt: &str) {
        // Not recorded: the history already has the user's message.
        let update = json!({
            "sessionUpdate": "user_message_chunk",
            "messageId": format!("user-{}", self.turn),
            "content": {"type": "text", "text": prompt},
        });
        self.session.update(&self.agent.wire, &update);
        self.last = None;
    }

    fn image(&mut self, image: &Image) {
        let content = json!({"type": "image", "mimeType": image.mime, "data": image.data});
        let Some(id) = &image.call else { return self.chunk("agent_message_chunk", content) };
        let call = self.calls.entry(id.clone()).or_default();
        call.shown.push(json!({"type": "content", "content": content}));
        let content = Self::content(call);
        self.call_update(id, json!({"content": content}));
    }

    fn tool(&mut self, tool: &Tool) {
        self.last = None;
        let kind = if tool.kind.is_empty() { "other" } else { &tool.kind };
        let mut update = json!({
            "sessionUpdate": "tool_call",
            "toolCallId": self.call_id(&tool.id),
            "title": tool.title,
            "kind": kind,
            "status": "in_progress",
        });
        if !tool.input.is_null() {
            update["rawInput"] = tool.input.clone();
        }
        if !tool.locations.is_empty() {
            update["locations"] = self.locations(&tool.locations);
        }
        let mut call = OpenCall {
            title: tool.title.clone(),
            kind: kind.into(),
            input: tool.input.clone(),
            ..OpenCall::default()
        };
        if self.in_meta(&call) {
            let terminal = self.call_id(&tool.id);
            let cwd = self.session.cwd.to_string_lossy();
            update["_meta"] = json!({"terminal_info": {"cwd": cwd, "terminal_id": terminal}});
            call.terminal = Some(terminal);
            update["content"] = Self::content(&call);
        }
        self.update(&update);
        self.calls.insert(tool.id.clone(), call);
    }

    fn tool_output(&mut self, id: &str, text: &str) {
        let in_meta = self.calls.get(id).is_some_and(|call| self.in_meta(call));
        let update = if in_meta {
            let delta = json!({"data": text, "terminal_id": self.call_id(id)});
            json!({"_meta": {"terminal_output_delta": delta}})
        } else {
            let call = self.calls.entry(id.into()).or_default();
            call.output.push_str(text);
            json!({"content": Self::content(call)})
        };
        self.call_update(id, update);
    }

    fn diff(&mut self, diff: &FileDiff) {
        let path = self.absolute(&diff.path);
        let call = self.calls.entry(diff.id.clone()).or_default();
        call.shown
            .push(json!({"type": "diff", "path": path, "oldText": diff.old, "newText": diff.new}));
        let content = Self::content(call);
        self.call_update(&diff.id, json!({"content": content}));
    }

    fn tool_end(&mut self, end: &ToolEnd) {
        let call = self.calls.entry(end.id.clone()).or_default();
        call.ended = true;
        call.output.push_str(&end.output);
        let whole = Self::content(call);
        let in_meta = self.calls.get(&end.id).is_some_and(|call| self.in_meta(call));
        let mut update = json!({"status": if end.failed { "failed" } else { "completed" }});
        if in_meta {
            let terminal = self.call_id(&end.id);
            update["_meta"]["terminal_exit"] =
                json!({"exit_code": end.exit_code, "signal": null, "terminal_id": terminal});
            if !end.output.is_empty() {
                update["_meta"]["terminal_output_delta"] =
                    json!({"data": end.output, "terminal_id": terminal});
            }
        } else if whole != json!([]) {
            update["content"] = whole;
        }
        self.call_update(&end.id, update);
    }

    fn plan(&mut self, entries: &[PlanEntry]) {
        let entries: Vec<Value> = entries
            .iter()
            .map(|entry| {
                json!({"content": entry.text, "priority": "medium", "status": entry.status.word()})
            })
            .collect();
        self.update(&json!({"sessionUpdate": "plan", "entries": entries}));
    }

    fn ask(&mut self, ask: &Ask, withdraw: &dyn Fn() -> bool) -> Answer {
        self.asks += 1;
        let mut call = json!({"status": "pending"});
        match ask.tool.as_ref().and_then(|id| Some((id, self.calls.get(id)?))) {
            Some((id, known)) => {
                call["toolCallId"] = json!(self.call_id(id));
                call["title"] = json!(known.title);
                call["kind"] = json!(known.kind);
                if !known.input.is_null() {
                    call["rawInput"] = known.input.clone();
                }
                if !known.shown.is_empty() {
                    call["content"] = json!(known.shown);
                }
            }
            None => {
                let id = ask.tool.clone().unwrap_or_else(|| format!("ask-{}", self.asks));
                call["toolCallId"] = json!(self.call_id(&id));
                call["title"] = json!(ask.title);
            }
        }
        self.request_permission(&call, &ask.options, withdraw)
    }

    fn question(&mut self, question: &Question) -> Answer {
        // ACP version 1 has no questions: agents use a permission whose options are the answers.
        let call = json!({
            "toolCallId": self.call_id(&question.id),
            "title": question.question,
            "kind": "other",
            "status": "pending",
        });
        let options: Vec<Choice> = question
            .options
            .iter()
            .map(|option| Choice { id: option.name.clone(), ..option.clone() })
            .collect();
        self.request_permission(&call, &options, &|| false)
    }

    fn read_file(&mut self, path: &str) -> io::Result<String> {
        self.read_through_client(path)
    }

    fn write_file(&mut self, path: &str, content: &str) -> io::Result<()> {
        self.write_through_client(path, content)
    }

    fn run_by_client(&mut self, id: &str, command: &str) -> Option<CommandExit> {
        self.run_in_terminal(id, command)
    }

    fn title(&mut self, title: &str) {
        self.update(&json!({"sessionUpdate": "session_info_update", "title": title}));
    }

    fn task(&mut self, task: &TaskStart) {
        self.session.beside().start(task);
        self.agent.tell_beside(self.session);
    }

    fn task_end(&mut self, id: &str) -> bool {
        let ran = self.session.beside().end(id, "completed").map(|task| task.name.clone());
        self.agent.tell_beside(self.session);
        if let Some(name) = &ran {
            let title = format!("“{name}” has ended.");
            self.update(&json!({"sessionUpdate": "notice", "severity": "info", "title": title}));
        }
        ran.is_some()
    }

    fn usage(&mut self, usage: &UsageFact) {
        let mut update =
            json!({"sessionUpdate": "usage_update", "used": usage.used, "size": usage.size});
        if let Some(dollars) = usage.cost_usd {
            update["cost"] = json!({"amount": dollars, "currency": "USD"});
        }
        self.update(&update);
    }

    /// ACP version 1 has no sub-agents: their work is sent as the agent's own.
    fn under(&mut self, _call: Option<&str>) {
        self.last = None;
    }

    /// ACP has no message for this.
    fn api_retry(&mut self, attempt: u32, of: u32) {
        crate::engine::say_on_stderr(&format!("the model API failed, attempt {attempt} of {of}"));
    }

    fn raw_update(&mut self, update: &Value) {
        self.session.update(&self.agent.wire, update);
    }

    fn raw_request(&mut self, method: &str, params: &Value) -> Value {
        let mut params = params.clone();
        if let Value::Object(params) = &mut params {
            params.entry("sessionId").or_insert_with(|| json!(self.session.id));
        }
        self.agent.calls.send(method, &params).answer.recv().unwrap_or_default()
    }

    fn flood(&mut self, text: &str, count: u64) {
        let update =
            self.chunk_update("agent_message_chunk", json!({"type": "text", "text": text}));
        self.session.record(&update);
        let line = self.session.notification(&update).to_string();
        self.agent.wire.flood(line.as_bytes(), count);
    }

    fn huge_line(&mut self, bytes: u64) {
        const HERE: &str = "\u{1}";
        let update =
            self.chunk_update("agent_message_chunk", json!({"type": "text", "text": HERE}));
        let line = self.session.notification(&update).to_string();
        if let Some((head, tail)) = line.split_once("\\u0001") {
            self.agent.wire.huge(head, bytes, tail);
        }
    }

    fn has_message(&self) -> bool {
        self.session.was_steered()
    }

    fn wire(&self) -> &Wire {
        &self.agent.wire
    }

    fn keep(&mut self) {
        self.agent.store.write(&self.session.id, &self.session.history());
    }
}

pub(super) fn commands_update(commands: &[SlashCommand]) -> Value {
    let commands: Vec<Value> = commands
        .iter()
        .map(|command| json!({"name": command.name, "description": command.description}))
        .collect();
    json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})
}
