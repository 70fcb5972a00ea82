//! Where a session works: in the project's directory, in a worktree of its own, or where it was made outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use liminal_contract::{
    ErrorCode, Project, ProjectId, ServerMessage, SessionId, WorkspaceKind, Worktree,
};

use super::registry::Handed;
use super::service::{SessionService, Surroundings};
use super::session::Sent;
use super::task::SessionRequest;
use super::title;
use crate::changes::{Beside, Place};
use crate::failure::Failure;
use crate::feed::{Follow, Outbox};
use crate::store::SessionRecord;
use crate::workspaces::Wanted;

/// How many other sessions of a directory are named at most.
const MOST_OTHERS: usize = 10;
/// In characters.
const LONGEST_SETUP: usize = 4000;

impl Surroundings {
    /// Where a session works.
    pub fn place(&self, record: &SessionRecord) -> Place {
        let base = record.worktree.as_ref().and_then(|worktree| worktree.base.clone());
        let (kind, directory) = match (&record.worktree, &record.directory) {
            (Some(worktree), _) => (WorkspaceKind::Worktree, worktree.directory()),
            (None, Some(directory)) => (WorkspaceKind::Directory, PathBuf::from(directory)),
            (None, None) => (WorkspaceKind::Project, self.project_dir(&record.project_id)),
        };
        Place { kind, directory, base }
    }

    pub fn directory(&self, record: &SessionRecord) -> PathBuf {
        self.place(record).directory
    }
}

impl SessionService {
    pub async fn offer_worktree(&self, project: &ProjectId) -> Result<ServerMessage, Failure> {
        let project = self.around.projects.workable(project).await?;
        let setup = self.around.projects.setup(&project.id);
        self.around.workspaces.offer(project, setup).await
    }

    /// Makes a worktree, and says which command prepares it. A worktree of a project whose own settings the user
    /// allowed is as trusted as the project.
    pub(super) async fn make_worktree(
        &self,
        project: &Project,
        wanted: Wanted,
    ) -> Result<(Option<Worktree>, Option<String>), Failure> {
        let known = self.around.projects.setup(&project.id);
        let typed = wanted.setup.as_deref().map(|command| command.trim().to_owned());
        if typed.as_ref().is_some_and(|command| command.chars().count() > LONGEST_SETUP) {
            let what = format!("`setup` must have at most {LONGEST_SETUP} characters");
            return Err(Failure::invalid(&what));
        }
        let worktree = self.around.workspaces.make(project, wanted).await?;
        self.around.trust.extend(Path::new(&project.path), &worktree.directory());
        if let Some(command) = typed.clone().filter(|typed| Some(typed) != known.as_ref())
            && let Err(error) = self.around.projects.set_setup(project.id.clone(), command).await
        {
            tracing::warn!(%error, "a setup command was not kept");
        }
        Ok((Some(worktree), typed.or(known).filter(|command| !command.is_empty())))
    }

    /// Makes the session's worktree again after it vanished.
    pub async fn renew_worktree(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        let record = self.record(session)?;
        let (project, worktree) = self.with_worktree(session).await?;
        // An agent that runs is still in the directory that vanished.
        self.ask_running(session, SessionRequest::Kill).await?;
        let made = self.around.workspaces.renew(&project, &worktree).await;
        made.map_err(|failure| failure.about(session.clone()))?;
        let place = self.around.directory(&record);
        self.around.trust.extend(Path::new(&project.path), &place);
        self.ask(session, SessionRequest::LookAround).await
    }

    async fn with_worktree(&self, session: &SessionId) -> Result<(Project, Worktree), Failure> {
        let record = self.record(session)?;
        let Some(worktree) = record.worktree else {
            let what = "This session has no worktree of its own.";
            return Err(Failure::invalid(what).about(session.clone()));
        };
        Ok((self.around.projects.workable(&record.project_id).await?, worktree))
    }

    /// Where the session's agent works, and what its branch is compared with.
    pub async fn place(&self, session: &SessionId) -> Result<Place, Failure> {
        let record = self.record(session)?;
        let project = self.around.projects.workable(&record.project_id).await;
        project.map_err(|error| Failure::from(error).about(session.clone()))?;
        let place = self.around.place(&record);
        let asked = place.directory.clone();
        let is_there = tokio::task::spawn_blocking(move || asked.is_dir()).await;
        if !is_there.unwrap_or(false) {
            let path = place.directory.display();
            let what = match (place.kind, record.worktree) {
                (WorkspaceKind::Worktree, Some(Worktree { branch, .. })) => format!(
                    "The worktree {path} no longer exists. Its commits are on the branch {branch}."
                ),
                _ => format!(
                    "The session's directory {path} no longer exists. The transcript is kept; \
                     restore the directory to continue."
                ),
            };
            let failure = Failure::new(ErrorCode::ProjectPathInvalid, what);
            return Err(failure.about(session.clone()));
        }
        Ok(place)
    }

    /// Where the session's agent works.
    pub async fn directory(&self, session: &SessionId) -> Result<PathBuf, Failure> {
        Ok(self.place(session).await?.directory)
    }

    /// The comments on a session's changes, and who else works in its directory.
    pub async fn beside(&self, session: &SessionId, place: &Place) -> Result<Beside, Failure> {
        let record = self.record(session)?;
        let id = session.clone();
        let row = self.around.journal.read(move |reader| reader.session(&id)).await?;
        let mut others = self.others_in(&record, &place.directory)?;
        others.sort_by_key(|other| std::cmp::Reverse(other.last_active_at));
        let others = others.into_iter().take(MOST_OTHERS);
        let others = others.map(|other| (other.id, title::plain(&other.title)));
        let comments = row.map(|row| row.facts.comments).unwrap_or_default();
        Ok(Beside { comments, others: others.collect() })
    }

    /// The other sessions that can work in a session's directory. A version that was replaced only can be read.
    pub(super) fn others_in(
        &self,
        session: &SessionRecord,
        directory: &Path,
    ) -> Result<Vec<SessionRecord>, Failure> {
        let mut others = self.around.sessions.of(&session.project_id)?;
        others.retain(|other| {
            other.id != session.id
                && !other.archived
                && other.newer.is_none()
                && other.title_by.is_some()
                && self.around.directory(other) == directory
        });
        Ok(others)
    }

    /// Sends every comment as one message.
    pub async fn hand_comments(
        self: &Arc<Self>,
        session: &SessionId,
        request_id: Option<String>,
        sender: &Arc<Outbox>,
    ) -> Result<Handed<Sent>, Failure> {
        if let Some(before) = self.sent_before(session, request_id.clone()).await? {
            return Ok(Handed::answered(session, Ok(Sent::Began(before.turn_id))));
        }
        self.directory(session).await?;
        let sender = sender.follows(session).is_none().then(|| sender.clone());
        sender.iter().for_each(|sender| sender.expect(session, Follow::Whole));
        let send = |reply| SessionRequest::SendComments { request_id, sender, reply };
        self.hand(session, send).await
    }
}
