//! Tool calls. Agents begin one with little and fill it by updates, may update one they never began, and may go on
//! after its turn ended or not end it at all.

use agent_client_protocol_schema::v1::{self as wire, ToolCallStatus, ToolCallUpdate};
use liminal_contract::{ItemId, Location, Timestamp, ToolKind, TurnId};
use liminal_stream::{FinalItem, NewItem, Patch, Payload, SourcePart, ToolPatch};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::content::{self, Sorted};
use super::{Normaliser, Shown, Telling};
use crate::Output;

/// A call as far as it must be remembered.
#[derive(Debug)]
pub(super) struct Call {
    /// The turn in which it began; what comes later still belongs there.
    pub turn: TurnId,
    pub item: ItemId,
    pub title: String,
    pub kind: ToolKind,
    /// What a permission that asks for it must show.
    pub parts: Vec<SourcePart>,
    pub arguments: Map<String, Value>,
    phase: Phase,
    /// Its turn was stopped: that it fails means nothing else.
    pub stopped: bool,
    /// How many turns have begun since it did.
    age: u8,
    /// Its output is what its terminals show.
    shows_terminal: bool,
    /// Something was there to be seen.
    has_content: bool,
    refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Something was said of it, such as a question, but not that it runs.
    Heard,
    /// The agent said that it runs or is about to.
    Running,
    /// Ended, but its end is not said yet.
    Ending {
        is_error: bool,
    },
    Ended,
}

/// A call without an end is remembered over this many turns.
const LONGEST_MEMORY: u8 = 16;

/// What one message says about a call.
struct Told {
    id: String,
    status: Option<ToolCallStatus>,
    name: Option<String>,
    parent: Option<String>,
    patch: ToolPatch,
    terminals: Vec<String>,
    raw_output: Option<Value>,
}

impl Call {
    /// Whether the agent said that it runs. It will not once the user said no.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running && !self.refused
    }

    /// Whether its end is still to come.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Heard | Phase::Running)
    }

    /// Called when a turn begins: whether a late update would still find this call.
    pub fn is_remembered(&mut self) -> bool {
        self.age += 1;
        self.age < if self.phase == Phase::Ended { 2 } else { LONGEST_MEMORY }
    }

    fn end(&mut self) {
        self.phase = Phase::Ended;
        self.parts = Vec::new();
        self.arguments = Map::new();
    }
}

impl Normaliser {
    /// `tool_call` and `tool_call_update` alike: what is there replaces, what is absent stays. Only a status that
    /// is absent means more in the first: `otherwise`.
    pub(super) fn call(
        &mut self,
        raw: &RawValue,
        otherwise: Option<ToolCallStatus>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let mut told = read(raw)?;
        if self.telling == Telling::KnownHistory {
            return Ok(());
        }
        told.status = told.status.or(otherwise);
        self.tell_call(told, at, out);
        Ok(())
    }

