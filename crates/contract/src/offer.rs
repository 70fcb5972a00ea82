//! What a new session can start with.

use serde::{Deserialize, Serialize};

use crate::{Asks, CliType, SessionOption, SlashCommand};

/// What an agent offered in its last session here. It may offer something else by now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AgentOffer {
    pub cli_type: CliType,
    pub asks: Asks,
    /// Each with the value that a new session starts with.
    pub options: Vec<SessionOption>,
    pub commands: Vec<SlashCommand>,
    /// Absent until it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_pictures: Option<bool>,
}
