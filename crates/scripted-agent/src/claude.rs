//! The Claude face: looks to a driver like `claude` with stream-json both ways.
//!
//! One thread reads and answers control requests; another performs the turns, one after the other.

mod arguments;
mod beside;
mod ending;
mod ledger;
mod message;
mod options;
mod session_file;
mod steering;
mod tools;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Map, Value, json};

use crate::beside::Beside;
use crate::brain::{Brain, Prompt};
use crate::cancel::Cancel;
use crate::engine::{Performance, say_on_stderr};
use crate::mint;
use crate::script::Step;
use crate::wire::Wire;
use ledger::Ledger;
use options::ClaudeOptions;
use session_file::SessionFile;
use turn::ClaudeTurn;

pub(crate) use arguments::ClaudeArguments;

/// The version of Claude Code that this face imitates.
const VERSION: &str = "2.1.325";

/// One session, like a `claude` process.
pub(crate) struct ClaudeAgent {
    brain: Arc<dyn Brain>,
    wire: Arc<Wire>,
    cwd: PathBuf,
    session: String,
    partial: bool,
    file: SessionFile,
    state: Mutex<State>,
    asks: Mutex<Asks>,
    /// Held while messages are written that an interrupt must not separate.
    unparted: Mutex<()>,
}

struct State {
    ledger: Ledger,
    turns: u32,
    /// Stops the running turn.
    running: Option<Arc<Cancel>>,
    /// Messages for the running turn that it has not read yet.
    handed: Vec<Value>,
    options: ClaudeOptions,
    beside: Beside,
}

#[derive(Default)]
struct Asks {
    waiting: HashMap<String, Sender<Value>>,
    /// The client is gone and will not answer.
    closed: bool,
}

/// Why a session can't start: the text for stderr, and a message to send before it.
pub(crate) struct Unable {
    pub(crate) message: Option<Value>,
    pub(crate) words: String,
}

impl ClaudeAgent {
    /// Starts or resumes the session that the arguments name.
    pub(crate) fn new(
        brain: Arc<dyn Brain>,
        arguments: &ClaudeArguments,
        wire: Arc<Wire>,
    ) -> Result<Arc<Self>, Unable> {
        if let Some(refusal) = &brain.about().refuse_new {
            return Err(Unable { message: None, words: refusal.message.clone() });
        }
        let cwd = std::env::current_dir().unwrap_or_default();
        let (session, file) = arguments.session(&cwd)?;
        let past = file.past();
        let ledger = Ledger::resumed(past.cost);
        let options = ClaudeOptions::new(brain.about(), arguments.mode.as_deref());
        let (turns, handed) = (past.turns, Vec::new());
        let beside = Beside::new(&brain.about().mcp);
        let state = State { ledger, turns, running: None, handed, options, beside };
        Ok(Arc::new(Self {
            brain,
            wire,
            cwd,
            session,
            partial: arguments.partial,
            file,
            state: Mutex::new(state),
            asks: Mutex::default(),
            unparted: Mutex::default(),
        }))
    }

    /// Performs the steps that come before anything is read.
    pub(crate) fn launch(self: &Arc<Self>) {
        self.perform_idle(&self.brain.on_launch());
    }

    /// Serves until the input ends and all turns have ended.
    pub(crate) fn serve(self: &Arc<Self>, mut input: impl BufRead) -> ExitCode {
        let (prompts, queue) = mpsc::channel();
        let agent = Arc::clone(self);
        let turns = thread::spawn(move || agent.perform_all(&queue));
        let mut line = Vec::new();
        while let Ok(1..) = input.read_until(b'\n', &mut line) {
            if !line.trim_ascii().is_empty() {
                match serde_json::from_slice(&line) {
                    Ok(message) => self.take(&message, &prompts),
                    Err(error) => {
                        say_on_stderr(&format!("Error parsing streaming input line: {error}"));
                        return ExitCode::FAILURE;
                    }
                }
            }
            line.clear();
        }
        self.lock_asks().closed = true;
        self.lock_asks().waiting.clear();
        drop(prompts);
        let _a_panic_was_told = turns.join();
        ExitCode::SUCCESS
    }

