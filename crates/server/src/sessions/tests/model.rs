//! The way from the transcript to the page, with everything that can go wrong on it: late commits, slow readers, broken
//! connections, histories that arrive long after they were requested. The journal, the outbox and the histories are the
//! real ones; at the other end is the page's own code, in Node. Whatever happens, every page ends up with exactly the
//! transcript.

mod agent;
mod page;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use liminal_contract::{Cursor, Frame, ItemId, ItemStatus, Policy, ServerMessage, SessionId};
use serde_json::{Value, json};

use self::agent::{Agent, Step};
use self::page::Pages;
use super::super::news::Growing;
use super::super::open::{self, History, Wanted};
use super::super::view;
use crate::feed::{Closing, Follow, Outbox, Reading};
use crate::journal::{Change, Item, Journal, StoredItem};

const SCENARIOS: u64 = 40;
const STEPS: usize = 250;

fn whole(item: &StoredItem<'_>) -> rusqlite::Result<(Item, usize)> {
    Ok((item.read()?, item.source.len()))
}

/// Reproducible randomness.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.roll(len as u64)).unwrap()
    }
}

/// One page and its end of the connection.
struct Reader {
    follow: Follow,
    outbox: Arc<Outbox>,
    /// A history that was requested but not read yet, or read but not delivered yet.
    opening: Option<Opening>,
    openings: u64,
    /// Pages that were requested and not read yet, or read and not delivered yet, oldest first.
    turning: VecDeque<Turning>,
    last_seq: u64,
}

struct Turning {
    page: Further,
    request_id: Option<String>,
    /// Like the server's: what happens meanwhile comes after the page.
    reading: Reading,
    read: Option<ServerMessage>,
}

enum Further {
    Before(u64),
    After(u64),
}

struct Opening {
    opening: u64,
    wanted: Wanted,
    request_id: Option<String>,
    read: Option<History>,
}

struct Scenario<'a> {
    dice: Dice,
    session: SessionId,
    journal: &'a Journal,
    pages: &'a mut Pages,
    agent: Agent,
    uncommitted: VecDeque<Step>,
    growing: Growing,
    committed: u64,
    readers: Vec<Reader>,
}

