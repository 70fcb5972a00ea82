//! The server behind the page: configuration, the door, projects, sessions and their journal, search, the
//! socket and HTTP.
//!
//! A library so that every part can be tested by itself; `main.rs` only calls [`cli::run`]. What else is public is for
//! the example that makes a large data directory.

mod agents;
mod app;
mod assets;
mod browser;
pub mod cli;
mod config;
mod data_dir;
mod doctor;
mod door;
mod failure;
mod http;
mod instance;
pub mod journal;
mod neighbour;
mod projects;
mod providers;
pub mod search;
mod serve;
mod sessions;
pub mod store;
mod ws;
