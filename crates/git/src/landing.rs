//! Bringing one branch into another: merging as values, and moving branches with the files that are checked out.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::branch::UnderWay;
use crate::command::{Git, os_string};
use crate::standing::index_info;
use crate::{Checkpoints, Difference, Entry, GitError, Kind, RepoPath, Repository, Standing, Tree};

/// A merge computes renames, which takes a while in large repositories.
const LONGEST_MERGE: Duration = Duration::from_secs(120);

/// Two commits merged, without touching any file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    Clean(Tree),
    Conflicts {
        /// With conflict markers in the files.
        marked: Tree,
        paths: Vec<RepoPath>,
    },
}

/// A working tree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub path: PathBuf,
    pub branch: Option<String>,
}

/// A branch that goes from one commit to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMove {
    /// The working tree that has it checked out.
    pub checkout: Option<PathBuf>,
    pub branch: String,
    pub from: String,
    pub to: String,
    /// Files that one end lacks and that stay as they are: they stood there before the branch had them. Only the index
    /// learns or forgets them.
    pub standing: Vec<RepoPath>,
}

impl Repository {
    /// Every working tree.
    pub async fn checkouts(&self) -> Result<Vec<Checkout>, GitError> {
        Self::checkouts_of(&self.root).await
    }

    /// Every working tree of the repository that this directory belongs to.
    pub async fn checkouts_of(directory: &Path) -> Result<Vec<Checkout>, GitError> {
        let (git, list) = (Git::quiet(directory), ["worktree", "list", "--porcelain"]);
        let (printed, end) = match git.run(list.into_iter().chain(["-z"])).await {
            Ok(printed) => (printed, 0),
            // Before git 2.36 a path ends with its line.
            Err(GitError::Failed { .. }) => (git.run(list).await?, b'\n'),
            Err(error) => return Err(error),
        };
        let mut found: Vec<Checkout> = Vec::new();
        for line in printed.split(|&byte| byte == end) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                let path = PathBuf::from(os_string(path.to_vec()));
                found.push(Checkout { path, branch: None });
            } else if let (Some(name), Some(last)) =
                (line.strip_prefix(b"branch refs/heads/"), found.last_mut())
            {
                last.branch = Some(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(found)
    }

    /// Whether a rebase of this branch is under way in any working tree. git then says of none that it has the branch.
    pub fn is_being_rebased(&self, branch: &str) -> bool {
        let common = self.common();
        let trees = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let name = format!("refs/heads/{branch}");
        trees.map(|entry| entry.path()).chain([common]).any(|private| {
            ["rebase-merge/head-name", "rebase-apply/head-name"].into_iter().any(|file| {
                std::fs::read_to_string(private.join(file)).is_ok_and(|text| text.trim() == name)
            })
        })
    }

    pub async fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, GitError> {
        let call = ["merge-base", "--is-ancestor", one, other].map(Into::into);
        let answer = self.git.attempt(call.into(), Vec::new(), LONGEST_MERGE).await?;
        Ok(answer.code == Some(0))
    }

    /// Merges two commits. Needs git 2.38; an older one refuses `--write-tree`.
    pub async fn merge_commits(&self, ours: &str, theirs: &str) -> Result<Merged, GitError> {
        let call =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
        // Not into the caller's objects: the result becomes a commit.
        let git = Git::quiet(&self.root).without_merge_drivers().await?;
        let call = call.map(Into::into);
        let answer = git.attempt(call.into(), Vec::new(), LONGEST_MERGE).await?;
        let mut fields = answer.printed.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        match (answer.code, fields.next()) {
            (Some(0), Some(tree)) => Ok(Merged::Clean(Tree::read(tree)?)),
            (Some(1), Some(tree)) => Ok(Merged::Conflicts {
                marked: Tree::read(tree)?,
                paths: fields.map(RepoPath::new).collect(),
            }),
            _ => Err(too_old(&git)
                .await
                .unwrap_or(GitError::Failed { call: "merge-tree".into(), words: answer.words })),
        }
    }

    /// Makes a commit that is on no branch yet.
    pub async fn commit_tree(
        &self,
        tree: &Tree,
        parents: &[&str],
        message: &str,
    ) -> Result<String, GitError> {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let call = ["commit-tree", tree.as_str()].into_iter().chain(parents);
        let made = Git::quiet(&self.root).run_with(call, message.as_bytes().to_vec()).await?;
        Ok(String::from_utf8_lossy(&made).trim().to_owned())
    }

    /// Keeps a commit from being removed.
    pub async fn keep_ref(&self, name: &str, commit: &str) -> Result<(), GitError> {
        Git::quiet(&self.root).run(["update-ref", name, commit]).await.map(drop)
    }

    /// Keeps it no longer under that name, if it does.
    pub async fn drop_ref(&self, name: &str, commit: &str) -> Result<(), GitError> {
        Git::quiet(&self.root).run(["update-ref", "-d", name, commit]).await.map(drop)
    }

    /// The commits that a branch has and its base lacks, newest first: their subjects.
    pub async fn subjects(&self, base: &str, tip: &str) -> Result<Vec<String>, GitError> {
        let range = format!("{base}..{tip}");
        let call = ["log", "--no-merges", "--max-count=50", "--format=%s", &range];
        let printed = self.git.run(call).await?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    /// Files that git tracks here and that differ from the last commit, or may do so. A submodule in which another
    /// commit is checked out doesn't count: git leaves it alone, and it only has to be updated.
    pub async fn dirty(&self) -> Result<Vec<RepoPath>, GitError> {
        let changes = self.uncommitted().await?;
        let staged = match changes.files.iter().any(|file| file.kind == Kind::Submodule) {
            true => self.staged_paths().await?,
            false => Vec::new(),
        };
        let tracked = changes.files.into_iter().filter(|file| match file.kind {
            Kind::Untracked => false,
            Kind::Submodule => staged.contains(&file.path),
            _ => true,
        });
        let paths = tracked.flat_map(|file| match file.kind {
            Kind::Renamed { from } => vec![from, file.path],
            _ => vec![file.path],
        });
        Ok(paths.chain(changes.left_out).collect())
    }

    /// Files that differ from the last commit in the index, conflicts included: what aborting a merge drops.
    pub async fn staged_paths(&self) -> Result<Vec<RepoPath>, GitError> {
        let call = ["diff", "--cached", "--name-only", "--no-renames", "-z", "HEAD", "--"];
        let printed = self.git.run(call).await?;
        let paths = printed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(RepoPath::new).collect())
    }

    /// Begins to merge a commit into the working tree; conflicts stay there. A name would do too, but a branch may move
    /// and git prefers a tag of that name.
    pub async fn start_merge(&self, commit: &str, message: &str) -> Result<(), GitError> {
        let call = ["merge", "--quiet", "--no-commit", "--no-ff", "-m", message, commit];
        let call = call.map(Into::into);
        let git = Git::quiet(&self.root).without_merge_drivers().await?;
        let answer = git.attempt(call.into(), Vec::new(), LONGEST_MERGE).await?;
        match answer.code {
            Some(0 | 1) if self.under_way() == Some(UnderWay::Merge) => Ok(()),
            _ => Err(GitError::Failed { call: "merge".into(), words: answer.words }),
        }
    }

    pub async fn abort_merge(&self) -> Result<(), GitError> {
        Git::quiet(&self.root).run(["merge", "--abort"]).await.map(drop)
    }

    /// Files that still have conflict markers.
    pub async fn unresolved(&self) -> Result<Vec<RepoPath>, GitError> {
        let changes = self.uncommitted().await?;
        let unmerged = changes.files.into_iter().filter(|file| file.kind == Kind::Unmerged);
        let has_marks = |path: &RepoPath| {
            let bytes = std::fs::read(self.root.join(path.as_path())).unwrap_or_default();
            bytes.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"<<<<<<< "))
        };
        Ok(unmerged.map(|file| file.path).filter(has_marks).collect())
    }
}