impl Scenario<'_> {
    async fn play(mut self) {
        let history = if self.dice.roll(6) == 0 { 800 } else { self.dice.index(12) };
        for _ in 0..history {
            self.speak();
        }
        self.commit(usize::MAX).await;
        for _ in 0..3 {
            let whole = self.dice.roll(3) == 0;
            self.join(if whole { Follow::Whole } else { Follow::Tails }).await;
        }
        for _ in 0..STEPS {
            let reader = self.dice.index(self.readers.len());
            match self.dice.roll(54) {
                0..12 => self.speak(),
                12..17 => {
                    let some = 1 + self.dice.index(4);
                    self.commit(some).await;
                }
                17..27 => {
                    let some = 1 + self.dice.index(5);
                    self.read(reader, some).await;
                }
                27..35 => self.open_further(reader).await,
                35..40 => self.turn_further(reader).await,
                40..42 => self.lose(reader).await,
                42 => self.load(reader).await,
                43 => self.further(reader, "older").await,
                44..50 => self.further(reader, "newer").await,
                50..53 => self.around(reader).await,
                _ => self.replace().await,
            }
        }
        self.commit(usize::MAX).await;
        for reader in 0..self.readers.len() {
            self.catch_up(reader).await;
            self.compare(reader).await;
        }
    }

    /// The page reads on towards the end while the agent works there.
    async fn play_reading_on(mut self) {
        for _ in 0..800 {
            self.speak();
        }
        self.commit(usize::MAX).await;
        self.join(Follow::Tails).await;
        for _ in 0..12 {
            self.around(0).await;
            self.catch_up_opening(0).await;
            self.further(0, "newer").await;
            self.turn_further(0).await;
            for _ in 0..self.dice.index(12) {
                self.speak();
            }
            self.commit(usize::MAX).await;
            self.read(0, usize::MAX).await;
            self.turn_further(0).await;
            self.catch_up(0).await;
            self.compare(0).await;
        }
    }

    async fn join(&mut self, follow: Follow) {
        self.readers.push(Reader {
            follow,
            outbox: Arc::default(),
            opening: None,
            openings: 0,
            turning: VecDeque::new(),
            last_seq: 0,
        });
        self.load(self.readers.len() - 1).await;
    }

    /// The agent or the user does something.
    fn speak(&mut self) {
        let step = self.agent.speak(&mut self.dice);
        self.uncommitted.push_back(step);
    }

    /// The oldest waiting change is committed and may be sent.
    async fn commit(&mut self, most: usize) {
        for _ in 0..most.min(self.uncommitted.len()) {
            let Some(step) = self.uncommitted.pop_front() else { return };
            let (done, on_disk) = tokio::sync::oneshot::channel();
            let told = Box::new(move || done.send(()).unwrap());
            self.journal.commit(&self.session, step.seq, step.changes, told);
            on_disk.await.unwrap();
            self.committed = step.seq;
            let outboxes: Vec<_> = self.readers.iter().map(|it| it.outbox.clone()).collect();
            for (seq, news) in step.told {
                self.growing.tell(&self.session, seq, news, &outboxes);
            }
        }
    }

    /// A page reads some of its waiting frames.
    async fn read(&mut self, at: usize, most: usize) {
        let mut texts = Vec::new();
        while texts.len() < most {
            let reader = &mut self.readers[at];
            let Some(next) = reader.outbox.next().now_or_never() else { break };
            let Ok(text) = next else { return self.lose(at).await };
            let frame: Frame = serde_json::from_slice(&text).unwrap();
            match frame.message {
                ServerMessage::SessionUpsert { seq, .. }
                | ServerMessage::SessionTurn { seq, .. }
                | ServerMessage::SessionTail { seq, .. } => {
                    assert!(seq > reader.last_seq, "{seq} came after {}", reader.last_seq);
                    assert!(seq <= self.committed, "{seq} was shown before it was on disk");
                    reader.last_seq = seq;
                }
                ServerMessage::SessionHistory { seq, .. } => {
                    assert!(seq <= self.committed, "{seq} was shown before it was on disk");
                    reader.last_seq = seq;
                }
                _ => {}
            }
            texts.push(String::from_utf8(text.into()).unwrap());
        }
        if !texts.is_empty() {
            let said = self.pages.tell(json!({ "do": "receive", "page": at, "texts": texts }));
            self.answer(at, said).await;
        }
    }

    /// A history is read and, some time later, delivered to the page that requested it.
    async fn open_further(&mut self, at: usize) {
        let reader = &mut self.readers[at];
        let Some(opening) = &mut reader.opening else { return };
        if let Some(History { frame, seq }) = &opening.read {
            reader.outbox.history(&self.session, opening.opening, *seq, frame);
            reader.opening = None;
        } else {
            let (session, wanted) = (self.session.clone(), opening.wanted.clone());
            let request_id = opening.request_id.take();
            let read = open::read(self.journal, session, wanted, Policy::Ask, request_id).await;
            opening.read = Some(read.unwrap());
        }
    }

    /// A page is read and, some time later, delivered.
    async fn turn_further(&mut self, at: usize) {
        let reader = &mut self.readers[at];
        let Some(turning) = reader.turning.front_mut() else { return };
        if turning.read.is_none() {
            let session = self.session.clone();
            let read = match turning.page {
                Further::Before(index) => open::older(self.journal, session, index).await,
                Further::After(index) => open::newer(self.journal, session, index).await,
            };
            turning.read = Some(read.unwrap());
        } else if let Some(Turning { request_id, reading, read: Some(message), .. }) =
            reader.turning.pop_front()
        {
            reader.outbox.reply(&Frame { request_id, message });
            drop(reading);
        }
    }

    /// The connection breaks, or is closed because the page reads too slowly. The page reconnects.
    async fn lose(&mut self, at: usize) {
        self.readers[at].outbox.close(Closing::TooSlow);
        self.pages.tell(json!({ "do": "lose", "page": at }));
        self.connect(at).await;
    }

    /// The page is reloaded.
    async fn load(&mut self, at: usize) {
        self.pages.tell(json!({ "do": "load", "page": at, "session": self.session }));
        self.pages.tell(json!({ "do": "follow", "page": at }));
        self.connect(at).await;
    }

    async fn connect(&mut self, at: usize) {
        let reader = &mut self.readers[at];
        reader.outbox = Arc::default();
        reader.opening = None;
        reader.turning.clear();
        reader.last_seq = 0;
        let said = self.pages.tell(json!({ "do": "connect", "page": at }));
        self.answer(at, said).await;
    }

    /// The page jumps to an item that it may not have.
    async fn around(&mut self, at: usize) {
        let index = self.dice.roll(self.agent.items() + 1);
        let session = self.session.clone();
        let page = self.journal.read(move |reader| reader.page_before(&session, index + 1, whole));
        if let Some(item) = page.await.unwrap().and_then(|page| page.items.into_iter().last()) {
            let item = &item.upsert.item_id;
            let said = self.pages.tell(json!({ "do": "follow", "page": at, "around": item }));
            self.answer(at, said).await;
        }
    }

    /// The page requests older or newer items.
    async fn further(&mut self, at: usize, which: &str) {
        let said = self.pages.tell(json!({ "do": which, "page": at }));
        self.answer(at, said).await;
    }

    /// The agent's own history replaced the transcript: every follower gets the history again.
    async fn replace(&mut self) {
        let seq = self.agent.seq();
        let stream = Change::Stream(self.dice.roll(u64::MAX).to_string());
        self.uncommitted.push_back(Step { seq, changes: vec![stream], told: Vec::new() });
        self.commit(usize::MAX).await;
        for at in 0..self.readers.len() {
            if self.readers[at].outbox.follows(&self.session).is_some() {
                self.follow(at, Wanted { since: None, around: None }, None);
            }
        }
    }

    /// Like the session's task: registers the outbox first, then reads.
    fn follow(&mut self, at: usize, wanted: Wanted, request_id: Option<String>) {
        let reader = &mut self.readers[at];
        reader.openings += 1;
        let opening = reader.openings;
        reader.outbox.follow(&self.session, opening, reader.follow);
        reader.opening = Some(Opening { opening, wanted, request_id, read: None });
    }

    /// Like the connection: holds the session's changes back first, then reads.
    fn turn(&mut self, at: usize, page: Further, request_id: Option<String>) {
        let reader = &mut self.readers[at];
        let reading = reader.outbox.read_page(&self.session);
        reader.turning.push_back(Turning { page, request_id, reading, read: None });
    }

    /// The server's reaction to a page's message.
    async fn answer(&mut self, at: usize, said: Value) {
        for message in said.as_array().unwrap() {
            let request_id = message["requestId"].as_str().map(str::to_owned);
            match message["type"].as_str().unwrap() {
                "session:open" => {
                    let since: Option<Cursor> =
                        serde_json::from_value(message["since"].clone()).unwrap();
                    let around = message["around"].as_str().map(ItemId::new);
                    self.follow(at, Wanted { since, around }, request_id);
                }
                "session:older" => {
                    self.turn(at, Further::Before(message["before"].as_u64().unwrap()), request_id);
                }
                "session:newer" => {
                    self.turn(at, Further::After(message["after"].as_u64().unwrap()), request_id);
                }
                other => panic!("a page sent {other}"),
            }
        }
    }

    /// Reads older and newer items until there are no more.
    async fn catch_up(&mut self, at: usize) {
        loop {
            self.catch_up_opening(at).await;
            self.turn_further(at).await;
            self.turn_further(at).await;
            self.read(at, usize::MAX).await;
            if self.readers[at].opening.is_some() || !self.readers[at].turning.is_empty() {
                continue;
            }
            let state = self.state(at);
            match (state["older"].as_bool().unwrap(), state["newer"].as_bool().unwrap()) {
                (true, _) => self.further(at, "older").await,
                (false, true) => self.further(at, "newer").await,
                (false, false) => return,
            }
        }
    }

    /// Reads and delivers the history that was requested.
    async fn catch_up_opening(&mut self, at: usize) {
        self.open_further(at).await;
        self.open_further(at).await;
        self.read(at, usize::MAX).await;
    }

    fn state(&mut self, at: usize) -> Value {
        self.pages.tell(json!({ "do": "state", "page": at }))
    }

    async fn compare(&mut self, at: usize) {
        let state = self.state(at);
        let held = state["items"].as_array().unwrap();
        let (items, turns) = self.transcript().await;
        let order = |items: &[Value]| -> Vec<String> {
            items.iter().map(|item| format!("{} {}", item["index"], item["itemId"])).collect()
        };
        let written: Vec<Value> =
            items.iter().map(|item| json!(view::item(item.clone(), &mut Vec::new()))).collect();
        let (held_order, written_order) = (order(held), order(&written));
        let differ = held_order.iter().zip(&written_order).position(|(a, b)| a != b);
        let counts = (held_order.len(), written_order.len());
        assert!(
            differ.is_none() && counts.0 == counts.1,
            "page {at} holds {} of {} items; they differ from {differ:?} on",
            counts.0,
            counts.1,
        );
        for ((held, written), item) in held.iter().zip(&written).zip(&items) {
            let (mut held, mut written) = (held.clone(), written.clone());
            if matches!(item.upsert.status, ItemStatus::Create | ItemStatus::Update) {
                // It never ended. Tails carry no times, its blocks were rendered while it grew or when it was read, and
                // the first state that a page gets of a call says `create`.
                let live = self.agent.blocks(&item.upsert.item_id);
                assert!(
                    held["blocks"] == written["blocks"] || held["blocks"] == live,
                    "page {at} holds {held:#}, but what was read is {written:#} and what was told {live:#}",
                );
                for loose in ["blocks", "emittedAt", "sourceTimestamp", "status"] {
                    held[loose] = Value::Null;
                    written[loose] = Value::Null;
                }
            }
            assert_eq!(held, written);
        }
        for turn in turns {
            if items.iter().all(|item| item.upsert.turn_id != turn.turn_id) {
                continue; // Nothing of it is ever seen.
            }
            let held = &state["turns"][turn.turn_id.as_str()];
            let written = json!(view::turn(turn));
            let told = ["outcome", "stopReason", "modelId", "errorCode", "errorMessage", "origin"];
            for field in told.into_iter().chain(["startedAt", "endedAt"]) {
                assert_eq!(held[field], written[field], "{field} of {written}");
            }
        }
    }

    /// The whole transcript as it is on disk.
    async fn transcript(&self) -> (Vec<Item>, Vec<crate::journal::TurnRow>) {
        let session = self.session.clone();
        let read = self.journal.read(move |reader| {
            let (mut items, mut before) = (Vec::new(), u64::MAX >> 1);
            while let Some(page) = reader.page_before(&session, before, whole)? {
                before = page.items.first().map_or(0, |first| first.index);
                items.splice(0..0, page.items);
                if !page.older {
                    break;
                }
            }
            Ok((items, reader.turns(&session)?))
        });
        read.await.unwrap()
    }
}

