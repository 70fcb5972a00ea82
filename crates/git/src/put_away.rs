//! Putting a worktree away and bringing it back.
//!
//! Its directory and what git knows about it are moved, not copied: nothing is left out, not even ignored files. Each
//! step can be repeated, so whatever was cut short is completed by the same call.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::changes::parse_columns;
use crate::checkpoint::{aside, unwritable};
use crate::command::Git;
use crate::tree::SUBMODULE;
use crate::{GitError, Repository};

/// How many earlier commits of a worktree's HEAD stay reachable.
const MOST_EARLIER: &str = "--max-count=100";

/// Of a store that is being removed.
const GONE: &str = "gone";

/// A worktree, and where it is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutAway {
    /// What all worktrees of the repository share.
    pub common: PathBuf,
    /// The worktree's topmost directory.
    pub path: PathBuf,
    /// What git knows about it, below `common`.
    pub private: PathBuf,
    /// A directory of the caller's, on the same file system as `path`.
    pub store: PathBuf,
}

impl Repository {
    /// How to put this worktree away; `None` if it is the repository's main one.
    pub async fn put_away(&self, store: &Path) -> Result<Option<PutAway>, GitError> {
        let real = |path: PathBuf| path.canonicalize().map_err(|error| unwritable(&path, &error));
        let (common, private) = (real(self.common())?, real(self.private.clone())?);
        let (path, store) = (self.root.clone(), store.to_owned());
        Ok((private != common).then_some(PutAway { common, path, private, store }))
    }

    /// Makes a commit on no branch that keeps this commit, and all objects which only this worktree refers to: what is
    /// checked out, what is staged, what is being merged, and where HEAD was before.
    pub async fn hold(&self, tip: &str) -> Result<String, GitError> {
        let git = Git::quiet(&self.root)
            .with_setting("user.name=Liminal Builder")
            .with_setting("user.email=liminal-builder@localhost");
        let mut parents = vec![tip.to_owned()];
        parents.extend(self.head().await?.commit.filter(|head| head != tip));
        let merging = ["rev-parse", "--verify", "--quiet", "MERGE_HEAD^{commit}"];
        parents.extend(self.quiet_line(&merging).await?);
        // There may be no log, or one with commits that are gone.
        let earlier = ["log", "--walk-reflogs", MOST_EARLIER, "--format=%H", "HEAD"];
        let earlier = git.run(earlier).await.unwrap_or_default();
        for commit in String::from_utf8_lossy(&earlier).lines() {
            if !parents.iter().any(|parent| parent == commit) {
                parents.push(commit.to_owned());
            }
        }
        let mut entries = String::new();
        for object in self.only_staged().await? {
            entries.push_str(&format!("100644 blob {object}\t{object}\0"));
        }
        let tree = git.run_with(["mktree", "-z", "--missing"], entries.into_bytes()).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let call = ["commit-tree", &tree, "-m", "Held for a worktree that was put away"];
        let made = git.line(call.into_iter().chain(parents)).await?;
        Ok(String::from_utf8_lossy(&made).into_owned())
    }

    /// Differs whenever something else is staged.
    pub async fn staged(&self) -> Result<String, GitError> {
        let printed = self.only_staged().await?;
        Ok(printed.join(" "))
    }

    /// The objects in the index that the last commit lacks, all sides of conflicts included.
    async fn only_staged(&self) -> Result<Vec<String>, GitError> {
        let call = ["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "HEAD"];
        let mut objects = Vec::new();
        let printed = self.git.run(call.into_iter().chain(["--"])).await?;
        let mut fields = printed.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        while let (Some(raw), Some(_path)) = (fields.next(), fields.next()) {
            objects.extend(parse_columns(raw)?.new.filter(|entry| entry.mode != SUBMODULE));
        }
        let mut objects: Vec<String> = objects.into_iter().map(|entry| entry.object).collect();
        let unmerged = self.git.run(["ls-files", "--unmerged", "-z"]).await?;
        for entry in unmerged.split(|&byte| byte == 0) {
            let entry = String::from_utf8_lossy(entry).into_owned();
            if let [mode, object, ..] = entry.split_whitespace().collect::<Vec<_>>()[..]
                && mode != "160000"
            {
                objects.push(object.to_owned());
            }
        }
        objects.retain(|object| object.bytes().any(|digit| digit != b'0'));
        objects.sort();
        objects.dedup();
        Ok(objects)
    }
}

impl PutAway {
    /// Where the directory is while it is away.
    pub fn files(&self) -> PathBuf {
        self.store.join("files")
    }

    fn known(&self) -> PathBuf {
        self.store.join("git")
    }

    /// Whether the directory is in the store.
    pub fn is_away(&self) -> bool {
        self.files().symlink_metadata().is_ok()
    }

    /// Why the user wants to keep this worktree, if they locked it.
    pub fn lock(&self) -> Option<String> {
        fs::read_to_string(self.private.join("locked")).ok()
    }

    /// Moves the worktree into the store. Its branch is free from then on.
    pub async fn carry_out(&self) -> Result<(), GitError> {
        let this = self.clone();
        aside(move || {
            let made = fs::create_dir_all(&this.store);
            made.map_err(|error| unwritable(&this.store, &error))?;
            moved(&this.path, &this.files())?;
            moved(&this.private, &this.known())
        })
        .await
    }

