//! The agent's list of steps, maintained by its tools.

use liminal_contract::{ItemId, PlanEntry, PlanStatus};
use liminal_stream::{FinalItem, NewItem, Patch, Payload};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Normaliser;

/// The steps, in the order they were created.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
struct Step {
    /// The agent's id; empty if it has none.
    id: String,
    text: String,
    status: PlanStatus,
}

#[derive(Deserialize)]
struct Todo {
    content: String,
    status: String,
}

#[derive(Deserialize)]
struct ListedTask {
    id: String,
    subject: String,
    #[serde(default)]
    status: Option<String>,
}

impl Plan {
    /// Applies a call that updates the plan. Returns whether the plan changed.
    pub(super) fn changed_by(
        &mut self,
        name: &str,
        input: &Map<String, Value>,
        structured: Option<&Value>,
    ) -> bool {
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let before = self.steps.clone();
        match name {
            "TodoWrite" => {
                let todos = input.get("todos").map(Vec::<Todo>::deserialize);
                let Some(Ok(todos)) = todos else { return false };
                let step = |todo: Todo| Step {
                    id: String::new(),
                    text: todo.content,
                    status: status(&todo.status),
                };
                self.steps = todos.into_iter().map(step).collect();
            }
            "TaskCreate" => {
                let made = structured
                    .and_then(|result| result.get("task"))
                    .and_then(|task| ListedTask::deserialize(task).ok());
                let id = made.as_ref().map_or_else(String::new, |task| task.id.clone());
                let subject = made.map(|task| task.subject).or(text("subject").map(str::to_owned));
                let Some(subject) = subject else { return false };
                self.steps.push(Step { id, text: subject, status: PlanStatus::Pending });
            }
            "TaskUpdate" => {
                let id = text("taskId").unwrap_or_default();
                if text("status") == Some("deleted") {
                    self.steps.retain(|step| step.id != id);
                } else if let Some(step) = self.steps.iter_mut().find(|step| step.id == id) {
                    if let Some(word) = text("status") {
                        step.status = status(word);
                    }
                    if let Some(subject) = text("subject") {
                        subject.clone_into(&mut step.text);
                    }
                }
            }
            "TaskList" => {
                let tasks = structured
                    .and_then(|result| result.get("tasks"))
                    .map(Vec::<ListedTask>::deserialize);
                let Some(Ok(tasks)) = tasks else { return false };
                let step = |task: ListedTask| Step {
                    id: task.id,
                    text: task.subject,
                    status: status(task.status.as_deref().unwrap_or_default()),
                };
                self.steps = tasks.into_iter().map(step).collect();
            }
            _ => return false,
        }
        self.steps != before
    }

    fn entries(&self) -> Vec<PlanEntry> {
        self.steps
            .iter()
            .map(|step| PlanEntry { text: step.text.clone(), status: step.status, priority: None })
            .collect()
    }
}

fn status(word: &str) -> PlanStatus {
    match word {
        "completed" => PlanStatus::Completed,
        "in_progress" => PlanStatus::InProgress,
        _ => PlanStatus::Pending,
    }
}

impl Normaliser {
    pub(super) fn show_plan(&mut self) {
        self.take_up();
        self.ensure_aside();
        let entries = self.plan.entries();
        let Some(turn) = &mut self.turn else { return };
        let item_id = ItemId::plan(&turn.id);
        if std::mem::replace(&mut turn.plan_shown, true) {
            self.emit(Payload::ItemUpdate { item_id, patch: Patch::Plan { entries } });
        } else {
            self.start(item_id, None, NewItem::Plan { entries });
        }
    }

    /// Completes the turn's plan item.
    pub(super) fn settle_plan(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::take(&mut turn.plan_shown) {
            let item_id = ItemId::plan(&turn.id);
            let final_item = FinalItem::Plan { entries: self.plan.entries() };
            self.emit(Payload::ItemDone { item_id, final_item });
        }
    }
}
