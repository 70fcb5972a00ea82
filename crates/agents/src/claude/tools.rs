//! What Claude Code's tools are about, in the reader's words: title, kind, files, and the content of results.
//!
//! Pure tables over a tool's name, arguments and structured result. Knows no turn and no item.

use std::path::Path;

use liminal_contract::{Location, ToolKind};
use liminal_stream::{Hunk, SourcePart, ToolPatch};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::wire::{Block, Content, KnownBlock};

/// Longest title, in characters. The whole command is in the arguments and in the permission card.
const LONGEST_TITLE: usize = 160;

/// What a tool does.
pub fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "ReadMcpResource" | "ReadMcpResourceTool" => ToolKind::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => ToolKind::Edit,
        "Grep" | "Glob" | "LS" | "ToolSearch" => ToolKind::Search,
        "Bash" | "BashOutput" | "KillShell" | "KillBash" | "Monitor" | "TaskStop"
        | "TaskOutput" => ToolKind::Execute,
        "Task" | "Agent" | "AskUserQuestion" | "Skill" | "Workflow" => ToolKind::Think,
        "WebFetch" | "WebSearch" | "web_search" | "web_fetch" => ToolKind::Fetch,
        "ExitPlanMode" | "EnterPlanMode" | "EnterWorktree" | "ExitWorktree" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// Whether a tool only keeps the agent's list of steps: shown as the plan, not as a call.
pub fn keeps_the_plan(name: &str) -> bool {
    matches!(name, "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet")
}

/// All that name and final arguments say.
pub fn about(name: &str, input: &Map<String, Value>, project: &Path) -> ToolPatch {
    ToolPatch {
        title: Some(title(name, input, project)),
        tool_kind: Some(kind(name)),
        locations: Some(locations(name, input)),
        parts: preview(name, input).map(|part| vec![part]),
        ..ToolPatch::default()
    }
}

/// One line that says what the call does.
pub fn title(name: &str, input: &Map<String, Value>, project: &Path) -> String {
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let path = |key: &str| text(key).map(|path| relative(path, project));
    let with = |verb: &str, object: Option<&str>| match object {
        Some(object) => format!("{verb} {object}"),
        None => verb.to_owned(),
    };
    let title = match name {
        "Bash" => text("command").unwrap_or("Run a command").to_owned(),
        "Read" | "NotebookRead" => with("Read", path("file_path").or(path("notebook_path"))),
        "Edit" | "MultiEdit" => with("Edit", path("file_path")),
        "Write" => with("Write", path("file_path")),
        "NotebookEdit" => with("Edit", path("notebook_path")),
        "LS" => with("List", path("path")),
        "Glob" => searched("Find", text("pattern").map(str::to_owned), path("path")),
        "Grep" => {
            searched("Search for", text("pattern").map(|what| format!("“{what}”")), path("path"))
        }
        "WebFetch" | "web_fetch" => with("Fetch", text("url")),
        "WebSearch" | "web_search" => {
            searched("Search the web for", text("query").map(|what| format!("“{what}”")), None)
        }
        "Task" | "Agent" => match (text("subagent_type"), text("description")) {
            (Some(agent), Some(what)) => format!("{agent}: {what}"),
            (None, Some(what)) => what.to_owned(),
            (agent, None) => with("Sub-agent", agent),
        },
        "Skill" => with("Skill", text("skill").or(text("command"))),
        "ToolSearch" => with("Look for tools:", text("query")),
        "BashOutput" | "TaskOutput" => "Look at a background task".to_owned(),
        "KillShell" | "KillBash" | "TaskStop" => "Stop a background task".to_owned(),
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => {
            "Update the plan".to_owned()
        }
        "EnterPlanMode" => "Plan first".to_owned(),
        "ExitPlanMode" => "Finish planning".to_owned(),
        "AskUserQuestion" => first_question(input).unwrap_or("Ask you something").to_owned(),
        _ => match mcp(name) {
            Some((server, tool)) => format!("{tool} ({server})"),
            None => match text("description") {
                Some(what) => format!("{name}: {what}"),
                None => name.to_owned(),
            },
        },
    };
    one_line(&title)
}

/// The files a call is about.
fn locations(name: &str, input: &Map<String, Value>) -> Vec<Location> {
    let keys: &[&str] = match kind(name) {
        ToolKind::Read | ToolKind::Edit => &["file_path", "notebook_path"],
        ToolKind::Search => &["path"],
        _ => &[],
    };
    let line =
        input.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    keys.iter()
        .filter_map(|key| input.get(*key)?.as_str())
        .map(|path| Location { path: path.to_owned(), line })
        .collect()
}

/// What a call would do, in full: the command, the change, the plan.
pub fn preview(name: &str, input: &Map<String, Value>) -> Option<SourcePart> {
    let text = |key: &str| Some(input.get(key)?.as_str()?.to_owned());
    match name {
        "Edit" => Some(SourcePart::Diff {
            path: text("file_path")?,
            old: Some(text("old_string")?),
            new: Some(text("new_string")?),
        }),
        "Write" => Some(SourcePart::Diff {
            path: text("file_path")?,
            old: None,
            new: Some(text("content")?),
        }),
        "ExitPlanMode" => Some(SourcePart::Text { text: text("plan")? }),
        _ => None,
    }
}