    fn take(self: &Arc<Self>, message: &Value, prompts: &Sender<Value>) {
        match message["type"].as_str() {
            Some("user") if self.hand(message) => {}
            Some("user") => {
                let _the_turns_end_first = prompts.send(message.clone());
            }
            Some("control_request") => self.controlled(message),
            Some("control_response") => self.answered(&message["response"]),
            _ => {} // unknown types are ignored
        }
    }

    fn controlled(self: &Arc<Self>, message: &Value) {
        let (id, request) = (&message["request_id"], &message["request"]);
        match request["subtype"].as_str() {
            Some("initialize") => {
                self.reply(id, &self.introduction());
                let (agent, steps) = (Arc::clone(self), self.brain.on_session());
                if !steps.is_empty() {
                    thread::spawn(move || agent.perform_idle(&steps));
                }
            }
            Some("interrupt") => self.interrupt(id, request["cancel_queued"] == true),
            Some(subtype) if ClaudeOptions::knows(subtype) => {
                let set = self.lock().options.take(self.brain.about(), request);
                match set {
                    Ok(response) => self.reply(id, &response),
                    Err(error) => {
                        self.wire.message(&json!({"type": "control_response", "response": {
                            "subtype": "error", "request_id": id, "error": error,
                            "error_code": "invalid_mode",
                        }}))
                    }
                }
                if subtype == "set_permission_mode" {
                    let mode = self.mode();
                    self.send(json!({
                        "type": "system", "subtype": "status", "status": null, "permissionMode": mode,
                    }));
                }
            }
            Some(subtype) if ClaudeAgent::has_beside(subtype) => {
                match self.act_beside(subtype, request) {
                    Ok(response) => self.reply(id, &response),
                    Err(error) => self.wire.message(&json!({
                        "type": "control_response",
                        "response": {"subtype": "error", "request_id": id, "error": error},
                    })),
                }
            }
            subtype => {
                let usage = self.lock().ledger.context_usage();
                if let (Some("get_context_usage"), Some(usage)) = (subtype, usage) {
                    return self.reply(id, &usage);
                }
                let subtype = subtype.unwrap_or_default();
                let error = format!("Unsupported control request subtype: {subtype}");
                self.wire.message(&json!({"type": "control_response", "response": {
                    "subtype": "error", "request_id": id, "error": error,
                    "error_code": "unsupported_request",
                }}));
            }
        }
    }

    fn reply(&self, id: &Value, response: &Value) {
        let reply = json!({"subtype": "success", "request_id": id, "response": response});
        self.wire.message(&json!({"type": "control_response", "response": reply}));
    }

