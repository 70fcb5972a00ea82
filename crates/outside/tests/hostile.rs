//! Agents' own files may hold anything: nothing breaks, and every session found can be shown and kept.

// Tests fail by panicking, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use liminal_outside::{Found, Index, Place};
use proptest::prelude::*;
use serde_json::{Value, json};

const ID: &str = "06f2f1d7-0260-4491-b9c8-0a536fb48314";

/// In characters. Anything longer is cut.
const LONGEST: usize = 200;

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn of_claude() -> Vec<String> {
    let said = |content: Value| {
        json!({
            "type": "user", "isSidechain": false, "isMeta": false, "cwd": "/work/shop", "gitBranch": "main",
            "version": "2.1.325", "timestamp": "2026-11-15T22:26:15.798Z",
            "message": {"role": "user", "content": content},
        })
    };
    let blocks = json!([{"type": "text", "text": "Fix the cart\nplease"}]);
    vec![
        text(&[
            json!({"type": "queue-operation"}),
            said(blocks),
            json!({"type": "summary", "summary": "The cart", "leafUuid": "x"}),
            json!({"type": "custom-title", "customTitle": "Carts"}),
        ]),
        text(&[said(json!("<command-name>/clear</command-name>")), said(json!("Hello"))]),
    ]
}

fn of_codex() -> Vec<String> {
    let about = json!({"type": "session_meta", "payload": {
        "id": ID, "cwd": "/work/shop", "timestamp": "2026-11-15T22:26:15.798Z", "cli_version": "0.60.0",
        "source": "cli", "git": {"branch": "main"},
    }});
    let said = |text: &str| {
        json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}]}})
    };
    vec![text(&[about, said("# AGENTS.md instructions"), said("Fix the cart")])]
}

/// What is found in a place that has this one file.
fn found(place: &Place, file: &Path, lines: &[Vec<u8>]) -> Vec<Found> {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let bytes =
        lines.iter().flat_map(|line| [line.as_slice(), &b"\n"[..]]).collect::<Vec<_>>().concat();
    fs::write(file, &bytes).unwrap();
    let mut index = Index::default();
    index.look(place);
    let found: Vec<_> = index.found(place).cloned().collect();
    assert!(found.len() <= 1, "{found:?}");
    for Found { title, branch, version, bytes: length, .. } in &found {
        assert!(!title.is_empty() && !title.contains('\n'), "{title:?}");
        for name in [Some(title), branch.as_ref(), version.as_ref()].into_iter().flatten() {
            assert!(name.chars().count() <= LONGEST, "{name:?}");
        }
        assert_eq!(*length, bytes.len() as u64);
    }
    let kept = Index::read(&index.write().unwrap());
    assert_eq!(kept.found(place).cloned().collect::<Vec<_>>(), found, "as it was kept");
    found
}

#[test]
fn the_transcripts_are_right_before_they_are_damaged() {
    let titles = |place: fn(std::path::PathBuf) -> Place, file: &str, texts: Vec<String>| {
        let titles = texts.iter().map(|text| {
            let home = tempfile::tempdir().unwrap();
            let lines: Vec<_> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            found(&place(home.path().to_owned()), &home.path().join(file), &lines).remove(0).title
        });
        titles.collect::<Vec<_>>()
    };
    let file = format!("projects/-work-shop/{ID}.jsonl");
    assert_eq!(titles(Place::Claude, &file, of_claude()), ["Carts", "Hello"]);
    assert_eq!(
        titles(Place::Codex, "sessions/2026/11/15/rollout-x.jsonl", of_codex()),
        ["Fix the cart"]
    );
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn a_transcript_of_claude_may_hold_anything(lines in liminal_hostile::lines(of_claude())) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(format!("projects/-work-shop/{ID}.jsonl"));
        for found in found(&Place::Claude(home.path().to_owned()), &file, &lines) {
            prop_assert_eq!(&found.agent_ref, ID);
        }
    }

    #[test]
    fn a_transcript_of_codex_may_hold_anything(lines in liminal_hostile::lines(of_codex())) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("sessions/2026/11/15/rollout-x.jsonl");
        for found in found(&Place::Codex(home.path().to_owned()), &file, &lines) {
            prop_assert_eq!(found.agent_ref.len(), ID.len(), "the id of a session, as we write it");
        }
    }
}
