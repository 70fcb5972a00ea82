//! Items and turns of the journal in the rendered form that browsers get. Every short text from an agent passes through
//! `visible`, so that none of them hides or reorders anything.

mod answer;
mod json;
mod kept;
mod passed;
#[cfg(test)]
pub mod tests;

pub use answer::in_words_of;
use liminal_agents::asked;
use liminal_contract::{
    AskKind, AskOption, Blocks, Body, Entry, FormField, Location, MessageOrigin, Part, PlanEntry,
    Question, QuestionOption, SessionId, Turn, TurnEvent, TurnEventKind, UpsertObject,
};
use liminal_render::{self as render, Extent, visible};
use liminal_stream::{
    Compaction, Field, Hunk, Interlude, Permission, Source, SourcePart, ToolCall, Upsert,
};

use crate::attachments::{self, Kind};
use crate::failure::shown;
use crate::journal::{Item, KeptBlocks, Rendered, StoredItem, TurnRow};

/// In bytes. Longer output is cut for browsers; HTTP serves the whole.
const MOST_OUTPUT: usize = 64 * 1024;

/// An item of the journal as an entry of a page. Newly rendered blocks are added to `rendered`, to be kept.
pub fn entry(stored: &StoredItem<'_>, rendered: &mut Vec<Rendered>) -> rusqlite::Result<Entry> {
    if let Some(entry) = passed::entry(stored) {
        return Ok(entry);
    }
    Entry::of(&item(stored.read()?, rendered))
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// An item of the journal as browsers get it. Newly rendered blocks are added to `rendered`, to be kept.
pub fn item(item: Item, rendered: &mut Vec<Rendered>) -> UpsertObject {
    let kept = item.blocks.filter(|blocks| blocks.version == render::RENDER_VERSION);
    let is_new = kept.is_none() && item.upsert.status.is_final();
    let blocks = kept.map_or_else(|| blocks_of(&item.upsert.source), |blocks| blocks.html);
    let seen = upsert(&item.upsert, item.index, item.request_id, blocks);
    if is_new {
        let html = into_blocks(seen.body.clone());
        if !html.is_empty() {
            let blocks = KeptBlocks { version: render::RENDER_VERSION, html };
            rendered.push(Rendered { item: item.upsert.item_id, seq: item.seq, blocks });
        }
    }
    seen
}

/// An item of the journal for an export: with its whole output.
pub fn whole(item: Item) -> UpsertObject {
    let output = match &item.upsert.source {
        Source::ToolCall(call) => call.tool_output.clone(),
        _ => None,
    };
    let mut seen = self::item(item, &mut Vec::new());
    if let Body::ToolCall { tool_output, .. } = &mut seen.body {
        *tool_output = output;
    }
    seen
}

pub fn upsert(
    upsert: &Upsert,
    index: u64,
    request_id: Option<String>,
    blocks: Blocks,
) -> UpsertObject {
    let (error_code, error_message) =
        upsert.failure.as_ref().map(|failure| (failure.code, visible(&failure.message))).unzip();
    UpsertObject {
        body: body(&upsert.session_id, &upsert.source, request_id, blocks),
        turn_id: upsert.turn_id.clone(),
        session_id: upsert.session_id.clone(),
        item_id: upsert.item_id.clone(),
        source_timestamp: upsert.source_timestamp,
        emitted_at: upsert.emitted_at,
        status: upsert.status,
        error_code,
        error_message,
        index,
        started_at: upsert.started_at,
        parent_call_id: upsert.parent_call_id.clone(),
    }
}

pub fn turn(row: TurnRow) -> Turn {
    Turn {
        turn_id: row.turn_id,
        seq: row.seq,
        origin: row.origin,
        started_at: row.started_at,
        ended_at: row.ended_at,
        outcome: row.outcome,
        stop_reason: row.stop_reason,
        model_id: row.model_id.as_deref().map(visible),
        usage: row.usage,
        error_code: row.error_code,
        error_message: row.error_message.as_deref().map(visible),
        details: row.details.map(shown),
    }
}

pub fn turn_event(mut event: TurnEvent) -> TurnEvent {
    match &mut event.kind {
        TurnEventKind::TurnStarted { model_id, .. } => *model_id = visible(model_id),
        TurnEventKind::TurnError { error_message, details, .. } => {
            *error_message = visible(error_message);
            *details = details.take().map(shown);
        }
        TurnEventKind::TurnComplete { .. } => {}
    }
    event
}

/// The rendered blocks of an item that is a text.
pub fn blocks_of(source: &Source) -> Blocks {
    let mut blocks = Blocks::default();
    match source {
        Source::Message { content, origin: MessageOrigin::User, .. } => {
            blocks.extend(render::as_written(content));
        }
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            render::markdown_into(&mut blocks, content);
        }
        Source::Interlude(interlude) => render::markdown_into(&mut blocks, interlude.text()),
        Source::ToolCall(_) | Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => {}
    }
    blocks
}

