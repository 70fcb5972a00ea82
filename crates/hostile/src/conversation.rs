//! Checks a normaliser's output: every event must survive a round trip through JSON, and the processor must turn them
//! into a valid conversation.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use liminal_contract::{ItemStatus, SessionId, TurnEventKind, TurnId};
use liminal_stream::{Emission, Now, Pacing, Payload, Source, StreamEvent, UpsertProcessor};

/// The conversation so far.
pub struct Conversation {
    processor: UpsertProcessor,
    clock: u64,
    begun: HashSet<TurnId>,
    ended: HashSet<TurnId>,
    items: HashMap<(TurnId, String), ItemStatus>,
}

impl Conversation {
    pub fn new(session: SessionId) -> Self {
        Self {
            processor: UpsertProcessor::new(session, Pacing::paced(Duration::from_millis(33))),
            clock: 0,
            begun: HashSet::new(),
            ended: HashSet::new(),
            items: HashMap::new(),
        }
    }

    /// Takes the normaliser's next event.
    ///
    /// # Panics
    /// If the event is not allowed here.
    pub fn hear(&mut self, event: StreamEvent) {
        check_wire_form(&event);
        if matches!(event.payload, Payload::ResponseStart { .. }) {
            assert!(self.begun.insert(event.turn_id.clone()), "{} begins twice", event.turn_id);
        } else {
            assert!(self.begun.contains(&event.turn_id), "never begun: {event:?}");
        }
        self.clock += 7;
        let now = Now { mono: Duration::from_millis(self.clock), wall: event.timestamp };
        let emissions = self.processor.process(event, now);
        self.see(emissions);
    }

    /// No more events follow.
    ///
    /// # Panics
    /// If a turn has not ended.
    pub fn end(self) {
        let open: Vec<&TurnId> = self.begun.difference(&self.ended).collect();
        assert!(open.is_empty(), "never ended: {open:?}");
    }

    fn see(&mut self, emissions: Vec<Emission>) {
        for emission in emissions {
            match emission {
                Emission::Turn(event) => match event.kind {
                    TurnEventKind::TurnStarted { .. } => {
                        assert!(!self.ended.contains(&event.turn_id), "begun after its end");
                    }
                    TurnEventKind::TurnComplete { .. } | TurnEventKind::TurnError { .. } => {
                        assert!(self.ended.insert(event.turn_id), "ended twice");
                    }
                },
                Emission::Grew(growth) => {
                    let key = (growth.turn_id.clone(), growth.item_id.to_string());
                    let before = self.items.insert(key, ItemStatus::Update);
                    assert!(before.is_some_and(|before| !before.is_final()), "{growth:?}");
                }
                Emission::Put(upsert) => {
                    let key = (upsert.turn_id.clone(), upsert.item_id.to_string());
                    let before = self.items.insert(key, upsert.status);
                    let open = |status| matches!(status, ItemStatus::Create | ItemStatus::Update);
                    match before {
                        None => assert_ne!(upsert.status, ItemStatus::Update, "never created"),
                        Some(before) => assert!(open(before), "after its end: {upsert:?}"),
                    }
                    let outlives = matches!(
                        upsert.source,
                        Source::ToolCall(_) | Source::Permission(_) | Source::Notice(_)
                    );
                    let turn_is_over = self.ended.contains(&upsert.turn_id);
                    assert!(outlives || !turn_is_over, "after its turn: {upsert:?}");
                }
            }
        }
    }
}

/// Every event survives a round trip through JSON.
fn check_wire_form(event: &StreamEvent) {
    let json = serde_json::to_value(event).unwrap_or_default();
    match serde_json::from_value::<StreamEvent>(json.clone()) {
        Ok(again) => assert_eq!(&again, event),
        Err(error) => panic!("an event that could not be read back ({error}): {json}"),
    }
}
