//! Every recorded line of the real codex-acp, and what it becomes. `fixtures/codex-acp/NAME.said` holds the
//! expectation; refresh it with `UPDATE_RECORDINGS=1 cargo test -p liminal-agents` and read the difference.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::TurnEnd;
use super::*;

/// Feeds a recording to a normaliser as the provider would, and writes each line with its output.
fn play(name: &str) -> String {
    let path = format!("{}/fixtures/codex-acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let recording = std::fs::read_to_string(path).unwrap();
    let (mut normaliser, mut turns, mut asks) = (normaliser(), 0, Vec::new());
    let mut prompts = Vec::new();
    let mut text = String::new();
    for line in recording.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let message = &line["msg"];
        let method = message["method"].as_str();
        let (label, outputs) = match (line["dir"].as_str().unwrap(), method) {
            ("in", Some("session/load")) => {
                normaliser.begin_history(true);
                ("> session/load".to_owned(), Vec::new())
            }
            ("in", Some("session/prompt")) => {
                turns += 1;
                prompts.push(message["id"].clone());
                let mut outputs = normaliser.end_history(AT);
                let turn = TurnId::new(format!("t{turns}"));
                outputs.extend(normaliser.begin_turn(turn, TurnOrigin::User, AT));
                ("> session/prompt".to_owned(), outputs)
            }
            ("in", Some("session/cancel")) => {
                normaliser.stop();
                ("> session/cancel".to_owned(), Vec::new())
            }
            ("in", Some(method)) => (format!("> {method}"), Vec::new()),
            ("in", None) => {
                let (item, options, call): (_, Vec<liminal_contract::AskOption>, String) =
                    asks.remove(0);
                let option = message["result"]["outcome"]["optionId"].as_str();
                let by = option.map_or(liminal_contract::OutcomeBy::Cancel, |_| {
                    liminal_contract::OutcomeBy::User
                });
                let refused = super::super::super::permissions::refuses(&options, option);
                let outcome = liminal_contract::Outcome {
                    option_id: option.map(str::to_owned),
                    ..liminal_contract::Outcome::without_choice(by)
                };
                let outputs =
                    normaliser.settle(item, outcome, refused.then_some(call.as_str()), AT);
                (format!("> answer {}", option.unwrap_or("cancelled")), outputs)
            }
            ("out", Some("session/update")) => {
                let update = &message["params"]["update"];
                let label = format!("< {}", update["sessionUpdate"].as_str().unwrap());
                (label, normaliser.update(&raw(update), AT))
            }
            ("out", Some("session/request_permission")) => {
                let params = raw(&message["params"]);
                let call = super::super::permission::call_of(&params).unwrap();
                let (item, options, outputs) = normaliser.ask(&params, AT).unwrap();
                asks.push((item, options, call));
                ("< session/request_permission".to_owned(), outputs)
            }
            ("out", Some(method)) => (format!("< {method}"), Vec::new()),
            ("out", None) if prompts.contains(&message["id"]) => {
                let end = super::super::super::turn_end::of_answer(&message["result"], false);
                ("< the end of the turn".to_owned(), normaliser.end_turn(end, AT))
            }
            ("out", None) => ("< answer".to_owned(), normaliser.facts_at_start(&message["result"])),
            (dir, _) => panic!("{dir}"),
        };
        writeln!(text, "{label}").unwrap();
        for output in told(outputs) {
            writeln!(text, "    {output}").unwrap();
        }
    }
    text
}

fn check(name: &str) {
    let told = play(name);
    let path = format!("{}/fixtures/codex-acp/{name}.said", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_RECORDINGS").is_some() {
        std::fs::write(&path, &told).unwrap();
    }
    let expected = std::fs::read_to_string(Path::new(&path)).unwrap();
    for (n, (told, expected)) in told.lines().zip(expected.lines()).enumerate() {
        assert_eq!(told, expected, "line {} of {path}", n + 1);
    }
    assert_eq!(told.lines().count(), expected.lines().count(), "{path}");
}

/// One test per recording, so that a failure names it.
macro_rules! recordings {
    ($($claim:ident: $name:literal,)*) => {$(
        #[test]
        fn $claim() {
            check($name);
        }
    )*};
}

recordings! {
    a_command_that_was_asked_for_and_allowed: "tool",
    a_command_that_was_refused: "tool-denied",
    a_question_that_was_cancelled: "cancel-permission",
    thoughts_before_an_answer: "thinking",
    an_outage_of_the_model_is_a_failed_turn: "error-400",
    a_second_try_is_told: "error-500",
    a_loaded_session_tells_its_history_first: "load-2-loaded",
    files_written_read_and_changed: "tool-write-read-edit",
    a_mode_that_decides_by_itself: "tool-mode-agent",
    modes_and_options: "modes",
    two_turns: "two-turns",
}

#[test]
fn ends_are_only_said_of_turns_that_go_on() {
    let mut normaliser = normaliser();
    let end = TurnEnd::Stopped { reason: None, usage: None };
    assert_eq!(told(normaliser.end_turn(end, AT)), Vec::<String>::new());
}
