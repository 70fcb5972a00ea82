//! What an act does, with all that is needed to do it, to complete it after a crash, and to undo it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_contract::{ErrorCode, Timestamp};
use liminal_git::{BranchMove, OwnPrograms, PullRequest, RepoPath, Repository, Tree};
use serde::{Deserialize, Serialize};

use super::{discarding, refused};
use crate::failure::Failure;
use crate::journal::{ActRow, ActState};
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
    Restore { root: PathBuf, before: String, after: String },
    Commit {
        root: PathBuf,
        /// The last commit before.
        head: Option<String>,
        /// The one that was made, if it is certain which that is.
        made: Option<String>,
        /// Earlier versions didn't write it.
        #[serde(default)]
        message: Option<String>,
        /// The branch that it is on. Earlier versions didn't write it.
        #[serde(default)]
        branch: Option<String>,
    },
    /// Takes a commit back.
    Uncommit { root: PathBuf, commit: String, parent: Option<String> },
    /// Branches move, in this order.
    Move {
        root: PathBuf,
        why: String,
        moves: Vec<Moved>,
        /// Names for commits, made before.
        keep: Vec<(String, String)>,
        /// Names that are removed after it.
        #[serde(default)]
        drop: Vec<(String, String)>,
    },
    StartMerge {
        root: PathBuf,
        /// The base.
        branch: String,
        /// Its last commit, which is merged. Earlier versions merged the branch by its name.
        #[serde(default)]
        base_tip: Option<String>,
        before: String,
        /// With the marks of the conflicts.
        marked: String,
    },
    /// Of the merge that is under way on this commit, with the files as they are. Earlier versions wrote neither.
    AbortMerge {
        root: PathBuf,
        #[serde(default)]
        head: Option<String>,
        #[serde(default)]
        tree: Option<String>,
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
    BringBack { about: About, store: PathBuf, branch: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub checkout: Option<PathBuf>,
    pub branch: String,
    pub from: String,
    pub to: String,
    /// Files in the checkout that were there before the branch had them, and stay. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<String>,
}

/// What only the act itself needs, not its recovery.
#[derive(Debug, Default)]
pub struct Extra {
    pub paths: Vec<RepoPath>,
    /// Of what the user's hooks start.
    pub mark: Option<(&'static str, OsString)>,
}

impl Moved {
    pub fn carried(&self) -> BranchMove {
        BranchMove {
            checkout: self.checkout.clone(),
            branch: self.branch.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            standing: self.standing.iter().map(|path| RepoPath::new(path.as_bytes())).collect(),
        }
    }
}

impl Deed {
    /// For the journal, where JSON can't hold a path that isn't UTF-8.
    pub fn row(&self, id: String, state: ActState, at: Timestamp) -> Result<ActRow, Failure> {
        let deed = serde_json::to_string(self).map_err(|error| {
            refused(format!("This can't be recorded, so nothing was changed: {error}."))
        })?;
        Ok(ActRow { id, state, at, deed })
    }

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
            Self::Commit { root, message, .. } => {
                let checkpoints = Repository::at(root).await?.checkpoints(store)?;
                let message = message.as_deref().unwrap_or_default();
                let own = OwnPrograms { limit: LONGEST_COMMIT, mark: extra.mark };
                let commit = checkpoints.commit(message, &extra.paths, own).await?;
                let mut done = self.clone();
                if let Self::Commit { made, .. } = &mut done {
                    *made = Some(commit);
                }
                Ok((done, Vec::new()))
            }
            Self::Uncommit { root, commit, parent } => {
                let repository = Repository::at(root).await?;
                repository.uncommit(commit, parent.as_deref()).await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::Move { root, why, moves, keep, drop } => {
                let repository = Repository::at(root).await?;
                for (name, commit) in keep {
                    repository.keep_ref(name, commit).await?;
                }
                let checkpoints = repository.checkpoints(store)?;
                for moved in moves {
                    let moved = moved.carried();
                    moved.carry_out(&checkpoints, why).await?;
                    if !moved.is_done(&repository).await? {
                        let words = format!("{} did not arrive at its new commit.", moved.branch);
                        return Err(Failure::new(ErrorCode::GitFailed, words));
                    }
                }
                drop_all(&repository, drop).await;
                Ok((self.clone(), Vec::new()))
            }
            Self::StartMerge { root, branch, base_tip, .. } => {
                let (commit, message) = (base_tip.as_ref(), format!("Merge branch '{branch}'"));
                let repository = Repository::at(root).await?;
                repository.start_merge(commit.unwrap_or(branch), &message).await?;
                Ok((self.clone(), Vec::new()))
            }
            Self::AbortMerge { root, .. } => {
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
                let own = OwnPrograms { limit: LONGEST_PUSH, mark: extra.mark };
                let made = repository.open_pull_request(&request, &own).await?;
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
                Self::Move { root, why, moves, keep, .. } => {
                    let repository = Repository::at(root).await?;
                    let checkpoints = repository.checkpoints(store)?;
                    for moved in moves.iter().rev().map(Moved::carried) {
                        if moved.is_done(&repository).await? {
                            moved.reversed().carry_out(&checkpoints, why).await?;
                        }
                    }
                    drop_all(&repository, keep).await;
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

/// Removes the names of commits that a branch has again.
pub async fn drop_all(repository: &Repository, kept: &[(String, String)]) {
    for (name, commit) in kept {
        let _never_made = repository.drop_ref(name, commit).await;
    }
}

pub fn tree(name: &str) -> Result<Tree, Failure> {
    Tree::new(name).ok_or_else(|| refused("The journal names a state that doesn't exist."))
}
