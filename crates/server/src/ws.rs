//! The socket: one connection per browser, JSON text both ways.
//!
//! Owns no conversation. `inbound` reads what a browser says, `dispatch` hands it to who answers, `outbox` is what
//! waits to be written, `hub` knows all connections, `connection` ties them to a WebSocket.

mod connection;
mod dispatch;
mod hub;
mod inbound;
pub mod outbox;
mod reply;
mod sessions;

pub use connection::{MOST_DRAINED, serve};
pub use hub::{Client, Hub};
pub use outbox::{Closing, Outbox};
pub use reply::Reply;
