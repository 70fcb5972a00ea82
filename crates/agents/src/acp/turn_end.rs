//! How a turn ended, read from the answer to its prompt.

use agent_client_protocol_schema::v1::{self as wire, PromptResponse};
use liminal_contract::{Details, ErrorCode, Usage};
use liminal_stream::AgentError;
use serde_json::Value;

use super::envelope::RpcError;
use super::normalise::TurnEnd;

/// A completion that arrives after the user asked to stop is a cancellation: the order of messages decides.
pub(crate) fn of_answer(answer: &Value, cancelled: bool) -> TurnEnd {
    // Unknown stop reasons are kept too.
    let reason = answer.get("stopReason").and_then(Value::as_str).map(str::to_owned);
    let usage = serde_json::from_value::<PromptResponse>(answer.clone())
        .map_or_else(|_| answer.get("usage").and_then(usage_of), |answer| answer.usage.map(usage))
        .or_else(|| answer.pointer("/_meta/quota/token_count").and_then(counted));
    if cancelled || reason.as_deref() == Some("cancelled") {
        return TurnEnd::Cancelled { reason, usage };
    }
    match failure_of(answer) {
        Some(message) => {
            TurnEnd::Failed(AgentError::new(ErrorCode::AgentProtocolError, message, None))
        }
        None => TurnEnd::Stopped { reason, usage },
    }
}

/// Some agents answer a cancelled prompt with an error; that is a cancellation, not a failure.
pub(crate) fn of_error(
    error: &RpcError,
    cancelled: bool,
    login: impl FnOnce() -> Option<Details>,
) -> TurnEnd {
    if cancelled || error.code == RpcError::CANCELLED {
        return TurnEnd::Cancelled { reason: None, usage: None };
    }
    let (kind, details) = if error.code == RpcError::AUTH_REQUIRED {
        (ErrorCode::AuthRequired, login())
    } else {
        (ErrorCode::AgentProtocolError, None)
    };
    TurnEnd::Failed(AgentError::new(kind, error.words(), details))
}

/// codex reports a failed model in `_meta` of an ordinary end of the turn.
fn failure_of(answer: &Value) -> Option<String> {
    let error = answer.pointer("/_meta/codex/error").filter(|error| !error.is_null())?;
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
}

/// Gemini reports its token counts outside the protocol.
fn counted(count: &Value) -> Option<Usage> {
    let tokens = |name: &str| count.get(name).and_then(Value::as_u64);
    let (input, output) = (tokens("input_tokens"), tokens("output_tokens"));
    (input.is_some() || output.is_some()).then(|| Usage {
        input_tokens: input.unwrap_or_default(),
        output_tokens: output.unwrap_or_default(),
        ..Usage::default()
    })
}

fn usage_of(value: &Value) -> Option<Usage> {
    serde_json::from_value(value.clone()).ok().map(usage)
}

fn usage(usage: wire::Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_input_tokens: usage.cached_read_tokens,
        cache_creation_input_tokens: usage.cached_write_tokens,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_that_are_counted_beside_the_protocol_are_read() {
        let count = json!({"input_tokens": 7, "output_tokens": 3});
        let answer = json!({"stopReason": "end_turn", "_meta": {"quota": {"token_count": count}}});
        let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
        let reason = Some("end_turn".to_owned());
        assert_eq!(of_answer(&answer, false), TurnEnd::Stopped { reason, usage: Some(usage) });
    }

    #[test]
    fn an_error_is_said_once_and_in_words() {
        let words = |message: &str, data: Value| {
            RpcError { code: -32603, message: message.to_owned(), data: Some(data) }.words()
        };
        let inner = r#"{"error": {"code": 429, "message": "Quota is used up."}}"#;
        for (message, data, expected) in [
            ("Internal error", json!("Disk full"), "Internal error: Disk full"),
            ("Disk full", json!({"details": "Disk full"}), "Disk full"),
            ("Disk full", json!("Could not write: Disk full"), "Could not write: Disk full"),
            (inner, Value::Null, "Quota is used up."),
            (
                "Internal error",
                json!(format!("got status 429: {inner}")),
                "Internal error: Quota is used up.",
            ),
            ("No key: No key", Value::Null, "No key"),
            ("No key\nNo key", Value::Null, "No key"),
        ] {
            assert_eq!(words(message, data), expected);
        }
    }
}
