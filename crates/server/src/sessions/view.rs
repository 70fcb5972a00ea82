//! What a browser gets: items and turns of the journal, rendered.

use liminal_contract::{Body, Part, SessionId, Turn, UpsertObject};
use liminal_render as render;
use liminal_stream::{Ask, Hunk, Source, SourcePart, ToolCall, Upsert};

use crate::journal::{Blocks, Item, Rendered, TurnRow};

/// Longer output is cut for browsers; the whole is there over HTTP.
const MOST_OUTPUT: usize = 64 * 1024;

/// An item of the journal as a browser gets it. What had to be rendered for that goes to `rendered`, to be kept.
pub fn item(item: Item, rendered: &mut Vec<Rendered>) -> UpsertObject {
    let kept = item.blocks.filter(|blocks| blocks.version == render::RENDER_VERSION);
    let blocks = kept.map_or_else(
        || {
            let html = blocks_of(&item.upsert.source);
            if !html.is_empty() && item.upsert.status.is_final() {
                let blocks = Blocks { version: render::RENDER_VERSION, html: html.clone() };
                let item_id = item.upsert.item_id.clone();
                rendered.push(Rendered { item: item_id, seq: item.seq, blocks });
            }
            html
        },
        |blocks| blocks.html,
    );
    upsert(item.upsert, item.index, item.request_id, blocks)
}

/// An item of the journal as it is taken away: with its whole output.
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

/// An item in source form with its place and its rendered blocks as a browser gets it.
pub fn upsert(
    upsert: Upsert,
    index: u64,
    request_id: Option<String>,
    blocks: Vec<String>,
) -> UpsertObject {
    let (error_code, error_message) =
        upsert.failure.map(|failure| (failure.code, failure.message)).unzip();
    UpsertObject {
        body: body(&upsert.session_id, upsert.source, request_id, blocks),
        turn_id: upsert.turn_id,
        session_id: upsert.session_id,
        item_id: upsert.item_id,
        source_timestamp: upsert.source_timestamp,
        emitted_at: upsert.emitted_at,
        status: upsert.status,
        error_code,
        error_message,
        index,
        started_at: upsert.started_at,
        parent_call_id: upsert.parent_call_id,
    }
}

/// A turn of the journal as a browser gets it.
pub fn turn(row: TurnRow) -> Turn {
    Turn {
        turn_id: row.turn_id,
        seq: row.seq,
        origin: row.origin,
        started_at: row.started_at,
        ended_at: row.ended_at,
        outcome: row.outcome,
        stop_reason: row.stop_reason,
        model_id: row.model_id,
        usage: row.usage,
        error_code: row.error_code,
        error_message: row.error_message,
        details: row.details,
    }
}

/// The rendered blocks of an item whose text is Markdown.
pub fn blocks_of(source: &Source) -> Vec<String> {
    match source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            render::markdown(content)
        }
        Source::ToolCall(_) | Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) => {
            Vec::new()
        }
    }
}

/// Whether this could be such a name. It becomes part of an address, so nothing else may.
pub fn is_image_name(text: &str) -> bool {
    text.split_once('.').is_some_and(|(hash, extension)| {
        matches!(extension, "png" | "jpg" | "gif" | "webp")
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    })
}

/// The name a picture is kept under: its content decides, so the same picture is kept once.
pub fn image_name(mime_type: &str, data: &[u8]) -> Option<String> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let extension = match mime_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => return None,
    };
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    Some(format!("{:016x}-{}.{extension}", hasher.finish(), data.len()))
}

fn body(
    session: &SessionId,
    source: Source,
    request_id: Option<String>,
    blocks: Vec<String>,
) -> Body {
    match source {
        Source::Message { content, origin } => {
            Body::Message { content, origin, blocks, request_id }
        }
        Source::Thinking { content, provider_id } => {
            Body::Thinking { content, provider_id, blocks }
        }
        Source::ToolCall(call) => tool_call(session, call),
        Source::Plan { entries } => Body::Plan { entries },
        Source::Permission(ask) => permission(session, ask),
        Source::Notice(notice) => Body::Notice {
            severity: notice.severity,
            text: notice.text,
            actions: notice.actions,
            details: notice.details,
        },
    }
}

