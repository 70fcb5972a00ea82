//! Tool calls. Agents start one with few details and add more in updates. They may also update a call they never
//! started, continue it after its turn ended, or never end it.

use agent_client_protocol_schema::v1::ToolCallStatus;
use liminal_contract::{ItemId, Location, Timestamp, ToolKind, TurnId};
use liminal_stream::{FinalItem, NewItem, Patch, Payload, SourcePart, ToolPatch};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_update::{CallUpdate, read, readable, word};
use super::written::WrittenFile;
use super::{Normaliser, ShownTerminal, Telling};
use crate::Output;

#[derive(Debug)]
pub(super) struct Call {
    /// The turn in which it started; later updates still belong there.
    pub turn: TurnId,
    pub item: ItemId,
    pub title: String,
    pub kind: ToolKind,
    /// What the agent shows of it, for the card of a permission.
    pub content: Vec<SourcePart>,
    pub locations: Vec<Location>,
    pub arguments: Map<String, Value>,
    phase: Phase,
    /// Its turn was stopped, so a failure only means that.
    pub stopped: bool,
    /// How many turns have started since.
    age: u8,
    /// Its output comes from terminals.
    shows_terminal: bool,
    /// Which content is shown now: parts, text, the output of a terminal.
    pub has_parts: bool,
    has_text: bool,
    has_grown: bool,
    refused: bool,
    /// Changes that it made through us.
    pub written: Vec<WrittenFile>,
}

/// A call known only from a permission or a plan, before the agent reported it. It has no item.
#[derive(Debug)]
pub(super) struct UnstartedCall {
    pub about: ToolPatch,
    name: Option<String>,
    content: Vec<SourcePart>,
    refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Known, but not reported as running.
    Heard,
    /// The agent said that it is running or about to.
    Running,
    /// Ended, but the end is not sent yet.
    Ending {
        is_error: bool,
    },
    Ended,
}

/// For how many turns a call without an end is remembered.
const LONGEST_MEMORY: u8 = 16;

impl Call {
    /// Whether the agent said that it is running. A rejected call never is.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running && !self.refused
    }

    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Heard | Phase::Running)
    }

    /// Called when a turn starts: whether to keep this call for late updates.
    pub fn is_remembered(&mut self) -> bool {
        self.age += 1;
        self.age < if self.phase == Phase::Ended { 2 } else { LONGEST_MEMORY }
    }

    /// Whether it is a command that runs on although its turn was stopped.
    pub fn survives_stop(&self) -> bool {
        self.stopped && self.kind == ToolKind::Execute && self.is_running()
    }

    pub fn end(&mut self) {
        self.phase = Phase::Ended;
        self.content = Vec::new();
        self.arguments = Map::new();
        self.written = Vec::new();
    }
}

impl Normaliser {
    /// Handles `tool_call` and `tool_call_update`: fields that are present replace earlier ones. `otherwise` is the
    /// status if there is none.
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

