//! Committing chosen files, with the user's hooks, and taking a commit back.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::adding::FORGET;
use crate::branch::UnderWay;
use crate::checkpoint::{aside, copy_index, unwritable};
use crate::command::{Answer, Git, OwnPrograms, last_words, os_string};
use crate::file::Links;
use crate::index::LockedIndex;
use crate::path::joined;
use crate::{Checkpoints, GitError, RepoPath, Repository};

/// The hooks that a commit runs, in their order.
const HOOKS: [&str; 5] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"];

/// How the reflog names what made a commit here.
const COMMITTED: &str = "liminal: commit";

impl Repository {
    /// The hooks that a commit would run.
    pub async fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        self.hooks(&HOOKS).await
    }

    /// The hooks that pushing would run.
    pub async fn push_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        self.hooks(&["pre-push"]).await
    }

    async fn hooks(&self, names: &'static [&'static str]) -> Result<Vec<&'static str>, GitError> {
        let git = Git::quiet(&self.root).with_hooks();
        let directory =
            PathBuf::from(os_string(git.line(["rev-parse", "--git-path", "hooks"]).await?));
        let directory = self.root.join(directory);
        let is_run = move |name: &&str| {
            let found = fs::metadata(directory.join(name));
            found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        aside(move || Ok(names.iter().copied().filter(is_run).collect())).await
    }

    /// Takes the last commit back, if it is this one; the files stay as they are.
    pub async fn uncommit(&self, commit: &str, parent: Option<&str>) -> Result<(), GitError> {
        let paths = self.paths_of(parent, commit).await?;
        let index = LockedIndex::of(self).await?;
        let git = Git::quiet(&self.root);
        match parent {
            Some(parent) => {
                let why = "--create-reflog";
                git.run(["update-ref", why, "-m", "liminal: undo commit", "HEAD", parent, commit])
                    .await?;
                index.change(&self.root, async |git| reset(&git, &paths).await).await
            }
            None => {
                git.run(["update-ref", "-d", "HEAD", commit]).await?;
                // Nothing is committed any more, so nothing is staged either.
                let empty = async |git: Git| git.run(["read-tree", "--empty"]).await.map(drop);
                index.change(&self.root, empty).await
            }
        }
    }

    /// Whether a remote has this commit.
    pub async fn is_pushed(&self, commit: &str) -> Result<bool, GitError> {
        let call = ["for-each-ref", "--count=1", "--contains", commit, "refs/remotes"];
        Ok(!self.git.run(call).await?.is_empty())
    }

    /// The first parent; `None` for a first commit.
    pub async fn parent(&self, commit: &str) -> Result<Option<String>, GitError> {
        self.quiet_line(&["rev-parse", "--verify", "--quiet", &format!("{commit}^1")]).await
    }

    pub async fn message(&self, commit: &str) -> Result<String, GitError> {
        let printed = self.git.run(["show", "--no-patch", "--format=%B", commit, "--"]).await?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Whether [`Checkpoints::commit`] made this one, as far as the reflog goes back.
    pub async fn is_committed_here(&self, commit: &str) -> Result<bool, GitError> {
        let call = ["log", "--walk-reflogs", "--max-count=100", "--format=%H %gs", "HEAD", "--"];
        let printed = self.git.run(call).await?;
        let ours = format!("{commit} {COMMITTED}: ");
        Ok(String::from_utf8_lossy(&printed).lines().any(|line| line.starts_with(&ours)))
    }

    /// Puts the index in order after a commit of ours that was cut short. After a merge nothing is staged.
    pub async fn index_follows(&self, parent: Option<&str>, commit: &str) -> Result<(), GitError> {
        let other = format!("{commit}^2");
        if self.quiet_line(&["rev-parse", "--verify", "--quiet", &other]).await?.is_some() {
            return reset_all(&Git::quiet(&self.root)).await;
        }
        self.index_goes_to(parent, commit).await
    }

    /// Puts the index in order after HEAD went from one commit to another.
    pub async fn index_goes_to(&self, from: Option<&str>, to: &str) -> Result<(), GitError> {
        let paths = self.paths_of(from, to).await?;
        reset(&Git::quiet(&self.root), &paths).await
    }

    async fn paths_of(
        &self,
        parent: Option<&str>,
        commit: &str,
    ) -> Result<Vec<RepoPath>, GitError> {
        let new = self.tree_of(commit).await?;
        let old = match parent {
            Some(parent) => self.tree_of(parent).await?,
            None => self.empty_tree().await?,
        };
        let paths = self.differences(&old, &new).await?;
        Ok(paths.into_iter().map(|each| each.path).collect())
    }
}

