//! The agents and how each is started: the built-in ones, plus additions and changes from `agents.json` in the data
//! directory and from the environment. Starts nothing but a version probe.

mod agents_json;
mod known;
mod mcp_servers;
mod probe;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_contract::{CliType, Readiness};

use crate::ProviderError;
use crate::process::Launch;

pub use mcp_servers::McpServers;
use probe::find_program;

/// In the data directory.
pub const AGENTS_JSON: &str = "agents.json";

/// The protocol of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaks {
    /// Claude Code's own stream-json.
    Claude,
    /// The Agent Client Protocol.
    Acp(AcpOptions),
}

/// Differences between ACP agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpOptions {
    /// Whether it may read and write the project's files through us.
    pub fs: bool,
    /// Whether it may run commands through us.
    pub terminal: bool,
    /// The mode in which it asks before acting, if its default mode does not.
    pub ask_mode: Option<String>,
    pub processes: Processes,
    pub mcp: McpServers,
}

impl Default for AcpOptions {
    fn default() -> Self {
        let (processes, mcp) = (Processes::Shared, McpServers::default());
        Self { fs: true, terminal: true, ask_mode: None, processes, mcp }
    }
}

/// How many processes an ACP agent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// One for all sessions.
    Shared,
    /// One for each session: a crash interrupts only that one.
    PerSession,
}

#[derive(Clone, PartialEq, Eq)]
pub struct AgentEntry {
    pub cli_type: CliType,
    /// As shown to the user.
    pub name: String,
    pub speaks: Speaks,
    /// A name looked up in `PATH`, or an absolute path.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Added to our environment. The values may be secret: never shown, never logged.
    pub env: Vec<(OsString, OsString)>,
    /// Shell command that installs it.
    pub install: Option<String>,
    /// Shell command that logs in.
    pub login: Option<String>,
    /// When to give up on a start, if not after the usual time.
    pub start_timeout: Option<Duration>,
    /// Arguments that print its version, if it has any.
    pub version_args: Option<Vec<OsString>>,
    /// Known without `agents.json`.
    pub builtin: bool,
    /// Offered even if its program is missing.
    pub always_offered: bool,
}

impl AgentEntry {
    /// A directory of the agent's own: what a variable says, else a folder of the user's home. The agent's environment
    /// is asked before ours.
    pub fn directory(&self, variable: &str, folder: &str) -> PathBuf {
        let value = |name: &str| {
            let own = self.env.iter().rev().find(|(known, _)| known == name);
            let value = own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name));
            value.filter(|value| !value.is_empty())
        };
        match value(variable) {
            Some(directory) => directory.into(),
            None => PathBuf::from(value("HOME").unwrap_or_else(|| "/".into())).join(folder),
        }
    }
}

impl fmt::Debug for AgentEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _secret)| name).collect();
        f.debug_struct("AgentEntry")
            .field("cli_type", &self.cli_type)
            .field("name", &self.name)
            .field("speaks", &self.speaks)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .finish_non_exhaustive()
    }
}

impl AgentEntry {
    pub fn launch(&self, cwd: impl Into<PathBuf>) -> Launch {
        let mut launch = Launch::new(&self.name, &self.program, cwd).args(&self.args);
        launch.env.clone_from(&self.env);
        launch.install.clone_from(&self.install);
        launch
    }

    /// The path of its program, from its own `PATH` or ours.
    pub fn find(&self) -> Option<PathBuf> {
        let own =
            self.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        find_program(&self.program, own.or_else(|| std::env::var_os("PATH")).as_deref())
    }

    /// Whether it is listed right away, not only under more agents.
    pub fn is_offered(&self) -> bool {
        self.always_offered || self.find().is_some()
    }

    /// The mode in which it is known to ask, if it has others.
    pub fn ask_mode(&self) -> Option<&str> {
        match &self.speaks {
            Speaks::Claude => None,
            Speaks::Acp(options) => options.ask_mode.as_deref(),
        }
    }

