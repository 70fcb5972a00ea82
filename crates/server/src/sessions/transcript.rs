//! The items of the running turn: the place of each, its changes for the journal, and its rendering.
//!
//! Memory holds only these; everything older is in the journal. Pure but for rendering.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use liminal_contract::{Blocks, ItemId, ItemStatus, MessageOrigin, Outcome, Timestamp, TurnId};
use liminal_render::{HEAVY, RENDER_VERSION, Renderer, units};
use liminal_stream::{Growth, Permission, Source, SourcePart, ToolCall, Upsert};

use super::aside::aside;
use super::news::News;
use super::{snippet, view};
use crate::feed::Update;
use crate::journal::{Change, Item, KeptBlocks};

pub struct Transcript {
    seq: u64,
    next_index: u64,
    open: HashMap<ItemId, OpenItem>,
    /// The project's directory with a trailing slash: paths below it are shown without it.
    below: String,
}

struct OpenItem {
    turn_id: TurnId,
    index: u64,
    /// Its turn has ended. The item may still get its final state, at the same index.
    is_over: bool,
    request_id: Option<String>,
    state: State,
}

/// As much of an open item as its next change needs.
enum State {
    /// The agent's words or thinking: only their end is rendered again.
    Text {
        renderer: Renderer,
        /// Its length in UTF-16 units.
        units: usize,
    },
    /// Rendered whole at every change.
    Whole(Box<Upsert>),
}

/// A change to commit and, after that, to send.
pub struct Applied {
    pub seq: u64,
    pub changes: Vec<Change>,
    pub news: Option<News>,
}

impl Transcript {
    /// Continues from the counters in the journal.
    pub fn new(seq: u64, next_index: u64, project_dir: &Path) -> Self {
        let below = format!("{}/", project_dir.display());
        Self { seq, next_index, open: HashMap::new(), below }
    }

    /// Whether there is more than the message just sent.
    pub fn holds_more_than_one(&self) -> bool {
        self.next_index > 1
    }

    /// The number of the last change.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// For a change that does not concern an item.
    pub fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub fn put(&mut self, mut upsert: Upsert, request_id: Option<String>) -> Applied {
        let mut changes = self.tidied(&mut upsert);
        self.find_snippets(&mut upsert);
        let seq = self.next_seq();
        let is_final = upsert.status.is_final();
        let (index, request_id) = self.place(&upsert.item_id, request_id);
        let (long_text, long_parts) = heaviness(&upsert.source);
        let blocks = aside(long_text, || {
            if is_final {
                view::blocks_of(&upsert.source)
            } else {
                self.open(&upsert, index, request_id.clone())
            }
        });
        let (news, blocks) = aside(long_text || long_parts, || {
            let seen = view::upsert(&upsert, index, request_id.clone(), blocks);
            if is_final {
                let update = Update::item(seq, &seen);
                (News::Ended(update), view::into_blocks(seen.body))
            } else {
                (News::Item(Box::new(seen)), Blocks::default())
            }
        });
        // Cached for a final state; any other is rendered when it is read.
        let blocks =
            (!blocks.is_empty()).then_some(KeptBlocks { version: RENDER_VERSION, html: blocks });
        changes.push(Change::Item(Box::new(Item { upsert, index, seq, request_id, blocks })));
        Applied { seq, changes, news: Some(news) }
    }

    /// `None` for an item that isn't open.
    pub fn grow(&mut self, growth: Growth) -> Option<Applied> {
        let open = self.open.get_mut(&growth.item_id)?;
        self.seq += 1;
        let (seq, growth) = (self.seq, Arc::new(growth));
        let news = match &mut open.state {
            State::Text { renderer, units: length } => {
                let edit = renderer.append(&growth.text);
                let from = *length;
                *length += units(&growth.text);
                News::Grew { growth: growth.clone(), from, edit }
            }
            State::Whole(upsert) => {
                upsert.grow(&growth);
                let blocks = view::blocks_of(&upsert.source);
                let seen = view::upsert(upsert, open.index, open.request_id.clone(), blocks);
                News::Item(Box::new(seen))
            }
        };
        Some(Applied { seq, changes: vec![Change::Grew { growth, seq }], news: Some(news) })
    }

