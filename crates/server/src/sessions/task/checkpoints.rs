//! Checkpoints of the session's files: before the agent gets a message, and after each turn.

use std::collections::HashSet;
use std::time::Duration;

use liminal_contract::TurnId;
use liminal_git::{Checkpoint, GitError, Head};

use super::super::recorder::Step;
use super::super::session::Reply;
use super::{Done, SessionTask};
use crate::changes::Look;
use crate::journal::{Change, CheckpointRow, Moment};

/// How long a message waits for its checkpoint. After that the agent may have worked before it is complete.
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct CheckpointsUnderWay {
    count: usize,
    holding: Holding,
    /// Turns that ended and whose last state is being recorded.
    ended: HashSet<TurnId>,
    /// Those of them after which the agent began to work again before that was done.
    overtaken: HashSet<TurnId>,
}

/// What a message waits for.
#[derive(Default)]
enum Holding {
    #[default]
    Nothing,
    /// What the setup command does to the files is not the turn's.
    UntilSetUp(TurnId),
    UntilTaken(TurnId),
}

/// How long a checkpoint may take to be exact.
enum Patience {
    /// Nothing waits for it.
    Endless,
    Until(Duration),
    /// The agent has begun already.
    None,
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
        !matches!(self.holding, Holding::Nothing)
    }

    pub fn are_taken(&self) -> bool {
        self.count == 0
    }

    /// The agent works, whatever is still being recorded.
    fn overtake(&mut self) {
        self.overtaken.extend(self.ended.drain());
    }
}

impl SessionTask {
    /// Before the message of this turn is given to the agent.
    pub(super) fn checkpoint_before(&mut self, turn: &TurnId) {
        self.under_way.checkpoints.holding = Holding::UntilSetUp(turn.clone());
        self.checkpoint_once_set_up();
    }

    pub(super) fn checkpoint_once_set_up(&mut self) {
        let Holding::UntilSetUp(turn) = &self.under_way.checkpoints.holding else { return };
        if !self.facts.is_being_set_up() {
            let turn = turn.clone();
            self.under_way.checkpoints.holding = Holding::UntilTaken(turn.clone());
            self.take_checkpoint(&turn, Moment::Before, Patience::Until(PATIENCE));
        }
    }

    /// The agent has begun already.
    pub(super) fn checkpoint_late(&mut self, turn: &TurnId) {
        self.under_way.checkpoints.overtake();
        self.take_checkpoint(turn, Moment::Before, Patience::None);
    }

    pub(super) fn checkpoint_after(&mut self, turn: &TurnId) {
        self.under_way.checkpoints.ended.insert(turn.clone());
        self.take_checkpoint(turn, Moment::After, Patience::Endless);
    }

    fn take_checkpoint(&mut self, turn: &TurnId, moment: Moment, patience: Patience) {
        self.under_way.checkpoints.count += 1;
        let (changes, back) = (self.around.changes.clone(), self.inbox.back.clone());
        let (turn, id) = (turn.clone(), self.facts.id().clone());
        let directory = self.around.directory(&self.facts.record);
        tokio::spawn(async move {
            // The agent gets nothing to do while an act changes its files.
            changes.settled(&directory).await;
            let mut taking = std::pin::pin!(changes.checkpoint(&id, &directory));
            let in_time = match patience {
                Patience::Endless => Some(taking.as_mut().await),
                Patience::Until(limit) => tokio::time::timeout(limit, &mut taking).await.ok(),
                Patience::None => None,
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

    /// The agent gets its message although the state before it is not recorded yet.
    pub(super) fn go_on_without_checkpoint(&mut self, turn: &TurnId) {
        if matches!(&self.under_way.checkpoints.holding, Holding::UntilTaken(held) if held == turn)
        {
            self.under_way.checkpoints.overtake();
            self.go_on(turn);
        }
    }

    fn go_on(&mut self, turn: &TurnId) {
        if matches!(&self.under_way.checkpoints.holding, Holding::UntilTaken(held) if held == turn)
        {
            self.under_way.checkpoints.holding = Holding::Nothing;
            self.deliver_prompt();
        }
    }

    pub(super) fn checkpointed(&mut self, taken: Taken) {
        let Taken { turn, moment, mut is_late, result } = taken;
        self.under_way.checkpoints.count -= 1;
        if moment == Moment::After {
            self.under_way.checkpoints.ended.remove(&turn);
            is_late |= self.under_way.checkpoints.overtaken.remove(&turn);
        }
        match result {
            Ok(Checkpoint { tree, left_out, head: Head { branch, commit: head } }) => {
                if moment == Moment::After {
                    self.look_around(Look::LastCounts);
                } else if self.facts.shared.workspace.is_none() {
                    // There was no repository when the session was opened.
                    self.look_around(Look::Place);
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
            self.go_on(&turn);
        }
    }

    pub(super) fn looked(&mut self, tree: String, left_out: Vec<String>, reply: Reply<()>) {
        let (turn_id, moment) = (TurnId::new(""), Moment::Looked);
        let (is_late, branch, head) = (false, None, None);
        let row = CheckpointRow { turn_id, moment, tree, is_late, left_out, branch, head };
        self.commit(Step::quiet(Change::Checkpoint(Box::new(row))), None);
        self.reply_when_saved(reply, Ok(()));
    }
}
