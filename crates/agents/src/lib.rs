//! Everything about agents: what there are (`catalogue`), how one is driven (`provider`), how
//! programs are run (`process`) and kept running (`lifecycle`), and what can go wrong (`error`).
//!
//! This crate knows no HTTP and no storage.

pub mod acp;
pub mod catalogue;
pub mod claude;
mod error;
pub mod lifecycle;
mod picture;
pub mod process;
mod provider;
mod registry;

pub use error::ProviderError;
pub use provider::{
    Charge, CliProvider, History, LoadSession, Metered, NewSession, Output, ProviderSession,
    StatusChange, auto_answer,
};
pub use registry::ProviderRegistry;
