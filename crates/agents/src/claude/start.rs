//! How `claude` is started: its arguments, its environment, and what its first words mean.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::normalise::LOGIN;
use super::wire::Command;
use crate::ProviderError;
use crate::catalogue::AgentEntry;
use crate::process::{Exit, Launch};

/// Names of a surrounding session that say how the model is reached: the user's choice, not the session's.
const KEPT: [&str; 2] = ["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"];
const KEPT_PREFIXES: [&str; 2] = ["CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_"];

/// Which settings Claude Code loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settings {
    /// Those of the user, the project and this machine.
    All,
    /// Those of the user alone.
    User,
}

/// Which conversation the process takes up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one, under this id.
    New(&'a str),
    /// The one of this id.
    Resumed(&'a str),
}

/// The process to start.
pub fn launch(
    entry: &AgentEntry,
    project: &Path,
    settings: Settings,
    conversation: &Conversation<'_>,
) -> Launch {
    let sources = match settings {
        Settings::All => "--setting-sources=user,project,local",
        Settings::User => "--setting-sources=user",
    };
    let which = match conversation {
        Conversation::New(id) => format!("--session-id={id}"),
        Conversation::Resumed(id) => format!("--resume={id}"),
    };
    let mut launch = entry.launch(project).args([
        "--output-format",
        "stream-json",
        "--verbose",
        "--input-format",
        "stream-json",
        "--include-partial-messages",
        "--permission-prompt-tool=stdio",
        "--permission-mode=default",
        sources,
        which.as_str(),
    ]);
    launch.env_remove = std::env::vars_os()
        .map(|(name, _value)| name)
        .filter(|name| belongs_to_a_surrounding_session(name))
        .collect();
    launch.env.insert(0, ("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT".into(), "1".into()));
    launch
}

/// Whether a name must not be passed on: a `claude` that believes to run inside another behaves differently.
fn belongs_to_a_surrounding_session(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let kept = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    name == "CLAUDECODE" || (name.starts_with("CLAUDE_CODE_") && !kept)
}

/// Where Claude Code keeps what it remembers: as the agent's own environment says, else as ours does.
pub fn config_dir(entry: &AgentEntry) -> PathBuf {
    let value = |name: &str| -> Option<OsString> {
        let own = entry.env.iter().rev().find(|(known, _)| known == name);
        own.map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os(name))
            .filter(|value| !value.is_empty())
    };
    match value("CLAUDE_CONFIG_DIR") {
        Some(directory) => directory.into(),
        None => PathBuf::from(value("HOME").unwrap_or_else(|| "/".into())).join(".claude"),
    }
}

/// What the answer to `initialize` says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Initialized {
    /// Slash commands.
    pub commands: Vec<Command>,
    account: Value,
}

impl Initialized {
    /// Reads the answer. One of another shape says nothing: no commands, and nobody known to be logged out.
    pub fn read(response: &Value) -> Self {
        Self::deserialize(response).unwrap_or_default()
    }

    /// Whether nobody is logged in, as far as Claude Code says so.
    pub fn is_logged_out(&self) -> bool {
        self.account["tokenSource"] == "none"
            && self.account["apiProvider"] == "firstParty"
            && self.account["apiKeySource"].as_str().is_none_or(|source| source == "none")
            && self.account["email"].is_null()
    }
}

/// Nobody is logged in.
pub fn logged_out(name: &str) -> ProviderError {
    ProviderError::AuthRequired {
        name: name.to_owned(),
        command: Some(LOGIN.to_owned()),
        methods: Vec::new(),
    }
}

/// What it means that the process ended before it was ready. `errors` are from its last line, if it wrote one.
pub fn ended_at_start(name: &str, exit: Exit, errors: &str, stderr_tail: String) -> ProviderError {
    let said = format!("{errors}\n{stderr_tail}");
    let lower = said.to_lowercase();
    if lower.contains("/login") || lower.contains("not logged in") || lower.contains("auth login") {
        return logged_out(name);
    }
    let words = said.lines().map(str::trim).find(|line| !line.is_empty());
    if let Some(words) = words.filter(|words| words.contains("No conversation found")) {
        return ProviderError::SessionUnknown { words: words.to_owned() };
    }
    let words = match words {
        Some(words) => format!("{name} {exit}: {words}"),
        None => format!("{name} {exit} before it was ready."),
    };
    ProviderError::SessionRefused { words, stderr_tail }
}

#[cfg(test)]
mod tests;
