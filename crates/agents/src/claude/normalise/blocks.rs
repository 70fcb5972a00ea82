//! The model's messages, block by block: streamed, and complete.
//!
//! A block is final once its `assistant` line has arrived. If that never arrives (the connection broke, and Claude Code
//! asks the model again), the block is shown as broken off: its text is neither lost nor mistaken for the answer.

use liminal_contract::{ErrorCode, ItemId, MessageOrigin, Severity, TurnId};
use liminal_stream::{AgentError, FinalItem, NewItem, Patch, Payload, ToolPatch};
use serde_json::{Map, Value};

use super::results::Call;
use super::{ApiError, Normaliser, ending, notice};
use crate::claude::tools;
use crate::claude::wire::{
    ApiEvent, ApiMessage, ApiUsage, AssistantLine, Block, Content, Delta, KnownBlock, StreamLine,
};
use crate::picture;

/// Shown in place of redacted thinking.
const REDACTED: &str = "*The model's provider hides these thoughts.*";

pub(super) struct Message {
    id: String,
    parent: Option<String>,
    blocks: Vec<Tracked>,
}

struct Tracked {
    index: usize,
    item: ItemId,
    kind: Kind,
    text: String,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call(String),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Ended, but its `assistant` line has not arrived.
    Unconfirmed,
    Done,
}

impl Normaliser {
    pub(super) fn stream(&mut self, line: StreamLine) {
        let parent = line.parent_tool_use_id;
        if parent.is_some() && !self.in_turn() {
            // A background sub-agent: its complete blocks follow in a moment, which is enough.
            return;
        }
        match line.event {
            ApiEvent::MessageStart { message } => {
                self.turn_of(parent.as_ref());
                self.retry_over(Severity::Info, "The model answers again.");
                self.count_context(parent.is_none(), message.usage);
                self.message(&message.id, parent);
            }
            ApiEvent::ContentBlockStart { index, content_block } => {
                self.turn_of(parent.as_ref());
                let message = self.current(parent.as_ref());
                self.start_block(message, parent, index, content_block);
            }
            ApiEvent::ContentBlockDelta { index, delta } => {
                let added = match delta {
                    Delta::Text { text } => text,
                    Delta::Thinking { thinking } => thinking,
                    Delta::InputJson { partial_json } => partial_json,
                    Delta::Other => return,
                };
                let Some(block) = self.open_block(parent.as_ref(), index) else { return };
                block.text.push_str(&added);
                let (item_id, kind) = (block.item.clone(), block.kind.clone());
                if self.is_shown(&kind) && !added.is_empty() {
                    self.emit(Payload::ItemDelta { item_id, delta_content: added });
                }
            }
            ApiEvent::ContentBlockStop { index } => {
                if let Some(block) = self.open_block(parent.as_ref(), index) {
                    block.state = State::Unconfirmed;
                }
            }
            ApiEvent::MessageDelta { usage } => self.count_context(parent.is_none(), usage),
            ApiEvent::MessageStop | ApiEvent::Other => {}
        }
    }

    pub(super) fn assistant(&mut self, line: AssistantLine) {
        self.turn_of(line.parent_tool_use_id.as_ref());
        if line.parent_tool_use_id.is_none() {
            if let Some(uuid) = line.uuid {
                self.last_record = Some(uuid);
            }
            if line.local_command_source.is_some() {
                let words = text_of(line.message.content.into_blocks());
                return self.command_output(line.local_command_run.typed(), &words);
            }
            if line.is_api_error_message || is_older_api_error(&line.message) {
                let words = text_of(line.message.content.into_blocks());
                let wants_login = ending::wants_login(line.error.as_ref());
                if let Some(turn) = &mut self.turn {
                    turn.api_error = Some(ApiError { words, wants_login });
                }
                return;
            }
        }
        let parent = line.parent_tool_use_id;
        let message = self.message(&line.message.id, parent.clone());
        for block in line.message.content.into_blocks() {
            self.whole_block(message, parent.clone(), block, line.aborted);
        }
    }

    /// Background sub-agents send messages outside turns, too; a message of the agent itself begins one.
    fn turn_of(&mut self, parent: Option<&String>) {
        if parent.is_some() {
            self.take_up();
            self.ensure_aside();
        } else {
            self.ensure_turn();
        }
    }

