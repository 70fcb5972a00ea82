//! What the agent says about itself, and how far it keeps to the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, is_default};

/// What the agent is and offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// Its name on the wire.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version.
    pub version: String,
    /// Which model it claims to be.
    pub model: String,
    /// What `session/load` does.
    pub load: Replay,
    /// Whether `session/resume` is offered.
    pub resume: bool,
    /// The modes of a session, the first being the one it starts in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<SessionMode>,
    /// Commands it tells of after a session was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SlashCommand>,
    /// How to log in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auth_methods: Vec<Choice>,
    /// Refuses every new session. The Claude face says the words on stderr and ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_new: Option<Failure>,
    /// ACP: refuses to initialize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_initialize: Option<Failure>,
    /// Sends no `messageId` with its chunks.
    #[serde(skip_serializing_if = "is_default")]
    pub no_message_ids: bool,
    /// Sends its commands' output in `_meta.terminal_output_delta`, as codex does, and not as content.
    #[serde(skip_serializing_if = "is_default")]
    pub terminal_meta: bool,
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
            commands: Vec::new(),
            auth_methods: Vec::new(),
            refuse_new: None,
            refuse_initialize: None,
            no_message_ids: false,
            terminal_meta: false,
            sessions: Vec::new(),
        }
    }
}

/// What `session/load` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// It is not offered.
    No,
    /// Tells the history, then answers.
    #[default]
    BeforeAnswer,
    /// Answers, then tells the history.
    AfterAnswer,
}

/// A mode of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionMode {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A command a user may type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
}

/// Something to choose: an answer to a permission, a way to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its id.
    pub id: String,
    /// Its words.
    pub name: String,
    /// Of a permission: `allow_once`, `allow_always`, `reject_once`, `reject_always`, or anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// More words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A session from before: what `session/load` replays, as `session/update` updates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeededSession {
    /// Its id.
    pub id: String,
    /// Whole `update` objects, in order.
    pub updates: Vec<Value>,
}
