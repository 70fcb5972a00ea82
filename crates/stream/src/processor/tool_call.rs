//! What happens to a tool call between its invocation and its output.
//!
//! A call is found by the agent's id of it (`callId`), so that an output lands on the item of its invocation. Parts
//! and arguments are whole values and are replaced; output is text and grows like any other (`turn.rs`).

use serde_json::{Map, Value};

use super::item::Item;
use crate::{ToolCall, ToolPatch};

/// What a call is named of which only the output was ever heard.
const UNKNOWN_TOOL: &str = "tool";

/// A call of which nothing but this is known.
pub(super) fn unknown_call(call_id: String) -> ToolCall {
    ToolCall { tool_name: UNKNOWN_TOOL.to_owned(), call_id, ..ToolCall::default() }
}

/// Applies all of a patch but the output, which may need more items than one.
pub(super) fn apply(call: &mut ToolCall, patch: ToolPatch) -> Output {
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
    } = patch;
    replace(&mut call.tool_name, name.filter(|name| !name.is_empty()));
    replace(&mut call.title, title);
    replace(&mut call.tool_kind, tool_kind);
    replace(&mut call.locations, locations);
    replace(&mut call.tool_arguments, arguments);
    replace(&mut call.parts, parts);
    if refused.is_some() {
        call.refused = refused;
    }
    Output { whole: output, more: output_delta }
}

/// What a patch says about the output.
pub(super) struct Output {
    /// All of it so far.
    pub(super) whole: Option<String>,
    /// What it grew by.
    pub(super) more: Option<String>,
}

/// Takes a piece of the arguments as they stream in. Beyond `limit` they are let go: the final ones come whole.
pub(super) fn take_arguments(item: &mut Item, text: &str, limit: usize) {
    if item.raw_arguments.len() + text.len() <= limit {
        item.raw_arguments.push_str(text);
    }
}

/// Where nobody said the final arguments, those that streamed in count, if they are whole.
pub(super) fn settle_arguments(item: &mut Item) {
    let raw = std::mem::take(&mut item.raw_arguments);
    if let Some(call) = item.call_mut()
        && call.tool_arguments.is_empty()
        && let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(&raw)
    {
        call.tool_arguments = arguments;
    }
}

fn replace<T>(field: &mut T, with: Option<T>) {
    if let Some(value) = with {
        *field = value;
    }
}
