//! The lines Claude Code writes in stream-json, as types. Tolerant: what is not known, or not of the shape we know, is
//! kept as it came ([`Line::Unknown`]), never refused. It knows nothing of turns and items.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

mod api;
mod aside;
mod control;

pub use api::{ApiEvent, ApiMessage, ApiUsage, Block, Content, Delta, KnownBlock};
pub use aside::{Command, Compacted, Note, TaskLine};
pub use control::{Asked, CanUseTool, ControlRequest, ControlResponse};

/// One line of the agent's.
#[derive(Debug)]
pub enum Line {
    /// A turn began (`system/init`); comes on every turn.
    Init(Init),
    /// A piece of the model's answer while it streams.
    Stream(StreamLine),
    /// A whole block of the model's answer.
    Assistant(AssistantLine),
    /// What goes back to the model: tool results, and texts that are not ours.
    User(Box<UserLine>),
    /// A turn ended.
    Result(Box<ResultLine>),
    /// The agent asks us something.
    ControlRequest(ControlRequest),
    /// The agent answers what we asked.
    ControlResponse(ControlResponse),
    /// The agent withdraws a question.
    ControlCancel {
        /// Which.
        request_id: String,
    },
    /// What became of a message that we gave an id.
    CommandLifecycle(CommandLifecycle),
    /// The model is asked again.
    ApiRetry(ApiRetry),
    /// The agent gave the session a title.
    Title {
        /// The title.
        title: String,
    },
    /// The slash commands changed.
    Commands {
        /// All of them.
        commands: Vec<Command>,
    },
    /// A sub-agent or background task began.
    TaskStarted(TaskLine),
    /// A sub-agent or background task changed.
    TaskUpdated(TaskLine),
    /// A sub-agent or background task ended.
    TaskEnded(TaskLine),
    /// All background tasks that live.
    Tasks {
        /// Replaces what was known.
        tasks: Vec<TaskLine>,
    },
    /// The conversation so far was summed up.
    Compacted(Compacted),
    /// Something for the user to read.
    Note(Note),
    /// Output of a slash command that ran without the model.
    CommandOutput {
        /// Markdown.
        content: String,
    },
    /// A tool was refused without asking us.
    PermissionDenied {
        /// The call.
        tool_use_id: String,
    },
    /// Known, and of no interest: progress, heartbeats, hooks.
    Quiet,
    /// Anything else, as it came.
    Unknown {
        /// `type` or `type/subtype`.
        kind: String,
        /// All of it.
        value: Value,
    },
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    subtype: Option<Cow<'a, str>>,
}

