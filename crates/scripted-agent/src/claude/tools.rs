//! Results of tools on this wire: text for the model, and a structure for the client.

use serde_json::{Value, json};

use crate::script::{FileDiff, ToolEnd};

#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) wire_id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) output: String,
    pub(super) diff: Option<FileDiff>,
    pub(super) ended: bool,
}

pub(super) struct ToolResult {
    /// `content` of the `tool_result`.
    pub(super) content: Value,
    pub(super) is_error: bool,
    /// `tool_use_result`.
    pub(super) structure: Value,
}

impl Call {
    pub(super) fn give(&self, end: &ToolEnd) -> ToolResult {
        let output = &self.output;
        if end.failed {
            let content = match end.exit_code {
                Some(code) => format!("Exit code {code}\n{output}"),
                None => output.clone(),
            };
            let structure = json!(format!("Error: {content}"));
            return ToolResult { content: json!(content), is_error: true, structure };
        }
        let path = self.input["file_path"].as_str().unwrap_or_default();
        let (content, structure) = match (self.name.as_str(), &self.diff) {
            (_, Some(diff)) => {
                (json!(format!("The file {path} has been updated.")), edited(path, diff))
            }
            ("Bash", None) => (
                json!(output),
                json!({
                    "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
                    "noOutputExpected": false,
                }),
            ),
            ("Read", None) => (json!(numbered(output)), read(path, output)),
            _ => (json!(output), json!(output)),
        };
        ToolResult { content, is_error: false, structure }
    }
}

fn read(path: &str, content: &str) -> Value {
    let lines = content.lines().count();
    json!({"type": "text", "file": {
        "filePath": path, "content": content, "numLines": lines, "startLine": 1,
        "totalLines": lines,
    }})
}

fn numbered(content: &str) -> String {
    let lines: Vec<String> =
        content.lines().enumerate().map(|(n, line)| format!("{}\t{line}", n + 1)).collect();
    lines.join("\n")
}

fn edited(path: &str, diff: &FileDiff) -> Value {
    let Some(old) = &diff.old else {
        return json!({
            "type": "create", "filePath": path, "content": diff.new, "structuredPatch": [],
            "originalFile": null, "userModified": false,
        });
    };
    let lines: Vec<String> = old
        .lines()
        .map(|line| format!("-{line}"))
        .chain(diff.new.lines().map(|line| format!("+{line}")))
        .collect();
    json!({
        "filePath": path, "oldString": old, "newString": diff.new, "originalFile": old,
        "structuredPatch": [{
            "oldStart": 1, "oldLines": old.lines().count(),
            "newStart": 1, "newLines": diff.new.lines().count(), "lines": lines,
        }],
        "userModified": false, "replaceAll": false,
    })
}
