//! The content of a permission card, laid out so that nothing is hidden: the command line, whatever the agent itself
//! shows (changes, text), the directory, the environment, then every other argument by name.
//!
//! Both providers build their permission cards here.

use std::path::Path;

use liminal_stream::{Field, SourcePart};
use serde_json::{Map, Value};

/// The parts of a card. `content` is what the agent shows of the call; arguments it contains are not repeated.
pub fn parts(input: &Map<String, Value>, content: Vec<SourcePart>) -> Vec<SourcePart> {
    let mut rest: Vec<(&str, &Value)> =
        input.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let mut parts = Vec::new();
    let mut fields = Vec::new();
    if let Some(command) = Command::take(&mut rest) {
        fields.extend(command.shell.map(|shell| field("Run by", shell)));
        let text = command.line;
        parts.push(SourcePart::Code { text, language: Some("sh".to_owned()) });
        fields.extend(directory(&mut rest));
        fields.extend(environment(&mut rest));
    }
    rest.retain(|(name, value)| !content.iter().any(|part| shows(part, name, value)));
    fields.extend(rest.into_iter().map(|(name, value)| field(name, plain(value))));
    parts.extend(content);
    if !fields.is_empty() {
        parts.push(SourcePart::Fields { fields });
    }
    parts
}

/// A string unchanged, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn field(name: &str, value: String) -> Field {
    Field { name: name.to_owned(), value }
}

/// A command as typed in a shell.
struct Command {
    line: String,
    /// The shell that runs the line, if the agent names one.
    shell: Option<String>,
}

impl Command {
    /// Takes the command out of the arguments. If a word can't be quoted without changing it, all arguments stay and
    /// are shown unchanged.
    fn take(rest: &mut Vec<(&str, &Value)>) -> Option<Self> {
        let at = rest.iter().position(|(name, _)| matches!(*name, "command" | "cmd"))?;
        let args = rest.iter().position(|(name, _)| *name == "args");
        let given = args.map(|args| rest[args].1);
        let command = match (rest[at].1, given.map(words)) {
            (Value::String(line), None) => Self { line: line.clone(), shell: None },
            (Value::String(program), Some(args)) => {
                let args = args?;
                let space = if args.is_empty() { "" } else { " " };
                Self { line: format!("{program}{space}{}", quoted(&args)?), shell: None }
            }
            (command, None) => Self::of_words(&words(command)?)?,
            (command, Some(args)) => Self::of_words(&[words(command)?, args?].concat())?,
        };
        let taken = [Some(at), args];
        let mut index = 0;
        rest.retain(|_| {
            index += 1;
            !taken.contains(&Some(index - 1))
        });
        Some(command)
    }

    fn of_words(words: &[&str]) -> Option<Self> {
        if let [shell, flag, line] = words
            && is_shell(shell)
            && flag.starts_with('-')
            && flag.ends_with('c')
            && let Some(shell) = quoted(&[*shell, *flag])
        {
            return Some(Self { line: (*line).to_owned(), shell: Some(shell) });
        }
        (!words.is_empty()).then(|| quoted(words))?.map(|line| Self { line, shell: None })
    }
}

fn is_shell(program: &str) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "fish" | "ksh")
}

fn words(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// Words quoted for a shell. `None` if a word can't be quoted without changing it.
fn quoted(words: &[&str]) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted: Option<Vec<String>> = words
        .iter()
        .map(|word| match word {
            word if !word.is_empty() && word.chars().all(is_plain) => Some((*word).to_owned()),
            word if !word.contains('\'') => Some(format!("'{word}'")),
            word if !word.contains(['"', '$', '`', '\\', '!']) => Some(format!("\"{word}\"")),
            _ => None,
        })
        .collect();
    quoted.map(|words| words.join(" "))
}

fn directory(rest: &mut Vec<(&str, &Value)>) -> Option<Field> {
    const NAMES: [&str; 5] =
        ["cwd", "workdir", "working_directory", "workingDirectory", "directory"];
    let at = rest.iter().position(|(name, value)| NAMES.contains(name) && value.is_string())?;
    Some(field("Directory", plain(rest.remove(at).1)))
}

fn environment(rest: &mut Vec<(&str, &Value)>) -> Vec<Field> {
    let variable = |name: &str, value: &str| field(&format!("Environment: {name}"), value.into());
    let Some(at) = rest.iter().position(|(name, _)| *name == "env") else { return Vec::new() };
    let variables: Option<Vec<Field>> = match rest[at].1 {
        Value::Object(map) => {
            map.iter().map(|(name, value)| Some(variable(name, value.as_str()?))).collect()
        }
        Value::Array(list) => list
            .iter()
            .map(|entry| match entry.as_object() {
                Some(map) if map.len() == 2 => {
                    Some(variable(map.get("name")?.as_str()?, map.get("value")?.as_str()?))
                }
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let Some(variables) = variables.filter(|them| !them.is_empty()) else { return Vec::new() };
    rest.remove(at);
    variables
}

/// Whether a part shows this argument. A diff covers only the arguments that hold its path, old text and new text; any
/// other argument is shown even if its value happens to be the same.
fn shows(part: &SourcePart, name: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    match part {
        SourcePart::Code { text: shown, .. } => shown == text,
        SourcePart::Text { text: shown } => name == "plan" && shown == text,
        SourcePart::Diff { path, old, new, .. } => match name {
            "file_path" | "filePath" | "path" | "abs_path" | "file" => path == text,
            "old_string" | "oldString" | "old_str" | "old_text" | "oldText" => {
                old.as_deref() == Some(text)
            }
            "new_string" | "newString" | "new_str" | "new_text" | "newText" | "content"
            | "file_text" => new.as_deref() == Some(text),
            _ => false,
        },
        SourcePart::Hunks { .. }
        | SourcePart::Fields { .. }
        | SourcePart::Terminal { .. }
        | SourcePart::Image { .. } => false,
    }
}

#[cfg(test)]
mod tests;
