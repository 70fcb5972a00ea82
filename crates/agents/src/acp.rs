//! Agents that speak the Agent Client Protocol, version 1, over their standard streams.
//!
//! Our own JSON-RPC connection over the schema crate's types. What an agent says becomes canonical stream events
//! (`normalise`); what it asks for is done here (`fs`, `terminal`, `permissions`). How a process is run and kept is
//! not known here (`process`, `lifecycle`).

mod agent;
mod attach;
mod connect;
mod connection;
mod envelope;
mod fs;
mod link;
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
