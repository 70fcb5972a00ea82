//! Sessions as running things: any number of browsers can watch, leave and come back, and every word is on disk
//! before it is seen.
//!
//! `service` is what the socket and HTTP call. `registry` keeps one handle per session in use, each owned by a
//! `task` that nobody else's lock can stop. `turn`, `transcript` and `title` are the task's pure parts, `view` turns
//! what the journal holds into what a browser gets. Nothing here knows a socket or a wire format.

mod aside;
mod export;
mod failures;
mod open;
mod output;
mod registry;
mod service;
mod session;
mod silence;
mod task;
mod title;
mod transcript;
mod turn;
mod view;

pub use export::Format;
pub use output::Output;
pub use service::{Send, SessionService, Surroundings};
pub use session::Open;

#[cfg(test)]
mod tests;
