//! The command that prepares a new worktree. The first message waits for it, or until the user starts anyway.

use liminal_contract::{FactsChange, Setup, SetupAct, SetupState};
use tokio::task::AbortHandle;

use super::super::session::Reply;
use super::{Done, SessionTask};
use crate::changes::Look;
use crate::failure::Failure;
use crate::workspaces::Ended;

/// Dropping it ends the command.
pub(super) struct SetupUnderWay(AbortHandle);

impl Drop for SetupUnderWay {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl SessionTask {
    pub(super) fn set_up(&mut self, command: String) {
        let (state, output) = (SetupState::Running, String::new());
        self.setup_is(Setup { command: command.clone(), state, output, exit_code: None });
        let (around, back) = (self.around.clone(), self.inbox.back.clone());
        let directory = around.directory(&self.facts.record);
        let running = tokio::spawn(async move {
            let said = |output| {
                let _task_ended = back.send(Done::SetupSaid(output));
            };
            let ended = around.workspaces.set_up(&directory, &command, said).await;
            let _task_ended = back.send(Done::SetUp(ended));
        });
        self.under_way.setup = Some(SetupUnderWay(running.abort_handle()));
    }

    pub(super) fn setup_said(&mut self, output: String) {
        if let Some(setup) = self.facts.shared.setup.clone() {
            self.setup_is(Setup { output, ..setup });
        }
    }

    /// Ends the command: its directory may go.
    pub(super) fn end_setup(&mut self) {
        if self.under_way.setup.is_some() {
            let output = self.facts.shared.setup.as_ref().map(|setup| setup.output.clone());
            let output = output.unwrap_or_default();
            self.setup_ended(Ended { output, exit_code: None });
        }
    }

    pub(super) fn setup_ended(&mut self, ended: Ended) {
        self.under_way.setup = None;
        let Some(setup) = self.facts.shared.setup.clone() else { return };
        let Ended { output, exit_code } = ended;
        let state = match (setup.state, exit_code) {
            (SetupState::Skipped, _) => SetupState::Skipped,
            (_, Some(0)) => SetupState::Done,
            (_, Some(_) | None) => SetupState::Failed,
        };
        self.setup_is(Setup { state, output, exit_code, ..setup });
        self.look_around(Look::Place);
        self.checkpoint_once_set_up();
        self.deliver_prompt();
    }

    pub(super) fn act_on_setup(&mut self, act: SetupAct, reply: Reply<()>) {
        let done = match (self.facts.shared.setup.clone(), act) {
            (Some(setup), SetupAct::Skip) => {
                if setup.state != SetupState::Done {
                    self.setup_is(Setup { state: SetupState::Skipped, ..setup });
                }
                self.checkpoint_once_set_up();
                self.deliver_prompt();
                Ok(())
            }
            (Some(setup), SetupAct::Again) if self.under_way.setup.is_none() => {
                self.set_up(setup.command);
                Ok(())
            }
            // It runs already.
            (Some(_), SetupAct::Again) => Ok(()),
            (None, _) => {
                let what = "This session has no setup command.";
                Err(Failure::invalid(what).about(self.facts.id().clone()))
            }
        };
        self.reply_when_saved(reply, done);
    }

    fn setup_is(&mut self, setup: Setup) {
        if self.facts.shared.setup.as_ref() != Some(&setup) {
            self.facts.shared.setup = Some(setup.clone());
            self.facts_changed(FactsChange { setup: Some(setup), ..FactsChange::default() });
        }
    }
}
