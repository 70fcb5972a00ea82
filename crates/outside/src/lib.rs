//! Sessions that were made outside: by an agent's own program, in a terminal.
//!
//! Owns where Claude Code and Codex keep them and what their files say at the beginning and at the end; never reads
//! one whole, never writes one. [`Index`] remembers what was read by length and time of change, so that looking again
//! reads only what changed. Knows no session of ours.

mod claude;
mod codex;
mod ends;
mod index;
mod owners;

use std::path::PathBuf;

use liminal_contract::Timestamp;
use serde::{Deserialize, Serialize};

pub use claude::keeps_for;
pub use index::Index;
pub use owners::{Owners, root_of};

/// Longer titles are cut; a first message may have any length.
const TITLE_CHARS: usize = 200;

/// A place where one program keeps its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Claude Code's configuration directory (`~/.claude`).
    Claude(PathBuf),
    /// Codex's home (`~/.codex`).
    Codex(PathBuf),
}

/// A session that a program keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The agent's own id.
    pub agent_ref: String,
    /// Where the agent worked when it began.
    pub cwd: PathBuf,
    /// The one that was given, else the first message's first line.
    pub title: String,
    /// The first message's first line, if it is not the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Of the program that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub began: Timestamp,
    /// When the file last changed.
    pub changed: Timestamp,
    pub bytes: u64,
}

/// Whether a program of ours would give a session this id. Other spellings of the same one would make it two sessions.
fn is_id(text: &str) -> bool {
    // As long as the form with hyphens, which no other is.
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// A name that the page shows, cut.
fn brief(name: &str) -> Option<String> {
    Some(name.chars().take(TITLE_CHARS).collect()).filter(|name: &String| !name.is_empty())
}

/// The first line with words in it, cut.
fn title_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(TITLE_CHARS).collect())
}
