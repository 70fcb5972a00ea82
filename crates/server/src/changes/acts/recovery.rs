//! Settles acts that were under way when the program was killed: completed if they can be, else taken back.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use liminal_contract::SessionId;
use liminal_git::{Repository, remove_stale_locks};

use super::Deed;
use super::deed::{Moved, tree};
use crate::changes::Changes;
use crate::failure::Failure;
use crate::journal::{ActRow, ActState};

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
            let Ok(deed) = serde_json::from_str::<Deed>(&row.deed) else { continue };
            let at = u64::try_from(row.at.as_millis()).unwrap_or_default();
            let since = UNIX_EPOCH + Duration::from_millis(at);
            for root in deed.roots() {
                let _named_in_the_log = remove_stale_locks(&root, since, until).await;
            }
            let (deed, state) = match deed.settle(&store).await {
                Ok(settled) => settled,
                Err(failure) => {
                    // Perhaps the disk is not there yet: the next start tries again.
                    tracing::warn!(%session, failure.message, "an act could not be settled");
                    continue;
                }
            };
            let words = match state {
                ActState::Done => {
                    "Liminal ended while it changed files here. That is complete now."
                }
                _ => "Liminal ended while it changed files here. That was taken back.",
            };
            let undo = (state == ActState::Done).then(|| row.id.clone());
            let deed = serde_json::to_string(&deed).unwrap_or_default();
            self.write_act(&session, ActRow { state, deed, ..row }).await;
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
            | Self::AbortMerge { root } => vec![root.clone()],
            Self::Move { root, moves, .. } => {
                let others = moves.iter().filter_map(|moved| moved.checkout.clone());
                [root.clone()].into_iter().chain(others).collect()
            }
        }
    }

    async fn settle(self, store: &Path) -> Result<(Self, ActState), Failure> {
        match self {
            Self::Restore { root, before, after } => {
                let checkpoints = Repository::at(&root).await?.checkpoints(store).await?;
                checkpoints.apply(&tree(&before)?, &tree(&after)?).await?;
                Ok((Self::Restore { root, before, after }, ActState::Done))
            }
            Self::Commit { root, head, .. } => {
                let repository = Repository::at(&root).await?;
                let now = repository.head().await?.commit;
                let made = match now {
                    Some(now) if repository.parent(&now).await? == head => Some(now),
                    _ => None,
                };
                if let Some(made) = &made {
                    repository.index_follows(head.as_deref(), made).await?;
                }
                let state = if made.is_some() { ActState::Done } else { ActState::Failed };
                Ok((Self::Commit { root, head, made }, state))
            }
            Self::Uncommit { root, commit, parent } => {
                let repository = Repository::at(&root).await?;
                let is_back = repository.head().await?.commit == parent;
                if is_back && parent.is_some() {
                    repository
                        .index_follows(Some(&commit), parent.as_deref().unwrap_or_default())
                        .await?;
                }
                let state = if is_back { ActState::Done } else { ActState::Failed };
                Ok((Self::Uncommit { root, commit, parent }, state))
            }
            Self::Move { root, why, moves, keep } => {
                let any = Repository::at(&root).await?;
                let is_begun = match moves.first() {
                    Some(first) => first.carried().is_done(&any).await?,
                    None => true,
                };
                let state = if is_begun { ActState::Done } else { ActState::Failed };
                for moved in moves.iter().map(Moved::carried) {
                    let at = moved.checkout.clone().unwrap_or_else(|| root.clone());
                    let checkpoints = Repository::at(&at).await?.checkpoints(store).await?;
                    // A branch that arrived has its files too: they go first.
                    let is_done = moved.is_done(&any).await?;
                    match state {
                        ActState::Done if !is_done => moved.settle(&checkpoints, &why).await?,
                        ActState::Failed => moved.reversed().settle(&checkpoints, &why).await?,
                        _ => {}
                    }
                }
                Ok((Self::Move { root, why, moves, keep }, state))
            }
            Self::StartMerge { root, branch, before, marked } => {
                let repository = Repository::at(&root).await?;
                let is_begun = repository.under_way().await?.is_some();
                if !is_begun {
                    let checkpoints = repository.checkpoints(store).await?;
                    checkpoints.apply(&tree(&marked)?, &tree(&before)?).await?;
                }
                let state = if is_begun { ActState::Done } else { ActState::Failed };
                Ok((Self::StartMerge { root, branch, before, marked }, state))
            }
            Self::AbortMerge { root } => {
                let repository = Repository::at(&root).await?;
                if repository.under_way().await?.is_some() {
                    repository.abort_merge().await?;
                }
                Ok((Self::AbortMerge { root }, ActState::Done))
            }
        }
    }
}
