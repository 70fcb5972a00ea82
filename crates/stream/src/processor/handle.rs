//! Applies each event about an item to the items of its turn. (`tool_call.rs` has the parts only for calls.)
//!
//! Agents are not always tidy, so every case is handled, and none loses text:
//!
//! - A delta of an item that was never started opens an agent message. A delta of one that has ended continues in a
//!   new item of the same kind, whose id is the old one with `+1`, `+2`, …
//! - An update of an item that was never started opens it. A start of one that is open adds to it.
//! - The output of a call that was never started becomes a new call that is already complete.
//! - An error of an item that was never started becomes an empty message that failed.
//! - An event that repeats an end, updates an ended item, or adds text to an item without text is
//!   [`Handled::TooLate`]: it could only take effect by ending the same item twice.

use liminal_contract::{ItemId, MessageOrigin, Timestamp};

use super::item::{Ending, Step, continuation};
use super::tool_call;
use super::turn::{Slot, TurnItems};
use crate::{
    AgentError, FinalItem, ItemFailure, NewItem, Patch, Payload, Permission, Source, ToolCall,
    ToolPatch,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handled {
    /// It changed something, or there was nothing to change.
    Yes,
    /// It was about something that has already ended.
    TooLate,
}

impl TurnItems {
    /// The item an event is about, if it is in this turn.
    pub(super) fn about(&self, payload: &Payload) -> Option<usize> {
        match payload {
            Payload::ItemStart { item_id, item, .. } => match item {
                NewItem::FunctionCallOutput { call_id: Some(call_id) } => {
                    self.calls.get(call_id).copied().or_else(|| self.find(item_id))
                }
                _ => self.find(item_id),
            },
            Payload::ItemDone { item_id, final_item: FinalItem::FunctionCall { call_id, .. } } => {
                self.call_to_settle(item_id, call_id)
            }
            Payload::ItemDone {
                item_id,
                final_item: FinalItem::FunctionCallOutput { call_id, .. },
            } => self.calls.get(call_id).copied().or_else(|| self.nameless(item_id)),
            Payload::ItemDelta { item_id, .. }
            | Payload::ItemUpdate { item_id, .. }
            | Payload::ItemDone { item_id, .. }
            | Payload::ItemError { item_id, .. }
            | Payload::ItemCancelled { item_id, .. } => self.find(item_id),
            Payload::ResponseStart { .. }
            | Payload::ResponseDone { .. }
            | Payload::ResponseError { .. } => None,
        }
    }

    /// Whether an event after the turn's end still belongs to it. Only calls, permissions and notices that outlived the
    /// turn can still change.
    pub(super) fn takes_late(&self, payload: &Payload) -> bool {
        let Some(index) = self.about(payload) else { return false };
        match (payload, &self.items[index].source) {
            (Payload::ItemUpdate { patch: Patch::Tool(_), .. }, Source::ToolCall(_))
            | (Payload::ItemDelta { .. }, Source::ToolCall(_))
            | (
                Payload::ItemStart { item: NewItem::FunctionCallOutput { .. }, .. },
                Source::ToolCall(_),
            )
            | (
                Payload::ItemDone {
                    final_item:
                        FinalItem::FunctionCall { .. } | FinalItem::FunctionCallOutput { .. },
                    ..
                },
                Source::ToolCall(_),
            )
            | (
                Payload::ItemDone { final_item: FinalItem::Permission { .. }, .. },
                Source::Permission(_),
            )
            | (Payload::ItemUpdate { patch: Patch::Notice { .. }, .. }, Source::Notice(_))
            | (Payload::ItemDone { final_item: FinalItem::Notice { .. }, .. }, Source::Notice(_))
            | (Payload::ItemError { .. }, _) => true,
            (_, _) => false,
        }
    }

    pub(super) fn handle(
        &mut self,
        payload: Payload,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        match payload {
            Payload::ItemStart { item_id, parent_call_id, item } => {
                self.flush(step);
                self.start(&item_id, parent_call_id, item, at, step)
            }
            Payload::ItemDelta { item_id, delta_content } => {
                self.delta(&item_id, &delta_content, at, step)
            }
            Payload::ItemUpdate { item_id, patch } => match patch {
                Patch::Tool(patch) => self.update_call(&item_id, *patch, at, step),
                Patch::Plan { entries } => {
                    self.flush(step);
                    self.put(&item_id, None, Source::Plan { entries }, at, step)
                }
                Patch::Notice { notice } => {
                    self.flush(step);
                    self.put(&item_id, None, Source::Notice(*notice), at, step)
                }
            },
            Payload::ItemDone { item_id, final_item } => match final_item {
                FinalItem::FunctionCall { name, call_id, arguments } => {
                    self.flush(step);
                    let patch = ToolPatch {
                        name: Some(name),
                        arguments: Some(arguments),
                        ..ToolPatch::default()
                    };
                    self.settle_call(&item_id, call_id, patch, at, step)
                }
                FinalItem::FunctionCallOutput { call_id, output, is_error, about } => {
                    let index = self.output_item(&item_id, call_id, at, step);
                    self.end_around(index, step, |turn, step| {
                        turn.end_call(index, output, is_error, *about, at, step)
                    })
                }
                other => {
                    let index = self.item_to_end(&item_id, &other, at);
                    self.end_around(index, step, |turn, step| turn.end_item(index, other, at, step))
                }
            },
            Payload::ItemError { item_id, error } => {
                let index = self.find(&item_id).unwrap_or_else(|| {
                    self.open(&item_id, Source::message("", MessageOrigin::Agent), at)
                });
                self.end_around(index, step, |turn, step| turn.fail(index, error, at, step))
            }
            Payload::ItemCancelled { item_id, .. } => match self.find(&item_id) {
                Some(index) => self.end_around(index, step, |turn, step| turn.cancel(index, step)),
                None => {
                    self.flush(step);
                    Handled::Yes
                }
            },
            // The processor itself handles these; they are not about an item.
            Payload::ResponseStart { .. }
            | Payload::ResponseDone { .. }
            | Payload::ResponseError { .. } => Handled::Yes,
        }
    }

    /// Emits the items that wait before an item, then does `end`, then emits those that wait behind it.
    fn end_around(
        &mut self,
        index: usize,
        step: &mut Step<'_>,
        end: impl FnOnce(&mut Self, &mut Step<'_>) -> Handled,
    ) -> Handled {
        let behind = self.flush_before(index, step);
        let handled = end(self, step);
        for index in behind {
            self.show(index, step);
        }
        handled
    }

    fn start(
        &mut self,
        item_id: &ItemId,
        parent_call_id: Option<String>,
        item: NewItem,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        let (index, text) = match item {
            NewItem::Message { initial_content, origin } => {
                (self.open_or_reuse(item_id, Source::message("", origin), at), initial_content)
            }
            NewItem::Reasoning { initial_content } => {
                let source = self.thinking();
                (self.open_or_reuse(item_id, source, at), initial_content)
            }
            NewItem::FunctionCall { name, call_id, about } => {
                let call = ToolCall { call_id, ..ToolCall::default() };
                let index = self.open_or_reuse(item_id, Source::ToolCall(call), at);
                self.adopt(index, parent_call_id);
                let patch = ToolPatch { name: about.name.clone().or(Some(name)), ..*about };
                let index = self.patch_call(index, patch, at, step);
                self.present(index, step);
                return Handled::Yes;
            }
            NewItem::FunctionCallOutput { call_id } => {
                let call_id = call_id.unwrap_or_default();
                let index = match self.calls.get(&call_id) {
                    Some(&index) => index,
                    None => self.open_or_reuse(
                        item_id,
                        Source::ToolCall(tool_call::unknown_call(call_id)),
                        at,
                    ),
                };
                self.slots.insert(item_id.clone(), Slot::Output(index));
                (index, None)
            }
            NewItem::Plan { entries } => {
                return self.put(item_id, parent_call_id, Source::Plan { entries }, at, step);
            }
            NewItem::Permission { ask } => {
                return self.put(item_id, parent_call_id, Source::Permission(*ask), at, step);
            }
            NewItem::Notice { notice } => {
                return self.put(item_id, parent_call_id, Source::Notice(*notice), at, step);
            }
            NewItem::Interlude { interlude } => {
                return self.put(item_id, parent_call_id, Source::Interlude(interlude), at, step);
            }
        };
        self.adopt(index, parent_call_id);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.grow(index, &text, at, step);
        }
        Handled::Yes
    }

    fn delta(
        &mut self,
        item_id: &ItemId,
        text: &str,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        if text.is_empty() {
            return Handled::Yes;
        }
        let slot = match self.slots.get(item_id) {
            Some(&slot) => slot,
            None => Slot::Item(self.open(item_id, Source::message("", MessageOrigin::Agent), at)),
        };
        let index = slot.index();
        let item = &mut self.items[index];
        if item.is_text() {
            let index = if item.ended { self.go_on(index, at) } else { index };
            self.grow(index, text, at, step);
            return Handled::Yes;
        }
        if item.ended || item.call().is_none() {
            return Handled::TooLate;
        }
        match slot {
            Slot::Item(_) => tool_call::take_arguments(item, text, step.item_limit),
            Slot::Output(_) => self.grow(index, text, at, step),
        }
        Handled::Yes
    }

    fn grow(&mut self, index: usize, text: &str, at: Timestamp, step: &mut Step<'_>) {
        let index = self.append(index, text, at, step);
        self.touch(index, text.chars().count(), step);
    }

    /// The item that a final state is about (other than a call's), or a new one for it.
    fn item_to_end(&mut self, item_id: &ItemId, last: &FinalItem, at: Timestamp) -> usize {
        let source = match last {
            FinalItem::Message { origin, .. } => Source::message("", *origin),
            FinalItem::Reasoning { provider_id, .. } => {
                Source::Thinking { content: String::new(), provider_id: provider_id.clone() }
            }
            FinalItem::Plan { .. } => Source::Plan { entries: Vec::new() },
            FinalItem::Permission { .. } => Source::Permission(Permission::default()),
            FinalItem::Notice { notice } => Source::Notice((**notice).clone()),
            FinalItem::Interlude { interlude } => Source::Interlude(interlude.clone()),
            FinalItem::FunctionCall { call_id, .. }
            | FinalItem::FunctionCallOutput { call_id, .. } => {
                Source::ToolCall(tool_call::unknown_call(call_id.clone()))
            }
        };
        match self.find(item_id) {
            Some(index) if same_kind(&self.items[index].source, &source) => index,
            Some(_) | None => self.open(item_id, source, at),
        }
    }

    fn end_item(
        &mut self,
        mut index: usize,
        last: FinalItem,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        if self.items[index].ended {
            return Handled::TooLate;
        }
        self.items[index].said_at = at;
        match (&mut self.items[index].source, last) {
            (
                Source::Message { origin, .. },
                FinalItem::Message { content: whole, origin: last_origin },
            ) => {
                *origin = last_origin;
                index = self.settle_text(index, &whole, at, step);
            }
            (
                Source::Thinking { provider_id, .. },
                FinalItem::Reasoning { content: whole, provider_id: last_provider },
            ) => {
                *provider_id = last_provider;
                index = self.settle_text(index, &whole, at, step);
            }
            (Source::Plan { entries }, FinalItem::Plan { entries: last }) => *entries = last,
            (Source::Permission(ask), FinalItem::Permission { outcome }) => {
                ask.outcome = Some(outcome);
            }
            (Source::Notice(notice), FinalItem::Notice { notice: last }) => *notice = *last,
            (Source::Interlude(interlude), FinalItem::Interlude { interlude: last }) => {
                *interlude = last;
            }
            // `item_to_end` returned an item of the same kind.
            (_, _) => return Handled::TooLate,
        }
        self.finish(index, Ending::Complete, step);
        Handled::Yes
    }

    /// The final text replaces the streamed text, unless it is empty: then the streamed text counts.
    fn settle_text(
        &mut self,
        index: usize,
        whole: &str,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> usize {
        if whole.is_empty() { index } else { self.replace(index, whole, at, step) }
    }

    fn fail(
        &mut self,
        index: usize,
        error: AgentError,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        if self.items[index].ended {
            return Handled::TooLate;
        }
        self.items[index].said_at = at;
        tool_call::settle_arguments(&mut self.items[index]);
        self.finish(index, Ending::Failed(ItemFailure::from(&error)), step);
        Handled::Yes
    }

    /// Drops an item that was never emitted. An emitted one keeps its text and stays open: it is neither complete nor
    /// an error, and the end of its turn ends it.
    fn cancel(&mut self, index: usize, step: &mut Step<'_>) -> Handled {
        let item = &self.items[index];
        if item.ended {
            return Handled::TooLate;
        }
        if !item.seen {
            self.discard(index, step);
        } else if item.changed {
            self.show(index, step);
        }
        Handled::Yes
    }

    /// Emits the whole state of an item that has no growing text.
    fn put(
        &mut self,
        item_id: &ItemId,
        parent_call_id: Option<String>,
        source: Source,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        let index = self.open_or_reuse(item_id, source.clone(), at);
        let item = &mut self.items[index];
        item.source = source;
        item.said_at = at;
        item.differs();
        self.adopt(index, parent_call_id);
        self.show(index, step);
        Handled::Yes
    }

    /// The open item of this id and kind, or a new one.
    fn open_or_reuse(&mut self, item_id: &ItemId, source: Source, at: Timestamp) -> usize {
        match self.find(item_id) {
            Some(index)
                if !self.items[index].ended && same_kind(&self.items[index].source, &source) =>
            {
                index
            }
            Some(_) | None => self.open(item_id, source, at),
        }
    }

    /// Continues an ended item in a new one of the same kind.
    fn go_on(&mut self, index: usize, at: Timestamp) -> usize {
        let ended = &self.items[index];
        let (agent_id, parent) = (ended.agent_id.clone(), ended.parent_call_id.clone());
        let source = continuation(&ended.source);
        let index = self.open(&agent_id, source, at);
        self.adopt(index, parent);
        index
    }

    fn adopt(&mut self, index: usize, parent_call_id: Option<String>) {
        let item = &mut self.items[index];
        if parent_call_id.is_some() && item.parent_call_id != parent_call_id {
            item.parent_call_id = parent_call_id;
            item.differs();
        }
    }

    fn thinking(&self) -> Source {
        Source::Thinking { content: String::new(), provider_id: self.provider_id.clone() }
    }
}

fn same_kind(a: &Source, b: &Source) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}
