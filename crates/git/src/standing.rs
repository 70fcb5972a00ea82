//! What stands in a working tree where a branch's move would put new files. A file that is the same already is not in
//! the way: the index learns of it, and the file itself is not touched, neither by the move nor by its undoing.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
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
        let (gone, at_end): (Vec<_>, Vec<_>) =
            self.differences(from, to).await?.into_iter().partition(|each| each.new.is_none());
        let going = Going(gone.into_iter().map(|each| each.path).collect());
        let at = root.to_owned();
        let look = move || {
            let (mut alike, mut other) = (Vec::new(), BTreeSet::new());
            for each in at_end.into_iter().filter(|each| each.old.is_none()) {
                let left = going.leaves_for(&at, each.path.as_path());
                if !left.is_empty() && may_be_same(&at, &each) {
                    alike.push(each);
                } else {
                    other.extend(left);
                }
            }
            Ok((alike, other))
        };
        let (alike, mut other) = aside(look).await?;
        let objects = hashed(root, &alike).await?;
        let mut same = Vec::new();
        for (difference, object) in alike.into_iter().zip(objects) {
            let is_same = difference.new.as_ref().is_some_and(|entry| entry.object == object);
            if is_same {
                same.push(difference.path);
            } else {
                other.insert(difference.path);
            }
        }
        Ok(Standing { same, other: other.into_iter().collect() })
    }
}

/// The paths that a move removes. git tracks what is there, and removes nothing of it that is not as committed.
struct Going(BTreeSet<RepoPath>);

impl Going {
    /// What is still in the way of a new file when they are gone: something in its place, or in the place of one of its
    /// directories.
    fn leaves_for(&self, root: &Path, path: &Path) -> Vec<RepoPath> {
        let mut parents: Vec<_> = path.ancestors().skip(1).collect();
        parents.retain(|at| !at.as_os_str().is_empty());
        // From the top, so that nothing is looked for beyond a link.
        for at in parents.into_iter().rev() {
            match root.join(at).symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return self.leaves_at(root, at),
                Err(_nothing_there) => return Vec::new(),
            }
        }
        self.leaves_at(root, path)
    }

    /// What stays at a path. A directory goes with the last file in it; an empty one may be the user's.
    fn leaves_at(&self, root: &Path, path: &Path) -> Vec<RepoPath> {
        let (at, named) = (root.join(path), RepoPath::new(path.as_os_str().as_bytes()));
        let Ok(found) = at.symlink_metadata() else { return Vec::new() };
        if !found.is_dir() {
            return if self.0.contains(&named) { Vec::new() } else { vec![named] };
        }
        let names = std::fs::read_dir(&at).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<Vec<_>, _>>()
        });
        match names {
            Ok(names) if self.has_below(path) => {
                names.iter().flat_map(|name| self.leaves_at(root, &path.join(name))).collect()
            }
            // A submodule that is not checked out.
            Ok(names) if names.is_empty() && self.0.contains(&named) => Vec::new(),
            Ok(_) | Err(_) => vec![named],
        }
    }

    fn has_below(&self, path: &Path) -> bool {
        let below = RepoPath::new(&[path.as_os_str().as_bytes(), b"/"].concat());
        let first = self.0.range(&below..).next();
        first.is_some_and(|first| first.as_bytes().starts_with(below.as_bytes()))
    }
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
