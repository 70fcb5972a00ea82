//! The items of one turn: finds them by the agent's ids, grows them, queues them and ends them.
//!
//! `handle.rs` decides what an event means; this module only knows items.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use liminal_contract::{ItemId, Outcome, OutcomeBy, Timestamp, TurnId};

use super::item::{Ending, Item, Step, continuation};
use crate::{ItemFailure, Source};

#[derive(Debug, Clone)]
pub(super) enum TurnEnd {
    Completed,
    Cancelled,
    Failed(ItemFailure),
}

/// Which text of an item a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The agent's id names the item.
    Item(usize),
    /// The agent's id names the output of a call.
    Output(usize),
}

impl Slot {
    pub(super) fn index(self) -> usize {
        match self {
            Self::Item(index) | Self::Output(index) => index,
        }
    }
}

#[derive(Debug)]
pub(super) struct TurnItems {
    pub(super) id: TurnId,
    /// The provider that drives the agent.
    pub(super) provider_id: String,
    /// Its final event was emitted. Only items that outlive a turn are still here.
    pub(super) over: bool,
    /// In the order in which they began.
    pub(super) items: Vec<Item>,
    /// By the agent's item id.
    pub(super) slots: HashMap<ItemId, Slot>,
    /// By the agent's call id.
    pub(super) calls: HashMap<String, usize>,
    /// Ids of dropped items, which a continued item must not reuse.
    taken: HashSet<ItemId>,
    /// Waiting items, in the order in which they began to wait.
    queue: Vec<usize>,
    /// The earliest deadline in the queue.
    wake: Option<Duration>,
}

impl TurnItems {
    pub(super) fn new(id: TurnId, provider_id: String) -> Self {
        Self {
            id,
            provider_id,
            over: false,
            items: Vec::new(),
            slots: HashMap::new(),
            calls: HashMap::new(),
            taken: HashSet::new(),
            queue: Vec::new(),
            wake: None,
        }
    }

    /// The earliest deadline of a waiting item.
    pub(super) fn wake(&self) -> Option<Duration> {
        self.wake
    }

    pub(super) fn find(&self, item_id: &ItemId) -> Option<usize> {
        self.slots.get(item_id).map(|slot| slot.index())
    }

    /// Opens an item. An id that is already taken gets a number, so that no two items share one.
    pub(super) fn open(&mut self, agent_id: &ItemId, source: Source, at: Timestamp) -> usize {
        let index = self.items.len();
        let mut piece = self.find(agent_id).map_or(0, |earlier| self.items[earlier].piece + 1);
        let mut id = numbered(agent_id, piece);
        while self.slots.contains_key(&id) || self.taken.contains(&id) {
            piece += 1;
            id = numbered(agent_id, piece);
        }
        let mut item = Item::new(id.clone(), agent_id.clone(), source, at);
        item.piece = piece;
        if let Some(call) = item.call()
            && !call.call_id.is_empty()
        {
            self.calls.insert(call.call_id.clone(), index);
        }
        self.slots.insert(agent_id.clone(), Slot::Item(index));
        self.slots.insert(id, Slot::Item(index));
        self.items.push(item);
        index
    }

