//! Requests and responses beside the conversation, in both directions.

use serde::Deserialize;
use serde_json::{Map, Value};

/// `control_request`.
#[derive(Debug, Deserialize)]
pub struct ControlRequest {
    /// To be answered with it.
    pub request_id: String,
    /// What is asked.
    pub request: Asked,
}

/// What the agent asks us.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Asked {
    /// Whether it may use a tool.
    CanUseTool(Box<CanUseTool>),
    /// Something we do not offer.
    Other(Value),
}

/// Whether the agent may use a tool.
#[derive(Debug, Clone, Deserialize)]
pub struct CanUseTool {
    /// The tool.
    pub tool_name: String,
    /// Its arguments.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// What would make the agent not ask again.
    #[serde(default)]
    pub permission_suggestions: Vec<Value>,
    /// Why it asks.
    #[serde(default)]
    pub decision_reason: Option<String>,
    /// No answer for longer than this once may be offered.
    #[serde(default)]
    pub suppress_always_allow_rule: bool,
}

/// The answer to a request of ours.
#[derive(Debug, Deserialize)]
pub struct ControlResponse {
    /// The request.
    #[serde(default)]
    pub request_id: String,
    /// `success` or `error`.
    #[serde(default)]
    pub subtype: String,
    /// The answer.
    #[serde(default)]
    pub response: Value,
    /// Why not.
    #[serde(default)]
    pub error: Option<String>,
}
