//! Settles acts that were under way when the program was killed: completed if they can be, else rolled back.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use liminal_contract::SessionId;
use liminal_git::{Checkpoints, Repository, UnderWay, remove_stale_locks};

use super::deed::{Moved, drop_all, tree};
use super::{Deed, discarding};
use crate::changes::Changes;
use crate::failure::Failure;
use crate::journal::ActState;

/// An act of the run before, and what became of it.
pub struct Settled {
    pub session: SessionId,
    /// For the user.
    pub words: String,
    /// For `undo-act`.
    pub undo: Option<String>,
}

impl Changes {
    /// To be called once, before anything else works in these directories.
    pub async fn settle_acts(&self) -> Result<Vec<Settled>, Failure> {
        let until = SystemTime::now();
        let unfinished = self.journal.read(|reader| reader.unfinished_acts()).await?;
        let mut settled = Vec::new();
        for (session, row) in unfinished {
            let store = self.kept.of(&session);
            let Ok(mut deed) = serde_json::from_str::<Deed>(&row.deed) else { continue };
            let at = u64::try_from(row.at.as_millis()).unwrap_or_default();
            let since = UNIX_EPOCH + Duration::from_millis(at);
            for root in deed.roots() {
                let _named_in_the_log = remove_stale_locks(&root, since, until).await;
            }
            let state = match deed.settle(&store).await {
                Ok(state) => state,
                Err(failure) => {
                    // Perhaps the disk is not there yet: the next start tries again.
                    tracing::warn!(%session, failure.message, "an act could not be settled");
                    continue;
                }
            };
            let words = deed.words(state);
            let undo = (state == ActState::Done && deed.can_undo()).then(|| row.id.clone());
            self.write_acts(&session, vec![deed.row(row.id, state, row.at)?]).await?;
            settled.push(Settled { session, words: words.to_owned(), undo });
        }
        Ok(settled)
    }
}

impl Deed {
    /// The working trees that it changes.
    fn roots(&self) -> Vec<PathBuf> {
        match self {
            Self::Restore { root, .. }
            | Self::Commit { root, .. }
            | Self::Uncommit { root, .. }
            | Self::StartMerge { root, .. }
            | Self::AbortMerge { root, .. }
            | Self::PullRequest { root, .. } => vec![root.clone()],
            Self::Discard { about, .. } | Self::BringBack { about, .. } => {
                vec![PathBuf::from(&about.shown.path), about.common.clone()]
            }
            Self::Move { root, moves, .. } => {
                let others = moves.iter().filter_map(|moved| moved.checkout.clone());
                [root.clone()].into_iter().chain(others).collect()
            }
        }
    }

    /// What became of it, for the user.
    fn words(&self, state: ActState) -> &'static str {
        match (self, state) {
            (Self::PullRequest { .. }, _) => {
                "Liminal Builder stopped while opening a pull request. Check there whether it is open."
            }
            (Self::Commit { made: None, .. }, ActState::Done) => {
                "Liminal Builder stopped while committing here. There is a new commit, but it may be another one. \
                 Check it with git log and git status."
            }
            (Self::AbortMerge { .. }, ActState::Failed) => {
                "Liminal Builder stopped before it aborted the merge here. Files or commits changed since, so the \
                 merge was left alone."
            }
            (_, ActState::Done) => {
                "Liminal Builder stopped while changing files here. The change has been completed."
            }
            (_, _) => {
                "Liminal Builder stopped while changing files here. The change has been rolled back."
            }
        }
    }

    /// Whether another act undoes it.
    fn can_undo(&self) -> bool {
        match self {
            Self::Restore { .. } | Self::Move { .. } | Self::Discard { .. } => true,
            Self::Commit { made, .. } => made.is_some(),
            Self::Uncommit { .. }
            | Self::StartMerge { .. }
            | Self::AbortMerge { .. }
            | Self::PullRequest { .. }
            | Self::BringBack { .. } => false,
        }
    }

    /// Completes it or rolls it back, and notes what it finds out on the way.
    async fn settle(&mut self, store: &Path) -> Result<ActState, Failure> {
        match self {
            Self::Restore { root, before, after } => {
                let checkpoints = Repository::at(root).await?.checkpoints(store)?;
                checkpoints.apply(&tree(before)?, &tree(after)?).await?;
                Ok(ActState::Done)
            }
            Self::Commit { root, head, made, message, .. } => {
                settle_commit(root, head.as_deref(), message.as_deref(), made).await
            }
            Self::Uncommit { root, commit, parent } => {
                let repository = Repository::at(root).await?;
                let is_back = repository.head().await?.commit == *parent;
                if let (true, Some(parent)) = (is_back, parent) {
                    repository.index_goes_to(Some(commit), parent).await?;
                }
                Ok(done_if(is_back))
            }
            Self::Move { root, why, moves, keep, drop } => {
                let repository = Repository::at(root).await?;
                let state = settle_moves(&repository, root, why, moves, store).await?;
                drop_all(&repository, if state == ActState::Done { drop } else { keep }).await;
                Ok(state)
            }
            Self::StartMerge { root, before, marked, .. } => {
                let repository = Repository::at(root).await?;
                let is_begun = repository.under_way() == Some(UnderWay::Merge);
                if !is_begun {
                    let checkpoints = repository.checkpoints(store)?;
                    checkpoints.apply(&tree(marked)?, &tree(before)?).await?;
                }
                Ok(done_if(is_begun))
            }
            Self::AbortMerge { root, head, tree } => {
                settle_abort(root, head.as_deref(), tree.as_deref(), store).await
            }
            // Nobody here knows how far it got.
            Self::PullRequest { .. } => Ok(ActState::Failed),
            Self::Discard { about, store, branch } => {
                let is_away = about.put_away(store).is_away();
                if is_away {
                    discarding::discard(about, store, branch.as_ref()).await?;
                } else {
                    discarding::keep(about, store, None).await?;
                }
                Ok(done_if(is_away))
            }
            Self::BringBack { about, store, branch } => {
                let brought = discarding::bring_back(about, store, branch).await;
                if let Err(failure) = &brought {
                    tracing::warn!(failure.message, "a worktree was not brought back");
                    discarding::stay_away(about, store).await?;
                }
                Ok(done_if(brought.is_ok()))
            }
        }
    }
}

