//! Stories about the real program: the real binary, a real socket, real files. One test binary, for link time.
//!
//! A story reads like what a user would tell. Ports, temporary homes and JSON are hidden in `support`; if a story
//! needs a raw frame, `support` lacks a verb.

// Stories fail by panicking; what a helper unwraps is part of the story.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod acceptance;
mod agents;
mod commands;
mod damaged_files;
mod dependencies;
mod door;
mod full_disk;
mod history;
mod house_rules;
mod http_sessions;
mod lifecycle;
mod malformed_messages;
mod outside;
mod page;
mod projects;
mod questions;
mod removal;
mod session_list;
mod sessions;
mod starting_and_stopping;
mod support;
mod survival;
mod watching;
