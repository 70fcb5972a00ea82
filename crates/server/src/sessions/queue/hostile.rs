//! Requests and events in any order: no message is lost or repeated, and what the agent was handed is at the top.

use std::collections::BTreeSet;

use liminal_contract::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

#[derive(Debug, Clone)]
enum Event {
    Send,
    Act(String, QueueAct),
    Hand(String),
    HandSaved(String),
    GiveHanded,
    ReturnHanded(String),
    ReturnUngiven,
    TakenUp(String),
    TurnBegan,
    TurnEnded(QueueHold),
    Restarted,
    Resume,
    Calm,
    Next,
    Restart,
}

fn name(message: usize) -> String {
    format!("m{message}")
}

/// The first of these are soon there; the others may never be.
fn message() -> impl Strategy<Value = String> {
    (0..8_usize).prop_map(name)
}

fn act() -> impl Strategy<Value = QueueAct> {
    let words = || select(vec!["said", "changed", ""]).prop_map(str::to_owned);
    prop_oneof![
        Just(QueueAct::Remove {}),
        (words(), words()).prop_map(|(was, content)| QueueAct::Edit { was, content }),
        proptest::option::of(message()).prop_map(|before| QueueAct::Move { before }),
        Just(QueueAct::Steer {}),
        Just(QueueAct::Hold {}),
        Just(QueueAct::Release {}),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = || select(vec![QueueHold::Stopped, QueueHold::Failed]);
    prop_oneof![
        4 => Just(Event::Send),
        6 => (message(), act()).prop_map(|(message, act)| Event::Act(message, act)),
        3 => message().prop_map(Event::Hand),
        3 => message().prop_map(Event::HandSaved),
        2 => Just(Event::GiveHanded),
        1 => message().prop_map(Event::ReturnHanded),
        1 => Just(Event::ReturnUngiven),
        2 => message().prop_map(Event::TakenUp),
        2 => Just(Event::TurnBegan),
        2 => outcome().prop_map(Event::TurnEnded),
        1 => Just(Event::Restarted),
        2 => Just(Event::Resume),
        1 => Just(Event::Calm),
        3 => Just(Event::Next),
        1 => Just(Event::Restart),
    ]
}

/// A queue, and the messages that must stand in it.
struct Watched {
    queue: Queue<String>,
    sent: usize,
    waiting: BTreeSet<String>,
}

impl Watched {
    fn new() -> Self {
        Self { queue: Queue::new(MessageQueue::default()), sent: 0, waiting: BTreeSet::new() }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Send => self.sends(),
            Event::Act(message, act) => {
                let is_removal = matches!(act, QueueAct::Remove {});
                if self.queue.act(&message, act).is_ok() {
                    assert!(self.waiting.contains(&message), "{message} is not in the queue");
                    self.waiting.retain(|waiting| !is_removal || *waiting != message);
                }
            }
            // As the task does: a message is handed over once.
            Event::Hand(message) => {
                if self.queue.get(&message).is_some_and(|queued| !queued.handed) {
                    self.queue.hand(&message).unwrap();
                }
            }
            Event::HandSaved(message) => self.queue.hand_saved(&message),
            Event::GiveHanded => {
                let given = self.queue.give_handed();
                assert!(given.iter().all(|queued| self.waiting.contains(&queued.message)));
            }
            Event::ReturnHanded(message) => {
                self.queue.return_handed(&message);
            }
            Event::ReturnUngiven => {
                self.queue.return_ungiven();
            }
            Event::TakenUp(message) => {
                let turn = TurnId::new("t");
                let taken = self.queue.taken_as(&turn, &ItemId::steered(&turn, &message));
                self.leaves(taken);
            }
            Event::TurnEnded(why) => {
                self.queue.turn_ended(why);
            }
            Event::TurnBegan => {
                self.queue.turn_began();
            }
            Event::Restarted => {
                self.queue.restarted();
            }
            Event::Resume => self.queue.resume(),
            Event::Calm => self.queue.calm(),
            Event::Next => self.goes_on(),
            Event::Restart => self.queue = Queue::new(self.queue.shown()),
        }
    }

    fn sends(&mut self) {
        let message = name(self.sent);
        self.sent += 1;
        let queued = QueuedMessage {
            attachments: Vec::new(),
            message: message.clone(),
            content: "said".to_owned(),
            queued_at: Timestamp::from_millis(0),
            request_id: None,
            handed: false,
            editing: false,
        };
        self.queue.push(queued).unwrap();
        self.queue.wait(&message, message.clone());
        self.waiting.insert(message);
    }

    fn goes_on(&mut self) {
        let is_held = self.queue.held_by().is_some() && self.queue.urgent.is_none();
        let must_wait = is_held || self.queue.is_given();
        let next = self.queue.next();
        assert!(!must_wait || next.is_none(), "{next:?} was sent though it had to wait");
        self.leaves(next);
    }

    fn leaves(&mut self, taken: Option<(QueuedMessage, Vec<String>)>) {
        if let Some((QueuedMessage { message, .. }, told)) = taken {
            assert!(self.waiting.remove(&message), "{message} left the queue twice");
            assert!(told.iter().all(|waiter| *waiter == message), "{told:?} for {message}");
        }
    }

    fn is_sound(&self) {
        let MessageQueue { messages, held, .. } = self.queue.shown();
        let names: Vec<String> = messages.iter().map(|queued| queued.message.clone()).collect();
        assert_eq!(names.len(), self.waiting.len(), "{names:?}");
        assert!(names.iter().all(|name| self.waiting.contains(name)), "{names:?}");
        assert!(held.is_none() || !names.is_empty(), "an empty queue is never held");
        let handed: Vec<String> = self.queue.handed.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names[..handed.len()], handed, "what the agent was handed is at the top");
        let is_marked =
            |(at, queued): (usize, &QueuedMessage)| queued.handed == (at < handed.len());
        assert!(messages.iter().enumerate().all(is_marked), "{messages:?}");
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn requests_in_any_order_lose_and_repeat_no_message(events in vec(event(), 0..60)) {
        let mut watched = Watched::new();
        for event in events {
            watched.happens(event);
            watched.is_sound();
        }
    }
}
