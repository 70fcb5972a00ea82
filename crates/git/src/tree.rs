//! What trees contain, path by path, and trees made from other trees.

use crate::changes::parse_columns;
use crate::checkpoint::aside;
use crate::standing::index_info;
use crate::{Checkpoints, GitError, RepoPath, Repository, Tree};

/// A file, a link or a submodule in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub mode: u32,
    pub object: String,
}

pub(crate) const SUBMODULE: u32 = 0o160_000;
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const EXECUTABLE: u32 = 0o100_755;

/// A path that two trees have differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: RepoPath,
    pub old: Option<Entry>,
    pub new: Option<Entry>,
}

impl Repository {
    /// Every path in which two trees differ, by path. A rename is a file that goes and one that comes.
    pub async fn differences(&self, old: &Tree, new: &Tree) -> Result<Vec<Difference>, GitError> {
        let call = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
        let printed =
            self.git.run(call.into_iter().chain([old.as_str(), new.as_str(), "--"])).await;
        let printed = printed.map_err(GitError::or_pruned)?;
        let mut fields = printed.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        let mut found = Vec::new();
        while let Some(raw) = fields.next() {
            let columns = parse_columns(raw)?;
            let path = fields.next().map(RepoPath::new);
            let path = path.ok_or_else(|| unexpected("a difference without a path"))?;
            found.push(Difference { path, old: columns.old, new: columns.new });
        }
        Ok(found)
    }

    /// The tree of a commit.
    pub async fn tree_of(&self, commit: &str) -> Result<Tree, GitError> {
        let tree = format!("{commit}^{{tree}}");
        let tree = self.git.line(["rev-parse", "--verify", "--end-of-options", &tree]).await;
        Tree::read(&tree.map_err(GitError::or_pruned)?)
    }

    /// The filters that a repository's attributes name for these paths: what such a file contains on disk is not what
    /// git stores.
    pub async fn filtered(&self, paths: &[&RepoPath]) -> Result<Vec<(RepoPath, String)>, GitError> {
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        let printed = self.git.run_with(["check-attr", "-z", "--stdin", "filter"], input).await?;
        let fields: Vec<&[u8]> = printed.split(|&byte| byte == 0).collect();
        let named = fields.chunks_exact(3).filter_map(|each| match each {
            [_, _, b"unspecified" | b"unset" | b""] => None,
            [path, _, value] => {
                Some((RepoPath::new(path), String::from_utf8_lossy(value).into_owned()))
            }
            _ => None,
        });
        Ok(named.collect())
    }

    /// The size of each object, in bytes.
    pub async fn sizes(&self, objects: &[&str]) -> Result<Vec<u64>, GitError> {
        let input = objects.iter().flat_map(|object| [object, "\n"]).collect::<String>();
        let printed = self.git.run_with(["cat-file", "--batch-check"], input.into_bytes()).await?;
        let size = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
            [_, "blob", size] => size.parse().map_err(|_no_number| unexpected(line)),
            _ => Err(GitError::Pruned),
        };
        String::from_utf8_lossy(&printed).lines().map(size).collect()
    }
}

impl Checkpoints {
    /// A tree with some paths changed; `None` removes one.
    pub async fn with_paths(
        &self,
        tree: &Tree,
        paths: &[(RepoPath, Option<Entry>)],
    ) -> Result<Tree, GitError> {
        let scratch = self.scratch("planned")?;
        let git = self.repository().git.clone();
        let git = git
            .with_variable("GIT_INDEX_FILE", scratch.path().join("index").into())
            .with_setting("core.splitIndex=false");
        git.run(["read-tree", tree.as_str()]).await.map_err(GitError::or_pruned)?;
        // A directory may take the place of a file, so what goes goes first.
        let (gone, put): (Vec<_>, Vec<_>) = paths.iter().partition(|(_, entry)| entry.is_none());
        let ordered = gone.into_iter().chain(put).map(|(path, entry)| (path, entry.as_ref()));
        let input = index_info(ordered, tree.as_str().len());
        git.run_with(["update-index", "--replace", "-z", "--index-info"], input).await?;
        let made = git.line(["write-tree", "--missing-ok"]).await?;
        Tree::read(&made)
    }

    /// Merges what changed from `base` to `theirs` into `ours`; `None` if both changed the same lines.
    pub async fn merge(
        &self,
        ours: &Entry,
        base: &Entry,
        theirs: &Entry,
    ) -> Result<Option<Entry>, GitError> {
        let repository = self.repository();
        let scratch = self.scratch("merge")?;
        let files = [("ours", ours), ("base", base), ("theirs", theirs)];
        for (name, entry) in files {
            let bytes = repository.git.run(["cat-file", "blob", &entry.object]).await;
            let (bytes, file) = (bytes.map_err(GitError::or_pruned)?, scratch.path().join(name));
            aside(move || {
                std::fs::write(&file, bytes).map_err(|error| GitError::Unwritable {
                    path: file.display().to_string(),
                    reason: error.to_string(),
                })
            })
            .await?;
        }
        let path = |name: &str| scratch.path().join(name).into_os_string();
        let call = ["merge-file", "-p", "-q"].map(Into::into);
        let files = [path("ours"), path("base"), path("theirs")];
        let merged = match repository.git.run(call.into_iter().chain(files)).await {
            Ok(merged) => merged,
            // It says nothing about conflicts but their number.
            Err(GitError::Failed { words, .. }) if words.is_empty() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mode = if ours.mode == base.mode { theirs.mode } else { ours.mode };
        Ok(Some(Entry { mode, object: self.keep(merged).await? }))
    }

    /// Keeps some bytes as an object.
    pub async fn keep(&self, bytes: Vec<u8>) -> Result<String, GitError> {
        let call = ["hash-object", "-w", "--no-filters", "--stdin"];
        let object = self.repository().git.run_with(call, bytes).await?;
        Ok(String::from_utf8_lossy(&object).trim().to_owned())
    }

    /// The bytes of an object.
    pub async fn bytes(&self, entry: &Entry) -> Result<Vec<u8>, GitError> {
        let bytes = self.repository().git.run(["cat-file", "blob", &entry.object]).await;
        bytes.map_err(GitError::or_pruned)
    }
}

fn unexpected(what: &str) -> GitError {
    GitError::Unexpected { call: "diff-tree", what: what.to_owned() }
}
