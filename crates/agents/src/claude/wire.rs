//! The lines Claude Code writes in stream-json, as types. Tolerant: an unknown kind or shape is kept unparsed
//! ([`Line::Unknown`]), never rejected. Knows nothing about turns and items.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

mod api;
mod aside;
mod control;

pub use api::{ApiEvent, ApiMessage, ApiUsage, Block, Content, Delta, INTERRUPTION, KnownBlock};
pub use aside::{Command, Compacted, LimitWindow, Note, RateLimitInfo, Status, TaskLine};
pub use control::{CanUseTool, ControlKind, ControlRequest, ControlResponse};

#[derive(Debug)]
pub enum Line {
    /// `system/init`: a turn began. Sent on every turn.
    Init(Init),
    /// A piece of the model's answer while it streams.
    Stream(StreamLine),
    /// A complete block of the model's answer.
    Assistant(AssistantLine),
    /// Sent back to the model: tool results, and texts that are not ours.
    User(Box<UserLine>),
    /// A turn ended.
    Result(Box<ResultLine>),
    /// The agent asks us something.
    ControlRequest(ControlRequest),
    /// The agent answers what we asked.
    ControlResponse(ControlResponse),
    /// The agent withdraws a question.
    ControlCancel { request_id: String },
    /// Progress of a message that we gave an id.
    CommandLifecycle(CommandLifecycle),
    /// A request to the model failed and is retried.
    ApiRetry(ApiRetry),
    /// The agent gave the session a title.
    Title { title: String },
    /// The slash commands changed.
    Commands { commands: Vec<Command> },
    /// A sub-agent or background task began.
    TaskStarted(TaskLine),
    /// A sub-agent or background task changed.
    TaskUpdated(TaskLine),
    /// A sub-agent or background task ended.
    TaskEnded(TaskLine),
    /// All live background tasks.
    Tasks {
        /// Replaces the previous list.
        tasks: Vec<TaskLine>,
    },
    /// What the agent is busy with between its messages.
    Status(Status),
    /// The conversation so far was summarised.
    Compacted(Compacted),
    /// The agent forgot the conversation so far.
    Cleared,
    /// How much of the account's limits is used.
    Limits(RateLimitInfo),
    /// A note to the user.
    Note(Note),
    /// Output of a slash command that ran without the model.
    CommandOutput {
        /// Markdown.
        content: String,
    },
    /// A tool was refused without asking us.
    PermissionDenied { tool_use_id: String },
    /// Known and ignored: progress, heartbeats, hooks.
    Quiet,
    /// Anything else, unparsed.
    Unknown {
        /// `type` or `type/subtype`.
        kind: String,
        /// The whole line.
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
    /// Fails only if the line is not a JSON object.
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
            ("system", "status") => typed(bytes, kind, subtype, Self::Status)?,
            ("conversation_reset", _) => Self::Cleared,
            ("rate_limit_event", _) => {
                typed(bytes, kind, subtype, |line: RateLimit| Self::Limits(line.rate_limit_info))?
            }
            ("keep_alive" | "tool_progress" | "tool_use_summary" | "auth_status", _)
            | ("prompt_suggestion" | "active_goal", _)
            | ("system", "thinking_tokens" | "task_progress" | "session_state_changed")
            | ("system", "hook_started" | "hook_progress" | "hook_response" | "files_persisted")
            | ("system", "control_request_progress" | "memory_recall" | "plugin_install")
            | ("system", "worker_shutting_down" | "elicitation_complete" | "stop_hook_summary") => {
                Self::Quiet
            }
            _ => unknown(bytes, kind, subtype)?,
        })
    }
}

/// Keeps a line of a known kind but unknown shape as `Unknown`.
fn typed<T: DeserializeOwned>(
    bytes: &[u8],
    kind: &str,
    subtype: &str,
    line: impl FnOnce(T) -> Line,
) -> Result<Line, serde_json::Error> {
    match serde_json::from_slice(bytes) {
        Ok(known) => Ok(line(known)),
        Err(error) => {
            tracing::warn!(kind, subtype, %error, "line from Claude Code has an unknown shape");
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
    /// The agent's id of the session; changes after `/clear`.
    pub session_id: String,
    pub model: String,
    #[serde(rename = "permissionMode")]
    pub permission_mode: String,
    /// Whatever is known of its MCP servers here; `mcp_status` has more.
    pub mcp_servers: Vec<Value>,
}

/// `stream_event`.
#[derive(Debug, Deserialize)]
pub struct StreamLine {
    pub event: ApiEvent,
    /// The call whose sub-agent sends this.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
}

/// `assistant`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AssistantLine {
    /// The blocks that are now complete.
    pub message: ApiMessage,
    /// The call whose sub-agent sends this.
    pub parent_tool_use_id: Option<String>,
    /// The id it has in the history file.
    pub uuid: Option<String>,
    /// Stopped by the user.
    pub aborted: bool,
    /// The content is an API error, not the model's words.
    #[serde(alias = "isApiErrorMessage")]
    pub is_api_error_message: bool,
    pub error: Option<Value>,
    /// Present if this is the output of a command that ran without the model.
    pub local_command_source: Option<String>,
    pub local_command_run: LocalCommand,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct LocalCommand {
    /// Without the slash.
    pub command: String,
    pub args: String,
}

/// `user`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct UserLine {
    /// Tool results, or a text.
    pub message: ApiMessage,
    /// The call whose sub-agent gets this.
    pub parent_tool_use_id: Option<String>,
    /// The id it has in the history file.
    pub uuid: Option<String>,
    /// An echo of our own message.
    #[serde(rename = "isReplay")]
    pub is_replay: bool,
    /// Not typed by the user.
    #[serde(rename = "isSynthetic", alias = "isMeta")]
    pub is_synthetic: bool,
    /// The tool's structured result, whose shape depends on the tool.
    #[serde(alias = "toolUseResult")]
    pub tool_use_result: Option<Value>,
    pub tool_result_meta: Vec<ResultMeta>,
}

/// How the permission of a result was decided.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResultMeta {
    pub id: String,
    /// Why the tool did not run.
    pub non_execution_kind: Option<String>,
    pub permission_decision: Option<Decision>,
}

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
    /// The final text, or the error.
    pub result: Option<String>,
    pub errors: Vec<Value>,
    /// Of the last message.
    pub stop_reason: Option<String>,
    /// Of the turn.
    pub terminal_reason: Option<String>,
    /// The status the model's API answered with.
    pub api_error_status: Option<u16>,
    /// Tokens of this turn.
    pub usage: Option<ApiUsage>,
    /// Cost of the whole session.
    pub total_cost_usd: Option<f64>,
    /// By model, over the whole session.
    #[serde(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// By model, since the last result.
    pub model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    /// The messages of ours that it answers. Empty for a turn that the agent began.
    pub user_message_uuids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsage {
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// In tokens.
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
    pub max_retries: u32,
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
