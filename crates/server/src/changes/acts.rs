//! Acting on changes: every act is first a plan, which is shown, and then a deed, which is in the journal before
//! anything happens.
//!
//! A plan has a fingerprint of all that it depends on. `recovery` settles the deeds of a run that was killed.

mod committing;
mod deed;
mod discarding;
mod landing;
mod proposing;
mod recovery;
mod requesting;
mod restoring;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use liminal_contract::{ActPath, ChangeAct, ErrorCode, PathFate, SessionId, Timestamp, Worktree};
use liminal_git::{Checkpoints, GitError, Repository};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;

use super::scope::Named;
use super::{Changes, has_repository};
use crate::failure::Failure;
use crate::journal::{ActRow, ActState, Reader, Turns};
use crate::workspaces::Discarded;
pub use deed::Deed;
use deed::Extra;
pub use discarding::Owner;
pub use recovery::Settled;

/// Where an act takes place.
pub struct ActPlace {
    /// Where the session's agent works; `Err` if that is gone.
    pub directory: Result<PathBuf, Failure>,
    pub sharing: Sharing,
    pub worktree: Option<Worktree>,
    /// `None` if the session was deleted.
    pub owner: Option<Owner>,
}

/// Whose changes there can be in a session's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Only its own: no other session works there, or it is a worktree, which is committed and lands as a whole.
    Alone,
    WithOthers,
}

/// What an act would do, for people.
#[derive(Debug, Default)]
pub struct Preview {
    pub summary: String,
    pub paths: Vec<ActPath>,
    pub notes: Vec<String>,
    pub cannot: Vec<String>,
    pub message: Option<String>,
    /// To be typed instead.
    pub command: Option<String>,
    pub can_undo: bool,
}

/// An act, ready to be carried out.
pub struct Plan {
    pub preview: Preview,
    /// Differs whenever the act would do something else.
    pub expect: String,
    /// The working trees that it changes.
    pub roots: Vec<PathBuf>,
    /// `Err` says why it can't be carried out, although it can be shown.
    pub deed: Result<Deed, Failure>,
    /// The act that this one undoes.
    undoes: Option<String>,
    extra: Extra,
}

/// An act was carried out.
pub struct ActDone {
    pub summary: String,
    /// For `undo-act`.
    pub undo: Option<String>,
    /// The act that this one undid, if nothing is left of it.
    pub undone: Option<String>,
    /// To what was made elsewhere.
    pub link: Option<String>,
}

/// What plans are made from: the repository, with the files as they are.
struct Scene {
    checkpoints: Checkpoints,
    now: liminal_git::Checkpoint,
}

impl Scene {
    fn repository(&self) -> &Repository {
        self.checkpoints.repository()
    }

    fn root(&self) -> PathBuf {
        self.repository().root().to_owned()
    }

    fn head(&self) -> &liminal_git::Head {
        &self.now.head
    }
}

impl Changes {
    /// No act changes files in this directory until the guard is dropped, except its holder's.
    pub async fn acting(&self, directory: &Path) -> OwnedMutexGuard<()> {
        self.writing.turn(&root_of(directory)).await
    }

    /// Waits until no act changes files in this directory.
    pub async fn settled(&self, directory: &Path) {
        drop(self.acting(directory).await);
    }

    /// The worktrees that were discarded.
    pub fn discarded(&self) -> &Discarded {
        &self.discarded
    }

