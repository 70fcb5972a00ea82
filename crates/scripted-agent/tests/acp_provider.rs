//! The ACP provider against a real agent process.

#[cfg(test)]
#[path = "support/chat.rs"]
mod chat;
#[cfg(test)]
#[path = "acp/cut_emoji.rs"]
mod cut_emoji;
#[cfg(test)]
#[path = "acp/files_and_commands.rs"]
mod files_and_commands;
#[cfg(test)]
#[path = "acp/hostile.rs"]
mod hostile;
#[cfg(test)]
#[path = "acp/permissions.rs"]
mod permissions;
#[cfg(test)]
#[path = "acp/process.rs"]
mod process;
#[cfg(test)]
#[path = "acp/sessions.rs"]
mod sessions;
#[cfg(test)]
#[path = "acp/support.rs"]
mod support;
#[cfg(test)]
#[path = "acp/turns.rs"]
mod turns;