impl BranchMove {
    /// Moves the branch, and the files if it is checked out. Nothing is forced: a file that would be lost, or a branch
    /// that is elsewhere by now, stops it, and then nothing has changed.
    pub async fn carry_out(&self, checkpoints: &Checkpoints, why: &str) -> Result<(), GitError> {
        let any = checkpoints.repository();
        let name = format!("refs/heads/{}", self.branch);
        let update = ["update-ref", "--create-reflog", "-m", why, &name, &self.to, &self.from];
        let Some(checkout) = &self.checkout else {
            return Git::quiet(any.root()).run(update).await.map(drop);
        };
        if any.tip(&self.branch).await?.as_deref() != Some(&self.from) {
            // The index belongs to another commit by now.
            let words = format!("{} is at another commit by now", self.branch);
            return Err(GitError::Failed { call: "update-ref".into(), words });
        }
        let git = Git::quiet(checkout);
        let _only_times_differ = git.run(["update-index", "-q", "--refresh"]).await;
        let known = self.standing_ends(any).await?;
        self.check_standing(any, checkout, &known).await?;
        let from = self.with_standing(checkpoints, &git, &known).await?;
        self.tell_index(&git, &known, |each| each.new.as_ref()).await?;
        let moved = self.move_files(&git, &from, &update).await;
        if moved.is_err() {
            self.tell_index(&git, &known, |each| each.old.as_ref()).await?;
        }
        if !known.is_empty() {
            let _only_times_differ = git.run(["update-index", "-q", "--refresh"]).await;
        }
        moved
    }

