//! Putting files back: first as a plan, which is a value, then on disk.
//!
//! A plan compares three trees: the state that someone wants to leave (`from`), the one they want back (`to`), and the
//! files as they are (`now`). What changed since `from` is never lost: it is merged, or the file is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};

use crate::checkpoint::aside;
use crate::file::{Links, stamp};
use crate::on_disk;
use crate::tree::{EXECUTABLE, LINK, SUBMODULE};
use crate::{Checkpoints, Difference, Entry, GitError, RepoPath, Tree};

/// In bytes. Larger files are left alone.
const LARGEST_RESTORED: u64 = 50 << 20;

/// A file that is being written. One that a killed program left behind goes with the next call.
const TEMPORARY: &str = ".liminal-restoring";

/// What happens to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is as wanted already.
    Already,
    /// It changed only by what is taken back.
    Put(Option<Entry>),
    /// It changed since; these are the versions to merge.
    Merge {
        ours: Entry,
        base: Entry,
        theirs: Entry,
    },
    Leave(Left),
}

/// Why a path is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Left {
    #[error("It is a submodule.")]
    Submodule,
    #[error("It was deleted since.")]
    DeletedSince,
    #[error("It was created again since.")]
    CreatedSince,
    #[error("It changed since.")]
    ChangedSince,
    #[error("It changed since, in the same lines.")]
    SameLines,
    #[error("git stores it through the filter {0}. Use git to put it back.")]
    Filtered(String),
    #[error("It is larger than {} MB.", LARGEST_RESTORED >> 20)]
    TooLarge,
    #[error("It could not be recorded, so replacing it could lose it.")]
    NotRecorded,
    #[error("Some of its lines end differently than others, and git would make them all the same.")]
    LineEnds,
    #[error("Something else is in its place: {0}")]
    InTheWay(String),
}

/// One path of a plan, carried out if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub path: RepoPath,
    /// As it is.
    pub now: Option<Entry>,
    pub end: End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// As it was before.
    Put(Option<Entry>),
    /// As it was before, with what changed since.
    Merged(Entry),
    Leave(Left),
}

/// The fate of one path, by its three versions.
pub fn fate(from: Option<&Entry>, to: Option<&Entry>, now: Option<&Entry>) -> Fate {
    if now == to {
        return Fate::Already;
    }
    if [from, to, now].into_iter().flatten().any(|entry| entry.mode == SUBMODULE) {
        return Fate::Leave(Left::Submodule);
    }
    if now == from {
        return Fate::Put(to.cloned());
    }
    match (from, to, now) {
        (_, _, None) => Fate::Leave(Left::DeletedSince),
        (None, Some(_), Some(_)) => Fate::Leave(Left::CreatedSince),
        (_, None, Some(_)) => Fate::Leave(Left::ChangedSince),
        (Some(base), Some(theirs), Some(ours)) => {
            if [base, theirs, ours].into_iter().any(|entry| entry.mode == LINK) {
                return Fate::Leave(Left::ChangedSince);
            }
            let (ours, base, theirs) = (ours.clone(), base.clone(), theirs.clone());
            Fate::Merge { ours, base, theirs }
        }
    }
}

impl Checkpoints {
    /// What it takes to go from one state back to another, for every path in which they differ.
    pub async fn plan(&self, from: &Tree, to: &Tree, now: &Tree) -> Result<Vec<Planned>, GitError> {
        let (wanted, since) = tokio::try_join!(
            self.repository().differences(from, to),
            self.repository().differences(from, now)
        )?;
        let since: BTreeMap<&RepoPath, &Option<Entry>> =
            since.iter().map(|each| (&each.path, &each.new)).collect();
        let mut planned = Vec::new();
        for Difference { path, old, new } in wanted {
            let now = since.get(&path).copied().unwrap_or(&old).clone();
            let end = match fate(old.as_ref(), new.as_ref(), now.as_ref()) {
                Fate::Already => continue,
                Fate::Put(entry) => End::Put(entry),
                Fate::Leave(left) => End::Leave(left),
                Fate::Merge { ours, base, theirs } => self.merged(&ours, &base, &theirs).await?,
            };
            planned.push(Planned { path, now, end });
        }
        self.leave_what_cannot_be_written(&mut planned).await?;
        self.leave_what_git_does_not_see(planned).await
    }

    /// Files that are in no state, because git ignores them or was told to.
    async fn leave_what_git_does_not_see(
        &self,
        mut planned: Vec<Planned>,
    ) -> Result<Vec<Planned>, GitError> {
        let root = self.repository().root().to_owned();
        aside(move || {
            for each in &mut planned {
                if each.now.is_none() && on_disk::is_there(&root, &each.path) {
                    each.end = End::Leave(Left::NotRecorded);
                }
            }
            Ok(planned)
        })
        .await
    }

