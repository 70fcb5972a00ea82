//! Where a session works: in the project's directory, in a worktree of its own, or where it was made outside.

use std::path::{Path, PathBuf};

use liminal_contract::{ErrorCode, Project, SessionId, Worktree};

use super::registry::ask;
use super::service::SessionService;
use super::task::SessionRequest;
use crate::changes::Place;
use crate::failure::Failure;
use crate::workspaces::Wanted;

impl SessionService {
    /// A worktree of a project whose own settings the user allowed is as trusted as the project.
    pub(super) async fn make_worktree(
        &self,
        project: &Project,
        wanted: Wanted,
    ) -> Result<Worktree, Failure> {
        let worktree = self.around.workspaces.make(project, wanted).await?;
        self.around.trust.extend(Path::new(&project.path), Path::new(&worktree.path));
        Ok(worktree)
    }

    /// Removes the session's worktree. The session stays readable.
    pub async fn remove_worktree(&self, session: &SessionId) -> Result<(), Failure> {
        let record = self.record(session)?;
        let Some(worktree) = record.worktree else {
            let what = "This session has no worktree of its own.";
            return Err(Failure::invalid(what).about(session.clone()));
        };
        let project = self.around.projects.workable(&record.project_id).await?;
        let check = || self.around.workspaces.check(&project, &worktree);
        check().await.map_err(|failure| failure.about(session.clone()))?;
        if let Some(running) = self.registry.lock().await.running(session).cloned() {
            ask(&running, SessionRequest::Kill).await?;
            // The agent may have written until now.
            check().await.map_err(|failure| failure.about(session.clone()))?;
        }
        self.around.workspaces.remove(&project, &worktree).await
    }

    /// Where the session's agent works, and what its branch is compared with.
    pub async fn place(&self, session: &SessionId) -> Result<Place, Failure> {
        let directory = self.directory(session).await?;
        let base = self.record(session)?.worktree.and_then(|worktree| worktree.base);
        Ok(Place { directory, base })
    }

    /// Where the session's agent works.
    pub async fn directory(&self, session: &SessionId) -> Result<PathBuf, Failure> {
        let record = self.record(session)?;
        let project = self.around.projects.workable(&record.project_id).await;
        let project = project.map_err(|error| Failure::from(error).about(session.clone()))?;
        let (path, what) = match (record.worktree, record.directory) {
            (Some(Worktree { path, branch, .. }), _) => {
                let what = format!(
                    "The worktree {path} no longer exists. Its commits are on the branch {branch}."
                );
                (path, what)
            }
            (None, Some(path)) => {
                let what = format!(
                    "The directory {path}, in which this session works, no longer exists. \
                     The transcript is kept; restore the directory to continue."
                );
                (path, what)
            }
            (None, None) => return Ok(PathBuf::from(project.path)),
        };
        let asked = path.clone();
        let is_there = tokio::task::spawn_blocking(move || Path::new(&asked).is_dir()).await;
        if !is_there.unwrap_or(false) {
            let failure = Failure::new(ErrorCode::ProjectPathInvalid, what);
            return Err(failure.about(session.clone()));
        }
        Ok(PathBuf::from(path))
    }
}
