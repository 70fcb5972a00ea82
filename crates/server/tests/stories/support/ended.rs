//! A program that ended, and its output.

use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

use super::in_time;

/// Its exit status and output.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end.
pub async fn run(command: &mut Command) -> Ended {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = in_time(child.wait_with_output()).await.expect("the command did not end").unwrap();
    Ended {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ended {
    /// It must have failed with one clear line, and no backtrace.
    pub fn failed_with(&self, words: &str) {
        assert!(!self.status.success(), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("liminal: ") && self.stderr.contains(words), "{self:?}");
    }
}
