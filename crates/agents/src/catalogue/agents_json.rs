//! Reads `agents.json`. Checked field by field, so that one bad entry costs only itself and is reported by its name,
//! and so that no value of an `env` can slip into a message.

use std::collections::HashSet;
use std::ffi::OsString;

use liminal_contract::CliType;
use serde_json::{Map, Value};

use super::{AGENTS_JSON, AcpOptions, AgentEntry, Catalogue, Speaks, check_program};

/// Puts the agents of the file into the catalogue, in place of those with the same id, and reports what is wrong.
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
                if seen.insert(id.clone()) {
                    change.apply(id, catalogue);
                } else {
                    catalogue.report(subject, "is there twice; the first one stands");
                }
            }
            Err(what) => catalogue.report(subject, what),
        }
        report_unknown(fields, at, catalogue);
    }
}

/// A misspelled field must not be lost without a word.
fn report_unknown(fields: &Map<String, Value>, at: usize, catalogue: &mut Catalogue) {
    const KNOWN: [&str; 10] =
        ["id", "name", "command", "args", "env", "fs", "terminal", "askMode", "install", "login"];
    for name in fields.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
        catalogue.report(
            format!("{AGENTS_JSON}, agent {} {id:?}", at + 1),
            format!("has an unknown field {name:?}, which is ignored"),
        );
    }
}

/// What an entry of the file says.
struct Change {
    name: Option<String>,
    command: String,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    fs: Option<bool>,
    terminal: Option<bool>,
    ask_mode: Option<String>,
    install: Option<String>,
    login: Option<String>,
}

impl Change {
    fn read(fields: &Map<String, Value>) -> Result<(CliType, Self), String> {
        let id = text(fields, "id")?.ok_or("\"id\" is missing")?;
        let id = CliType::parse(&id).map_err(|cause| format!("\"id\": {cause}"))?;
        let command = text(fields, "command")?.ok_or("\"command\" is missing")?;
        check_program(&command).map_err(|what| format!("\"command\": {what}"))?;
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
            install: text(fields, "install")?,
            login: text(fields, "login")?,
        };
        Ok((id, change))
    }

    /// What the file does not say stays as it is known, or is as for any ACP agent.
    fn apply(self, id: CliType, catalogue: &mut Catalogue) {
        let known = catalogue.entries.iter().position(|entry| entry.cli_type == id);
        let at = known.unwrap_or_else(|| {
            catalogue.entries.push(AgentEntry {
                name: id.as_str().to_owned(),
                cli_type: id,
                speaks: Speaks::Acp(AcpOptions::default()),
                program: OsString::new(),
                args: Vec::new(),
                env: Vec::new(),
                install: None,
                login: None,
                version_args: None,
                builtin: false,
            });
            catalogue.entries.len() - 1
        });
        let entry = &mut catalogue.entries[at];
        entry.program = self.command.into();
        entry.args = self.args;
        entry.env = self.env;
        if let Speaks::Acp(options) = &mut entry.speaks {
            options.fs = self.fs.unwrap_or(options.fs);
            options.terminal = self.terminal.unwrap_or(options.terminal);
            options.ask_mode = self.ask_mode.or(options.ask_mode.take());
        }
        if let Some(name) = self.name {
            entry.name = name;
        }
        entry.install = self.install.or(entry.install.take());
        entry.login = self.login.or(entry.login.take());
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

fn args(fields: &Map<String, Value>) -> Result<Vec<OsString>, String> {
    const WRONG: &str = "\"args\" must be an array of strings";
    let args = match fields.get("args") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(args) => args.as_array().ok_or(WRONG)?,
    };
    args.iter()
        .map(|arg| match arg.as_str() {
            Some(arg) if !arg.contains('\0') => Ok(OsString::from(arg)),
            Some(_) | None => Err(WRONG.to_owned()),
        })
        .collect()
}

fn env(fields: &Map<String, Value>) -> Result<Vec<(OsString, OsString)>, String> {
    let env = match fields.get("env") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(env) => env.as_object().ok_or("\"env\" must be an object of strings")?,
    };
    env.iter()
        .map(|(name, value)| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("\"env\" has a name that is none: {name:?}"));
            }
            match value.as_str() {
                Some(value) if !value.contains('\0') => Ok((name.into(), value.into())),
                Some(_) | None => Err(format!("\"env\": the value of {name:?} must be a string")),
            }
        })
        .collect()
}
