//! The session's file, `projects/<directory>/<id>.jsonl`: a chain of lines linked by `uuid` and `parentUuid`.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::{ClaudeAgent, VERSION, merged};
use crate::engine::say_on_stderr;
use crate::mint;

/// The path of the file, and the last line of its chain.
pub(super) struct SessionFile {
    path: PathBuf,
    last: Mutex<Option<String>>,
    /// Lines of the session that it was forked from. They are written with its first own line.
    forked: Mutex<String>,
}

/// The state of a resumed session.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) turns: u32,
    pub(super) cost: f64,
}

impl SessionFile {
    pub(super) fn of(cwd: &Path, session: &str) -> Self {
        let path = home().join("projects").join(folder(cwd)).join(format!("{session}.jsonl"));
        Self { path, last: Mutex::default(), forked: Mutex::default() }
    }

    /// A session of this id with the lines up to and including `at`, or with all of them. `None` if there is no such
    /// line.
    pub(super) fn forked(&self, cwd: &Path, session: &str, at: Option<&str>) -> Option<Self> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let lines = text.split_inclusive('\n');
        let forked: String = match at {
            None => text,
            Some(at) => {
                let is_it = |line: &str| {
                    serde_json::from_str::<Value>(line).is_ok_and(|line| line["uuid"] == at)
                };
                let last = lines.clone().position(is_it)?;
                lines.take(last + 1).collect()
            }
        };
        Some(Self { forked: Mutex::new(forked), ..Self::of(cwd, session) })
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Reads the file, and continues after its last line.
    pub(super) fn past(&self) -> Past {
        let mut past = Past::default();
        let forked = self.forked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = forked + &fs::read_to_string(&self.path).unwrap_or_default();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if line["isSidechain"] == false
                && let Some(uuid) = line["uuid"].as_str()
            {
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(uuid.into());
            }
            if line.get("promptSource").is_some() {
                past.turns += 1;
            }
            if let Some(cost) = line["totalCostUSD"].as_f64() {
                past.cost = cost;
            }
        }
        past
    }

    /// Writes the user's message with the id it came with, and the lines around it that are not conversation.
    pub(super) fn user_message(&self, agent: &ClaudeAgent, sent: &Value, turn: u32) {
        let content = &sent["message"]["content"];
        let uuid = sent["uuid"].as_str().map_or_else(mint::uuid, str::to_owned);
        let session = &agent.session;
        for operation in ["enqueue", "dequeue"] {
            self.write(&json!({
                "type": "queue-operation", "operation": operation, "timestamp": crate::clock::now(),
                "sessionId": session,
            }));
        }
        let message = json!({
            "type": "user", "message": {"role": "user", "content": content},
            "permissionMode": agent.mode(), "promptSource": "sdk",
            "turnPosition": {"promptIndex": 0, "turnIndex": turn},
        });
        self.chained(agent, &uuid, message);
        let date = json!({"type": "date", "date": &crate::clock::now()[..10]});
        self.chained(agent, &mint::uuid(), json!({"type": "attachment", "attachment": date}));
    }

    /// A line of the conversation.
    pub(super) fn chained(&self, agent: &ClaudeAgent, uuid: &str, line: Value) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let chain = json!({"parentUuid": *last, "isSidechain": false});
        *last = Some(uuid.into());
        drop(last);
        self.place(agent, uuid, &merged(chain, &line));
    }

    /// A line of a sub-agent's conversation, which is not part of the chain.
    pub(super) fn aside(&self, agent: &ClaudeAgent, uuid: &str, line: Value) {
        let aside = json!({"parentUuid": null, "isSidechain": true});
        self.place(agent, uuid, &merged(aside, &line));
    }

    pub(super) fn close_turn(&self, agent: &ClaudeAgent, prompt: &str) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.write(&json!({
            "type": "last-prompt", "lastPrompt": prompt, "leafUuid": last,
            "sessionId": agent.session,
        }));
        self.write(&json!({
            "type": "cost-state", "sessionId": agent.session,
            "totalCostUSD": agent.lock().ledger.cost(),
        }));
    }

    fn place(&self, agent: &ClaudeAgent, uuid: &str, line: &Value) {
        let place = json!({
            "uuid": uuid, "timestamp": crate::clock::now(), "userType": "external",
            "entrypoint": "sdk-ts", "cwd": agent.cwd, "sessionId": agent.session,
            "version": VERSION, "gitBranch": "HEAD",
        });
        self.write(&merged(line.clone(), &place));
    }

    fn write(&self, line: &Value) {
        let forked = mem::take(&mut *self.forked.lock().unwrap_or_else(PoisonError::into_inner));
        let append = |file: &mut File| file.write_all(format!("{forked}{line}\n").as_bytes());
        let written = self
            .path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(&self.path))
            .and_then(|mut file| append(&mut file));
        if let Err(error) = written {
            say_on_stderr(&format!("could not write {}: {error}", self.path.display()));
        }
    }
}

fn home() -> PathBuf {
    match std::env::var_os("CLAUDE_CONFIG_DIR") {
        Some(dir) => dir.into(),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".claude"),
    }
}

/// The name for a directory: every character that is not alphanumeric becomes `-`.
fn folder(cwd: &Path) -> String {
    cwd.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
