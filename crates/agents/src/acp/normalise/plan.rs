//! Plans: one item a turn, updated in place.

use liminal_contract::{ItemId, PlanEntry, PlanStatus, Timestamp};
use liminal_stream::{FinalItem, NewItem, Patch, Payload};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Normaliser, Telling};
use crate::Output;

impl Normaliser {
    pub(super) fn plan(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let entries = plan_entries(raw)?;
        if self.telling == Telling::KnownHistory {
            return Ok(());
        }
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let item_id = ItemId::plan(&turn);
        let before = self.turn.as_mut().and_then(|open| open.plan.replace(entries.clone()));
        let payload = match before {
            None => Payload::ItemStart {
                item_id,
                parent_call_id: None,
                item: NewItem::Plan { entries },
            },
            Some(_) => Payload::ItemUpdate { item_id, patch: Patch::Plan { entries } },
        };
        self.emit(&turn, payload, at, out);
        Ok(())
    }

    pub(super) fn close_plan(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Some(entries) = turn.plan.take() else { return };
        let turn = turn.id.clone();
        let final_item = FinalItem::Plan { entries };
        self.emit(&turn, Payload::ItemDone { item_id: ItemId::plan(&turn), final_item }, at, out);
    }
}

/// Entries of a plan. An unknown status or priority does not cost the entry.
fn plan_entries(raw: &RawValue) -> Result<Vec<PlanEntry>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Plan {
        entries: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        content: String,
        #[serde(default)]
        status: Value,
        #[serde(default)]
        priority: Value,
    }
    let plan: Plan = serde_json::from_str(raw.get())?;
    let entry = |entry: Entry| PlanEntry {
        text: entry.content,
        status: match entry.status.as_str() {
            Some("completed") => PlanStatus::Completed,
            Some("in_progress") => PlanStatus::InProgress,
            _ => PlanStatus::Pending,
        },
        priority: entry.priority.as_str().map(str::to_owned),
    };
    Ok(plan.entries.into_iter().map(entry).collect())
}
