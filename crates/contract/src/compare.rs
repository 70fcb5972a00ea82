//! Comparisons: one message to several agents, each in a worktree of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CliType, OptionValue, Policy, ProjectId, SessionId, Timestamp};

/// One that takes part. The same agent may take part several times, with other options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct CompareAgent {
    pub cli_type: CliType,
    /// As in `session:create`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, OptionValue>>"))]
    pub options: BTreeMap<String, OptionValue>,
    /// Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// One message to several agents. Each answers in an ordinary session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Compare {
    pub id: String,
    pub project_id: ProjectId,
    /// The message, in Markdown.
    pub content: String,
    /// The branch that the worktrees were made from. Absent: a commit without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    pub started_at: Timestamp,
    /// In the order in which the user chose them.
    pub members: Vec<CompareMember>,
    /// The session that the user chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<SessionId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct CompareMember {
    #[serde(flatten)]
    pub agent: CompareAgent,
    #[serde(flatten)]
    pub state: MemberState,
}

/// How far one of a comparison is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum MemberState {
    /// Its worktree and its session are being made.
    Starting {},
    /// The session has the message, or says why not.
    Started { session_id: SessionId },
    /// There is no session.
    Failed { message: String },
    /// The user kept another: its session is archived, its worktree removed.
    Discarded { session_id: SessionId },
}

impl MemberState {
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Started { session_id } | Self::Discarded { session_id } => Some(session_id),
            Self::Starting {} | Self::Failed { .. } => None,
        }
    }
}
