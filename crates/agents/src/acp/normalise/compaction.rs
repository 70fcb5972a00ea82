//! Compactions: the agent replaces the conversation so far with a summary. One item each, updated in place.

use agent_client_protocol_schema::MaybeUndefined;
use agent_client_protocol_schema::v1::{
    CompactionStatus, CompactionSummaryChunk, CompactionUpdate, ContentBlock,
};
use liminal_contract::{ErrorCode, ItemId, Timestamp, TurnId};
use liminal_stream::{AgentError, Compaction, FinalItem, Interlude, NewItem, Payload};
use serde_json::value::RawValue;

use super::{Normaliser, Telling};
use crate::Output;

impl Normaliser {
    pub(super) fn compaction_update(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let update: CompactionUpdate = serde_json::from_str(raw.get())?;
        let summary = match update.summary {
            MaybeUndefined::Value(blocks) => Some(blocks.iter().filter_map(text).collect()),
            MaybeUndefined::Null | MaybeUndefined::Undefined => None,
        };
        let Some((turn, item_id, known)) = self.compaction(&update.compaction_id.0, at, out) else {
            return Ok(());
        };
        known.summary = summary.or(known.summary.take());
        let interlude = Interlude::Compaction(known.clone());
        let payload = match update.status {
            CompactionStatus::Completed => {
                Payload::ItemDone { item_id, final_item: FinalItem::Interlude { interlude } }
            }
            CompactionStatus::Failed | CompactionStatus::Cancelled => {
                let words = match update.error {
                    MaybeUndefined::Value(words) => words,
                    MaybeUndefined::Null | MaybeUndefined::Undefined => {
                        "The agent could not summarise the conversation.".to_owned()
                    }
                };
                let error = AgentError::new(ErrorCode::AgentProtocolError, words, None);
                Payload::ItemError { item_id, error }
            }
            _ => {
                let item = NewItem::Interlude { interlude };
                Payload::ItemStart { item_id, parent_call_id: None, item }
            }
        };
        self.emit(&turn, payload, at, out);
        Ok(())
    }

    pub(super) fn compaction_summary(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let chunk: CompactionSummaryChunk = serde_json::from_str(raw.get())?;
        let Some(text) = text(&chunk.content) else { return Ok(()) };
        let Some((turn, item_id, known)) = self.compaction(&chunk.compaction_id.0, at, out) else {
            return Ok(());
        };
        known.summary.get_or_insert_default().push_str(text);
        let item = NewItem::Interlude { interlude: Interlude::Compaction(known.clone()) };
        self.emit(&turn, Payload::ItemStart { item_id, parent_call_id: None, item }, at, out);
        Ok(())
    }

    /// The compaction with that id in the current turn, known or new.
    fn compaction(
        &mut self,
        id: &str,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Option<(TurnId, ItemId, &mut Compaction)> {
        if self.telling == Telling::KnownHistory {
            return None;
        }
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let known = self.turn.as_mut()?.compactions.entry(id.to_owned()).or_default();
        let item = ItemId::new(format!("{turn}:compaction:{id}"));
        Some((turn, item, known))
    }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}
