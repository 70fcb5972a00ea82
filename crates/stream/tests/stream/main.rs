//! What the stream crate promises, as tests: the specified default, paced batching, what comes out of turn, the
//! limits, the wire form, and properties over any sequence of events.

// All of this is test code; clippy only knows the functions marked as tests.
#![allow(clippy::unwrap_used)]

mod envelope;
mod late;
mod paced;
mod properties;
mod size;
mod specified;
mod support;
mod untidy;
