//! The items of the running turn: where each stands, what of it is new to the journal, how it looks.
//!
//! Memory holds only these; everything older is in the journal. Pure but for rendering.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use liminal_contract::{ItemId, ItemStatus, TurnId};
use liminal_render::{HEAVY, RENDER_VERSION, Renderer};
use liminal_stream::{Ask, Source, SourcePart, Upsert};

use super::aside::aside;
use super::view;
use crate::journal::{Blocks, Change, Item};
use crate::ws::outbox::Told;

/// The open items of a session, and its counters.
pub struct Transcript {
    seq: u64,
    next_index: u64,
    open: HashMap<ItemId, Open>,
    /// The project's directory with a slash behind it: paths below it are shown without it.
    below: String,
}

struct Open {
    index: u64,
    /// Its turn has ended. It may still be settled, in its place.
    is_over: bool,
    request_id: Option<String>,
    upsert: Upsert,
    renderer: Renderer,
}

/// A change to write and, once written, to tell.
pub struct Applied {
    /// Its number.
    pub seq: u64,
    /// For the journal.
    pub changes: Vec<Change>,
    /// For the browsers.
    pub told: Told,
}

impl Transcript {
    /// Goes on after what the journal has.
    pub fn new(seq: u64, next_index: u64, project_dir: &Path) -> Self {
        let below = format!("{}/", project_dir.display());
        Self { seq, next_index, open: HashMap::new(), below }
    }

    /// Whether there is anything besides the message just sent.
    pub fn holds_more_than_one(&self) -> bool {
        self.next_index > 1
    }

    /// The number of the last change.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// A number for a change that is not an item's.
    pub fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Takes an item's new state.
    pub fn apply(&mut self, mut upsert: Upsert, request_id: Option<String>) -> Applied {
        let mut changes = self.tidied(&mut upsert);
        let seq = self.next_seq();
        let is_final = upsert.status.is_final();
        let next_index = &mut self.next_index;
        let known = self.open.get(&upsert.item_id);
        let grown = known.and_then(|open| grown(&open.upsert, &upsert));
        let open = self.open.entry(upsert.item_id.clone()).or_insert_with(|| {
            let index = *next_index;
            *next_index += 1;
            let upsert = upsert.clone();
            Open { index, is_over: false, request_id, upsert, renderer: Renderer::new() }
        });
        open.upsert = upsert.clone();
        let (long_text, long_parts) = heaviness(&upsert.source);
        // While it grows only its end is rendered.
        let blocks = aside(is_final && long_text, || open.render(is_final));
        changes.push(match grown {
            Some(text) => Change::Grew {
                item: upsert.item_id.clone(),
                seq,
                status: upsert.status,
                source_timestamp: upsert.source_timestamp,
                emitted_at: upsert.emitted_at,
                text,
            },
            None => Change::Item(Box::new(Item {
                upsert: upsert.clone(),
                index: open.index,
                seq,
                request_id: open.request_id.clone(),
                // A cache of what will not change any more; anything else is rendered when it is read.
                blocks: (is_final && !blocks.is_empty())
                    .then(|| Blocks { version: RENDER_VERSION, html: blocks.clone() }),
            })),
        });
        let told =
            aside(long_parts, || view::upsert(upsert, open.index, open.request_id.clone(), blocks));
        if is_final {
            self.open.remove(&told.item_id);
        }
        Applied { seq, changes, told: Told::Item(Arc::new(told)) }
    }

    /// Takes an item of a history that nobody looks at yet: it is rendered when somebody does.
    pub fn retell(&mut self, mut upsert: Upsert) -> Vec<Change> {
        let mut changes = self.tidied(&mut upsert);
        let seq = self.next_seq();
        let index = match self.open.remove(&upsert.item_id) {
            Some(open) => open.index,
            None => {
                self.next_index += 1;
                self.next_index - 1
            }
        };
        if !upsert.status.is_final() {
            let (upsert, renderer) = (upsert.clone(), Renderer::new());
            let open = Open { index, is_over: false, request_id: None, upsert, renderer };
            self.open.insert(open.upsert.item_id.clone(), open);
        }
        let item = Item { upsert, index, seq, request_id: None, blocks: None };
        changes.push(Change::Item(Box::new(item)));
        changes
    }

    /// Puts what an item shows as it is kept: pictures beside it, paths as the user names them.
    fn tidied(&self, upsert: &mut Upsert) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(parts) = parts_of(upsert) {
            keep_images(parts, &mut changes);
            shorten_paths(parts, &self.below);
        }
        changes
    }

    /// The permission of that id, if it waits for an answer.
    pub fn open_ask(&self, item: &ItemId) -> Option<&Ask> {
        match &self.open.get(item)?.upsert.source {
            Source::Permission(ask) if ask.outcome.is_none() => Some(ask),
            _ => None,
        }
    }

    /// Every permission that waits, with its turn.
    pub fn open_asks(&self) -> Vec<(TurnId, ItemId)> {
        let waits = |item: &ItemId| self.open_ask(item).is_some();
        let asks = self.open.iter().filter(|(item, _)| waits(item));
        asks.map(|(item, open)| (open.upsert.turn_id.clone(), item.clone())).collect()
    }

    /// Whether any permission waits.
    pub fn has_open_ask(&self) -> bool {
        self.open.keys().any(|item| self.open_ask(item).is_some())
    }

    /// Whether a tool runs.
    pub fn has_open_call(&self) -> bool {
        let is_call = |open: &Open| matches!(open.upsert.source, Source::ToolCall(_));
        self.open.values().any(|open| !open.is_over && is_call(open))
    }

    /// The turn is over. What did not end is remembered until the next one begins, because it may be settled yet.
    pub fn end_turn(&mut self) {
        self.open.values_mut().for_each(|open| open.is_over = true);
    }

    /// A turn begins. Of earlier ones only calls, which may end at any time, and questions without an answer are
    /// remembered.
    pub fn begin_turn(&mut self) {
        self.open.retain(|_, open| {
            let outlives =
                matches!(open.upsert.source, Source::ToolCall(_) | Source::Permission(_));
            outlives || !open.is_over
        });
    }
}