impl Line {
    /// Reads one line. An error means that it is not a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let head: Head = serde_json::from_slice(bytes)?;
        let kind = head.kind.as_deref().unwrap_or_default();
        let subtype = head.subtype.as_deref().unwrap_or_default();
        Ok(match (kind, subtype) {
            ("stream_event", _) => typed(bytes, kind, subtype, Self::Stream)?,
            ("assistant", _) => typed(bytes, kind, subtype, Self::Assistant)?,
            ("user", _) => typed(bytes, kind, subtype, |line| Self::User(Box::new(line)))?,
            ("result", _) => typed(bytes, kind, subtype, |line| Self::Result(Box::new(line)))?,
            ("control_request", _) => typed(bytes, kind, subtype, Self::ControlRequest)?,
            ("control_response", _) => typed(bytes, kind, subtype, |line: ControlResponseLine| {
                Self::ControlResponse(line.response)
            })?,
            ("control_cancel_request", _) => typed(bytes, kind, subtype, |line: RequestId| {
                Self::ControlCancel { request_id: line.request_id }
            })?,
            ("command_lifecycle", _) => typed(bytes, kind, subtype, Self::CommandLifecycle)?,
            ("system", "init") => typed(bytes, kind, subtype, Self::Init)?,
            ("system", "api_retry") => typed(bytes, kind, subtype, Self::ApiRetry)?,
            ("system", "session_title_changed") => {
                typed(bytes, kind, subtype, |line: Title| Self::Title { title: line.title })?
            }
            ("system", "commands_changed") => typed(bytes, kind, subtype, |line: Commands| {
                Self::Commands { commands: line.commands }
            })?,
            ("system", "task_started") => typed(bytes, kind, subtype, Self::TaskStarted)?,
            ("system", "task_updated") => typed(bytes, kind, subtype, Self::TaskUpdated)?,
            ("system", "task_notification") => typed(bytes, kind, subtype, Self::TaskEnded)?,
            ("system", "background_tasks_changed") => {
                typed(bytes, kind, subtype, |line: Tasks| Self::Tasks { tasks: line.tasks })?
            }
            ("system", "compact_boundary") => typed(bytes, kind, subtype, |line: Boundary| {
                Self::Compacted(line.compact_metadata)
            })?,
            (
                "system",
                "informational"
                | "notification"
                | "model_refusal_fallback"
                | "model_refusal_no_fallback"
                | "session_writes_lost"
                | "mirror_error",
            ) => typed(bytes, kind, subtype, |mut note: Note| {
                subtype.clone_into(&mut note.kind);
                Self::Note(note)
            })?,
            ("system", "local_command_output") => typed(bytes, kind, subtype, |line: Output| {
                Self::CommandOutput { content: line.content }
            })?,
            ("system", "permission_denied") => typed(bytes, kind, subtype, |line: Denied| {
                Self::PermissionDenied { tool_use_id: line.tool_use_id }
            })?,
            ("conversation_reset", _) => {
                Self::Note(Note { kind: kind.to_owned(), ..Note::default() })
            }
            ("rate_limit_event", _) => {
                typed(bytes, kind, subtype, |line: RateLimit| line.rate_limit_info.into_line())?
            }
            ("keep_alive" | "tool_progress" | "tool_use_summary" | "auth_status", _)
            | ("prompt_suggestion" | "active_goal", _)
            | (
                "system",
                "status" | "thinking_tokens" | "task_progress" | "session_state_changed",
            )
            | ("system", "hook_started" | "hook_progress" | "hook_response" | "files_persisted")
            | ("system", "control_request_progress" | "memory_recall" | "plugin_install")
            | ("system", "worker_shutting_down" | "elicitation_complete" | "stop_hook_summary") => {
                Self::Quiet
            }
            _ => unknown(bytes, kind, subtype)?,
        })
    }
}

/// A line of a known kind whose shape is not the known one is kept as it came.
fn typed<T: DeserializeOwned>(
    bytes: &[u8],
    kind: &str,
    subtype: &str,
    line: impl FnOnce(T) -> Line,
) -> Result<Line, serde_json::Error> {
    match serde_json::from_slice(bytes) {
        Ok(known) => Ok(line(known)),
        Err(error) => {
            tracing::warn!(kind, subtype, %error, "a line of Claude Code has a shape we do not know");
            unknown(bytes, kind, subtype)
        }
    }
}

fn unknown(bytes: &[u8], kind: &str, subtype: &str) -> Result<Line, serde_json::Error> {
    let kind = if subtype.is_empty() { kind.to_owned() } else { format!("{kind}/{subtype}") };
    Ok(Line::Unknown { kind, value: serde_json::from_slice(bytes)? })
}

/// `system/init`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Init {
    /// The agent's id of the session; another than before after `/clear`.
    pub session_id: String,
    /// The model that answers.
    pub model: String,
}

/// `stream_event`.
#[derive(Debug, Deserialize)]
pub struct StreamLine {
    /// The event of the model's API, as it is.
    pub event: ApiEvent,
    /// The call under which a sub-agent says this.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
}

/// `assistant`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AssistantLine {
    /// The blocks that are whole now.
    pub message: ApiMessage,
    /// The call under which a sub-agent says this.
    pub parent_tool_use_id: Option<String>,
    /// The id it has in the history file.
    pub uuid: Option<String>,
    /// The user stopped it.
    pub aborted: bool,
    /// Not the model's words, but why it could not be asked.
    #[serde(alias = "isApiErrorMessage")]
    pub is_api_error_message: bool,
    /// What kind of failure.
    pub error: Option<Value>,
}

