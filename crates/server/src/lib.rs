//! The server behind the page: configuration, the door, projects, sessions and their journal, search, the
//! socket and HTTP.
//!
//! A library so that every part can be tested on its own; `main.rs` only calls [`cli::run`]. The other public modules
//! are for the example that generates a large data directory.

mod agents;
mod app;
mod assets;
mod attachments;
mod browser;
mod changes;
pub mod cli;
mod config;
mod data_dir;
mod doctor;
mod door;
mod failure;
mod feed;
mod files;
mod http;
mod instance;
pub mod journal;
mod keeping;
mod marks;
mod neighbour;
mod one_at_a_time;
mod outside;
mod projects;
mod providers;
mod replacement;
pub mod search;
mod serve;
mod sessions;
pub mod store;
mod terminal;
mod workspaces;
mod ws;
