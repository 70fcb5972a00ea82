//! Claude Code, natively: one persistent `claude` process per session, stream-json both ways.
//!
//! `wire` has the lines as types; `normalise` turns them into canonical events without any I/O, with `tools` and `asks`
//! as its tables; `history` reads the agent's own files through the same normaliser; `session` is one conversation;
//! `connect` and `start` start its process; `trust` checks the project's settings; `provider` finds sessions by id.

mod asks;
mod connect;
mod elsewhere;
mod history;
mod mcp;
mod normalise;
mod options;
mod provider;
mod session;
mod start;
mod tasks;
mod tools;
mod trust;
mod wire;

pub use provider::{ClaudeOptions, ClaudeProvider};
pub use start::config_dir;
pub use trust::Trust;
