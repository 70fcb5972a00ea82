//! How `claude` is started: its arguments, its environment, and its first answer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use liminal_stream::SessionFact;
use serde::Deserialize;
use serde_json::Value;

use super::normalise::LOGIN;
use super::options::Model;
use super::wire::Command;
use crate::catalogue::AgentEntry;
use crate::process::{Exit, Launch};
use crate::{Fork, ProviderError};

/// Set by Claude Code and its hosts in the processes they start. Any other `CLAUDE_CODE_*` is the user's setting.
const MARKS: [&str; 9] = [
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_CONTAINER_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_ENVIRONMENT_KIND",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST",
    "CLAUDE_CODE_SSE_PORT",
];
const MARK_PREFIXES: [&str; 6] = [
    "CLAUDE_CODE_BRIDGE_",
    "CLAUDE_CODE_HOST_",
    "CLAUDE_CODE_MESSAGING_",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_SDK_",
    "CLAUDE_CODE_SESSION_",
];

/// Which settings Claude Code loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settings {
    /// From the user, the project and this machine.
    All,
    /// Only from the user.
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// To be created under this id.
    New(&'a str),
    Resumed(&'a str),
    /// To be created under this id, with what another one has up to a point.
    Forked {
        id: &'a str,
        from: &'a Fork,
    },
}

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
        Conversation::New(id) => vec![format!("--session-id={id}")],
        Conversation::Resumed(id) => vec![format!("--resume={id}")],
        Conversation::Forked { id, from } => {
            let resumed = [format!("--resume={}", from.agent_ref), "--fork-session".to_owned()];
            let at = from.at.iter().map(|at| format!("--resume-session-at={at}"));
            resumed.into_iter().chain([format!("--session-id={id}")]).chain(at).collect()
        }
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
    ]);
    launch = launch.args(&which);
    launch.env_remove = std::env::vars_os()
        .map(|(name, _value)| name)
        .filter(|name| belongs_to_a_surrounding_session(name))
        .collect();
    launch.env.insert(0, ("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT".into(), "1".into()));
    launch
}

/// Whether to drop this variable: a `claude` that thinks it runs inside another behaves differently.
fn belongs_to_a_surrounding_session(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // A descriptor of that process is not open in ours.
    let descriptor = name.starts_with("CLAUDE_CODE_") && name.ends_with("_FILE_DESCRIPTOR");
    MARKS.contains(&name)
        || MARK_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || descriptor
}

/// Claude Code's data directory, from the agent's own environment, else from ours.
pub fn config_dir(entry: &AgentEntry) -> PathBuf {
    entry.directory("CLAUDE_CONFIG_DIR", ".claude")
}

/// The answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Initialized {
    /// Slash commands.
    pub commands: Vec<Command>,
    pub models: Vec<Model>,
    pub current_permission_mode: String,
    claude_code_version: Option<String>,
    account: Value,
    /// Its version and account.
    #[serde(skip)]
    pub about: Vec<SessionFact>,
}

impl Initialized {
    /// An unknown shape means no commands, and not known to be logged out.
    pub fn read(response: &Value) -> Self {
        let mut said = Self::deserialize(response).unwrap_or_default();
        let version = said.claude_code_version.take().map(SessionFact::Version);
        let account = said.account_label().map(SessionFact::Account);
        said.about.extend(version.into_iter().chain(account));
        said
    }

    /// Whose account it uses, or how it is logged in.
    fn account_label(&self) -> Option<String> {
        let text = |key: &str| {
            self.account[key].as_str().filter(|text| !text.is_empty() && *text != "none")
        };
        match (text("email"), text("apiKeySource"), text("tokenSource")) {
            (Some(email), _, _) => match text("subscriptionType") {
                Some(plan) => Some(format!("{email} ({plan})")),
                None => Some(email.to_owned()),
            },
            (None, Some(source), _) => Some(format!("API key ({source})")),
            (None, None, source) => source.map(|source| format!("Token ({source})")),
        }
    }

    /// Whether Claude Code reports that nobody is logged in.
    pub fn is_logged_out(&self) -> bool {
        self.account["tokenSource"] == "none"
            && self.account["apiProvider"] == "firstParty"
            && self.account["apiKeySource"].as_str().is_none_or(|source| source == "none")
            && self.account["email"].is_null()
    }
}

pub fn logged_out(name: &str) -> ProviderError {
    ProviderError::AuthRequired {
        name: name.to_owned(),
        words: String::new(),
        command: Some(LOGIN.to_owned()),
        methods: Vec::new(),
    }
}

/// Why the process ended before it was ready. `errors` are from its last line, if it wrote one.
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