    /// The index of a message, known or new. A new one breaks off the unconfirmed blocks of the last.
    fn message(&mut self, id: &str, parent: Option<String>) -> usize {
        let messages = self.turn.as_ref().map_or(&[][..], |turn| &turn.messages);
        if let Some(at) =
            messages.iter().rposition(|known| known.parent == parent && known.id == id)
        {
            return at;
        }
        self.break_off(parent.as_deref());
        let Some(turn) = &mut self.turn else { return 0 };
        turn.messages.push(Message { id: id.to_owned(), parent, blocks: Vec::new() });
        turn.messages.len() - 1
    }

    /// The index of the message that is streaming.
    fn current(&mut self, parent: Option<&String>) -> usize {
        let messages = self.turn.as_ref().map_or(&[][..], |turn| &turn.messages);
        match messages.iter().rposition(|message| message.parent.as_ref() == parent) {
            Some(at) => at,
            None => self.message("", parent.cloned()),
        }
    }

    fn open_block(&mut self, parent: Option<&String>, index: usize) -> Option<&mut Tracked> {
        let messages = &mut self.turn.as_mut()?.messages;
        let message = messages.iter_mut().rfind(|message| message.parent.as_ref() == parent)?;
        message.blocks.iter_mut().find(|block| block.index == index && block.state == State::Open)
    }

