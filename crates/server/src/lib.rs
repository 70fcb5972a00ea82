//! The server behind the page: configuration, the door, projects, sessions and their journal, search, the
//! socket and HTTP.
//!
//! A library so that every part can be tested by itself; `main.rs` only calls [`cli::run`].

pub mod agents;
pub mod app;
pub mod assets;
pub mod browser;
pub mod cli;
pub mod config;
pub mod data_dir;
pub mod doctor;
pub mod door;
pub mod failure;
pub mod http;
pub mod instance;
pub mod journal;
pub mod neighbour;
pub mod projects;
pub mod providers;
pub mod search;
pub mod serve;
pub mod sessions;
pub mod store;
pub mod ws;
