//! The recordings of real agents, line by line, and what no recording has.

mod hostile;
mod recordings;
mod untidy;

use liminal_contract::{SessionId, Timestamp, TurnId, TurnOrigin};
use liminal_stream::{Payload, SessionFact};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Normaliser;
use crate::Output;

const AT: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// For a session whose agent begins turns `own-1`, `own-2`, …
fn normaliser() -> Normaliser {
    let mut own = 0;
    Normaliser::new(SessionId::parse("codex:s1").unwrap(), "codex", move || {
        own += 1;
        TurnId::new(format!("own-{own}"))
    })
}

/// One in the middle of the turn `t1`.
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

/// Whole values, one line each: the turn and the payload of an event, or the fact.
fn told(outputs: Vec<Output>) -> Vec<String> {
    let line = |output| match output {
        Output::Event(event) => {
            assert_eq!((event.timestamp, event.session_id.as_str()), (AT, "codex:s1"));
            format!("{} {}", event.turn_id, payload(&event.payload))
        }
        Output::Fact(SessionFact::Other { kind, value }) => format!("fact Other {kind} {value}"),
        Output::Fact(fact) => format!("fact {fact:?}"),
        Output::HistoryTold => "history told".to_owned(),
        Output::HistoryReplaced => "history replaced".to_owned(),
        Output::AgentLeft(details) => format!("left {details:?}"),
    };
    outputs.into_iter().map(line).collect()
}

fn payload(payload: &Payload) -> String {
    serde_json::to_string(payload).unwrap()
}
