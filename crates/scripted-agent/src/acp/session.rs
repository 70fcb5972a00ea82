//! One session of the ACP face: its directory, its history, its running turns.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::beside::Beside;
use crate::cancel::Cancel;
use crate::history::History;
use crate::wire::Wire;

pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    state: Mutex<State>,
    performing: Mutex<()>,
    beside: Mutex<Beside>,
}

#[derive(Default)]
struct State {
    history: History,
    mode: Option<String>,
    /// The values that were set, by id.
    options: BTreeMap<String, Value>,
    /// Prompts that are not answered yet.
    turns: Vec<RunningTurn>,
    /// A message arrived for the running turn.
    steered: bool,
}

struct RunningTurn {
    request: Value,
    cancel: Arc<Cancel>,
    /// The client cancelled the request itself.
    withdrawn: bool,
}

impl Session {
    pub(super) fn new(id: String, cwd: PathBuf, history: History, beside: Beside) -> Self {
        let state = Mutex::new(State { history, ..State::default() });
        Self { id, cwd, state, performing: Mutex::default(), beside: Mutex::new(beside) }
    }

    pub(super) fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same session, to be loaded again.
    pub(super) fn closed(&self, beside: Beside) -> Arc<Self> {
        Arc::new(Self::new(self.id.clone(), self.cwd.clone(), self.history(), beside))
    }

    /// Registers a prompt. The result tells whether it was stopped.
    pub(super) fn expect_turn(&self, request: &Value) -> Arc<Cancel> {
        let cancel = Arc::new(Cancel::default());
        let running =
            RunningTurn { request: request.clone(), cancel: Arc::clone(&cancel), withdrawn: false };
        self.lock().turns.push(running);
        cancel
    }

    /// Held while a turn is performed, so that others wait.
    pub(super) fn performing(&self) -> MutexGuard<'_, ()> {
        self.performing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the turn.
    pub(super) fn begin_turn(&self, text: &str) -> u32 {
        let mut state = self.lock();
        state.history.turns += 1;
        state.steered = false;
        let turn = state.history.turns;
        state.history.record(&json!({
            "sessionUpdate": "user_message_chunk",
            "messageId": format!("user-{turn}"),
            "content": {"type": "text", "text": text},
        }));
        turn
    }

    /// A message for the running turn. Returns whether there is one.
    pub(super) fn steer(&self) -> bool {
        let mut state = self.lock();
        let is_running = !state.turns.is_empty();
        state.steered |= is_running;
        is_running
    }

    pub(super) fn was_steered(&self) -> bool {
        self.lock().steered
    }

    /// Returns whether the client cancelled the request itself.
    pub(super) fn end_turn(&self, request: &Value) -> bool {
        let mut state = self.lock();
        let at = state.turns.iter().position(|running| running.request == *request);
        at.is_some_and(|at| state.turns.remove(at).withdrawn)
    }

    /// Stops all running turns.
    pub(super) fn cancel(&self) {
        for running in &self.lock().turns {
            running.cancel.set();
        }
    }

    /// The client cancelled a request.
    pub(super) fn cancel_request(&self, request: &Value) {
        for running in &mut self.lock().turns {
            if running.request == *request {
                running.withdrawn = true;
                running.cancel.set();
            }
        }
    }

    pub(super) fn set_mode(&self, mode: &str) {
        self.lock().mode = Some(mode.into());
    }

    pub(super) fn mode(&self) -> Option<String> {
        self.lock().mode.clone()
    }

    pub(super) fn set_option(&self, id: &str, value: Value) {
        self.lock().options.insert(id.into(), value);
    }

    pub(super) fn option(&self, id: &str) -> Option<Value> {
        self.lock().options.get(id).cloned()
    }

    pub(super) fn history(&self) -> History {
        self.lock().history.clone()
    }

    pub(super) fn record(&self, update: &Value) {
        self.lock().history.record(update);
    }

    pub(super) fn update(&self, wire: &Wire, update: &Value) {
        wire.message(&self.notification(update));
    }

    pub(super) fn notification(&self, update: &Value) -> Value {
        json!({
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": self.id, "update": update},
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The updates of a replay: as recorded, but with the output of a command separate from its call, as when it was live.
pub(super) fn replayed(history: &History) -> Vec<Value> {
    let mut updates = Vec::new();
    for update in &history.updates {
        let mut call = update.clone();
        let mut output = json!({});
        if let Some(meta) = call.get_mut("_meta").and_then(Value::as_object_mut) {
            for key in ["terminal_output_delta", "terminal_exit"] {
                if let Some(value) = meta.remove(key) {
                    output[key] = value;
                }
            }
        }
        let id = call["toolCallId"].clone();
        updates.push(call);
        if output != json!({}) {
            updates.push(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": output,
            }));
        }
    }
    updates
}
