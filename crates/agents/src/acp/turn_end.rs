//! What the answer to a prompt says about the turn it ends.

use agent_client_protocol_schema::v1::{self as wire, PromptResponse};
use liminal_contract::{AuthMethod, Details, ErrorCode, Usage};
use liminal_stream::AgentError;
use serde_json::Value;

use super::envelope::RpcError;
use super::normalise::TurnEnd;

/// From an answer. A finish after the user asked to stop is a cancellation: the order of messages decides.
pub(crate) fn of_answer(answer: &Value, cancelled: bool) -> TurnEnd {
    // A stop reason we don't know is still one.
    let reason = answer.get("stopReason").and_then(Value::as_str).map(str::to_owned);
    let usage = serde_json::from_value::<PromptResponse>(answer.clone())
        .map_or_else(|_| answer.get("usage").and_then(usage_of), |answer| answer.usage.map(usage));
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

/// From an error. Agents that answer a cancelled prompt with one mean the cancellation.
pub(crate) fn of_error(
    error: &RpcError,
    cancelled: bool,
    command: Option<&str>,
    methods: &[AuthMethod],
) -> TurnEnd {
    if cancelled || error.code == RpcError::CANCELLED {
        return TurnEnd::Cancelled { reason: None, usage: None };
    }
    let (kind, details) = if error.code == RpcError::AUTH_REQUIRED {
        let details = Details {
            command: command.map(str::to_owned),
            auth_methods: (!methods.is_empty()).then(|| methods.to_vec()),
            ..Details::default()
        };
        (ErrorCode::AuthRequired, Some(details).filter(|details| *details != Details::default()))
    } else {
        (ErrorCode::AgentProtocolError, None)
    };
    TurnEnd::Failed(AgentError::new(kind, error.words(), details))
}

/// codex says in `_meta` that the model failed, and calls it the end of the turn.
fn failure_of(answer: &Value) -> Option<String> {
    let error = answer.pointer("/_meta/codex/error").filter(|error| !error.is_null())?;
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
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