    /// Plans an act. Changes nothing.
    pub async fn plan(
        &self,
        place: &ActPlace,
        session: &SessionId,
        act: &ChangeAct,
    ) -> Result<Plan, Failure> {
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        if let Some((saved, undoes)) = self.brings_back(session, act).await? {
            return Ok(Plan { undoes, ..self.plan_bring_back(&saved).await? });
        }
        let scene = self.scene(place.directory()?, session).await?;
        match act {
            ChangeAct::RevertFile { scope, path } => {
                self.plan_revert(&scene, place, session, scope, path).await
            }
            ChangeAct::RevertHunk { scope, path, hunk } => {
                self.plan_hunk(&scene, place, session, (scope, path, hunk)).await
            }
            ChangeAct::UndoTurn { turn_id, paths } => {
                let chosen = paths.as_deref();
                self.plan_undo_turn(&scene, place, session, turn_id.as_ref(), chosen).await
            }
            ChangeAct::UndoAct { undo } => self.plan_undo(&scene, session, undo).await,
            ChangeAct::Commit { message, paths } => {
                let own = match place.sharing {
                    Sharing::Alone => None,
                    Sharing::WithOthers => Some(self.named(&scene, place, session).await?),
                };
                committing::plan(&scene, message, paths.as_deref(), own.as_ref()).await
            }
            ChangeAct::Land { how, message } => {
                landing::plan(&scene, place, *how, message.as_deref()).await
            }
            ChangeAct::StartMerge {} => landing::plan_merge(&scene, place).await,
            ChangeAct::AbortMerge {} => landing::plan_abort(&scene).await,
            ChangeAct::RestoreFiles { item_id, at, paths } => {
                let (point, chosen) = ((item_id, *at), paths.as_deref());
                self.plan_restore(&scene, place, session, point, chosen).await
            }
            ChangeAct::PullRequest { title, body } => {
                requesting::plan(&scene, place, title, body).await
            }
            ChangeAct::DiscardWorkspace { branch } => {
                self.plan_discard(&scene, place, *branch).await
            }
            ChangeAct::BringBack { .. } => Err(Failure::unexpected()),
        }
    }

    /// The discarded worktree that an act brings back, if it does, and the act that discarded it.
    async fn brings_back(
        &self,
        session: &SessionId,
        act: &ChangeAct,
    ) -> Result<Option<(String, Option<String>)>, Failure> {
        let undo = match act {
            ChangeAct::BringBack { saved } => {
                let (id, name) = (session.clone(), saved.clone());
                let discard = move |reader: &Reader<'_>| reader.act_that_names(&id, &name);
                return Ok(Some((saved.clone(), self.journal.read(discard).await?)));
            }
            ChangeAct::UndoAct { undo } => undo,
            _ => return Ok(None),
        };
        Ok(match self.undoable(session, undo).await? {
            Deed::Discard { about, .. } => Some((about.shown.saved, Some(undo.clone()))),
            _ => None,
        })
    }

    /// Carries out a plan, whose deed is in the journal first. One that can't be written there isn't carried out.
    pub async fn carry_out(&self, session: &SessionId, plan: Plan) -> Result<ActDone, Failure> {
        let Plan { preview, deed, undoes, extra, .. } = plan;
        let extra = Extra { mark: self.mark.clone(), ..extra };
        let deed = deed?;
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        let undone = match undoes.clone() {
            Some(undone) => self.undone(session, undone).await?,
            None => None,
        };
        let id = uuid::Uuid::now_v7().to_string();
        let at = Timestamp::from(SystemTime::now());
        let row = |state, deed: &Deed| deed.row(id.clone(), state, at);
        self.write_acts(session, vec![row(ActState::Intended, &deed)?]).await?;
        match deed.carry_out(&store, extra).await {
            Ok((deed, left)) => {
                // An act stays as it is until nothing is left of it: another try puts back what this one left.
                let is_whole = left.is_empty() && !preview.leaves_some();
                let (undoes, undone) = if is_whole { (undoes, undone) } else { (None, None) };
                self.note(session, row(ActState::Done, &deed), undone).await;
                let summary = with_left(preview.summary, &left);
                let link = deed.link().map(str::to_owned);
                let undo = preview.can_undo.then_some(id);
                Ok(ActDone { summary, undo, undone: undoes, link })
            }
            Err(failure) => {
                deed.roll_back(&store).await;
                self.note(session, row(ActState::Failed, &deed), None).await;
                Err(failure)
            }
        }
    }

    /// The files that a session's tool calls named.
    async fn named(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
    ) -> Result<Named, Failure> {
        let id = session.clone();
        let texts = self.journal.read(move |reader| reader.calls(&id, Turns::All)).await?;
        Ok(Named::new(texts, place.directory()?, scene.repository().root()))
    }

