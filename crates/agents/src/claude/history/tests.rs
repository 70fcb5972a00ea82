use std::path::PathBuf;

use liminal_stream::{FinalItem, Payload, ResponseStatus};
use serde_json::{Value, json};

use super::*;

/// A directory for session files, removed after the test.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("projects/-home-user-demo")).unwrap();
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, id: &str, text: &str) -> Reader {
        let path = self.path(&format!("projects/-home-user-demo/{id}.jsonl"));
        fs::write(&path, text).unwrap();
        Reader {
            session: SessionId::parse("claude-code:s").unwrap(),
            project: PathBuf::from("/home/user/demo"),
            path,
        }
    }

    fn fixture(&self, name: &str) -> Reader {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude/files").join(name);
        self.write("fixture", &fs::read_to_string(path).unwrap())
    }
}

fn tell(reader: &Reader, what: &History) -> Vec<Output> {
    let mut said = Vec::new();
    let mut say = |output, _| said.push(output);
    reader.tell(what, &mut say).unwrap().end(&mut say);
    said
}

/// A transcript in short lines: each message with its author, and how turns ended.
fn lines(said: &[Output]) -> Vec<String> {
    said.iter()
        .filter_map(|output| match output {
            Output::Event(event) => Some(&event.payload),
            _ => None,
        })
        .filter_map(|payload| match payload {
            Payload::ItemDone { final_item, .. } => Some(match final_item {
                FinalItem::Message { content, origin } => format!("{origin:?}: {content}"),
                FinalItem::Reasoning { content, .. } => format!("thinks: {content}"),
                FinalItem::FunctionCall { name, .. } => format!("calls {name}"),
                FinalItem::FunctionCallOutput { output, is_error, .. } => {
                    format!("result ({is_error}): {}", output.lines().next().unwrap_or_default())
                }
                FinalItem::Notice { notice } => format!("notice: {}", notice.text),
                FinalItem::Interlude { interlude } => format!("interlude: {}", interlude.text()),
                other => format!("{other:?}"),
            }),
            Payload::ItemStart {
                item: liminal_stream::NewItem::Message { initial_content: Some(text), .. },
                ..
            } => Some(format!("open: {text}")),
            Payload::ResponseDone { status: ResponseStatus::Completed, .. } => None,
            Payload::ResponseDone { status, .. } => Some(format!("{status:?}")),
            Payload::ResponseError { error } => Some(format!("failed: {}", error.message)),
            _ => None,
        })
        .collect()
}

fn id(n: u128) -> String {
    Uuid::from_u128(n).to_string()
}

fn user(n: u128, parent: Option<u128>, content: Value) -> Value {
    json!({"type": "user", "uuid": id(n), "parentUuid": parent.map(id), "timestamp": "2026-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": content}})
}

fn agent(n: u128, parent: u128, text: &str) -> Value {
    json!({"type": "assistant", "uuid": id(n), "parentUuid": id(parent), "timestamp": "2026-01-02T03:04:06.000Z",
        "message": {"id": format!("msg{n}"), "model": "m", "content": [{"type": "text", "text": text}]}})
}

