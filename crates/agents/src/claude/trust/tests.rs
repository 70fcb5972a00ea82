use tempfile::TempDir;

use super::*;

fn project(files: &[(&str, &str)]) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = project.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    project
}

#[test]
fn what_would_act_is_named() {
    type Files = &'static [(&'static str, &'static str)];
    let cases: [(Files, &[&str]); 7] = [
        (&[], &[]),
        (
            &[(
                ".claude/settings.json",
                r#"{"model": "opus", "permissions": {"deny": ["Bash"], "allow": []}}"#,
            )],
            &[],
        ),
        (&[(".mcp.json", r#"{"mcpServers": {}}"#)], &[]),
        (
            &[(
                ".claude/settings.json",
                r#"{"hooks": {"Stop": []}, "permissions": {"allow": ["Bash"]}}"#,
            )],
            &["hooks, allow rules in `.claude/settings.json`"],
        ),
        (
            &[(".claude/settings.local.json", r#"{"env": {"X": "1"}}"#)],
            &["environment variables in `.claude/settings.local.json`"],
        ),
        (
            &[(".mcp.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#)],
            &["tool servers in `.mcp.json`"],
        ),
        (
            &[(".claude/settings.json", "{ broken")],
            &["`.claude/settings.json`, which can't be read"],
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(brings(project(files).path()), expected, "{files:?}");
    }
}

#[test]
fn no_policy_answers_for_the_user() {
    assert_eq!(crate::auto_answer(&ask(&["hooks".to_owned()])), None);
}

#[test]
fn a_setting_nobody_knows_is_named_and_a_harmless_one_is_not() {
    let text = r#"{"awsAuthRefresh": "sh refresh", "language": "en", "sandbox": null}"#;
    let project = project(&[(".claude/settings.json", text)]);
    assert_eq!(brings(project.path()), ["awsAuthRefresh in `.claude/settings.json`"]);
}
