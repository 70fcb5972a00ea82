//! What the agent reports about itself, and how closely it follows the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, is_default};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    pub name: String,
    /// The name shown to the user.
    pub title: String,
    pub version: String,
    /// The model it claims to use.
    pub model: String,
    pub load: Replay,
    /// Whether `session/resume` is offered.
    pub resume: bool,
    /// The first one is the mode of a new session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<SessionMode>,
    /// ACP: its `configOptions`. The Claude face has the models and efforts among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// Sent after a session was created.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SlashCommand>,
    /// How to log in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auth_methods: Vec<Choice>,
    /// Refuses every new session. The Claude face writes the message to stderr and ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_new: Option<Failure>,
    /// ACP: refuses every new session until the client calls `authenticate`.
    #[serde(skip_serializing_if = "is_default")]
    pub log_in_first: bool,
    /// ACP: refuses to initialize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_initialize: Option<Failure>,
    /// Sends no `messageId` with its chunks.
    #[serde(skip_serializing_if = "is_default")]
    pub no_message_ids: bool,
    /// Sends the output of commands in `_meta.terminal_output_delta`, as codex does, instead of as content.
    #[serde(skip_serializing_if = "is_default")]
    pub terminal_meta: bool,
    /// ACP: takes no pictures.
    #[serde(skip_serializing_if = "is_default")]
    pub no_pictures: bool,
    /// ACP: takes messages while a turn runs (`_session/steering`). The Claude face always does.
    #[serde(skip_serializing_if = "is_default")]
    pub steering: bool,
    /// ACP: offers `session/fork`. The Claude face always forks.
    #[serde(skip_serializing_if = "is_default")]
    pub fork: bool,
    /// Its MCP servers. Over ACP in `_meta.liminal`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<ScriptedServer>,
    /// Sessions it knows from before it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SeededSession>,
}

impl Default for About {
    fn default() -> Self {
        Self {
            name: "scripted-agent".into(),
            title: "Scripted".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model: "scripted-1".into(),
            load: Replay::BeforeAnswer,
            resume: true,
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
            auth_methods: Vec::new(),
            refuse_new: None,
            log_in_first: false,
            refuse_initialize: None,
            no_message_ids: false,
            terminal_meta: false,
            no_pictures: false,
            steering: false,
            fork: false,
            mcp: Vec::new(),
            sessions: Vec::new(),
        }
    }
}

/// An MCP server that it claims to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedServer {
    pub name: String,
    /// How many.
    #[serde(default)]
    pub tools: u32,
    /// As Claude Code reports it, secrets and all.
    #[serde(default)]
    pub config: Value,
    /// It can't connect, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// It is not offered.
    No,
    /// Sends the history, then answers.
    #[default]
    BeforeAnswer,
    /// Answers, then sends the history.
    AfterAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionMode {
    pub id: String,
    pub name: String,
}

/// One of its own switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentOption {
    pub id: String,
    pub name: String,
    /// `mode`, `model`, `thought_level`, or anything else.
    pub category: String,
    /// The value of a new session: a choice, `true` or `false`.
    pub value: Value,
    /// The choices; the agent refuses one of the kind `refused`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

impl AgentOption {
    /// Choices as pairs of id and name. The first is the value.
    pub fn new(id: &str, name: &str, category: &str, choices: &[(&str, &str)]) -> Self {
        let choice = |&(id, name): &(&str, &str)| Choice {
            id: id.into(),
            name: name.into(),
            kind: None,
            description: None,
        };
        Self {
            id: id.into(),
            name: name.into(),
            category: category.into(),
            value: choices.first().map_or(Value::Bool(false), |(first, _)| Value::from(*first)),
            choices: choices.iter().map(choice).collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
}

/// An answer to a permission, or a way to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub id: String,
    /// The label.
    pub name: String,
    /// For a permission: `allow_once`, `allow_always`, `reject_once`, `reject_always`, or anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A session from before the start, which `session/load` replays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeededSession {
    pub id: String,
    /// Complete `update` objects, in order.
    pub updates: Vec<Value>,
}
