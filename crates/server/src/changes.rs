//! What changed in the directory that a session works in, for people to review, and the checkpoints that tell.
//!
//! A checkpoint is a git tree. Its objects are in a directory per session, below `checkpoints` in the data directory;
//! the journal knows the trees. Only `acts` writes into a repository or its files.

mod acts;
mod kept;
mod scope;
mod shown;

use std::path::{Path, PathBuf};

use liminal_contract::{ChangeCounts, ChangeScope, ErrorCode, ServerMessage, SessionId};
use liminal_git::{Checkpoint, GitError, Repository, Tree};
use liminal_render::DiffView;

use crate::failure::Failure;
use crate::journal::Journal;
use crate::one_at_a_time::OneAtATime;
pub use acts::{ActDone, ActPlace, Plan, Settled, root_of};
use kept::Kept;
use shown::{Shown, listed, shown};

/// Reads changes, in one call at a time per directory: git reads the same files for each.
pub struct Changes {
    reading: OneAtATime,
    /// The working trees that acts change.
    writing: OneAtATime,
    kept: Kept,
    journal: Journal,
}

/// Where a session works.
pub struct Place {
    pub directory: PathBuf,
    /// The branch that its worktree was made from.
    pub base: Option<String>,
}

impl Changes {
    pub fn new(data_dir: &Path, journal: Journal) -> Self {
        let kept = Kept::below(data_dir);
        Self { reading: OneAtATime::default(), writing: OneAtATime::default(), kept, journal }
    }

    /// Keeps the state of the files in a session's directory.
    pub async fn checkpoint(
        &self,
        session: &SessionId,
        directory: &Path,
    ) -> Result<Checkpoint, GitError> {
        if !has_repository(directory) {
            return Err(GitError::NotARepository);
        }
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        let taken = Repository::at(directory).await?.checkpoints(&store).await?.take().await;
        self.kept.trim();
        taken
    }

    /// Removes a session's checkpoints.
    pub async fn forget(&self, session: &SessionId) {
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        self.kept.remove(&store).await;
    }

    /// How much a session changed, up to this state: its branch in a worktree, else the files that its calls named.
    pub async fn count(
        &self,
        session: &SessionId,
        directory: &Path,
        base: Option<&str>,
        now: &Tree,
    ) -> Result<ChangeCounts, Failure> {
        let _one_at_a_time = self.reading.turn(directory).await;
        let found = self.since_the_start(directory, session, base, now).await?;
        let mut counts = ChangeCounts::default();
        for file in found.changes.files.iter().filter(|file| found.is_named(&file.path.to_string()))
        {
            let lines = file.counts.unwrap_or_default();
            counts.files += 1;
            counts.added += lines.added;
            counts.removed += lines.removed;
        }
        Ok(counts)
    }

    /// The files that changed.
    pub async fn list(
        &self,
        place: &Place,
        session_id: SessionId,
        scope: ChangeScope,
    ) -> Result<ServerMessage, Failure> {
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let found = self.find(&place.directory, &session_id, &scope, place.base.as_deref()).await?;
        let branch = found.repository.branch().await?;
        let branch = branch.map(|name| liminal_render::visible(&name));
        let mut files: Vec<_> = found.changes.files.iter().map(listed).collect();
        for file in &mut files {
            file.meanwhile = !found.is_named(&file.path);
        }
        Ok(ServerMessage::ChangesList {
            session_id,
            scope,
            branch,
            root: found.repository.root().to_string_lossy().into_owned(),
            base: found.base,
            state: found.state.map(|tree| tree.as_str().to_owned()),
            notes: found.notes,
            files,
            more: found.changes.more,
        })
    }

    /// The difference in one file. The path is looked up among the changes, so no other file can be named.
    pub async fn file(
        &self,
        place: &Place,
        session_id: SessionId,
        scope: ChangeScope,
        path: String,
        view: DiffView,
    ) -> Result<ServerMessage, Failure> {
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let found = self.find(&place.directory, &session_id, &scope, place.base.as_deref()).await?;
        let change = found.changes.files.into_iter().find(|file| file.path.to_string() == path);
        let Some(change) = change else {
            let Shown { html, note, pictures } =
                Shown::noted("This file no longer differs.".into());
            return Ok(ServerMessage::ChangesFile {
                session_id,
                scope,
                path,
                html,
                note,
                pictures,
            });
        };
        let versions = found.repository.versions(&change).await?;
        let shown = tokio::task::spawn_blocking(move || shown(&change, versions, view)).await;
        let Shown { html, note, pictures } = shown.map_err(|_panicked| Failure::unexpected())?;
        Ok(ServerMessage::ChangesFile { session_id, scope, path, html, note, pictures })
    }
}

/// Saves starting git where there is nothing for it to do.
fn has_repository(directory: &Path) -> bool {
    directory.ancestors().any(|each| each.join(".git").exists())
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let code = match &error {
            GitError::NotARepository => ErrorCode::NotARepository,
            _ => ErrorCode::GitFailed,
        };
        Self::new(code, liminal_render::visible(&error.to_string()))
    }
}
