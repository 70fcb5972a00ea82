//! The socket: one connection per browser, JSON text both ways.
//!
//! Owns no session. `inbound` parses requests, `dispatch` decides which part answers, `projects` and `sessions` turn
//! requests into calls and results into messages, `connection` connects a `feed` client to a WebSocket.

mod changes;
mod connection;
mod dispatch;
mod files;
mod inbound;
mod outside;
mod projects;
mod reply;
mod search;
mod sessions;

pub use connection::serve;
