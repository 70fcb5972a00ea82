//! Drives both faces over their pipes, as a client would.

#[cfg(test)]
#[path = "faces/acp.rs"]
mod acp;
#[cfg(test)]
#[path = "faces/claude.rs"]
mod claude;
#[cfg(test)]
#[path = "faces/demo.rs"]
mod demo;
#[cfg(test)]
#[path = "faces/schema.rs"]
mod schema;
#[cfg(test)]
#[path = "faces/support.rs"]
mod support;
#[cfg(test)]
#[path = "faces/untidy.rs"]
mod untidy;
