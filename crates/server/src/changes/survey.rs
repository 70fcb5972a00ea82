//! Where a session works and how much it changed, read again while its agent works.
//!
//! In each directory one survey runs at a time, and at most one a second; one that takes long is followed by a longer
//! rest, so that a directory seldom takes more than a twentieth of a processor.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use liminal_contract::{
    ChangeCounts, DiscardedWorkspace, SessionId, Workspace, WorkspaceKind, WorkspaceState,
};
use liminal_git::{GitError, Repository};
use tokio::time::Instant;

use super::{Changes, Place, has_repository};
use crate::failure::Failure;
use crate::one_at_a_time::OneAtATime;

const SHORTEST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(5);
/// A survey is followed by a rest that is this many times as long.
const REST: u32 = 20;

/// What to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Only where the session works.
    Place,
    /// How much it changed, too.
    Counts,
}

/// What was read.
#[derive(Debug)]
pub struct Survey {
    /// `None` for a project's directory without git.
    pub workspace: Option<Workspace>,
    /// `None` if they were not asked for or could not be read.
    pub counts: Option<ChangeCounts>,
}

/// When each directory may be surveyed again.
#[derive(Default)]
pub(super) struct Pace {
    turns: OneAtATime,
    free_at: Mutex<HashMap<PathBuf, Instant>>,
}

impl Pace {
    /// Does the work when the directory is free.
    async fn paced<T>(&self, directory: &Path, work: impl Future<Output = T>) -> T {
        let _one_at_a_time = self.turns.turn(directory).await;
        let free_at = self.lock().get(directory).copied();
        if let Some(at) = free_at {
            tokio::time::sleep_until(at).await;
        }
        let began = Instant::now();
        let done = work.await;
        let now = Instant::now();
        let rest = (now - began).saturating_mul(REST).clamp(SHORTEST_REST, LONGEST_REST);
        let mut free_at = self.lock();
        free_at.retain(|_, at| *at > now);
        free_at.insert(directory.to_owned(), now + rest);
        done
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Instant>> {
        self.free_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Changes {
    /// Counting waits until the directory may be surveyed again. Where a session works is read at once: without it the
    /// page shows neither the branch nor Changes, and other sessions of the directory would keep a new one waiting.
    pub async fn survey(&self, session: &SessionId, place: &Place, look: Look) -> Survey {
        let survey = self.surveyed(session, place, look);
        match look {
            Look::Place => survey.await,
            Look::Counts => self.pace.paced(&place.directory, survey).await,
        }
    }

    async fn surveyed(&self, session: &SessionId, place: &Place, look: Look) -> Survey {
        let workspace = match self.workspace(place).await {
            Ok(workspace) => workspace,
            Err(error) => {
                tracing::warn!(%session, %error, "a session's directory was not read");
                None
            }
        };
        let is_known = workspace
            .as_ref()
            .is_some_and(|found| matches!(found.state, WorkspaceState::Ok | WorkspaceState::Busy));
        let counts = if look == Look::Counts && is_known {
            self.counted(session, place).await
        } else {
            None
        };
        Survey { workspace, counts }
    }

    async fn counted(&self, session: &SessionId, place: &Place) -> Option<ChangeCounts> {
        let counted = async {
            let now = self.checkpoint(session, &place.directory).await?;
            self.count(session, &place.directory, place.base.as_deref(), &now.tree).await
        };
        counted
            .await
            .inspect_err(|failure: &Failure| {
                tracing::warn!(%session, failure.message, "changes were not counted");
            })
            .ok()
    }

    /// Where a session works, as git knows it.
    async fn workspace(&self, place: &Place) -> Result<Option<Workspace>, GitError> {
        let mut workspace = Workspace {
            kind: place.kind,
            path: place.directory.to_string_lossy().into_owned(),
            branch: None,
            base: None,
            ahead: None,
            behind: None,
            state: WorkspaceState::NoGit,
            doing: None,
            discarded: None,
        };
        // Of a removed project.
        if place.directory.as_os_str().is_empty() {
            return Ok(None);
        }
        if !place.directory.is_dir() {
            workspace.state = WorkspaceState::Missing;
            let discarded = self.discarded.all().await.into_iter().map(|about| about.shown);
            let is_it = |shown: &DiscardedWorkspace| place.directory.starts_with(&shown.path);
            workspace.discarded = discarded.into_iter().find(is_it);
            return Ok(Some(workspace));
        }
        let without_git =
            |workspace: Workspace| (workspace.kind != WorkspaceKind::Project).then_some(workspace);
        if !has_repository(&place.directory) {
            return Ok(without_git(workspace));
        }
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let repository = match Repository::at(&place.directory).await {
            Err(GitError::NotARepository) => return Ok(without_git(workspace)),
            repository => repository?,
        };
        let branch = repository.branch().await?;
        workspace.branch = branch.map(|name| liminal_render::visible(&name));
        if let Some((base, _tree)) = repository.base(place.base.as_deref()).await? {
            if let Some(apart) = repository.apart(&base, "HEAD").await? {
                (workspace.ahead, workspace.behind) = (Some(apart.ahead), Some(apart.behind));
            }
            workspace.base = Some(liminal_render::visible(&base));
        }
        let doing = repository.doing().await?;
        workspace.state = if doing.is_some() { WorkspaceState::Busy } else { WorkspaceState::Ok };
        workspace.doing = doing.map(str::to_owned);
        Ok(Some(workspace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;

    #[tokio::test]
    async fn where_a_session_works_is_read_while_another_of_its_directory_waits_to_be_counted() {
        let home = tempfile::tempdir().unwrap();
        let changes = Changes::new(home.path(), Journal::open(home.path()).unwrap().journal);
        let (kind, directory) = (WorkspaceKind::Directory, home.path().to_owned());
        let place = Place { kind, directory, base: None };
        let _another_is = changes.pace.turns.turn(&place.directory).await;
        let session = SessionId::parse("demo:1b73d39f-06aa-4a7e-a2c7-feb2f79b8d43").unwrap();
        let survey = changes.survey(&session, &place, Look::Place).await;
        assert_eq!(survey.workspace.unwrap().state, WorkspaceState::NoGit);
    }

    #[tokio::test(start_paused = true)]
    async fn a_directory_rests_between_surveys_and_another_does_not_wait() {
        let pace = Pace::default();
        let began = Instant::now();
        let work = |took| async move { tokio::time::sleep(Duration::from_millis(took)).await };
        pace.paced(Path::new("/a"), work(10)).await;
        pace.paced(Path::new("/b"), work(0)).await;
        assert_eq!(began.elapsed().as_millis(), 10, "another directory is free");
        pace.paced(Path::new("/a"), work(200)).await;
        assert_eq!(began.elapsed().as_millis(), 1210, "a second after the first ended");
        pace.paced(Path::new("/a"), work(0)).await;
        assert_eq!(began.elapsed().as_millis(), 5210, "twenty times as long as the second took");
        assert_eq!(pace.lock().len(), 1, "a directory that is free takes no memory");
    }
}
