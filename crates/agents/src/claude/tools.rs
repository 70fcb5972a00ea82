//! How Claude Code's tools are shown: title, kind, files, and the content of results.
//!
//! Pure tables over a tool's name, arguments and structured result. Knows nothing about turns and items.

use std::path::Path;

use liminal_contract::{Location, ToolKind};
use liminal_stream::{Hunk, SourcePart, ToolPatch};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::wire::{Block, Content, KnownBlock};
use crate::asked::plain;

/// Longest title, in characters. The arguments and the permission card have the whole command.
const LONGEST_TITLE: usize = 160;

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

/// Whether a tool only updates the agent's list of steps: shown as the plan, not as a call.
pub fn keeps_the_plan(name: &str) -> bool {
    matches!(name, "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet")
}

/// Everything that follows from the name and the final arguments.
pub fn about(name: &str, input: &Map<String, Value>, project: &Path) -> ToolPatch {
    ToolPatch {
        title: Some(title(name, input, project)),
        tool_kind: Some(kind(name)),
        locations: Some(locations(name, input)),
        parts: preview(name, input).map(|part| vec![part]),
        ..ToolPatch::default()
    }
}

/// One line that describes the call.
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
        "ToolSearch" => with("Search for tools:", text("query")),
        "BashOutput" | "TaskOutput" => "Check a background task".to_owned(),
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

/// The call in full, for the permission card: the command, the change, the plan.
pub fn preview(name: &str, input: &Map<String, Value>) -> Option<SourcePart> {
    let text = |key: &str| Some(input.get(key)?.as_str()?.to_owned());
    match name {
        "Edit" => Some(SourcePart::Diff {
            path: text("file_path")?,
            old: Some(text("old_string")?),
            new: Some(text("new_string")?),
            line: None,
        }),
        "Write" => Some(SourcePart::Diff {
            path: text("file_path")?,
            old: None,
            new: Some(text("content")?),
            line: None,
        }),
        "ExitPlanMode" => Some(SourcePart::Text { text: text("plan")? }),
        _ => None,
    }
}

/// A result: its text for the model, and its content for the user.
#[derive(Debug, Default, PartialEq)]
pub struct ToolReport {
    pub output: String,
    /// More content; `None` keeps what the arguments gave.
    pub parts: Option<Vec<SourcePart>>,
    pub exit_code: Option<i32>,
}

/// Reads a result from its blocks, and from the structured result if that has more.
pub fn result(name: &str, content: Content, structured: Option<&Value>) -> ToolReport {
    let mut report = ToolReport::default();
    let mut pictures = Vec::new();
    for block in content.into_blocks() {
        match block {
            Block::Known(KnownBlock::Text { text }) => {
                if !report.output.is_empty() {
                    report.output.push('\n');
                }
                report.output.push_str(&text);
            }
            Block::Known(KnownBlock::Image { source }) if !source.data.is_empty() => {
                pictures.push(SourcePart::Image { mime_type: source.media_type, data: source.data })
            }
            Block::Known(_) => {}
            Block::Other(value) => {
                if !report.output.is_empty() {
                    report.output.push('\n');
                }
                // A tool found by a search for tools.
                let name = value.get("tool_name").filter(|_| value["type"] == "tool_reference");
                report.output.push_str(&plain(name.unwrap_or(&value)));
            }
        }
    }
    // Claude Code wraps an error in a tag that is only meant for the model.
    if let Some(inner) = report
        .output
        .strip_prefix("<tool_use_error>")
        .and_then(|rest| rest.strip_suffix("</tool_use_error>"))
    {
        report.output = inner.to_owned();
    }
    if kind(name) == ToolKind::Execute {
        // A failed command says so in its first line; a command without that line has no known exit code.
        let said = report.output.lines().next().and_then(|line| line.strip_prefix("Exit code "));
        report.exit_code = said.and_then(|code| code.parse().ok());
    }
    report.parts = structured.and_then(|value| structured_parts(name, value));
    if !pictures.is_empty() {
        report.parts = Some(pictures);
    }
    if report.parts.is_none() && matches!(name, "Task" | "Agent") && !report.output.is_empty() {
        report.parts = Some(vec![SourcePart::Text { text: report.output.clone() }]);
    }
    report
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
            Some(vec![SourcePart::Diff {
                path: patched.file_path,
                old: None,
                new: Some(new),
                line: None,
            }])
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

/// A path inside the project, relative to it.
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

/// Server and tool from a name such as `mcp__github__create_issue`.
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

#[cfg(test)]
mod tests;
