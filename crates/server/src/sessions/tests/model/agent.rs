//! Random actions of an agent and its user, as the changes that the session's task makes of them.

use std::collections::HashMap;
use std::path::Path;

use liminal_contract::{
    Blocks, Body, ErrorCode, ItemId, ItemStatus, MessageOrigin, Outcome, OutcomeBy, SessionId,
    Severity, Timestamp, TurnEvent, TurnEventKind, TurnId, TurnOrigin, TurnOutcome, TurnStatus,
};
use liminal_stream::{Growth, Interlude, Notice, Permission, Source, ToolCall, Upsert};
use serde_json::{Value, json};

use super::Dice;
use crate::journal::{Change, TurnRow};
use crate::sessions::news::News;
use crate::sessions::transcript::{Applied, Transcript};

/// Pieces of text: some split blocks, some join them, some have a different length in a browser than here.
const PIECES: [&str; 12] = [
    "word ",
    "é",
    "🦀",
    "\n\n",
    "\n- ",
    "`",
    "```\n",
    "**",
    "<b>",
    "[a](b)",
    "| a | b |\n|---|---|\n",
    "# ",
];

/// One commit, and the news to send afterwards.
pub struct Step {
    /// The session's last `seq` afterwards.
    pub seq: u64,
    pub changes: Vec<Change>,
    pub told: Vec<(u64, News)>,
}

pub struct Agent {
    session: SessionId,
    transcript: Transcript,
    turn: Option<TurnRow>,
    open: Vec<Upsert>,
    /// Calls and permissions that were still open when their turn ended.
    left: Vec<Upsert>,
    blocks: HashMap<ItemId, Blocks>,
    turns: u64,
    items: u64,
    clock: i64,
}