fn file(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn recorded_files_read_as_they_were_said() {
    let home = Home::new();
    assert_eq!(
        lines(&tell(&home.fixture("two-turns.jsonl"), &History::All)),
        [
            "User: First message",
            "Agent: Hello from the fake model. You said: First message",
            "User: Second message",
            "Agent: Hello from the fake model. You said: Second message",
        ]
    );
    assert_eq!(
        lines(&tell(&home.fixture("thinking.jsonl"), &History::All)),
        [
            "User: Please think. FAKE:THINK",
            "thinks: First I consider the question. Then I weigh the options. Done.",
            "Agent: Here is my considered answer.",
        ]
    );
    assert_eq!(
        lines(&tell(&home.fixture("tool.jsonl"), &History::All)),
        [
            "User: Run it. FAKE:BASH touch made-by-tool.txt && ls",
            "Agent: I will run a command.",
            "calls Bash",
            "result (false): always.txt",
            "Agent: The tool answered: always.txt\nmade-by-tool.txt\nmode.txt\nnotes.txt\none.txt",
        ]
    );
    assert_eq!(
        lines(&tell(&home.fixture("cancel.jsonl"), &History::All)),
        [
            "User: Go on at length. FAKE:LONG 400 20",
            "open: word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 ",
            "Cancelled",
            "User: Are you still there?",
            "Agent: Hello from the fake model. You said: Are you still there?",
        ]
    );
}

#[test]
fn reading_twice_gives_the_same_ids() {
    let home = Home::new();
    let reader = home.fixture("tool.jsonl");
    assert_eq!(tell(&reader, &History::All), tell(&reader, &History::All));
}

#[test]
fn only_the_branch_that_stands_is_told() {
    let home = Home::new();
    let reader = home.write(
        "a",
        &file(&[
            user(1, None, json!("Begin")),
            agent(2, 1, "Begun."),
            user(3, Some(2), json!("A wrong way")),
            agent(4, 3, "Gone wrong."),
            user(5, Some(2), json!("A better way")),
            agent(6, 5, "Gone well."),
        ]),
    );
    assert_eq!(
        lines(&tell(&reader, &History::All)),
        ["User: Begin", "Agent: Begun.", "User: A better way", "Agent: Gone well."]
    );
}

#[test]
fn what_nobody_typed_is_not_the_users() {
    let home = Home::new();
    let mut meta = user(2, Some(1), json!("Caveat of sorts"));
    meta["isMeta"] = json!(true);
    let reader = home.write(
        "a",
        &file(&[
            user(
                1,
                None,
                json!([
                    {"type": "text", "text": "<system-reminder>x</system-reminder>"},
                    {"type": "text", "text": "Typed"},
                ]),
            ),
            meta,
            agent(3, 2, "Yes?"),
            user(
                4,
                Some(3),
                json!("<command-name>/cost</command-name>\n<command-args></command-args>"),
            ),
            user(5, Some(4), json!("<local-command-stdout>$3</local-command-stdout>")),
            user(
                6,
                Some(5),
                json!("<command-name>/review</command-name><command-args>src</command-args>"),
            ),
            agent(7, 6, "Reviewed."),
            user(8, Some(7), json!("[Request interrupted by user]")),
        ]),
    );
    assert_eq!(
        lines(&tell(&reader, &History::All)),
        [
            "User: Typed",
            "Agent: Yes?",
            "User: /cost",
            "interlude: $3",
            "User: /review src",
            "Agent: Reviewed.",
            "Cancelled"
        ]
    );
}

#[test]
fn a_tool_that_was_stopped_is_not_told_as_refused() {
    let home = Home::new();
    for (then, expected) in [
        (user(4, Some(3), json!("[Request interrupted by user for tool use]")), "Cancelled"),
        (agent(4, 3, "I will not."), "result (true): No."),
    ] {
        let call = json!({"type": "assistant", "uuid": id(2), "parentUuid": id(1), "message": {"id": "m", "content": [
            {"type": "tool_use", "id": "run", "name": "Bash", "input": {"command": "sleep 9"}}]}});
        let block = json!({"type": "tool_result", "tool_use_id": "run", "content": "No.", "is_error": true});
        let mut result = user(3, Some(2), json!([block]));
        result["toolUseResult"] = json!("User rejected tool use");
        let reader = home.write("a", &file(&[user(1, None, json!("Go")), call, result, then]));
        let said = lines(&tell(&reader, &History::All));
        assert_eq!(said[..3], ["User: Go", "calls Bash", expected], "{said:?}");
    }
}

#[test]
fn a_torn_last_line_is_left_for_later() {
    let home = Home::new();
    let whole = file(&[user(1, None, json!("Hi")), agent(2, 1, "Hello.")]);
    let third = file(&[user(3, Some(2), json!("More"))]);
    let reader = home.write("a", &format!("{whole}{}", &third[..40]));
    assert_eq!(lines(&tell(&reader, &History::All)), ["User: Hi", "Agent: Hello."]);
    let mark = reader.mark().unwrap().unwrap();
    assert_eq!(mark, HistoryMark { bytes: whole.len() as u64, last_id: id(2) });

    let reader = home.write("a", &format!("{whole}{third}"));
    assert_eq!(
        lines(&tell(&reader, &History::After { mark, known: Vec::new() })),
        [
            "User: More",
            "notice: The following happened outside Liminal Builder, for example in a terminal."
        ]
    );
}

#[test]
fn a_turn_that_is_known_is_not_told_again_and_nothing_is_said_about_it() {
    let home = Home::new();
    let before = file(&[user(1, None, json!("Hi")), agent(2, 1, "Hello.")]);
    let mark = home.write("a", &before).mark().unwrap().unwrap();
    let ours = file(&[
        user(3, Some(2), json!("Ours")),
        agent(4, 3, "Half an ans"),
        user(5, Some(4), json!("[Request interrupted by user]")),
    ]);
    let after = History::After { mark, known: vec![TurnId::new(id(3))] };
    let reader = home.write("a", &format!("{before}{ours}"));
    assert_eq!(lines(&tell(&reader, &after)), [""; 0]);
    let theirs = file(&[user(6, Some(5), json!("Theirs")), agent(7, 6, "Yes.")]);
    let reader = home.write("a", &format!("{before}{ours}{theirs}"));
    assert_eq!(
        lines(&tell(&reader, &after)),
        [
            "User: Theirs",
            "notice: The following happened outside Liminal Builder, for example in a terminal.",
            "Agent: Yes."
        ]
    );
}

#[test]
fn what_fills_the_place_of_an_answer_that_never_came_is_not_told() {
    let home = Home::new();
    let before = file(&[user(1, None, json!("One"))]);
    let mark = home.write("a", &before).mark().unwrap().unwrap();
    let mut filler = agent(2, 1, "No response requested.");
    filler["message"]["model"] = json!("<synthetic>");
    let after = file(&[filler, user(3, Some(2), json!("Two"))]);
    let reader = home.write("a", &format!("{before}{after}"));
    let known = vec![TurnId::new(id(1)), TurnId::new(id(3))];
    assert_eq!(lines(&tell(&reader, &History::After { mark, known })), [""; 0]);
    assert_eq!(lines(&tell(&reader, &History::All)), ["User: One", "User: Two"]);
}

#[test]
fn a_mark_on_a_branch_that_was_left_means_all_of_it() {
    let home = Home::new();
    let before =
        file(&[user(1, None, json!("Hi")), agent(2, 1, "Hello."), user(3, Some(2), json!("No"))]);
    let mark = home.write("a", &before).mark().unwrap().unwrap();
    let reader = home.write(
        "a",
        &format!("{before}{}", file(&[user(4, Some(2), json!("Yes")), agent(5, 4, "Good.")])),
    );
    let said = tell(&reader, &History::After { mark, known: Vec::new() });
    assert_eq!(said[0], Output::HistoryReplaced);
    assert_eq!(lines(&said), ["User: Hi", "Agent: Hello.", "User: Yes", "Agent: Good."]);
}

#[test]
fn a_sub_agent_of_the_same_file_works_under_its_call() {
    let home = Home::new();
    let call = json!({"type": "assistant", "uuid": id(2), "parentUuid": id(1), "message": {"id": "m", "content": [
        {"type": "tool_use", "id": "task", "name": "Task", "input": {"prompt": "Look", "description": "d"}}]}});
    let mut prompt = user(3, None, json!("Look"));
    prompt["isSidechain"] = json!(true);
    let mut found = agent(4, 3, "Found.");
    found["isSidechain"] = json!(true);
    let result = user(
        5,
        Some(2),
        json!([{"type": "tool_result", "tool_use_id": "task", "content": "Found."}]),
    );
    let reader = home.write(
        "a",
        &file(&[user(1, None, json!("Go")), call, prompt, found, result, agent(6, 5, "Done.")]),
    );
    let said = tell(&reader, &History::All);
    assert_eq!(
        lines(&said),
        ["User: Go", "calls Task", "Agent: Found.", "result (false): Found.", "Agent: Done."]
    );
    let parents: Vec<&str> = said
        .iter()
        .filter_map(|output| match output {
            Output::Event(event) => match &event.payload {
                Payload::ItemStart { parent_call_id, .. } => parent_call_id.as_deref(),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(parents, ["task"]);
}

#[test]
fn words_around_half_an_emoji_are_kept_also_those_of_sub_agents() {
    let home = Home::new();
    let halved = |records: &[Value]| file(records).replace("HALF", r"\ud83c");
    let call = |n: u128, parent: u128, task: &str, prompt: &str| {
        json!({"type": "assistant", "uuid": id(n), "parentUuid": id(parent), "message": {"id": task, "content": [
            {"type": "tool_use", "id": task, "name": "Task", "input": {"prompt": prompt, "description": "HALF"}}]}})
    };
    let result = |n: u128, parent: u128, task: &str, agent: &str| {
        let content =
            json!([{"type": "tool_result", "tool_use_id": task, "content": "Ended HALF."}]);
        let mut result = user(n, Some(parent), content);
        result["toolUseResult"] = json!({"agentId": agent});
        result
    };
    let beside = |mut record: Value| {
        record["isSidechain"] = json!(true);
        record
    };
    let reader = home.write(
        "a",
        &halved(&[
            user(1, None, json!("Party HALF")),
            call(2, 1, "here", "Look HALF"),
            beside(user(3, None, json!("Look HALF"))),
            beside(agent(4, 3, "Found HALF.")),
            result(5, 2, "here", ""),
            call(6, 5, "there", "Seek"),
            result(7, 6, "there", "b"),
            agent(8, 7, "Done HALF."),
        ]),
    );
    let folder = reader.path.with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let work = [user(11, None, json!("Seek")), agent(12, 11, "Sought HALF.")].map(beside);
    fs::write(folder.join("agent-b.jsonl"), halved(&work)).unwrap();
    assert_eq!(
        lines(&tell(&reader, &History::All)),
        [
            "User: Party \u{FFFD}",
            "calls Task",
            "Agent: Found \u{FFFD}.",
            "result (false): Ended \u{FFFD}.",
            "calls Task",
            "Agent: Sought \u{FFFD}.",
            "result (false): Ended \u{FFFD}.",
            "Agent: Done \u{FFFD}.",
        ]
    );
}

#[test]
fn no_id_leads_out_of_the_folder() {
    let home = Home::new();
    home.write("plain-1", "");
    fs::write(home.path("secret.jsonl"), "{}").unwrap();
    let link = home.path("projects/-home-user-demo/link.jsonl");
    std::os::unix::fs::symlink(home.path("secret.jsonl"), link).unwrap();
    let files = SessionFiles::below(home.0.path());
    assert!(files.find("plain-1").is_some());
    for id in ["", "../../secret", "..", "a/b", "link", "plain-1.jsonl", "nobody", &"x".repeat(65)]
    {
        assert_eq!(files.find(id), None, "{id:?}");
    }
}
