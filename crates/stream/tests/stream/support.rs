//! Short constructors for long events, and a session that gets them at times the test chooses.

use std::collections::HashMap;
use std::time::Duration;

use liminal_contract::{
    ItemId, ItemStatus, MessageOrigin, SessionId, Timestamp, TurnEvent, TurnEventKind, TurnId,
    TurnOrigin, TurnStatus,
};
use liminal_stream::{
    AgentError, Emission, FinalItem, ItemFailure, NewItem, Now, Pacing, Patch, Payload, Source,
    StreamEvent, ToolCall, ToolPatch, Upsert, UpsertProcessor,
};
use serde_json::{Map, Value};

/// The agent's clock is this much behind ours, so that the two can't be mixed up.
const LAG: i64 = 5;

pub fn session_id() -> SessionId {
    SessionId::parse("codex:s1").unwrap()
}

/// Our time, in milliseconds from the start of the test.
pub fn at(ms: u64) -> Now {
    Now { mono: Duration::from_millis(ms), wall: wall(ms) }
}

pub fn wall(ms: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + i64::try_from(ms).unwrap())
}

/// The agent's time for an event that we handle at `ms`.
pub fn said(ms: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000 - LAG + i64::try_from(ms).unwrap())
}

/// A processor with a turn to talk in.
pub struct Stream {
    pub processor: UpsertProcessor,
    pub turn: TurnId,
    pub now: u64,
    /// The newest state of each item, to show growth as whole items.
    items: HashMap<(TurnId, ItemId), Upsert>,
}

impl Stream {
    /// A processor without any event.
    pub fn silent(pacing: Pacing) -> Self {
        let processor = UpsertProcessor::new(session_id(), pacing);
        Self { processor, turn: TurnId::new("t1"), now: 0, items: HashMap::new() }
    }

    /// A processor in the middle of turn `t1`.
    pub fn new(pacing: Pacing) -> Self {
        let mut stream = Self::silent(pacing);
        assert_eq!(stream.say(response_start()), [started("t1")]);
        stream
    }

    /// One event, now.
    pub fn say(&mut self, payload: Payload) -> Vec<Emission> {
        let event = StreamEvent {
            event_id: format!("e{}", self.now),
            timestamp: said(self.now),
            turn_id: self.turn.clone(),
            session_id: session_id(),
            payload,
        };
        let emissions = self.processor.process(event, at(self.now));
        self.whole(emissions)
    }

    /// With the whole item in place of its growth.
    pub fn whole(&mut self, emissions: Vec<Emission>) -> Vec<Emission> {
        let whole = |emission| match emission {
            Emission::Put(upsert) => {
                self.items.insert((upsert.turn_id.clone(), upsert.item_id.clone()), upsert.clone());
                Emission::Put(upsert)
            }
            Emission::Grew(growth) => {
                let of = (growth.turn_id.clone(), growth.item_id.clone());
                let item = self.items.get_mut(&of).unwrap();
                item.grow(&growth);
                Emission::Put(item.clone())
            }
            Emission::Turn(event) => Emission::Turn(event),
        };
        emissions.into_iter().map(whole).collect()
    }

    /// One event, at a later time.
    pub fn say_at(&mut self, ms: u64, payload: Payload) -> Vec<Emission> {
        self.now = ms;
        self.say(payload)
    }

    /// Several events, now.
    pub fn say_all(&mut self, payloads: impl IntoIterator<Item = Payload>) -> Vec<Emission> {
        payloads.into_iter().flat_map(|payload| self.say(payload)).collect()
    }

    /// The emissions of a deadline at a later time.
    pub fn flush_at(&mut self, ms: u64) -> Vec<Emission> {
        self.now = ms;
        let emissions = self.processor.flush(at(ms));
        self.whole(emissions)
    }

    pub fn deadline(&self) -> Option<u64> {
        self.processor.next_deadline().map(|at| u64::try_from(at.as_millis()).unwrap())
    }

    /// The next events are of another turn.
    pub fn in_turn(&mut self, turn: &str) -> &mut Self {
        self.turn = TurnId::new(turn);
        self
    }
}

pub fn id(text: &str) -> ItemId {
    ItemId::new(text)
}

/// Text of this many tokens.
pub fn tokens(n: usize) -> String {
    "word".repeat(n)
}

pub fn response_start() -> Payload {
    Payload::ResponseStart {
        model_id: "model".to_owned(),
        provider_id: "acp".to_owned(),
        origin: TurnOrigin::User,
    }
}

pub fn start(item: &str, new: NewItem) -> Payload {
    Payload::ItemStart { item_id: id(item), parent_call_id: None, item: new }
}

pub fn start_message(item: &str) -> Payload {
    start(item, NewItem::Message { initial_content: None, origin: MessageOrigin::Agent })
}

pub fn start_reasoning(item: &str) -> Payload {
    start(item, NewItem::Reasoning { initial_content: None })
}

pub fn start_call(item: &str, name: &str, call: &str) -> Payload {
    let about = Box::default();
    start(item, NewItem::FunctionCall { name: name.to_owned(), call_id: call.to_owned(), about })
}

