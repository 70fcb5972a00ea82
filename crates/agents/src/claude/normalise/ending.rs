//! How turns end: with a result, by the user, with the process. Usage and cost are settled here.

use liminal_contract::{Details, ErrorCode, OutcomeBy, Severity, Timestamp, TurnOrigin, Usage};
use liminal_stream::{
    AgentError, FinalItem, Notice, Payload, ResponseStatus, SessionFact, ToolPatch,
};
use serde_json::Value;

use super::{ApiError, LOGIN, Normaliser};
use crate::Output;
use crate::claude::wire::{ApiUsage, ResultLine};

impl Normaliser {
    /// The agent's process ended. Ends a running turn with `error`.
    pub fn left(&mut self, error: AgentError, now: Timestamp) -> Vec<Output> {
        self.now = now;
        self.tasks.lost(now);
        self.report_tasks();
        self.return_handed();
        self.settle(OutcomeBy::AgentLeft, |_| true);
        self.begin_whatever_waits();
        if self.turn.is_some() {
            self.emit(Payload::ResponseError { error });
            self.turn = None;
            self.calls.clear();
        }
        std::mem::take(&mut self.outputs)
    }

    /// Ends the turn without the agent, which did not stop when asked, or never got the message. It counts as
    /// cancelled, and `notice` says why.
    pub fn give_up(&mut self, notice: Option<Notice>, now: Timestamp) -> Vec<Output> {
        self.now = now;
        self.tasks.lost(now);
        self.report_tasks();
        self.return_handed();
        self.settle(OutcomeBy::Cancel, |_| true);
        self.begin_whatever_waits();
        if self.turn.is_some() {
            if let Some(notice) = notice {
                self.notice(notice);
            }
            self.close(ResponseStatus::Cancelled);
        }
        self.calls.clear();
        std::mem::take(&mut self.outputs)
    }

