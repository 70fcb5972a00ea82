//! Acts on changes, as far as they concern sessions: none while a turn runs in the same directory, and each leaves a
//! notice.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use liminal_contract::{
    ActPath, ChangeAct, Details, ErrorCode, PathFate, ServerMessage, SessionId, SessionState,
};
use tokio::sync::OwnedMutexGuard;

use super::service::SessionService;
use super::task::SessionRequest;
use super::title;
use crate::changes::{ActDone, ActPlace, Owner, Plan, Settled, Sharing, root_of};
use crate::failure::Failure;
use crate::store::SessionRecord;

/// A base that moves while it is landed in is tried again, but not for ever.
const MOST_TRIES: usize = 3;

/// What the user has seen of an act before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected<'a> {
    /// A preview with this fingerprint.
    As(&'a str),
    /// Nothing: it is part of something else that they decided.
    Anything,
}

/// An act that was carried out.
pub(super) struct Acted {
    pub done: ActDone,
    _alone: Vec<OwnedMutexGuard<()>>,
}

impl SessionService {
    /// What an act would do.
    pub async fn preview_act(
        self: &Arc<Self>,
        session: &SessionId,
        act: ChangeAct,
    ) -> Result<ServerMessage, Failure> {
        let about = |failure: Failure| failure.about(session.clone());
        let place = self.act_place(session, &act).await?;
        if let Ok(directory) = &place.directory {
            self.check_idle(session, &[root_of(directory)]).await.map_err(about)?;
        }
        let plan = self.around.changes.plan(&place, session, &act).await.map_err(about)?;
        self.check_idle(session, &plan.roots).await.map_err(about)?;
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
            command: preview.command,
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
        let done = self.acted(session, &act, Expected::As(&expect)).await.map_err(about)?;
        let ActDone { summary, undo, undone, link } = done.done;
        let details =
            Details { undo: undo.clone(), undone, link: link.clone(), ..Details::default() };
        self.note_act(session, summary.clone(), details).await;
        Ok(ServerMessage::ChangesDone { session_id: session.clone(), act, summary, undo, link })
    }

    /// Carries out an act. Until the result is dropped, nobody else acts in that place.
    pub(super) async fn acted(
        self: &Arc<Self>,
        session: &SessionId,
        act: &ChangeAct,
        expected: Expected<'_>,
    ) -> Result<Acted, Failure> {
        let place = self.act_place(session, act).await?;
        let changes = &self.around.changes;
        let mut alone = Vec::new();
        if let Ok(directory) = &place.directory {
            alone.push(changes.acting(directory).await);
            self.check_idle(session, &[root_of(directory)]).await?;
        }
        let mut plan = changes.plan(&place, session, act).await?;
        let own = place.directory.as_deref().map(root_of).ok();
        for root in plan.roots.iter().filter(|root| Some(root_of(root)) != own) {
            alone.push(changes.acting(root).await);
        }
        if own.is_none() {
            // Somebody else may have been faster.
            plan = changes.plan(&place, session, act).await?;
        }
        if expected != Expected::Anything && expected != Expected::As(&plan.expect) {
            let words = "Something changed since you looked. Look again, then decide.";
            return Err(Failure::new(ErrorCode::ChangedMeanwhile, words));
        }
        self.check_idle(session, &plan.roots).await?;
        let discards = matches!(act, ChangeAct::DiscardWorkspace { .. });
        if discards {
            self.end_agents_in(&plan.roots).await?;
        }
        let roots = plan.roots.clone();
        let branch = plan.branch_back();
        let done = self.carry_out(&place, session, act, plan).await;
        if done.is_err() && matches!(act, ChangeAct::Land { .. }) {
            // Files may have been committed for it.
            self.look_around(session).await;
        }
        let done = done?;
        if let Some(branch) = &branch {
            self.moved_to(&roots, branch).await?;
        }
        if discards || branch.is_some() {
            self.look_around_in(&roots).await;
        } else {
            self.look_around(session).await;
        }
        Ok(Acted { done, _alone: alone })
    }

    async fn carry_out(
        self: &Arc<Self>,
        place: &ActPlace,
        session: &SessionId,
        act: &ChangeAct,
        plan: Plan,
    ) -> Result<ActDone, Failure> {
        let changes = &self.around.changes;
        let ChangeAct::Land { how, message } = act else {
            return changes.carry_out(session, plan).await;
        };
        // What is in the way of the landing is in the way of the commit before it.
        let commits = plan.preview.paths.iter().any(|path| path.what == PathFate::Commit);
        if !commits || !plan.preview.cannot.is_empty() {
            return self.land(place, session, act, plan).await;
        }
        // Both have the message that the user saw: with the commit, another one would be proposed.
        let message = message.clone().filter(|message| !message.trim().is_empty());
        let message = message.or_else(|| plan.preview.message.clone());
        let act = &ChangeAct::Land { how: *how, message: message.clone() };
        let commit = ChangeAct::Commit { message: message.unwrap_or_default(), paths: None };
        let commit = changes.plan(place, session, &commit).await?;
        let committed = changes.carry_out(session, commit).await?;
        let landed = match changes.plan(place, session, act).await {
            Ok(plan) => self.land(place, session, act, plan).await,
            Err(failure) => Err(failure),
        };
        if landed.is_err() {
            // The commit stays, so it is told, and can be undone.
            let details = Details { undo: committed.undo, ..Details::default() };
            self.note_act(session, committed.summary, details).await;
        }
        landed
    }