    async fn merged(&self, ours: &Entry, base: &Entry, theirs: &Entry) -> Result<End, GitError> {
        if ours.object == base.object || theirs.object == base.object {
            // Only modes differ on one side.
            let mode = if ours.mode == base.mode { theirs.mode } else { ours.mode };
            let object = if ours.object == base.object { &theirs.object } else { &ours.object };
            return Ok(End::Merged(Entry { mode, object: object.clone() }));
        }
        let sizes = [ours, base, theirs].map(|entry| entry.object.as_str());
        let sizes = self.repository().sizes(&sizes).await?;
        if sizes.into_iter().any(|bytes| bytes > LARGEST_RESTORED) {
            return Ok(End::Leave(Left::TooLarge));
        }
        match self.merge(ours, base, theirs).await {
            Ok(Some(entry)) => Ok(End::Merged(entry)),
            Ok(None) => Ok(End::Leave(Left::SameLines)),
            // Binary files.
            Err(GitError::Failed { .. }) => Ok(End::Leave(Left::ChangedSince)),
            Err(error) => Err(error),
        }
    }

    /// Files that pass through a filter, and large ones.
    async fn leave_what_cannot_be_written(&self, planned: &mut [Planned]) -> Result<(), GitError> {
        let paths: Vec<_> = planned.iter().map(|each| &each.path).collect();
        let filtered: BTreeMap<_, _> =
            self.repository().filtered(&paths).await?.into_iter().collect();
        let objects: Vec<_> = planned.iter().filter_map(|each| each.end.entry()).collect();
        let objects: Vec<_> = objects.into_iter().map(|entry| entry.object.as_str()).collect();
        let sizes = self.repository().sizes(&objects).await?;
        let sizes: BTreeMap<String, u64> =
            objects.into_iter().map(str::to_owned).zip(sizes).collect();
        for each in planned.iter_mut().filter(|each| !matches!(each.end, End::Leave(_))) {
            let is_large = |entry: &Entry| sizes.get(&entry.object) > Some(&LARGEST_RESTORED);
            if let Some(name) = filtered.get(&each.path) {
                each.end = End::Leave(Left::Filtered(name.clone()));
            } else if each.end.entry().is_some_and(is_large) {
                each.end = End::Leave(Left::TooLarge);
            }
        }
        Ok(())
    }

    /// Makes the files go from one state to another. A file that is in neither state is left alone and returned, and so
    /// is one that can't be written.
    pub async fn apply(
        &self,
        before: &Tree,
        after: &Tree,
    ) -> Result<Vec<(RepoPath, Left)>, GitError> {
        let root = self.repository().root().to_owned();
        let differences = self.repository().differences(before, after).await?;
        let paths: Vec<_> = differences.iter().map(|each| each.path.clone()).collect();
        let parents = paths.iter().filter_map(|path| path.as_path().parent());
        let parents: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
        let stamped = root.clone();
        let stamps =
            move || Ok(paths.iter().map(|path| file_stamp(&stamped, path)).collect::<Vec<_>>());
        let stamps = aside(stamps).await?;
        let now = self.take().await?;
        let since = self.repository().differences(before, &now.tree).await?;
        let not_recorded: BTreeSet<_> = now.left_out.into_iter().collect();
        let since: BTreeMap<_, _> = since.into_iter().map(|each| (each.path, each.new)).collect();
        let (mut left, mut puts) = (Vec::new(), Vec::new());
        for (difference, stamp) in differences.into_iter().zip(stamps) {
            let Difference { path, old, new } = difference;
            if not_recorded.contains(&path) {
                // The tree has an older version or none, so replacing the file would lose it.
                left.push((path, Left::NotRecorded));
                continue;
            }
            let now = since.get(&path).unwrap_or(&old);
            if *now == new {
                continue;
            }
            if *now != old {
                left.push((path, Left::ChangedSince));
                continue;
            }
            let content = match &new {
                None => None,
                Some(entry) => Some((entry.mode, self.content(&path, entry).await?)),
            };
            match self.replacing(&root, &path, old.as_ref(), content).await? {
                Ok(content) => puts.push(Put { path, stamp, content }),
                Err(why) => left.push((path, why)),
            }
        }
        left.extend(aside(move || write(&root, puts, &parents)).await?);
        Ok(left)
    }

