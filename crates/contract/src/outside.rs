//! Sessions that agents' own programs keep.

use serde::{Deserialize, Serialize};

use crate::{CliType, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct OutsideSession {
    pub cli_type: CliType,
    /// The agent's own id. Adopted, the session is called `{cliType}:{ref}` here.
    #[serde(rename = "ref")]
    pub agent_ref: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Of the program that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub began: Timestamp,
    pub changed: Timestamp,
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}

/// A directory in which agents worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutsideDirectory {
    pub path: String,
    /// How many sessions.
    pub count: usize,
    /// The newest of them.
    pub changed: Timestamp,
}
