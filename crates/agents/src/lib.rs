//! Everything about agents: which ones exist (`catalogue`), how one is driven (`provider`), how programs are run
//! (`process`) and kept running (`lifecycle`), and what can go wrong (`error`).
//!
//! This crate knows nothing about HTTP and storage.

pub mod acp;
pub mod asked;
pub mod catalogue;
pub mod claude;
mod conversation;
mod error;
mod form;
pub mod lifecycle;
mod modes;
mod picture;
pub mod process;
mod prompt;
mod provider;
mod registry;
mod secrets;

pub use error::ProviderError;
pub use form::content as form_content;
pub use prompt::{AgentPrompt, Attached, Picture};
pub use provider::{
    Charge, CliProvider, Elsewhere, Fork, ForkPlace, History, ListedSession, LoadSession, Metered,
    NewSession, OptionChange, Output, ProviderSession, StatusChange, TaskOutput, auto_answer,
};
pub use registry::ProviderRegistry;