    fn start_block(&mut self, message: usize, parent: Option<String>, index: usize, block: Block) {
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) else { return };
        let mut item = ItemId::block(&turn, message, index);
        let mut state = State::Open;
        let (kind, text) = match block {
            Block::Known(KnownBlock::Text { text }) => {
                let initial_content = (!text.is_empty()).then(|| text.clone());
                let origin = MessageOrigin::Agent;
                self.start(item.clone(), parent, NewItem::Message { initial_content, origin });
                (Kind::Text, text)
            }
            Block::Known(KnownBlock::Thinking { thinking }) => {
                let initial_content = (!thinking.is_empty()).then(|| thinking.clone());
                self.start(item.clone(), parent, NewItem::Reasoning { initial_content });
                (Kind::Thinking, thinking)
            }
            Block::Known(KnownBlock::RedactedThinking {}) => {
                self.start(item.clone(), parent, NewItem::Reasoning { initial_content: None });
                self.finish(&item, &Kind::Thinking, REDACTED.to_owned());
                state = State::Done;
                (Kind::Thinking, String::new())
            }
            Block::Known(KnownBlock::ToolUse { id, name, .. }) => {
                item = self.start_call(&turn, &id, name, parent);
                (Kind::Call(id), String::new())
            }
            // The `assistant` line has these complete.
            Block::Known(KnownBlock::ToolResult { .. } | KnownBlock::Image { .. })
            | Block::Other(_) => (Kind::Other, String::new()),
        };
        if let Some(turn) = &mut self.turn {
            turn.messages[message].blocks.push(Tracked { index, item, kind, text, state });
        }
    }

    fn start_call(
        &mut self,
        turn: &TurnId,
        call_id: &str,
        name: String,
        parent: Option<String>,
    ) -> ItemId {
        let item = ItemId::call(turn, call_id);
        let shown = !tools::keeps_the_plan(&name);
        if shown {
            let about = ToolPatch {
                title: Some(tools::title(&name, &Map::new(), &self.project)),
                tool_kind: Some(tools::kind(&name)),
                ..ToolPatch::default()
            };
            self.start(
                item.clone(),
                parent.clone(),
                NewItem::FunctionCall {
                    name: name.clone(),
                    call_id: call_id.to_owned(),
                    about: Box::new(about),
                },
            );
        }
        let call = Call {
            turn: turn.clone(),
            item: item.clone(),
            name,
            parent,
            input: Map::new(),
            shown,
            done: false,
        };
        self.calls.insert(call_id.to_owned(), call);
        item
    }

    /// A complete block: it finishes the streamed one, or is new.
    fn whole_block(&mut self, message: usize, parent: Option<String>, block: Block, aborted: bool) {
        let (kind, text) = match &block {
            Block::Known(KnownBlock::Text { text }) => (Kind::Text, text.clone()),
            Block::Known(KnownBlock::Thinking { thinking }) => (Kind::Thinking, thinking.clone()),
            Block::Known(KnownBlock::RedactedThinking {}) => (Kind::Thinking, String::new()),
            Block::Known(KnownBlock::ToolUse { id, .. }) => (Kind::Call(id.clone()), String::new()),
            Block::Known(KnownBlock::ToolResult { .. } | KnownBlock::Image { .. })
            | Block::Other(_) => (Kind::Other, String::new()),
        };
        let streamed = self.turn.as_mut().and_then(|turn| {
            let blocks = &mut turn.messages.get_mut(message)?.blocks;
            blocks.iter_mut().find(|tracked| tracked.kind == kind && tracked.state != State::Done)
        });
        let item = if let Some(tracked) = streamed {
            tracked.state = State::Done;
            let before = std::mem::take(&mut tracked.text);
            let item = tracked.item.clone();
            if aborted {
                // Stopped by the user: neither complete nor failed.
                if let Some(rest) = text.strip_prefix(&before).filter(|rest| !rest.is_empty()) {
                    self.emit(Payload::ItemDelta { item_id: item, delta_content: rest.to_owned() });
                }
                return;
            }
            item
        } else {
            if matches!(block, Block::Known(KnownBlock::RedactedThinking {}))
                && self.hid_one(message)
            {
                return;
            }
            let index = self.next_index(message);
            let stub = match &block {
                Block::Known(KnownBlock::Text { .. }) => {
                    let text = if aborted { text.clone() } else { String::new() };
                    Block::Known(KnownBlock::Text { text })
                }
                Block::Known(KnownBlock::Thinking { .. }) => {
                    let thinking = if aborted { text.clone() } else { String::new() };
                    Block::Known(KnownBlock::Thinking { thinking })
                }
                Block::Known(KnownBlock::RedactedThinking {}) => {
                    Block::Known(KnownBlock::RedactedThinking {})
                }
                Block::Known(KnownBlock::ToolUse { id, name, .. }) => {
                    Block::Known(KnownBlock::ToolUse {
                        id: id.clone(),
                        name: name.clone(),
                        input: Value::Null,
                    })
                }
                Block::Known(KnownBlock::ToolResult { .. } | KnownBlock::Image { .. })
                | Block::Other(_) => Block::Other(Value::Null),
            };
            self.start_block(message, parent.clone(), index, stub);
            let Some(tracked) = self
                .turn
                .as_mut()
                .and_then(|turn| turn.messages.get_mut(message))
                .and_then(|message| message.blocks.last_mut())
            else {
                return;
            };
            tracked.state = State::Done;
            if aborted && matches!(kind, Kind::Text | Kind::Thinking) {
                return;
            }
            tracked.item.clone()
        };
        match block {
            Block::Known(KnownBlock::Text { .. } | KnownBlock::Thinking { .. }) => {
                self.finish(&item, &kind, text);
            }
            Block::Known(KnownBlock::RedactedThinking {}) => {}
            Block::Known(KnownBlock::ToolUse { id, input, .. }) => {
                let input = match input {
                    Value::Object(input) => input,
                    Value::Null => Map::new(),
                    other => Map::from_iter([("input".to_owned(), other)]),
                };
                self.call_is_final(&id, input);
            }
            Block::Known(KnownBlock::ToolResult { tool_use_id, content, is_error }) => {
                self.tool_result(&tool_use_id, content, is_error.unwrap_or(false), None, None);
            }
            Block::Known(KnownBlock::Image { source }) => {
                for payload in picture::shown(&item, source.media_type, source.data) {
                    self.emit(payload);
                }
            }
            Block::Other(value) => {
                let kind = value["type"].as_str().unwrap_or("unknown").to_owned();
                let mut said = notice(
                    Severity::Info,
                    &format!("Claude sent something this version can't show: {kind}."),
                );
                said.details = Some(liminal_contract::Details {
                    hint: Some(crate::asked::plain(&value)),
                    ..Default::default()
                });
                self.notice(said);
            }
        }
    }

    /// Whether redacted thinking of this message was already shown while it streamed.
    fn hid_one(&mut self, message: usize) -> bool {
        let blocks = self.turn.as_mut().and_then(|turn| turn.messages.get_mut(message));
        blocks.is_some_and(|message| {
            message.blocks.iter().any(|block| block.kind == Kind::Thinking && block.text.is_empty())
        })
    }

    fn next_index(&self, message: usize) -> usize {
        let blocks = self.turn.as_ref().and_then(|turn| turn.messages.get(message));
        blocks
            .and_then(|message| {
                message.blocks.iter().map(|block| block.index.saturating_add(1)).max()
            })
            .unwrap_or_default()
    }

    fn call_is_final(&mut self, call_id: &str, input: Map<String, Value>) {
        let Some(call) = self.calls.get_mut(call_id) else { return };
        call.input.clone_from(&input);
        if !call.shown {
            return;
        }
        let (item_id, name) = (call.item.clone(), call.name.clone());
        let about = tools::about(&name, &input, &self.project);
        self.emit(Payload::ItemUpdate {
            item_id: item_id.clone(),
            patch: Patch::Tool(Box::new(about)),
        });
        self.emit(Payload::ItemDone {
            item_id,
            final_item: FinalItem::FunctionCall {
                name,
                call_id: call_id.to_owned(),
                arguments: input,
            },
        });
    }

    fn finish(&mut self, item: &ItemId, kind: &Kind, content: String) {
        let final_item = match kind {
            Kind::Thinking => FinalItem::Reasoning { content, provider_id: self.provider.clone() },
            Kind::Text | Kind::Call(_) | Kind::Other => {
                FinalItem::Message { content, origin: MessageOrigin::Agent }
            }
        };
        self.emit(Payload::ItemDone { item_id: item.clone(), final_item });
    }

    /// Marks unconfirmed blocks as broken off. `None` means those of the agent itself.
    pub(super) fn break_off(&mut self, parent: Option<&str>) {
        let Some(turn) = &mut self.turn else { return };
        let mut broken = Vec::new();
        for message in
            turn.messages.iter_mut().filter(|message| message.parent.as_deref() == parent)
        {
            for block in message.blocks.iter_mut().filter(|block| block.state != State::Done) {
                block.state = State::Done;
                broken.push((block.item.clone(), block.kind.clone()));
            }
        }
        for (item_id, kind) in broken {
            if let Kind::Call(call_id) = &kind {
                let shown = self.calls.remove(call_id).is_some_and(|call| call.shown);
                if !shown {
                    continue;
                }
            }
            if kind == Kind::Other {
                continue;
            }
            let words = "The connection to the model broke off here.";
            let error = AgentError::new(ErrorCode::AgentProtocolError, words, None);
            self.emit(Payload::ItemError { item_id, error });
        }
    }

    /// Accepts unconfirmed blocks as they are.
    pub(super) fn confirm_all(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        let mut open = Vec::new();
        for block in turn.messages.iter_mut().flat_map(|message| message.blocks.iter_mut()) {
            if block.state != State::Done {
                block.state = State::Done;
                open.push((
                    block.item.clone(),
                    block.kind.clone(),
                    std::mem::take(&mut block.text),
                ));
            }
        }
        for (item, kind, text) in open {
            match &kind {
                Kind::Text | Kind::Thinking => self.finish(&item, &kind, text),
                Kind::Call(call_id) => {
                    // JSON inside a line of JSON: in the line, its escapes were text.
                    let mut text = text.into_bytes();
                    liminal_lone_surrogates::mend(&mut text);
                    let input = serde_json::from_slice(&text).unwrap_or_default();
                    self.call_is_final(call_id, input);
                }
                Kind::Other => {}
            }
        }
    }

    fn is_shown(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Call(id) => self.calls.get(id).is_none_or(|call| call.shown),
            Kind::Text | Kind::Thinking | Kind::Other => true,
        }
    }

    fn count_context(&mut self, own: bool, usage: Option<ApiUsage>) {
        if let (true, Some(usage), Some(turn)) = (own, usage, &mut self.turn) {
            let all = [
                usage.input_tokens,
                usage.cache_read_input_tokens.unwrap_or_default(),
                usage.cache_creation_input_tokens.unwrap_or_default(),
                usage.output_tokens,
            ];
            turn.context = Some(all.into_iter().fold(0, u64::saturating_add));
        }
    }
}

/// Whether this message is an API failure, as Claude Code reported it before it had a flag for that. The output of its
/// own commands has no model either, hence the prefix.
fn is_older_api_error(message: &ApiMessage) -> bool {
    message.model == "<synthetic>"
        && matches!(&message.content, Content::Blocks(blocks) if blocks.iter().any(|block| {
            matches!(block, Block::Known(KnownBlock::Text { text }) if text.starts_with("API Error"))
        }))
}

pub(super) fn text_of(blocks: Vec<Block>) -> String {
    let texts: Vec<String> = blocks
        .into_iter()
        .filter_map(|block| match block {
            Block::Known(KnownBlock::Text { text }) => Some(text),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
