//! Reads `agents.json`. Checks field by field: a bad entry affects only itself and is reported by name, and no `env`
//! value can slip into a message.

use std::collections::HashSet;
use std::ffi::OsString;
use std::mem;
use std::time::Duration;

use liminal_contract::CliType;
use serde_json::{Map, Value};

use super::{
    AGENTS_JSON, AcpOptions, AgentEntry, Catalogue, McpServers, Processes, Speaks, check_program,
};

/// Adds the file's agents to the catalogue, changes those with a known id, and reports mistakes.
pub(super) fn apply(bytes: &[u8], catalogue: &mut Catalogue) {
    let file: Value = match serde_json::from_slice(bytes) {
        Ok(file) => file,
        Err(cause) => return catalogue.report(AGENTS_JSON, format!("is not JSON: {cause}")),
    };
    let Some(agents) = file.get("agents").and_then(Value::as_array) else {
        return catalogue.report(AGENTS_JSON, r#"must be {"agents": [ … ]}"#);
    };
    let mut seen = HashSet::new();
    for (at, agent) in agents.iter().enumerate() {
        let subject = match agent.get("id").and_then(Value::as_str) {
            Some(id) => format!("{AGENTS_JSON}, agent {id:?}"),
            None => format!("{AGENTS_JSON}, agent {}", at + 1),
        };
        let Some(fields) = agent.as_object() else {
            catalogue.report(subject, "must be an object");
            continue;
        };
        match Change::read(fields) {
            Ok((id, change)) => {
                let applied = if seen.insert(id.clone()) {
                    change.apply(id, catalogue)
                } else {
                    Err("appears twice; only the first entry is used")
                };
                if let Err(what) = applied {
                    catalogue.report(subject, what);
                }
            }
            Err(what) => catalogue.report(subject, what),
        }
        report_unknown(fields, at, catalogue);
    }
}

/// A misspelled field must not be ignored silently.
fn report_unknown(fields: &Map<String, Value>, at: usize, catalogue: &mut Catalogue) {
    const KNOWN: [&str; 13] = [
        "id",
        "name",
        "command",
        "args",
        "env",
        "fs",
        "terminal",
        "askMode",
        "processes",
        "mcpServers",
        "startTimeoutMs",
        "install",
        "login",
    ];
    for name in fields.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
        catalogue.report(
            format!("{AGENTS_JSON}, agent {} {id:?}", at + 1),
            format!("has an unknown field {name:?}, which is ignored"),
        );
    }
}

/// One entry of the file. `None` keeps the current value.
struct Change {
    name: Option<String>,
    command: Option<String>,
    args: Option<Vec<OsString>>,
    env: Option<Vec<(OsString, OsString)>>,
    fs: Option<bool>,
    terminal: Option<bool>,
    ask_mode: Option<String>,
    processes: Option<Processes>,
    mcp: Option<McpServers>,
    start_timeout: Option<Duration>,
    install: Option<String>,
    login: Option<String>,
}

impl Change {
    fn read(fields: &Map<String, Value>) -> Result<(CliType, Self), String> {
        let id = text(fields, "id")?.ok_or("\"id\" is missing")?;
        let id = CliType::parse(&id).map_err(|cause| format!("\"id\": {cause}"))?;
        let command = text(fields, "command")?;
        if let Some(command) = &command {
            check_program(command).map_err(|what| format!("\"command\": {what}"))?;
        }
        let name = text(fields, "name")?;
        if name.as_ref().is_some_and(|name| name.trim().is_empty() || name.len() > 100) {
            return Err("\"name\" must have 1 to 100 characters".into());
        }
        let change = Self {
            name,
            command,
            args: args(fields)?,
            env: env(fields)?,
            fs: flag(fields, "fs")?,
            terminal: flag(fields, "terminal")?,
            ask_mode: text(fields, "askMode")?,
            processes: processes(fields)?,
            mcp: mcp(fields)?,
            start_timeout: start_timeout(fields)?,
            install: text(fields, "install")?,
            login: text(fields, "login")?,
        };
        Ok((id, change))
    }

