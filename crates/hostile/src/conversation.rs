//! Watches what a normaliser says: every event must be one that could also come from outside, and what the processor
//! makes of them must be a conversation.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use liminal_contract::{ItemStatus, SessionId, TurnEventKind, TurnId};
use liminal_stream::{Emission, Now, Pacing, Payload, Source, StreamEvent, UpsertProcessor};

/// A conversation as far as it was told.
pub struct Conversation {
    processor: UpsertProcessor,
    clock: u64,
    begun: HashSet<TurnId>,
    ended: HashSet<TurnId>,
    items: HashMap<(TurnId, String), ItemStatus>,
}

impl Conversation {
    /// Nothing was said yet.
    pub fn new(session: SessionId) -> Self {
        Self {
            processor: UpsertProcessor::new(session, Pacing::paced(Duration::from_millis(33))),
            clock: 0,
            begun: HashSet::new(),
            ended: HashSet::new(),
            items: HashMap::new(),
        }
    }

    /// The normaliser says this.
    ///
    /// # Panics
    /// When it must not.
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

    /// Nothing more is said.
    ///
    /// # Panics
    /// When a turn has no end.
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
                Emission::Upsert(upsert) => {
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

/// What a normaliser says is valid where it is written and read again.
fn check_wire_form(event: &StreamEvent) {
    let json = serde_json::to_value(event).unwrap_or_default();
    match serde_json::from_value::<StreamEvent>(json.clone()) {
        Ok(again) => assert_eq!(&again, event),
        Err(error) => panic!("an event that would be refused ({error}): {json}"),
    }
}
