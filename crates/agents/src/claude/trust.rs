//! What a project brings that would act on the user's machine as soon as Claude Code runs in it: hooks, rules that
//! allow things, tool servers. Such a project is named once, and its settings are loaded only when the user said so.
//!
//! Reads files of the project, and remembers nothing: who confirmed what is the server's to keep ([`Trust`]).

use std::fs;
use std::path::Path;

use liminal_contract::{AskKind, AskOption, ToolKind};
use liminal_stream::{Ask, SourcePart};
use serde_json::Value;

/// Where confirmations are kept.
pub trait Trust: Send + Sync {
    /// Whether the user let this project's own Claude settings be loaded.
    fn is_confirmed(&self, project: &Path) -> bool;

    /// The user did. To be kept for good.
    fn confirm(&self, project: &Path);
}

/// The answer that confirms.
pub const CONFIRM: &str = "load";
const DECLINE: &str = "leave";

/// Keys of a settings file that run something or allow something.
const ACTING: [(&str, &str); 10] = [
    ("hooks", "hooks"),
    ("/permissions/allow", "allow rules"),
    ("/permissions/additionalDirectories", "more directories"),
    ("/permissions/defaultMode", "a permission mode"),
    ("env", "environment variables"),
    ("apiKeyHelper", "a key helper"),
    ("statusLine", "a status line command"),
    ("enabledPlugins", "plugins"),
    ("enabledMcpjsonServers", "tool servers"),
    ("enableAllProjectMcpServers", "tool servers"),
];

/// Keys that neither run nor allow anything. What is in no list may do so in some version, and is named.
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

/// What a project brings, one line each; empty when it brings nothing that acts.
pub fn brings(project: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        match read(&project.join(file)) {
            Read::Missing => {}
            Read::Unreadable => found.push(format!("`{file}`, which can't be read")),
            Read::Settings(settings) => {
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
    // Claude Code looks for this file in the directories above, too.
    for directory in project.ancestors() {
        let path = directory.join(".mcp.json");
        let servers = match read(&path) {
            Read::Missing => continue,
            Read::Unreadable => true,
            Read::Settings(settings) => settings.get("mcpServers").is_some_and(acts),
        };
        if servers {
            let shown = path.strip_prefix(project).unwrap_or(&path);
            found.push(format!("tool servers in `{}`", shown.display()));
        }
    }
    found
}

/// The keys of a settings file that say something and that nobody here knows.
fn unknown(settings: &Value) -> impl Iterator<Item = &str> {
    let known = |key: &str| HARMLESS.contains(&key) || ACTING.iter().any(|(name, _)| *name == key);
    let fields = settings.as_object().into_iter().flatten();
    fields.filter(move |(key, value)| !known(key) && acts(value)).map(|(key, _)| key.as_str())
}

enum Read {
    Missing,
    Unreadable,
    Settings(Value),
}

fn read(path: &Path) -> Read {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_or(Read::Unreadable, Read::Settings),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Read::Missing,
        Err(_) => Read::Unreadable,
    }
}

/// Whether a setting says anything.
fn acts(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty() && text != "default",
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(|field| !matches!(field, Value::Null)),
    }
}

/// The question to the user. Its yes lasts, so that the policy `auto`, which only ever allows once, leaves it open.
pub fn ask(brings: &[String]) -> Ask {
    let list: String = brings.iter().map(|what| format!("- {what}\n")).collect();
    let text = format!(
        "This project brings its own settings for Claude Code:\n\n{list}\nThey can run commands and allow tools without asking. Until you load them, Claude works here with your own settings alone, also without the project's `CLAUDE.md`."
    );
    let option = |id: &str, name: &str, kind| AskOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    Ask {
        title: "Load this project's Claude settings?".to_owned(),
        tool_kind: ToolKind::SwitchMode,
        parts: vec![SourcePart::Text { text }],
        options: vec![
            option(CONFIRM, "Load them, now and later", AskKind::AllowAlways),
            option(DECLINE, "Not now", AskKind::RejectOnce),
        ],
        ..Ask::default()
    }
}

#[cfg(test)]
mod tests;