fn tool_call(session: &SessionId, call: ToolCall) -> Body {
    let mut parts: Vec<Part> = call.parts.iter().map(|part| part_of(session, part)).collect();
    let whole = call.tool_output.as_ref().map_or(0, String::len)
        + call.parts.iter().map(text_len).sum::<usize>();
    let was_cut = call.tool_output.as_ref().is_some_and(|output| output.len() > MOST_OUTPUT)
        || call.parts.iter().any(|part| text_len(part) > MOST_OUTPUT);
    let tool_output = call.tool_output.map(|output| end_of(&output).to_owned());
    if let Some(output) = tool_output.as_ref().filter(|output| !output.is_empty())
        && parts.iter().all(|part| matches!(part, Part::Image { .. }))
    {
        parts.insert(0, Part::Terminal { html: render::terminal(output) });
    }
    let title = if call.title.is_empty() { &call.tool_name } else { &call.title };
    Body::ToolCall {
        title: render::visible(title),
        tool_name: call.tool_name,
        tool_arguments: call.tool_arguments,
        call_id: call.call_id,
        tool_output,
        tool_output_is_error: call.tool_output_is_error,
        tool_kind: call.tool_kind,
        locations: call.locations,
        parts,
        output_bytes: was_cut.then_some(whole as u64),
        refused: call.refused,
    }
}

fn permission(session: &SessionId, ask: Ask) -> Body {
    Body::Permission {
        call_id: ask.call_id,
        title: render::visible(&ask.title),
        tool_kind: ask.tool_kind,
        parts: ask.parts.iter().map(|part| part_of(session, &visibly(part))).collect(),
        options: ask.options,
        questions: ask.questions,
        outcome: ask.outcome,
    }
}

/// What someone is asked to allow must not hide anything: characters that do not show become escapes that do.
fn visibly(part: &SourcePart) -> SourcePart {
    match part {
        SourcePart::Code { text, language } => {
            SourcePart::Code { text: render::visible(text), language: language.clone() }
        }
        SourcePart::Terminal { text } => SourcePart::Terminal { text: render::visible(text) },
        SourcePart::Text { text } => SourcePart::Text { text: render::visible(text) },
        SourcePart::Diff { path, old, new } => SourcePart::Diff {
            path: render::visible(path),
            old: old.as_deref().map(render::visible),
            new: new.as_deref().map(render::visible),
        },
        SourcePart::Hunks { path, hunks } => {
            let mut hunks = hunks.clone();
            for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                *line = render::visible(line);
            }
            SourcePart::Hunks { path: render::visible(path), hunks }
        }
        SourcePart::Image { .. } => part.clone(),
    }
}

fn part_of(session: &SessionId, part: &SourcePart) -> Part {
    match part {
        SourcePart::Text { text } => Part::Text { html: render::markdown(end_of(text)).concat() },
        SourcePart::Code { text, language } => {
            Part::Code { html: render::code(end_of(text), language.as_deref().unwrap_or_default()) }
        }
        SourcePart::Diff { path, old, new } => {
            Part::Diff { html: render::diff(path, old.as_deref(), new.as_deref()).html }
        }
        SourcePart::Hunks { path, hunks } => {
            Part::Diff { html: render::hunks(path, &hunk_inputs(hunks)).html }
        }
        SourcePart::Terminal { text } => Part::Terminal { html: render::terminal(end_of(text)) },
        SourcePart::Image { data, .. } => Part::Image { url: image_url(session, data) },
    }
}

/// Hunks as the renderer takes them.
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

/// Where a browser gets a picture that was kept under a name.
fn image_url(session: &SessionId, name: &str) -> String {
    let session = session.as_str().replace(':', "%3A");
    format!("/api/session/{session}/image/{}", name.trim_start_matches('@'))
}

fn text_len(part: &SourcePart) -> usize {
    match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => text.len(),
        SourcePart::Diff { .. } | SourcePart::Hunks { .. } | SourcePart::Image { .. } => 0,
    }
}

/// The end of a long text, from the beginning of a line where there is one near: what happened last matters most.
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
