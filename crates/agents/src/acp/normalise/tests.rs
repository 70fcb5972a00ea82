//! Recordings of real agents, line by line, and cases that no recording has.

mod cards;
mod hostile;
mod plans;
mod recordings;
mod repeated;
mod untidy;

use liminal_contract::{Asks, SessionId, Timestamp, TurnId, TurnOrigin};
use liminal_stream::{Payload, SessionFact};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{Normaliser, TurnEnd};
use crate::Output;

const AT: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Its agent starts turns `own-1`, `own-2`, …
fn normaliser() -> Normaliser {
    let mut own = 0;
    Normaliser::new(SessionId::parse("codex:s1").unwrap(), "codex", move || {
        own += 1;
        TurnId::new(format!("own-{own}"))
    })
}

/// In the middle of the turn `t1`.
fn in_a_turn() -> Normaliser {
    let mut normaliser = normaliser();
    normaliser.begin_turn(TurnId::new("t1"), TurnOrigin::User, AT);
    normaliser
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn update(normaliser: &mut Normaliser, value: Value) -> Vec<String> {
    told(normaliser.update(&raw(&value), AT))
}

/// One line per output: the turn and the payload of an event, or the fact.
fn told(outputs: Vec<Output>) -> Vec<String> {
    let line = |output| match output {
        Output::Event(event) => {
            assert_eq!((event.timestamp, event.session_id.as_str()), (AT, "codex:s1"));
            format!("{} {}", event.turn_id, payload(&event.payload))
        }
        Output::Fact(fact) => format!("fact {fact:?}"),
        Output::HistoryTold => "history told".to_owned(),
        Output::HistoryReplaced => "history replaced".to_owned(),
        Output::Returned { message } => format!("returned {message}"),
        Output::AgentLeft(details) => format!("left {details:?}"),
    };
    outputs.into_iter().map(line).collect()
}

#[test]
fn whether_an_agent_asks_is_reported_only_once_it_was_told_to() {
    let mut normaliser = normaliser();
    normaliser.reported.ask_mode = Some("ask".to_owned());
    let modes = |current: &str| {
        let modes = [json!({"id": "auto", "name": "Auto"}), json!({"id": "ask", "name": "Ask"})];
        json!({"modes": {"currentModeId": current, "availableModes": modes}})
    };
    let asks = |outputs: Vec<Output>| -> Vec<Asks> {
        let each = outputs.into_iter().filter_map(|output| match output {
            Output::Fact(SessionFact::Asks(asks)) => Some(asks),
            _ => None,
        });
        each.collect()
    };
    assert_eq!(asks(normaliser.facts_at_start(&modes("auto"))), []);
    let (id, wanted) = normaliser.reported.ask_mode_to_set().unwrap();
    assert_eq!(asks(normaliser.option_set(&id, &wanted, &json!({}))), [Asks::Always]);
    assert_eq!(asks(normaliser.facts_at_start(&modes("ask"))), [Asks::Always]);
    assert_eq!(asks(normaliser.report_options()), [Asks::Always]);
}

fn payload(payload: &Payload) -> String {
    serde_json::to_string(payload).unwrap()
}
