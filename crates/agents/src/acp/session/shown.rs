//! Terminals of one session, and the calls that show them.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Session, State, now};
use crate::Charge;
use crate::acp::terminal::Terminal;

/// Terminals by the id we gave them.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    made: u64,
    open: HashMap<String, Open>,
}

#[derive(Debug)]
struct Open {
    /// Absent while its command is being started.
    terminal: Option<Arc<Terminal>>,
    shown: Shown,
}

/// Where its output goes.
#[derive(Debug)]
enum Shown {
    /// No call shows it yet.
    NotYet { so_far: String },
    /// By this call.
    By { call: String },
}

/// Output that no call has shown yet is kept up to this.
const UNSHOWN: usize = 1 << 20;

impl Session {
    /// The id of a terminal that is to be.
    pub fn new_terminal(&self) -> String {
        let mut state = self.state();
        state.terminals.made += 1;
        let id = format!("term_{}", state.terminals.made);
        let shown = Shown::NotYet { so_far: String::new() };
        state.terminals.open.insert(id.clone(), Open { terminal: None, shown });
        id
    }

    /// Its command runs. If the session let go of it meanwhile it is ended.
    pub fn opened_terminal(&self, id: &str, terminal: Arc<Terminal>) {
        match self.state().terminals.open.get_mut(id) {
            Some(open) => open.terminal = Some(terminal),
            None => end(terminal),
        }
    }

    /// A terminal by its id.
    pub fn terminal(&self, id: &str) -> Option<Arc<Terminal>> {
        self.state().terminals.open.get(id).and_then(|open| open.terminal.clone())
    }

    /// Forgets a terminal and ends what runs in it. Whether there was one.
    pub fn release_terminal(&self, id: &str) -> bool {
        match self.state().terminals.open.remove(id) {
            Some(open) => {
                open.terminal.into_iter().for_each(end);
                true
            }
            None => false,
        }
    }

    /// A terminal's command wrote something.
    pub fn terminal_grew(&self, id: &str, text: String, charge: Charge) {
        let mut state = self.state();
        let Some(open) = state.terminals.open.get_mut(id) else { return };
        match &mut open.shown {
            Shown::NotYet { so_far } => {
                so_far.push_str(&text);
                let over = so_far.len().saturating_sub(UNSHOWN);
                so_far.drain(..so_far.ceil_char_boundary(over));
            }
            Shown::By { call } => {
                let call = call.clone();
                state.heard = Instant::now();
                let outputs = state.normaliser.terminal_output(&call, text, now());
                state.emit(outputs, Some(charge));
            }
        }
    }
}

impl State {
    /// Calls began to show terminals: what those wrote before belongs there.
    pub(super) fn show_terminals(&mut self) {
        for shown in self.normaliser.take_shown() {
            // Agents also name terminals of their own here, whose output comes by other ways.
            let Some(open) = self.terminals.open.get_mut(&shown.terminal) else { continue };
            let by = Shown::By { call: shown.call.clone() };
            match std::mem::replace(&mut open.shown, by) {
                Shown::NotYet { so_far } if !so_far.is_empty() => {
                    let outputs = self.normaliser.terminal_output(&shown.call, so_far, now());
                    self.emit(outputs, None);
                }
                Shown::NotYet { .. } | Shown::By { .. } => {}
            }
        }
    }
}

impl Terminals {
    /// Nobody needs them any more.
    pub fn release_all(&mut self) {
        self.open.drain().filter_map(|(_, open)| open.terminal).for_each(end);
    }
}

/// Ends a terminal without waiting for it.
fn end(terminal: Arc<Terminal>) {
    tokio::spawn(async move { terminal.kill().await });
}
