//! Acts on changes, as far as they concern sessions: none while a turn runs in the same directory, and each leaves a
//! notice.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use liminal_contract::{
    ActPath, ChangeAct, ErrorCode, PathFate, ServerMessage, SessionId, SessionState,
};

use super::service::SessionService;
use super::task::SessionRequest;
use crate::changes::{ActPlace, Plan, Settled, root_of};
use crate::failure::Failure;

/// A base that moves while it is landed in is tried again, but not for ever.
const MOST_TRIES: usize = 3;

impl SessionService {
    /// What an act would do.
    pub async fn preview_act(
        self: &Arc<Self>,
        session: &SessionId,
        act: ChangeAct,
    ) -> Result<ServerMessage, Failure> {
        let about = |failure: Failure| failure.about(session.clone());
        let place = self.act_place(session).await?;
        self.check_idle(&[root_of(&place.directory)]).await.map_err(about)?;
        let plan = self.around.changes.plan(&place, session, &act).await.map_err(about)?;
        let Plan { mut preview, expect, deed, .. } = plan;
        let offers = |path: &ActPath| !matches!(path.what, PathFate::Leave | PathFate::Conflict);
        if let Err(failure) = deed
            && !preview.cannot.contains(&failure.message)
            && !preview.paths.iter().any(offers)
        {
            preview.cannot.push(failure.message);
        }
        Ok(ServerMessage::ChangesPreview {
            session_id: session.clone(),
            act,
            summary: preview.summary,
            paths: preview.paths,
            notes: preview.notes,
            cannot: preview.cannot,
            message: preview.message,
            can_undo: preview.can_undo,
            expect,
        })
    }

    /// Carries out an act, if nothing changed since its preview.
    pub async fn act(
        self: &Arc<Self>,
        session: &SessionId,
        act: ChangeAct,
        expect: Option<String>,
    ) -> Result<ServerMessage, Failure> {
        let about = |failure: Failure| failure.about(session.clone());
        let Some(expect) = expect else {
            return Err(about(Failure::invalid("`expect` is missing; ask for a preview first")));
        };
        let place = self.act_place(session).await?;
        let changes = &self.around.changes;
        let _nobody_else = changes.acting(&place.directory).await;
        let plan = changes.plan(&place, session, &act).await.map_err(about)?;
        if plan.expect != expect {
            let words = "Something changed since you looked. Look again, then decide.";
            return Err(about(Failure::new(ErrorCode::ChangedMeanwhile, words)));
        }
        let mut others = Vec::new();
        for root in plan.roots.iter().filter(|root| root_of(root) != root_of(&place.directory)) {
            others.push(changes.acting(root).await);
        }
        self.check_idle(&plan.roots).await.map_err(about)?;
        let done = self.carry_out(&place, session, &act, plan).await.map_err(about)?;
        self.note_act(session, done.summary.clone(), done.undo.clone()).await;
        let (summary, undo) = (done.summary, done.undo);
        Ok(ServerMessage::ChangesDone { session_id: session.clone(), act, summary, undo })
    }

    async fn carry_out(
        &self,
        place: &ActPlace,
        session: &SessionId,
        act: &ChangeAct,
        mut plan: Plan,
    ) -> Result<crate::changes::ActDone, Failure> {
        let changes = &self.around.changes;
        let ChangeAct::Land { message, .. } = act else {
            return changes.carry_out(session, plan).await;
        };
        if plan.preview.paths.iter().any(|path| path.what == PathFate::Commit) {
            let message = message.clone().unwrap_or_default();
            let commit = ChangeAct::Commit { message, paths: None };
            let commit = changes.plan(place, session, &commit).await?;
            changes.carry_out(session, commit).await?;
            plan = changes.plan(place, session, act).await?;
        }
        for _ in 1..MOST_TRIES {
            let base = plan.base();
            match changes.carry_out(session, plan).await {
                Err(failure) if failure.code == ErrorCode::GitFailed => {
                    plan = changes.plan(place, session, act).await?;
                    if plan.base() == base {
                        return Err(failure);
                    }
                }
                done => return done,
            }
        }
        changes.carry_out(session, plan).await
    }

    async fn act_place(&self, session: &SessionId) -> Result<ActPlace, Failure> {
        let directory = self.directory(session).await?;
        let record = self.record(session)?;
        Ok(ActPlace { directory, worktree: record.worktree })
    }

    /// Refuses while a turn runs in any of these working trees, whoever's it is.
    async fn check_idle(&self, roots: &[PathBuf]) -> Result<(), Failure> {
        let roots: BTreeSet<_> = roots.iter().map(|root| root_of(root)).collect();
        for running in self.registry.lock().await.all() {
            let is_busy = match running.situation().state {
                SessionState::Starting | SessionState::Running | SessionState::Waiting => true,
                SessionState::Idle | SessionState::Failed | SessionState::Interrupted => false,
            };
            let Ok(record) = self.record(running.id()) else { continue };
            if is_busy && roots.contains(&root_of(&self.around.directory(&record))) {
                let title = &record.title;
                let words = format!(
                    "“{title}” is at work in this directory. Wait or stop it, then try again."
                );
                return Err(Failure::new(ErrorCode::WorkspaceBusy, words));
            }
        }
        Ok(())
    }

    /// What the acts of a killed run became.
    pub(super) fn tell_of_settled(self: &Arc<Self>, settled: Vec<Settled>) {
        for Settled { session, words, undo } in settled {
            let service = Arc::clone(self);
            tokio::spawn(async move { service.note_act(&session, words, undo).await });
        }
    }

    /// In the conversation, below the last turn. A session without one has nothing to read there.
    async fn note_act(self: &Arc<Self>, session: &SessionId, text: String, undo: Option<String>) {
        let id = session.clone();
        let turn = self.around.journal.read(move |reader| reader.last_turn(&id)).await;
        let Ok(Some(turn)) = turn else { return };
        let noted = self.ask(session, |reply| SessionRequest::Note { turn, text, undo, reply });
        if let Err(failure) = noted.await {
            tracing::warn!(%session, failure.message, "an act was not noted in its session");
        }
    }
}
