//! Growing texts: which chunks form one message, and when a text is final.

use agent_client_protocol_schema::v1::{ContentBlock, ContentChunk, ImageContent};
use liminal_contract::{ItemId, MessageOrigin, Timestamp};
use liminal_stream::{FinalItem, NewItem, Payload};
use serde_json::value::RawValue;

use super::{Normaliser, Telling, TurnEnd, content};
use crate::{Output, picture};

/// A text longer than this, in bytes, continues in a new item.
const LONGEST_TEXT: usize = 4_000_000;

#[derive(Debug)]
pub(super) struct OpenText {
    item: ItemId,
    kind: Text,
    message_id: Option<String>,
    content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    User,
    Message,
    Thought,
}

impl Normaliser {
    pub(super) fn chunk(
        &mut self,
        kind: Text,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let chunk: ContentChunk = serde_json::from_str(raw.get())?;
        let message_id = chunk.message_id.map(|id| id.0.to_string());
        match (kind, self.telling) {
            (Text::User, Telling::Now) | (_, Telling::KnownHistory) => return Ok(()),
            (_, Telling::Now | Telling::History) => {}
        }
        let text = match chunk.content {
            ContentBlock::Image(image) if kind != Text::User && !image.data.is_empty() => {
                self.picture(image, message_id.as_deref(), at, out);
                return Ok(());
            }
            other => content::markdown(&other),
        };
        if text.is_empty() {
            return Ok(());
        }
        if kind == Text::Message && message_id.is_none() && self.takes_as_failure(&text) {
            return Ok(());
        }
        let goes_on = self.turn.as_ref().and_then(|turn| turn.text.as_ref()).is_some_and(|open| {
            let same = match (&open.message_id, &message_id) {
                (Some(open), Some(new)) => open == new,
                (None, _) | (_, None) => true,
            };
            open.kind == kind && same && open.content.len() + text.len() <= LONGEST_TEXT
        });
        if goes_on {
            self.grow_text(text, message_id, at, out);
        } else {
            self.begin_text(kind, text, message_id, at, out);
        }
        Ok(())
    }

    /// The agent took up a message of the user's in the running turn. `None` if none is running.
    pub fn steered(
        &mut self,
        message: &str,
        content: String,
        at: Timestamp,
    ) -> Option<Vec<Output>> {
        let turn = self.turn.as_ref()?.id.clone();
        let mut out = Vec::new();
        self.show_document(at, &mut out);
        self.close_text(at, &mut out);
        let (item_id, origin) = (ItemId::steered(&turn, message), MessageOrigin::User);
        let item = NewItem::Message { initial_content: None, origin };
        let start = Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item };
        self.emit(&turn, start, at, &mut out);
        let final_item = FinalItem::Message { content, origin };
        self.emit(&turn, Payload::ItemDone { item_id, final_item }, at, &mut out);
        Some(out)
    }

    /// A picture between texts gets its own card.
    fn picture(
        &mut self,
        image: ImageContent,
        record: Option<&str>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let turn = self.turn_for(record, at, out);
        self.close_text(at, out);
        let item_id = ItemId::block(&turn, self.count(|open| &mut open.messages), 0);
        for payload in picture::shown(&item_id, image.mime_type, image.data) {
            self.emit(&turn, payload, at, out);
        }
    }

    fn grow_text(
        &mut self,
        text: String,
        message_id: Option<String>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Some(open) = turn.text.as_mut() else { return };
        open.content.push_str(&text);
        open.message_id = message_id.or_else(|| open.message_id.take());
        let (turn, item_id) = (turn.id.clone(), open.item.clone());
        self.emit(&turn, Payload::ItemDelta { item_id, delta_content: text }, at, out);
    }

    pub(super) fn begin_text(
        &mut self,
        kind: Text,
        text: String,
        message_id: Option<String>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        // In a history each user message starts a turn.
        if kind == Text::User {
            self.finish_turn(TurnEnd::Stopped { reason: None, usage: None }, at, out);
        }
        let turn = self.turn_for(message_id.as_deref(), at, out);
        self.close_text(at, out);
        let initial_content = Some(text.clone());
        let (item_id, item) = match kind {
            Text::User => {
                let origin = MessageOrigin::User;
                (ItemId::user(&turn), NewItem::Message { initial_content, origin })
            }
            Text::Message => {
                let id = ItemId::block(&turn, self.count(|open| &mut open.messages), 0);
                (id, NewItem::Message { initial_content, origin: MessageOrigin::Agent })
            }
            Text::Thought => {
                let id = ItemId::block(&turn, self.count(|open| &mut open.messages), 0);
                (id, NewItem::Reasoning { initial_content })
            }
        };
        if let Some(open) = self.turn.as_mut() {
            open.text = Some(OpenText { item: item_id.clone(), kind, message_id, content: text });
        }
        self.emit(&turn, Payload::ItemStart { item_id, parent_call_id: None, item }, at, out);
    }

    pub(super) fn close_text(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Some(OpenText { item, kind, content, .. }) = turn.text.take() else { return };
        let turn = turn.id.clone();
        let final_item = match kind {
            Text::User => FinalItem::Message { content, origin: MessageOrigin::User },
            Text::Message => FinalItem::Message { content, origin: MessageOrigin::Agent },
            Text::Thought => {
                FinalItem::Reasoning { content, provider_id: self.provider_id.clone() }
            }
        };
        self.emit(&turn, Payload::ItemDone { item_id: item, final_item }, at, out);
    }
}
