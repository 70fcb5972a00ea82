use serde_json::json;

use super::*;

fn card(input: Value, content: Vec<SourcePart>) -> Vec<SourcePart> {
    parts(input.as_object().unwrap(), content)
}

fn sh(text: &str) -> SourcePart {
    SourcePart::Code { text: text.to_owned(), language: Some("sh".to_owned()) }
}

fn table(rows: &[(&str, &str)]) -> SourcePart {
    let fields = rows.iter().map(|(name, value)| field(name, (*value).to_owned())).collect();
    SourcePart::Fields { fields }
}

#[test]
fn a_command_is_shown_as_one_types_it_with_all_that_belongs_to_it() {
    for (claim, input, expected) in [
        ("a line", json!({"command": "make && rm -rf x"}), vec![sh("make && rm -rf x")]),
        (
            "program, arguments, directory, environment, and the rest",
            json!({"command": "git", "args": ["push", "--force", "a b"], "cwd": "/srv",
                "env": {"GIT_DIR": "/x"}, "timeout": 5, "description": "Push"}),
            vec![
                sh("git push --force 'a b'"),
                table(&[
                    ("Directory", "/srv"),
                    ("Environment: GIT_DIR", "/x"),
                    ("timeout", "5"),
                    ("description", "Push"),
                ]),
            ],
        ),
        ("words", json!({"command": ["rm", "it's", ""]}), vec![sh("rm \"it's\" ''")]),
        (
            "a shell and its script",
            json!({"command": ["/bin/bash", "-lc", "echo 'a' \"$b\""]}),
            vec![sh("echo 'a' \"$b\""), table(&[("Run by", "/bin/bash -lc")])],
        ),
        (
            "an environment as the protocol lists it",
            json!({"cmd": "x", "env": [{"name": "A", "value": "1"}]}),
            vec![sh("x"), table(&[("Environment: A", "1")])],
        ),
        (
            "words that can't be quoted as they are",
            json!({"command": ["echo", "'$x"]}),
            vec![table(&[("command", "[\n  \"echo\",\n  \"'$x\"\n]")])],
        ),
        (
            "an unknown form",
            json!({"command": {"run": "x"}, "args": 3, "env": ["A=1"]}),
            vec![table(&[
                ("command", "{\n  \"run\": \"x\"\n}"),
                ("args", "3"),
                ("env", "[\n  \"A=1\"\n]"),
            ])],
        ),
    ] {
        assert_eq!(card(input, Vec::new()), expected, "{claim}");
    }
}

#[test]
fn a_change_stands_for_its_own_arguments_and_hides_no_other() {
    let change = SourcePart::Diff {
        path: "/p/a".to_owned(),
        old: Some("a".to_owned()),
        new: Some("b".to_owned()),
        line: None,
    };
    let input = json!({"file_path": "/p/a", "old_string": "a", "new_string": "b",
        "replace_all": true, "command": "rm -rf x", "note": "b"});
    assert_eq!(
        card(input, vec![change.clone()]),
        [sh("rm -rf x"), change.clone(), table(&[("replace_all", "true"), ("note", "b")])]
    );
    let other = json!({"file_path": "/p/b", "old_string": "a line that is elsewhere"});
    assert_eq!(
        card(other, vec![change.clone()]),
        [change, table(&[("file_path", "/p/b"), ("old_string", "a line that is elsewhere")])]
    );
}
