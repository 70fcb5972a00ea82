//! Where a session works and how much it changed, read again while its agent works.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use liminal_contract::{
    ChangeCounts, DiscardedWorkspace, SessionId, Workspace, WorkspaceKind, WorkspaceState,
};
use liminal_git::{Apart, Fork, GitError, Repository, Tree};

use super::pace::{Look, Wish};
use super::scope::Start;
use super::{Changes, Place, has_repository};
use crate::failure::Failure;

/// What was read.
#[derive(Debug)]
pub struct Survey {
    /// `None` for a project's directory without git.
    pub workspace: Option<Workspace>,
    /// `None` if they were not asked for or could not be read.
    pub counts: Option<ChangeCounts>,
}

/// Where the branches of working trees left their bases. It is read again when either got a commit.
#[derive(Default)]
pub(super) struct Forks(Mutex<HashMap<PathBuf, Left>>);

#[derive(Clone)]
struct Left {
    fork: Fork,
    tree: Tree,
    apart: Option<Apart>,
}

/// Forgotten beyond this many, and read again.
const MOST_FORKS: usize = 256;

impl Forks {
    async fn left(&self, repository: &Repository, fork: Fork) -> Result<Left, GitError> {
        let known = self.lock().get(repository.root()).cloned();
        if let Some(known) = known.filter(|known| known.fork == fork) {
            return Ok(known);
        }
        let tree = repository.tree_of(&fork.commit).await?;
        let apart = repository.apart(&fork.tip, &fork.head).await?;
        let left = Left { fork, tree, apart };
        let mut all = self.lock();
        if all.len() >= MOST_FORKS {
            all.clear();
        }
        all.insert(repository.root().to_owned(), left.clone());
        Ok(left)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Left>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A directory that git knows.
struct Known {
    repository: Repository,
    /// Where its branch left its base.
    fork: Option<Tree>,
}

impl Changes {
    /// Counting waits until the directory may be surveyed again. Where a session works is read at once: without it the
    /// page shows neither the branch nor Changes, and other sessions of the directory would keep a new one waiting.
    pub async fn survey(&self, session: &SessionId, place: &Place, wish: &Wish) -> Survey {
        let surveyed = async { self.surveyed(session, place, wish.take()).await };
        if wish.is_for_place() {
            return surveyed.await;
        }
        self.pace.paced(&place.directory, wish, surveyed).await
    }

    async fn surveyed(&self, session: &SessionId, place: &Place, look: Look) -> Survey {
        let (workspace, known) = match self.workspace(place).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%session, %error, "a session's directory was not read");
                (None, None)
            }
        };
        let counts = match (look, known) {
            (Look::Counts | Look::LastCounts, Some(known)) => {
                self.counted(session, place, known).await
            }
            (Look::Place, _) | (_, None) => None,
        };
        Survey { workspace, counts }
    }

    async fn counted(
        &self,
        session: &SessionId,
        place: &Place,
        known: Known,
    ) -> Option<ChangeCounts> {
        let start = match (&place.base, known.fork) {
            (Some(_), Some(tree)) => Start::At(tree),
            (Some(_), None) => Start::Gone,
            (None, _) => Start::FirstState,
        };
        let counted = async {
            let store = self.kept.of(session);
            let checkpoints = known.repository.checkpoints(&store)?;
            let now = {
                let _one_at_a_time = self.reading.turn(&store).await;
                let (now, _left_out) = checkpoints.tree().await?;
                self.kept.trim_soon(&self.reading);
                now
            };
            self.count(session, &place.directory, &checkpoints, start, now).await
        };
        counted
            .await
            .inspect_err(|failure: &Failure| {
                tracing::warn!(%session, failure.message, "changes were not counted");
            })
            .ok()
    }

    /// Where a session works, as git knows it.
    async fn workspace(
        &self,
        place: &Place,
    ) -> Result<(Option<Workspace>, Option<Known>), GitError> {
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
            return Ok((None, None));
        }
        if !place.directory.is_dir() {
            workspace.state = WorkspaceState::Missing;
            let discarded = self.discarded.all().await.into_iter().map(|about| about.shown);
            let is_it = |shown: &DiscardedWorkspace| place.directory.starts_with(&shown.path);
            workspace.discarded = discarded.into_iter().find(is_it);
            return Ok((Some(workspace), None));
        }
        let without_git = |workspace: Workspace| {
            ((workspace.kind != WorkspaceKind::Project).then_some(workspace), None)
        };
        if !has_repository(&place.directory) {
            return Ok(without_git(workspace));
        }
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let repository = match Repository::at(&place.directory).await {
            Err(GitError::NotARepository) => return Ok(without_git(workspace)),
            repository => repository?,
        };
        let branch = repository.branch().await?;
        let fork = match repository.fork(place.base.as_deref(), branch.as_deref()).await? {
            Some(fork) => Some(self.forks.left(&repository, fork).await?),
            None => None,
        };
        workspace.branch = branch.map(|name| liminal_render::visible(&name));
        if let Some(Left { fork, apart, .. }) = &fork {
            (workspace.ahead, workspace.behind) =
                apart.map(|apart| (apart.ahead, apart.behind)).unzip();
            workspace.base = Some(liminal_render::visible(&fork.base));
        }
        let doing = repository.doing();
        workspace.state = if doing.is_some() { WorkspaceState::Busy } else { WorkspaceState::Ok };
        workspace.doing = doing.map(str::to_owned);
        let known = Known { repository, fork: fork.map(|left| left.tree) };
        Ok((Some(workspace), Some(known)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::journal::Journal;

    #[tokio::test(start_paused = true)]
    async fn where_a_session_works_is_read_while_its_directory_rests() {
        let home = tempfile::tempdir().unwrap();
        let changes = Changes::new(home.path(), Journal::open(home.path()).unwrap().journal);
        let (kind, directory) = (WorkspaceKind::Directory, home.path().to_owned());
        let place = Place { kind, directory, base: None };
        changes.pace.paced(&place.directory, &Wish::new(Look::Counts), async {}).await;
        let began = Instant::now();
        let session = SessionId::parse("demo:1b73d39f-06aa-4a7e-a2c7-feb2f79b8d43").unwrap();
        let survey = changes.survey(&session, &place, &Wish::new(Look::Place)).await;
        assert_eq!(survey.workspace.unwrap().state, WorkspaceState::NoGit);
        assert_eq!(began.elapsed().as_millis(), 0);
    }
}
