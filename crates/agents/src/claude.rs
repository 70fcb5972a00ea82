//! Claude Code, natively: one persistent `claude` process per session, stream-json both ways.
//!
//! `wire` has the lines as types; `normalise` turns them into canonical events without any I/O, with `tools` and `asks`
//! as its tables; `history` reads the agent's own files through the same normaliser; `session` owns one process and
//! its conversation, `start` how it is started; `trust` is what a project brings; `provider` is all of it by id.

mod asks;
mod history;
mod normalise;
mod provider;
mod session;
mod start;
mod tools;
mod trust;
mod wire;

pub use provider::{ClaudeOptions, ClaudeProvider};
pub use trust::Trust;
