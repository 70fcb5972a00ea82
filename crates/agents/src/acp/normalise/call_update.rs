//! Reads one message about a tool call from the wire.

use agent_client_protocol_schema::v1::{self as wire, ToolCallStatus, ToolCallUpdate};
use liminal_contract::{Location, ToolKind};
use liminal_stream::{SourcePart, ToolPatch};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::content::{self, SortedContent};

#[derive(Debug, Default)]
pub(super) struct CallUpdate {
    pub id: String,
    pub status: Option<ToolCallStatus>,
    pub name: Option<String>,
    pub parent: Option<String>,
    pub patch: ToolPatch,
    /// All content, as a permission shows it. Replaces earlier content, even if empty; `None` keeps it.
    pub content: Option<Vec<SourcePart>>,
    pub terminals: Vec<String>,
    pub raw_output: Option<Value>,
}

pub(super) fn read(raw: &RawValue) -> Result<CallUpdate, serde_json::Error> {
    #[derive(Deserialize)]
    struct WithContent<'a> {
        #[serde(default, borrow)]
        content: Option<Vec<&'a RawValue>>,
    }
    let ToolCallUpdate { tool_call_id, fields, meta, .. } = serde_json::from_str(raw.get())?;
    if tool_call_id.0.is_empty() {
        // Such calls could not be told apart.
        return Err(serde::de::Error::custom("toolCallId is empty"));
    }
    // The schema's reader silently drops unknown content, so the content is read separately.
    let content = serde_json::from_str::<WithContent<'_>>(raw.get()).ok().and_then(|it| it.content);
    let meta = meta.unwrap_or_default();
    let output_delta = ["terminal_output_delta", "terminal_output"]
        .iter()
        .filter_map(|key| meta.get(*key)?.get("data")?.as_str())
        .collect::<String>();
    let exit_code = meta.get("terminal_exit").and_then(|exit| exit.get("exit_code")?.as_i64());
    let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    let of_terminal = meta.keys().any(|key| key.starts_with("terminal_"));
    let given = content.is_some();
    let SortedContent { texts, mut parts, terminals } =
        content.as_deref().map(content::sort).unwrap_or_default();
    let code = |text: &String| SourcePart::Code { text: text.clone(), language: None };
    let content = given.then(|| texts.iter().map(code).chain(parts.clone()).collect());
    let mut output = None;
    if !texts.is_empty() {
        if of_terminal || !terminals.is_empty() {
            let texts = texts.into_iter().map(|text| SourcePart::Text { text });
            parts = texts.chain(parts).collect();
        } else {
            output = Some(texts.join("\n"));
        }
    }
    let claude = meta.get("claudeCode");
    let of_claude = |key: &str| claude.and_then(|it| it.get(key)?.as_str()).map(str::to_owned);
    let name = fields.name.or_else(|| of_claude("toolName")).filter(|name| !name.is_empty());
    let patch = ToolPatch {
        name: name.clone(),
        title: fields.title.filter(|title| !title.is_empty()),
        tool_kind: fields.kind.map(kind),
        locations: fields.locations.map(|them| them.into_iter().map(location).collect()),
        arguments: fields.raw_input.and_then(arguments),
        parts: (!parts.is_empty()).then_some(parts),
        output,
        output_delta: (!output_delta.is_empty()).then_some(output_delta),
        refused: None,
        exit_code,
    };
    Ok(CallUpdate {
        id: tool_call_id.0.to_string(),
        status: fields.status,
        name,
        parent: of_claude("parentToolUseId"),
        patch,
        content,
        terminals,
        raw_output: fields.raw_output,
    })
}

fn location(location: wire::ToolCallLocation) -> Location {
    Location { path: location.path.display().to_string(), line: location.line }
}

/// Arguments are usually an object, but need not be. Empty ones are ignored: agents send them before the real ones.
fn arguments(raw: Value) -> Option<Map<String, Value>> {
    match raw {
        Value::Object(map) => (!map.is_empty()).then_some(map),
        Value::Null => None,
        other => Some(Map::from_iter([("input".to_owned(), other)])),
    }
}

/// A raw output as text, if there is anything to read.
pub(super) fn readable(raw: &Value) -> Option<String> {
    match raw {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Object(map) if map.is_empty() => None,
        Value::Array(list) if list.is_empty() => None,
        other => serde_json::to_string_pretty(other).ok(),
    }
}

fn kind(kind: wire::ToolKind) -> ToolKind {
    match kind {
        wire::ToolKind::Read => ToolKind::Read,
        wire::ToolKind::Edit => ToolKind::Edit,
        wire::ToolKind::Delete => ToolKind::Delete,
        wire::ToolKind::Move => ToolKind::Move,
        wire::ToolKind::Search => ToolKind::Search,
        wire::ToolKind::Execute => ToolKind::Execute,
        wire::ToolKind::Think => ToolKind::Think,
        wire::ToolKind::Fetch => ToolKind::Fetch,
        wire::ToolKind::SwitchMode => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// The name of a tool that has none.
pub(super) fn word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "tool",
    }
}