    /// Moves the worktree to where it was. Nothing is overwritten: something else in its place stops it.
    pub async fn bring_back(&self) -> Result<(), GitError> {
        let this = self.clone();
        aside(move || {
            if this.known().exists() {
                let link = format!("{}\n", this.path.join(".git").display());
                write(&this.known().join("gitdir"), &link)?;
                moved(&this.known(), &this.private)?;
            }
            if this.is_away() {
                let link = format!("gitdir: {}\n", this.private.display());
                write(&this.files().join(".git"), &link)?;
                if let Some(parent) = this.path.parent() {
                    fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
                }
                moved(&this.files(), &this.path)?;
            }
            Ok(())
        })
        .await
    }

    /// Takes back a beginning of [`bring_back`](Self::bring_back) that came to nothing.
    pub async fn stay_away(&self) -> Result<(), GitError> {
        let this = self.clone();
        aside(move || match this.is_away() && !this.known().exists() {
            true => moved(&this.private, &this.known()),
            false => Ok(()),
        })
        .await
    }

    /// The branch that HEAD names once it is back, if it names the other one. In a rebase, or on a branch of the
    /// user's, HEAD stays as it is.
    pub async fn check_out(&self, branch: &str, instead_of: &str) -> Result<(), GitError> {
        let file = self.known().join("HEAD");
        let [old, new] = [instead_of, branch].map(|name| format!("ref: refs/heads/{name}\n"));
        aside(move || match fs::read_to_string(&file) {
            Ok(head) if head == old => write(&file, &new),
            Ok(_) | Err(_) => Ok(()),
        })
        .await
    }

    /// Removes the store, with the worktree if it is in it. From the first moment nobody finds it any more.
    pub async fn forget(&self) -> Result<(), GitError> {
        let store = self.store.clone();
        aside(move || {
            let gone = store.with_extension(GONE);
            let removed = fs::rename(&store, &gone).and_then(|()| fs::remove_dir_all(&gone));
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(unwritable(&store, &error))
                }
                Ok(()) | Err(_) => Ok(()),
            }
        })
        .await
    }

    /// Completes every [`forget`](Self::forget) that was cut short among these stores.
    pub async fn forget_the_rest(stores: &Path) {
        let stores = stores.to_owned();
        let swept = aside(move || {
            for entry in fs::read_dir(stores).into_iter().flatten().flatten() {
                if entry.path().extension().is_some_and(|extension| extension == GONE) {
                    let _the_next_one_does = fs::remove_dir_all(entry.path());
                }
            }
            Ok(())
        });
        let _it_never_fails = swept.await;
    }

    /// Makes a name refer to a commit. One that does already may stay.
    pub async fn set_ref(&self, name: &str, commit: &str) -> Result<(), GitError> {
        Git::quiet(&self.common).run(["update-ref", name, commit]).await.map(drop)
    }

    /// Makes a branch, unless it is there, at that commit.
    pub async fn make_branch(&self, branch: &str, commit: &str) -> Result<(), GitError> {
        let (git, name) = (Git::quiet(&self.common), format!("refs/heads/{branch}"));
        let none = "0".repeat(commit.len());
        match git.run(["update-ref", "--create-reflog", &name, commit, &none]).await {
            Err(_) if self.tip(&name).await?.as_deref() == Some(commit) => Ok(()),
            made => made.map(drop),
        }
    }

    /// Removes a name, if it still refers to that commit or, without one, whatever it refers to.
    pub async fn remove_ref(&self, name: &str, commit: Option<&str>) -> Result<(), GitError> {
        let git = Git::quiet(&self.common);
        if self.tip(name).await?.is_none() {
            return Ok(());
        }
        git.run(["update-ref", "-d", name].into_iter().chain(commit)).await.map(drop)
    }

    /// What a name refers to.
    pub async fn tip(&self, name: &str) -> Result<Option<String>, GitError> {
        let call = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        match Git::quiet(&self.common).line(call).await {
            Ok(line) => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            Err(GitError::Failed { words, .. }) if words.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A place below `common` that no other worktree has.
    pub fn free_private(&self) -> PathBuf {
        let name = self.private.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = |n: usize| self.private.with_file_name(format!("{name}-{n}"));
        let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
        std::iter::once(self.private.clone())
            .chain((2..).map(numbered))
            .find(is_free)
            .unwrap_or_else(|| self.private.clone())
    }
}

/// Moves a file or directory; if it was moved before, that is fine too.
fn moved(from: &Path, to: &Path) -> Result<(), GitError> {
    if from.symlink_metadata().is_err() {
        return Ok(());
    }
    if to.symlink_metadata().is_ok() {
        let exists = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(unwritable(to, &exists));
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
    }
    fs::rename(from, to).map_err(|error| unwritable(to, &error))
}

/// Complete, or not at all.
fn write(path: &Path, text: &str) -> Result<(), GitError> {
    let scratch = path.with_extension("new");
    let written = fs::write(&scratch, text).and_then(|()| fs::rename(&scratch, path));
    written.map_err(|error| unwritable(path, &error))
}
