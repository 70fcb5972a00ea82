//! What codex says in `_meta` beside the protocol: that it tries again, and that a turn failed. Without this an
//! outage of its model would look like an answer.

use liminal_contract::{ErrorCode, Severity, Timestamp};
use liminal_stream::{AgentError, Notice};
use serde_json::Value;

use super::{Normaliser, Telling};
use crate::Output;

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

    /// After its "system error" codex says the reason as a text of no message. It is the turn's failure then.
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

/// A turn that the agent said had failed.
pub(super) fn failed(words: String) -> AgentError {
    // The model's own answer is passed on as it came.
    let inner = serde_json::from_str::<Value>(&words).ok();
    let inner = inner.as_ref().and_then(|it| it.pointer("/error/message")?.as_str());
    let message = match inner {
        Some(message) => message.to_owned(),
        None if words.is_empty() => "The agent could not answer.".to_owned(),
        None => words,
    };
    AgentError::new(ErrorCode::AgentProtocolError, message, None)
}
