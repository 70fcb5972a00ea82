//! What stands in a working tree where a branch's move would put new files. A file that is the same already is not in
//! the way: the index learns of it, and the file itself is not touched, neither by the move nor by its undoing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::checkpoint::aside;
use crate::command::Git;
use crate::file::Links;
use crate::tree::EXECUTABLE;
use crate::{Difference, Entry, GitError, RepoPath, Repository, Tree};

/// The mode of a file that isn't executable.
const PLAIN: u32 = 0o100_644;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Files with the same content and the same mode.
    pub same: Vec<RepoPath>,
    /// Everything else: it is in the way.
    pub other: Vec<RepoPath>,
}

impl Repository {
    /// In a working tree that belongs to this repository. Nothing configured there runs, so a file that git converts
    /// counts as another one.
    pub async fn standing(
        &self,
        root: &Path,
        from: &Tree,
        to: &Tree,
    ) -> Result<Standing, GitError> {
        let added = self.differences(from, to).await?.into_iter().filter(|each| each.old.is_none());
        let (added, at): (Vec<_>, _) = (added.collect(), root.to_owned());
        let look = move || {
            let found = added.into_iter().filter(|each| is_taken(&at, &each.path));
            Ok(found.partition::<Vec<_>, _>(|each| may_be_same(&at, each)))
        };
        let (alike, mut other) = aside(look).await?;
        let objects = hashed(root, &alike).await?;
        let mut same = Vec::new();
        for (difference, object) in alike.into_iter().zip(objects) {
            let is_same = difference.new.as_ref().is_some_and(|entry| entry.object == object);
            if is_same { same.push(difference.path) } else { other.push(difference) }
        }
        let mut other: Vec<_> = other.into_iter().map(|each| each.path).collect();
        other.sort();
        Ok(Standing { same, other })
    }
}

/// Whether a path is in use, or one of its directories is something else.
fn is_taken(root: &Path, path: &RepoPath) -> bool {
    let parents = path.as_path().ancestors().filter(|at| !at.as_os_str().is_empty());
    let mut seen = parents.map(|at| root.join(at).symlink_metadata());
    seen.next().is_some_and(|found| found.is_ok())
        || seen.any(|found| found.is_ok_and(|found| !found.is_dir()))
}

/// Whether it is a file of the same mode that can be read, under a name that git takes from a list of lines and the
/// journal can hold.
fn may_be_same(root: &Path, difference: &Difference) -> bool {
    let path = &difference.path;
    let is_named = |name: &str| !name.starts_with('"') && !name.contains('\n');
    if !path.as_path().to_str().is_some_and(is_named)
        || Links::in_tree(root).lead_to(path.as_path())
    {
        return false;
    }
    let file = root.join(path.as_path());
    let Ok(found) = file.symlink_metadata() else { return false };
    let mode = if found.permissions().mode() & 0o100 == 0 { PLAIN } else { EXECUTABLE };
    let has_mode = |entry: &Entry| entry.mode == mode;
    found.is_file()
        && difference.new.as_ref().is_some_and(has_mode)
        && std::fs::File::open(file).is_ok()
}

/// The names that git would give to what these files contain.
async fn hashed(root: &Path, files: &[Difference]) -> Result<Vec<String>, GitError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = Vec::new();
    for file in files {
        input.extend_from_slice(file.path.as_bytes());
        input.push(b'\n');
    }
    let call = ["hash-object", "--no-filters", "--stdin-paths"];
    let printed = Git::quiet(root).run_with(call, input).await?;
    Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
}

/// As input for `update-index --index-info`: paths as an end of a move has them.
pub(crate) fn index_info<'a>(
    entries: impl Iterator<Item = (&'a RepoPath, Option<&'a Entry>)>,
    letters: usize,
) -> Vec<u8> {
    let mut input = Vec::new();
    for (path, entry) in entries {
        let (mode, object) = match entry {
            Some(entry) => (entry.mode, entry.object.clone()),
            None => (0, "0".repeat(letters)),
        };
        input.extend_from_slice(format!("{mode:o} {object}\t").as_bytes());
        input.extend_from_slice(path.as_bytes());
        input.push(0);
    }
    input
}
