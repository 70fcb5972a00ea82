//! The command line of `claude`, as far as it matters here.

use std::path::Path;

use serde_json::json;

use super::ledger::Ledger;
use super::session_file::SessionFile;
use super::{Unable, merged};
use crate::mint;

/// Flags without a value. All others have one, in the next argument or after `=`.
const BARE: [&str; 3] = ["--verbose", "--include-partial-messages", "--fork-session"];

#[derive(Debug, Default)]
pub(crate) struct ClaudeArguments {
    pub(super) partial: bool,
    pub(super) mode: Option<String>,
    session_id: Option<String>,
    resume: Option<String>,
    fork: bool,
    resume_at: Option<String>,
}

impl ClaudeArguments {
    /// Ignores unknown arguments, which a newer driver may use.
    pub(crate) fn read(args: &[String]) -> Self {
        let mut read = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, mut value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (arg.as_str(), None),
            };
            if value.is_none() && !BARE.contains(&name) {
                value = args.next().cloned();
            }
            match name {
                "--include-partial-messages" => read.partial = true,
                "--permission-mode" => read.mode = value,
                "--session-id" => read.session_id = value,
                "--resume" => read.resume = value,
                "--fork-session" => read.fork = true,
                "--resume-session-at" => read.resume_at = value,
                _ => {}
            }
        }
        read
    }

    /// The session that these arguments name, and its file.
    pub(super) fn session(&self, cwd: &Path) -> Result<(String, SessionFile), Unable> {
        let Some(old) = &self.resume else {
            let id = self.session_id.clone().unwrap_or_else(mint::uuid);
            let file = SessionFile::of(cwd, &id);
            if file.exists() {
                let words = format!("Error: Session ID {id} is already in use.");
                return Err(Unable { message: None, words });
            }
            return Ok((id, file));
        };
        let file = SessionFile::of(cwd, old);
        if !file.exists() {
            return Err(unable(old, format!("No conversation found with session ID: {old}")));
        }
        if !self.fork {
            return Ok((old.clone(), file));
        }
        let id = self.session_id.clone().unwrap_or_else(mint::uuid);
        match file.forked(cwd, &id, self.resume_at.as_deref()) {
            Some(forked) => Ok((id, forked)),
            None => {
                let at = self.resume_at.as_deref().unwrap_or_default();
                Err(unable(old, format!("No message found with message.uuid of: {at}")))
            }
        }
    }
}

/// What it says before it ends.
fn unable(session: &str, words: String) -> Unable {
    let message = merged(
        json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true,
            "num_turns": 0, "stop_reason": null, "session_id": session, "uuid": mint::uuid(),
            "errors": [words],
        }),
        &Ledger::resumed(0.0).nothing_used(),
    );
    Unable { message: Some(message), words }
}
