//! Checkpoints of the session's files: before the agent gets a message, and after each turn.

use std::time::Duration;

use liminal_contract::TurnId;
use liminal_git::{Checkpoint, GitError, Head};

use super::super::recorder::Step;
use super::super::session::Reply;
use super::{Done, SessionTask, Then};
use crate::changes::Look;
use crate::journal::{Change, CheckpointRow, Moment};

/// How long a message waits for its checkpoint. After that the agent may have worked before it is complete.
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct CheckpointsUnderWay {
    count: usize,
    /// The turn whose message must wait.
    holds: Option<TurnId>,
}

/// The result of a checkpoint.
pub(super) struct Taken {
    turn: TurnId,
    moment: Moment,
    is_late: bool,
    result: Result<Checkpoint, GitError>,
}

impl CheckpointsUnderWay {
    pub fn hold_the_prompt(&self) -> bool {
        self.holds.is_some()
    }

    pub fn are_taken(&self) -> bool {
        self.count == 0
    }
}

impl SessionTask {
    /// Before the message of this turn is given to the agent.
    pub(super) fn checkpoint_before(&mut self, turn: &TurnId) {
        self.under_way.checkpoints.holds = Some(turn.clone());
        self.take_checkpoint(turn, Moment::Before, Some(PATIENCE));
    }

    /// The agent has begun already.
    pub(super) fn checkpoint_late(&mut self, turn: &TurnId) {
        self.take_checkpoint(turn, Moment::Before, Some(Duration::ZERO));
    }

    pub(super) fn checkpoint_after(&mut self, turn: &TurnId) {
        self.take_checkpoint(turn, Moment::After, None);
    }

    fn take_checkpoint(&mut self, turn: &TurnId, moment: Moment, patience: Option<Duration>) {
        self.under_way.checkpoints.count += 1;
        let (changes, back) = (self.around.changes.clone(), self.inbox.back.clone());
        let (turn, id) = (turn.clone(), self.facts.id().clone());
        let directory = self.around.directory(&self.facts.record);
        tokio::spawn(async move {
            // The agent gets nothing to do while an act changes its files.
            changes.settled(&directory).await;
            let mut taking = std::pin::pin!(changes.checkpoint(&id, &directory));
            let in_time = match patience {
                Some(patience) => tokio::time::timeout(patience, &mut taking).await.ok(),
                None => Some(taking.as_mut().await),
            };
            let is_late = in_time.is_none();
            let result = match in_time {
                Some(result) => result,
                None => {
                    let _task_ended = back.send(Done::CheckpointLate(turn.clone()));
                    taking.await
                }
            };
            let _task_ended =
                back.send(Done::Checkpointed(Taken { turn, moment, is_late, result }));
        });
    }

    pub(super) fn go_on_without_checkpoint(&mut self, turn: &TurnId) {
        if self.under_way.checkpoints.holds.take_if(|held| held == turn).is_some() {
            self.deliver_prompt();
        }
    }

    pub(super) fn checkpointed(&mut self, taken: Taken) {
        let Taken { turn, moment, is_late, result } = taken;
        self.under_way.checkpoints.count -= 1;
        match result {
            Ok(Checkpoint { tree, left_out, head: Head { branch, commit: head } }) => {
                if moment == Moment::After {
                    self.look_around(Look::Counts);
                }
                let left_out = left_out.iter().map(ToString::to_string).collect();
                let tree = tree.as_str().to_owned();
                let turn_id = turn.clone();
                let row = CheckpointRow { turn_id, moment, tree, is_late, left_out, branch, head };
                self.commit(Step::quiet(Change::Checkpoint(Box::new(row))), None);
            }
            Err(GitError::NotARepository) => {}
            Err(error) => {
                tracing::warn!(session = %self.facts.id(), %error, "no checkpoint could be taken");
            }
        }
        if moment == Moment::Before {
            self.go_on_without_checkpoint(&turn);
        }
    }

    pub(super) fn looked(&mut self, tree: String, reply: Reply<()>) {
        let (turn_id, moment) = (TurnId::new(""), Moment::Looked);
        let (is_late, left_out) = (false, Vec::new());
        let (branch, head) = (None, None);
        let row = CheckpointRow { turn_id, moment, tree, is_late, left_out, branch, head };
        let kept = move || {
            let _asker_left = reply.send(Ok(()));
        };
        let step = Step::quiet(Change::Checkpoint(Box::new(row)));
        self.commit(step, Some(Then::Call(Box::new(kept))));
    }
}
