//! Worktrees: the first thing that this crate writes into a repository.
//!
//! Checking out runs the filters that the user configured, as it must to get the right files, but no hook.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::command::Git;
use crate::{GitError, Kind, RepoPath, Repository};

/// Names the ignored files that a new worktree gets a copy of, with the syntax of `.gitignore`.
const INCLUDE: &str = ".worktreeinclude";
/// In bytes, for all of them.
const MOST_INCLUDED: u64 = 200 << 20;

/// What a worktree can be made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bases {
    /// Absent while HEAD names a commit instead.
    pub current: Option<String>,
    /// Local branches, the last used first.
    pub branches: Vec<String>,
    /// Files that are not committed.
    pub uncommitted: usize,
}

impl Repository {
    pub async fn bases(&self) -> Result<Bases, GitError> {
        let refs = [
            "for-each-ref",
            "--sort=-committerdate",
            "--count=100",
            "--format=%(refname:short)",
            "refs/heads",
        ];
        let (current, refs, changes) =
            tokio::try_join!(self.branch(), self.git.run(refs), self.uncommitted())?;
        let branches = String::from_utf8_lossy(&refs).lines().map(str::to_owned).collect();
        Ok(Bases { current, branches, uncommitted: changes.files.len() + changes.more })
    }

    /// Checks out a new branch in a new directory. Without a base it starts at the last commit. If that fails, nothing
    /// of it is left.
    pub async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        base: Option<&str>,
    ) -> Result<(), GitError> {
        let base = base.unwrap_or("HEAD");
        let commit = format!("{base}^{{commit}}");
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let commit = self.quiet_line(&verify).await?;
        let commit = commit.ok_or_else(|| GitError::NoCommit { base: base.to_owned() })?;
        let writing = Git::quiet(&self.root);
        // A call of its own, which fails if it exists: what is removed below is ours then.
        writing.run(["branch", "--quiet", "--no-track", "--", branch, &commit]).await?;
        let add = ["worktree", "add", "--quiet", "--"].map(OsStr::new);
        let added = writing.run(add.into_iter().chain([path.as_os_str(), OsStr::new(branch)]));
        let Err(error) = added.await else { return Ok(()) };
        self.take_back(path, branch, &commit).await;
        Err(error)
    }

    /// Removes what is left of a worktree that could not be made, and its branch if that has no commit of its own.
    async fn take_back(&self, path: &Path, branch: &str, commit: &str) {
        let writing = Git::quiet(&self.root);
        // As git names it, which follows links.
        let at = path.canonicalize().unwrap_or_else(|_missing| path.to_owned());
        let checkouts = self.checkouts().await.unwrap_or_default();
        if checkouts.iter().any(|each| each.path == at && each.branch.as_deref() == Some(branch)) {
            // git had no time to do it, nor to unlock it.
            let remove = ["worktree", "remove", "--force", "--force", "--"].map(OsStr::new);
            let _stays_listed = writing.run(remove.into_iter().chain([path.as_os_str()])).await;
        }
        let name = format!("refs/heads/{branch}");
        let _has_commits = writing.run(["update-ref", "-d", &name, commit]).await;
    }

    /// Makes a worktree again that vanished from its directory. Its branch is checked out, or made if it is gone too.
    pub async fn renew_worktree(
        &self,
        path: &Path,
        branch: &str,
        base: Option<&str>,
    ) -> Result<(), GitError> {
        let writing = Git::quiet(&self.root);
        // git still lists the one that vanished.
        let add = ["worktree", "add", "--quiet", "--force"].map(OsStr::new);
        if self.has_branch(branch).await? {
            let what = [OsStr::new("--"), path.as_os_str(), OsStr::new(branch)];
            writing.run(add.into_iter().chain(what)).await?;
            return Ok(());
        }
        let commit = match base {
            Some(base) if self.has_branch(base).await? => format!("refs/heads/{base}"),
            Some(_) | None => "HEAD".to_owned(),
        };
        let what = ["--no-track", "-b", branch, "--"].map(OsStr::new);
        let what = what.into_iter().chain([path.as_os_str(), OsStr::new(&commit)]);
        writing.run(add.into_iter().chain(what)).await?;
        Ok(())
    }

    /// Removes a worktree and its branch, with all that is in them.
    pub async fn discard_worktree(&self, path: &Path, branch: &str) -> Result<(), GitError> {
        let remove = ["worktree", "remove", "--force", "--"].map(OsStr::new);
        let removed = self.git.run(remove.into_iter().chain([path.as_os_str()])).await;
        // One that was made in part may be gone already, and its branch not.
        let branch_removed = self.git.run(["branch", "--quiet", "-D", "--", branch]).await;
        removed.and(branch_removed).map(drop)
    }

    /// Whether a branch exists.
    pub async fn has_branch(&self, name: &str) -> Result<bool, GitError> {
        let name = format!("refs/heads/{name}");
        Ok(self
            .quiet_line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])
            .await?
            .is_some())
    }

    /// Copies what is not committed into a worktree that was just made from the last commit.
    pub async fn bring_uncommitted(&self, to: &Path) -> Result<(), GitError> {
        let changes = self.uncommitted().await?;
        if changes.more > 0 {
            let what = "too many uncommitted files to bring along".to_owned();
            return Err(GitError::Unexpected { call: "diff", what });
        }
        let (mut copied, mut removed) = (Vec::new(), Vec::new());
        for change in changes.files {
            match change.kind {
                Kind::Deleted => removed.push(change.path),
                Kind::Renamed { from } => {
                    removed.push(from);
                    copied.push(change.path);
                }
                Kind::Submodule => {}
                Kind::Added | Kind::Untracked | Kind::Modified | Kind::Unmerged => {
                    copied.push(change.path);
                }
            }
        }
        self.copy(to, copied, removed, u64::MAX).await
    }

    /// Copies the ignored files that `.worktreeinclude` names.
    pub async fn include_ignored(&self, to: &Path) -> Result<(), GitError> {
        if !self.root.join(INCLUDE).is_file() {
            return Ok(());
        }
        let list = ["ls-files", "--others", "--ignored", "-z"];
        let from = format!("--exclude-from={INCLUDE}");
        let (ignored, named) = tokio::try_join!(
            self.git.run(list.into_iter().chain(["--exclude-standard"])),
            self.git.run(list.into_iter().chain([from.as_str()]))
        )?;
        let (ignored, named) = (paths(&ignored), paths(&named));
        let both = ignored.intersection(&named).cloned().collect();
        self.copy(to, both, Vec::new(), MOST_INCLUDED).await
    }

    async fn copy(
        &self,
        to: &Path,
        copied: Vec<RepoPath>,
        removed: Vec<RepoPath>,
        most: u64,
    ) -> Result<(), GitError> {
        let (from, to) = (self.root.clone(), to.to_owned());
        let shown = to.display().to_string();
        let work = move || {
            let from = Dir::open_ambient_dir(from, ambient_authority())?;
            let to = Dir::open_ambient_dir(to, ambient_authority())?;
            for path in removed {
                match to.remove_file(path.as_path()) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => remove_empty_parents(&to, path.as_path()),
                }
            }
            let mut left = most;
            copied.iter().try_for_each(|path| copy_file(&from, &to, path.as_path(), &mut left))
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| GitError::Unexpected { call: "worktree", what: error.to_string() })?
            .map_err(|error| GitError::Unwritable { path: shown, reason: error.to_string() })
    }
}

/// A file may have taken the place of a directory.
fn remove_empty_parents(to: &Dir, path: &Path) {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    for parent in parents {
        if to.remove_dir(parent).is_err() {
            return; // Something is left in it.
        }
    }
}

/// Both directories are opened so that no link leads out of them.
fn copy_file(from: &Dir, to: &Dir, path: &Path, left: &mut u64) -> io::Result<()> {
    let found = match from.symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if let Some(parent) = path.parent() {
        to.create_dir_all(parent)?;
    }
    // What was in a directory that became a file is gone from it by now, but for empty directories.
    if !found.is_dir() && to.symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
        to.remove_dir_all(path)?;
    }
    if found.is_symlink() {
        match to.remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        return to.symlink_contents(from.read_link_contents(path)?, path);
    }
    if !found.is_file() {
        return Ok(());
    }
    *left = left.checked_sub(found.len()).ok_or_else(|| {
        io::Error::other(format!("{INCLUDE} names more than {} MB", MOST_INCLUDED >> 20))
    })?;
    from.copy(path, to, path).map(drop)
}

fn paths(printed: &[u8]) -> BTreeSet<RepoPath> {
    printed.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect()
}
