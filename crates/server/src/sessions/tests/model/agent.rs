//! What an agent and its user say and do, by chance, as the session's task makes changes of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use liminal_contract::{
    Body, ErrorCode, ItemId, ItemStatus, MessageOrigin, Outcome, OutcomeBy, SessionId, Severity,
    Timestamp, TurnEvent, TurnEventKind, TurnId, TurnOrigin, TurnOutcome, TurnStatus,
};
use liminal_stream::{Ask, Notice, Source, ToolCall, Upsert};
use serde_json::{Value, json};

use super::Dice;
use crate::journal::{Change, TurnRow};
use crate::sessions::transcript::Transcript;
use crate::ws::outbox::Told;

/// Pieces of which text is made: what splits blocks, what joins them, what is long to a browser and short to us.
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

/// What belongs into one commit, and what it tells then.
pub struct Step {
    /// The session's last afterwards.
    pub seq: u64,
    /// For the journal.
    pub changes: Vec<Change>,
    /// For the pages.
    pub told: Vec<(u64, Told)>,
}

pub struct Agent {
    session: SessionId,
    transcript: Transcript,
    turn: Option<TurnRow>,
    open: Vec<Upsert>,
    /// Calls and questions that the end of their turn left open.
    left: Vec<Upsert>,
    blocks: HashMap<ItemId, Value>,
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

    /// The number of the last change.
    pub fn seq(&self) -> u64 {
        self.transcript.seq()
    }

    /// About how many items there are.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The blocks of an item as they were told last.
    pub fn blocks(&self, item: &ItemId) -> Value {
        self.blocks[item].clone()
    }

    /// The next thing that happens.
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
            let said =
                Source::Message { content: "Do *this*.".into(), origin: MessageOrigin::User };
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
        // What can still be settled once its turn is over.
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
        let source = match dice.roll(8) {
            0..4 => Source::Message { content, origin: MessageOrigin::Agent },
            4 => Source::Thinking { content, provider_id: "model".into() },
            5 => Source::ToolCall(ToolCall {
                tool_name: "Bash".into(),
                call_id: self.items.to_string(),
                ..ToolCall::default()
            }),
            6 => Source::Permission(Ask { title: content, ..Ask::default() }),
            _ => Source::Notice(Notice {
                severity: Severity::Info,
                text: content,
                actions: Vec::new(),
                details: None,
            }),
        };
        let id = ItemId::new(format!("item-{}", self.items));
        // A short one is told once, when it is over.
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
        self.again(at)
    }

    fn end_item(&mut self, dice: &mut Dice) -> Step {
        let at = dice.index(self.open.len());
        let item = &mut self.open[at];
        item.status = if dice.roll(5) == 0 { ItemStatus::Error } else { ItemStatus::Complete };
        // The last word may differ from what was said before.
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

    /// Something of a turn that is over is settled.
    fn come_late(&mut self, dice: &mut Dice) -> Step {
        let at = dice.index(self.left.len());
        let mut item = self.left.swap_remove(at);
        item.status = ItemStatus::Complete;
        match &mut item.source {
            Source::Permission(ask) => {
                ask.outcome = Some(Outcome { option_id: None, by: OutcomeBy::AgentLeft });
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
        let applied = self.transcript.apply(upsert, None);
        if let Told::Item(item) = &applied.told {
            let blocks = match &item.body {
                Body::Message { blocks, .. } | Body::Thinking { blocks, .. } => json!(blocks),
                _ => Value::Null,
            };
            self.blocks.insert(item.item_id.clone(), blocks);
        }
        Step { seq: applied.seq, changes: applied.changes, told: vec![(applied.seq, applied.told)] }
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

    fn event(&self, kind: TurnEventKind) -> Told {
        let turn_id = self.turn.as_ref().map(|row| row.turn_id.clone()).unwrap();
        Told::Turn(Arc::new(TurnEvent { turn_id, session_id: self.session.clone(), kind }))
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
        Source::Plan { .. } => {}
    }
}