    fn begin_whatever_waits(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            if self.turn.is_some() {
                self.close(ResponseStatus::Cancelled);
            }
            self.open(waiting.turn, TurnOrigin::User, waiting.cancelling);
        }
    }

    /// Ends the running turn. A result outside a turn (a refused start), or of another message, ends nothing.
    pub(super) fn result(&mut self, line: ResultLine) {
        self.take_up();
        let cost = self.cost(&line);
        let Some(turn) = &self.turn else { return };
        let answered = &line.user_message_uuids;
        if !answered.is_empty() && turn.message.as_ref().is_some_and(|it| !answered.contains(it)) {
            return;
        }
        answered.iter().for_each(|message| self.take_up_handed(message));
        let Some(turn) = &self.turn else { return };
        let stopped = turn.cancelling
            || line.terminal_reason.as_deref().is_some_and(|why| why.starts_with("aborted"));
        let usage = self.usage(&line, cost);
        if let Some(usage) = &usage {
            let total = line.total_cost_usd.and_then(|total| cents(self.spent_before + total));
            let so_far = Usage { cost_usd: total, ..usage.clone() };
            self.fact(SessionFact::Usage(so_far));
        }
        self.settle(OutcomeBy::Cancel, |ask| ask.parent.is_none());
        if stopped {
            self.retry_over(Severity::Info, "Stopped before the model answered.");
            self.end(ResponseStatus::Cancelled, line.stop_reason, usage);
        } else if line.is_error {
            self.retry_over(Severity::Warning, "The model did not answer.");
            let error = self.failure(&line);
            self.emit(Payload::ResponseError { error });
            self.after_turn();
        } else {
            self.retry_over(Severity::Info, "The model answers again.");
            self.say_held_error();
            self.finish_open_items();
            self.end(ResponseStatus::Completed, line.stop_reason, usage);
        }
    }

    /// Ends the running turn without a result from the agent.
    pub(super) fn close(&mut self, status: ResponseStatus) {
        let aside = self.turn.as_ref().is_some_and(|turn| turn.aside);
        if status == ResponseStatus::Completed && !aside {
            self.finish_open_items();
        }
        self.end(status, None, None);
    }

    pub(super) fn end(
        &mut self,
        status: ResponseStatus,
        stop_reason: Option<String>,
        usage: Option<Usage>,
    ) {
        self.emit(Payload::ResponseDone {
            status,
            finish_reason: None,
            stop_reason,
            error: None,
            usage,
        });
        self.after_turn();
    }

    pub(super) fn after_turn(&mut self) {
        self.turn = None;
        self.tasks.turn_ended(self.now);
        let calls = &mut self.calls;
        calls.retain(|_, call| !call.done);
        self.refused.retain(|call| calls.contains_key(call));
    }

    /// A turn that ends normally leaves nothing open.
    pub(super) fn finish_open_items(&mut self) {
        self.confirm_all();
        self.settle_plan();
        self.settle_compaction();
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) else { return };
        let mut open: Vec<(String, _)> = self
            .calls
            .iter_mut()
            .filter(|(_, call)| {
                call.turn == turn && !call.done && call.shown && call.parent.is_none()
            })
            .map(|(id, call)| {
                call.done = true;
                (id.clone(), call.item.clone())
            })
            .collect();
        open.sort();
        for (call_id, item_id) in open {
            self.emit(Payload::ItemDone {
                item_id,
                final_item: FinalItem::FunctionCallOutput {
                    call_id,
                    output: String::new(),
                    is_error: false,
                    about: Box::new(ToolPatch::default()),
                },
            });
        }
    }

    /// Shows an error that the turn survived as a message of the agent.
    fn say_held_error(&mut self) {
        if let Some(error) = self.turn.as_mut().and_then(|turn| turn.api_error.take()) {
            self.system_message(error.words);
        }
    }

    fn failure(&mut self, line: &ResultLine) -> AgentError {
        let held = self.turn.as_mut().and_then(|turn| turn.api_error.take());
        let wants_login = line.api_error_status == Some(401)
            || held.as_ref().is_some_and(|error| error.wants_login);
        let words = line
            .result
            .clone()
            .filter(|words| !words.is_empty())
            .or(held.map(|error: ApiError| error.words))
            .unwrap_or_else(|| {
                let errors: Vec<String> = line.errors.iter().map(crate::asked::plain).collect();
                if errors.is_empty() {
                    format!("Claude Code ended the turn with an error ({}).", line.subtype)
                } else {
                    errors.join("\n")
                }
            });
        if wants_login {
            let details = Details {
                command: Some(LOGIN.to_owned()),
                hint: Some(
                    "Log in to Claude Code in a terminal, then send the message again.".to_owned(),
                ),
                ..Details::default()
            };
            return AgentError::new(ErrorCode::AuthRequired, words, Some(details));
        }
        let details = self
            .turn
            .as_ref()
            .and_then(|turn| turn.limited_until)
            .map(|until| Details { resets_at: Some(until), ..Details::default() });
        AgentError::new(ErrorCode::AgentProtocolError, words, details)
    }

    /// How full the context is, from the answer to `get_context_usage`.
    pub fn context_usage(&mut self, answer: &Value) -> Vec<Output> {
        let tokens = |key: &str| answer.get(key).and_then(Value::as_u64);
        let Some(context_used) = tokens("totalTokens") else { return Vec::new() };
        let usage = Usage {
            context_used: Some(context_used),
            context_size: tokens("maxTokens"),
            ..Usage::default()
        };
        vec![Output::Fact(SessionFact::Usage(usage))]
    }

    /// The turn's share, in USD, of a total that grows until `/clear` starts it again.
    fn cost(&mut self, line: &ResultLine) -> Option<f64> {
        let total = line.total_cost_usd?;
        if let Some(before) = self.spent.filter(|before| total < *before) {
            self.spent_before += before;
            self.spent = Some(0.0);
        }
        let share = match self.spent {
            Some(before) => cents((total - before).max(0.0)),
            None => line
                .model_usage_since_last_result
                .as_ref()
                .and_then(|models| cents(models.values().map(|model| model.cost_usd).sum())),
        };
        self.spent = Some(total);
        share
    }

    fn usage(&self, line: &ResultLine, cost_usd: Option<f64>) -> Option<Usage> {
        let usage = line.usage?;
        let context_size = line
            .model_usage
            .get(&self.model)
            .or_else(|| line.model_usage.values().next())
            .and_then(|model| model.context_window);
        Some(Usage {
            cost_usd,
            context_used: self.turn.as_ref().and_then(|turn| turn.context),
            context_size,
            ..tokens(usage)
        })
    }
}

/// Rounds away the noise of binary fractions. None if no number can hold it.
fn cents(usd: f64) -> Option<f64> {
    Some((usd * 1e9).round() / 1e9).filter(|usd| usd.is_finite())
}

pub(super) fn tokens(usage: ApiUsage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_input_tokens: usage.cache_read_input_tokens,
        cache_creation_input_tokens: usage.cache_creation_input_tokens,
        ..Usage::default()
    }
}

/// Whether an error means that nobody is logged in.
pub(super) fn wants_login(error: Option<&Value>) -> bool {
    error.and_then(Value::as_str) == Some("authentication_failed")
}