    /// Where the move begins for git, which then keeps whatever else is staged: with the files that stay as the other
    /// end has them.
    async fn with_standing(
        &self,
        checkpoints: &Checkpoints,
        git: &Git,
        known: &[Difference],
    ) -> Result<String, GitError> {
        if known.is_empty() {
            return Ok(self.from.clone());
        }
        let scratch = checkpoints.scratch("moved")?;
        let index = scratch.path().join("index");
        let git = git.clone().with_variable("GIT_INDEX_FILE", index.into());
        let git = git.with_setting("core.splitIndex=false");
        git.run(["read-tree", &self.from]).await?;
        self.tell_index(&git, known, |each| each.new.as_ref()).await?;
        Ok(Tree::read(&git.line(["write-tree", "--missing-ok"]).await?)?.as_str().to_owned())
    }

    /// The files go first, and back if the branch can't follow.
    async fn move_files(&self, git: &Git, from: &str, update: &[&str]) -> Result<(), GitError> {
        git.run(["read-tree", "-m", "-u", from, &self.to]).await?;
        let moved = git.run(update).await;
        if moved.is_err() {
            git.run(["read-tree", "-m", "-u", &self.to, from]).await?;
        }
        moved.map(drop)
    }

    /// The files that stay, as both ends have them.
    async fn standing_ends(&self, any: &Repository) -> Result<Vec<Difference>, GitError> {
        if self.standing.is_empty() {
            return Ok(Vec::new());
        }
        let (from, to) = tokio::try_join!(any.tree_of(&self.from), any.tree_of(&self.to))?;
        let mut differences = any.differences(&from, &to).await?;
        differences.retain(|each| self.standing.contains(&each.path));
        Ok(differences)
    }

    /// Looks again whether those files are still the same, and nothing else is in the way.
    async fn check_standing(
        &self,
        any: &Repository,
        checkout: &Path,
        known: &[Difference],
    ) -> Result<(), GitError> {
        let (from, to) = tokio::try_join!(any.tree_of(&self.from), any.tree_of(&self.to))?;
        let Standing { same, other } = any.standing(checkout, &from, &to).await?;
        let expected = known.iter().filter(|each| each.old.is_none()).map(|each| &each.path);
        let changed: Vec<_> = expected.clone().filter(|path| !same.contains(path)).collect();
        let new = same.iter().filter(|path| !expected.clone().any(|each| each == *path));
        let mut names: Vec<_> = changed.into_iter().chain(new).chain(&other).collect();
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = names.into_iter().take(5).map(ToString::to_string).collect();
        let at = checkout.display().to_string();
        Err(GitError::InTheWay { at, names: names.join(", ") })
    }

    async fn tell_index(
        &self,
        git: &Git,
        known: &[Difference],
        end: impl Fn(&Difference) -> Option<&Entry>,
    ) -> Result<(), GitError> {
        if known.is_empty() {
            return Ok(());
        }
        let entries = known.iter().map(|each| (&each.path, end(each)));
        let input = index_info(entries, self.from.len());
        git.run_with(["update-index", "-z", "--index-info"], input).await.map(drop)
    }

    /// Whether the branch is where the move leads.
    pub async fn is_done(&self, any: &Repository) -> Result<bool, GitError> {
        Ok(any.tip(&self.branch).await?.as_deref() == Some(&self.to))
    }

