//! Files that were moved without telling git: a new file with the content of a deleted one.

use std::path::Path;

use crate::changes::{Change, Counts, Kind};
use crate::{GitError, RepoPath, Repository};

/// In bytes: how much of the new files' content is read to compare it.
const MOST_READ: u64 = 64 << 20;

impl Repository {
    /// Makes one change of two: of a file that is gone, and of a new one with its content. Both must be the same; git
    /// finds similar ones once it knows the new file.
    pub(crate) async fn with_moves(&self, mut files: Vec<Change>) -> Result<Vec<Change>, GitError> {
        if !files.iter().any(|file| file.kind == Kind::Deleted) {
            return Ok(files);
        }
        let new: Vec<_> = files.iter().filter(|file| file.kind == Kind::Untracked).collect();
        let new: Vec<_> = new.into_iter().map(|file| file.path.clone()).collect();
        for (path, object) in self.objects_of(new).await? {
            let is_it = |file: &Change| {
                let old = file.old.as_ref().map(|(object, _mode)| object);
                file.kind == Kind::Deleted && old == Some(&object)
            };
            let has_its_name =
                |file: &Change| file.path.as_path().file_name() == path.as_path().file_name();
            let same_name = files.iter().position(|file| is_it(file) && has_its_name(file));
            let Some(gone) = same_name.or_else(|| files.iter().position(is_it)) else { continue };
            let gone = files.remove(gone);
            if let Some(file) = files.iter_mut().find(|file| file.path == path) {
                file.counts = file.counts.map(|_all| Counts::default());
                file.old = gone.old;
                file.kind = Kind::Renamed { from: gone.path };
            }
        }
        Ok(files)
    }

    /// The objects that git would make of these files, without making them. Those that can't be read are left out.
    async fn objects_of(&self, paths: Vec<RepoPath>) -> Result<Vec<(RepoPath, String)>, GitError> {
        let root = self.root.clone();
        let looked = move || {
            let mut budget = MOST_READ;
            paths.into_iter().filter(|path| is_worth_reading(&root, path, &mut budget)).collect()
        };
        let paths: Vec<RepoPath> = tokio::task::spawn_blocking(looked).await.unwrap_or_default();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = Vec::new();
        for path in &paths {
            input.extend_from_slice(path.as_bytes());
            input.push(b'\n');
        }
        match self.git.run_with(["hash-object", "--stdin-paths"], input).await {
            Ok(printed) => {
                let objects = String::from_utf8_lossy(&printed).into_owned();
                Ok(paths.into_iter().zip(objects.lines().map(str::to_owned)).collect())
            }
            // One of them is gone by now.
            Err(GitError::Failed { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// A plain file with content, whose path can be a line of git's input.
fn is_worth_reading(root: &Path, path: &RepoPath, budget: &mut u64) -> bool {
    let bytes = path.as_bytes();
    if bytes.starts_with(b"\"") || bytes.contains(&b'\n') {
        return false;
    }
    let Ok(found) = root.join(path.as_path()).symlink_metadata() else { return false };
    if !found.is_file() || found.len() == 0 || found.len() > *budget {
        return false;
    }
    *budget -= found.len();
    true
}
