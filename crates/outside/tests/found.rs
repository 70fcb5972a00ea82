//! Sessions found in the folders of Claude Code and Codex.

// Tests fail by panicking, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use liminal_outside::{Found, Index, Place};
use serde_json::{Value, json};
use tempfile::TempDir;

const ONE: &str = "06f2f1d7-0260-4491-b9c8-0a536fb48314";
const TWO: &str = "66285459-0bef-46fb-a8dd-3cc9fe7128ef";

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn claude(&self) -> Place {
        Place::Claude(self.0.path().to_owned())
    }

    fn codex(&self) -> Place {
        Place::Codex(self.0.path().to_owned())
    }

    fn write(&self, path: &str, lines: &[Value]) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        path
    }

    fn session(&self, id: &str, lines: &[Value]) -> PathBuf {
        self.write(&format!("projects/-work/{id}.jsonl"), lines)
    }
}

fn said(text: &str) -> Value {
    json!({
        "type": "user", "isSidechain": false, "cwd": "/work/shop", "gitBranch": "main", "version": "2.1.325",
        "timestamp": "2026-11-15T22:26:15.798Z",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
    })
}

fn look(place: &Place) -> Vec<Found> {
    let mut index = Index::default();
    index.look(place);
    index.found(place).cloned().collect()
}

fn titles(place: &Place) -> Vec<String> {
    look(place).into_iter().map(|found| found.title).collect()
}

#[test]
fn a_session_of_claude_is_found_with_what_its_first_message_says() {
    let home = Home::new();
    home.session(
        ONE,
        &[json!({"type": "queue-operation"}), said("Fix the cart\nplease"), said("And the rest")],
    );
    let found = look(&home.claude());
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(one.agent_ref, ONE);
    assert_eq!((one.title.as_str(), one.cwd.as_path()), ("Fix the cart", Path::new("/work/shop")));
    assert_eq!((one.branch.as_deref(), one.version.as_deref()), (Some("main"), Some("2.1.325")));
    assert_eq!(one.began.to_string(), "2026-11-15T22:26:15.798Z");
}

#[test]
fn a_session_whose_directory_is_not_a_whole_path_is_not_offered() {
    let home = Home::new();
    let mut elsewhere = said("Fix the cart");
    elsewhere["cwd"] = json!("../../");
    home.session(ONE, &[elsewhere]);
    assert_eq!(titles(&home.claude()), [""; 0]);
}

#[test]
fn a_session_that_begins_with_a_large_picture_is_found() {
    let home = Home::new();
    let mut shown = said("What is wrong here?");
    let picture =
        json!({"type": "image", "source": {"type": "base64", "data": "A".repeat(3 << 20)}});
    shown["message"]["content"].as_array_mut().unwrap().insert(0, picture);
    home.session(ONE, &[json!({"type": "mode"}), shown, said("Thanks")]);
    assert_eq!(titles(&home.claude()), ["What is wrong here?"]);

    home.session(TWO, &[json!({"type": "mode", "text": "A".repeat(600 << 10)}), said("Too late")]);
    assert_eq!(titles(&home.claude()), ["What is wrong here?"], "no file is read far");
}

#[test]
fn the_title_is_the_last_one_given_then_the_summary_then_the_first_message() {
    let home = Home::new();
    let title = |text: &str| json!({"type": "custom-title", "customTitle": text});
    let summary = json!({"type": "summary", "summary": "Summed up"});
    home.session(ONE, &[said("First"), title("Old"), title("Named"), summary.clone()]);
    home.session(TWO, &[said("First"), summary]);
    let mut titles = titles(&home.claude());
    titles.sort();
    assert_eq!(titles, ["Named", "Summed up"]);
}

#[test]
fn what_claude_writes_in_the_users_name_is_no_title() {
    let home = Home::new();
    let mut meta = said("Hidden");
    meta["isMeta"] = json!(true);
    let result =
        json!({"type": "user", "cwd": "/work", "message": {"content": [{"type": "tool_result"}]}});
    let mut plain = said("");
    plain["message"]["content"] = json!("Plain words");
    home.session(ONE, &[meta, said("<command-name>/clear</command-name>"), result, plain]);
    assert_eq!(titles(&home.claude()), ["Plain words"]);
}

