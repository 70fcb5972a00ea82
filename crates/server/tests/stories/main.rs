//! Stories about the real program: the real binary, a real socket, real files. One test binary, for link time.
//!
//! A story reads the way a user would tell it. Ports, temporary homes and JSON are hidden in `support`; if a story
//! needs a raw frame, `support` lacks a verb.

// Stories fail by panicking, and so do their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod acceptance;
mod acts;
mod adopting;
mod agents;
mod attachments;
mod beside;
mod branching;
mod changes;
mod commands;
mod comments;
mod comparing;
mod creating;
mod damaged_files;
mod dependencies;
mod discarding;
mod door;
mod edits;
mod elsewhere;
mod facts;
mod forms;
mod full_disk;
mod history;
mod house_rules;
mod http_sessions;
mod importing;
mod landing;
mod late_checkpoints;
mod lifecycle;
mod malformed_messages;
mod mentions;
mod now;
mod odd_repositories;
mod options;
mod order;
mod outside;
mod page;
mod projects;
mod pull_requests;
mod questions;
mod queue;
mod removal;
mod restoring;
mod rooms;
mod session_list;
mod sessions;
mod starting_and_stopping;
mod steering;
mod storage;
mod strain;
mod support;
mod survival;
mod usage;
mod watching;
mod workspaces;
mod worktrees;
