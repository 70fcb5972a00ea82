//! Items: the things in a turn, each sent as its whole current state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Details, ErrorCode, ItemId, SessionId, Timestamp, TurnId};

/// The whole current state of one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct UpsertObject {
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The item.
    pub item_id: ItemId,
    /// When the agent said it.
    pub source_timestamp: Timestamp,
    /// When we passed it on.
    pub emitted_at: Timestamp,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// With status `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// With status `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Its fixed place in the transcript; order by it.
    #[cfg_attr(test, ts(type = "number"))]
    pub index: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// The call under which a sub-agent did this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub body: Body,
}

/// Where an item is in its life. Every open item of an ended turn counts as ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ItemStatus {
    /// Seen for the first time.
    Create,
    /// Changed.
    Update,
    /// Final.
    Complete,
    /// Final, and failed.
    Error,
}

impl ItemStatus {
    /// Whether the item has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Error)
    }
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum Body {
    /// Something said.
    Message {
        /// Its source, in Markdown.
        content: String,
        /// Who said it.
        origin: MessageOrigin,
        /// Safe HTML, one per top-level block.
        blocks: Vec<String>,
        /// Of the send that it came with.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// What the agent thought.
    Thinking {
        /// Its source, in Markdown.
        content: String,
        /// Which provider of ours drives the agent.
        provider_id: String,
        /// Safe HTML, one per top-level block.
        blocks: Vec<String>,
    },
    /// Something the agent did.
    ToolCall {
        /// The agent's name of the tool.
        tool_name: String,
        /// May be empty until they are final.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        tool_arguments: Map<String, Value>,
        /// The agent's id of the call.
        call_id: String,
        /// Its output as text, cut at 64 KB.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_output: Option<String>,
        /// Whether the output is a failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_output_is_error: Option<bool>,
        /// One line for the reader.
        title: String,
        /// Which icon.
        tool_kind: ToolKind,
        /// The files it is about.
        locations: Vec<Location>,
        /// Its content, rendered.
        parts: Vec<Part>,
        /// The whole size, when output or parts were cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(type = "number"))]
        output_bytes: Option<u64>,
        /// The user did not allow it.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<bool>,
    },
    /// What the agent means to do; updated in place.
    Plan {
        /// In order.
        entries: Vec<PlanEntry>,
    },
    /// The agent asks.
    Permission {
        /// The call it asks for.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// What is asked, in one line.
        title: String,
        /// Which icon.
        tool_kind: ToolKind,
        /// The command or diff in full.
        parts: Vec<Part>,
        /// As the agent offered them.
        options: Vec<AskOption>,
        /// Questions with answers to choose from, where the agent asks those.
        #[serde(skip_serializing_if = "Option::is_none")]
        questions: Option<Vec<Question>>,
        /// Absent while it is open.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
    },
    /// Something we have to say about the session.
    Notice {
        /// How bad.
        severity: Severity,
        /// The sentence.
        text: String,
        /// What can be done about it.
        actions: Vec<NoticeAction>,
        /// The evidence.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
}

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum MessageOrigin {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// Neither.
    System,
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ToolKind {
    /// Reads files.
    Read,
    /// Changes files.
    Edit,
    /// Deletes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches files.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks.
    Think,
    /// Gets something from a network.
    Fetch,
    /// Changes the agent's own mode.
    SwitchMode,
    /// Anything else.
    #[default]
    Other,
}

/// A file a tool is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Location {
    /// As the agent names it.
    pub path: String,
    /// Counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A piece of a tool call's content, ready to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Part {
    /// Prose.
    Text {
        /// Safe HTML.
        html: String,
    },
    /// Source code.
    Code {
        /// Safe HTML.
        html: String,
    },
    /// A change of a file.
    Diff {
        /// Safe HTML.
        html: String,
    },
    /// What a terminal would show.
    Terminal {
        /// Safe HTML.
        html: String,
    },
    /// A picture.
    Image {
        /// On our own origin.
        url: String,
    },
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PlanEntry {
    /// The step.
    pub text: String,
    /// How far it is.
    pub status: PlanStatus,
    /// The agent's word for how important it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// One answer the agent offers to its own question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AskOption {
    /// The agent's id of it.
    pub option_id: String,
    /// What the button says.
    pub name: String,
    /// What it means.
    pub kind: AskKind,
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AskKind {
    /// Yes, this time.
    AllowOnce,
    /// Yes, from now on.
    AllowAlways,
    /// No, this time.
    RejectOnce,
    /// No, from now on.
    RejectAlways,
    /// Something else.
    Other,
}

/// A question with answers to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Question {
    /// The question.
    pub question: String,
    /// A word or two for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The answers.
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    pub multiple: bool,
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it would mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How a permission was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Outcome {
    /// The option taken, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// By whom.
    pub by: OutcomeBy,
}

/// Who settled a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum OutcomeBy {
    /// The user answered.
    User,
    /// The policy `auto` answered.
    Policy,
    /// The turn was cancelled.
    Cancel,
    /// The agent is gone.
    AgentLeft,
}

/// How bad a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Severity {
    /// Good to know.
    Info,
    /// Look at it.
    Warning,
    /// Something is broken.
    Error,
}

/// What can be done about a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum NoticeAction {
    /// Stop the turn.
    Cancel,
    /// Restart the agent.
    Restart,
    /// Send the message again.
    Retry,
}

/// The user's answer to a permission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The option taken; absent means cancelled.
    pub option_id: Option<String>,
    /// Answers to questions, by question.
    pub answers: BTreeMap<String, String>,
}
