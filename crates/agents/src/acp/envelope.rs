//! The first step of reading: what a line is (request, answer, notification), with its content still raw.
//!
//! Knows nothing of methods or their types, so that an unknown or malformed content never costs the message.

use std::borrow::Cow;

use agent_client_protocol_schema::v1::RequestId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A line an agent wrote.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The agent asks and waits. The id is of the agent's own counting.
    Request { id: RequestId, method: Cow<'a, str>, params: &'a RawValue },
    /// The agent tells.
    Notification { method: Cow<'a, str>, params: &'a RawValue },
    /// The agent answers. The id is of our counting.
    Response { id: RequestId, result: Result<&'a RawValue, RpcError> },
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAMessage {
    /// Log lines and the like.
    #[error("not JSON-RPC: {0}")]
    NotJson(String),
    /// An object with neither method nor id.
    #[error("neither a request nor an answer")]
    Neither,
}

/// An error as JSON-RPC carries it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, thiserror::Error)]
#[error("{}", self.words())]
pub(crate) struct RpcError {
    /// What kind.
    #[serde(default)]
    pub code: i64,
    /// A sentence.
    #[serde(default)]
    pub message: String,
    /// Anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The content was not the method's.
    pub const INVALID_PARAMS: i64 = -32602;
    /// It could not be done.
    pub const INTERNAL: i64 = -32603;
    /// The agent wants a login.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// No such file or session.
    pub const NOT_FOUND: i64 = -32002;
    /// Who asked no longer wants to know.
    pub const CANCELLED: i64 = -32800;

    /// An error of ours.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The message, and what else it says about itself where that is words: agents put the cause into `data`.
    pub fn words(&self) -> String {
        let data = match &self.data {
            Some(Value::String(text)) => Some(text.as_str()),
            Some(Value::Object(map)) => ["details", "message", "error", "reason"]
                .iter()
                .find_map(|key| map.get(*key)?.as_str()),
            _ => None,
        };
        let message =
            if self.message.is_empty() { "The agent gave no reason." } else { &self.message };
        match data {
            Some(data) if !data.is_empty() && data != message => format!("{message}: {data}"),
            _ => message.to_owned(),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// Reads the envelope of a line.
pub(crate) fn read(line: &[u8]) -> Result<Incoming<'_>, NotAMessage> {
    // An array would be read as the fields in their order; batches are no part of the protocol.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(NotAMessage::NotJson("not an object".to_owned()));
    }
    let envelope: Envelope<'_> =
        serde_json::from_slice(line).map_err(|error| NotAMessage::NotJson(error.to_string()))?;
    let params = envelope.params.unwrap_or(RawValue::NULL);
    Ok(match (envelope.method, envelope.id) {
        (Some(method), None | Some(RequestId::Null)) => Incoming::Notification { method, params },
        (Some(method), Some(id)) => Incoming::Request { id, method, params },
        (None, Some(id)) => {
            let result = match envelope.error {
                Some(error) => Err(serde_json::from_str(error.get()).unwrap_or_else(|_| {
                    RpcError { code: 0, message: error.get().to_owned(), data: None }
                })),
                None => Ok(envelope.result.unwrap_or(RawValue::NULL)),
            };
            Incoming::Response { id, result }
        }
        (None, None) => return Err(NotAMessage::Neither),
    })
}

/// A line of ours: a request or, without an id, a notification.
pub(crate) fn write_call(
    id: Option<i64>,
    method: &str,
    params: &impl Serialize,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Call<'a, P> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        method: &'a str,
        params: &'a P,
    }
    line(&Call { jsonrpc: "2.0", id, method, params })
}

/// A line of ours: the answer to a request of the agent's.
pub(crate) fn write_answer(
    id: &RequestId,
    result: Result<&impl Serialize, &RpcError>,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Answer<'a, R> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a R>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    line(&Answer { jsonrpc: "2.0", id, result: result.ok(), error: result.err() })
}

fn line(message: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}
