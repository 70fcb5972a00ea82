//! A model on loopback for tests with real agents. The prompt scripts its answer (`script`).
//!
//! `http` is a small server; `messages` implements the Messages API for Claude Code, `responses` the Responses API for
//! codex. The product does not depend on this crate. One thread per connection is enough for tests.

mod http;
mod messages;
mod model;
mod responses;
mod script;

pub use http::Request;
pub use model::FakeModel;