    /// What replaces a file, if the file is the recorded one.
    async fn replacing(
        &self,
        root: &Path,
        path: &RepoPath,
        recorded: Option<&Entry>,
        content: Option<(u32, Vec<u8>)>,
    ) -> Result<Result<Option<(u32, Vec<u8>)>, Left>, GitError> {
        let (at, named) = (root.to_owned(), path.clone());
        let read = move || {
            let is_there = on_disk::is_there(&at, &named);
            Ok((is_there, on_disk::read(&at, &named, LARGEST_RESTORED)))
        };
        let (is_there, file) = aside(read).await?;
        Ok(match (recorded.filter(|entry| entry.mode != LINK), file) {
            (None, file) if recorded.is_none() && is_there => {
                let is_same = content.as_ref().is_some_and(|(_, new)| file.as_ref() == Some(new));
                if is_same { Ok(content) } else { Err(Left::NotRecorded) }
            }
            (Some(entry), Some(file)) => {
                let recorded = self.content(path, entry).await?;
                match content {
                    Some((mode, new)) if mode != LINK => {
                        let replaced = on_disk::replacement(&file, &recorded, new);
                        replaced.map(|bytes| Some((mode, bytes)))
                    }
                    _ if on_disk::is_recorded(&file, &recorded) => Ok(content),
                    _ => Err(Left::NotRecorded),
                }
            }
            (Some(_) | None, Some(_) | None) => Ok(content),
        })
    }

    /// What a file on disk contains: with the line ends that attributes ask for.
    async fn content(&self, path: &RepoPath, entry: &Entry) -> Result<Vec<u8>, GitError> {
        if entry.mode == LINK {
            return self.bytes(entry).await;
        }
        let mut named = OsString::from("--path=");
        named.push(path.as_path());
        let call = ["cat-file".into(), "--filters".into(), named, OsString::from(&entry.object)];
        self.repository().git.run(call).await.map_err(GitError::or_pruned)
    }
}

impl End {
    /// The version that it leads to.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Put(entry) => entry.as_ref(),
            Self::Merged(entry) => Some(entry),
            Self::Leave(_) => None,
        }
    }
}

struct Put {
    path: RepoPath,
    /// Of the file that was compared.
    stamp: String,
    /// Its mode and bytes; `None` removes it.
    content: Option<(u32, Vec<u8>)>,
}

/// Through a handle of the directory, so that no link leads out of it.
fn write(
    root: &Path,
    puts: Vec<Put>,
    parents: &BTreeSet<PathBuf>,
) -> Result<Vec<(RepoPath, Left)>, GitError> {
    let failed = |error: io::Error| GitError::Unwritable {
        path: root.display().to_string(),
        reason: error.to_string(),
    };
    let directory = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed)?;
    for parent in parents {
        let _there_is_none = directory.remove_file(parent.join(TEMPORARY));
    }
    let mut left = Vec::new();
    let (gone, put): (Vec<_>, Vec<_>) = puts.into_iter().partition(|put| put.content.is_none());
    let mut emptied = BTreeSet::new();
    for Put { path, stamp, .. } in gone {
        let removed =
            check_unchanged(root, &path, &stamp).and_then(|()| remove(&directory, path.as_path()));
        emptied.extend(path.as_path().parent().map(Path::to_owned));
        left.extend(removed.err().map(|error| (path, left_by(&error))));
    }
    for parent in emptied {
        // It fails at the first that still has something in it.
        let is_empty = |at: &&Path| !at.as_os_str().is_empty() && directory.remove_dir(at).is_ok();
        let _removed = parent.ancestors().take_while(is_empty).count();
    }
    for Put { path, stamp, content } in put {
        let Some((mode, bytes)) = content else { continue };
        let replaced = check_unchanged(root, &path, &stamp)
            .and_then(|()| replace(&directory, path.as_path(), mode, bytes));
        match replaced {
            Ok(()) => {}
            // Nothing else will work either. What is done is in the plan.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(failed(error)),
            Err(error) => left.push((path, left_by(&error))),
        }
    }
    Ok(left)
}

/// Fails unless the file is the one that was compared.
fn check_unchanged(root: &Path, path: &RepoPath, stamp: &str) -> io::Result<()> {
    if Links::in_tree(root).lead_to(path.as_path()) {
        return Err(io::Error::other("a link is in the place of its directory"));
    }
    if file_stamp(root, path) != stamp {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    Ok(())
}

fn left_by(error: &io::Error) -> Left {
    match error.kind() {
        io::ErrorKind::ResourceBusy => Left::ChangedSince,
        _ => Left::InTheWay(error.to_string()),
    }
}

/// Directories have none: what is in them has. Nor has what is beyond a link: that is another file.
fn file_stamp(root: &Path, path: &RepoPath) -> String {
    if Links::in_tree(root).lead_to(path.as_path()) {
        return String::new();
    }
    if root.join(path.as_path()).symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return String::new();
    }
    stamp(root, path)
}

