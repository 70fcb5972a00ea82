//! Agents that speak the Agent Client Protocol, version 1, over their standard streams.
//!
//! Our own JSON-RPC connection over the schema crate's types. An agent's messages become canonical stream events
//! (`normalise`); its requests are served here (`fs`, `terminal`, `permissions`). Running the process is not done here
//! but in `process` and `lifecycle`.

mod agent;
mod attach;
mod connect;
mod connection;
mod envelope;
mod fs;
mod link;
mod list;
mod login;
mod normalise;
mod permissions;
mod provider;
mod serve;
mod session;
mod shared;
mod terminal;
mod turn_end;

pub use agent::{AcpAgent, Patience};
pub use provider::{AcpHost, AcpProvider};