    /// The files as they are, in one state that plans can refer to.
    async fn scene(&self, directory: &Path, session: &SessionId) -> Result<Scene, Failure> {
        if !has_repository(directory) {
            return Err(GitError::NotARepository.into());
        }
        let repository = Repository::at(directory).await?;
        let checkpoints = repository.checkpoints(&self.kept.of(session))?;
        let now = checkpoints.take().await?;
        Ok(Scene { checkpoints, now })
    }

    /// An act on one session's files belongs to another one from now on, which [`share`](Self::share)s its checkpoints.
    /// Returns what undoes it there.
    pub async fn hand_over(&self, from: &SessionId, to: &SessionId, id: String) -> Option<String> {
        let (asked, name) = (from.clone(), id.clone());
        let row = self.journal.read(move |reader: &Reader<'_>| reader.act(&asked, &name)).await;
        self.write_acts(to, vec![row.ok().flatten()?]).await.ok()?;
        Some(id)
    }

    /// The row of an act, once another one has undone it.
    async fn undone(&self, session: &SessionId, id: String) -> Result<Option<ActRow>, Failure> {
        let asked = session.clone();
        let row = self.journal.read(move |reader: &Reader<'_>| reader.act(&asked, &id)).await?;
        Ok(row.map(|row| ActRow { state: ActState::Undone, ..row }))
    }

    /// Writes what became of an act, together with the one that it undid. It has happened, whatever becomes of this:
    /// an act that stays intended is settled by the next start.
    async fn note(
        &self,
        session: &SessionId,
        row: Result<ActRow, Failure>,
        undone: Option<ActRow>,
    ) {
        let written = match row {
            Ok(row) => self.write_acts(session, [row].into_iter().chain(undone).collect()).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = written {
            tracing::error!(%session, failure.message, "what became of an act was not written");
        }
    }

    /// Returns when they are on disk.
    async fn write_acts(&self, session: &SessionId, rows: Vec<ActRow>) -> Result<(), Failure> {
        let (done, written) = tokio::sync::oneshot::channel();
        let committed = Box::new(move || {
            let _asker_left = done.send(());
        });
        self.journal.acts(session, rows, committed);
        written.await.map_err(|_journal_ended| {
            refused("Liminal Builder is stopping, so nothing was changed. Try again when it runs.")
        })
    }
}

impl ActPlace {
    fn directory(&self) -> Result<&Path, Failure> {
        self.directory.as_deref().map_err(Clone::clone)
    }
}

impl Preview {
    /// Whether a file that belongs to it stays as it is.
    fn leaves_some(&self) -> bool {
        self.paths.iter().any(|path| path.what == PathFate::Leave)
    }
}

impl Plan {
    /// Where the branch is that something lands in.
    pub fn base(&self) -> Option<String> {
        match &self.deed {
            Ok(Deed::Move { moves, .. }) => moves.first().map(|moved| moved.from.clone()),
            Ok(_) | Err(_) => None,
        }
    }

    /// The branch on which a discarded worktree comes back.
    pub fn branch_back(&self) -> Option<String> {
        match &self.deed {
            Ok(Deed::BringBack { branch, .. }) => Some(branch.clone()),
            Ok(_) | Err(_) => None,
        }
    }

    fn new(
        preview: Preview,
        roots: Vec<PathBuf>,
        deed: Result<Deed, Failure>,
        world: &[&str],
    ) -> Self {
        let expect = fingerprint(world);
        Self { preview, expect, roots, deed, undoes: None, extra: Extra::default() }
    }
}

/// Of everything that an act depends on.
fn fingerprint(world: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in world {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn refused(words: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ActRefused, words)
}

/// "3 files", "1 file".
fn counted(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// At most five, and how many more.
fn named(paths: impl IntoIterator<Item = impl ToString>) -> String {
    let paths: Vec<String> = paths.into_iter().map(|path| path.to_string()).collect();
    let shown = paths.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn with_left(summary: String, left: &[String]) -> String {
    match left {
        [] => summary,
        left => format!("{summary} Left as they are: {}.", named(left)),
    }
}

/// The topmost directory of the working tree, without asking git.
pub fn root_of(directory: &Path) -> PathBuf {
    let real = directory.canonicalize().unwrap_or_else(|_gone| directory.to_owned());
    let root = real.ancestors().find(|each| each.join(".git").exists());
    root.map(Path::to_owned).unwrap_or(real)
}