    /// Applies an item of a history that nobody follows yet: it is rendered when it is read, unless it may still grow.
    pub fn retell(&mut self, mut upsert: Upsert) -> Applied {
        let is_text = matches!(upsert.source, Source::Message { .. } | Source::Thinking { .. });
        if is_text && !upsert.status.is_final() {
            return self.put(upsert, None);
        }
        let mut changes = self.tidied(&mut upsert);
        let seq = self.next_seq();
        let (index, _) = self.place(&upsert.item_id, None);
        if !upsert.status.is_final() {
            self.open(&upsert, index, None);
        }
        let item = Item { upsert, index, seq, request_id: None, blocks: None };
        changes.push(Change::Item(Box::new(item)));
        Applied { seq, changes, news: None }
    }

    /// Returns the rendered blocks of a text.
    fn open(&mut self, upsert: &Upsert, index: u64, request_id: Option<String>) -> Blocks {
        let (state, blocks) = match &upsert.source {
            Source::Message {
                content,
                origin: MessageOrigin::Agent | MessageOrigin::System,
                ..
            }
            | Source::Thinking { content, .. } => {
                let mut renderer = Renderer::new();
                let blocks = renderer.append(content).blocks.into_iter().collect();
                (State::Text { renderer, units: units(content) }, blocks)
            }
            Source::Message { .. }
            | Source::Interlude(_)
            | Source::ToolCall(_)
            | Source::Permission(_)
            | Source::Plan { .. }
            | Source::Notice(_) => {
                (State::Whole(Box::new(upsert.clone())), view::blocks_of(&upsert.source))
            }
        };
        let turn_id = upsert.turn_id.clone();
        let open = OpenItem { turn_id, index, is_over: false, request_id, state };
        self.open.insert(upsert.item_id.clone(), open);
        blocks
    }

    /// The index of an item, which is closed until its new state is known, and the request that created it.
    fn place(&mut self, item: &ItemId, request_id: Option<String>) -> (u64, Option<String>) {
        if let Some(open) = self.open.remove(item) {
            return (open.index, open.request_id);
        }
        self.next_index += 1;
        (self.next_index - 1, request_id)
    }

    /// Prepares an item for the journal: moves its pictures out of it, and shortens paths to the project's.
    fn tidied(&self, upsert: &mut Upsert) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(parts) = parts_of(upsert) {
            keep_images(parts, &mut changes);
            shorten_paths(parts, &self.below);
        }
        if let Source::ToolCall(ToolCall { title, .. })
        | Source::Permission(Permission { title, .. }) = &mut upsert.source
            && let Some(short) = title.strip_prefix(&self.below)
        {
            *title = short.to_owned();
        }
        changes
    }

    /// Finds the lines that an edit is about, before the agent or anybody else changes the file further.
    fn find_snippets(&self, upsert: &mut Upsert) {
        let is_final = upsert.status.is_final();
        let before = self.open.get(&upsert.item_id).and_then(OpenItem::source);
        let before = before.map(source_parts).unwrap_or_default();
        if let Some(parts) = parts_of(upsert).filter(|parts| snippet::is_any_in(parts)) {
            aside(true, || snippet::find(parts, before, is_final, Path::new(&self.below)));
        }
    }

    /// The permission with that id, if it is open.
    pub fn open_ask(&self, item: &ItemId) -> Option<&Permission> {
        self.open.get(item)?.permission().filter(|ask| ask.outcome.is_none())
    }

    /// An open permission with this answer, which the agent doesn't have yet.
    pub fn answered(&self, item: &ItemId, outcome: Outcome, at: Timestamp) -> Option<Upsert> {
        self.open_ask(item)?;
        let State::Whole(upsert) = &self.open.get(item)?.state else { return None };
        let mut upsert = Upsert::clone(upsert);
        if let Source::Permission(ask) = &mut upsert.source {
            ask.outcome = Some(outcome);
        }
        (upsert.status, upsert.emitted_at) = (ItemStatus::Update, at);
        Some(upsert)
    }

    /// The turn of an item that has not ended.
    pub fn turn_of(&self, item: &ItemId) -> Option<&TurnId> {
        self.open.get(item).map(|open| &open.turn_id)
    }

    /// Every open permission, with its turn.
    pub fn open_asks(&self) -> Vec<(TurnId, ItemId)> {
        let waits = |item: &ItemId| self.open_ask(item).is_some();
        let asks = self.open.iter().filter(|(item, _)| waits(item));
        asks.map(|(item, open)| (open.turn_id.clone(), item.clone())).collect()
    }

    pub fn has_open_ask(&self) -> bool {
        self.open.keys().any(|item| self.open_ask(item).is_some())
    }

    /// What the agent said in a turn without ending it.
    pub fn open_texts(&self, turn: &TurnId) -> Vec<ItemId> {
        let is_one =
            |open: &OpenItem| open.turn_id == *turn && matches!(open.state, State::Text { .. });
        let open = self.open.iter().filter(|(_, open)| is_one(open));
        open.map(|(item, _)| item.clone()).collect()
    }

    /// Whether an answer is on its way to the agent.
    pub fn is_answering(&self) -> bool {
        let is_answered = |ask: &Permission| ask.outcome.is_some();
        self.open.values().any(|open| open.permission().is_some_and(is_answered))
    }

    /// Whether a tool runs.
    pub fn has_open_call(&self) -> bool {
        self.open.values().any(|open| !open.is_over && open.is_call())
    }

    /// The turn is over. Items that did not end are kept until the next one begins: their final state may follow.
    pub fn end_turn(&mut self) {
        self.open.values_mut().for_each(|open| open.is_over = true);
    }

    /// A turn begins. From earlier turns only tool calls, which may end at any time, and open permissions are kept.
    pub fn begin_turn(&mut self) {
        self.open.retain(|_, open| !open.is_over || open.is_call() || open.permission().is_some());
    }
}

