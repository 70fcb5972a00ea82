//! Plans: as steps, one item per turn, updated in place. A plan that the agent repeats is not shown again. A plan that
//! is a document (`plan_update`) is a message, unless the permission that follows shows it.

use agent_client_protocol_schema::v1::ToolCallStatus;
use liminal_contract::{ItemId, PlanEntry, PlanStatus, Timestamp};
use liminal_stream::{FinalItem, NewItem, Patch, Payload, ToolPatch};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_update::CallUpdate;
use super::text::Text;
use super::{Normaliser, OpenTurn, Telling};
use crate::Output;

/// A plan as Markdown. It waits for what comes next: mostly the permission to carry it out, whose card has it too.
#[derive(Debug)]
pub(super) struct PlanDocument {
    id: String,
    text: String,
}

impl Normaliser {
    pub(super) fn plan(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let entries = plan_entries(raw)?;
        if self.telling == Telling::KnownHistory {
            self.last_plan = entries;
            return Ok(());
        }
        self.put_plan(entries, at, out);
        Ok(())
    }

    pub(super) fn plan_update(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let UpdatedPlan { plan } = serde_json::from_str(raw.get())?;
        let document = match plan {
            UpdatedContent::Items { entries } => {
                let entries = entries.into_iter().map(PlanEntry::from).collect();
                if self.telling == Telling::KnownHistory {
                    self.last_plan = entries;
                } else {
                    self.put_plan(entries, at, out);
                }
                return Ok(());
            }
            UpdatedContent::Markdown { plan_id, content } => {
                PlanDocument { id: plan_id, text: content }
            }
            UpdatedContent::File { plan_id, uri } => {
                PlanDocument { id: plan_id, text: format!("The plan is in <{uri}>.") }
            }
        };
        if self.telling == Telling::KnownHistory {
            return Ok(());
        }
        let _turn = self.turn_for(None, at, out);
        let is_other =
            |open: &OpenTurn| open.document.as_ref().is_some_and(|it| it.id != document.id);
        if self.turn.as_ref().is_some_and(is_other) {
            self.show_document(at, out);
        }
        if let Some(open) = &mut self.turn {
            open.document = Some(document);
        }
        Ok(())
    }

    /// A plan that was shown stays in the conversation.
    pub(super) fn plan_removed(&mut self, raw: &RawValue) -> Result<(), serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Removed {
            plan_id: String,
        }
        let Removed { plan_id } = serde_json::from_str(raw.get())?;
        if let Some(open) = &mut self.turn {
            open.document.take_if(|document| document.id == plan_id);
        }
        Ok(())
    }

    /// Shows the plan that waits, if there is one.
    pub(super) fn show_document(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let document = self.turn.as_mut().and_then(|open| open.document.take());
        if let Some(PlanDocument { text, .. }) = document.filter(|it| !it.text.trim().is_empty()) {
            self.begin_text(Text::Message, text, None, at, out);
            self.close_text(at, out);
        }
    }

    /// The permission for this call shows its plan.
    pub(super) fn forget_document_of(&mut self, call: &RawValue) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Call {
            raw_input: Input,
        }
        #[derive(Deserialize)]
        struct Input {
            plan: String,
        }
        let Ok(Call { raw_input: Input { plan } }) = serde_json::from_str(call.get()) else {
            return;
        };
        if let Some(open) = &mut self.turn {
            open.document.take_if(|document| document.text.trim() == plan.trim());
        }
    }

    /// Whether this call only updates the plan; then it is shown as the plan. Such a tool may be named before its steps
    /// arrive: the call waits for them, and becomes an ordinary call if they never come.
    pub(super) fn keeps_plan(
        &mut self,
        told: &mut CallUpdate,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> bool {
        let writes_steps = |title: &Option<String>| {
            let letters = |title: &String| -> String {
                title.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
            };
            matches!(title.as_ref().map(letters).as_deref(), Some("todowrite" | "writetodos"))
        };
        let steps = |patch: &ToolPatch| patch.arguments.as_ref().and_then(todos);
        let before = self.unstarted.get(&told.id).map(|unstarted| &unstarted.about);
        let entries = steps(&told.patch).or_else(|| before.and_then(steps));
        let has_failed = told.status == Some(ToolCallStatus::Failed);
        let has_ended = has_failed || told.status == Some(ToolCallStatus::Completed);
        let is_named = writes_steps(&told.patch.title)
            || writes_steps(&told.name)
            || before.is_some_and(|about| writes_steps(&about.title));
        let keeps = !has_failed && (entries.is_some() || is_named && !has_ended);
        if keeps {
            self.keep_unstarted(std::mem::take(told));
            if let Some(entries) = entries {
                self.put_plan(entries, at, out);
            }
        }
        keeps
    }

    fn put_plan(&mut self, entries: Vec<PlanEntry>, at: Timestamp, out: &mut Vec<Output>) {
        if self.last_plan == entries {
            return;
        }
        let turn = self.turn_for(None, at, out);
        self.last_plan.clone_from(&entries);
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
    }

    pub(super) fn close_plan(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Some(entries) = turn.plan.take() else { return };
        let turn = turn.id.clone();
        let final_item = FinalItem::Plan { entries };
        self.emit(&turn, Payload::ItemDone { item_id: ItemId::plan(&turn), final_item }, at, out);
    }
}

#[derive(Deserialize)]
struct UpdatedPlan {
    plan: UpdatedContent,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum UpdatedContent {
    Items { entries: Vec<Entry> },
    Markdown { plan_id: String, content: String },
    File { plan_id: String, uri: String },
}

/// One entry of a plan. An unknown status or priority does not invalidate it.
#[derive(Deserialize)]
struct Entry {
    content: String,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    priority: Value,
}

impl From<Entry> for PlanEntry {
    fn from(entry: Entry) -> Self {
        Self {
            text: entry.content,
            status: match entry.status.as_str() {
                Some("completed") => PlanStatus::Completed,
                Some("in_progress") => PlanStatus::InProgress,
                _ => PlanStatus::Pending,
            },
            priority: entry.priority.as_str().map(str::to_owned),
        }
    }
}

fn plan_entries(raw: &RawValue) -> Result<Vec<PlanEntry>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Plan {
        entries: Vec<Entry>,
    }
    let plan: Plan = serde_json::from_str(raw.get())?;
    Ok(plan.entries.into_iter().map(PlanEntry::from).collect())
}

/// The steps in the arguments of a tool that updates the plan.
fn todos(arguments: &Map<String, Value>) -> Option<Vec<PlanEntry>> {
    let entries = Vec::<Entry>::deserialize(arguments.get("todos")?).ok()?;
    let has_status = |entry: &Entry| entry.status.is_string();
    entries.iter().all(has_status).then(|| entries.into_iter().map(PlanEntry::from).collect())
}
