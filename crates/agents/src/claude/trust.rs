//! Finds the settings in a project that would act on the user's machine as soon as Claude Code runs there: hooks,
//! rules that allow things, tool servers. The user is asked once, and they are loaded only after a yes.
//!
//! Reads the project's files and remembers nothing: the server stores confirmations ([`Trust`]).

use std::fs;
use std::path::Path;

use liminal_contract::{AskKind, AskOption, ToolKind};
use liminal_stream::{Permission, SourcePart};
use serde_json::Value;

/// Stores the user's confirmations.
pub trait Trust: Send + Sync {
    /// Whether the user agreed to load this project's own Claude settings.
    fn is_confirmed(&self, project: &Path) -> bool;

    /// Records the user's agreement. It must survive a restart.
    fn confirm(&self, project: &Path);
}

/// The option that confirms.
pub const CONFIRM: &str = "load";
const DECLINE: &str = "leave";

/// Settings that run or allow something, and what the user sees them called.
const ACTING: [(&str, &str); 10] = [
    ("hooks", "hooks"),
    ("/permissions/allow", "allow rules"),
    ("/permissions/additionalDirectories", "additional directories"),
    ("/permissions/defaultMode", "a permission mode"),
    ("env", "environment variables"),
    ("apiKeyHelper", "a key helper"),
    ("statusLine", "a status line command"),
    ("enabledPlugins", "plugins"),
    ("enabledMcpjsonServers", "tool servers"),
    ("enableAllProjectMcpServers", "tool servers"),
];

/// Settings that neither run nor allow anything. A key in neither list might in some version, so it is listed too.
const HARMLESS: [&str; 15] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "deniedMcpServers",
    "disableAllHooks",
    "disabledMcpjsonServers",
    "includeCoAuthoredBy",
    "language",
    "model",
    "outputStyle",
    "permissions",
    "respectGitignore",
    "spinnerTipsEnabled",
];

/// The project's settings that act, one line per file; empty if there are none.
pub fn brings(project: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        match read(&project.join(file)) {
            SettingsFile::Missing => {}
            SettingsFile::Unreadable => found.push(format!("`{file}`, which can't be read")),
            SettingsFile::Settings(settings) => {
                let mut words: Vec<&str> = ACTING
                    .iter()
                    .filter(|(key, _)| {
                        let value = if key.starts_with('/') {
                            settings.pointer(key)
                        } else {
                            settings.get(key)
                        };
                        value.is_some_and(acts)
                    })
                    .map(|(_, words)| *words)
                    .collect();
                words.dedup();
                words.extend(unknown(&settings));
                if !words.is_empty() {
                    found.push(format!("{} in `{file}`", words.join(", ")));
                }
            }
        }
    }
    // Claude Code also looks for this file in the parent directories.
    for directory in project.ancestors() {
        let path = directory.join(".mcp.json");
        let servers = match read(&path) {
            SettingsFile::Missing => continue,
            SettingsFile::Unreadable => true,
            SettingsFile::Settings(settings) => settings.get("mcpServers").is_some_and(acts),
        };
        if servers {
            let shown = path.strip_prefix(project).unwrap_or(&path);
            found.push(format!("tool servers in `{}`", shown.display()));
        }
    }
    found
}

/// Keys with a value that are in neither list.
fn unknown(settings: &Value) -> impl Iterator<Item = &str> {
    let known = |key: &str| HARMLESS.contains(&key) || ACTING.iter().any(|(name, _)| *name == key);
    let fields = settings.as_object().into_iter().flatten();
    fields.filter(move |(key, value)| !known(key) && acts(value)).map(|(key, _)| key.as_str())
}

enum SettingsFile {
    Missing,
    Unreadable,
    Settings(Value),
}

fn read(path: &Path) -> SettingsFile {
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_or(SettingsFile::Unreadable, SettingsFile::Settings)
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => SettingsFile::Missing,
        Err(_) => SettingsFile::Unreadable,
    }
}

/// Whether the value turns the setting on.
fn acts(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty() && text != "default",
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(|field| !matches!(field, Value::Null)),
    }
}

/// The question to the user. Its yes is `AllowAlways`: the policy `auto` only ever allows once, so it can't answer it.
pub fn ask(brings: &[String]) -> Permission {
    let list: String = brings.iter().map(|what| format!("- {what}\n")).collect();
    let text = format!(
        "This project has its own settings for Claude Code:\n\n{list}\nThey can run commands and allow tools \
         without asking. Until you load them, Claude uses only your own settings here and ignores the project's \
         `CLAUDE.md`."
    );
    let option = |id: &str, name: &str, kind| AskOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    Permission {
        title: "Load this project's Claude settings?".to_owned(),
        tool_kind: ToolKind::SwitchMode,
        parts: vec![SourcePart::Text { text }],
        options: vec![
            option(CONFIRM, "Load, now and in future", AskKind::AllowAlways),
            option(DECLINE, "Not now", AskKind::RejectOnce),
        ],
        ..Permission::default()
    }
}

#[cfg(test)]
mod tests;
