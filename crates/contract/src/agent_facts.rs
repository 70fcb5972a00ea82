//! Facts about the agent itself and what it runs beside the conversation.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The program that the session talks to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AgentFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whose account it uses, or how it is logged in, for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    pub mcp: Vec<McpServer>,
    /// They can be reconnected and switched on and off.
    pub controls_mcp: bool,
}

/// A server of tools that the agent uses. How it is started is not for browsers: it may contain secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct McpServer {
    pub name: String,
    pub state: McpState,
    /// In the agent's words, without anything from the server's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many tools it offers, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum McpState {
    Connected,
    Connecting,
    Failed,
    /// It needs a login.
    NeedsLogin,
    Disabled,
    /// The agent was told of it, and says nothing about its state.
    Unreported,
    /// This agent can't use a server of this kind.
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum McpAct {
    Reconnect,
    Enable,
    Disable,
}

/// A command or a sub-agent that runs beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AgentTask {
    /// The agent's own id.
    pub id: String,
    /// What it does.
    pub name: String,
    pub kind: TaskKind,
    pub state: TaskState,
    /// The turn waits for it.
    #[serde(default)]
    pub in_turn: bool,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TaskKind {
    Command,
    SubAgent,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TaskState {
    Running,
    Completed,
    Failed,
    Stopped,
    /// The agent's process ended first.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TaskAct {
    Stop,
    /// The turn continues without waiting for it.
    Background,
    /// Read what it has written; the reply is `session:task-output`.
    Output,
}
