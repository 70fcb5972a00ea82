//! Entries of a page whose rendering was kept. What is stored as JSON goes to the browser as it is, because parsing a
//! long history only to write it again would take longer than everything else.
//!
//! Covers most items; [`entry`](super::entry) writes the others. Both write the same.

use std::borrow::Cow;

use liminal_contract::{Entry, ItemStatus, Location, SessionId, Timestamp};
use liminal_render::{RENDER_VERSION, visible};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::MOST_OUTPUT;
use super::kept::{self, KeptPart};
use crate::journal::StoredItem;

/// `None` for an item that has to be read, because something of it is to be rendered, cut or changed.
pub fn entry(item: &StoredItem<'_>) -> Option<Entry> {
    let (blocks, _) = item.blocks.filter(|(_, version)| *version == RENDER_VERSION)?;
    if !item.status.is_final() || item.failure.is_some() {
        return None;
    }
    let body = match item.kind {
        "message" | "thinking" => Body::Text(text(item, blocks)?),
        "tool_call" => Body::Call(call(item, blocks)?),
        _ => return None,
    };
    let passed = Passed {
        body,
        r#type: item.kind,
        turn_id: item.turn_id,
        session_id: item.session_id,
        item_id: item.item_id,
        source_timestamp: item.source_timestamp,
        emitted_at: item.emitted_at,
        status: item.status,
        index: item.index,
        started_at: item.started_at,
        parent_call_id: item.parent_call_id,
    };
    Entry::of(&passed).ok()
}