const fn done_if(is_done: bool) -> ActState {
    if is_done { ActState::Done } else { ActState::Failed }
}

/// Looks for the commit, and notes it in `made` if it is certain that the act made it.
async fn settle_commit(
    root: &Path,
    head: Option<&str>,
    message: Option<&str>,
    made: &mut Option<String>,
) -> Result<ActState, Failure> {
    *made = None;
    let repository = Repository::at(root).await?;
    let Some(now) = repository.head().await?.commit else { return Ok(ActState::Failed) };
    if repository.parent(&now).await?.as_deref() != head {
        return Ok(ActState::Failed);
    }
    // Somebody else may have made it since. Then neither the index nor the commit is ours to change.
    if is_ours(&repository, &now, message).await? {
        repository.index_follows(head, &now).await?;
        *made = Some(now);
    }
    Ok(ActState::Done)
}

/// All branches move on if the first one has moved, else all go back.
async fn settle_moves(
    repository: &Repository,
    root: &Path,
    why: &str,
    moves: &[Moved],
    store: &Path,
) -> Result<ActState, Failure> {
    let is_begun = match moves.first() {
        Some(first) => first.carried().is_done(repository).await?,
        None => true,
    };
    for moved in moves.iter().map(Moved::carried) {
        let at = moved.checkout.as_deref().unwrap_or(root);
        let checkpoints = Repository::at(at).await?.checkpoints(store)?;
        if !is_begun {
            moved.reversed().settle(&checkpoints, why).await?;
        } else if !moved.is_done(repository).await? {
            // A branch that arrived has its files too: they go first.
            moved.settle(&checkpoints, why).await?;
        }
    }
    Ok(done_if(is_begun))
}

/// Aborts the merge if nothing has changed since the user decided to.
async fn settle_abort(
    root: &Path,
    head: Option<&str>,
    seen: Option<&str>,
    store: &Path,
) -> Result<ActState, Failure> {
    let repository = Repository::at(root).await?;
    let is_under_way = repository.under_way() == Some(UnderWay::Merge);
    if repository.head().await?.commit.as_deref() != head {
        return Ok(ActState::Failed);
    }
    if is_under_way {
        if !is_as_seen(&repository.checkpoints(store)?, seen).await? {
            return Ok(ActState::Failed);
        }
        repository.abort_merge().await?;
    }
    Ok(ActState::Done)
}

/// Whether a commit is one that an act made. Hooks may have changed its files and its message, but not what the reflog
/// says. Where none is kept, the message tells.
async fn is_ours(
    repository: &Repository,
    commit: &str,
    message: Option<&str>,
) -> Result<bool, Failure> {
    if repository.is_committed_here(commit).await? {
        return Ok(true);
    }
    let said = repository.message(commit).await?;
    Ok(message.is_some_and(|message| is_same(message, &said)))
}

/// Whether each file is as it was when the user decided to abort a merge, or as git leaves it when it does so.
async fn is_as_seen(checkpoints: &Checkpoints, seen: Option<&str>) -> Result<bool, Failure> {
    let Some(seen) = seen.map(tree).transpose()? else { return Ok(false) };
    let repository = checkpoints.repository();
    let (now, head) = tokio::try_join!(checkpoints.take(), repository.head_tree())?;
    let (since, aborted) = tokio::try_join!(
        repository.differences(&seen, &now.tree),
        repository.differences(&seen, &head)
    )?;
    Ok(since.iter().all(|each| aborted.contains(each)))
}

/// Whether git would make the same of two messages. It removes spaces at the ends of lines and empty lines.
fn is_same(one: &str, other: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    lines(one) == lines(other)
}
