//! Drives the agent's process over its pipes, as a client would. Waits for facts only.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use liminal_scripted_agent::ScriptBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory for one test, removed at its end.
pub(crate) struct Place(
    pub(crate) PathBuf,
    #[expect(dead_code, reason = "it is held: the directory goes with it")] TempDir,
);

impl Place {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Self(place.path().canonicalize().unwrap(), place)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().into()
    }

    pub(crate) fn make(&self, name: &str) {
        std::fs::write(self.0.join(name), "").unwrap();
    }

    /// Waits until the agent has created a file.
    pub(crate) fn sees(&self, name: &str) {
        while !self.0.join(name).exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// The agent's process and its messages so far.
pub(crate) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(crate) said: Vec<Value>,
    next: u64,
}

impl Agent {
    /// Starts the agent with a script in a directory.
    pub(crate) fn start(face: &str, script: ScriptBuilder, place: &Place, args: &[&str]) -> Self {
        let file = place.0.join("script.json");
        std::fs::write(&file, script.build().to_json()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
        command.args(["--face", face]).arg("--script").arg(&file).args(args);
        Self::run(command, place)
    }

    pub(crate) fn run(mut command: Command, place: &Place) -> Self {
        let mut child = command
            .current_dir(&place.0)
            .env("CLAUDE_CONFIG_DIR", place.0.join("claude"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, said: Vec::new(), next: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    pub(crate) fn send_raw(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line, as bytes. `None` at the end.
    pub(crate) fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = self.stdout.read_until(b'\n', &mut line).unwrap();
        (read > 0).then(|| line.strip_suffix(b"\n").map(<[u8]>::to_vec).unwrap_or(line))
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        let Some(line) = self.line() else { panic!("the agent ended after {:#?}", self.said) };
        let message: Value = serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&line)));
        self.said.push(message.clone());
        message
    }

    /// Reads until a message matches.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Closes stdin and reads to the end. Returns the remaining messages, the exit status and stderr.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus, String) {
        drop(self.stdin.take());
        self.wait()
    }

    /// Reads to the end without closing stdin.
    pub(crate) fn wait(mut self) -> (Vec<Value>, ExitStatus, String) {
        let mut rest = Vec::new();
        while let Some(line) = self.line() {
            rest.push(serde_json::from_slice(&line).unwrap());
        }
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (rest, self.child.wait().unwrap(), stderr)
    }

    /// Sends a signal to the agent. When this returns, its main thread has received it or is about to.
    pub(crate) fn signal(&mut self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// ACP: sends a request and reads until its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// ACP: sends a request. Returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// ACP: reads until the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// ACP: reads until a request from the agent.
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method && message.get("id").is_some())
    }

    /// ACP: does the handshake and creates a session. Returns its id.
    pub(crate) fn session(&mut self, cwd: &Path) -> String {
        let offers = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": offers}));
        let made = self.call("session/new", json!({"cwd": cwd, "mcpServers": []}));
        made["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).into()
    }

    /// ACP: sends a prompt. Returns the id of the request.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// ACP: the updates so far, without their envelopes.
    pub(crate) fn updates(&self) -> Vec<Value> {
        self.said
            .iter()
            .filter(|message| message["method"] == "session/update")
            .map(|message| message["params"]["update"].clone())
            .collect()
    }

    /// ACP: the whole answer of the agent, as one text.
    pub(crate) fn text(&self) -> String {
        text_of(&self.updates(), "agent_message_chunk")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

pub(crate) fn text_of(updates: &[Value], kind: &str) -> String {
    updates
        .iter()
        .filter(|update| update["sessionUpdate"] == kind)
        .filter_map(|update| update["content"]["text"].as_str())
        .collect()
}
