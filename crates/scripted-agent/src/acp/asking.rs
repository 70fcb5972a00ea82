//! Requests of a turn to its client: permissions, files, terminals.

use std::fs;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::{Value, json};

use super::turn::AcpTurn;
use crate::face::{Answer, CommandExit, Face};
use crate::script::Choice;

/// How often a waiting agent checks whether to withdraw its request or to stop.
const CHECK: Duration = Duration::from_millis(5);

impl AcpTurn<'_> {
    /// Asks for permission and waits for the answer.
    pub(super) fn request_permission(
        &mut self,
        call: &Value,
        options: &[Choice],
        withdraw: &dyn Fn() -> bool,
    ) -> Answer {
        // The demo's mode that acts without asking.
        if self.session.option("mode") == Some(json!("auto")) {
            let allow = options.iter().find(|option| option.kind.as_deref() == Some("allow_once"));
            if let Some(allow) = allow {
                return Answer::Chosen(allow.id.clone());
            }
        }
        let options: Vec<Value> = options
            .iter()
            .map(|option| {
                let kind = option.kind.as_deref().unwrap_or("allow_once");
                json!({"optionId": option.id, "name": option.name, "kind": kind})
            })
            .collect();
        let call = self.agent.calls.send(
            "session/request_permission",
            &json!({"sessionId": self.session.id, "toolCall": call, "options": options}),
        );
        let answer = loop {
            match call.answer.recv_timeout(CHECK) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Disconnected) => return Answer::Nothing,
                Err(RecvTimeoutError::Timeout) if withdraw() => {
                    self.agent.calls.withdraw(&call);
                    return Answer::Nothing;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let outcome = &answer["result"]["outcome"];
        match outcome["optionId"].as_str() {
            Some(option) => Answer::Chosen(option.into()),
            None if outcome["outcome"] == "cancelled" && self.cancel.is_set() => Answer::Cancelled,
            None => Answer::Nothing,
        }
    }

    /// Reads a file, through the client if it offers that.
    pub(super) fn read_through_client(&self, path: &str) -> io::Result<String> {
        if !self.agent.client().read {
            return fs::read_to_string(self.session.cwd.join(path));
        }
        let answer = self.agent.calls.ask("fs/read_text_file", &self.fs_params(path));
        let answer = answer.map_err(io::Error::other)?;
        Ok(answer["content"].as_str().unwrap_or_default().into())
    }

    /// Writes a file, through the client if it offers that.
    pub(super) fn write_through_client(&self, path: &str, content: &str) -> io::Result<()> {
        if !self.agent.client().write {
            return fs::write(self.session.cwd.join(path), content);
        }
        let mut params = self.fs_params(path);
        params["content"] = json!(content);
        self.agent.calls.ask("fs/write_text_file", &params).map_err(io::Error::other)?;
        Ok(())
    }

    /// Runs a command in one of the client's terminals. `None` if it offers none.
    pub(super) fn run_in_terminal(&mut self, id: &str, command: &str) -> Option<CommandExit> {
        if !self.agent.client().terminal {
            return None;
        }
        let session = &self.session.id;
        let created = self.agent.calls.ask(
            "terminal/create",
            &json!({
                "sessionId": session,
                "command": "sh",
                "args": ["-c", command],
                "cwd": self.session.cwd,
                "outputByteLimit": 1_048_576,
            }),
        );
        let terminal = match created {
            Ok(created) => created["terminalId"].as_str().unwrap_or_default().to_string(),
            Err(words) => {
                self.tool_output(id, &words);
                return Some(CommandExit { exit_code: None });
            }
        };
        let call = self.calls.entry(id.into()).or_default();
        call.terminal = Some(terminal.clone());
        let content = Self::content(call);
        self.call_update(id, json!({"content": content}));
        let place = json!({"sessionId": session, "terminalId": terminal});
        let exit = self.agent.calls.send("terminal/wait_for_exit", &place);
        let exit = loop {
            match exit.answer.recv_timeout(CHECK) {
                Ok(answer) => break answer["result"].clone(),
                Err(RecvTimeoutError::Disconnected) => break Value::Null,
                Err(RecvTimeoutError::Timeout) if self.cancel.is_set() => {
                    let _gone = self.agent.calls.ask("terminal/kill", &place);
                    break Value::Null;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let _last_look = self.agent.calls.ask("terminal/output", &place);
        let _gone = self.agent.calls.ask("terminal/release", &place);
        let exit_code = exit["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
        Some(CommandExit { exit_code })
    }

    fn fs_params(&self, path: &str) -> Value {
        json!({"sessionId": self.session.id, "path": self.absolute(path)})
    }
}
