//! Whatever `agents.json` contains, the built-in agents are available, and no `env` value leaks.

use std::collections::HashSet;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Files as users write them. Secrets contain `s3cret`.
fn files() -> Vec<String> {
    [
        r#"{"agents":[{"id":"x","name":"X","command":"x","args":["acp"],"env":{"KEY":"s3cret"}}]}"#,
        r#"{"agents":[{"id":"codex","command":"/opt/codex-acp","askMode":"read-only","fs":false,"terminal":true},
            {"id":"goose","name":"Goose","command":"goose","args":["acp","--x"],"install":"brew install goose",
                "login":"goose login","env":{"A":"s3cret","B":"s3cret"}},
            {"id":"claude-code","command":"claude","args":[]}]}"#,
        r#"{"agents":[]}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn agents_json_may_hold_anything(file in liminal_hostile::text(files())) {
        let overrides = Overrides::default();
        let catalogue = Catalogue::new(Some(&file), &overrides, Path::new("/opt/liminal"));
        let mut ids = HashSet::new();
        for entry in catalogue.entries() {
            prop_assert!(ids.insert(entry.cli_type.as_str().to_owned()), "duplicate: {}", entry.cli_type);
            prop_assert!(!entry.program.is_empty());
            prop_assert!(!entry.name.trim().is_empty());
            let shown = format!("{entry:?}");
            prop_assert!(!shown.contains("s3cret") || damaged_into_another_field(&file));
        }
        for known in ["claude-code", "codex", "gemini", "opencode", "demo"] {
            prop_assert!(ids.contains(known), "{known} is missing");
        }
        if !damaged_into_another_field(&file) {
            for problem in catalogue.problems() {
                prop_assert!(!problem.to_string().contains("s3cret"), "{problem}");
            }
        }
    }
}

/// Whether the damage moved a secret into another field, where it can't be recognised as one.
fn damaged_into_another_field(file: &[u8]) -> bool {
    let Ok(file) = serde_json::from_slice::<serde_json::Value>(file) else { return false };
    let text = |value: &serde_json::Value| value.to_string().contains("s3cret");
    match file.get("agents").and_then(serde_json::Value::as_array) {
        None => text(&file),
        Some(agents) => agents.iter().any(|agent| match agent.as_object() {
            None => text(agent),
            Some(fields) => fields.iter().any(|(name, value)| name != "env" && text(value)),
        }),
    }
}