impl Open {
    fn render(&mut self, is_final: bool) -> Vec<String> {
        match &self.upsert.source {
            Source::Message { content, .. } | Source::Thinking { content, .. } => {
                if is_final {
                    self.renderer.finish(content);
                } else {
                    self.renderer.update(content);
                }
                self.renderer.blocks().to_vec()
            }
            Source::ToolCall(_)
            | Source::Plan { .. }
            | Source::Permission(_)
            | Source::Notice(_) => Vec::new(),
        }
    }
}

/// Whether rendering the text, and the parts, takes long enough to be noticed.
fn heaviness(source: &Source) -> (bool, bool) {
    let length = |part: &SourcePart| match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => text.len(),
        SourcePart::Diff { old, new, .. } => {
            old.as_ref().map_or(0, String::len) + new.as_ref().map_or(0, String::len)
        }
        SourcePart::Hunks { hunks, .. } => {
            hunks.iter().flat_map(|hunk| &hunk.lines).map(String::len).sum()
        }
        SourcePart::Image { .. } => 0,
    };
    let are_heavy = |parts: &[SourcePart]| parts.iter().map(length).sum::<usize>() > HEAVY;
    match source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            (content.len() > HEAVY, false)
        }
        Source::ToolCall(call) => (false, are_heavy(&call.parts)),
        Source::Permission(ask) => (false, are_heavy(&ask.parts)),
        Source::Plan { .. } | Source::Notice(_) => (false, false),
    }
}

/// What was added, when an item only grew at its end.
fn grown(before: &Upsert, after: &Upsert) -> Option<String> {
    if after.status != ItemStatus::Update || before.failure != after.failure {
        return None;
    }
    match (&before.source, &after.source) {
        (
            Source::Message { content: old, origin: a },
            Source::Message { content: new, origin: b },
        ) if a == b => new.strip_prefix(old.as_str()).map(str::to_owned),
        (
            Source::Thinking { content: old, provider_id: a },
            Source::Thinking { content: new, provider_id: b },
        ) if a == b => new.strip_prefix(old.as_str()).map(str::to_owned),
        (Source::ToolCall(old), Source::ToolCall(new)) => {
            let added =
                new.tool_output.as_ref()?.strip_prefix(old.tool_output.as_deref().unwrap_or(""))?;
            let same_but_for_output = old.tool_name == new.tool_name
                && old.title == new.title
                && old.tool_kind == new.tool_kind
                && old.tool_output_is_error == new.tool_output_is_error
                && old.refused == new.refused
                && old.tool_arguments == new.tool_arguments
                && old.locations == new.locations
                && old.parts == new.parts;
            same_but_for_output.then(|| added.to_owned())
        }
        _ => None,
    }
}

fn parts_of(upsert: &mut Upsert) -> Option<&mut [SourcePart]> {
    match &mut upsert.source {
        Source::ToolCall(call) => Some(&mut call.parts),
        Source::Permission(ask) => Some(&mut ask.parts),
        Source::Message { .. }
        | Source::Thinking { .. }
        | Source::Plan { .. }
        | Source::Notice(_) => None,
    }
}

/// A changed file is named as the user names it: by its place in the project.
fn shorten_paths(parts: &mut [SourcePart], below: &str) {
    for part in parts {
        if let SourcePart::Diff { path, .. } | SourcePart::Hunks { path, .. } = part
            && let Some(short) = path.strip_prefix(below)
        {
            *path = short.to_owned();
        }
    }
}

/// Takes pictures out of an item: they are kept beside it, under a name that stands in for the data (`@name`).
fn keep_images(parts: &mut [SourcePart], changes: &mut Vec<Change>) {
    for part in parts {
        let SourcePart::Image { mime_type, data } = part else { continue };
        // Only a name of ours stands in for a picture that was kept before; an agent may say anything.
        if data.strip_prefix('@').is_some_and(view::is_image_name) {
            continue;
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(data.as_bytes()).ok();
        let named =
            bytes.and_then(|bytes| view::image_name(mime_type, &bytes).map(|name| (name, bytes)));
        match named {
            Some((name, bytes)) => {
                *data = format!("@{name}");
                let mime_type = mime_type.clone();
                changes.push(Change::Image { name, mime_type, data: bytes });
            }
            None => {
                let text = format!("A picture of type {mime_type:?} that can't be shown.");
                *part = SourcePart::Text { text };
            }
        }
    }
}