#[test]
fn files_of_sub_agents_and_files_without_a_message_are_no_sessions() {
    let home = Home::new();
    let mut aside = said("Do a part");
    aside["isSidechain"] = json!(true);
    home.session(ONE, &[aside.clone()]);
    home.session(TWO, &[json!({"type": "mode"})]);
    home.session("agent-a15b4e65", &[said("Named as a sub-agent")]);
    home.write(&format!("projects/-work/{ONE}/subagents/{TWO}.jsonl"), &[said("Deeper")]);
    assert_eq!(titles(&home.claude()), Vec::<String>::new());
}

#[test]
fn a_first_message_behind_a_wall_of_other_lines_is_found_and_a_huge_file_is_not_read_whole() {
    let home = Home::new();
    let wall = json!({"type": "api-request", "body": "x".repeat(200_000)});
    let lines = [wall.clone(), said("Behind the wall"), wall.clone(), wall];
    home.session(ONE, &lines);
    assert_eq!(titles(&home.claude()), ["Behind the wall"]);
    let endless = json!({"type": "user", "body": "x".repeat(2_000_000)});
    home.session(ONE, &[endless, said("Too far")]);
    assert_eq!(titles(&home.claude()), Vec::<String>::new());
}

#[test]
fn damaged_and_foreign_files_are_passed_over() {
    let home = Home::new();
    let path = home.session(ONE, &[said("Whole")]);
    let damaged = path.with_file_name(format!("{TWO}.jsonl"));
    fs::write(&damaged, b"{\"type\":\"user\",\xff\xfe\n{\"type\":\"user\"").unwrap();
    let link = path.with_file_name("487f99bd-d7f4-4384-ae02-2cda5f235d06.jsonl");
    std::os::unix::fs::symlink(&path, link).unwrap();
    fs::create_dir(path.with_file_name("90907f85-725f-478c-9aab-ee796b080481.jsonl")).unwrap();
    assert_eq!(titles(&home.claude()), ["Whole"]);
    assert_eq!(look(&Place::Claude("/nowhere".into())), []);
}

#[test]
fn codex_sessions_are_found_in_their_days() {
    let home = Home::new();
    let about = |source: Value| {
        json!({"type": "session_meta", "payload": {
            "id": ONE, "cwd": "/work/shop", "timestamp": "2026-11-15T22:35:11.043Z", "cli_version": "0.166.0",
            "source": source, "git": {"branch": "fix"},
        }})
    };
    let user = |text: &str| {
        json!({"type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": text}],
        }})
    };
    let lines =
        [about(json!("cli")), user("<environment_context>…"), user("Remember the word apple")];
    home.write("sessions/2026/11/15/rollout-2026-11-15T22-35-11-x.jsonl", &lines);
    let mine = [about(json!({"subagent": "review"})), user("Review it")];
    home.write("sessions/2026/11/15/rollout-2026-11-15T22-35-12-y.jsonl", &mine);
    let found = look(&home.codex());
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.agent_ref.as_str(), one.title.as_str()), (ONE, "Remember the word apple"));
    assert_eq!((one.branch.as_deref(), one.cwd.as_path()), (Some("fix"), Path::new("/work/shop")));
}

/// Recorded from the real programs.
#[test]
fn what_the_real_agents_wrote_is_found() {
    let home = Home::new();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/claude/files");
    let copied = |from: &Path, to: &str| {
        let to = home.0.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    let claude = [("two-turns", ONE), ("tool", TWO)];
    for (name, id) in claude {
        copied(
            &recorded.join(format!("{name}.jsonl")),
            &format!("projects/-home-user-demo/{id}.jsonl"),
        );
    }
    let rollout = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex-rollout.jsonl");
    copied(&rollout, "sessions/2026/11/15/rollout-2026-11-15T22-35-11-01a1e159.jsonl");

    let mut found = look(&home.claude());
    found.sort_by(|one, other| one.agent_ref.cmp(&other.agent_ref));
    let [one, two] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.agent_ref.as_str(), one.title.as_str()), (ONE, "First message"));
    assert_eq!(one.version.as_deref(), Some("2.1.325"));
    assert!(two.title.starts_with("Run it. FAKE:BASH"), "{two:?}");
    let found = look(&home.codex());
    let [codex] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(codex.agent_ref, "01a1e159-a534-7802-bbe9-fbd50379783c");
    let about = (codex.title.as_str(), codex.version.as_deref());
    assert_eq!(about, ("Remember the word apple", Some("0.166.0")));
    assert_eq!(codex.cwd, Path::new("/home/user/demo"));
}

