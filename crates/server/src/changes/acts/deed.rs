//! What an act does, with all that is needed to do it, to complete it after a crash, and to undo it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_git::{BranchMove, PullRequest, RepoPath, Repository, Tree};
use serde::{Deserialize, Serialize};

use super::{discarding, refused};
use crate::failure::Failure;
use crate::workspaces::About;

/// Hooks may run tests. After this they are ended.
const LONGEST_COMMIT: Duration = Duration::from_secs(120);

/// A network may be slow, and hooks may run tests.
const LONGEST_PUSH: Duration = Duration::from_secs(120);

/// In the journal, so its names are permanent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Deed {
    /// Files go from one state to another.
    Restore {
        root: PathBuf,
        before: String,
        after: String,
    },
    Commit {
        root: PathBuf,
        /// The last commit before.
        head: Option<String>,
        /// The one that was made.
        made: Option<String>,
    },
    /// Takes a commit back.
    Uncommit {
        root: PathBuf,
        commit: String,
        parent: Option<String>,
    },
    /// Branches move, in this order.
    Move {
        root: PathBuf,
        why: String,
        moves: Vec<Moved>,
        keep: Vec<(String, String)>,
    },
    StartMerge {
        root: PathBuf,
        branch: String,
        before: String,
        /// With the marks of the conflicts.
        marked: String,
    },
    AbortMerge {
        root: PathBuf,
    },
    PullRequest {
        root: PathBuf,
        remote: String,
        branch: String,
        base: String,
        title: String,
        body: String,
        /// Once it is open.
        link: Option<String>,
    },
    /// A worktree goes into a store.
    Discard {
        about: About,
        store: PathBuf,
        /// A branch that goes too, with its last commit.
        branch: Option<(String, String)>,
    },
    /// And comes out of it, on this branch.
    BringBack {
        about: About,
        store: PathBuf,
        branch: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub checkout: Option<PathBuf>,
    pub branch: String,
    pub from: String,
    pub to: String,
}

/// What only the act itself needs, not its recovery.
#[derive(Debug, Default)]
pub struct Extra {
    pub message: String,
    pub paths: Vec<RepoPath>,
}

impl Moved {
    pub fn carried(&self) -> BranchMove {
        BranchMove {
            checkout: self.checkout.clone(),
            branch: self.branch.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
        }
    }
}

impl Deed {
    /// Returns what was done, and the files that were left alone. If it fails, [`roll_back`](Self::roll_back) follows.
    pub async fn carry_out(
        &self,
        store: &Path,
        extra: Extra,
    ) -> Result<(Self, Vec<String>), Failure> {
        match self {
            Self::Restore { root, before, after } => {
                let checkpoints = Repository::at(root).await?.checkpoints(store)?;
                let left = checkpoints.apply(&tree(before)?, &tree(after)?).await?;
                Ok((self.clone(), left.into_iter().map(|(path, _)| path.to_string()).collect()))
            }
            Self::Commit { root, head, .. } => {
                let checkpoints = Repository::at(root).await?.checkpoints(store)?;
                let Extra { message, paths } = extra;
                let made = checkpoints.commit(&message, &paths, LONGEST_COMMIT).await?;
                let done =
                    Self::Commit { root: root.clone(), head: head.clone(), made: Some(made) };
                Ok((done, Vec::new()))
            }
            Self::Uncommit { root, commit, parent } => {
                let repository = Repository::at(root).await?;
                repository.uncommit(commit, parent.as_deref()).await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::Move { root, why, moves, keep } => {
                let repository = Repository::at(root).await?;
                for (name, commit) in keep {
                    repository.keep_ref(name, commit).await?;
                }
                for moved in moves {
                    let moved = moved.carried();
                    moved.carry_out(&repository, why).await?;
                    if !moved.is_done(&repository).await? {
                        let words = format!("{} did not arrive at its new commit.", moved.branch);
                        return Err(refused(words));
                    }
                }
                Ok((self.clone(), Vec::new()))
            }
            Self::StartMerge { root, branch, .. } => {
                Repository::at(root).await?.start_merge(branch).await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::AbortMerge { root } => {
                Repository::at(root).await?.abort_merge().await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::PullRequest { root, remote, branch, base, title, body, .. } => {
                if title.is_empty() {
                    return Err(refused("Write a title for the pull request."));
                }
                let request = PullRequest {
                    remote: remote.clone(),
                    branch: branch.clone(),
                    base: base.clone(),
                    title: title.clone(),
                    body: body.clone(),
                };
                let repository = Repository::at(root).await?;
                let made = repository.open_pull_request(&request, LONGEST_PUSH).await?;
                let mut done = self.clone();
                if let Self::PullRequest { link, .. } = &mut done {
                    *link = Some(made);
                }
                Ok((done, Vec::new()))
            }
            Self::Discard { about, store, branch } => {
                discarding::discard(about, store, branch.as_ref()).await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::BringBack { about, store, branch } => {
                discarding::bring_back(about, store, branch).await?;
                Ok((self.clone(), Vec::new()))
            }
        }
    }

    /// To what was made elsewhere.
    pub fn link(&self) -> Option<&str> {
        match self {
            Self::PullRequest { link, .. } => link.as_deref(),
            _ => None,
        }
    }

    /// Takes back what was done in part.
    pub async fn roll_back(&self, store: &Path) {
        let rolled_back = async {
            match self {
                Self::Restore { root, before, after } => {
                    let checkpoints = Repository::at(root).await?.checkpoints(store)?;
                    checkpoints.apply(&tree(after)?, &tree(before)?).await?;
                }
                Self::Move { root, why, moves, .. } => {
                    let repository = Repository::at(root).await?;
                    for moved in moves.iter().rev().map(Moved::carried) {
                        if moved.is_done(&repository).await? {
                            moved.reversed().carry_out(&repository, why).await?;
                        }
                    }
                }
                Self::Discard { about, store, branch } => {
                    discarding::keep(about, store, branch.as_ref()).await?;
                }
                Self::BringBack { about, store, .. } => {
                    discarding::stay_away(about, store).await?;
                }
                Self::Commit { .. }
                | Self::Uncommit { .. }
                | Self::StartMerge { .. }
                | Self::AbortMerge { .. }
                | Self::PullRequest { .. } => {}
            }
            Ok::<_, Failure>(())
        };
        if let Err(failure) = rolled_back.await {
            tracing::error!(failure.message, "an act could not be rolled back");
        }
    }
}

pub fn tree(name: &str) -> Result<Tree, Failure> {
    Tree::new(name).ok_or_else(|| refused("The journal names a state that doesn't exist."))
}