impl OpenItem {
    fn permission(&self) -> Option<&Permission> {
        match self.source()? {
            Source::Permission(ask) => Some(ask),
            _ => None,
        }
    }

    fn is_call(&self) -> bool {
        matches!(self.source(), Some(Source::ToolCall(_)))
    }

    /// `None` for the agent's texts, which may be long.
    fn source(&self) -> Option<&Source> {
        match &self.state {
            State::Whole(upsert) => Some(&upsert.source),
            State::Text { .. } => None,
        }
    }
}

/// Whether rendering the text is slow, and whether rendering the parts is.
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
        SourcePart::Fields { fields } => fields.iter().map(|field| field.value.len()).sum(),
        SourcePart::Image { .. } => 0,
    };
    let are_heavy = |parts: &[SourcePart]| parts.iter().map(length).sum::<usize>() > HEAVY;
    match source {
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            (content.len() > HEAVY, false)
        }
        Source::ToolCall(call) => {
            let given = call.tool_arguments.values().filter_map(serde_json::Value::as_str);
            (false, are_heavy(&call.parts) || given.map(str::len).sum::<usize>() > HEAVY)
        }
        Source::Permission(ask) => (false, are_heavy(&ask.parts)),
        Source::Interlude(interlude) => (interlude.text().len() > HEAVY, false),
        Source::Plan { .. } | Source::Notice(_) => (false, false),
    }
}

fn source_parts(source: &Source) -> &[SourcePart] {
    match source {
        Source::ToolCall(call) => &call.parts,
        Source::Permission(ask) => &ask.parts,
        Source::Message { .. }
        | Source::Thinking { .. }
        | Source::Plan { .. }
        | Source::Interlude(_)
        | Source::Notice(_) => &[],
    }
}

fn parts_of(upsert: &mut Upsert) -> Option<&mut [SourcePart]> {
    match &mut upsert.source {
        Source::ToolCall(call) => Some(&mut call.parts),
        Source::Permission(ask) => Some(&mut ask.parts),
        Source::Message { .. }
        | Source::Thinking { .. }
        | Source::Plan { .. }
        | Source::Interlude(_)
        | Source::Notice(_) => None,
    }
}

/// Shows changed files by their path within the project.
fn shorten_paths(parts: &mut [SourcePart], below: &str) {
    for part in parts {
        if let SourcePart::Diff { path, .. } | SourcePart::Hunks { path, .. } = part
            && let Some(short) = path.strip_prefix(below)
        {
            *path = short.to_owned();
        }
    }
}

/// Moves pictures out of an item: they are stored separately, and a name replaces the data (`@name`).
fn keep_images(parts: &mut [SourcePart], changes: &mut Vec<Change>) {
    for part in parts {
        let SourcePart::Image { mime_type, data } = part else { continue };
        // Only one of our names stands for a stored picture; an agent may send anything.
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
                let text = format!("This picture can't be shown: its type is {mime_type:?}.");
                *part = SourcePart::Text { text };
            }
        }
    }
}
