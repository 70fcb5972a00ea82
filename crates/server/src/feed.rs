//! Everything sent to browsers: the outbox of each connection, and the hub that reaches all of them.
//!
//! Doesn't know how sessions or sockets work: `sessions` puts frames in, `ws` takes texts out.

mod hub;
mod lanes;
mod outbox;
mod stirred;

pub use hub::{Client, Hub};
pub use lanes::Place;
pub use outbox::{Closing, Follow, Outbox, Reading, SharedTail, Tail, Update};