impl Checkpoints {
    /// Commits these paths as they are on disk, whatever else is staged. Returns the commit.
    pub async fn commit(
        &self,
        message: &str,
        paths: &[RepoPath],
        own: impl Into<OwnPrograms>,
    ) -> Result<String, GitError> {
        let own = own.into();
        let repository = self.repository();
        let is_merge = repository.under_way() == Some(UnderWay::Merge);
        let head = repository.head().await?;
        // Nothing is committed that the index would not know.
        let users = LockedIndex::of(repository).await?;
        let scratch = self.scratch("commit")?;
        let index = scratch.path().join("index");
        if !is_merge {
            // With the user's, git knows which files did not change.
            let (from, to, directory) =
                (self.index().to_owned(), index.clone(), scratch.path().to_owned());
            aside(move || copy_index(&from, &to, &directory)).await?;
        }
        let words = scratch.path().join("message");
        fs::write(&words, message).map_err(|error| unwritable(&words, &error))?;
        let git = Git::quiet(repository.root())
            .with_variable("GIT_INDEX_FILE", index.clone().into())
            .with_setting("core.splitIndex=false");
        let _none_yet = git.run(["update-index", "-q", "--refresh"]).await;
        match &head.commit {
            Some(commit) => git.run(["read-tree", "--reset", commit]).await?,
            None => git.run(["read-tree", "--empty"]).await?,
        };
        stage(&git, repository.root(), paths).await?;
        let mut file = OsString::from("--file=");
        file.push(&words);
        let commit = ["commit".into(), "--quiet".into(), file];
        let git = git.with_hooks().with_variable("GIT_REFLOG_ACTION", COMMITTED.into());
        let answer = git.marked(&own).attempt(commit.into(), Vec::new(), own.limit).await;
        let made = repository.head().await?.commit;
        let Some(made) = made.filter(|made| head.commit.as_ref() != Some(made)) else {
            let Answer { printed, words, .. } = answer?;
            let said = [words, last_words(&printed)].join("\n");
            let words = match said.trim() {
                "" => "it made no commit".to_owned(),
                said => said.to_owned(),
            };
            return Err(GitError::Failed { call: "commit".into(), words });
        };
        // It is made, whatever a hook did after that.
        if is_merge {
            users.change(repository.root(), async |git| reset_all(&git).await).await?;
        } else {
            // Hooks may have added paths.
            let paths = repository.paths_of(head.commit.as_deref(), &made).await?;
            users.change(repository.root(), async |git| reset(&git, &paths).await).await?;
        }
        Ok(made)
    }
}

/// Brings these paths of an index up to the files.
async fn stage(git: &Git, root: &Path, paths: &[RepoPath]) -> Result<(), GitError> {
    let (root, all) = (root.to_owned(), paths.to_vec());
    let sorted = move || {
        let mut links = Links::in_tree(&root);
        Ok(all.into_iter().partition(|path| links.lead_to(path.as_path())))
    };
    let (gone, there): (Vec<_>, Vec<_>) = aside(sorted).await?;
    if !gone.is_empty() {
        // `git add` refuses to look beyond a link that took the place of their directory.
        git.run_with(FORGET, joined(&gone)).await?;
    }
    if !there.is_empty() {
        let add = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
        git.run_with(add, joined(&there)).await?;
    }
    Ok(())
}

async fn reset_all(git: &Git) -> Result<(), GitError> {
    git.run(["reset", "--quiet"]).await.map(drop)
}

/// Sets these paths in the index to the last commit.
async fn reset(git: &Git, paths: &[RepoPath]) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    let call = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
    git.run_with(call, joined(paths)).await.map(drop)
}
