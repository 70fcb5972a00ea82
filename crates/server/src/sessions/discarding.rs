//! Worktrees that are discarded or come back, as far as they concern sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use liminal_contract::{BranchFate, ChangeAct, Details, ServerMessage, SessionId};

use super::acting::Expected;
use super::service::SessionService;
use super::task::SessionRequest;
use crate::changes::root_of;
use crate::failure::Failure;
use crate::store::SessionRecord;

impl SessionService {
    /// The sessions that have one of these worktrees.
    pub(super) fn working_in(&self, roots: &[PathBuf]) -> Result<Vec<SessionRecord>, Failure> {
        let mut all = Vec::new();
        for id in self.around.sessions.ids()? {
            let record = self.around.sessions.get(&id)?;
            all.extend(record.filter(|record| {
                let at = record.worktree.as_ref().map(|worktree| Path::new(&worktree.path));
                at.is_some_and(|at| roots.iter().any(|root| root == at || *root == root_of(at)))
            }));
        }
        Ok(all)
    }

    /// No turn runs there, but agents that wait are still in the directory.
    pub(super) async fn end_agents_in(&self, roots: &[PathBuf]) -> Result<(), Failure> {
        for record in self.working_in(roots)? {
            self.ask_running(&record.id, SessionRequest::Kill).await?;
        }
        Ok(())
    }

    /// Their worktree came back on another branch.
    pub(super) async fn moved_to(&self, roots: &[PathBuf], branch: &str) -> Result<(), Failure> {
        for record in self.working_in(roots)? {
            let is_same = record.worktree.as_ref().is_some_and(|own| own.branch == branch);
            if is_same {
                continue;
            }
            let branch = branch.to_owned();
            let change = move |record: &mut SessionRecord| {
                if let Some(worktree) = &mut record.worktree {
                    worktree.branch = branch;
                }
            };
            let record = self.update(&record.id, change).await?;
            self.tell_changed(record).await;
        }
        Ok(())
    }

    /// Says that the place is gone, or back.
    pub(super) async fn look_around_in(self: &Arc<Self>, roots: &[PathBuf]) {
        for record in self.working_in(roots).unwrap_or_default() {
            self.look_around(&record.id).await;
        }
    }

    /// An act may have changed where the session works, and how much differs there.
    pub(super) async fn look_around(self: &Arc<Self>, session: &SessionId) {
        if let Err(failure) = self.ask(session, SessionRequest::LookAround).await {
            tracing::warn!(%session, failure.message, "its place was not read");
        }
    }

    /// Discards a session's worktree without a look at it before: a comparison or the session itself goes. One that is
    /// gone already is fine.
    pub(super) async fn discard_worktree(
        self: &Arc<Self>,
        session: &SessionId,
    ) -> Result<(), Failure> {
        let record = self.record(session)?;
        let Some(worktree) = &record.worktree else { return Ok(()) };
        if !Path::new(&worktree.path).is_dir() {
            return Ok(());
        }
        let act = ChangeAct::DiscardWorkspace { branch: BranchFate::Keep };
        let done = self.acted(session, &act, Expected::Anything).await?.done;
        let details = Details { undo: done.undo, ..Details::default() };
        self.note_act(session, done.summary, details).await;
        Ok(())
    }

    /// The worktrees that can be brought back.
    pub async fn discarded(&self) -> ServerMessage {
        let all = self.around.changes.discarded().all().await;
        let workspaces = all.into_iter().map(|about| about.shown).collect();
        ServerMessage::WorkspaceDiscarded { workspaces }
    }

    /// Deletes one of them for good.
    pub async fn forget_discarded(&self, saved: &str) -> Result<ServerMessage, Failure> {
        let discarded = self.around.changes.discarded();
        let about = discarded.find(saved).await?;
        let _nobody_else = self.around.changes.acting(Path::new(&about.shown.path)).await;
        discarded.forget(&discarded.find(saved).await?).await?;
        Ok(self.discarded().await)
    }

    /// Deletes those whose time is up.
    pub(super) async fn sweep_discarded(&self) {
        let now = SystemTime::now();
        self.around.changes.discarded().forget_the_rest().await;
        let all = self.around.changes.discarded().all().await;
        for about in all.into_iter().filter(|about| about.is_over(now)) {
            match self.forget_discarded(&about.shown.saved).await {
                Ok(_) => tracing::info!(path = about.shown.path, "a discarded worktree is gone"),
                Err(failure) => tracing::warn!(failure.message, "a worktree was not deleted"),
            }
        }
    }
}
