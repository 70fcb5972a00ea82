//! Reads git repositories through the git program (2.30 or newer), as typed calls.
//!
//! Reading runs nothing that a repository or a user configured: no hook, pager, external diff, text conversion, filter
//! or file system monitor, and it fetches nothing. It takes no lock and writes no file. `command` has how.
//! Checkpoints write too, but only into a directory of the caller's. `worktree`, `commit`, `landing`, `restore`,
//! `put_away` and `pull_request` have what writes into a repository or its files.

mod branch;
mod changes;
mod checkpoint;
mod command;
mod commit;
mod file;
mod landing;
mod moves;
mod path;
mod pull_request;
mod put_away;
mod restore;
mod start;
mod tree;
mod worktree;

pub use branch::Apart;
pub use branch::{Head, UnderWay};
pub use changes::{Became, Change, Changes, Counts, Kind};
pub use checkpoint::{Checkpoint, Checkpoints, LARGEST_UNTRACKED, Tree};
pub use command::GitError;
pub use file::{Content, LARGEST_FILE, Versions};
pub use landing::{BranchMove, Checkout, Merged, remove_stale_locks};
pub use path::RepoPath;
pub use pull_request::{PullRequest, has_gh};
pub use put_away::PutAway;
pub use restore::{End, Fate, Left, Planned, fate};
pub use tree::{Difference, Entry};
pub use worktree::Bases;

use std::path::{Path, PathBuf};

use command::Git;

/// A repository with files, seen from one directory in it.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    /// The topmost directory of the working tree.
    root: PathBuf,
}

impl Repository {
    /// The repository that this directory is in.
    pub async fn at(directory: &Path) -> Result<Self, GitError> {
        let outside = Git::quiet(directory);
        let (root, git) = tokio::join!(
            outside.line(["rev-parse", "--show-toplevel"]),
            outside.clone().without_filters()
        );
        let root =
            root.map_err(
                |error| {
                    if error.is_no_repository() { GitError::NotARepository } else { error }
                },
            )?;
        let root = PathBuf::from(command::os_string(root));
        Ok(Self { git: git?.in_directory(&root), root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}