    pub fn reversed(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone(), ..self.clone() }
    }

    /// Completes a move that was cut short; of the reversed one, this rolls it back. Files that are in neither state
    /// are left alone.
    pub async fn settle(&self, checkpoints: &Checkpoints, why: &str) -> Result<(), GitError> {
        let here = checkpoints.repository();
        if self.checkout.is_some() {
            let (from, to) = (here.tree_of(&self.from).await?, here.tree_of(&self.to).await?);
            let known = self.standing_ends(here).await?;
            // What the index knew of them may be either end's.
            let told: Vec<_> = known.iter().cloned().map(|each| (each.path, each.new)).collect();
            let untold: Vec<_> = known.into_iter().map(|each| (each.path, each.old)).collect();
            let told = checkpoints.with_paths(&from, &told).await?;
            let untold = checkpoints.with_paths(&to, &untold).await?;
            let _left_alone = checkpoints.apply(&told, &to).await?;
            let git = Git::quiet(here.root());
            let staged = git.line(["write-tree"]).await.and_then(|tree| Tree::read(&tree));
            if staged.is_ok_and(|staged| [&from, &told, &untold].contains(&&staged)) {
                git.run(["read-tree", to.as_str()]).await?;
            }
        }
        let name = format!("refs/heads/{}", self.branch);
        if here.tip(&self.branch).await?.as_deref() == Some(&self.from) {
            let update = ["update-ref", "--create-reflog", "-m", why, &name, &self.to, &self.from];
            Git::quiet(here.root()).run(update).await?;
        }
        Ok(())
    }
}

/// Removes locks that a git of ours left behind when it was killed: made after `since` and before `until`, while no
/// git works in that repository. Of other working trees nothing is touched.
pub async fn remove_stale_locks(root: &Path, since: SystemTime, until: SystemTime) -> Vec<PathBuf> {
    let git = Git::quiet(root);
    let own = git.line(["rev-parse", "--absolute-git-dir"]).await;
    let common = git.line(["rev-parse", "--git-common-dir"]).await;
    let checkouts = Repository::checkouts_of(root).await;
    let (Ok(own), Ok(common), Ok(checkouts)) = (own, common, checkouts) else { return Vec::new() };
    let [own, common] = [own, common].map(|path| root.join(PathBuf::from(os_string(path))));
    let mut roots: Vec<_> = checkouts.into_iter().map(|checkout| checkout.path).collect();
    roots.push(root.to_owned());
    let removed = tokio::task::spawn_blocking(move || {
        if roots.iter().any(|root| git_works_in(root)) {
            return Vec::new();
        }
        let mut locks = vec![own.join("index.lock"), own.join("HEAD.lock")];
        locks.push(common.join("packed-refs.lock"));
        [own, common].iter().for_each(|at| find_locks(&at.join("refs"), &mut locks));
        let is_ours = |path: &PathBuf| {
            let time = path.symlink_metadata().and_then(|found| found.modified());
            time.is_ok_and(|time| since <= time && time <= until)
        };
        locks.retain(|path| is_ours(path) && std::fs::remove_file(path).is_ok());
        locks
    });
    removed.await.unwrap_or_default()
}

fn find_locks(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(path);
        } else if path.is_dir() {
            find_locks(&path, found);
        }
    }
}

/// Where the system can't tell, nobody does.
fn git_works_in(root: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.map(|entry| entry.path()).any(|process| {
        let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
        name.trim() == "git"
            && std::fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(root))
    })
}

/// Whether the version is why a merge failed.
async fn too_old(git: &Git) -> Option<GitError> {
    let version = String::from_utf8_lossy(&git.line(["version"]).await.ok()?).into_owned();
    (!can_land(&version)).then_some(GitError::TooOldToLand { version })
}

/// Whether a git that says this about itself knows `merge-tree --write-tree`. One that says nothing we understand may.
fn can_land(version: &str) -> bool {
    let numbers = version.strip_prefix("git version ").unwrap_or(version);
    let mut numbers = numbers.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= (2, 38),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::can_land;

    #[test]
    fn only_a_git_that_is_known_to_be_older_is_called_too_old() {
        let told =
            ["2.30.2", "2.37.4 (Apple Git-137)", "2.38.0", "2.47.3", "3.0", "1.9", "odd", ""];
        let able = told.map(|number| can_land(&format!("git version {number}")));
        assert_eq!(able, [false, false, true, true, true, false, true, true]);
    }
}
