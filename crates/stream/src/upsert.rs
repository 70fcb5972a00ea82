//! Upserts in source form: the whole state of one item as the agent sent it, before rendering.
//!
//! The contract's `UpsertObject` adds a position in the transcript and HTML. The journal stores this form.

use liminal_contract::{
    AskOption, Attachment, Details, ErrorCode, ItemId, ItemStatus, Location, MessageOrigin,
    NoticeAction, Outcome, PlanEntry, Question, SessionId, Severity, Timestamp, ToolKind, TurnId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Upsert {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub item_id: ItemId,
    /// When the agent sent the latest part.
    pub source_timestamp: Timestamp,
    /// When the processor emitted it.
    pub emitted_at: Timestamp,
    /// When the item began, by the agent's clock.
    pub started_at: Timestamp,
    pub status: ItemStatus,
    /// Only with status `error`.
    pub failure: Option<ItemFailure>,
    /// The tool call of the sub-agent that this belongs to.
    pub parent_call_id: Option<String>,
    pub source: Source,
}

/// Text was added at the end of an item; nothing else of it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    pub turn_id: TurnId,
    pub item_id: ItemId,
    /// When the agent sent the latest part.
    pub source_timestamp: Timestamp,
    /// When the processor emitted it.
    pub emitted_at: Timestamp,
    pub text: String,
}

/// Why an item or a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemFailure {
    pub code: ErrorCode,
    /// For the user.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Source {
    Message {
        /// Markdown.
        content: String,
        origin: MessageOrigin,
        /// Only of the user's messages.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    Thinking {
        /// Markdown.
        content: String,
        /// The provider that drives the agent.
        provider_id: String,
    },
    ToolCall(ToolCall),
    Plan {
        entries: Vec<PlanEntry>,
    },
    Permission(Permission),
    Notice(Notice),
    Interlude(Interlude),
}

impl Upsert {
    pub fn grow(&mut self, growth: &Growth) {
        self.source_timestamp = growth.source_timestamp;
        self.emitted_at = growth.emitted_at;
        self.status = ItemStatus::Update;
        self.source.grow(&growth.text);
    }
}

impl Source {
    /// A message without attachments.
    pub fn message(content: impl Into<String>, origin: MessageOrigin) -> Self {
        Self::Message { content: content.into(), origin, attachments: Vec::new() }
    }

    /// Adds to the text that grows: of a message or thinking, or a tool's output.
    pub fn grow(&mut self, text: &str) {
        if let Some(growing) = self.growing_text() {
            growing.push_str(text);
        }
    }

    /// `None` for an item without growing text.
    pub fn growing_text(&mut self) -> Option<&mut String> {
        match self {
            Self::Message { content, .. } | Self::Thinking { content, .. } => Some(content),
            Self::ToolCall(call) => Some(call.tool_output.get_or_insert_default()),
            Self::Plan { .. } | Self::Permission(_) | Self::Notice(_) | Self::Interlude(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCall {
    /// The agent's name for the tool.
    pub tool_name: String,
    /// May be empty until the agent has sent them all.
    pub tool_arguments: Map<String, Value>,
    /// The agent's own id.
    pub call_id: String,
    /// All of it, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_output_is_error: Option<bool>,
    /// One line. Empty: derived from name and arguments.
    pub title: String,
    /// Chooses the icon.
    pub tool_kind: ToolKind,
    pub locations: Vec<Location>,
    /// Content other than plain output.
    pub parts: Vec<SourcePart>,
    /// The user or a rule denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// How the command ended, if the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SourcePart {
    /// Markdown.
    Text { text: String },
    Code {
        text: String,
        /// A language name or file extension.
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// A change as two texts. One absent: a new or deleted file. Both absent: nothing is known.
    Diff {
        path: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        old: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        new: Option<String>,
        /// The line of the file that both begin at, counted from 1. Absent: the first one, or not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// A change as hunks, if the agent sends only those.
    Hunks { path: String, hunks: Vec<Hunk> },
    /// Terminal output, with its control sequences.
    Terminal { text: String },
    /// Each value is shown literally.
    Fields { fields: Vec<Field> },
    Image {
        /// For example `image/png`.
        mime_type: String,
        /// Base64.
        data: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    /// Text of any length, or JSON.
    pub value: String,
}

/// Changed lines with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The first line in the old file, counted from 1.
    pub old_start: u32,
    /// The first line in the new file, counted from 1.
    pub new_start: u32,
    /// Each starts with ` `, `-`, `+` or `\`.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Permission {
    /// The call that needs permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// One line.
    pub title: String,
    /// Chooses the icon.
    pub tool_kind: ToolKind,
    /// The full command or diff.
    pub parts: Vec<SourcePart>,
    /// As the agent sent them.
    pub options: Vec<AskOption>,
    /// Present if the agent asks questions instead of for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// A page that the agent asks the user to open. Only `http` and `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether closing it unanswered tells the agent something else than any option does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissible: Option<bool>,
    /// Whether a refusal may carry words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_words: Option<bool>,
    /// Absent while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Something the agent did that is nobody's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Interlude {
    /// A command ran without the model.
    CommandOutput {
        /// As typed, with the slash; may be empty.
        command: String,
        /// Markdown.
        text: String,
    },
    Compaction(Compaction),
    /// The agent forgot everything above.
    Cleared {},
}

/// The agent replaced the conversation so far with a summary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Tokens in the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Tokens in the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

impl Interlude {
    /// Its text, as Markdown.
    pub fn text(&self) -> &str {
        match self {
            Self::CommandOutput { text, .. } => text,
            Self::Compaction(compaction) => compaction.summary.as_deref().unwrap_or_default(),
            Self::Cleared {} => "",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    pub severity: Severity,
    pub text: String,
    /// Buttons to offer.
    #[serde(default)]
    pub actions: Vec<NoticeAction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}
