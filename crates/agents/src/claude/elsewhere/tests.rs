use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use liminal_contract::SessionId;
use liminal_stream::{FinalItem, Payload};
use serde_json::{Value, json};

use super::*;
use crate::History;

const USER: &str = "00000000-0000-4000-8000-000000000001";
const CALL: &str = "00000000-0000-4000-8000-000000000002";
const RESULT: &str = "00000000-0000-4000-8000-000000000003";
const END: &str = "00000000-0000-4000-8000-000000000004";

struct Terminal {
    _home: tempfile::TempDir,
    reader: Reader,
}

impl Terminal {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s.jsonl");
        File::create(&path).unwrap();
        let session = SessionId::parse("claude-code:s").unwrap();
        let reader = Reader { session, project: PathBuf::from("/nowhere"), path };
        Self { _home: home, reader }
    }

    fn write(&self, record: &Value) {
        let mut file = OpenOptions::new().append(true).open(&self.reader.path).unwrap();
        writeln!(file, "{record}").unwrap();
    }

    fn types(&self, words: &str) {
        self.write(&json!({"type": "user", "uuid": USER, "parentUuid": null,
            "message": {"role": "user", "content": words}}));
    }

    fn says(&self, uuid: &str, after: &str, block: Value, stop: &str) {
        self.write(&json!({"type": "assistant", "uuid": uuid, "parentUuid": after, "message": {
            "id": format!("msg-{uuid}"), "model": "m", "stop_reason": stop, "content": [block]}}));
    }

    fn watch(&self, said: &mut Vec<Output>) -> Watch {
        let mut say = |output, _| said.push(output);
        let told = self.reader.tell(&History::All, &mut say).unwrap();
        Watch::told(self.reader.clone(), told, &HashSet::new(), &mut say).unwrap()
    }
}

fn look(watch: &mut Watch) -> (Elsewhere, Vec<Output>) {
    let mut said = Vec::new();
    let seen = watch.look(&HashSet::new(), &mut |output, _| said.push(output));
    (seen, said)
}

/// What was said, in short.
fn short(said: &[Output]) -> Vec<String> {
    said.iter()
        .filter_map(|output| match output {
            Output::Fact(SessionFact::Elsewhere(is)) => Some(format!("elsewhere {is}")),
            Output::Event(event) => match &event.payload {
                Payload::ResponseStart { .. } => Some("begins".to_owned()),
                Payload::ResponseDone { .. } => Some("ends".to_owned()),
                Payload::ItemDone { final_item: FinalItem::Message { content, .. }, .. } => {
                    Some(content.clone())
                }
                _ => None,
            },
            _ => None,
        })
        .collect()
}

#[test]
fn a_turn_in_a_terminal_is_told_record_by_record_and_ends_when_nothing_follows_its_last_words() {
    let terminal = Terminal::new();
    terminal.types("Mend it");
    let mut said = Vec::new();
    let mut watch = terminal.watch(&mut said);
    assert_eq!(short(&said), ["elsewhere true", "begins", "Mend it"], "nobody answered yet");

    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}});
    terminal.says(CALL, USER, call, "tool_use");
    let (seen, said) = look(&mut watch);
    assert_eq!(seen, Elsewhere::Active);
    assert!(said.iter().any(|output| matches!(output, Output::Event(_))), "the call");
    assert_eq!(short(&look(&mut watch).1), [""; 0]);

    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": "a"}]);
    terminal.write(&json!({"type": "user", "uuid": RESULT, "parentUuid": CALL,
        "toolUseResult": {}, "message": {"role": "user", "content": result}}));
    terminal.says(END, RESULT, json!({"type": "text", "text": "Mended."}), "end_turn");
    let (_, said) = look(&mut watch);
    assert_eq!(short(&said)[0], "Mended.", "in the same turn");
    let (seen, rest) = look(&mut watch);
    let all: Vec<_> = short(&said).into_iter().chain(short(&rest)).collect();
    assert_eq!(all, ["Mended.", "ends", "elsewhere false"]);
    assert_eq!(seen, Elsewhere::Quiet);
}

#[test]
fn a_line_is_told_when_it_is_whole() {
    let terminal = Terminal::new();
    terminal.types("Mend it");
    let mut watch = terminal.watch(&mut Vec::new());
    let record = json!({"type": "assistant", "uuid": CALL, "parentUuid": USER, "message": {
        "id": "m", "model": "m", "stop_reason": "tool_use", "content": [{"type": "text", "text": "Well."}]}});
    let record = record.to_string();
    let (first, second) = record.split_at(40);
    let mut file = OpenOptions::new().append(true).open(&terminal.reader.path).unwrap();
    write!(file, "{first}").unwrap();
    assert_eq!(short(&look(&mut watch).1), [""; 0]);
    writeln!(file, "{second}").unwrap();
    assert_eq!(short(&look(&mut watch).1), ["Well."]);
}

#[test]
fn a_conversation_that_goes_on_from_an_earlier_record_must_be_read_again() {
    let terminal = Terminal::new();
    terminal.types("Mend it");
    terminal.says(CALL, USER, json!({"type": "text", "text": "Yes."}), "tool_use");
    let mut watch = terminal.watch(&mut Vec::new());
    terminal.says(END, USER, json!({"type": "text", "text": "No."}), "end_turn");
    assert_eq!(look(&mut watch).0, Elsewhere::Grown);
}

#[test]
fn nobody_works_on_a_file_that_nobody_added_to() {
    let terminal = Terminal::new();
    terminal.types("Mend it");
    let mark = terminal.reader.mark().unwrap().unwrap();
    let mut watch = Watch::unchanged(terminal.reader.clone(), mark);
    assert_eq!(look(&mut watch), (Elsewhere::Quiet, vec![]));
    std::fs::remove_file(&terminal.reader.path).unwrap();
    assert_eq!(look(&mut watch), (Elsewhere::Quiet, vec![]));
}

#[test]
fn each_process_has_the_file_that_changed_last_since_it_began() {
    let home = tempfile::tempdir().unwrap();
    let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let file = |name: &str, changed: u64| {
        let path = home.path().join(name);
        File::create(&path).unwrap().set_modified(at(changed)).unwrap();
        path
    };
    let (old, middle) = (file("old.jsonl", 10), file("middle.jsonl", 20));
    let (ours, new) = (file("ours.jsonl", 40), file("new.jsonl", 30));
    let claude = |started: u64, arguments: &[&str]| Other {
        started: at(started),
        arguments: arguments.iter().map(ToString::to_string).collect(),
    };
    let known = HashSet::from(["ours".to_owned()]);
    let held = |others: &[Other], path: &PathBuf| has(others, path, &known);
    let one = [claude(15, &["claude"])];
    assert!(held(&one, &new) && !held(&one, &middle) && !held(&one, &old));
    let two = [claude(15, &["claude"]), claude(16, &["claude"])];
    assert!(held(&two, &new) && held(&two, &middle) && !held(&two, &old));
    assert!(held(&[claude(99, &["claude", "--resume", "old"])], &old));
    assert!(!held(&[claude(99, &["claude"])], &new) && !held(&[], &ours));
}

#[test]
fn claude_is_recognised_however_it_was_installed() {
    let is = |words: &[&str]| is_claude(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert!(is(&["claude"]) && is(&["/usr/bin/claude", "-r"]) && is(&["node", "/opt/bin/claude"]));
    assert!(is(&["node", "/x/@anthropic-ai/claude-code/cli.js"]));
    assert!(!is(&["vim", "claude.md"]) && !is(&["cat"]) && !is(&[]));
}