impl Agent {
    pub fn new(session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            transcript: Transcript::new(0, 0, Path::new("/project")),
            turn: None,
            open: Vec::new(),
            left: Vec::new(),
            blocks: HashMap::new(),
            turns: 0,
            items: 0,
            clock: 0,
        }
    }

    /// The `seq` of the last change.
    pub fn seq(&self) -> u64 {
        self.transcript.seq()
    }

    /// The approximate number of items.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// An item's blocks as they were last sent.
    pub fn blocks(&self, item: &ItemId) -> Value {
        self.blocks.get(item).map_or(Value::Null, |blocks| json!(blocks))
    }

    /// The next random action.
    pub fn speak(&mut self, dice: &mut Dice) -> Step {
        self.clock += 1;
        if self.turn.is_none() {
            return match dice.roll(8) {
                0..2 if !self.left.is_empty() => self.come_late(dice),
                _ => self.begin(dice.roll(4) == 0),
            };
        }
        match dice.roll(20) {
            0..4 => self.start_item(dice),
            4..15 if !self.open.is_empty() => self.grow(dice),
            15..17 if !self.open.is_empty() => self.end_item(dice),
            17 if !self.left.is_empty() => self.come_late(dice),
            18 => self.end_turn(dice),
            _ => self.start_item(dice),
        }
    }

    fn begin(&mut self, by_agent: bool) -> Step {
        self.turns += 1;
        let id = TurnId::new(format!("turn-{}", self.turns));
        self.transcript.begin_turn();
        self.left.retain(|item| matches!(item.source, Source::ToolCall(_) | Source::Permission(_)));
        let (mut changes, mut told) = (Vec::new(), Vec::new());
        let origin = if by_agent { TurnOrigin::Agent } else { TurnOrigin::User };
        let mut row = TurnRow::started(id.clone(), 0, origin, self.now());
        self.turn = Some(row.clone());
        if !by_agent {
            let said = Source::message("Do *this*.", MessageOrigin::User);
            let upsert = self.upsert(ItemId::user(&id), ItemStatus::Complete, said);
            let step = self.apply(upsert);
            changes.extend(step.changes);
            told.extend(step.told);
        }
        row.seq = self.transcript.next_seq();
        row.model_id = Some("model".into());
        let kind = TurnEventKind::TurnStarted {
            model_id: "model".into(),
            provider_id: "model".into(),
            origin,
        };
        told.push((row.seq, self.event(kind)));
        changes.push(Change::Turn(Box::new(row.clone())));
        self.turn = Some(row);
        Step { seq: self.seq(), changes, told }
    }

    fn end_turn(&mut self, dice: &mut Dice) -> Step {
        let Some(mut row) = self.turn.clone() else { unreachable!("a turn runs") };
        row.seq = self.transcript.next_seq();
        let kind = match dice.roll(3) {
            0 => {
                row.end(self.now(), TurnOutcome::Failed);
                row.error_code = Some(ErrorCode::ProcessCrash);
                row.error_message = Some("It is gone.".into());
                TurnEventKind::TurnError {
                    error_code: ErrorCode::ProcessCrash,
                    error_message: "It is gone.".into(),
                    details: None,
                }
            }
            cancelled => {
                let (outcome, status) = if cancelled == 1 {
                    (TurnOutcome::Cancelled, TurnStatus::Cancelled)
                } else {
                    (TurnOutcome::Completed, TurnStatus::Completed)
                };
                row.end(self.now(), outcome);
                row.stop_reason = Some("end_turn".into());
                let stop_reason = row.stop_reason.clone();
                TurnEventKind::TurnComplete { status, usage: None, stop_reason }
            }
        };
        let event = self.event(kind);
        self.turn = None;
        // These can still get their final state after their turn.
        self.left.extend(self.open.drain(..).filter(|item| {
            matches!(item.source, Source::ToolCall(_) | Source::Permission(_) | Source::Notice(_))
        }));
        self.transcript.end_turn();
        let seq = row.seq;
        Step { seq, changes: vec![Change::Turn(Box::new(row))], told: vec![(seq, event)] }
    }

    fn start_item(&mut self, dice: &mut Dice) -> Step {
        self.items += 1;
        let content = piece(dice).to_owned();
        let source = match dice.roll(9) {
            0..4 => Source::message(content, MessageOrigin::Agent),
            4 => Source::Thinking { content, provider_id: "model".into() },
            5 => Source::ToolCall(ToolCall {
                tool_name: "Bash".into(),
                call_id: self.items.to_string(),
                ..ToolCall::default()
            }),
            6 => Source::Permission(Permission { title: content, ..Permission::default() }),
            7 => {
                Source::Interlude(Interlude::CommandOutput { command: "/c".into(), text: content })
            }
            _ => Source::Notice(Notice {
                severity: Severity::Info,
                text: content,
                actions: Vec::new(),
                details: None,
            }),
        };
        let id = ItemId::new(format!("item-{}", self.items));
        // A short one is sent once, when it is complete.
        let at_once = dice.roll(6) == 0;
        let status = if at_once { ItemStatus::Complete } else { ItemStatus::Create };
        let upsert = self.upsert(id, status, source);
        if !at_once {
            self.open.push(upsert.clone());
        }
        self.apply(upsert)
    }

    fn grow(&mut self, dice: &mut Dice) -> Step {
        let at = dice.index(self.open.len());
        let more = piece(dice);
        let item = &mut self.open[at];
        item.status = ItemStatus::Update;
        extend(&mut item.source, more);
        let grows = !matches!(item.source, Source::Permission(_) | Source::Notice(_));
        if !grows || dice.roll(5) == 0 {
            return self.again(at);
        }
        let (turn_id, item_id) = (item.turn_id.clone(), item.item_id.clone());
        let now = self.now();
        let (source_timestamp, emitted_at, text) = (now, now, more.to_owned());
        let growth = Growth { turn_id, item_id, source_timestamp, emitted_at, text };
        let applied = self.transcript.grow(growth).unwrap();
        self.step(applied)
    }

    fn end_item(&mut self, dice: &mut Dice) -> Step {
        let at = dice.index(self.open.len());
        let item = &mut self.open[at];
        item.status = if dice.roll(5) == 0 { ItemStatus::Error } else { ItemStatus::Complete };
        // The final text may differ from what was sent before.
        if dice.roll(3) == 0
            && let Source::Message { content, .. } | Source::Thinking { content, .. } =
                &mut item.source
        {
            content.insert_str(0, "Rather: ");
        }
        let step = self.again(at);
        self.open.swap_remove(at);
        step
    }

    /// An item of an ended turn gets its final state.
    fn come_late(&mut self, dice: &mut Dice) -> Step {
        let at = dice.index(self.left.len());
        let mut item = self.left.swap_remove(at);
        item.status = ItemStatus::Complete;
        match &mut item.source {
            Source::Permission(ask) => {
                ask.outcome = Some(Outcome::without_choice(OutcomeBy::AgentLeft));
            }
            source => extend(source, "late"),
        }
        item.emitted_at = self.now();
        self.apply(item)
    }

    fn again(&mut self, at: usize) -> Step {
        let now = self.now();
        let item = &mut self.open[at];
        (item.source_timestamp, item.emitted_at) = (now, now);
        let item = item.clone();
        self.apply(item)
    }

    fn apply(&mut self, upsert: Upsert) -> Step {
        let applied = self.transcript.put(upsert, None);
        self.step(applied)
    }

    fn step(&mut self, Applied { seq, changes, news }: Applied) -> Step {
        match &news {
            Some(News::Item(item)) => {
                if let Body::Message { blocks, .. } | Body::Thinking { blocks, .. } = &item.body {
                    self.blocks.insert(item.item_id.clone(), blocks.clone());
                }
            }
            Some(News::Grew { growth, edit, .. }) => {
                let blocks = self.blocks.get_mut(&growth.item_id).unwrap();
                blocks.splice(edit.from, edit.keep, &edit.blocks);
            }
            Some(News::Ended(_) | News::Settled(_) | News::Turn(..) | News::Facts(_)) | None => {}
        }
        Step { seq, changes, told: news.map(|news| (seq, news)).into_iter().collect() }
    }

    fn upsert(&self, item_id: ItemId, status: ItemStatus, source: Source) -> Upsert {
        Upsert {
            turn_id: self.turn.as_ref().map(|row| row.turn_id.clone()).unwrap(),
            session_id: self.session.clone(),
            item_id,
            source_timestamp: self.now(),
            emitted_at: self.now(),
            started_at: self.now(),
            status,
            failure: None,
            parent_call_id: None,
            source,
        }
    }

    fn event(&self, kind: TurnEventKind) -> News {
        let turn_id = self.turn.as_ref().map(|row| row.turn_id.clone()).unwrap();
        let event = TurnEvent { turn_id, session_id: self.session.clone(), kind };
        News::Turn(Box::new(event), self.now())
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock)
    }
}

fn piece(dice: &mut Dice) -> &'static str {
    PIECES[dice.index(PIECES.len())]
}

fn extend(source: &mut Source, more: &str) {
    match source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            content.push_str(more)
        }
        Source::ToolCall(call) => call.tool_output.get_or_insert_default().push_str(more),
        Source::Permission(ask) => ask.title.push_str(more),
        Source::Notice(notice) => notice.text.push_str(more),
        Source::Interlude(Interlude::CommandOutput { text, .. }) => text.push_str(more),
        Source::Interlude(_) | Source::Plan { .. } => {}
    }
}