/// What was rendered of it, to be kept: what [`blocks_of`] gave, or its parts.
pub fn into_blocks(body: Body) -> Blocks {
    match body {
        Body::Message { blocks, .. }
        | Body::Thinking { blocks, .. }
        | Body::CommandOutput { blocks, .. }
        | Body::Compaction { blocks, .. } => blocks,
        Body::ToolCall { parts, .. } | Body::Permission { parts, .. } => kept::written(&parts),
        Body::Plan { .. } | Body::Notice { .. } | Body::Cleared {} => Blocks::default(),
    }
}

/// Whether `image_name` could have made this name. Names become part of a URL, so nothing else is accepted.
pub fn is_image_name(text: &str) -> bool {
    Kind::of_name(text).is_some_and(|kind| kind != Kind::Text)
}

fn diff(diff: render::Diff) -> Part {
    let render::Diff { html, added, removed, .. } = diff;
    Part::Diff { html, added, removed }
}

/// The name a picture is stored under. It depends on the content, so the same picture is stored once.
pub fn image_name(mime_type: &str, data: &[u8]) -> Option<String> {
    Kind::of_mime_type(mime_type).map(|kind| attachments::name(kind, data))
}

fn body(session: &SessionId, source: &Source, request_id: Option<String>, blocks: Blocks) -> Body {
    match source {
        Source::Message { content, origin, attachments } => {
            let (content, attachments) = (content.clone(), attachments.clone());
            Body::Message { content, origin: *origin, blocks, request_id, attachments }
        }
        Source::Thinking { content, provider_id } => {
            let (content, provider_id) = (content.clone(), provider_id.clone());
            Body::Thinking { content, provider_id, blocks }
        }
        Source::ToolCall(call) => tool_call(session, call, &blocks),
        Source::Plan { entries } => Body::Plan {
            entries: entries
                .iter()
                .map(|entry| PlanEntry { text: visible(&entry.text), ..entry.clone() })
                .collect(),
        },
        Source::Permission(ask) => permission(session, ask, &blocks),
        Source::Interlude(Interlude::CommandOutput { command, text }) => {
            Body::CommandOutput { command: visible(command), text: text.clone(), blocks }
        }
        Source::Interlude(Interlude::Compaction(Compaction { summary, before, after })) => {
            Body::Compaction { summary: summary.clone(), blocks, before: *before, after: *after }
        }
        Source::Interlude(Interlude::Cleared {}) => Body::Cleared {},
        Source::Notice(notice) => Body::Notice {
            severity: notice.severity,
            text: visible(&notice.text),
            actions: notice.actions.clone(),
            details: notice.details.clone().map(shown),
        },
    }
}

