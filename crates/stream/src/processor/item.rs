//! One item while it grows: what it is, whether anyone has seen it, and the upsert it makes.

use liminal_contract::{ItemId, ItemStatus, SessionId, Timestamp, TurnId};

use super::Now;
use super::pacing::{Pace, Pacing};
use crate::{Ask, Failure, Source, ToolCall, Upsert};

/// What one event is handled with.
pub(super) struct Step<'a> {
    /// Of the processor.
    pub(super) session_id: &'a SessionId,
    /// Of the processor.
    pub(super) pacing: &'a Pacing,
    /// How many bytes of text an item may hold.
    pub(super) item_limit: usize,
    /// The processor's time.
    pub(super) now: Now,
    /// Where emissions go.
    pub(super) out: &'a mut Vec<super::Emission>,
}

/// How an item ends.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// It is final.
    Complete,
    /// It failed.
    Failed(Failure),
}

/// One item of a turn.
#[derive(Debug)]
pub(super) struct Item {
    /// The id it goes out with.
    pub(super) id: ItemId,
    /// The id the agent has for it: another than `id` when it continues an earlier one.
    pub(super) agent_id: ItemId,
    /// How many items of the same agent's id came before.
    pub(super) piece: usize,
    /// How many bytes of its text went into those it continues.
    pub(super) before: usize,
    /// What it is.
    pub(super) source: Source,
    /// The call under which a sub-agent does this.
    pub(super) parent_call_id: Option<String>,
    /// When it began, by the agent's time.
    pub(super) started_at: Timestamp,
    /// When the agent said the newest of it.
    pub(super) said_at: Timestamp,
    /// Arguments of a call as they stream in, kept until they are final.
    pub(super) raw_arguments: String,
    /// It went out at least once.
    pub(super) seen: bool,
    /// It is not as it went out last.
    pub(super) changed: bool,
    /// Nothing more comes of it.
    pub(super) ended: bool,
    /// It stands in its turn's queue.
    pub(super) queued: bool,
    /// How long it has waited.
    pub(super) pace: Pace,
}

impl Item {
    /// A new item that nobody has seen.
    pub(super) fn new(id: ItemId, agent_id: ItemId, source: Source, at: Timestamp) -> Self {
        Self {
            id,
            agent_id,
            piece: 0,
            before: 0,
            source,
            parent_call_id: None,
            started_at: at,
            said_at: at,
            raw_arguments: String::new(),
            seen: false,
            changed: false,
            ended: false,
            queued: false,
            pace: Pace::default(),
        }
    }

    /// Emits the item as it stands, and with an `ending` for the last time.
    pub(super) fn emit(&mut self, turn_id: &TurnId, ending: Option<Ending>, step: &mut Step<'_>) {
        let (status, failure) = match &ending {
            Some(Ending::Complete) => (ItemStatus::Complete, None),
            Some(Ending::Failed(failure)) => (ItemStatus::Error, Some(failure.clone())),
            None if self.seen => (ItemStatus::Update, None),
            None => (ItemStatus::Create, None),
        };
        self.seen = true;
        self.changed = false;
        self.pace.emitted(step.pacing, step.now.mono);
        // Who has ended needs its text no longer; this keeps a long turn's memory to what is still growing.
        let source = match ending {
            Some(_) => self.end(),
            None => self.source.clone(),
        };
        step.out.push(super::Emission::Upsert(Upsert {
            turn_id: turn_id.clone(),
            session_id: step.session_id.clone(),
            item_id: self.id.clone(),
            source_timestamp: self.said_at,
            emitted_at: step.now.wall,
            started_at: self.started_at,
            status,
            failure,
            parent_call_id: self.parent_call_id.clone(),
            source,
        }));
    }

    /// Ends the item and gives up what it held; its kind stays.
    pub(super) fn end(&mut self) -> Source {
        self.ended = true;
        self.raw_arguments = String::new();
        let emptied = match &self.source {
            Source::ToolCall(call) => {
                Source::ToolCall(ToolCall { call_id: call.call_id.clone(), ..ToolCall::default() })
            }
            other => continuation(other),
        };
        std::mem::replace(&mut self.source, emptied)
    }

    /// The text that grows: what is said or thought, or what a tool gave back.
    pub(super) fn body(&self) -> &str {
        match &self.source {
            Source::Message { content, .. } | Source::Thinking { content, .. } => content,
            Source::ToolCall(call) => call.tool_output.as_deref().unwrap_or_default(),
            Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => "",
        }
    }

    /// As [`body`](Self::body), to add to; an item that has no such text has none to give.
    pub(super) fn body_mut(&mut self) -> Option<&mut String> {
        match &mut self.source {
            Source::Message { content, .. } | Source::Thinking { content, .. } => Some(content),
            Source::ToolCall(call) => Some(call.tool_output.get_or_insert_default()),
            Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => None,
        }
    }

    /// Whether it is something said or thought.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.source, Source::Message { .. } | Source::Thinking { .. })
    }

    /// The call, if it is one.
    pub(super) fn call(&self) -> Option<&ToolCall> {
        match &self.source {
            Source::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// The call, if it is one.
    pub(super) fn call_mut(&mut self) -> Option<&mut ToolCall> {
        match &mut self.source {
            Source::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// About how many bytes it holds.
    pub(super) fn weight(&self) -> usize {
        self.body().len() + self.raw_arguments.len()
    }
}

/// An item of the same kind with nothing in it, to go on in.
pub(super) fn continuation(source: &Source) -> Source {
    match source {
        Source::Message { origin, .. } => {
            Source::Message { content: String::new(), origin: *origin }
        }
        Source::Thinking { provider_id, .. } => {
            Source::Thinking { content: String::new(), provider_id: provider_id.clone() }
        }
        Source::ToolCall(call) => Source::ToolCall(ToolCall {
            tool_name: call.tool_name.clone(),
            call_id: call.call_id.clone(),
            title: call.title.clone(),
            tool_kind: call.tool_kind,
            ..ToolCall::default()
        }),
        Source::Plan { .. } => Source::Plan { entries: Vec::new() },
        Source::Permission(_) => Source::Permission(Ask::default()),
        Source::Notice(notice) => {
            Source::Notice(crate::Notice { text: String::new(), details: None, ..notice.clone() })
        }
    }
}