    pub fn readiness(&self) -> Readiness {
        if self.find().is_some() { Readiness::Ready } else { Readiness::Missing }
    }
}

/// Changes from the server's environment.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `CLAUDE_CMD`: a command line that replaces `claude`.
    pub claude_cmd: Option<String>,
    /// `CODEX_ACP_CMD`: a command line that replaces `codex-acp`.
    pub codex_acp_cmd: Option<String>,
}

/// A mistake in the agent configuration. The rest of it still applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The entry or variable.
    pub subject: String,
    /// What is wrong, and what it should be.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.what)
    }
}

/// All agents, in display order.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<AgentEntry>,
    problems: Vec<Problem>,
}

impl Catalogue {
    /// The built-in agents with the changes from `agents.json` in `data_dir` (if it exists) and from the environment.
    /// `own_executable` with the argument `demo-agent` is the demo.
    pub fn read(data_dir: &Path, overrides: &Overrides, own_executable: &Path) -> Self {
        let path = data_dir.join(AGENTS_JSON);
        match std::fs::read(&path) {
            Ok(bytes) => Self::new(Some(&bytes), overrides, own_executable),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                Self::new(None, overrides, own_executable)
            }
            Err(cause) => {
                let mut catalogue = Self::new(None, overrides, own_executable);
                catalogue.report(AGENTS_JSON, format!("{} can't be read: {cause}", path.display()));
                catalogue
            }
        }
    }

    /// As `read`, from the bytes of `agents.json`.
    pub fn new(agents_json: Option<&[u8]>, overrides: &Overrides, own_executable: &Path) -> Self {
        let mut catalogue = Self { entries: known::entries(own_executable), problems: Vec::new() };
        if let Some(bytes) = agents_json {
            agents_json::apply(bytes, &mut catalogue);
        }
        catalogue.override_command("claude-code", "CLAUDE_CMD", overrides.claude_cmd.as_deref());
        catalogue.override_command("codex", "CODEX_ACP_CMD", overrides.codex_acp_cmd.as_deref());
        catalogue
    }

    pub fn entries(&self) -> &[AgentEntry] {
        &self.entries
    }

    /// Mistakes in the configuration, to show to the user.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub fn get(&self, cli_type: &CliType) -> Result<&AgentEntry, ProviderError> {
        self.entries
            .iter()
            .find(|entry| entry.cli_type == *cli_type)
            .ok_or_else(|| ProviderError::Unsupported { cli_type: cli_type.as_str().to_owned() })
    }

    fn report(&mut self, subject: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { subject: subject.into(), what: what.into() });
    }

    fn entry_mut(&mut self, id: &str) -> Option<&mut AgentEntry> {
        self.entries.iter_mut().find(|entry| entry.cli_type.as_str() == id)
    }

    fn override_command(&mut self, id: &str, variable: &str, line: Option<&str>) {
        let Some(line) = line else { return };
        let mut words = match shell_words::split(line) {
            Ok(words) => words.into_iter(),
            Err(_unbalanced) => {
                return self.report(variable, "has an unclosed quote; it is ignored");
            }
        };
        // An empty variable counts as unset.
        let Some(program) = words.next() else { return };
        if let Err(what) = check_program(&program) {
            return self.report(variable, format!("{what}; it is ignored"));
        }
        if let Some(entry) = self.entry_mut(id) {
            entry.program = program.into();
            entry.args = words.map(OsString::from).collect();
        }
    }
}

/// Rejects relative paths: they would mean a different program in each project.
fn check_program(program: &str) -> Result<(), String> {
    if program.is_empty() {
        Err("the command is empty".into())
    } else if program.contains('\0') {
        Err("the command contains a NUL byte".into())
    } else if program.contains('/') && !program.starts_with('/') {
        Err(format!("{program:?} must be a name to look up in PATH or an absolute path"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