#[test]
fn a_pipe_is_not_opened_and_what_cannot_be_read_is_passed_over() {
    let home = Home::new();
    let path = home.session(ONE, &[said("Whole")]);
    let pipe = path.with_file_name(format!("{TWO}.jsonl"));
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let dangling = path.with_file_name("487f99bd-d7f4-4384-ae02-2cda5f235d06.jsonl");
    std::os::unix::fs::symlink("/nowhere/at/all", dangling).unwrap();
    assert_eq!(titles(&home.claude()), ["Whole"]);
}

#[test]
fn looking_again_reads_only_what_changed_and_forgets_what_is_gone() {
    let home = Home::new();
    let place = home.claude();
    let path = home.session(ONE, &[said("Before")]);
    let mut index = Index::default();
    assert!(index.look(&place));
    assert!(!index.look(&place), "nothing changed");
    let mut kept = Index::read(&index.write().unwrap());
    assert!(!kept.look(&place), "it was kept");
    home.session(ONE, &[said("Afterwards")]);
    assert!(kept.look(&place));
    assert_eq!(
        kept.found(&place).map(|found| found.title.as_str()).collect::<Vec<_>>(),
        ["Afterwards"]
    );
    fs::remove_file(path).unwrap();
    assert!(kept.look(&place));
    assert_eq!(kept.found(&place).count(), 0);
    assert_eq!(Index::read(b"rubbish").found(&place).count(), 0);
}

#[test]
fn a_name_of_any_length_is_cut_and_only_one_spelling_of_an_id_counts() {
    let home = Home::new();
    let mut long = said("hello");
    long["gitBranch"] = json!("b".repeat(100_000));
    long["version"] = json!("v".repeat(100_000));
    home.session(ONE, &[long]);
    for spelling in [format!("urn:uuid:{TWO}"), format!("{{{TWO}}}"), TWO.replace('-', "")] {
        home.session(&spelling, &[said("the same again")]);
    }
    let found = look(&home.claude());
    let ids: Vec<_> = found.iter().map(|found| found.agent_ref.as_str()).collect();
    assert_eq!(ids, [ONE]);
    let length = |name: &Option<String>| name.as_ref().map(String::len);
    assert_eq!((length(&found[0].branch), length(&found[0].version)), (Some(200), Some(200)));

    let home = Home::new();
    let meta = |id: &str| {
        json!({"type": "session_meta", "payload": {"id": id, "cwd": "/work/shop",
            "timestamp": "2026-11-15T22:26:15.798Z", "cli_version": "v".repeat(100_000),
            "git": {"branch": "b".repeat(100_000)}}})
    };
    let words = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "hello"}]}});
    let file = |name: &str| format!("sessions/2026/11/15/rollout-{name}.jsonl");
    home.write(&file("one"), &[meta(ONE), words.clone()]);
    home.write(&file("two"), &[meta(&format!("urn:uuid:{TWO}")), words]);
    let found = look(&home.codex());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((length(&found[0].branch), length(&found[0].version)), (Some(200), Some(200)));
}

/// As programs in JavaScript write it after they cut a text in the middle of an emoji.
#[test]
fn half_an_emoji_hides_no_session() {
    let home = Home::new();
    let halved = |line: Value| line.to_string().replace("HALF", r"\ud83c");
    let write = |path: &str, lines: &[Value]| {
        let path = home.write(path, &[]);
        let lines: String = lines.iter().map(|line| halved(line.clone()) + "\n").collect();
        fs::write(path, lines).unwrap();
    };
    write(&format!("projects/-work/{ONE}.jsonl"), &[said("Party HALF")]);
    let title = json!({"type": "custom-title", "customTitle": "Named HALF"});
    write(&format!("projects/-work/{TWO}.jsonl"), &[said("Party"), title]);
    let mut titles_of_claude = titles(&home.claude());
    titles_of_claude.sort();
    assert_eq!(titles_of_claude, ["Named \u{FFFD}", "Party \u{FFFD}"]);

    let about = json!({"type": "session_meta", "payload": {"id": ONE, "cwd": "/work/shop",
        "instructions": "HALF", "git": {"branch": "main"}}});
    let words = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "Party HALF"}]}});
    write("sessions/2026/11/15/rollout-one.jsonl", &[about, words]);
    assert_eq!(titles(&home.codex()), ["Party \u{FFFD}"]);
}