/// What a result says: its text for the model, and its content for the reader.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    /// The plain output.
    pub output: String,
    /// Content beyond it; `None` leaves what the arguments gave.
    pub parts: Option<Vec<SourcePart>>,
}

/// Reads a result: its blocks, and the structured one where that says more.
pub fn result(name: &str, content: Content, structured: Option<&Value>) -> Told {
    let mut told = Told::default();
    let mut pictures = Vec::new();
    for block in content.into_blocks() {
        match block {
            Block::Known(KnownBlock::Text { text }) => {
                if !told.output.is_empty() {
                    told.output.push('\n');
                }
                told.output.push_str(&text);
            }
            Block::Known(KnownBlock::Image { source }) if !source.data.is_empty() => {
                pictures.push(SourcePart::Image { mime_type: source.media_type, data: source.data })
            }
            Block::Known(_) => {}
            Block::Other(value) => {
                if !told.output.is_empty() {
                    told.output.push('\n');
                }
                told.output.push_str(&plain(&value));
            }
        }
    }
    // Claude Code wraps a failure in a tag that is meant for the model alone.
    if let Some(inner) = told
        .output
        .strip_prefix("<tool_use_error>")
        .and_then(|rest| rest.strip_suffix("</tool_use_error>"))
    {
        told.output = inner.to_owned();
    }
    told.parts = structured.and_then(|value| structured_parts(name, value));
    if !pictures.is_empty() {
        told.parts = Some(pictures);
    }
    if told.parts.is_none() && matches!(name, "Task" | "Agent") && !told.output.is_empty() {
        told.parts = Some(vec![SourcePart::Text { text: told.output.clone() }]);
    }
    told
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Patched {
    file_path: String,
    structured_patch: Vec<PatchHunk>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    original_file: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PatchHunk {
    old_start: u32,
    new_start: u32,
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct Ran {
    stdout: String,
    stderr: String,
}

#[derive(Deserialize)]
struct FileRead {
    file: ReadFile,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadFile {
    file_path: String,
    content: String,
}

fn structured_parts(name: &str, value: &Value) -> Option<Vec<SourcePart>> {
    match name {
        "Edit" | "MultiEdit" | "Write" => {
            let patched = Patched::deserialize(value).ok()?;
            let hunks: Vec<Hunk> = patched
                .structured_patch
                .into_iter()
                .map(|hunk| Hunk {
                    old_start: hunk.old_start,
                    new_start: hunk.new_start,
                    lines: hunk.lines,
                })
                .collect();
            if !hunks.is_empty() {
                return Some(vec![SourcePart::Hunks { path: patched.file_path, hunks }]);
            }
            // A new file has no hunks: all of it is new.
            let new = patched.content.filter(|_| patched.original_file.is_none())?;
            Some(vec![SourcePart::Diff { path: patched.file_path, old: None, new: Some(new) }])
        }
        "Bash" => {
            let ran = Ran::deserialize(value).ok()?;
            let text = match (ran.stdout.is_empty(), ran.stderr.is_empty()) {
                (true, true) => return None,
                (false, true) => ran.stdout,
                (true, false) => ran.stderr,
                (false, false) => format!("{}\n{}", ran.stdout.trim_end_matches('\n'), ran.stderr),
            };
            Some(vec![SourcePart::Terminal { text }])
        }
        "Read" => {
            let file = FileRead::deserialize(value).ok()?.file;
            let language = Path::new(&file.file_path)
                .extension()
                .map(|ext| ext.to_string_lossy().into_owned());
            Some(vec![SourcePart::Code { text: file.content, language }])
        }
        _ => None,
    }
}

/// A path below the project is shown from there.
fn relative<'a>(path: &'a str, project: &Path) -> &'a str {
    match Path::new(path).strip_prefix(project) {
        Ok(rest) => rest.to_str().filter(|rest| !rest.is_empty()).unwrap_or("."),
        Err(_elsewhere) => path,
    }
}

fn searched(verb: &str, what: Option<String>, place: Option<&str>) -> String {
    let mut title = match what {
        Some(what) => format!("{verb} {what}"),
        None => verb.to_owned(),
    };
    if let Some(place) = place.filter(|place| *place != ".") {
        title.push_str(" in ");
        title.push_str(place);
    }
    title
}

fn first_question(input: &Map<String, Value>) -> Option<&str> {
    input.get("questions")?.get(0)?.get("question")?.as_str()
}

/// Server and tool of a name such as `mcp__github__create_issue`.
fn mcp(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

fn one_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default().trim_end();
    let mut title: String = first.chars().take(LONGEST_TITLE).collect();
    if title.len() < first.len() || lines.next().is_some() {
        title.push_str(" …");
    }
    title
}

/// A value as text: a string as it is, anything else as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
