//! What Claude Code does that is nobody's words: the output of local commands, compaction, a cleared conversation. And
//! the limits of the account.

use liminal_contract::{ErrorCode, ItemId, Severity, Timestamp, UsageLimit};
use liminal_stream::{
    AgentError, Compaction, FinalItem, HistoryMark, Interlude, NewItem, Payload, SessionFact,
};

use super::{Normaliser, notice};
use crate::claude::wire::{Compacted, LimitWindow, LocalCommand, RateLimitInfo, Status};

/// A compaction in the running turn.
pub(super) struct OpenCompaction {
    item: ItemId,
    /// Absent until the agent reports the new conversation.
    done: Option<Compaction>,
}

impl LocalCommand {
    /// As the user typed it; empty if it is not known.
    pub fn typed(&self) -> String {
        match (self.command.as_str(), self.args.as_str()) {
            ("", _) => String::new(),
            (command, "") => format!("/{command}"),
            (command, args) => format!("/{command} {args}"),
        }
    }
}

impl Normaliser {
    /// The output of a command that ran without the model.
    pub(super) fn command_output(&mut self, command: String, text: &str) {
        let text = text.trim().to_owned();
        if !text.is_empty() {
            self.take_up();
            self.interlude(Interlude::CommandOutput { command, text });
        }
    }

    pub(super) fn cleared(&mut self) {
        self.take_up();
        self.interlude(Interlude::Cleared {});
        // The new conversation gets a file of its own, of which nothing was read.
        self.fact(SessionFact::HistoryMark(HistoryMark::START));
    }

    /// Adds one that is complete at once. Outside a turn it gets its own.
    fn interlude(&mut self, interlude: Interlude) {
        self.ensure_aside();
        let Some(item_id) = self.note_id() else { return };
        let item = NewItem::Interlude { interlude: interlude.clone() };
        self.start(item_id.clone(), None, item);
        self.emit(Payload::ItemDone { item_id, final_item: FinalItem::Interlude { interlude } });
    }

    fn note_id(&mut self) -> Option<ItemId> {
        let turn = self.turn.as_mut()?;
        turn.notes += 1;
        Some(ItemId::note(&turn.id, turn.notes - 1))
    }

    pub(super) fn status(&mut self, status: &Status) {
        if status.permission_mode.as_ref().is_some_and(|mode| self.options.mode(mode)) {
            self.report_options();
        }
        if status.status.as_deref() == Some("compacting") {
            self.take_up();
            self.open_compaction();
        }
        if status.compact_result.as_deref().is_some_and(|result| result != "success")
            && let Some(OpenCompaction { item: item_id, .. }) = self.take_compaction()
        {
            self.emit(Payload::ItemError { item_id, error: not_compacted() });
        }
    }

    /// Shows that the agent compacts the conversation, unless that is shown already.
    fn open_compaction(&mut self) {
        self.ensure_aside();
        if self.turn.as_ref().is_some_and(|turn| turn.compaction.is_some()) {
            return;
        }
        let Some(item) = self.note_id() else { return };
        if let Some(turn) = &mut self.turn {
            turn.compaction = Some(OpenCompaction { item: item.clone(), done: None });
        }
        let interlude = Interlude::Compaction(Compaction::default());
        self.start(item, None, NewItem::Interlude { interlude });
    }

    fn take_compaction(&mut self) -> Option<OpenCompaction> {
        self.turn.as_mut()?.compaction.take()
    }

    /// The agent goes on with a summary, which follows in its next line.
    pub(super) fn compacted(&mut self, compacted: &Compacted) {
        self.open_compaction();
        let done = Compaction {
            summary: None,
            before: compacted.pre_tokens,
            after: compacted.post_tokens,
        };
        let Some(turn) = &mut self.turn else { return };
        if let Some(open) = &mut turn.compaction {
            open.done = Some(done);
        }
        if turn.aside {
            self.settle_compaction();
        }
    }

