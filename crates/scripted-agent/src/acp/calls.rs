//! Requests from the agent to its client, and their answers. Ids start at 0, as with real agents.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::wire::Wire;

pub(super) struct Calls {
    wire: Arc<Wire>,
    open: Mutex<OpenCalls>,
}

#[derive(Default)]
struct OpenCalls {
    next: u64,
    waiting: HashMap<u64, Sender<Value>>,
}

pub(super) struct Call {
    pub(super) id: u64,
    pub(super) answer: Receiver<Value>,
}

impl Calls {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, open: Mutex::default() }
    }

    /// Sends a request. The whole response arrives on the receiver.
    pub(super) fn send(&self, method: &str, params: &Value) -> Call {
        let (sender, answer) = mpsc::channel();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let id = open.next;
        open.next += 1;
        open.waiting.insert(id, sender);
        drop(open);
        self.wire.message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        Call { id, answer }
    }

    /// Sends a request and waits for its result or its error message.
    pub(super) fn ask(&self, method: &str, params: &Value) -> Result<Value, String> {
        let answer = self.send(method, params).answer.recv().unwrap_or_default();
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap_or("refused").into()),
            None => Ok(answer["result"].clone()),
        }
    }

    pub(super) fn withdraw(&self, call: &Call) {
        let params = json!({ "requestId": call.id });
        self.wire
            .message(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}));
    }

    /// Delivers a response. One that nothing waits for is ignored.
    pub(super) fn answered(&self, id: &Value, message: &Value) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = id.as_u64().and_then(|id| open.waiting.remove(&id)) {
            let _no_longer_waiting = sender.send(message.clone());
        }
    }
}