    /// The call a permission asks for. Its card is made where the agent has not told of it yet. Gives its id.
    pub(super) fn asked_call(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<String, serde_json::Error> {
        let mut told = read(raw)?;
        // It says "pending" of a call that the agent has begun; neither is news.
        told.status = None;
        let id = told.id.clone();
        self.tell_call(told, at, out);
        Ok(id)
    }

    fn tell_call(&mut self, mut told: Told, at: Timestamp, out: &mut Vec<Output>) {
        if self.ending.as_ref().is_some_and(|ending| *ending != told.id) {
            self.end_call(at, out);
        }
        let is_new = !self.calls.contains_key(&told.id);
        if is_new {
            self.begin_call(&mut told, at, out);
        }
        let Told { id, status, patch, terminals, raw_output, .. } = told;
        for terminal in terminals {
            self.shown.push(Shown { terminal, call: id.clone() });
        }
        let stopping = self.turn.as_ref().filter(|open| open.stopping).map(|open| &open.id);
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.learn(&patch);
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let is_error = status == Some(ToolCallStatus::Failed);
        let ends = is_error || status == Some(ToolCallStatus::Completed);
        if ends && call.is_open() {
            let mut about = patch;
            if !call.has_content {
                about.output = raw_output.as_ref().and_then(readable);
            }
            about.refused = call.refused.then_some(true);
            let stopped = call.stopped || stopping == Some(&turn);
            if is_error && stopped && !call.refused {
                // It was stopped with its turn, so it is neither complete nor failed; its words stay.
                call.end();
                return self.patch_call(&turn, item_id, about, at, out);
            }
            // A call that comes complete is followed by its output where it shows a terminal, and in a history.
            let more_follows = is_new && (call.shows_terminal && !call.has_content);
            if more_follows || self.telling == Telling::History {
                call.phase = Phase::Ending { is_error };
                self.ending = Some(id);
                self.patch_call(&turn, item_id, about, at, out);
                return;
            }
            call.end();
            self.close_text_of(&turn, at, out);
            self.emit_end(&turn, item_id, id, is_error, about, at, out);
        } else {
            if status.is_some() && call.phase == Phase::Heard {
                call.phase = Phase::Running;
            }
            self.patch_call(&turn, item_id, patch, at, out);
        }
    }

    fn patch_call(
        &mut self,
        turn: &TurnId,
        item_id: ItemId,
        patch: ToolPatch,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        if patch == ToolPatch::default() {
            return;
        }
        self.close_text_of(turn, at, out);
        let patch = Patch::Tool(Box::new(patch));
        self.emit(turn, Payload::ItemUpdate { item_id, patch }, at, out);
    }

    /// Says the end of the call whose end was held back.
    pub(super) fn end_call(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(id) = self.ending.take() else { return };
        let Some(call) = self.calls.get_mut(&id) else { return };
        let Phase::Ending { is_error } = call.phase else { return };
        call.end();
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        self.emit_end(&turn, item_id, id, is_error, ToolPatch::default(), at, out);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one event")]
    fn emit_end(
        &mut self,
        turn: &TurnId,
        item_id: ItemId,
        call_id: String,
        is_error: bool,
        about: ToolPatch,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let about = Box::new(about);
        let final_item =
            FinalItem::FunctionCallOutput { call_id, output: String::new(), is_error, about };
        self.emit(turn, Payload::ItemDone { item_id, final_item }, at, out);
    }

    fn begin_call(&mut self, told: &mut Told, at: Timestamp, out: &mut Vec<Output>) {
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let item_id = ItemId::call(&turn, &told.id);
        let about = std::mem::take(&mut told.patch);
        let kind = about.tool_kind.unwrap_or_default();
        let mut call = Call {
            turn: turn.clone(),
            item: item_id.clone(),
            title: String::new(),
            kind,
            parts: Vec::new(),
            arguments: Map::new(),
            phase: Phase::Heard,
            stopped: false,
            age: 0,
            shows_terminal: false,
            has_content: false,
            refused: false,
        };
        call.shows_terminal = !told.terminals.is_empty();
        call.learn(&about);
        self.calls.insert(told.id.clone(), call);
        let name = told.name.take().unwrap_or_else(|| word(kind).to_owned());
        let about = Box::new(ToolPatch { name: None, ..about });
        let item = NewItem::FunctionCall { name, call_id: told.id.clone(), about };
        let parent_call_id = told.parent.take();
        self.emit(&turn, Payload::ItemStart { item_id, parent_call_id, item }, at, out);
    }

    /// More output of a call.
    pub(super) fn grow_output(
        &mut self,
        id: &str,
        text: String,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let Some(call) = self.calls.get_mut(id) else { return };
        call.has_content = true;
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let patch = ToolPatch { output_delta: Some(text), ..ToolPatch::default() };
        self.emit(
            &turn,
            Payload::ItemUpdate { item_id, patch: Patch::Tool(Box::new(patch)) },
            at,
            out,
        );
    }

    /// The user did not allow the call.
    pub(super) fn refuse_call(&mut self, id: &str, at: Timestamp, out: &mut Vec<Output>) {
        let Some(call) = self.calls.get_mut(id).filter(|call| call.is_open()) else { return };
        call.refused = true;
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let patch = ToolPatch { refused: Some(true), ..ToolPatch::default() };
        self.emit(
            &turn,
            Payload::ItemUpdate { item_id, patch: Patch::Tool(Box::new(patch)) },
            at,
            out,
        );
    }

    /// After a refusal there may be no word about the call any more. Others may go on after their turn.
    pub(super) fn close_refused(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(turn) = self.turn().cloned() else { return };
        let mut open: Vec<_> = self
            .calls
            .iter_mut()
            .filter(|(_, call)| call.is_open() && call.refused && call.turn == turn)
            .map(|(id, call)| {
                call.end();
                (call.item.clone(), id.clone())
            })
            .collect();
        open.sort();
        for (item_id, id) in open {
            let about = ToolPatch { refused: Some(true), ..ToolPatch::default() };
            self.emit_end(&turn, item_id, id, true, about, at, out);
        }
    }

    /// A call of the turn that is going on ends the text before it. A late one of an earlier turn does not.
    fn close_text_of(&mut self, turn: &TurnId, at: Timestamp, out: &mut Vec<Output>) {
        if self.turn() == Some(turn) {
            self.close_text(at, out);
        }
    }
}

impl Call {
    fn learn(&mut self, patch: &ToolPatch) {
        if let Some(title) = &patch.title {
            self.title.clone_from(title);
        }
        if let Some(kind) = patch.tool_kind {
            self.kind = kind;
        }
        if let Some(arguments) = &patch.arguments {
            self.arguments.clone_from(arguments);
        }
        if let Some(parts) = &patch.parts {
            self.parts.clone_from(parts);
            self.has_content |= !parts.is_empty();
        }
        self.has_content |= patch.output.is_some() || patch.output_delta.is_some();
    }
}

/// Reads what a message says about a call.
fn read(raw: &RawValue) -> Result<Told, serde_json::Error> {
    #[derive(Deserialize)]
    struct WithContent<'a> {
        #[serde(default, borrow)]
        content: Option<Vec<&'a RawValue>>,
    }
    let ToolCallUpdate { tool_call_id, fields, meta, .. } = serde_json::from_str(raw.get())?;
    if tool_call_id.0.is_empty() {
        // It could not be told from another.
        return Err(serde::de::Error::custom("toolCallId is empty"));
    }
    // The schema's reader passes over content it does not know without a word; so the content is read apart.
    let content = serde_json::from_str::<WithContent<'_>>(raw.get()).ok().and_then(|it| it.content);
    let meta = meta.unwrap_or_default();
    let output_delta = ["terminal_output_delta", "terminal_output"]
        .iter()
        .filter_map(|key| meta.get(*key)?.get("data")?.as_str())
        .collect::<String>();
    let of_terminal = meta.keys().any(|key| key.starts_with("terminal_"));
    let Sorted { texts, mut parts, terminals } =
        content.as_deref().map(content::sort).unwrap_or_default();
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
        title: fields.title,
        tool_kind: fields.kind.map(kind),
        locations: fields.locations.map(|them| them.into_iter().map(location).collect()),
        arguments: fields.raw_input.and_then(arguments),
        // An empty list is news only where there was something before, and then the agent shows what replaced it.
        parts: (!parts.is_empty()).then_some(parts),
        output,
        output_delta: (!output_delta.is_empty()).then_some(output_delta),
        refused: None,
    };
    Ok(Told {
        id: tool_call_id.0.to_string(),
        status: fields.status,
        name,
        parent: of_claude("parentToolUseId"),
        patch,
        terminals,
        raw_output: fields.raw_output,
    })
}

fn location(location: wire::ToolCallLocation) -> Location {
    Location { path: location.path.display().to_string(), line: location.line }
}

/// Arguments are an object by custom, not by rule. Empty ones say nothing: agents send them before the real ones.
fn arguments(raw: Value) -> Option<Map<String, Value>> {
    match raw {
        Value::Object(map) => (!map.is_empty()).then_some(map),
        Value::Null => None,
        other => Some(Map::from_iter([("input".to_owned(), other)])),
    }
}

/// A raw output as text, where there is something to read.
fn readable(raw: &Value) -> Option<String> {
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

/// What to call a tool that has no name.
fn word(kind: ToolKind) -> &'static str {
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