/// `blocks` are its parts, if they were kept.
fn tool_call(session: &SessionId, call: &ToolCall, blocks: &Blocks) -> Body {
    let whole = call.tool_output.as_ref().map_or(0, String::len)
        + call.parts.iter().map(text_len).sum::<usize>();
    let was_cut = call.tool_output.as_ref().is_some_and(|output| output.len() > MOST_OUTPUT)
        || call.parts.iter().any(|part| text_len(part) > MOST_OUTPUT);
    let tool_output = call.tool_output.as_deref().map(|output| end_of(output).to_owned());
    let parts = kept::read(blocks).unwrap_or_else(|| {
        parts_of_call(session, call, tool_output.as_deref().unwrap_or_default())
    });
    let title = if call.title.is_empty() { &call.tool_name } else { &call.title };
    Body::ToolCall {
        title: visible(title),
        tool_name: visible(&call.tool_name),
        tool_arguments: call.tool_arguments.clone(),
        call_id: call.call_id.clone(),
        tool_output,
        tool_output_is_error: call.tool_output_is_error,
        tool_kind: call.tool_kind,
        locations: call
            .locations
            .iter()
            .map(|location| Location { path: visible(&location.path), ..*location })
            .collect(),
        parts,
        output_bytes: was_cut.then_some(whole as u64),
        refused: call.refused,
        exit_code: call.exit_code,
    }
}

fn parts_of_call(session: &SessionId, call: &ToolCall, output: &str) -> Vec<Part> {
    let part = |part: &SourcePart| part_of(session, part, Extent::Beginning);
    let mut parts: Vec<Part> = call.parts.iter().map(part).collect();
    // What a failed call says is the reason; of others the parts say it all.
    let is_needed = call.tool_output_is_error == Some(true)
        || parts.iter().all(|part| matches!(part, Part::Image { .. }));
    if !output.is_empty() && is_needed {
        let shown = json::parts(output, call.tool_kind)
            .unwrap_or_else(|| vec![Part::Terminal { html: render::terminal(output) }]);
        parts.splice(0..0, shown);
    }
    if parts.is_empty() {
        // A call with nothing else to show shows its arguments.
        let given = asked::parts(&call.tool_arguments, Vec::new());
        parts = given.iter().map(|given| part(&visibly(given))).collect();
    }
    parts
}

/// An address whose letters all are what they look like: others are written as browsers send them.
fn in_ascii(url: &str) -> String {
    let mut written = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            b'!'..=b'~' => written.push(char::from(byte)),
            other => written.push_str(&format!("%{other:02X}")),
        }
    }
    written
}

/// `blocks` are its parts, if they were kept.
fn permission(session: &SessionId, ask: &Permission, blocks: &Blocks) -> Body {
    // All of it while the user has to decide.
    let extent = if ask.outcome.is_none() { Extent::Whole } else { Extent::Beginning };
    let part = |part: &SourcePart| part_of(session, &visibly(part), extent);
    let parts = kept::read(blocks).unwrap_or_else(|| ask.parts.iter().map(part).collect());
    let mut options = ask.options.clone();
    options.sort_by_key(|option| rank(option.kind));
    Body::Permission {
        call_id: ask.call_id.clone(),
        title: visible(&ask.title),
        tool_kind: ask.tool_kind,
        parts,
        options: options
            .into_iter()
            .map(|option| AskOption { name: visible(&option.name), ..option })
            .collect(),
        questions: ask.questions.as_ref().map(|them| them.iter().map(question).collect()),
        url: ask.url.as_deref().map(in_ascii),
        dismissible: ask.dismissible,
        takes_words: ask.takes_words,
        outcome: ask.outcome.clone(),
    }
}

/// Agents list their options in any order; browsers show them in this one.
fn rank(kind: AskKind) -> u8 {
    match kind {
        AskKind::AllowOnce => 0,
        AskKind::AllowAlways => 1,
        AskKind::Other => 2,
        AskKind::RejectOnce => 3,
        AskKind::RejectAlways => 4,
    }
}

fn question(asked: &Question) -> Question {
    let option = |option: &QuestionOption| QuestionOption {
        label: visible(&option.label),
        value: option.value.clone(),
        description: option.description.as_deref().map(visible),
    };
    // The id and the values go back to the agent as they are.
    let field = |field: &FormField| FormField {
        description: field.description.as_deref().map(visible),
        ..field.clone()
    };
    Question {
        question: visible(&asked.question),
        header: asked.header.as_deref().map(visible),
        options: asked.options.iter().map(option).collect(),
        multiple: asked.multiple,
        field: asked.field.as_ref().map(field),
    }
}

