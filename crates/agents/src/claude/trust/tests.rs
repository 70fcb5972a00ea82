use std::path::PathBuf;

use super::*;

struct Project(PathBuf);

impl Project {
    fn with(files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("liminal-trust-{}", uuid::Uuid::new_v4()));
        for (name, text) in files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_for_the_system = fs::remove_dir_all(&self.0);
    }
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
        assert_eq!(brings(&Project::with(files).0), expected, "{files:?}");
    }
}

#[test]
fn no_policy_answers_for_the_user() {
    assert_eq!(crate::auto_answer(&ask(&["hooks".to_owned()])), None);
}

#[test]
fn a_setting_nobody_knows_is_named_and_a_harmless_one_is_not() {
    let text = r#"{"awsAuthRefresh": "sh refresh", "language": "en", "sandbox": null}"#;
    let project = Project::with(&[(".claude/settings.json", text)]);
    assert_eq!(brings(&project.0), ["awsAuthRefresh in `.claude/settings.json`"]);
}