/// `user`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct UserLine {
    /// Tool results, or a text.
    pub message: ApiMessage,
    /// The call under which a sub-agent gets this.
    pub parent_tool_use_id: Option<String>,
    /// The id it has in the history file.
    pub uuid: Option<String>,
    /// Said again because we said it.
    #[serde(rename = "isReplay")]
    pub is_replay: bool,
    /// Not typed by anybody.
    #[serde(rename = "isSynthetic", alias = "isMeta")]
    pub is_synthetic: bool,
    /// What the tool gave back, in its own shape.
    #[serde(alias = "toolUseResult")]
    pub tool_use_result: Option<Value>,
    /// How the permission of each result was decided.
    pub tool_result_meta: Vec<ResultMeta>,
}

/// How the permission of a result was decided.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResultMeta {
    /// The call.
    pub id: String,
    /// Why the tool did not run.
    pub non_execution_kind: Option<String>,
    /// The decision.
    pub permission_decision: Option<Decision>,
}

/// A decision about a permission.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// `accept` or `reject`.
    pub decision: String,
}

/// `result`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResultLine {
    /// `success` also for an API failure: do not test this.
    pub subtype: String,
    /// Whether the turn failed or was stopped.
    pub is_error: bool,
    /// The last words, or the failure.
    pub result: Option<String>,
    /// What went wrong.
    pub errors: Vec<Value>,
    /// Why the last message ended.
    pub stop_reason: Option<String>,
    /// Why the turn ended.
    pub terminal_reason: Option<String>,
    /// The status the model's API answered with.
    pub api_error_status: Option<u16>,
    /// What the turn cost, in tokens.
    pub usage: Option<ApiUsage>,
    /// What the session has cost, in money.
    pub total_cost_usd: Option<f64>,
    /// By model, over the whole session.
    #[serde(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// By model, since the last result.
    pub model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
}

/// What one model has cost.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsage {
    /// Money.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// Tokens that fit.
    pub context_window: Option<u64>,
}

/// `command_lifecycle`.
#[derive(Debug, Deserialize)]
pub struct CommandLifecycle {
    /// The id we gave the message.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`.
    pub state: String,
}

/// `system/api_retry`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ApiRetry {
    /// Counted from one.
    pub attempt: u32,
    /// At most.
    pub max_retries: u32,
    /// Until then.
    pub retry_delay_ms: f64,
    /// The status the model's API answered with.
    pub error_status: Option<u16>,
}

#[derive(Deserialize)]
struct ControlResponseLine {
    response: ControlResponse,
}

#[derive(Deserialize)]
struct RequestId {
    request_id: String,
}

#[derive(Deserialize)]
struct Title {
    title: String,
}

#[derive(Deserialize)]
struct Commands {
    commands: Vec<Command>,
}

#[derive(Deserialize)]
struct Tasks {
    tasks: Vec<TaskLine>,
}

#[derive(Deserialize)]
struct Boundary {
    compact_metadata: Compacted,
}

#[derive(Deserialize)]
struct Output {
    content: String,
}

#[derive(Deserialize)]
struct Denied {
    tool_use_id: String,
}

#[derive(Deserialize)]
struct RateLimit {
    rate_limit_info: RateLimitInfo,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RateLimitInfo {
    status: String,
    rate_limit_type: Option<String>,
}

impl RateLimitInfo {
    fn into_line(self) -> Line {
        if self.status == "allowed" || self.status.is_empty() {
            return Line::Quiet;
        }
        let which = self.rate_limit_type.unwrap_or_else(|| "usage".to_owned()).replace('_', "-");
        let content = match self.status.as_str() {
            "rejected" => format!("The {which} limit is used up."),
            _ => format!("Close to the {which} limit."),
        };
        Line::Note(Note {
            kind: "rate_limit".to_owned(),
            content: Some(content),
            level: Some("warning".to_owned()),
            ..Note::default()
        })
    }
}
