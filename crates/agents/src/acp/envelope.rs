//! The first step of reading: whether a line is a request, answer or notification, with its content still raw.
//!
//! Knows no methods or their types, so unknown or malformed content never loses the message.

use std::borrow::Cow;

use agent_client_protocol_schema::v1::RequestId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A line an agent wrote.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The id is one of the agent's.
    Request {
        id: RequestId,
        method: Cow<'a, str>,
        params: &'a RawValue,
    },
    Notification {
        method: Cow<'a, str>,
        params: &'a RawValue,
    },
    /// The id is one of ours.
    Response {
        id: RequestId,
        result: Result<&'a RawValue, RpcError>,
    },
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
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    pub const AUTH_REQUIRED: i64 = -32000;
    /// No such file or session.
    pub const NOT_FOUND: i64 = -32002;
    /// The sender withdrew the request.
    pub const CANCELLED: i64 = -32800;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Whether this refusal to resume a session means that the agent does not know it. There is a code for that, but
    /// some agents use the general one and say it only in words.
    pub fn is_unknown_session(&self) -> bool {
        let words = self.words().to_lowercase();
        let says = |any: &[&str]| any.iter().any(|it| words.contains(it));
        self.code == Self::NOT_FOUND
            || says(&["session", "thread", "conversation"])
                && says(&["not found", "no rollout found", "unknown", "no such", "not exist"])
    }

    /// The message, and the text in `data` if there is any: agents put the cause there.
    pub fn words(&self) -> String {
        let data = match &self.data {
            Some(Value::String(text)) => Some(text.as_str()),
            Some(Value::Object(map)) => ["details", "message", "error", "reason"]
                .iter()
                .find_map(|key| map.get(*key)?.as_str()),
            _ => None,
        };
        let message = match self.message.as_str() {
            "" => "The agent gave no reason.".to_owned(),
            message => in_words(message),
        };
        match data.map(in_words) {
            Some(data) if data.contains(&message) => data,
            Some(data) if !message.contains(&data) => format!("{message}: {data}"),
            _ => message,
        }
    }
}

/// The readable part of an error: some agents pass on a model's JSON, or repeat the same text.
pub(crate) fn in_words(text: &str) -> String {
    let json = text.find('{').and_then(|at| serde_json::from_str::<Value>(&text[at..]).ok());
    let inner = json.as_ref().and_then(|json| {
        ["/error/message", "/message", "/error"]
            .iter()
            .find_map(|place| json.pointer(place)?.as_str())
            .filter(|message| !message.is_empty())
    });
    let text = inner.unwrap_or(text).trim();
    // A repeated text looks like "words: words".
    let middle = text.len() / 2;
    let twice = [": ", "\n", " "].iter().find_map(|between| {
        let at = middle.checked_sub(between.len() / 2)?;
        let (first, second) = (text.get(..at)?, text.get(at + between.len()..)?);
        (text.get(at..at + between.len()) == Some(*between) && first == second).then_some(first)
    });
    twice.unwrap_or(text).to_owned()
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
    // Serde would read an array as the fields in order; batches are not part of the protocol.
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

/// A request or, without an id, a notification.
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
