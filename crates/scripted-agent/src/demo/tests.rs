use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use super::Demo;
use super::wish::Wish;
use crate::brain::{Brain, Prompt};
use crate::script::Step;

#[test]
fn plain_words_are_understood() {
    let table = [
        ("list the files", Wish::List),
        ("List the files!", Wish::List),
        ("read README.md", Wish::Read("README.md".into())),
        ("Read `src/Main.rs`", Wish::Read("src/Main.rs".into())),
        ("edit a file", Wish::Edit),
        ("run a command", Wish::Run(None)),
        ("Run a command.", Wish::Run(None)),
        ("run git status && crash", Wish::Run(Some("git status && crash".into()))),
        ("run: `git status`", Wish::Run(Some("git status".into()))),
        ("`run cd ..`", Wish::Run(Some("cd ..".into()))),
        ("run echo \"hello you\"", Wish::Run(Some("echo \"hello you\"".into()))),
        ("run ls -d .*", Wish::Run(Some("ls -d .*".into()))),
        ("think hard", Wish::Think),
        ("make a plan", Wish::Plan),
        ("plan mode", Wish::PlanMode),
        ("/compact", Wish::Compact),
        ("a long answer", Wish::Long),
        ("ask me", Wish::Ask),
        ("show a diff", Wish::Diff),
        ("colors", Wish::Colours),
        ("a picture", Wish::Picture),
        ("remind me", Wish::Remind),
        ("wait", Wish::Wait),
        ("fail", Wish::Fail),
        ("crash", Wish::Crash),
        ("/help", Wish::Tour),
        ("Hello?", Wish::Tour),
        ("runaway trains", Wish::Unknown),
        ("could you please make sure that it does not crash any more", Wish::Unknown),
        ("", Wish::Unknown),
    ];
    for (text, wish) in table {
        assert_eq!(Wish::of(text), wish, "{text:?}");
    }
}

#[test]
fn every_wish_it_lists_is_one_it_understands() {
    let wishes = include_str!("texts/wishes.md");
    let listed: Vec<&str> =
        wishes.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(listed.len(), 18);
    for wish in listed {
        assert_ne!(Wish::of(wish), Wish::Unknown, "{wish:?}");
    }
}

fn said(text: &str, turn: u32) -> String {
    said_in(std::env::temp_dir().join("no such project"), text, turn)
}

fn said_in(cwd: PathBuf, text: &str, turn: u32) -> String {
    answer(&Prompt::new(&json!(text), cwd, turn))
}

fn answer(prompt: &Prompt) -> String {
    let steps = Demo::new(0).answer(prompt);
    let words = steps.iter().filter_map(|step| match step {
        Step::SayWords(words) => Some(words.text.as_str()),
        _ => None,
    });
    words.collect()
}

#[test]
fn the_first_message_gets_the_tour_and_later_talk_a_hint() {
    assert!(said("what is this thing", 1).starts_with("# Welcome to Liminal Builder"));
    assert!(said("what is this thing", 1).contains("| `list the files` |"));
    let later = said("what is this thing", 2);
    assert!(later.starts_with("> what is this thing\n"), "{later}");
    assert!(later.contains("| `list the files` |"));
}

#[test]
fn attachments_are_counted_in_either_protocol() {
    let picture = "AAAA".repeat(512);
    for block in [
        json!({"type": "image", "mimeType": "image/png", "data": picture}),
        json!({"type": "image", "source": {"media_type": "image/png", "data": picture}}),
    ] {
        let blocks = json!([{"type": "text", "text": "look"}, block]);
        let said = answer(&Prompt::new(&blocks, PathBuf::new(), 1));
        assert!(said.contains("> look") && said.contains("- a picture, image/png, 1 KB"), "{said}");
    }
}

#[test]
fn a_place_without_files_is_no_trouble() {
    for wish in ["list the files", "read README.md", "make a plan", "edit a file"] {
        assert!(!said(wish, 1).is_empty(), "{wish}");
    }
}

#[test]
fn nothing_outside_the_project_is_read() {
    for path in ["../secret", "/etc/hostname", "a/../../b"] {
        assert!(said(&format!("read {path}"), 1).contains("only read files inside"), "{path}");
    }
}

#[test]
fn a_pipe_in_the_project_is_not_waited_for() {
    let project = tempfile::tempdir().unwrap();
    let pipe = project.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (wish, answer) in [("make a plan", "nothing here"), ("read pipe", "couldn't read")] {
        let (tell, told) = mpsc::channel();
        let cwd = project.path().to_owned();
        std::thread::spawn(move || tell.send(said_in(cwd, wish, 1)));
        let told = told.recv_timeout(Duration::from_secs(20));
        assert!(told.as_ref().is_ok_and(|told| told.contains(answer)), "{wish}: {told:?}");
    }
}
