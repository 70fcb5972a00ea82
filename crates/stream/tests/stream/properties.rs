//! Properties of any text in any pieces, and of any events in any order.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use liminal_contract::{
    ItemStatus, MessageOrigin, Outcome, OutcomeBy, Severity, TurnEventKind, TurnId, TurnOrigin,
};
use liminal_stream::{
    Emission, FinalItem, Interlude, ItemFailure, NewItem, Notice, Now, Pacing, Patch, Payload,
    Permission, ResponseStatus, Source, ToolPatch, Upsert,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::support::*;

/// Small enough that items are split often.
const LIMIT: usize = 24;

fn pacing() -> impl Strategy<Value = Pacing> {
    prop_oneof![
        Just(Pacing::gradient()),
        Just(Pacing::gradient_of(&[1, 2, 4], Duration::from_millis(20))),
        (0..50_u64).prop_map(|ms| Pacing::paced(Duration::from_millis(ms))),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![Just('a'), Just('\n'), Just('é'), Just('漢'), Just('😀'), any::<char>()],
        0..120,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

/// Cuts a text where the indices say.
fn chop(text: &str, cuts: &[Index]) -> Vec<String> {
    let boundaries: Vec<usize> =
        text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut at: Vec<usize> = cuts.iter().map(|cut| *cut.get(&boundaries)).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
}

#[derive(Debug, Clone)]
struct Said {
    text: String,
    cuts: Vec<Index>,
    kind: Kind,
    ends: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Message,
    Reasoning,
    Output,
}

fn said_item() -> impl Strategy<Value = Said> {
    let kind = prop_oneof![Just(Kind::Message), Just(Kind::Reasoning), Just(Kind::Output)];
    (text(), prop::collection::vec(any::<Index>(), 0..12), kind, any::<bool>())
        .prop_map(|(text, cuts, kind, ends)| Said { text, cuts, kind, ends })
}

impl Said {
    fn events(&self, n: usize) -> Vec<Payload> {
        let (item, call) = (format!("i{n}"), format!("call-{n}"));
        let begin = match self.kind {
            Kind::Message => start_message(&item),
            Kind::Reasoning => start_reasoning(&item),
            Kind::Output => start_call(&item, "Bash", &call),
        };
        let pieces = chop(&self.text, &self.cuts).into_iter().map(|piece| match self.kind {
            Kind::Message | Kind::Reasoning => delta(&item, &piece),
            Kind::Output => output_grew(&item, &piece),
        });
        let end = self.ends.then(|| match self.kind {
            Kind::Message => done_message(&item, &self.text),
            Kind::Reasoning => done_reasoning(&item, &self.text),
            Kind::Output => done_output(&item, &call, &self.text),
        });
        [begin].into_iter().chain(pieces).chain(end).collect()
    }
}

/// Checks each emission against all before it.
#[derive(Default)]
struct Watch {
    last: HashMap<(TurnId, String), Upsert>,
    order: Vec<String>,
    ended_turns: HashSet<TurnId>,
    turns_begun: HashSet<TurnId>,
}

impl Watch {
    fn see(&mut self, emissions: Vec<Emission>) {
        for emission in emissions {
            match emission {
                Emission::Put(upsert) => self.see_upsert(upsert),
                Emission::Grew(growth) => unreachable!("not made whole: {growth:?}"),
                Emission::Turn(event) => match event.kind {
                    TurnEventKind::TurnStarted { .. } => {
                        assert!(!self.ended_turns.contains(&event.turn_id), "begun after its end");
                        assert!(self.turns_begun.insert(event.turn_id), "begun twice");
                    }
                    TurnEventKind::TurnComplete { .. } | TurnEventKind::TurnError { .. } => {
                        assert!(self.ended_turns.insert(event.turn_id), "ended twice");
                    }
                },
            }
        }
    }

    fn see_upsert(&mut self, upsert: Upsert) {
        let key = (upsert.turn_id.clone(), upsert.item_id.to_string());
        assert_eq!(upsert.status == ItemStatus::Error, upsert.failure.is_some());
        let before = self.last.get(&key);
        match before {
            None => {
                assert_ne!(upsert.status, ItemStatus::Update, "first seen by an update");
                self.order.push(key.1.clone());
            }
            Some(before) => {
                assert!(is_open(before), "emitted after its end: {before:?} {upsert:?}");
                assert_ne!(upsert.status, ItemStatus::Create, "created twice");
                assert_eq!(before.started_at, upsert.started_at);
            }
        }
        if self.ended_turns.contains(&upsert.turn_id) {
            let outlives = matches!(
                upsert.source,
                Source::ToolCall(_) | Source::Permission(_) | Source::Notice(_)
            );
            // A call may continue in a new item if its output is too long for one.
            let continues = upsert.item_id.as_str().contains('+');
            assert!(outlives && (before.is_some() || continues), "after its turn: {upsert:?}");
        }
        self.last.insert(key, upsert);
    }

    /// The text of an item of `t1` and of all items that continue it.
    fn whole(&self, item: &str) -> String {
        let piece = |n: usize| if n == 0 { item.to_owned() } else { format!("{item}+{n}") };
        (0..).map_while(|n| self.last.get(&(TurnId::new("t1"), piece(n)))).map(body).collect()
    }
}

fn is_open(upsert: &Upsert) -> bool {
    matches!(upsert.status, ItemStatus::Create | ItemStatus::Update)
}

fn body(upsert: &Upsert) -> &str {
    match &upsert.source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => content,
        Source::ToolCall(call) => call.tool_output.as_deref().unwrap_or_default(),
        Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) | Source::Interlude(_) => {
            ""
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_in_any_pieces_arrives_whole_and_in_order(
        pacing in pacing(),
        limited in any::<bool>(),
        items in prop::collection::vec(said_item(), 1..5),
        choices in prop::collection::vec((any::<Index>(), 0..40_u64, any::<bool>()), 80),
        status in prop_oneof![
            Just(ResponseStatus::Completed),
            Just(ResponseStatus::Cancelled),
            Just(ResponseStatus::Error)
        ],
    ) {
        let mut stream = Stream::silent(pacing);
        if limited {
            stream.processor = stream.processor.with_item_limit(LIMIT);
        }
        let mut watch = Watch::default();
        watch.see(stream.say(response_start()));

        let mut queues: Vec<_> =
            items.iter().enumerate().map(|(n, item)| item.events(n).into_iter()).collect();
        let mut lengths: HashMap<String, usize> = HashMap::new();
        let mut expected_order = Vec::new();
        let mut choices = choices.into_iter().cycle();
        while !queues.is_empty() {
            let (which, pause, flush) = choices.next().unwrap();
            let which = which.index(queues.len());
            let Some(event) = queues[which].next() else {
                drop(queues.remove(which));
                continue;
            };
            if let Some(item) = first_said(&event)
                && !expected_order.contains(&item)
            {
                expected_order.push(item);
            }
            stream.now += pause;
            if flush {
                watch.see(stream.flush_at(stream.now));
            }
            watch.see(stream.say(event));
            for (n, item) in items.iter().enumerate() {
                let id = format!("i{n}");
                let whole = watch.whole(&id);
                prop_assert!(item.text.starts_with(&whole), "{:?} of {:?}", whole, item.text);
                let length = lengths.entry(id).or_default();
                prop_assert!(whole.len() >= *length, "it shrank");
                *length = whole.len();
            }
            // Every waiting item has a deadline, and nothing overdue is left.
            if let Some(deadline) = stream.deadline() {
                prop_assert!(deadline > stream.now, "{deadline} at {}", stream.now);
            }
        }

        watch.see(stream.say(Payload::done(status)));
        prop_assert_eq!(stream.deadline(), None);
        prop_assert_eq!(watch.ended_turns.len(), 1);
        for (n, item) in items.iter().enumerate() {
            prop_assert_eq!(watch.whole(&format!("i{n}")), item.text.clone());
        }
        let seen: Vec<_> =
            watch.order.iter().filter(|item| !item.contains('+')).cloned().collect();
        prop_assert_eq!(seen, expected_order);
        for upsert in watch.last.values() {
            let item = &items[upsert.item_id.as_str()[1..2].parse::<usize>().unwrap()];
            if !item.ends && status == ResponseStatus::Cancelled {
                let full = upsert.status == ItemStatus::Complete && limited;
                prop_assert!(is_open(upsert) || full, "labelled though it was cancelled");
            }
            if item.ends {
                prop_assert_eq!(upsert.status, ItemStatus::Complete);
            }
        }
    }

    #[test]
    fn any_events_in_any_order_keep_the_rules(
        pacing in pacing(),
        events in prop::collection::vec((0..3_usize, any_event(), 0..30_u64, 0..20_u8), 0..150),
    ) {
        let mut stream = Stream::silent(pacing);
        stream.processor = stream.processor.with_item_limit(LIMIT);
        let mut watch = Watch::default();
        for (turn, event, pause, other) in events {
            stream.now += pause;
            stream.in_turn(["t1", "t2", "t3"][turn]);
            watch.see(match other {
                0 => {
                    let flushed = stream.processor.flush_all(at(stream.now));
                    stream.whole(flushed)
                }
                1..=3 => stream.flush_at(stream.now),
                _ => stream.say(event),
            });
            if let Some(deadline) = stream.deadline() {
                let due = stream.processor.flush(Now { mono: Duration::from_millis(deadline), ..at(0) });
                watch.see(stream.whole(due));
                prop_assert!(stream.deadline().is_none_or(|next| next > deadline));
            }
        }
        let failure =
            ItemFailure { code: liminal_contract::ErrorCode::ProcessCrash, message: "x".to_owned() };
        let last = stream.processor.destroy(failure, at(stream.now));
        watch.see(stream.whole(last));
        prop_assert!(watch.turns_begun.is_subset(&watch.ended_turns), "a turn without an end");
        prop_assert_eq!(stream.deadline(), None);
        for turn in ["t1", "t2", "t3"] {
            if watch.ended_turns.contains(&TurnId::new(turn)) {
                let after = stream.in_turn(turn).say(delta("i0", "late"));
                prop_assert_eq!(after, []);
            }
        }
    }

    #[test]
    fn any_event_reads_as_it_is_written(payload in any_event()) {
        let written = serde_json::to_string(&payload).unwrap();
        prop_assert_eq!(serde_json::from_str::<Payload>(&written).unwrap(), payload);
    }
}

/// The item that this event mentions first, if any.
fn first_said(event: &Payload) -> Option<String> {
    match event {
        Payload::ItemDelta { item_id, delta_content } if !delta_content.is_empty() => {
            Some(item_id.to_string())
        }
        Payload::ItemStart { item_id, item: NewItem::FunctionCall { .. }, .. }
        | Payload::ItemDone { item_id, .. } => Some(item_id.to_string()),
        _ => None,
    }
}

fn item_name() -> impl Strategy<Value = String> {
    (0..5_usize).prop_map(|n| ["i0", "i1", "i2", "i0+1", "t1:call:c1"][n].to_owned())
}

fn call_name() -> impl Strategy<Value = String> {
    (0..3_usize).prop_map(|n| ["c0", "c1", "c2"][n].to_owned())
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z😀]{1,60}"]
}

fn tool_patch() -> impl Strategy<Value = ToolPatch> {
    (prop::option::of(words()), prop::option::of(words()), prop::option::of(words())).prop_map(
        |(title, output, output_delta)| ToolPatch {
            title,
            output,
            output_delta,
            ..ToolPatch::default()
        },
    )
}

fn interlude() -> Interlude {
    Interlude::CommandOutput { command: "/cost".into(), text: "None yet.".into() }
}

fn notice() -> Box<Notice> {
    Box::new(Notice {
        severity: Severity::Info,
        text: "n".to_owned(),
        actions: Vec::new(),
        details: None,
    })
}

fn new_item() -> impl Strategy<Value = NewItem> {
    prop_oneof![
        prop::option::of(words()).prop_map(|initial_content| NewItem::Message {
            initial_content,
            origin: MessageOrigin::Agent
        }),
        prop::option::of(words())
            .prop_map(|initial_content| NewItem::Reasoning { initial_content }),
        (call_name(), tool_patch()).prop_map(|(call_id, about)| NewItem::FunctionCall {
            name: "Bash".to_owned(),
            call_id,
            about: Box::new(about)
        }),
        prop::option::of(call_name()).prop_map(|call_id| NewItem::FunctionCallOutput { call_id }),
        Just(NewItem::Plan { entries: Vec::new() }),
        Just(NewItem::Permission { ask: Box::new(Permission::default()) }),
        Just(NewItem::Notice { notice: notice() }),
        Just(NewItem::Interlude { interlude: interlude() }),
    ]
}

fn final_item() -> impl Strategy<Value = FinalItem> {
    prop_oneof![
        words().prop_map(|content| FinalItem::Message { content, origin: MessageOrigin::Agent }),
        words().prop_map(|content| FinalItem::Reasoning { content, provider_id: "acp".to_owned() }),
        call_name().prop_map(|call_id| FinalItem::FunctionCall {
            name: "Bash".to_owned(),
            call_id,
            arguments: object(json!({"a": 1}))
        }),
        (call_name(), words(), any::<bool>(), tool_patch()).prop_map(
            |(call_id, output, is_error, about)| FinalItem::FunctionCallOutput {
                call_id,
                output,
                is_error,
                about: Box::new(about)
            }
        ),
        Just(FinalItem::Plan { entries: Vec::new() }),
        Just(FinalItem::Permission { outcome: Outcome::without_choice(OutcomeBy::Cancel) }),
        Just(FinalItem::Notice { notice: notice() }),
        Just(FinalItem::Interlude { interlude: interlude() }),
    ]
}

fn any_event() -> impl Strategy<Value = Payload> {
    let status = prop_oneof![
        Just(ResponseStatus::Completed),
        Just(ResponseStatus::Cancelled),
        Just(ResponseStatus::Error)
    ];
    prop_oneof![
        2 => Just(Payload::ResponseStart {
            model_id: String::new(),
            provider_id: "acp".to_owned(),
            origin: TurnOrigin::Agent,
        }),
        8 => (item_name(), new_item()).prop_map(|(item, new)| start(&item, new)),
        12 => (item_name(), words()).prop_map(|(item, text)| delta(&item, &text)),
        6 => (item_name(), tool_patch()).prop_map(|(item, change)| patch(&item, change)),
        1 => item_name().prop_map(|item| Payload::ItemUpdate {
            item_id: id(&item),
            patch: Patch::Plan { entries: Vec::new() },
        }),
        1 => item_name().prop_map(|item| Payload::ItemUpdate {
            item_id: id(&item),
            patch: Patch::Notice { notice: notice() },
        }),
        8 => (item_name(), final_item()).prop_map(|(item, last)| done(&item, last)),
        2 => item_name().prop_map(|item| item_error(&item, "X", "no")),
        2 => item_name().prop_map(|item| item_cancelled(&item)),
        1 => status.prop_map(Payload::done),
        1 => Just(response_error("X", "no")),
    ]
}