    /// Adds to an item's text. Text beyond the limit continues in new items; the last one is returned.
    pub(super) fn append(
        &mut self,
        mut index: usize,
        mut text: &str,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> usize {
        loop {
            let item = &mut self.items[index];
            item.said_at = at;
            let Some(body) = item.source.growing_text() else { return index };
            let room = step.item_limit.saturating_sub(body.len());
            if text.len() <= room {
                body.push_str(text);
                return index;
            }
            let (fits, rest) = text.split_at(text.floor_char_boundary(room));
            body.push_str(fits);
            text = rest;
            index = self.continue_item(index, at, step);
        }
    }

    /// Replaces the text so far with the whole text, which usually starts with it.
    pub(super) fn replace(
        &mut self,
        index: usize,
        whole: &str,
        at: Timestamp,
        step: &mut Step<'_>,
    ) -> usize {
        let item = &mut self.items[index];
        item.said_at = at;
        // The pieces before are final. A text that does not reach beyond them cannot change this one.
        let Some(own) = whole.get(item.before..) else { return index };
        if let Some(more) = own.strip_prefix(item.body()) {
            return self.append(index, more, at, step);
        }
        if item.before > 0 && own.is_empty() {
            return index;
        }
        if let Some(body) = item.source.growing_text() {
            body.clear();
        }
        item.differs();
        self.append(index, own, at, step)
    }

    /// Ends a full item and opens the one that continues it.
    fn continue_item(&mut self, index: usize, at: Timestamp, step: &mut Step<'_>) -> usize {
        let full = &self.items[index];
        let before = full.before + full.body().len();
        let parent_call_id = full.parent_call_id.clone();
        let agent_id = full.agent_id.clone();
        let source = continuation(&full.source);
        let slot = self.slots.get(&agent_id).copied();
        self.finish(index, Ending::Complete, step);
        let next = self.open(&agent_id, source, at);
        let item = &mut self.items[next];
        item.before = before;
        item.parent_call_id = parent_call_id;
        // Every id that led to the full item now leads to the next.
        if let Some(slot) = slot {
            self.slots.insert(agent_id, slot);
        }
        for slot in self.slots.values_mut() {
            match slot {
                Slot::Item(at) | Slot::Output(at) if *at == index => *at = next,
                Slot::Item(_) | Slot::Output(_) => {}
            }
        }
        next
    }

    /// Marks an item as changed, and emits it if it is due.
    pub(super) fn touch(&mut self, index: usize, chars: usize, step: &mut Step<'_>) {
        let item = &mut self.items[index];
        item.changed = true;
        // A call without a known id may turn out to be the output of one that has an item.
        let quiet =
            item.call().is_some_and(|call| !step.pacing.tool_updates() || call.call_id.is_empty());
        if quiet {
            return;
        }
        item.pace.grew(chars, step.now.mono);
        if !item.queued {
            item.queued = true;
            self.queue.push(index);
        }
        let item = &self.items[index];
        let deadline = item.pace.deadline(step.pacing);
        self.wake = [self.wake, deadline].into_iter().flatten().min();
        if item.pace.is_due(step.pacing, step.now.mono) {
            self.sweep(step);
        }
    }

    /// Emits an item immediately, whatever its pace.
    pub(super) fn show(&mut self, index: usize, step: &mut Step<'_>) {
        self.unqueue(index, step);
        self.items[index].emit(&self.id, None, step);
    }

    /// Emits an item for the last time. Items that began to wait before it and were never emitted go first, so that
    /// items first appear in the order of their first events.
    pub(super) fn finish(&mut self, index: usize, ending: Ending, step: &mut Step<'_>) {
        if !self.items[index].seen {
            let unseen: Vec<usize> = self
                .queue
                .iter()
                .copied()
                .take_while(|&other| other != index)
                .filter(|&other| !self.items[other].seen)
                .collect();
            for other in unseen {
                self.show(other, step);
            }
        }
        self.unqueue(index, step);
        self.items[index].emit(&self.id, Some(ending), step);
    }

    /// Drops an item that was never emitted.
    pub(super) fn discard(&mut self, index: usize, step: &mut Step<'_>) {
        self.unqueue(index, step);
        self.items[index].end();
    }

    /// Emits everything that is due.
    pub(super) fn sweep(&mut self, step: &mut Step<'_>) {
        let due = |item: &Item| item.pace.is_due(step.pacing, step.now.mono);
        // A new item must not overtake one that has waited longer.
        let last_new = self.queue.iter().rposition(|&i| !self.items[i].seen && due(&self.items[i]));
        let (now, later): (Vec<_>, Vec<_>) =
            self.queue.iter().copied().enumerate().partition(|&(at, index)| {
                let item = &self.items[index];
                due(item) || (!item.seen && last_new.is_some_and(|last| at < last))
            });
        self.queue = later.into_iter().map(|(_, index)| index).collect();
        for (_, index) in now {
            self.items[index].queued = false;
            self.items[index].emit(&self.id, None, step);
        }
        self.set_wake(step);
    }

    /// Emits all waiting items.
    pub(super) fn flush(&mut self, step: &mut Step<'_>) {
        for index in std::mem::take(&mut self.queue) {
            self.items[index].queued = false;
            self.items[index].emit(&self.id, None, step);
        }
        self.wake = None;
    }

    /// Emits the items that wait before an item, and returns those behind it, to be emitted after the event about this
    /// item was handled.
    pub(super) fn flush_before(&mut self, index: usize, step: &mut Step<'_>) -> Vec<usize> {
        let behind = match self.queue.iter().position(|&queued| queued == index) {
            Some(at) => {
                let behind = self.queue.split_off(at + 1);
                self.queue.truncate(at);
                self.items[index].queued = false;
                behind
            }
            None => Vec::new(),
        };
        self.flush(step);
        behind
    }

    /// Ends the turn and emits everything that was not emitted. Items that can still change stay open.
    pub(super) fn end(&mut self, how: &TurnEnd, step: &mut Step<'_>) {
        // Waiting items are emitted in the order of their text, which may differ from the order in which they began.
        let mut order = std::mem::take(&mut self.queue);
        order.extend((0..self.items.len()).filter(|&index| !self.items[index].queued));
        self.wake = None;
        self.over = true;
        for index in order {
            let item = &mut self.items[index];
            item.queued = false;
            if item.ended || !(item.seen || item.changed) {
                continue;
            }
            let ending = match how {
                TurnEnd::Completed if item.is_text() => Some(Ending::Complete),
                TurnEnd::Failed(failure) if item.is_text() || item.call().is_some() => {
                    Some(Ending::Failed(failure.clone()))
                }
                TurnEnd::Completed | TurnEnd::Cancelled | TurnEnd::Failed(_) => None,
            };
            if ending.is_some() || item.changed {
                item.emit(&self.id, ending, step);
            }
        }
    }

    /// Ends the permissions that are still open: no agent is left to answer.
    pub(super) fn void_permissions(&mut self, failure: &ItemFailure, step: &mut Step<'_>) {
        for item in self.items.iter_mut().filter(|item| !item.ended) {
            if let Source::Permission(ask) = &mut item.source {
                ask.outcome = Some(Outcome::without_choice(OutcomeBy::AgentLeft));
                item.emit(&self.id, Some(Ending::Failed(failure.clone())), step);
            }
        }
    }

    /// Drops all items except those that outlive their turn: calls without an output, permissions without an answer,
    /// open notices.
    pub(super) fn keep_what_outlives_it(&mut self) {
        let mut kept = HashMap::new();
        let items = std::mem::take(&mut self.items).into_iter().enumerate();
        for (index, item) in items.filter(|(_, item)| outlives_its_turn(item)) {
            kept.insert(index, self.items.len());
            self.items.push(item);
        }
        let going_on: HashSet<&ItemId> = self.items.iter().map(|item| &item.agent_id).collect();
        let related = |id: &ItemId| going_on.contains(id) || going_on.contains(&unnumbered(id));
        self.slots.retain(|id, slot| match slot {
            Slot::Item(index) | Slot::Output(index) => {
                let still_here = kept.get(index).map(|&now| *index = now).is_some();
                if !still_here && related(id) {
                    self.taken.insert(id.clone());
                }
                still_here
            }
        });
        self.calls.retain(|_, index| kept.get(index).map(|&now| *index = now).is_some());
        self.queue.retain_mut(|index| kept.get(index).map(|&now| *index = now).is_some());
    }

    fn unqueue(&mut self, index: usize, step: &Step<'_>) {
        if std::mem::take(&mut self.items[index].queued) {
            self.queue.retain(|&queued| queued != index);
            self.set_wake(step);
        }
    }

    fn set_wake(&mut self, step: &Step<'_>) {
        let deadlines = self.queue.iter().filter_map(|&i| self.items[i].pace.deadline(step.pacing));
        self.wake = deadlines.min();
    }
}

fn outlives_its_turn(item: &Item) -> bool {
    let kind =
        matches!(item.source, Source::ToolCall(_) | Source::Permission(_) | Source::Notice(_));
    kind && !item.ended && (item.seen || item.changed)
}

/// The id of the continuation number `piece` of `id`; `id` itself for 0.
fn numbered(id: &ItemId, piece: usize) -> ItemId {
    if piece == 0 { id.clone() } else { ItemId::new(format!("{id}+{piece}")) }
}

/// The id that a numbered one continues.
fn unnumbered(id: &ItemId) -> ItemId {
    let id = id.as_str();
    ItemId::new(id.rsplit_once('+').map_or(id, |(before, _)| before))
}