    /// Whether a text is the summary of the compaction that just ended.
    pub(super) fn takes_as_summary(&mut self, text: &str) -> bool {
        let open = self.turn.as_mut().and_then(|turn| turn.compaction.as_mut());
        let Some(done) = open.and_then(|open| open.done.as_mut()) else { return false };
        done.summary = Some(summary(text));
        self.settle_compaction();
        true
    }

    /// Completes a compaction that is still open; one whose result never came has failed.
    pub(super) fn settle_compaction(&mut self) {
        let Some(OpenCompaction { item: item_id, done }) = self.take_compaction() else { return };
        match done {
            Some(done) => {
                let final_item = FinalItem::Interlude { interlude: Interlude::Compaction(done) };
                self.emit(Payload::ItemDone { item_id, final_item });
            }
            None => self.emit(Payload::ItemError { item_id, error: not_compacted() }),
        }
    }

    pub(super) fn limits(&mut self, info: &RateLimitInfo) {
        let limit = |(kind, window): (&String, &LimitWindow)| UsageLimit {
            name: limit_name(kind),
            used_percent: (window.utilization * 100.0).clamp(0.0, 100.0).round(),
            resets_at: window.resets_at.map(from_seconds),
        };
        let limits: Vec<UsageLimit> = info.unified_windows.iter().map(limit).collect();
        if !limits.is_empty() {
            self.fact(SessionFact::Limits(limits));
        }
        let name = info.rate_limit_type.as_deref().map_or("usage limit".to_owned(), limit_name);
        if info.status == "rejected" {
            self.take_up();
            if let Some(turn) = &mut self.turn {
                turn.limited_until = info.resets_at.map(from_seconds);
            }
        }
        if info.status == "allowed_warning" {
            let text = format!("Close to the {}.", in_a_sentence(&name));
            self.aside(notice(Severity::Warning, &text));
        }
    }
}

fn not_compacted() -> AgentError {
    let words = "The agent could not summarise the conversation.";
    AgentError::new(ErrorCode::AgentProtocolError, words, None)
}

/// The summary without the instructions that Claude Code puts around it for the model.
fn summary(text: &str) -> String {
    let text = match text.split_once("\n\n") {
        Some((first, rest)) if first.starts_with("This session is being continued") => rest,
        _ => text,
    };
    let text = match text.split_once("</system-reminder>") {
        Some((first, rest)) if first.trim_start().starts_with("<system-reminder>") => rest,
        _ => text,
    };
    let end = text.find("\nIf you need specific details from before compaction");
    text[..end.unwrap_or(text.len())].trim().to_owned()
}

/// As the user knows it: `five_hour` is the 5-hour limit.
fn limit_name(kind: &str) -> String {
    match kind {
        "five_hour" => "5-hour limit".to_owned(),
        "seven_day" => "Weekly limit".to_owned(),
        other => match other.strip_prefix("seven_day_") {
            Some(model) => format!("Weekly limit ({})", model.replace('_', " ")),
            None => format!("{} limit", other.replace('_', " ")),
        },
    }
}

fn in_a_sentence(name: &str) -> String {
    name.strip_prefix('W').map_or_else(|| name.to_owned(), |rest| format!("w{rest}"))
}

fn from_seconds(seconds: u64) -> Timestamp {
    Timestamp::from_millis(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_no_instructions_to_the_model() {
        let text = "This session is being continued from a previous conversation that ran out of context. More.\n\n\
                    <system-reminder>\n<a></a>\n</system-reminder>\nWe fixed it.\n\n- one\n\nIf you need specific \
                    details from before compaction (like exact code), read the transcript.";
        assert_eq!(summary(text), "We fixed it.\n\n- one");
        assert_eq!(summary("Just this."), "Just this.");
    }

    #[test]
    fn limits_have_names() {
        let names = ["five_hour", "seven_day", "seven_day_opus", "overage"].map(limit_name);
        let expected = ["5-hour limit", "Weekly limit", "Weekly limit (opus)", "overage limit"];
        assert_eq!(names, expected);
    }
}
