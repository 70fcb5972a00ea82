//! Lines outside the conversation: retries, background tasks, notes.

use liminal_contract::{ItemId, NoticeAction, Severity, TaskState};
use liminal_stream::{FinalItem, NewItem, Notice, Patch, Payload};

use super::{Normaliser, notice};
use crate::claude::wire::{ApiRetry, Note, TaskLine};

impl Normaliser {
    pub(super) fn retry(&mut self, retry: &ApiRetry) {
        self.take_up();
        if self.turn.is_none() {
            // From a background sub-agent: it has no turn in which to show the end of the retry.
            return;
        }
        self.break_off(None);
        let why = match retry.error_status {
            Some(529) => "The model is overloaded".to_owned(),
            Some(429) => "The model's rate limit was reached".to_owned(),
            Some(status) => format!("The model's API answered with {status}"),
            None => "The connection to the model broke".to_owned(),
        };
        let text = format!(
            "{why}. Trying again in {:.1} s (attempt {} of {}).",
            retry.retry_delay_ms / 1000.0,
            retry.attempt,
            retry.max_retries
        );
        let notice = Box::new(Notice {
            severity: Severity::Warning,
            text,
            actions: vec![NoticeAction::Cancel],
            details: None,
        });
        let Some(turn) = &mut self.turn else { return };
        if let Some(item_id) = turn.retry.clone() {
            self.emit(Payload::ItemUpdate { item_id, patch: Patch::Notice { notice } });
        } else {
            let item_id = ItemId::note(&turn.id, turn.notes);
            turn.notes += 1;
            turn.retry = Some(item_id.clone());
            self.start(item_id, None, NewItem::Notice { notice });
        }
    }

    /// Completes the notice about a retry, if one is open.
    pub(super) fn retry_over(&mut self, severity: Severity, text: &str) {
        let Some(item_id) = self.turn.as_mut().and_then(|turn| turn.retry.take()) else { return };
        let notice = Box::new(notice(severity, text));
        self.emit(Payload::ItemDone { item_id, final_item: FinalItem::Notice { notice } });
    }

    pub(super) fn task_started(&mut self, task: TaskLine) {
        let in_turn = !task.is_backgrounded.unwrap_or(false);
        self.tasks.began(task, in_turn, self.now);
    }

    pub(super) fn task_updated(&mut self, task: &TaskLine) {
        if task.patch.is_backgrounded == Some(true) {
            self.tasks.moved_to_background(&task.task_id);
        }
        // The notification reports the end of the others, and says more.
        if let Some(state) = task.patch.status.as_deref().and_then(ended_as)
            && !self.tasks.is_in_background(&task.task_id)
        {
            self.tasks.ended(&task.task_id, state, self.now);
        }
    }

    /// Outside a turn the agent now begins one, unless the user stopped the task: the turn shows the reason.
    pub(super) fn task_ended(&mut self, task: &TaskLine) {
        let was_in_background = self.tasks.is_in_background(&task.task_id);
        let state = task.status.as_deref().and_then(ended_as).unwrap_or(TaskState::Completed);
        self.tasks.ended(&task.task_id, state, self.now);
        if !was_in_background || task.skip_transcript || task.summary.is_empty() {
            return;
        }
        let severity = match state {
            TaskState::Failed => Severity::Warning,
            _ => Severity::Info,
        };
        let why = notice(severity, &task.summary);
        if self.turn.is_some() || state == TaskState::Stopped {
            self.aside(why.clone());
        }
        self.woken_by = (state != TaskState::Stopped).then_some(why);
    }

    pub(super) fn note(&mut self, note: Note) {
        let text = match (note.kind.as_str(), note.content) {
            ("model_refusal_fallback", _) => format!(
                "{} refused to answer; {} answers instead.",
                note.original_model.as_deref().unwrap_or("The model"),
                note.fallback_model.as_deref().unwrap_or("another model"),
            ),
            ("model_refusal_no_fallback", _) => "The model refused to answer.".to_owned(),
            ("session_writes_lost", _) => {
                "Claude Code could not save its history: the disk is full. This transcript is kept."
                    .to_owned()
            }
            (_, Some(text)) => text,
            (_, None) => return,
        };
        let quiet = note.level.as_deref() == Some("info")
            || matches!(note.priority.as_deref(), Some("low" | "medium"));
        if quiet {
            tracing::debug!(text, "note from Claude Code");
            return;
        }
        let severity = match (note.kind.as_str(), note.level.as_deref()) {
            (_, Some("notice" | "suggestion")) | ("notification", _) => Severity::Info,
            _ => Severity::Warning,
        };
        self.aside(notice(severity, &text));
    }
}

fn ended_as(status: &str) -> Option<TaskState> {
    match status {
        "completed" => Some(TaskState::Completed),
        "failed" => Some(TaskState::Failed),
        "killed" | "stopped" => Some(TaskState::Stopped),
        _ => None,
    }
}
