//! Shows JSON output to people: the text inside it, or all of it highlighted.

use liminal_contract::{Part, ToolKind};
use liminal_render as render;
use serde_json::Value;

/// The fields in which tools put their text, the most reliable first.
const TEXTS: [&str; 7] = ["output", "stdout", "content", "text", "message", "result", "stderr"];

/// The parts of a JSON output; `None` for any other. The content of a file that was read is shown unchanged.
pub fn parts(output: &str, kind: ToolKind) -> Option<Vec<Part>> {
    let text = output.trim();
    if !(text.starts_with('{') && text.ends_with('}')
        || text.starts_with('[') && text.ends_with(']'))
    {
        return None;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    let said = value.as_object_mut().filter(|_| kind != ToolKind::Read).and_then(|map| {
        let name = TEXTS.iter().find(|name| {
            map.get(**name).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
        })?;
        map.remove(*name).and_then(|said| said.as_str().map(str::to_owned))
    });
    let Some(said) = said else { return Some(vec![Part::Code { html: coloured(&value) }]) };
    let mut parts = vec![Part::Terminal { html: render::terminal(&said) }];
    if value.as_object().is_some_and(|rest| rest.values().any(says_something)) {
        let html = render::folded("Everything else it returned", &coloured(&value));
        parts.push(Part::Code { html });
    }
    Some(parts)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn coloured(value: &Value) -> String {
    render::code(&serde_json::to_string_pretty(value).unwrap_or_default(), "json")
}