    async fn land(
        &self,
        place: &ActPlace,
        session: &SessionId,
        act: &ChangeAct,
        mut plan: Plan,
    ) -> Result<ActDone, Failure> {
        let changes = &self.around.changes;
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

    async fn act_place(&self, session: &SessionId, act: &ChangeAct) -> Result<ActPlace, Failure> {
        let record = match (self.record(session), act) {
            (Ok(record), _) => record,
            (Err(failure), ChangeAct::BringBack { .. }) => {
                let (directory, sharing) = (Err(failure), Sharing::Alone);
                return Ok(ActPlace { directory, sharing, worktree: None, owner: None });
            }
            (Err(failure), _) => return Err(failure),
        };
        let directory = self.directory(session).await;
        let roots = record.worktree.as_ref().map(|worktree| PathBuf::from(&worktree.path));
        let others = self.working_in(roots.as_slice())?.into_iter();
        let others = others.filter(|other| other.id != *session && other.title_by.is_some());
        let project = self.around.projects.get(&record.project_id);
        let sharing = match (&record.worktree, &directory) {
            (None, Ok(directory)) if !self.others_in(&record, directory)?.is_empty() => {
                Sharing::WithOthers
            }
            _ => Sharing::Alone,
        };
        let task = self.task_of(&record, act).await?;
        let owner = project.ok().map(|project| Owner {
            session: session.clone(),
            title: title::plain(&record.title),
            task: task.unwrap_or_else(|| title::plain(&record.title)),
            is_named: record.title_by.is_some(),
            project,
            others: others.map(|other| title::plain(&other.title)).collect(),
        });
        Ok(ActPlace { directory, sharing, worktree: record.worktree, owner })
    }

    /// What a session's work is about, for a proposed message: more of its first message than its title has.
    async fn task_of(
        &self,
        record: &SessionRecord,
        act: &ChangeAct,
    ) -> Result<Option<String>, Failure> {
        let proposes = matches!(act, ChangeAct::Land { .. } | ChangeAct::PullRequest { .. });
        if !proposes || !record.title.ends_with('…') {
            return Ok(None);
        }
        let id = record.id.clone();
        let first = self.around.journal.read(move |reader| reader.first_prompt(&id)).await?;
        let first = first.filter(|first| title::derive(first).as_ref() == Some(&record.title));
        Ok(first.as_deref().and_then(title::subject))
    }

    /// Refuses while a turn runs in any of these working trees, whoever's it is.
    async fn check_idle(&self, own: &SessionId, roots: &[PathBuf]) -> Result<(), Failure> {
        let roots: BTreeSet<_> = roots.iter().map(|root| root_of(root)).collect();
        for running in self.registry.lock().await.all() {
            let state = running.situation().state;
            let is_busy = match state {
                SessionState::Starting | SessionState::Running | SessionState::Waiting => true,
                SessionState::Idle | SessionState::Failed | SessionState::Interrupted => false,
            };
            let Ok(record) = self.record(running.id()) else { continue };
            if is_busy && roots.contains(&root_of(&self.around.directory(&record))) {
                let other = (record.id != *own).then(|| title::plain(&record.title));
                let words = busy_words(other.as_deref(), state);
                return Err(Failure::new(ErrorCode::WorkspaceBusy, words));
            }
        }
        Ok(())
    }

    /// What the acts of a killed run became.
    pub(super) fn tell_of_settled(self: &Arc<Self>, settled: Vec<Settled>) {
        for Settled { session, words, undo } in settled {
            let service = Arc::clone(self);
            let details = Details { undo, ..Details::default() };
            tokio::spawn(async move { service.note_act(&session, words, details).await });
        }
    }

    /// In the conversation, below the last turn. A session without one has nothing to read there.
    pub(super) async fn note_act(
        self: &Arc<Self>,
        session: &SessionId,
        text: String,
        details: Details,
    ) {
        if self.record(session).is_err() {
            return;
        }
        let id = session.clone();
        let turn = self.around.journal.read(move |reader| reader.last_turn(&id)).await;
        let Ok(Some(turn)) = turn else { return };
        let details = Box::new(details);
        let note = |reply| SessionRequest::Note { turn, text, details, reply };
        if let Err(failure) = self.ask(session, note).await {
            tracing::warn!(%session, failure.message, "an act was not noted in its session");
        }
    }
}

/// Why nothing happens while a session is at work: this one, or another with that title.
fn busy_words(other: Option<&str>, state: SessionState) -> String {
    match (other, state) {
        (None, SessionState::Waiting) => {
            "This session waits for your answer. Answer or stop it, then try again.".to_owned()
        }
        (None, _) => {
            "This session is still working. Wait for it or stop it, then try again.".to_owned()
        }
        (Some(title), SessionState::Waiting) => format!(
            "“{title}” works in this directory and waits for your answer. Answer or stop it, then try again."
        ),
        (Some(title), _) => format!(
            "“{title}” is still running in this directory. Wait for it or stop it, then try again."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_waits_is_not_said_to_work_and_the_own_one_is_not_named() {
        let words = |other, state| busy_words(other, state);
        assert!(
            words(None, SessionState::Waiting).starts_with("This session waits for your answer.")
        );
        assert!(words(None, SessionState::Starting).starts_with("This session is still working."));
        let other = words(Some("Fix it"), SessionState::Waiting);
        assert!(other.starts_with("“Fix it” works in this directory and waits"), "{other}");
    }
}