fn remove(directory: &Dir, path: &Path) -> io::Result<()> {
    match directory.remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The new file is complete before it takes the old one's place.
fn replace(directory: &Dir, path: &Path, mode: u32, bytes: Vec<u8>) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new(""));
    if !parent.as_os_str().is_empty() {
        directory.create_dir_all(parent)?;
    }
    let temporary = parent.join(TEMPORARY);
    remove(directory, &temporary)?;
    if mode == LINK {
        directory.symlink_contents(OsString::from_vec(bytes), &temporary)?;
    } else {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let replaced = directory.symlink_metadata(path).ok().filter(|found| found.is_file());
        // A user who could not read the old file can't read the new one, not even while it is written.
        let kept = replaced.map(|found| found.permissions().mode() & 0o666);
        options.mode(kept.map_or(0o666, |_| 0o600));
        let mut file = directory.open_with(&temporary, &options)?;
        let written = io::Write::write_all(&mut file, &bytes).and_then(|()| {
            let usual = match kept {
                Some(kept) => kept,
                None => file.metadata()?.permissions().mode(),
            };
            // Executable for everyone who can read it, as git does.
            let mode = if mode == EXECUTABLE { usual | (usual & 0o444) >> 2 } else { usual };
            file.set_permissions(Permissions::from_mode(mode))?;
            file.sync_all()
        });
        if let Err(error) = written {
            let _the_first_error_counts = remove(directory, &temporary);
            return Err(error);
        }
    }
    let placed = directory.rename(&temporary, directory, path);
    if placed.is_err() {
        let _the_first_error_counts = remove(directory, &temporary);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: u32, object: &str) -> Option<Entry> {
        Some(Entry { mode, object: object.to_owned() })
    }

    #[test]
    fn what_changed_since_is_merged_or_left_and_never_overwritten() {
        const FILE: u32 = 0o100_644;
        let (a, b, c) = (entry(FILE, "a"), entry(FILE, "b"), entry(FILE, "c"));
        let link = entry(LINK, "l");
        let module = entry(SUBMODULE, "m");
        let merge = |ours: &Option<Entry>, base: &Option<Entry>, theirs: &Option<Entry>| {
            let [ours, base, theirs] = [ours, base, theirs].map(|each| each.clone().unwrap());
            Fate::Merge { ours, base, theirs }
        };
        let table = [
            // from, to, now
            (&a, &b, &a, Fate::Put(b.clone())),
            (&a, &b, &b, Fate::Already),
            (&a, &b, &c, merge(&c, &a, &b)),
            (&a, &b, &None, Fate::Leave(Left::DeletedSince)),
            (&a, &None, &a, Fate::Put(None)),
            (&a, &None, &None, Fate::Already),
            (&a, &None, &c, Fate::Leave(Left::ChangedSince)),
            (&None, &b, &None, Fate::Put(b.clone())),
            (&None, &b, &c, Fate::Leave(Left::CreatedSince)),
            (&None, &b, &b, Fate::Already),
            (&a, &link, &a, Fate::Put(link.clone())),
            (&a, &link, &c, Fate::Leave(Left::ChangedSince)),
            (&a, &b, &link, Fate::Leave(Left::ChangedSince)),
            (&a, &module, &a, Fate::Leave(Left::Submodule)),
            (&module, &None, &module, Fate::Leave(Left::Submodule)),
            (&a, &b, &module, Fate::Leave(Left::Submodule)),
        ];
        for (from, to, now, expected) in table {
            let found = fate(from.as_ref(), to.as_ref(), now.as_ref());
            assert_eq!(found, expected, "{from:?} {to:?} {now:?}");
        }
    }

    #[test]
    fn whatever_the_three_versions_are_only_an_unchanged_file_is_replaced() {
        let versions: Vec<Option<Entry>> = [0o100_644, EXECUTABLE, LINK, SUBMODULE]
            .into_iter()
            .flat_map(|mode| ["x", "y"].map(|object| entry(mode, object)))
            .chain([None])
            .collect();
        for from in &versions {
            for to in &versions {
                for now in &versions {
                    match fate(from.as_ref(), to.as_ref(), now.as_ref()) {
                        Fate::Put(_) => assert_eq!(now, from),
                        Fate::Merge { .. } => assert!(now.is_some() && now != from && now != to),
                        Fate::Already => assert_eq!(now, to),
                        Fate::Leave(_) => {}
                    }
                }
            }
        }
    }
}