/// Like `UpsertObject`. What is long is written first: the text then gets about as much memory as it needs at once.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Passed<'a> {
    #[serde(flatten)]
    body: Body<'a>,
    r#type: &'a str,
    turn_id: &'a str,
    session_id: &'a SessionId,
    item_id: &'a str,
    source_timestamp: Timestamp,
    emitted_at: Timestamp,
    status: ItemStatus,
    index: u64,
    started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_call_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Text(Text<'a>),
    Call(Call<'a>),
}

/// A message or thinking: read from its source, which has the same fields but for the blocks
/// and the request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Text<'a> {
    #[serde(skip_deserializing)]
    blocks: Option<&'a RawValue>,
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    origin: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    attachments: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    provider_id: Option<&'a RawValue>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

/// A tool call: read from its source, whose parts are not rendered.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(skip_deserializing)]
    parts: Vec<KeptPart<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    tool_output: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_arguments: &'a RawValue,
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
    #[serde(borrow)]
    call_id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_output_is_error: Option<bool>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    tool_kind: &'a RawValue,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

fn text<'a>(item: &StoredItem<'a>, blocks: &'a str) -> Option<Text<'a>> {
    let text: Text<'a> = serde_json::from_str(item.source).ok()?;
    let blocks = serde_json::from_str(blocks).ok()?;
    Some(Text { blocks, request_id: item.request_id, ..text })
}

fn call<'a>(item: &StoredItem<'a>, blocks: &'a str) -> Option<Call<'a>> {
    if item.source.len() > MOST_OUTPUT {
        return None;
    }
    let mut call: Call<'a> = serde_json::from_str(item.source).ok()?;
    call.parts = kept::passed(blocks)?;
    let title = if call.title.is_empty() { &call.tool_name } else { &call.title };
    call.title = visible(title).into();
    call.tool_name = visible(&call.tool_name).into();
    for location in &mut call.locations {
        location.path = visible(&location.path);
    }
    Some(call)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::channel;

    use liminal_contract::{ErrorCode, ItemId, MessageOrigin, ToolKind, TurnId};
    use liminal_stream::{ItemFailure, Source, SourcePart, ToolCall, Upsert};
    use serde_json::{Value, json};

    use super::super::super::transcript::Transcript;
    use super::super::item as read_item;
    use super::*;
    use crate::journal::Journal;

    /// Ended items with these sources as they are passed on, and as they are when they are read.
    fn both(sources: Vec<Source>, failure: Option<ItemFailure>) -> Vec<(Option<Value>, Value)> {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let session = SessionId::parse("demo:one").unwrap();
        let mut transcript = Transcript::new(0, 0, Path::new("/project"));
        for (at, source) in sources.into_iter().enumerate() {
            let time = Timestamp::from_millis(1_700_000_000_000);
            let turn_id = TurnId::new("t");
            let upsert = Upsert {
                item_id: ItemId::block(&turn_id, 0, at),
                turn_id,
                session_id: session.clone(),
                source_timestamp: time,
                emitted_at: time,
                started_at: time,
                status: if failure.is_some() { ItemStatus::Error } else { ItemStatus::Complete },
                failure: failure.clone(),
                parent_call_id: (at % 2 == 0).then(|| "parent".into()),
                source,
            };
            let applied = transcript.put(upsert, (at == 0).then(|| "r".into()));
            let (committed, is_committed) = channel();
            let committed = Box::new(move || committed.send(()).unwrap());
            journal.commit(&session, applied.seq, applied.changes, committed);
            is_committed.recv().unwrap();
        }
        let see = |stored: &StoredItem<'_>| {
            let passed = entry(stored).map(|entry| json!(entry));
            Ok(((passed, json!(read_item(stored.read()?, &mut Vec::new()))), 0))
        };
        journal.read_now(|reader| reader.end(&session, see)).unwrap().unwrap().items
    }

    fn call(output: Option<&str>) -> ToolCall {
        ToolCall {
            tool_name: "Ed\u{202e}it".into(),
            tool_arguments: json!({ "path": "a \"b\"", "n": [1, 2.5, null] })
                .as_object()
                .unwrap()
                .clone(),
            call_id: "c\n1".into(),
            tool_output: output.map(str::to_owned),
            locations: vec![Location { path: "src/\u{200b}a.rs".into(), line: Some(3) }],
            tool_kind: ToolKind::Edit,
            exit_code: Some(-1),
            ..ToolCall::default()
        }
    }

    #[test]
    fn what_is_passed_on_is_the_same_as_what_is_read_and_written() {
        let diff = SourcePart::Diff {
            path: "/project/a.rs".into(),
            old: Some("one\n".into()),
            new: Some("two\n\"three\"\n".into()),
            line: None,
        };
        let text = "A **text** with\n\n- \"quotes\" \u{1F600}\n- `code`\n";
        let sources = vec![
            Source::message(text, MessageOrigin::User),
            Source::message(text, MessageOrigin::Agent),
            Source::Thinking { content: text.into(), provider_id: "demo".into() },
            Source::ToolCall(call(Some("\u{1b}[32mok\u{1b}[0m\n"))),
            Source::ToolCall(ToolCall {
                parts: vec![diff],
                title: "An\u{7}\tedit".into(),
                ..call(None)
            }),
            Source::ToolCall(ToolCall {
                refused: Some(true),
                tool_output_is_error: Some(true),
                ..call(None)
            }),
        ];
        for (passed, read) in both(sources, None) {
            assert_eq!(passed, Some(read));
        }
    }

    #[test]
    fn what_must_be_cut_or_changed_is_read() {
        let long = "line\n".repeat(MOST_OUTPUT);
        let picture = SourcePart::Image { mime_type: "image/png".into(), data: "aGk=".into() };
        let sources = vec![
            Source::ToolCall(call(Some(&long))),
            Source::ToolCall(ToolCall { parts: vec![picture], ..call(None) }),
            Source::Plan { entries: Vec::new() },
        ];
        assert!(both(sources, None).iter().all(|(passed, _)| passed.is_none()));
        let failure = ItemFailure { code: ErrorCode::InternalError, message: "it\u{200b}".into() };
        let failed = both(vec![Source::message("words", MessageOrigin::Agent)], Some(failure));
        assert!(failed.iter().all(|(passed, _)| passed.is_none()));
    }
}
