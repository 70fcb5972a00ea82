//! Codex's own reports in `_meta`: that it retries, and that a turn failed. Without them an outage of its model would
//! look like an answer.

use liminal_contract::{ErrorCode, Severity, Timestamp};
use liminal_stream::{AgentError, Notice};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Normaliser, Telling};
use crate::Output;
use crate::acp::envelope::in_words;

impl Normaliser {
    /// Reads the `_meta` of a `session_info_update`.
    pub(super) fn codex_status(&mut self, meta: &Value, at: Timestamp, out: &mut Vec<Output>) {
        let Some(codex) = meta.get("codex").filter(|_| self.telling == Telling::Now) else {
            return;
        };
        if codex.pointer("/threadStatus/type").and_then(Value::as_str) == Some("systemError")
            && let Some(open) = self.turn.as_mut()
        {
            open.failure.get_or_insert_default();
        }
        let Some(error) = codex.get("error").filter(|error| error.is_object()) else { return };
        let say = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = [say("message"), say("additionalDetails")].join(" ").trim().to_owned();
        let retries = error.get("willRetry").and_then(Value::as_bool) == Some(true);
        match (retries, self.turn.as_mut()) {
            (_, None) => {}
            (true, Some(_)) => {
                let notice = Notice {
                    severity: Severity::Warning,
                    text,
                    actions: Vec::new(),
                    details: None,
                };
                self.say(notice, at, out);
            }
            (false, Some(open)) => open.failure = Some(text),
        }
    }

    /// After a "system error" codex sends the reason as text without a message id; that is the turn's failure.
    pub(super) fn takes_as_failure(&mut self, text: &str) -> bool {
        let Some(failure) = self.turn.as_mut().and_then(|open| open.failure.as_mut()) else {
            return false;
        };
        if !failure.is_empty() && !failure.ends_with('\n') {
            failure.push('\n');
        }
        failure.push_str(text.trim());
        true
    }
}

/// Whether codex reports that it is idle: the only end of a turn that it started.
pub(crate) fn is_idle(raw: &RawValue) -> bool {
    let update = serde_json::from_str::<Value>(raw.get()).ok();
    let status = update.as_ref().and_then(|it| it.pointer("/_meta/codex/threadStatus/type"));
    status.and_then(Value::as_str) == Some("idle")
}

/// The error of a turn that codex reported as failed.
pub(super) fn failed(words: String) -> AgentError {
    let message = match words.as_str() {
        "" => "The agent could not answer.".to_owned(),
        words => in_words(words),
    };
    AgentError::new(ErrorCode::AgentProtocolError, message, None)
}