    /// The call that a permission is about. Does not create an item for a call that the agent has not reported.
    pub(super) fn asked_call(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(String, RequestedCall), serde_json::Error> {
        let mut told = read(raw)?;
        // A permission says "pending" even of a running call, so its status is ignored.
        told.status = None;
        let id = told.id.clone();
        if self.calls.contains_key(&id) {
            self.tell_call(told, at, out);
        } else {
            self.keep_unstarted(told);
        }
        let asked = match (self.calls.get(&id), self.unstarted.get(&id)) {
            (Some(call), _) => RequestedCall {
                title: call.title.clone(),
                kind: call.kind,
                content: call.content.clone(),
                locations: call.locations.clone(),
                arguments: call.arguments.clone(),
            },
            (None, Some(UnstartedCall { about, content, .. })) => RequestedCall {
                title: about.title.clone().unwrap_or_default(),
                kind: about.tool_kind.unwrap_or_default(),
                content: content.clone(),
                locations: about.locations.clone().unwrap_or_default(),
                arguments: about.arguments.clone().unwrap_or_default(),
            },
            (None, None) => RequestedCall::default(),
        };
        Ok((id, asked))
    }

    /// Remembers details of a call that has no item.
    pub(super) fn keep_unstarted(&mut self, told: CallUpdate) -> &UnstartedCall {
        let kept = self.unstarted.entry(told.id).or_insert_with(|| UnstartedCall {
            about: ToolPatch::default(),
            name: None,
            content: Vec::new(),
            refused: false,
        });
        let about = std::mem::take(&mut kept.about);
        kept.about = over(told.patch, about);
        kept.name = told.name.or(kept.name.take());
        kept.content = told.content.unwrap_or(std::mem::take(&mut kept.content));
        kept
    }

    fn tell_call(&mut self, mut told: CallUpdate, at: Timestamp, out: &mut Vec<Output>) {
        if self.ending.as_ref().is_some_and(|ending| *ending != told.id) {
            self.end_call(at, out);
        }
        let is_new = !self.calls.contains_key(&told.id);
        if is_new {
            if self.keeps_plan(&mut told, at, out) {
                return;
            }
            self.begin_call(&mut told, at, out);
        } else if let Some(call) = self.calls.get(&told.id) {
            call.replace_content(&mut told);
        }
        let CallUpdate { id, status, mut patch, content, terminals, raw_output, .. } = told;
        for terminal in terminals {
            self.shown.push(ShownTerminal { terminal, call: id.clone() });
        }
        let stopping = self.turn.as_ref().filter(|open| open.stopping).map(|open| &open.id);
        let Some(call) = self.calls.get_mut(&id) else { return };
        if call.refused {
            // After a rejection some agents send only the tool's name as the title.
            patch.title = None;
        }
        call.learn(&patch, content);
        call.claim_written(&mut self.written, &mut patch);
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let is_error = status == Some(ToolCallStatus::Failed);
        let ends = is_error || status == Some(ToolCallStatus::Completed);
        if ends && call.is_open() {
            let mut about = patch;
            if !call.has_content() {
                about.output = raw_output.as_ref().and_then(readable);
            }
            about.refused = call.refused.then_some(true);
            let stopped = call.stopped || stopping == Some(&turn);
            let is_cut = is_error || call.kind == ToolKind::Execute;
            if is_cut && stopped && !call.refused {
                // It was stopped with its turn, so it neither completed nor failed; its output stays. Some agents
                // report a command that was ended as completed.
                call.end();
                return self.patch_call(&turn, item_id, about, at, out);
            }
            // If a call arrives already complete, its output follows if it shows a terminal or is part of a history.
            // A call known only from an update may be reported next.
            let is_untold = call.title.is_empty();
            let more_follows = is_new && (is_untold || call.shows_terminal && !call.has_content());
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

    pub(super) fn patch_call(
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
        self.emit_patch(turn, item_id, patch, at, out);
    }

    fn emit_patch(
        &mut self,
        turn: &TurnId,
        item_id: ItemId,
        patch: ToolPatch,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let patch = Patch::Tool(Box::new(patch));
        self.emit(turn, Payload::ItemUpdate { item_id, patch }, at, out);
    }

    /// Sends the end of the call that was held back.
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

    fn begin_call(&mut self, told: &mut CallUpdate, at: Timestamp, out: &mut Vec<Output>) {
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let item_id = ItemId::call(&turn, &told.id);
        let unstarted = self.unstarted.remove(&told.id);
        let refused = unstarted.as_ref().is_some_and(|unstarted| unstarted.refused);
        let mut about = std::mem::take(&mut told.patch);
        if let Some(UnstartedCall { about: before, name, content, .. }) = unstarted {
            told.name = told.name.take().or(name);
            told.content = told.content.take().or(Some(content));
            about.title = about.title.filter(|_| !refused).or_else(|| before.title.clone());
            about = over(about, before);
        }
        let kind = about.tool_kind.unwrap_or_default();
        let mut call = Call {
            turn: turn.clone(),
            item: item_id.clone(),
            title: String::new(),
            kind,
            content: Vec::new(),
            locations: Vec::new(),
            arguments: Map::new(),
            phase: Phase::Heard,
            stopped: false,
            age: 0,
            shows_terminal: false,
            has_parts: false,
            has_text: false,
            has_grown: false,
            refused,
            written: Vec::new(),
        };
        call.shows_terminal = !told.terminals.is_empty();
        call.learn(&about, told.content.take());
        self.calls.insert(told.id.clone(), call);
        let name = told.name.take().unwrap_or_else(|| word(kind).to_owned());
        let refused = refused.then_some(true);
        let about = Box::new(ToolPatch { name: None, refused, ..about });
        let item = NewItem::FunctionCall { name, call_id: told.id.clone(), about };
        let parent_call_id = told.parent.take();
        self.emit(&turn, Payload::ItemStart { item_id, parent_call_id, item }, at, out);
    }

    pub(super) fn grow_output(
        &mut self,
        id: &str,
        text: String,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let Some(call) = self.calls.get_mut(id) else { return };
        call.has_grown = true;
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let patch = ToolPatch { output_delta: Some(text), ..ToolPatch::default() };
        self.emit_patch(&turn, item_id, patch, at, out);
    }

    /// The command that the call shows ended.
    pub(super) fn end_command(
        &mut self,
        id: &str,
        code: i32,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let Some(call) = self.calls.get(id) else { return };
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let patch = ToolPatch { exit_code: Some(code), ..ToolPatch::default() };
        self.emit_patch(&turn, item_id, patch, at, out);
    }

    /// The user rejected the call.
    pub(super) fn refuse_call(&mut self, id: &str, at: Timestamp, out: &mut Vec<Output>) {
        if let Some(unstarted) = self.unstarted.get_mut(id) {
            unstarted.refused = true;
        }
        let Some(call) = self.calls.get_mut(id).filter(|call| call.is_open()) else { return };
        call.refused = true;
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let patch = ToolPatch { refused: Some(true), ..ToolPatch::default() };
        self.emit_patch(&turn, item_id, patch, at, out);
    }

    /// Ends rejected calls, which agents may never mention again. Other calls may continue after their turn.
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

    /// A call of the current turn ends the text before it; a late one of an earlier turn does not.
    fn close_text_of(&mut self, turn: &TurnId, at: Timestamp, out: &mut Vec<Output>) {
        if self.turn() == Some(turn) {
            self.close_text(at, out);
        }
    }
}

impl Call {
    fn learn(&mut self, patch: &ToolPatch, content: Option<Vec<SourcePart>>) {
        if let Some(title) = &patch.title {
            self.title.clone_from(title);
        }
        if let Some(kind) = patch.tool_kind {
            self.kind = kind;
        }
        if let Some(locations) = &patch.locations {
            self.locations.clone_from(locations);
        }
        if let Some(arguments) = &patch.arguments {
            self.arguments.clone_from(arguments);
        }
        if let Some(content) = content {
            self.content = content;
        }
        if let Some(parts) = &patch.parts {
            self.has_parts = !parts.is_empty();
        }
        if let Some(output) = &patch.output {
            self.has_text = !output.is_empty();
        }
        self.has_grown |= patch.output_delta.is_some();
    }

    /// New content replaces all earlier content, except the output of a terminal.
    fn replace_content(&self, told: &mut CallUpdate) {
        if told.content.is_none() {
            return;
        }
        if self.has_parts {
            told.patch.parts.get_or_insert_default();
        }
        if self.has_text {
            told.patch.output.get_or_insert_default();
        }
    }

    fn has_content(&self) -> bool {
        self.has_parts || self.has_text || self.has_grown
    }
}

/// The call that a permission is about.
#[derive(Debug, Default)]
pub(super) struct RequestedCall {
    pub title: String,
    pub kind: ToolKind,
    pub content: Vec<SourcePart>,
    pub locations: Vec<Location>,
    pub arguments: Map<String, Value>,
}

/// Fills the gaps of a patch from an earlier one.
fn over(patch: ToolPatch, before: ToolPatch) -> ToolPatch {
    ToolPatch {
        name: patch.name.or(before.name),
        title: patch.title.or(before.title),
        tool_kind: patch.tool_kind.or(before.tool_kind),
        locations: patch.locations.or(before.locations),
        arguments: patch.arguments.or(before.arguments),
        parts: patch.parts.or(before.parts),
        output: patch.output.or(before.output),
        output_delta: patch.output_delta.or(before.output_delta),
        refused: patch.refused.or(before.refused),
        exit_code: patch.exit_code.or(before.exit_code),
    }
}
