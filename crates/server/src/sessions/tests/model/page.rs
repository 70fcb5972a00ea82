//! The page's own code in Node, driven line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// Any number of pages, all in one process.
pub struct Pages {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Pages {
    pub fn start() -> Self {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../browser-tests/model/page.js");
        let mut child = Command::new("node")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test runs the page's code in Node 20 or newer: install it");
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, stdout: BufReader::new(stdout) }
    }

    /// Sends a command and waits for its result.
    pub fn tell(&mut self, command: Value) -> Value {
        let mut line = String::new();
        let said =
            writeln!(self.stdin, "{command}").and_then(|()| self.stdout.read_line(&mut line));
        assert!(said.is_ok() && !line.is_empty(), "the page failed at {command}; see above");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}
