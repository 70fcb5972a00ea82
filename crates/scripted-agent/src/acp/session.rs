//! One session of the ACP face: where it is, what was said, which turn runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::history::History;
use crate::wire::Wire;

pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    state: Mutex<State>,
    performing: Mutex<()>,
}

#[derive(Default)]
struct State {
    history: History,
    mode: Option<String>,
    /// Prompts that are not answered yet.
    turns: Vec<Running>,
}

struct Running {
    request: Value,
    cancel: Arc<Cancel>,
    /// The client took the request itself back.
    withdrawn: bool,
}

impl Session {
    pub(super) fn new(id: String, cwd: PathBuf, history: History) -> Self {
        let state = Mutex::new(State { history, ..State::default() });
        Self { id, cwd, state, performing: Mutex::default() }
    }

    /// The same session, to be loaded again.
    pub(super) fn closed(&self) -> Arc<Self> {
        Arc::new(Self::new(self.id.clone(), self.cwd.clone(), self.history()))
    }

    /// A prompt came. Whether it is stopped is told by what this gives.
    pub(super) fn expect_turn(&self, request: &Value) -> Arc<Cancel> {
        let cancel = Arc::new(Cancel::default());
        let running =
            Running { request: request.clone(), cancel: Arc::clone(&cancel), withdrawn: false };
        self.lock().turns.push(running);
        cancel
    }

    /// Held while a turn is performed: others wait for it.
    pub(super) fn performing(&self) -> MutexGuard<'_, ()> {
        self.performing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn begins. Its number.
    pub(super) fn begin_turn(&self, text: &str) -> u32 {
        let mut state = self.lock();
        state.history.turns += 1;
        let turn = state.history.turns;
        state.history.record(&json!({
            "sessionUpdate": "user_message_chunk",
            "messageId": format!("user-{turn}"),
            "content": {"type": "text", "text": text},
        }));
        turn
    }

    /// A turn ended. Whether the client took its request back.
    pub(super) fn end_turn(&self, request: &Value) -> bool {
        let mut state = self.lock();
        let at = state.turns.iter().position(|running| running.request == *request);
        at.is_some_and(|at| state.turns.remove(at).withdrawn)
    }

    /// The user stopped whatever runs.
    pub(super) fn cancel(&self) {
        for running in &self.lock().turns {
            running.cancel.set();
        }
    }

    /// The client took a request back.
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

    pub(super) fn history(&self) -> History {
        self.lock().history.clone()
    }

    /// Takes in what was said.
    pub(super) fn record(&self, update: &Value) {
        self.lock().history.record(update);
    }

    /// Sends an update of this session.
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

/// What a replay sends: as recorded, but a command's output apart from its call, as it was when it was live.
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
