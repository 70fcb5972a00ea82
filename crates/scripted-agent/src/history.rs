//! The history of a session, for a `session/load` in this process or a later one.
//!
//! Stored as the updates of a replay: chunks of one message joined, a call in its last state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// In bytes. A message or a command's output is cut here: floods are not replayed.
const LONGEST_TEXT: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) turns: u32,
    pub(crate) title: Option<String>,
    /// The updates of a replay.
    pub(crate) updates: Vec<Value>,
}

impl History {
    pub(crate) fn record(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk") => {
                self.record_chunk(update);
            }
            Some("tool_call") => self.updates.push(update.clone()),
            Some("tool_call_update") => self.record_call(update),
            Some("plan") => match self.updates.last_mut() {
                Some(last) if last["sessionUpdate"] == "plan" => *last = update.clone(),
                _ => self.updates.push(update.clone()),
            },
            Some("session_info_update") => {
                if let Some(title) = update["title"].as_str() {
                    self.title = Some(title.into());
                }
            }
            _ => {} // facts of the moment are not history
        }
    }

    fn record_chunk(&mut self, update: &Value) {
        let Some(last) = self.updates.last_mut() else { return self.updates.push(update.clone()) };
        let same = |key: &str| last[key] == update[key];
        if !(same("sessionUpdate") && same("messageId")) {
            return self.updates.push(update.clone());
        }
        let (Value::String(text), Some(more)) =
            (&mut last["content"]["text"], update["content"]["text"].as_str())
        else {
            return self.updates.push(update.clone());
        };
        grow(text, more);
    }

    fn record_call(&mut self, update: &Value) {
        let call = self.updates.iter_mut().rev().find(|past| {
            past["sessionUpdate"] == "tool_call" && past["toolCallId"] == update["toolCallId"]
        });
        let (Some(Value::Object(call)), Value::Object(update)) = (call, update) else { return };
        for (key, value) in update {
            match (key.as_str(), value) {
                ("sessionUpdate" | "toolCallId", _) => {}
                ("_meta", Value::Object(meta)) => merge_meta(call, meta),
                (_, value) => {
                    call.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// Joins output that was sent in pieces.
fn merge_meta(call: &mut Map<String, Value>, meta: &Map<String, Value>) {
    let past = call.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    for (key, value) in meta {
        if let (Value::String(data), Some(more)) = (&mut past[key]["data"], value["data"].as_str())
        {
            grow(data, more);
        } else {
            past[key] = value.clone();
        }
    }
}

fn grow(text: &mut String, more: &str) {
    if text.len() + more.len() <= LONGEST_TEXT {
        text.push_str(more);
    }
}

/// Stores histories on disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct HistoryStore {
    dir: Option<PathBuf>,
}

impl HistoryStore {
    pub(crate) fn nowhere() -> Self {
        Self::default()
    }

    pub(crate) fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()) }
    }

    pub(crate) fn read(&self, session: &str) -> Option<History> {
        let text = fs::read_to_string(self.path(session)?).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// If this fails, only the replay is lost, not the conversation.
    pub(crate) fn write(&self, session: &str, history: &History) {
        if let Some(path) = self.path(session)
            && let Err(error) = write_whole(&path, history)
        {
            eprintln!("could not write the history {}: {error}", path.display());
        }
    }

    /// Session ids come from the client: only harmless ones become file names.
    fn path(&self, session: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let harmless = !session.is_empty() && session.len() <= 100 && session.chars().all(plain);
        harmless.then_some(())?;
        Some(self.dir.as_ref()?.join(format!("{session}.json")))
    }
}

fn write_whole(path: &Path, history: &History) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    // A turn and the late steps of the previous one may both write at this moment.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let temp = path.with_extension(format!("{}.tmp", WRITES.fetch_add(1, Ordering::Relaxed)));
    fs::write(&temp, serde_json::to_vec(history)?)?;
    fs::rename(&temp, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_without_end_is_remembered_up_to_a_size() {
        let piece = "y\n".repeat(LONGEST_TEXT / 8);
        let chunk = json!({
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": piece},
        });
        let output = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c",
            "_meta": {"terminal_output_delta": {"data": piece}},
        });
        let mut history = History::default();
        history.record(&json!({"sessionUpdate": "tool_call", "toolCallId": "c"}));
        for _ in 0..9 {
            history.record(&output);
            history.record(&chunk);
        }
        let told = &history.updates[0]["_meta"]["terminal_output_delta"]["data"];
        let said = &history.updates[1]["content"]["text"];
        for text in [told, said] {
            assert_eq!(text.as_str().map(str::len), Some(LONGEST_TEXT));
        }
    }
}