/// To repeat one scenario: `LIMINAL_MODEL_SEED=… cargo test -p liminal what_a_page_holds`.
#[tokio::test]
async fn what_a_page_holds_is_the_transcript_whatever_happened_on_the_way() {
    repeat(SCENARIOS, async |scenario| scenario.play().await).await;
}

#[tokio::test]
async fn what_a_page_holds_is_the_transcript_also_where_it_changed_while_it_was_read() {
    repeat(5, async |scenario| scenario.play_reading_on().await).await;
}

async fn repeat(times: u64, play: impl AsyncFn(Scenario<'_>)) {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let mut pages = Pages::start();
    let chosen = std::env::var("LIMINAL_MODEL_SEED").ok().map(|seed| seed.parse().unwrap());
    let first = chosen.unwrap_or_else(|| getrandom::u64().unwrap() >> 1);
    for seed in first..first + if chosen.is_some() { 1 } else { times } {
        let session = SessionId::parse(&format!("model:{seed}")).unwrap();
        let scenario = Scenario {
            dice: Dice(seed),
            agent: Agent::new(&session),
            session,
            journal: &journal,
            pages: &mut pages,
            uncommitted: VecDeque::new(),
            growing: Growing::default(),
            committed: 0,
            readers: Vec::new(),
        };
        let played = std::panic::AssertUnwindSafe(play(scenario)).catch_unwind().await;
        assert!(played.is_ok(), "repeat it with LIMINAL_MODEL_SEED={seed}");
    }
}
