//! Reads git repositories through the git program (2.30 or newer, 2.38 for landing), as typed calls.
//!
//! Reading runs nothing that a repository or a user configured: no hook, pager, external diff, text conversion, filter
//! or file system monitor, and it fetches nothing. It takes no lock and writes no file. `command` has how.
//! Checkpoints write too, but only into a directory of the caller's. `worktree`, `commit`, `landing`, `restore`,
//! `put_away` and `pull_request` have what writes into a repository or its files.

mod adding;
mod branch;
mod changes;
mod checkpoint;
mod command;
mod commit;
mod file;
mod index;
mod landing;
mod moves;
mod on_disk;
mod path;
mod pull_request;
mod put_away;
mod restore;
mod standing;
mod start;
mod tree;
mod worktree;

pub use adding::LARGEST_UNTRACKED;
pub use branch::{Apart, Fork, Head, UnderWay};
pub use changes::{Became, Change, Changes, Counts, Kind};
pub use checkpoint::{Checkpoint, Checkpoints, Tree};
pub use command::{GitError, OwnPrograms};
pub use file::{Content, LARGEST_FILE, Versions};
pub use landing::{BranchMove, Checkout, Merged, remove_stale_locks};
pub use path::RepoPath;
pub use pull_request::{PullRequest, has_gh};
pub use put_away::PutAway;
pub use restore::{End, Fate, Left, Planned, fate};
pub use standing::Standing;
pub use tree::{Difference, Entry};
pub use worktree::Bases;

use std::fs;
use std::path::{Path, PathBuf};

use command::Git;

/// A repository with files, seen from one directory in it.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    /// The topmost directory of the working tree.
    root: PathBuf,
    /// Where git keeps what belongs to this working tree.
    private: PathBuf,
}

impl Repository {
    /// The repository that this directory is in.
    pub async fn at(directory: &Path) -> Result<Self, GitError> {
        let outside = Git::quiet(directory);
        let call = ["rev-parse", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"];
        let (printed, git) = tokio::join!(outside.line(call), outside.clone().without_filters());
        let printed = printed.map_err(|error| {
            if error.is_no_repository() { GitError::NotARepository } else { error }
        })?;
        // The last may contain line breaks; the others can't.
        let [b"true", up, private] =
            printed.splitn(3, |&byte| byte == b'\n').collect::<Vec<_>>()[..]
        else {
            return Err(GitError::NotARepository);
        };
        let steps = up.iter().filter(|&&byte| byte == b'/').count();
        let below = directory.canonicalize().map_err(|error| unreadable(directory, &error))?;
        let root = below.ancestors().nth(steps).unwrap_or(&below).to_owned();
        let private = PathBuf::from(command::os_string(private.to_vec()));
        Ok(Self { git: git?.in_directory(&root), root, private })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where git keeps what all working trees of the repository share.
    fn common(&self) -> PathBuf {
        match fs::read(self.private.join("commondir")) {
            Ok(path) => self.private.join(command::os_string(path.trim_ascii_end().to_vec())),
            Err(_only_linked_ones_have_it) => self.private.clone(),
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> GitError {
    GitError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}
