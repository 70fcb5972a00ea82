//! The terminals of one session, and the calls that show them.

use std::collections::HashMap;
use std::sync::Arc;

use agent_client_protocol_schema::v1::TerminalExitStatus;
use liminal_contract::{Timestamp, TurnId};
use tokio::time::Instant;

use super::{AcpVoice, Session};
use crate::acp::terminal::Terminal;
use crate::{Charge, Output};

/// Terminals by the id we gave them.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    made: u64,
    open: HashMap<String, OpenTerminal>,
}

#[derive(Debug)]
struct OpenTerminal {
    /// The turn that created it; stopping that turn ends the command.
    turn: Option<TurnId>,
    command: Command,
    target: OutputTarget,
    /// Absent until the agent learnt it, and if a signal ended the command.
    exit_code: Option<i32>,
}

#[derive(Debug)]
enum Command {
    Starting,
    /// The turn was stopped before the command was running.
    NotWanted,
    Running(Arc<Terminal>),
}

/// How many unreleased terminals a session may have.
const MOST: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoTerminal {
    #[error("The session has {MOST} terminals already; release one first")]
    TooMany,
    #[error("The user stopped the turn")]
    Stopped,
}

/// Where a terminal's output goes.
#[derive(Debug)]
enum OutputTarget {
    Buffer { so_far: String },
    Call { call: String },
}

/// How much output is kept until a call shows it, in bytes.
const UNSHOWN: usize = 1 << 20;

impl Session {
    /// Reserves the id of a new terminal.
    pub fn new_terminal(&self) -> Result<String, NoTerminal> {
        let mut made = Err(NoTerminal::Stopped);
        self.talk.say(None, |step| {
            if step.turns.stopping().is_none() {
                let turn = step.voice.normaliser.turn().cloned();
                made = step.voice.terminals.make(turn);
            }
            Vec::new()
        });
        made
    }

    /// The command is running. Ends it if the turn was stopped or the terminal released meanwhile.
    pub fn opened_terminal(&self, id: &str, terminal: Arc<Terminal>) {
        self.talk.with(|voice| {
            let Some(open) = voice.terminals.open.get_mut(id) else { return end(terminal) };
            if matches!(open.command, Command::NotWanted) {
                end(Arc::clone(&terminal));
            }
            open.command = Command::Running(terminal);
        });
    }

    pub fn terminal(&self, id: &str) -> Option<Arc<Terminal>> {
        self.talk.with(|voice| voice.terminals.open.get(id)?.running().cloned())
    }

    /// All terminals whose commands may be running.
    pub fn terminals(&self) -> Vec<Arc<Terminal>> {
        self.talk.with(|voice| {
            voice.terminals.open.values().filter_map(OpenTerminal::running).cloned().collect()
        })
    }

    /// Removes a terminal and ends its command. Returns whether there was one.
    pub fn release_terminal(&self, id: &str) -> bool {
        match self.talk.with(|voice| voice.terminals.open.remove(id)) {
            Some(open) => {
                open.running().cloned().into_iter().for_each(end);
                true
            }
            None => false,
        }
    }

    /// Handles output of a terminal's command.
    pub fn terminal_grew(&self, id: &str, text: String, charge: Charge) {
        self.talk.say(Some(charge), |step| {
            let voice = step.voice;
            let Some(open) = voice.terminals.open.get_mut(id) else { return Vec::new() };
            match &mut open.target {
                OutputTarget::Buffer { so_far } => {
                    so_far.push_str(&text);
                    let over = so_far.len().saturating_sub(UNSHOWN);
                    so_far.drain(..so_far.ceil_char_boundary(over));
                    Vec::new()
                }
                OutputTarget::Call { call } => {
                    voice.heard = Instant::now();
                    voice.normaliser.terminal_output(call, text, step.at)
                }
            }
        });
    }

    /// The agent learns how a terminal's command ended; the call that shows it must know before the agent ends it.
    pub fn terminal_ended(&self, id: &str, exit: &TerminalExitStatus) {
        let code = exit.exit_code.and_then(|code| i32::try_from(code).ok());
        self.talk.say(None, |step| {
            let voice = step.voice;
            let open = voice.terminals.open.get_mut(id);
            let (Some(code), Some(open)) = (code, open) else { return Vec::new() };
            if open.exit_code.replace(code).is_some() {
                return Vec::new(); // It asked again.
            }
            match &open.target {
                OutputTarget::Buffer { .. } => Vec::new(),
                OutputTarget::Call { call } => voice.normaliser.terminal_ended(call, code, step.at),
            }
        });
    }
}

impl AcpVoice {
    /// Passes earlier output on to the calls that have begun to show its terminal.
    pub(super) fn show_terminals(&mut self, at: Timestamp, outputs: &mut Vec<Output>) {
        for shown in self.normaliser.take_shown() {
            // Agents also name their own terminals here, whose output arrives another way.
            let Some(open) = self.terminals.open.get_mut(&shown.terminal) else { continue };
            let target = OutputTarget::Call { call: shown.call.clone() };
            match std::mem::replace(&mut open.target, target) {
                OutputTarget::Buffer { so_far } if !so_far.is_empty() => {
                    outputs.extend(self.normaliser.terminal_output(&shown.call, so_far, at));
                }
                OutputTarget::Buffer { .. } | OutputTarget::Call { .. } => {}
            }
            if let Some(code) = open.exit_code {
                outputs.extend(self.normaliser.terminal_ended(&shown.call, code, at));
            }
        }
    }
}

impl OpenTerminal {
    fn running(&self) -> Option<&Arc<Terminal>> {
        match &self.command {
            Command::Running(terminal) => Some(terminal),
            Command::Starting | Command::NotWanted => None,
        }
    }
}

impl Terminals {
    fn make(&mut self, turn: Option<TurnId>) -> Result<String, NoTerminal> {
        if self.open.len() >= MOST {
            return Err(NoTerminal::TooMany);
        }
        self.made += 1;
        let id = format!("term_{}", self.made);
        let target = OutputTarget::Buffer { so_far: String::new() };
        self.open.insert(
            id.clone(),
            OpenTerminal { turn, command: Command::Starting, target, exit_code: None },
        );
        Ok(id)
    }

    /// Ends the commands that a stopped turn started. Their output stays until the agent releases it.
    pub fn stop_turn(&mut self, turn: Option<&TurnId>) {
        for open in self.open.values_mut().filter(|open| open.turn.as_ref() == turn) {
            match &open.command {
                Command::Running(terminal) => end(Arc::clone(terminal)),
                Command::Starting | Command::NotWanted => open.command = Command::NotWanted,
            }
        }
    }

    pub fn release_all(&mut self) {
        self.open.drain().filter_map(|(_, open)| open.running().cloned()).for_each(end);
    }
}

/// Ends a terminal without waiting for it.
fn end(terminal: Arc<Terminal>) {
    tokio::spawn(async move { terminal.kill().await });
}
