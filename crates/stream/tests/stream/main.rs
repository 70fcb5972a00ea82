//! Tests what the stream crate promises: the specified default, paced batching, events out of order, the limits, the
//! wire form, and properties of any sequence of events.

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