    fn introduction(&self) -> Value {
        let about = self.brain.about();
        let commands: Vec<Value> = about
            .commands
            .iter()
            .map(|command| {
                json!({"name": command.name, "description": command.description, "argumentHint": ""})
            })
            .collect();
        json!({
            "commands": commands,
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": ClaudeOptions::models(about),
            "account": {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"},
            "pid": std::process::id(),
            "claude_code_version": VERSION,
            "current_permission_mode": self.mode(),
            "session_state": "idle",
        })
    }

    /// Withdraws open requests, answers the interrupt, then ends the turn.
    fn interrupt(&self, id: &Value, cancels_handed: bool) {
        let unparted = self.unparted();
        // Closing the channels tells waiting requests that no answer will come.
        let open: BTreeMap<String, Sender<Value>> = self.lock_asks().waiting.drain().collect();
        for request in open.keys() {
            self.wire.message(&json!({"type": "control_cancel_request", "request_id": request}));
        }
        let cancelled = if cancels_handed { self.cancel_handed() } else { Vec::new() };
        self.reply(id, &json!({"still_queued": [], "cancelled": cancelled}));
        if let Some(running) = &self.lock().running {
            running.set();
        }
        drop((open, unparted));
    }

    fn answered(&self, response: &Value) {
        let id = response["request_id"].as_str().unwrap_or_default();
        if let Some(waiting) = self.lock_asks().waiting.remove(id) {
            let _no_longer_waiting = waiting.send(response.clone());
        }
    }

    /// Sends a control request. Returns its id and the channel for its answer, which closes if there will be none.
    fn control(&self, request: &Value) -> (String, Receiver<Value>) {
        let id = mint::uuid();
        let (sender, answer) = mpsc::channel();
        let mut asks = self.lock_asks();
        if !asks.closed {
            asks.waiting.insert(id.clone(), sender);
        }
        drop(asks);
        self.wire
            .message(&json!({"type": "control_request", "request_id": id, "request": request}));
        (id, answer)
    }

    fn withdraw(&self, id: &str) {
        self.lock_asks().waiting.remove(id);
        self.wire.message(&json!({"type": "control_cancel_request", "request_id": id}));
    }

    fn perform_all(self: &Arc<Self>, prompts: &Receiver<Value>) {
        while let Ok(message) = prompts.recv() {
            self.perform(&message);
            while let Some(handed) = self.next_handed() {
                self.perform(&handed);
            }
        }
    }

    fn perform(self: &Arc<Self>, message: &Value) {
        let content = &message["message"]["content"];
        if message.get("priority").is_some() {
            self.lifecycle(message, "started");
        }
        let cancel = Arc::new(Cancel::default());
        let turn = {
            let mut state = self.lock();
            state.turns += 1;
            state.running = Some(Arc::clone(&cancel));
            state.turns
        };
        let prompt = Prompt::new(content, self.cwd.clone(), turn);
        self.send(self.init());
        self.file.user_message(self, message, turn);
        let steps = self.brain.answer(&prompt);
        let mut face = ClaudeTurn::new(self, turn, &cancel);
        face.answers.extend(message.get("uuid").cloned());
        face.request();
        let (end, later) = Performance::new(&mut face, &prompt, &cancel).perform(&steps);
        // From here on, an interrupt finds nothing to stop, as after the end of a turn.
        self.lock().running = None;
        face.finish(&end, &prompt.text);
        face.be_idle();
        let (end, _) = Performance::new(&mut face, &prompt, &cancel).deaf().perform(&later);
        face.finish_idle(&end);
    }

    /// Performs steps outside of any turn.
    fn perform_idle(self: &Arc<Self>, steps: &[Step]) {
        let cancel = Cancel::default();
        let prompt = Prompt::new(&Value::Null, self.cwd.clone(), 0);
        let mut face = ClaudeTurn::new(self, 0, &cancel);
        face.be_idle();
        let (end, _) = Performance::new(&mut face, &prompt, &cancel).perform(steps);
        face.finish_idle(&end);
    }

    fn init(&self) -> Value {
        let about = self.brain.about();
        let commands: Vec<&String> = about.commands.iter().map(|command| &command.name).collect();
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.cwd,
            "tools": ["Task", "AskUserQuestion", "Bash", "Edit", "Read", "TodoWrite", "Write"],
            "mcp_servers": self.lock().beside.for_claude()["mcpServers"],
            "model": self.lock().options.resolved_model(about),
            "permissionMode": self.mode(),
            "slash_commands": commands,
            "apiKeySource": "none",
            "claude_code_version": VERSION,
            "output_style": "default",
            "agents": [],
            "skills": [],
            "plugins": [],
        })
    }

    fn mode(&self) -> String {
        self.lock().options.mode.clone()
    }

    /// Sends a message of the session. Returns its uuid.
    fn send(&self, message: Value) -> String {
        let uuid = mint::uuid();
        self.send_as(message, &uuid);
        uuid
    }

    fn send_as(&self, mut message: Value, uuid: &str) {
        message["session_id"] = json!(self.session);
        message["uuid"] = json!(uuid);
        self.wire.message(&message);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unparted(&self) -> MutexGuard<'_, ()> {
        self.unparted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_asks(&self) -> MutexGuard<'_, Asks> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a user's message, which is a string or blocks.
fn merged(mut one: Value, other: &Value) -> Value {
    let empty = Map::new();
    for (key, value) in other.as_object().unwrap_or(&empty) {
        one[key] = value.clone();
    }
    one
}
