use serde_json::json;

use super::*;

fn title_of(name: &str, input: Value) -> String {
    let Value::Object(input) = input else { panic!("arguments are an object") };
    title(name, &input, Path::new("/home/user/demo"))
}

#[test]
fn titles_say_what_a_call_does() {
    let cases = [
        ("Read", json!({"file_path": "/home/user/demo/src/x.rs"}), "Read src/x.rs"),
        ("Read", json!({"file_path": "/etc/hosts"}), "Read /etc/hosts"),
        ("Read", json!({}), "Read"),
        ("Edit", json!({"file_path": "/home/user/demo/src/x.rs"}), "Edit src/x.rs"),
        ("Write", json!({"file_path": "/home/user/demo/new.md"}), "Write new.md"),
        ("NotebookEdit", json!({"notebook_path": "/home/user/demo/n.ipynb"}), "Edit n.ipynb"),
        ("Bash", json!({"command": "cargo test"}), "cargo test"),
        ("Bash", json!({"command": "cd x\nmake"}), "cd x …"),
        (
            "Grep",
            json!({"pattern": "fn main", "path": "/home/user/demo/src"}),
            "Search for “fn main” in src",
        ),
        ("Glob", json!({"pattern": "**/*.rs"}), "Find **/*.rs"),
        ("WebFetch", json!({"url": "https://example.com"}), "Fetch https://example.com"),
        ("WebSearch", json!({"query": "rust"}), "Search the web for “rust”"),
        (
            "Task",
            json!({"subagent_type": "Explore", "description": "find callers"}),
            "Explore: find callers",
        ),
        ("ExitPlanMode", json!({"plan": "x"}), "Finish planning"),
        ("mcp__github__create_issue", json!({}), "create_issue (github)"),
        ("Novelty", json!({"description": "something new"}), "Novelty: something new"),
        ("Novelty", json!({}), "Novelty"),
    ];
    for (name, input, expected) in cases {
        assert_eq!(title_of(name, input), expected);
    }
    assert_eq!(title_of("Bash", json!({"command": "x".repeat(500)})).chars().count(), 162);
}

#[test]
fn what_a_command_wrote_is_shown_as_a_terminal_would() {
    let ran = |stdout: &str, stderr: &str| {
        let structured = json!({"stdout": stdout, "stderr": stderr, "interrupted": false});
        result("Bash", Content::Text("for the model".to_owned()), Some(&structured)).parts
    };
    let terminal = |text: &str| Some(vec![SourcePart::Terminal { text: text.to_owned() }]);
    assert_eq!(ran("out\n", ""), terminal("out\n"));
    assert_eq!(ran("", "err"), terminal("err"));
    assert_eq!(ran("out\n", "err"), terminal("out\nerr"));
    assert_eq!(ran("", ""), None);
}

#[test]
fn a_failed_command_says_its_exit_code_in_its_first_line() {
    let code =
        |name: &str, said: &str| result(name, Content::Text(said.to_owned()), None).exit_code;
    assert_eq!(code("Bash", "Exit code 127\nmake: not found"), Some(127));
    assert_eq!(code("Bash", "the last line\nExit code 1"), None);
    assert_eq!(code("Read", "Exit code 1"), None);
}

#[test]
fn pictures_and_failures_of_a_tool_are_understood() {
    let blocks = json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]);
    let picture = result("Read", serde_json::from_value(blocks).unwrap(), None);
    let part = SourcePart::Image { mime_type: "image/png".to_owned(), data: "aGk=".to_owned() };
    assert_eq!(picture, ToolReport { parts: Some(vec![part]), ..ToolReport::default() });

    let failed = Content::Text("<tool_use_error>No such file</tool_use_error>".to_owned());
    let report = ToolReport { output: "No such file".to_owned(), ..ToolReport::default() };
    assert_eq!(result("Read", failed, Some(&json!("Error: No such file"))), report);
}

#[test]
fn tools_that_were_found_are_named() {
    let found = json!([
        {"type": "tool_reference", "tool_name": "Grep"},
        {"type": "tool_reference", "tool_name": "LSP"},
    ]);
    let report = result("ToolSearch", serde_json::from_value(found).unwrap(), None);
    assert_eq!(report, ToolReport { output: "Grep\nLSP".to_owned(), ..ToolReport::default() });
}