/// A permission must not hide anything from the user: invisible characters become visible escapes.
fn visibly(part: &SourcePart) -> SourcePart {
    match part {
        SourcePart::Code { text, language } => {
            SourcePart::Code { text: visible(text), language: language.clone() }
        }
        SourcePart::Terminal { text } => SourcePart::Terminal { text: visible(text) },
        SourcePart::Text { text } => SourcePart::Text { text: visible(text) },
        SourcePart::Diff { path, old, new, line } => SourcePart::Diff {
            path: visible(path),
            old: old.as_deref().map(visible),
            new: new.as_deref().map(visible),
            line: *line,
        },
        SourcePart::Hunks { path, hunks } => {
            let mut hunks = hunks.clone();
            for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                *line = visible(line);
            }
            SourcePart::Hunks { path: visible(path), hunks }
        }
        SourcePart::Fields { fields } => {
            let field = |Field { name, value }: &Field| Field {
                name: visible(name),
                value: visible(value),
            };
            SourcePart::Fields { fields: fields.iter().map(field).collect() }
        }
        SourcePart::Image { .. } => part.clone(),
    }
}

fn part_of(session: &SessionId, part: &SourcePart, extent: Extent) -> Part {
    let much = |text| match extent {
        Extent::Beginning => end_of(text),
        Extent::Whole => text,
    };
    match part {
        SourcePart::Text { text } => Part::Text { html: render::markdown(much(text)).concat() },
        SourcePart::Code { text, language } => {
            Part::Code { html: render::code(much(text), language.as_deref().unwrap_or_default()) }
        }
        SourcePart::Diff { path, old, new, line } => {
            diff(two_texts(path, old.as_deref(), new.as_deref(), *line, extent))
        }
        SourcePart::Hunks { path, hunks } => diff(render::hunks(path, &hunk_inputs(hunks), extent)),
        SourcePart::Terminal { text } => Part::Terminal { html: render::terminal(much(text)) },
        SourcePart::Fields { fields } => {
            let rows = fields.iter().map(|field| (field.name.as_str(), much(&field.value)));
            Part::Fields { html: render::fields(rows) }
        }
        SourcePart::Image { data, .. } => Part::Image { url: image_url(session, data) },
    }
}

/// The difference between two texts of a file, or of a part of it that begins at `line`.
pub fn two_texts(
    path: &str,
    old: Option<&str>,
    new: Option<&str>,
    line: Option<u32>,
    extent: Extent,
) -> render::Diff {
    match (old, new, line) {
        (Some(old), Some(new), Some(line)) => {
            render::edit(path, old, new, usize::try_from(line).unwrap_or(usize::MAX), extent)
        }
        _ => render::diff(path, old, new, extent),
    }
}

pub fn hunk_inputs(hunks: &[Hunk]) -> Vec<render::HunkInput> {
    let line = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    hunks
        .iter()
        .map(|hunk| render::HunkInput {
            old_start: line(hunk.old_start),
            new_start: line(hunk.new_start),
            lines: hunk.lines.clone(),
        })
        .collect()
}

fn image_url(session: &SessionId, name: &str) -> String {
    let session = session.as_str().replace(':', "%3A");
    format!("/api/session/{session}/image/{}", name.trim_start_matches('@'))
}

fn text_len(part: &SourcePart) -> usize {
    match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => text.len(),
        SourcePart::Diff { .. }
        | SourcePart::Hunks { .. }
        | SourcePart::Fields { .. }
        | SourcePart::Image { .. } => 0,
    }
}

/// The end of a long text, because the latest output matters most. Starts at a line break if there is one nearby.
fn end_of(text: &str) -> &str {
    if text.len() <= MOST_OUTPUT {
        return text;
    }
    let mut from = text.len() - MOST_OUTPUT;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = &text[from..];
    match end.find('\n') {
        Some(at) if at < 4096 => &end[at + 1..],
        _ => end,
    }
}