    /// Changes only the given fields; a new agent has the ACP defaults for the rest.
    fn apply(self, id: CliType, catalogue: &mut Catalogue) -> Result<(), &'static str> {
        let known = catalogue.entries.iter().position(|entry| entry.cli_type == id);
        let at = match (known, &self.command) {
            (Some(at), _) => at,
            (None, None) => return Err("\"command\" is missing"),
            (None, Some(_)) => {
                catalogue.entries.push(AgentEntry {
                    name: id.as_str().to_owned(),
                    cli_type: id,
                    speaks: Speaks::Acp(AcpOptions::default()),
                    program: OsString::new(),
                    args: Vec::new(),
                    env: Vec::new(),
                    install: None,
                    login: None,
                    start_timeout: None,
                    version_args: None,
                    builtin: false,
                    always_offered: true,
                });
                catalogue.entries.len() - 1
            }
        };
        let entry = &mut catalogue.entries[at];
        entry.always_offered = true;
        if let Some(command) = self.command {
            entry.program = command.into();
        }
        entry.args = self.args.unwrap_or(mem::take(&mut entry.args));
        entry.env = self.env.unwrap_or(mem::take(&mut entry.env));
        if let Speaks::Acp(options) = &mut entry.speaks {
            options.fs = self.fs.unwrap_or(options.fs);
            options.terminal = self.terminal.unwrap_or(options.terminal);
            options.ask_mode = self.ask_mode.or(options.ask_mode.take());
            options.processes = self.processes.unwrap_or(options.processes);
            options.mcp = self.mcp.unwrap_or(mem::take(&mut options.mcp));
        }
        if let Some(name) = self.name {
            entry.name = name;
        }
        entry.start_timeout = self.start_timeout.or(entry.start_timeout);
        entry.install = self.install.or(entry.install.take());
        entry.login = self.login.or(entry.login.take());
        Ok(())
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{name:?} must be a string")),
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{name:?} must be true or false")),
    }
}

fn processes(fields: &Map<String, Value>) -> Result<Option<Processes>, String> {
    match text(fields, "processes")?.as_deref() {
        None => Ok(None),
        Some("shared") => Ok(Some(Processes::Shared)),
        Some("per-session") => Ok(Some(Processes::PerSession)),
        Some(_) => Err("\"processes\" must be \"shared\" or \"per-session\"".into()),
    }
}

fn mcp(fields: &Map<String, Value>) -> Result<Option<McpServers>, String> {
    match fields.get("mcpServers") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(servers)) => McpServers::read(servers).map(Some),
        Some(_) => Err("\"mcpServers\" must be an object of servers".into()),
    }
}

fn start_timeout(fields: &Map<String, Value>) -> Result<Option<Duration>, String> {
    match fields.get("startTimeoutMs") {
        None | Some(Value::Null) => Ok(None),
        Some(time) => match time.as_u64().filter(|time| *time > 0) {
            Some(time) => Ok(Some(Duration::from_millis(time))),
            None => Err("\"startTimeoutMs\" must be a number of milliseconds".into()),
        },
    }
}

fn args(fields: &Map<String, Value>) -> Result<Option<Vec<OsString>>, String> {
    const WRONG: &str = "\"args\" must be an array of strings";
    let args = match fields.get("args") {
        None | Some(Value::Null) => return Ok(None),
        Some(args) => args.as_array().ok_or(WRONG)?,
    };
    args.iter()
        .map(|arg| match arg.as_str() {
            Some(arg) if !arg.contains('\0') => Ok(OsString::from(arg)),
            Some(_) | None => Err(WRONG.to_owned()),
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

fn env(fields: &Map<String, Value>) -> Result<Option<Vec<(OsString, OsString)>>, String> {
    let env = match fields.get("env") {
        None | Some(Value::Null) => return Ok(None),
        Some(env) => env.as_object().ok_or("\"env\" must be an object of strings")?,
    };
    env.iter()
        .map(|(name, value)| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("\"env\" has an invalid name: {name:?}"));
            }
            match value.as_str() {
                Some(value) if !value.contains('\0') => Ok((name.into(), value.into())),
                Some(_) | None => Err(format!("\"env\": the value of {name:?} must be a string")),
            }
        })
        .collect::<Result<_, _>>()
        .map(Some)
}
