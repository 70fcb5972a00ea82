//! Upserts in source form: the whole state of one item as the agent gave it, before anything is rendered.
//!
//! The contract's `UpsertObject` is this plus a place in the transcript and HTML. The journal keeps this.

use liminal_contract::{
    AskOption, Details, ErrorCode, ItemId, ItemStatus, Location, MessageOrigin, NoticeAction,
    Outcome, PlanEntry, Question, SessionId, Severity, Timestamp, ToolKind, TurnId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The whole current state of one item, in source form.
#[derive(Debug, Clone, PartialEq)]
pub struct Upsert {
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The item.
    pub item_id: ItemId,
    /// When the agent said the newest of it.
    pub source_timestamp: Timestamp,
    /// When the processor emitted it.
    pub emitted_at: Timestamp,
    /// When the item began, by the agent's time.
    pub started_at: Timestamp,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// With status `error`.
    pub failure: Option<Failure>,
    /// The call under which a sub-agent did this.
    pub parent_call_id: Option<String>,
    /// What it is.
    pub source: Source,
}

/// Why an item or a turn failed, in the contract's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub code: ErrorCode,
    /// What the user reads.
    pub message: String,
}

/// What an item is, unrendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Source {
    /// Something said.
    Message {
        /// Markdown.
        content: String,
        /// Who said it.
        origin: MessageOrigin,
    },
    /// What the agent thought.
    Thinking {
        /// Markdown.
        content: String,
        /// Which provider of ours drives the agent.
        provider_id: String,
    },
    /// Something the agent did.
    ToolCall(ToolCall),
    /// What the agent means to do.
    Plan {
        /// In order.
        entries: Vec<PlanEntry>,
    },
    /// The agent asks.
    Permission(Ask),
    /// Something we have to say about the session.
    Notice(Notice),
}

/// Something the agent did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCall {
    /// The agent's name of the tool.
    pub tool_name: String,
    /// May be empty until they are final.
    pub tool_arguments: Map<String, Value>,
    /// The agent's id of the call.
    pub call_id: String,
    /// Its output as text, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<String>,
    /// Whether the output is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_output_is_error: Option<bool>,
    /// One line for the reader. Empty: derive it from name and arguments.
    pub title: String,
    /// Which icon.
    pub tool_kind: ToolKind,
    /// The files it is about.
    pub locations: Vec<Location>,
    /// Its content beyond the plain output.
    pub parts: Vec<SourcePart>,
    /// The user did not allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
}

/// A piece of content, unrendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SourcePart {
    /// Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// Source code.
    Code {
        /// The text.
        text: String,
        /// A language name or file extension.
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// A change given by the two texts. Both absent says nothing; one absent is a new or a deleted file.
    Diff {
        /// The file.
        path: String,
        /// Before.
        #[serde(skip_serializing_if = "Option::is_none")]
        old: Option<String>,
        /// After.
        #[serde(skip_serializing_if = "Option::is_none")]
        new: Option<String>,
    },
    /// A change given by its hunks, where the agent says only those.
    Hunks {
        /// The file.
        path: String,
        /// In order.
        hunks: Vec<Hunk>,
    },
    /// What a terminal would show, with its control sequences.
    Terminal {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// `image/png` and the like.
        mime_type: String,
        /// Base64.
        data: String,
    },
}

/// A run of changed lines with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// First line before, counted from one.
    pub old_start: u32,
    /// First line after, counted from one.
    pub new_start: u32,
    /// Each begins with ` `, `-`, `+` or `\`.
    pub lines: Vec<String>,
}

/// The agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ask {
    /// The call it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What is asked, in one line.
    pub title: String,
    /// Which icon.
    pub tool_kind: ToolKind,
    /// The command or diff in full.
    pub parts: Vec<SourcePart>,
    /// As the agent offered them.
    pub options: Vec<AskOption>,
    /// Questions with answers to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// Absent while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Something we have to say about the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// How bad.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// What can be done about it.
    #[serde(default)]
    pub actions: Vec<NoticeAction>,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}
