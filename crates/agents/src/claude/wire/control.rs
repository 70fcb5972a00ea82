//! Requests and responses outside the conversation, in both directions.

use serde::Deserialize;
use serde_json::{Map, Value};

/// `control_request`.
#[derive(Debug, Deserialize)]
pub struct ControlRequest {
    /// The answer must carry it.
    pub request_id: String,
    pub request: ControlKind,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ControlKind {
    CanUseTool(Box<CanUseTool>),
    /// Something we don't support.
    Other(Value),
}

/// The agent asks for permission to use a tool.
#[derive(Debug, Clone, Deserialize)]
pub struct CanUseTool {
    pub tool_name: String,
    #[serde(default)]
    pub input: Map<String, Value>,
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Rules that would stop the agent from asking again.
    #[serde(default)]
    pub permission_suggestions: Vec<Value>,
    #[serde(default)]
    pub decision_reason: Option<String>,
    /// Only a one-time answer may be offered.
    #[serde(default)]
    pub suppress_always_allow_rule: bool,
}

/// The answer to one of our requests.
#[derive(Debug, Deserialize)]
pub struct ControlResponse {
    #[serde(default)]
    pub request_id: String,
    /// `success` or `error`.
    #[serde(default)]
    pub subtype: String,
    #[serde(default)]
    pub response: Value,
    #[serde(default)]
    pub error: Option<String>,
}
