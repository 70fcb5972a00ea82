//! The canonical stream events, which every provider's normaliser produces.
//!
//! `envelope.rs` has their wire form and the validation of events from outside.

use liminal_contract::{
    Details, ErrorCode, ItemId, Location, MessageOrigin, Outcome, PlanEntry, SessionId, Timestamp,
    ToolKind, TurnId, TurnOrigin, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Interlude, ItemFailure, Notice, Permission, SourcePart};

/// One thing an agent reported, in a form that is the same for all agents.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// Unique.
    pub event_id: String,
    /// When the agent sent it.
    pub timestamp: Timestamp,
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub payload: Payload,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Payload {
    ResponseStart {
        /// Empty if the agent doesn't report it.
        model_id: String,
        /// The provider that drives the agent.
        provider_id: String,
        origin: TurnOrigin,
    },
    ItemStart {
        item_id: ItemId,
        /// The tool call of the sub-agent that this belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<String>,
        #[serde(flatten)]
        item: NewItem,
    },
    /// A message, thinking or the arguments of a call grew.
    ItemDelta {
        item_id: ItemId,
        delta_content: String,
    },
    /// Any change of an item other than text added at its end.
    ItemUpdate {
        item_id: ItemId,
        patch: Patch,
    },
    /// An item is final. For a call, only its arguments are final; it completes with its output.
    ItemDone {
        item_id: ItemId,
        final_item: FinalItem,
    },
    ItemError {
        item_id: ItemId,
        error: AgentError,
    },
    /// Drops an item that was never emitted.
    ItemCancelled {
        item_id: ItemId,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ResponseDone {
        status: ResponseStatus,
        /// Used if `stop_reason` is absent, and as the error of a turn that failed without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
        /// Why it stopped, in the agent's own term.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
        /// Only with status `error`.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    ResponseError {
        error: AgentError,
    },
}

impl Payload {
    /// The end of a turn, with nothing known except its status.
    pub fn done(status: ResponseStatus) -> Self {
        let (finish_reason, stop_reason, error, usage) = (None, None, None, None);
        Self::ResponseDone { status, finish_reason, stop_reason, error, usage }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "itemType", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum NewItem {
    Message {
        /// The text so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        initial_content: Option<String>,
        origin: MessageOrigin,
    },
    Reasoning {
        /// The text so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        initial_content: Option<String>,
    },
    FunctionCall {
        /// The agent's name for the tool.
        name: String,
        /// The agent's own id.
        call_id: String,
        /// Everything else known so far.
        #[serde(skip_serializing_if = "is_default")]
        about: Box<ToolPatch>,
    },
    /// The output of a tool begins. It is added to the call with that id.
    FunctionCallOutput {
        /// The agent's own id.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    Plan {
        entries: Vec<PlanEntry>,
    },
    Permission {
        ask: Box<Permission>,
    },
    Notice {
        notice: Box<Notice>,
    },
    Interlude {
        interlude: Interlude,
    },
}

fn is_default(patch: &ToolPatch) -> bool {
    *patch == ToolPatch::default()
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Patch {
    Tool(Box<ToolPatch>),
    /// Replaces the whole plan.
    Plan {
        entries: Vec<PlanEntry>,
    },
    /// Replaces the whole notice.
    Notice {
        notice: Box<Notice>,
    },
}

/// A change of a tool call. An absent field changes nothing; a present one replaces the old value, except
/// `output_delta`, which is appended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolPatch {
    /// The agent's name for the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Chooses the icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    /// The final arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// Content other than plain output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<SourcePart>>,
    /// The whole output so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// New output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_delta: Option<String>,
    /// The user or a rule denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// How the command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FinalItem {
    Message {
        content: String,
        origin: MessageOrigin,
    },
    Reasoning {
        content: String,
        /// The provider that drives the agent.
        provider_id: String,
    },
    /// The arguments of a call are final.
    FunctionCall {
        /// The agent's name for the tool.
        name: String,
        /// The agent's own id.
        call_id: String,
        arguments: Map<String, Value>,
    },
    FunctionCallOutput {
        /// The agent's own id.
        call_id: String,
        /// The whole output. If it is empty, the output in `about` or in earlier updates counts.
        output: String,
        is_error: bool,
        /// Everything else known now.
        #[serde(skip_serializing_if = "is_default")]
        about: Box<ToolPatch>,
    },
    Plan {
        entries: Vec<PlanEntry>,
    },
    Permission {
        outcome: Outcome,
    },
    Notice {
        notice: Box<Notice>,
    },
    Interlude {
        interlude: Interlude,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    Completed,
    Cancelled,
    Error,
}

/// A `code` that the contract doesn't know counts as `AGENT_PROTOCOL_ERROR`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    pub code: String,
    /// For the user.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

impl AgentError {
    pub fn new(code: ErrorCode, message: impl Into<String>, details: Option<Details>) -> Self {
        Self { code: code.as_str().to_owned(), message: message.into(), details }
    }
}

impl From<&AgentError> for ItemFailure {
    fn from(error: &AgentError) -> Self {
        let code = serde_json::from_value(Value::String(error.code.clone()))
            .unwrap_or(ErrorCode::AgentProtocolError);
        // An error without a message still has its code.
        let message = if error.message.is_empty() { &error.code } else { &error.message };
        Self { code, message: message.clone() }
    }
}
