//! What changed in the directory that a session works in, for people to review, and the checkpoints that tell.
//!
//! A checkpoint is a git tree. Its objects are in a directory per session, below `checkpoints` in the data directory;
//! the journal knows the trees. Only `acts` writes into a repository or its files.

mod acts;
mod comments;
mod difference;
mod kept;
mod pace;
mod scope;
mod shown;
mod survey;
mod turns;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use liminal_contract::{
    ChangeCounts, ChangeScope, ChangedFile, Comment, ErrorCode, ServerMessage, SessionId,
    WorkspaceKind,
};
use liminal_git::{Checkpoint, Checkpoints, GitError, Repository, Tree};

use crate::failure::Failure;
use crate::journal::{Journal, Turns};
use crate::one_at_a_time::OneAtATime;
use crate::workspaces::Discarded;
pub use acts::{ActDone, ActPlace, Owner, Plan, Settled, Sharing, root_of};
pub use comments::message as comments_message;
use difference::Compared;
pub use difference::PartAsked;
use kept::Kept;
pub use pace::{Look, Wish};
use scope::{Found, Start};
use shown::listed;
pub use survey::Survey;

/// Reads changes, in one call at a time per directory: git reads the same files for each.
pub struct Changes {
    reading: OneAtATime,
    pace: pace::Pace,
    forks: survey::Forks,
    /// The working trees that acts change.
    writing: OneAtATime,
    compared: Compared,
    kept: Arc<Kept>,
    discarded: Discarded,
    journal: Journal,
    /// A variable for what the user's hooks start: the next server finds it by that, if this one is killed.
    mark: Option<(&'static str, OsString)>,
}

/// Where a session works.
#[derive(Debug, Clone)]
pub struct Place {
    pub kind: WorkspaceKind,
    pub directory: PathBuf,
    /// The branch that its worktree was made from.
    pub base: Option<String>,
}

/// What is known of a session's changes beside the files.
#[derive(Debug, Default)]
pub struct Beside {
    pub comments: Vec<Comment>,
    /// Other sessions in the same directory, with their titles.
    pub others: Vec<(SessionId, String)>,
}

impl Changes {
    pub fn new(data_dir: &Path, journal: Journal) -> Self {
        let (reading, pace) = (OneAtATime::default(), pace::Pace::default());
        let forks = survey::Forks::default();
        let (writing, compared) = (OneAtATime::default(), Compared::default());
        let (kept, discarded) = (Arc::new(Kept::below(data_dir)), Discarded::beside(data_dir));
        Self { reading, writing, compared, pace, forks, kept, discarded, journal, mark: None }
    }

    pub fn marking(self, mark: (&'static str, OsString)) -> Self {
        Self { mark: Some(mark), ..self }
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
        let taken = Repository::at(directory).await?.checkpoints(&store)?.take().await;
        self.kept.trim_soon(&self.reading);
        taken
    }

    /// What could not be recorded in a state that was listed. `None` if there is no such state.
    pub async fn left_out_of(
        &self,
        session: &SessionId,
        directory: &Path,
        state: &Tree,
    ) -> Result<Option<Vec<String>>, Failure> {
        let repository = Repository::at(directory).await?;
        if !repository.checkpoints(&self.kept.of(session))?.has(state).await? {
            return Ok(None);
        }
        if let Some(left_out) = self.compared.left_out_of(session, state) {
            return Ok(Some(left_out));
        }
        // It was listed before many others, or by another run. What is too large or unreadable now was so then, if
        // not much has happened.
        Ok(Some(scope::names_of(&self.checkpoint(session, directory).await?.left_out)))
    }

    /// Gives a branch of a session the checkpoints of the turns that it has in common with it.
    pub async fn share(&self, from: &SessionId, to: &SessionId) {
        let (from, to) = (self.kept.of(from), self.kept.of(to));
        let _one_at_a_time = self.reading.turn(&from).await;
        self.kept.share(from, to).await;
    }

    /// Removes a session's checkpoints.
    pub async fn forget(&self, session: &SessionId) {
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        self.kept.remove(&store).await;
    }

    /// How many bytes the checkpoints of all sessions take. With `most`, that is what they may take from now on.
    pub async fn storage(&self, most: Option<u64>) -> Result<ServerMessage, Failure> {
        let measured = async {
            if let Some(most) = most {
                self.kept.limit_to(most).await?;
                self.kept.trim(&self.reading).await?;
            }
            self.kept.measured().await
        };
        let (bytes, most) = measured.await.map_err(|error: std::io::Error| {
            let what = format!("The checkpoints could not be measured: {error}.");
            Failure::new(ErrorCode::InternalError, what)
        })?;
        Ok(ServerMessage::ChangesStorage { bytes, most })
    }

    /// How much a session changed, up to this state: its branch in a worktree, else the files that its calls named.
    async fn count(
        &self,
        session: &SessionId,
        directory: &Path,
        checkpoints: &Checkpoints,
        start: Start,
        now: Tree,
    ) -> Result<ChangeCounts, Failure> {
        let _one_at_a_time = self.reading.turn(directory).await;
        let found = self.since_the_start(directory, session, checkpoints, start, now).await?;
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
        beside: Beside,
    ) -> Result<ServerMessage, Failure> {
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let repository = Repository::at(&place.directory).await?;
        let branch = async { Ok(repository.branch().await?) };
        let (found, branch) =
            tokio::try_join!(self.find(repository.clone(), place, &session_id, &scope), branch)?;
        let branch = branch.map(|name| liminal_render::visible(&name));
        let mut files: Vec<_> = found.changes.files.iter().map(listed).collect();
        for file in &mut files {
            file.meanwhile = !found.is_named(&file.path);
        }
        self.name_others(&found, &mut files, &beside.others).await?;
        let undone = self.is_undone(&session_id, &found).await;
        let moved = comments::moved(&found.repository, &beside.comments).await;
        let others = beside.others.into_iter().map(|(_, title)| title).collect();
        let listed = ServerMessage::ChangesList {
            session_id: session_id.clone(),
            scope: scope.clone(),
            branch,
            root: found.repository.root().to_string_lossy().into_owned(),
            base: found.base.clone(),
            state: found.state.as_ref().map(|tree| tree.as_str().to_owned()),
            notes: found.notes.clone(),
            moved,
            others,
            undone,
            files,
            more: found.changes.more,
        };
        self.compared.keep_list(&session_id, &scope, found);
        Ok(listed)
    }

    /// Says which of the files that this agent didn't name another session's agent did.
    async fn name_others(
        &self,
        found: &Found,
        files: &mut [ChangedFile],
        others: &[(SessionId, String)],
    ) -> Result<(), Failure> {
        if !files.iter().any(|file| file.meanwhile) {
            return Ok(());
        }
        for (id, title) in others {
            let id = id.clone();
            let texts = self.journal.read(move |reader| reader.calls(&id, Turns::All)).await?;
            for file in files.iter_mut().filter(|file| file.meanwhile && file.by.is_none()) {
                file.by = found.are_named_in(&texts, &file.path).then(|| title.clone());
            }
        }
        Ok(())
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
