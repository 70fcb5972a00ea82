//! Tool calls between their invocation and their output.
//!
//! A call is found by the agent's id (`callId`), so that an output is added to the item of its invocation. Parts and
//! arguments are whole values and are replaced; output is text and grows like any other (`turn.rs`).

use liminal_contract::{ItemId, Timestamp, TurnId};
use serde_json::{Map, Value};

use super::handle::Handled;
use super::item::{Ending, Item, Step};
use super::turn::{Slot, TurnItems};
use crate::{Source, ToolCall, ToolPatch};

/// The name of a call that was only seen through its output.
const UNKNOWN_TOOL: &str = "tool";

impl TurnItems {
    pub(super) fn update_call(
        &mut self,
        item_id: &ItemId,
        patch: ToolPatch,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        let index = match self.find(item_id) {
            Some(index) if self.items[index].ended => return Handled::TooLate,
            Some(index) if self.items[index].call().is_some() => index,
            Some(_) | None => {
                let call = unknown_call(call_id_of(&self.id, item_id));
                self.open(item_id, Source::ToolCall(call), at)
            }
        };
        let index = self.patch_call(index, patch, at, step);
        if !self.items[index].seen {
            self.flush(step);
        }
        self.present(index, step);
        Handled::Yes
    }

    /// The arguments of a call are final. The call continues.
    pub(super) fn settle_call(
        &mut self,
        item_id: &ItemId,
        call_id: String,
        patch: ToolPatch,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        let index = match self.call_to_settle(item_id, &call_id) {
            Some(index) if self.items[index].ended => return Handled::TooLate,
            Some(index) => index,
            None => self.open(
                item_id,
                Source::ToolCall(ToolCall { call_id, ..ToolCall::default() }),
                at,
            ),
        };
        let index = self.patch_call(index, patch, at, step);
        self.present(index, step);
        Handled::Yes
    }

    /// The call whose arguments are final: by item id, else by call id.
    pub(super) fn call_to_settle(&self, item_id: &ItemId, call_id: &str) -> Option<usize> {
        let of_item = self.find(item_id).filter(|&index| self.items[index].call().is_some());
        of_item.or_else(|| self.calls.get(call_id).copied())
    }

    /// The open item of an output that has not named its call yet.
    pub(super) fn nameless(&self, item_id: &ItemId) -> Option<usize> {
        self.find(item_id).filter(|&index| {
            let item = &self.items[index];
            !item.ended && item.call().is_some_and(|call| call.call_id.is_empty())
        })
    }

    /// Emits a new call immediately, and a known one at its pace.
    pub(super) fn present(&mut self, index: usize, step: &mut Step<'_>) {
        if self.items[index].seen {
            self.touch(index, 0, step);
        } else {
            self.show(index, step);
        }
    }

    /// Changes a call, and returns the item in which its output continues.
    pub(super) fn patch_call(
        &mut self,
        mut index: usize,
        patch: ToolPatch,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> usize {
        self.items[index].said_at = at;
        let Some(call) = self.items[index].call_mut() else { return index };
        let (output, differs) = apply(call, patch);
        if differs {
            self.items[index].differs();
        }
        if let Some(whole) = output.whole {
            index = self.replace(index, &whole, at, step);
        }
        if let Some(more) = output.more {
            index = self.append(index, &more, at, step);
        }
        index
    }

    /// The item the output of a call belongs to: its invocation's, or a new one.
    pub(super) fn output_item(
        &mut self,
        item_id: &ItemId,
        call_id: String,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> usize {
        match (self.calls.get(&call_id).copied(), self.nameless(item_id)) {
            (Some(index), Some(nameless)) => {
                // The output began before it named its call.
                let text = self.items[nameless].body().to_owned();
                self.discard(nameless, step);
                self.slots.insert(item_id.clone(), Slot::Output(index));
                if self.items[index].ended { index } else { self.append(index, &text, at, step) }
            }
            (Some(index), None) => index,
            (None, Some(nameless)) => {
                if let Some(call) = self.items[nameless].call_mut() {
                    call.call_id.clone_from(&call_id);
                }
                self.calls.insert(call_id, nameless);
                nameless
            }
            (None, None) => self.open(item_id, Source::ToolCall(unknown_call(call_id)), at),
        }
    }

    pub(super) fn end_call(
        &mut self,
        index: usize,
        output: String,
        is_error: bool,
        about: ToolPatch,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> Handled {
        if self.items[index].ended {
            return Handled::TooLate;
        }
        let mut index = self.patch_call(index, about, at, step);
        if !output.is_empty() {
            index = self.replace(index, &output, at, step);
        }
        let item = &mut self.items[index];
        settle_arguments(item);
        if let Some(call) = item.call_mut() {
            call.tool_output_is_error = Some(is_error);
            if call.parts.is_empty() {
                call.tool_output.get_or_insert_default();
            }
        }
        self.finish(index, Ending::Complete, step);
        Handled::Yes
    }
}

/// A call with nothing else known.
pub(super) fn unknown_call(call_id: String) -> ToolCall {
    ToolCall { tool_name: UNKNOWN_TOOL.to_owned(), call_id, ..ToolCall::default() }
}

/// Applies a patch except for the output, which may need more than one item. Also returns whether it changed anything.
fn apply(call: &mut ToolCall, patch: ToolPatch) -> (Output, bool) {
    let ToolPatch {
        name,
        title,
        tool_kind,
        locations,
        arguments,
        parts,
        output,
        output_delta,
        refused,
        exit_code,
    } = patch;
    let differs = [
        replace(&mut call.tool_name, name.filter(|name| !name.is_empty())),
        replace(&mut call.title, title),
        replace(&mut call.tool_kind, tool_kind),
        replace(&mut call.locations, locations),
        replace(&mut call.tool_arguments, arguments),
        replace(&mut call.parts, parts),
        replace(&mut call.refused, refused.map(Some)),
        replace(&mut call.exit_code, exit_code.map(Some)),
    ];
    (Output { whole: output, more: output_delta }, differs.contains(&true))
}

struct Output {
    /// The whole output so far.
    whole: Option<String>,
    /// New output.
    more: Option<String>,
}

/// Adds a piece of streamed arguments. Beyond `limit` bytes they are dropped: the final ones come complete.
pub(super) fn take_arguments(item: &mut Item, text: &str, limit: usize) {
    if item.raw_arguments.len() + text.len() <= limit {
        item.raw_arguments.push_str(text);
    }
}

/// Without final arguments, the streamed ones count, if they are complete.
pub(super) fn settle_arguments(item: &mut Item) {
    let raw = std::mem::take(&mut item.raw_arguments);
    if let Some(call) = item.call_mut()
        && call.tool_arguments.is_empty()
        && let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(&raw)
    {
        call.tool_arguments = arguments;
    }
}

/// Returns whether the field changed.
fn replace<T: PartialEq>(field: &mut T, with: Option<T>) -> bool {
    let Some(value) = with.filter(|value| value != field) else { return false };
    *field = value;
    true
}

/// The agent's id of a call that is only known by our item id.
fn call_id_of(turn_id: &TurnId, item_id: &ItemId) -> String {
    let prefix = ItemId::call(turn_id, "");
    item_id.as_str().strip_prefix(prefix.as_str()).unwrap_or(item_id.as_str()).to_owned()
}
