//! The canonical stream events: the one vocabulary every provider's normaliser speaks.
//!
//! Their wire form, and the check of what comes from outside, is `envelope.rs`.

use liminal_contract::{
    Details, ErrorCode, ItemId, Location, MessageOrigin, Outcome, PlanEntry, SessionId, Timestamp,
    ToolKind, TurnId, TurnOrigin, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Ask, Failure, Notice, SourcePart};

/// One thing an agent said, in the vocabulary all agents share.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// Unique.
    pub event_id: String,
    /// When the agent said it.
    pub timestamp: Timestamp,
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// What it says.
    pub payload: Payload,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Payload {
    /// A turn began.
    ResponseStart {
        /// The model that answers; empty when the agent does not say.
        model_id: String,
        /// Which provider of ours drives the agent.
        provider_id: String,
        /// Who began the turn.
        origin: TurnOrigin,
    },
    /// An item began.
    ItemStart {
        /// The item.
        item_id: ItemId,
        /// The call under which a sub-agent does this.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<String>,
        /// What it is.
        #[serde(flatten)]
        item: NewItem,
    },
    /// A message or thought grew; the arguments of a call grew.
    ItemDelta {
        /// The item.
        item_id: ItemId,
        /// What was added.
        delta_content: String,
    },
    /// Something about an item changed that is not text at its end.
    ItemUpdate {
        /// The item.
        item_id: ItemId,
        /// What changed.
        patch: Patch,
    },
    /// An item is final. (Of a call: its arguments are; it completes with its output.)
    ItemDone {
        /// The item.
        item_id: ItemId,
        /// Its final state.
        final_item: FinalItem,
    },
    /// An item failed.
    ItemError {
        /// The item.
        item_id: ItemId,
        /// Why.
        error: AgentError,
    },
    /// An item nobody has seen is not to be seen.
    ItemCancelled {
        /// The item.
        item_id: ItemId,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A turn ended.
    ResponseDone {
        /// How.
        status: ResponseStatus,
        /// Why, in a word; stands in where the agent's own is absent, and for the error of a turn that failed without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
        /// The agent's own word for why.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
        /// With status `error`.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A turn failed.
    ResponseError {
        /// Why.
        error: AgentError,
    },
}

impl Payload {
    /// The end of a turn of which nothing is known but how.
    pub fn done(status: ResponseStatus) -> Self {
        let (finish_reason, stop_reason, error, usage) = (None, None, None, None);
        Self::ResponseDone { status, finish_reason, stop_reason, error, usage }
    }
}

/// A new item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "itemType", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum NewItem {
    /// Something said.
    Message {
        /// What is known of it already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initial_content: Option<String>,
        /// Who says it.
        origin: MessageOrigin,
    },
    /// Something thought.
    Reasoning {
        /// What is known of it already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initial_content: Option<String>,
    },
    /// A tool is called.
    FunctionCall {
        /// The agent's name of the tool.
        name: String,
        /// The agent's id of the call.
        call_id: String,
        /// What else is known of it already.
        #[serde(skip_serializing_if = "is_default")]
        about: Box<ToolPatch>,
    },
    /// A tool begins to give something back. It lands on the call of that id.
    FunctionCallOutput {
        /// The agent's id of the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// What the agent means to do.
    Plan {
        /// In order.
        entries: Vec<PlanEntry>,
    },
    /// The agent asks.
    Permission {
        /// What.
        ask: Box<Ask>,
    },
    /// Something we have to say.
    Notice {
        /// What.
        notice: Box<Notice>,
    },
}

fn is_default(patch: &ToolPatch) -> bool {
    *patch == ToolPatch::default()
}

/// What changed about an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Patch {
    /// Of a tool call.
    Tool(Box<ToolPatch>),
    /// The whole plan.
    Plan {
        /// In order.
        entries: Vec<PlanEntry>,
    },
    /// The whole notice.
    Notice {
        /// What it says now.
        notice: Box<Notice>,
    },
}

/// What changed about a tool call. What is absent stays; what is there replaces, but for `output_delta`, which is added.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolPatch {
    /// The agent's name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One line for the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Which icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// The files it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    /// Final arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// Content beyond the plain output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<SourcePart>>,
    /// The whole output so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What the output grew by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_delta: Option<String>,
    /// The user did not allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
}

/// The final state of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FinalItem {
    /// Something said.
    Message {
        /// The whole text.
        content: String,
        /// Who said it.
        origin: MessageOrigin,
    },
    /// Something thought.
    Reasoning {
        /// The whole text.
        content: String,
        /// Which provider of ours drives the agent.
        provider_id: String,
    },
    /// The arguments of a call are final.
    FunctionCall {
        /// The agent's name of the tool.
        name: String,
        /// The agent's id of the call.
        call_id: String,
        /// All of them.
        arguments: Map<String, Value>,
    },
    /// A call is over.
    FunctionCallOutput {
        /// The agent's id of the call.
        call_id: String,
        /// The whole output. Empty where `about` or earlier updates said it: then those stand.
        output: String,
        /// Whether it failed.
        is_error: bool,
        /// What else is known now.
        #[serde(skip_serializing_if = "is_default")]
        about: Box<ToolPatch>,
    },
    /// The plan as it stands.
    Plan {
        /// In order.
        entries: Vec<PlanEntry>,
    },
    /// A permission was settled.
    Permission {
        /// How.
        outcome: Outcome,
    },
    /// A notice that will not change any more.
    Notice {
        /// What it says.
        notice: Box<Notice>,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    /// By itself.
    Completed,
    /// The user stopped it.
    Cancelled,
    /// It failed.
    Error,
}

/// An error as the events carry it. A `code` that is not one of the contract's counts as `AGENT_PROTOCOL_ERROR`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    /// What went wrong.
    pub code: String,
    /// What the user reads.
    pub message: String,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

impl AgentError {
    /// An error with a code of the contract's.
    pub fn new(code: ErrorCode, message: impl Into<String>, details: Option<Details>) -> Self {
        Self { code: code.as_str().to_owned(), message: message.into(), details }
    }
}

impl From<&AgentError> for Failure {
    fn from(error: &AgentError) -> Self {
        let code = serde_json::from_value(Value::String(error.code.clone()))
            .unwrap_or(ErrorCode::AgentProtocolError);
        // An error without words still has its code.
        let message = if error.message.is_empty() { &error.code } else { &error.message };
        Self { code, message: message.clone() }
    }
}
