//! One item while it grows: its content, whether it was emitted, and its upsert.

use liminal_contract::{ItemId, ItemStatus, SessionId, Timestamp, TurnId};

use super::Now;
use super::pacing::{Pace, Pacing};
use crate::{Growth, Interlude, ItemFailure, Permission, Source, ToolCall, Upsert};

/// The context for handling one event.
pub(super) struct Step<'a> {
    pub(super) session_id: &'a SessionId,
    pub(super) pacing: &'a Pacing,
    /// Bytes of text an item may hold.
    pub(super) item_limit: usize,
    pub(super) now: Now,
    pub(super) out: &'a mut Vec<super::Emission>,
}

#[derive(Debug, Clone)]
pub(super) enum Ending {
    Complete,
    Failed(ItemFailure),
}

#[derive(Debug)]
pub(super) struct Item {
    /// The id in its upserts.
    pub(super) id: ItemId,
    /// The agent's id. Differs from `id` if this item continues an earlier one.
    pub(super) agent_id: ItemId,
    /// The number of earlier items with the same agent id.
    pub(super) piece: usize,
    /// Bytes of its text in the items it continues.
    pub(super) before: usize,
    pub(super) source: Source,
    /// The tool call of the sub-agent that this belongs to.
    pub(super) parent_call_id: Option<String>,
    /// By the agent's clock.
    pub(super) started_at: Timestamp,
    /// When the agent sent the latest part.
    pub(super) said_at: Timestamp,
    /// The streamed arguments of a call, kept until the final ones arrive.
    pub(super) raw_arguments: String,
    /// It was emitted at least once.
    pub(super) seen: bool,
    /// It has changed since it was last emitted.
    pub(super) changed: bool,
    /// Only its text has grown since it was last emitted, from this length in bytes.
    pub(super) grown_from: Option<usize>,
    /// It will not be emitted again.
    pub(super) ended: bool,
    /// It is in its turn's queue.
    pub(super) queued: bool,
    pub(super) pace: Pace,
}

impl Item {
    /// A new item, not emitted yet.
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
            grown_from: None,
            ended: false,
            queued: false,
            pace: Pace::default(),
        }
    }

    /// Emits what was added, or the whole state if anything else changed; with an `ending`, for the last time.
    pub(super) fn emit(&mut self, turn_id: &TurnId, ending: Option<Ending>, step: &mut Step<'_>) {
        self.pace.emitted(step.pacing, step.now.mono);
        self.changed = false;
        let grown_from = self.grown_from.replace(self.body().len());
        if let (None, Some(from)) = (&ending, grown_from) {
            return self.emit_growth(turn_id, from, step);
        }
        let (status, failure) = match &ending {
            Some(Ending::Complete) => (ItemStatus::Complete, None),
            Some(Ending::Failed(failure)) => (ItemStatus::Error, Some(failure.clone())),
            None if self.seen => (ItemStatus::Update, None),
            None => (ItemStatus::Create, None),
        };
        self.seen = true;
        // An ended item no longer needs its text, so a long turn only keeps the text that is still growing.
        let source = match ending {
            Some(_) => self.end(),
            None => self.source.clone(),
        };
        step.out.push(super::Emission::Put(Upsert {
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

    /// Nothing is emitted for a change without effect.
    fn emit_growth(&self, turn_id: &TurnId, from: usize, step: &mut Step<'_>) {
        let text = self.body()[from..].to_owned();
        if !text.is_empty() {
            step.out.push(super::Emission::Grew(Growth {
                turn_id: turn_id.clone(),
                item_id: self.id.clone(),
                source_timestamp: self.said_at,
                emitted_at: step.now.wall,
                text,
            }));
        }
    }

    /// Ends the item and frees its content, but keeps its kind.
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

    /// The text that grows: of a message or thinking, or a tool's output.
    pub(super) fn body(&self) -> &str {
        match &self.source {
            Source::Message { content, .. } | Source::Thinking { content, .. } => content,
            Source::ToolCall(call) => call.tool_output.as_deref().unwrap_or_default(),
            Source::Plan { .. }
            | Source::Permission(_)
            | Source::Notice(_)
            | Source::Interlude(_) => "",
        }
    }

    /// Something other than its end has changed, so it is emitted whole.
    pub(super) fn differs(&mut self) {
        self.grown_from = None;
    }

    /// Whether it is a message or thinking.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.source, Source::Message { .. } | Source::Thinking { .. })
    }

    pub(super) fn call(&self) -> Option<&ToolCall> {
        match &self.source {
            Source::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn call_mut(&mut self) -> Option<&mut ToolCall> {
        match &mut self.source {
            Source::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// Its approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        self.body().len() + self.raw_arguments.len()
    }
}

/// An empty item of the same kind, to continue in.
pub(super) fn continuation(source: &Source) -> Source {
    match source {
        Source::Message { origin, .. } => Source::message("", *origin),
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
        Source::Interlude(_) => Source::Interlude(Interlude::Cleared {}),
        Source::Permission(_) => Source::Permission(Permission::default()),
        Source::Notice(notice) => {
            Source::Notice(crate::Notice { text: String::new(), details: None, ..notice.clone() })
        }
    }
}
