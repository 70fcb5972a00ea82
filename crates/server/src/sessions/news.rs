//! Committed changes on their way to the browsers that follow.
//!
//! The state of each growing text is kept here as browsers see it, for those that need it whole. It never runs ahead of
//! the journal, unlike the transcript.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use liminal_contract::{
    Body, FactsChange, ItemId, ItemStatus, SessionId, Timestamp, TurnEvent, TurnEventKind,
    UpsertObject,
};
use liminal_render::Edit;
use liminal_stream::Growth;

use crate::feed::{Outbox, SharedTail, Tail, Update};

/// A change as browsers see it.
pub enum News {
    /// An item's whole state.
    Item(Box<UpsertObject>),
    /// An item's last state as it is sent: a large one is kept in no other form until it is committed.
    Ended(Update),
    /// A text grew.
    Grew {
        growth: Arc<Growth>,
        /// Where the new text starts, in UTF-16 units.
        from: usize,
        edit: Edit,
    },
    /// Its turn ends, and a text may not grow any more: browsers that did not get all of it do now.
    Settled(ItemId),
    /// And when it started or ended.
    Turn(Box<TurnEvent>, Timestamp),
    Facts(Box<FactsChange>),
}

/// The texts that still grow.
#[derive(Default)]
pub struct Growing(HashMap<ItemId, UpsertObject>);

impl Growing {
    /// Tells the followers.
    pub fn tell(&mut self, session: &SessionId, seq: u64, news: News, followers: &[Arc<Outbox>]) {
        let tell_all = |update: &Update| {
            followers.iter().for_each(|follower| follower.tell(session, seq, update));
        };
        match news {
            News::Item(item) => {
                if !followers.is_empty() {
                    tell_all(&Update::item(seq, &item));
                }
                self.put(*item);
            }
            News::Ended(update) => {
                // A text that ended soon may have been put after it was forgotten.
                if let Update::Item { item, .. } = &update {
                    self.0.remove(item);
                }
                tell_all(&update);
            }
            News::Grew { growth, from, edit } => {
                let Some(item) = self.0.get_mut(&growth.item_id) else { return };
                grow(item, &growth, &edit);
                if followers.is_empty() {
                    return;
                }
                let (item_id, text) = (growth.item_id.clone(), growth.text.clone());
                let tail = Arc::new(SharedTail::new(Tail { item: item_id, from, text, edit }));
                let once = OnceCell::new();
                let whole = || once.get_or_init(|| Update::item(seq, item)).clone();
                for follower in followers {
                    follower.grow(session, seq, &tail, text_len(item), &whole);
                }
            }
            News::Settled(item) => {
                let Some(item) = self.0.get(&item) else { return };
                let whole = || Update::item(seq, item);
                for follower in followers {
                    follower.settle(session, seq, &item.item_id, text_len(item), &whole);
                }
            }
            News::Turn(event, at) => {
                if !matches!(event.kind, TurnEventKind::TurnStarted { .. }) {
                    self.0.retain(|_, item| item.turn_id != event.turn_id);
                }
                tell_all(&Update::turn(seq, *event, at));
            }
            News::Facts(facts) => tell_all(&Update::Facts(facts.into())),
        }
    }

    /// A text has ended. Its whole state will be told once that is committed, so what grew before need not be; a long
    /// text is then not in memory twice while its end is rendered and written.
    pub fn forget(&mut self, item: &ItemId) {
        self.0.remove(item);
    }

    fn put(&mut self, item: UpsertObject) {
        let is_text = matches!(item.body, Body::Message { .. } | Body::Thinking { .. });
        if is_text {
            self.0.insert(item.item_id.clone(), item);
        }
    }
}

fn grow(item: &mut UpsertObject, growth: &Growth, edit: &Edit) {
    item.source_timestamp = growth.source_timestamp;
    item.emitted_at = growth.emitted_at;
    item.status = ItemStatus::Update;
    if let Body::Message { content, blocks, .. } | Body::Thinking { content, blocks, .. } =
        &mut item.body
    {
        content.push_str(&growth.text);
        blocks.splice(edit.from, edit.keep, &edit.blocks);
    }
}

/// In bytes.
fn text_len(item: &UpsertObject) -> usize {
    match &item.body {
        Body::Message { content, .. } | Body::Thinking { content, .. } => content.len(),
        _ => 0,
    }
}
