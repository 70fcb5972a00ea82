//! A model on loopback for tests: real agents ask it, and it answers what the prompt says (`script`).
//!
//! `http` is a small server, `messages` speaks the Messages API that Claude Code uses, `responses` the Responses API that
//! codex uses. Nothing of the product depends on this crate. Each connection has a thread: that is enough for tests.

mod http;
mod messages;
mod model;
mod responses;
mod script;

pub use http::Request;
pub use model::FakeModel;
