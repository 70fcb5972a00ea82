//! The crate against real repositories.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod checkpoints;
mod committing;
mod landing;
mod links;
mod odd;
mod putting_away;
mod reading;
mod restoring;
mod scratch;
mod unreadable;
mod worktrees;
