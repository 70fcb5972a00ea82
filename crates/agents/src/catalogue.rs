//! Which agents there are and how each is started: those we know, changed and added to by `agents.json` in the data
//! directory and by the environment. Starts nothing but a version probe.

mod agents_json;
mod probe;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use liminal_contract::{CliType, Readiness};

use crate::ProviderError;
use crate::process::Launch;

use probe::find_program;

/// The file in the data directory.
pub const AGENTS_JSON: &str = "agents.json";

/// How an agent is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaks {
    /// Claude Code's own stream-json.
    Claude,
    /// The Agent Client Protocol.
    Acp(AcpOptions),
}

/// What differs among ACP agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpOptions {
    /// Whether we offer to read and write the project's files for it.
    pub fs: bool,
    /// Whether we offer to run commands for it.
    pub terminal: bool,
    /// The mode in which it asks before it acts, where its default mode does not.
    pub ask_mode: Option<String>,
}

impl Default for AcpOptions {
    fn default() -> Self {
        Self { fs: true, terminal: true, ask_mode: None }
    }
}

/// One agent we can drive.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentEntry {
    /// Its id.
    pub cli_type: CliType,
    /// What the user calls it.
    pub name: String,
    /// How it is spoken to.
    pub speaks: Speaks,
    /// A name looked up in `PATH`, or an absolute path.
    pub program: OsString,
    /// What makes the program an agent.
    pub args: Vec<OsString>,
    /// Added to our environment. The values may be secret: never shown, never logged.
    pub env: Vec<(OsString, OsString)>,
    /// What to type to install it.
    pub install: Option<String>,
    /// What to type to log in.
    pub login: Option<String>,
    /// What makes the program tell its version, where it can.
    pub version_args: Option<Vec<OsString>>,
    /// Whether we know it by ourselves.
    pub builtin: bool,
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
    /// How to start it there.
    pub fn launch(&self, cwd: impl Into<PathBuf>) -> Launch {
        let mut launch = Launch::new(&self.name, &self.program, cwd).args(&self.args);
        launch.env.clone_from(&self.env);
        launch.install.clone_from(&self.install);
        launch
    }

    /// Where its program is.
    pub fn find(&self) -> Option<PathBuf> {
        let own =
            self.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        find_program(&self.program, own.or_else(|| std::env::var_os("PATH")).as_deref())
    }

    /// Whether its program is there.
    pub fn readiness(&self) -> Readiness {
        if self.find().is_some() { Readiness::Ready } else { Readiness::Missing }
    }
}

/// What the environment of the server says about agents.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `CLAUDE_CMD`: a command line instead of `claude`.
    pub claude_cmd: Option<String>,
    /// `CODEX_ACP_CMD`: a command line instead of `codex-acp`.
    pub codex_acp_cmd: Option<String>,
}

/// Something in the configuration of agents is wrong. The rest of it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which entry or variable.
    pub subject: String,
    /// What is wrong with it and what it should be.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.what)
    }
}

/// All agents, in the order in which they are offered.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<AgentEntry>,
    problems: Vec<Problem>,
}

impl Catalogue {
    /// The agents we know, as `agents.json` in `data_dir` (if it is there) and the environment change them.
    /// `own_executable` is the program whose `demo-agent` is the demo.
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

    /// The same from the bytes of `agents.json`.
    pub fn new(agents_json: Option<&[u8]>, overrides: &Overrides, own_executable: &Path) -> Self {
        let mut catalogue = Self { entries: known(own_executable), problems: Vec::new() };
        if let Some(bytes) = agents_json {
            agents_json::apply(bytes, &mut catalogue);
        }
        catalogue.override_command("claude-code", "CLAUDE_CMD", overrides.claude_cmd.as_deref());
        catalogue.override_command("codex", "CODEX_ACP_CMD", overrides.codex_acp_cmd.as_deref());
        catalogue
    }

    /// The agents.
    pub fn entries(&self) -> &[AgentEntry] {
        &self.entries
    }

    /// What was wrong with the configuration; to be told to the user.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One agent.
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
                return self.report(variable, "has a quote that is not closed; it is ignored");
            }
        };
        // An empty variable is as good as none.
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

/// A relative path would mean another program in each project.
fn check_program(program: &str) -> Result<(), String> {
    if program.is_empty() {
        Err("the command is empty".into())
    } else if program.contains('\0') {
        Err("the command holds a NUL".into())
    } else if program.contains('/') && !program.starts_with('/') {
        Err(format!("{program:?} must be a name to look up in PATH or an absolute path"))
    } else {
        Ok(())
    }
}

/// The agents we know by ourselves.
fn known(own_executable: &Path) -> Vec<AgentEntry> {
    let acp = |ask_mode: Option<&str>| {
        Speaks::Acp(AcpOptions { ask_mode: ask_mode.map(str::to_owned), ..AcpOptions::default() })
    };
    [
        Known {
            id: "claude-code",
            name: "Claude Code",
            speaks: Speaks::Claude,
            program: OsStr::new("claude"),
            args: &[],
            install: Some("npm install -g @anthropic-ai/claude-code"),
            login: Some("claude auth login"),
            version: true,
        },
        Known {
            id: "codex",
            name: "Codex",
            // Its default mode, `agent`, decides by itself.
            speaks: acp(Some("workspace-write")),
            program: OsStr::new("codex-acp"),
            args: &[],
            install: Some("npm install -g @agentclientprotocol/codex-acp"),
            login: Some("npx @openai/codex login"),
            version: true,
        },
        Known {
            id: "gemini",
            name: "Gemini",
            speaks: acp(None),
            program: OsStr::new("gemini"),
            args: &["--acp"],
            install: Some("npm install -g @google/gemini-cli"),
            login: Some("gemini"),
            version: true,
        },
        Known {
            id: "opencode",
            name: "OpenCode",
            speaks: acp(None),
            program: OsStr::new("opencode"),
            args: &["acp"],
            install: Some("npm install -g opencode-ai"),
            login: Some("opencode auth login"),
            version: true,
        },
        Known {
            id: "demo",
            name: "Demo (built in)",
            speaks: acp(None),
            program: own_executable.as_os_str(),
            args: &["demo-agent"],
            install: None,
            login: None,
            version: false,
        },
    ]
    .into_iter()
    .filter_map(Known::entry)
    .collect()
}

struct Known<'a> {
    id: &'a str,
    name: &'a str,
    speaks: Speaks,
    program: &'a OsStr,
    args: &'a [&'a str],
    install: Option<&'a str>,
    login: Option<&'a str>,
    version: bool,
}

impl Known<'_> {
    /// `None` only for an id that is none; a test sees that there is no such one.
    fn entry(self) -> Option<AgentEntry> {
        Some(AgentEntry {
            cli_type: CliType::parse(self.id).ok()?,
            name: self.name.to_owned(),
            speaks: self.speaks,
            program: self.program.to_owned(),
            args: self.args.iter().map(OsString::from).collect(),
            env: Vec::new(),
            install: self.install.map(str::to_owned),
            login: self.login.map(str::to_owned),
            version_args: self.version.then(|| vec!["--version".into()]),
            builtin: true,
        })
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