pub fn delta(item: &str, text: &str) -> Payload {
    Payload::ItemDelta { item_id: id(item), delta_content: text.to_owned() }
}

pub fn patch(item: &str, patch: ToolPatch) -> Payload {
    Payload::ItemUpdate { item_id: id(item), patch: Patch::Tool(Box::new(patch)) }
}

/// The output of a call grew.
pub fn output_grew(item: &str, text: &str) -> Payload {
    patch(item, ToolPatch { output_delta: Some(text.to_owned()), ..ToolPatch::default() })
}

pub fn done(item: &str, final_item: FinalItem) -> Payload {
    Payload::ItemDone { item_id: id(item), final_item }
}

pub fn done_message(item: &str, content: &str) -> Payload {
    done(item, FinalItem::Message { content: content.to_owned(), origin: MessageOrigin::Agent })
}

pub fn done_reasoning(item: &str, content: &str) -> Payload {
    let (content, provider_id) = (content.to_owned(), "acp".to_owned());
    done(item, FinalItem::Reasoning { content, provider_id })
}

pub fn done_call(item: &str, name: &str, call: &str, arguments: Value) -> Payload {
    let (name, call_id) = (name.to_owned(), call.to_owned());
    done(item, FinalItem::FunctionCall { name, call_id, arguments: object(arguments) })
}

pub fn done_output(item: &str, call: &str, output: &str) -> Payload {
    let (call_id, output) = (call.to_owned(), output.to_owned());
    let about = Box::default();
    done(item, FinalItem::FunctionCallOutput { call_id, output, is_error: false, about })
}

pub fn item_error(item: &str, code: &str, message: &str) -> Payload {
    Payload::ItemError { item_id: id(item), error: agent_error(code, message) }
}

pub fn item_cancelled(item: &str) -> Payload {
    Payload::ItemCancelled { item_id: id(item), reason: None }
}

pub fn response_error(code: &str, message: &str) -> Payload {
    Payload::ResponseError { error: agent_error(code, message) }
}

pub fn agent_error(code: &str, message: &str) -> AgentError {
    AgentError { code: code.to_owned(), message: message.to_owned(), details: None }
}

pub fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// An upsert of turn `t1`, started and sent at one time.
pub fn upsert(item: &str, status: ItemStatus, ms: u64, source: Source) -> Upsert {
    Upsert {
        turn_id: TurnId::new("t1"),
        session_id: session_id(),
        item_id: id(item),
        source_timestamp: said(ms),
        emitted_at: wall(ms),
        started_at: said(ms),
        status,
        failure: None,
        parent_call_id: None,
        source,
    }
}

/// The same with every time at 0, as the processor should emit it.
pub fn shown(item: &str, status: ItemStatus, source: Source) -> Emission {
    Emission::Put(upsert(item, status, 0, source))
}

/// The same, of an item that failed.
pub fn failed(item: &str, failure: ItemFailure, source: Source) -> Emission {
    let upsert = upsert(item, ItemStatus::Error, 0, source);
    Emission::Put(Upsert { failure: Some(failure), ..upsert })
}

pub fn message(content: &str) -> Source {
    Source::message(content, MessageOrigin::Agent)
}

pub fn thinking(content: &str) -> Source {
    Source::Thinking { content: content.to_owned(), provider_id: "acp".to_owned() }
}

pub fn call(name: &str, call_id: &str) -> ToolCall {
    ToolCall { tool_name: name.to_owned(), call_id: call_id.to_owned(), ..ToolCall::default() }
}

/// A call that ended well.
pub fn call_done(name: &str, call_id: &str, output: &str) -> ToolCall {
    ToolCall {
        tool_output: Some(output.to_owned()),
        tool_output_is_error: Some(false),
        ..call(name, call_id)
    }
}

pub fn turn_event(turn: &str, kind: TurnEventKind) -> Emission {
    Emission::Turn(TurnEvent { turn_id: TurnId::new(turn), session_id: session_id(), kind })
}

pub fn started(turn: &str) -> Emission {
    turn_event(
        turn,
        TurnEventKind::TurnStarted {
            model_id: "model".to_owned(),
            provider_id: "acp".to_owned(),
            origin: TurnOrigin::User,
        },
    )
}

pub fn ended(turn: &str, status: TurnStatus) -> Emission {
    turn_event(turn, TurnEventKind::TurnComplete { status, usage: None, stop_reason: None })
}

pub fn turn_failed(turn: &str, failure: ItemFailure) -> Emission {
    let ItemFailure { code: error_code, message: error_message } = failure;
    turn_event(turn, TurnEventKind::TurnError { error_code, error_message, details: None })
}

/// The texts of the upserts among some emissions.
pub fn contents(emissions: &[Emission]) -> Vec<&str> {
    emissions
        .iter()
        .filter_map(|emission| match emission {
            Emission::Put(Upsert {
                source: Source::Message { content, .. } | Source::Thinking { content, .. },
                ..
            }) => Some(content.as_str()),
            Emission::Put(_) | Emission::Grew(_) | Emission::Turn(_) => None,
        })
        .collect()
}
