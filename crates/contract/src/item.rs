//! Items: the things in a turn, each sent as its whole current state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{Attachment, Blocks, Details, ErrorCode, ItemId, SessionId, Timestamp, TurnId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct UpsertObject {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub item_id: ItemId,
    /// When the agent sent it.
    pub source_timestamp: Timestamp,
    /// When we sent it on.
    pub emitted_at: Timestamp,
    pub status: ItemStatus,
    /// Only with status `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Only with status `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Its position in the transcript, which never changes. Sort by this.
    #[cfg_attr(test, ts(type = "number"))]
    pub index: u64,
    pub started_at: Timestamp,
    /// The tool call of the sub-agent that this belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<String>,
    #[serde(flatten)]
    pub body: Body,
}

/// When a turn ends, so do all its open items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ItemStatus {
    /// New.
    Create,
    /// Changed.
    Update,
    /// Final.
    Complete,
    /// Final, and failed.
    Error,
}

impl ItemStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Error)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum Body {
    Message {
        /// Markdown.
        content: String,
        origin: MessageOrigin,
        /// Safe HTML, one string per top-level block.
        #[cfg_attr(test, ts(as = "Vec<String>"))]
        blocks: Blocks,
        /// Of the `session:send` that sent it.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// Only of the user's messages.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<Attachment>>"))]
        attachments: Vec<Attachment>,
    },
    Thinking {
        /// Markdown.
        content: String,
        /// The provider that drives the agent.
        provider_id: String,
        /// Safe HTML, one string per top-level block.
        #[cfg_attr(test, ts(as = "Vec<String>"))]
        blocks: Blocks,
    },
    ToolCall {
        /// The agent's name for the tool.
        tool_name: String,
        /// May be empty until the agent has sent them all.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        tool_arguments: Map<String, Value>,
        /// The agent's own id.
        call_id: String,
        /// As text, cut at 64 KB.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_output: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_output_is_error: Option<bool>,
        /// One line.
        title: String,
        /// Chooses the icon.
        tool_kind: ToolKind,
        locations: Vec<Location>,
        /// The rendered content.
        parts: Vec<Part>,
        /// The full size, if output or parts were cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(type = "number"))]
        output_bytes: Option<u64>,
        /// The user or a rule denied it.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<bool>,
        /// How the command ended, if the agent reports it.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// Updated in place.
    Plan { entries: Vec<PlanEntry> },
    Permission {
        /// The call that needs permission.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// One line.
        title: String,
        /// Chooses the icon.
        tool_kind: ToolKind,
        /// While it is open, the full request: command, changes, every argument.
        parts: Vec<Part>,
        /// In this order: allow once, allow always, other, reject.
        options: Vec<AskOption>,
        /// Present if the agent asks questions instead of for approval.
        #[serde(skip_serializing_if = "Option::is_none")]
        questions: Option<Vec<Question>>,
        /// A page that the agent asks the user to open. Only `http` and `https`.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Whether closing it unanswered (no `optionId`) tells the agent something else than any option does.
        #[serde(skip_serializing_if = "Option::is_none")]
        dismissible: Option<bool>,
        /// Whether a refusal may carry a `message`.
        #[serde(skip_serializing_if = "Option::is_none")]
        takes_words: Option<bool>,
        /// Absent while it is open.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
    },
    /// The output of a command that the agent ran itself, without its model.
    CommandOutput {
        /// As typed, with the slash. Empty if the agent doesn't say.
        command: String,
        /// Markdown.
        text: String,
        /// Safe HTML, one string per top-level block.
        #[cfg_attr(test, ts(as = "Vec<String>"))]
        blocks: Blocks,
    },
    /// The agent replaced the conversation so far with a summary. While the item is open it is still at it; with status
    /// `error` it failed.
    Compaction {
        /// Markdown.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// The summary as safe HTML, one string per top-level block.
        #[cfg_attr(test, ts(as = "Vec<String>"))]
        blocks: Blocks,
        /// Tokens in the context before.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(as = "Option<u32>"))]
        before: Option<u64>,
        /// Tokens in the context after.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(as = "Option<u32>"))]
        after: Option<u64>,
    },
    /// The agent forgot everything above.
    Cleared {},
    /// A message from Liminal about the session.
    Notice {
        severity: Severity,
        text: String,
        /// Buttons to offer.
        actions: Vec<NoticeAction>,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum MessageOrigin {
    User,
    Agent,
    /// Neither user nor agent.
    System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    /// Gets something from the network.
    Fetch,
    /// Changes the agent's mode.
    SwitchMode,
    #[default]
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Location {
    /// As the agent wrote it.
    pub path: String,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A rendered piece of a tool call or permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Part {
    Text {
        /// Safe HTML.
        html: String,
    },
    Code {
        /// Safe HTML.
        html: String,
    },
    Diff {
        /// Safe HTML.
        html: String,
        /// Lines added.
        added: u32,
        /// Lines removed.
        removed: u32,
    },
    /// Terminal output, with colours.
    Terminal {
        /// Safe HTML.
        html: String,
    },
    /// A table of names and values.
    Fields {
        /// Safe HTML.
        html: String,
    },
    Image {
        /// On our own origin.
        url: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PlanEntry {
    pub text: String,
    pub status: PlanStatus,
    /// As the agent calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PlanStatus {
    Pending,
    InProgress,
    Completed,
}

/// One of the answers the agent accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AskOption {
    /// The agent's own id.
    pub option_id: String,
    /// The label of the button.
    pub name: String,
    pub kind: AskKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AskKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// A kind we don't know.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Question {
    pub question: String,
    /// One or two words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    pub options: Vec<QuestionOption>,
    /// Whether several answers may be chosen.
    pub multiple: bool,
    /// Present if it is a field of a form. Absent: the answer is free text, or any of the options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FormField>,
}

/// The rules for the answer to one field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct FormField {
    /// The key of its answer.
    pub id: String,
    pub kind: FieldKind,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Filled in from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<AnswerValue>,
    /// The least number, length in characters, or number of choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub least: Option<Number>,
    /// The greatest number, length in characters, or number of choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub most: Option<Number>,
    /// A regular expression that matches a part of the text. Checked by the page, not by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FieldFormat>,
    /// Hidden while it is typed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub secret: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FieldKind {
    #[default]
    Text,
    Number,
    Integer,
    /// `"true"` or `"false"`.
    Boolean,
    /// One of the options.
    Choice,
    /// Any number of the options.
    Several,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FieldFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// One answer. A list only answers a field of kind `several`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AnswerValue {
    Text(String),
    Several(Vec<String>),
}

impl From<&str> for AnswerValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct QuestionOption {
    pub label: String,
    /// The answer that stands for it, if that is not its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Outcome {
    /// The chosen option, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    pub by: OutcomeBy,
    /// The user's words with a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the user answered, in the order of the questions. Neither secrets nor fields that were left empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Answered>>"))]
    pub answers: Vec<Answered>,
}

impl Outcome {
    pub fn of(answer: &Answer, by: OutcomeBy) -> Self {
        let Answer { option_id, message, shown, .. } = answer.clone();
        Self { option_id, by, message, answers: shown }
    }

    /// No option was chosen.
    pub fn without_choice(by: OutcomeBy) -> Self {
        Self::of(&Answer::default(), by)
    }
}

/// A question and its answer, as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Answered {
    /// Its header, if it has one.
    pub question: String,
    pub answer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum OutcomeBy {
    User,
    /// **Approve everything** answered.
    Policy,
    Cancel,
    /// The agent's process ended first.
    AgentLeft,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Severity {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum NoticeAction {
    /// Stops the turn.
    Cancel,
    /// Restarts the agent.
    Restart,
    /// Sends the message again.
    Retry,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Absent: cancelled.
    pub option_id: Option<String>,
    /// Answers to questions, by question; to the fields of a form, by id.
    pub answers: BTreeMap<String, AnswerValue>,
    /// The same for the transcript.
    pub shown: Vec<Answered>,
    /// The user's words with a refusal.
    pub message: Option<String>,
}
