//! The files of a working tree, kept as a git tree without touching the repository.
//!
//! git works on a copy of the index and writes new objects into a directory of the caller's, with the repository's own
//! objects as an alternative to read from. Removing that directory removes every checkpoint in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::adding::{Added, add_changed};
use crate::command::Git;
use crate::{GitError, Head, RepoPath, Repository};

/// The name of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree(String);

impl Tree {
    /// `None` if this can't be the name of an object.
    pub fn new(name: &str) -> Option<Self> {
        let is_name = matches!(name.len(), 40 | 64) && name.bytes().all(|c| c.is_ascii_hexdigit());
        is_name.then(|| Self(name.to_owned()))
    }

    pub(crate) fn read(printed: &[u8]) -> Result<Self, GitError> {
        let name = String::from_utf8_lossy(printed);
        Self::new(&name)
            .ok_or_else(|| GitError::Unexpected { call: "write-tree", what: name.into_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The state of a working tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub tree: Tree,
    /// Files that were too large, could not be read, changed all the time, or are no files but pipes, sockets or
    /// devices.
    pub left_out: Vec<RepoPath>,
    pub head: Head,
}

/// Checkpoints of one repository, whose objects are in one directory. Only one may be taken at a time.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    repository: Repository,
    directory: PathBuf,
    /// The user's.
    index: PathBuf,
}

impl Repository {
    /// Checkpoints in a directory, which is created if necessary.
    pub fn checkpoints(&self, directory: &Path) -> Result<Checkpoints, GitError> {
        let objects = directory.join("objects");
        fs::create_dir_all(&objects).map_err(|error| unwritable(&objects, &error))?;
        let git =
            self.git.clone().with_variable("GIT_OBJECT_DIRECTORY", objects.into()).with_variable(
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                quoted(&self.common().join("objects")),
            );
        let index = self.private.join("index");
        let repository = Self { git, ..self.clone() };
        Ok(Checkpoints { repository, directory: directory.to_owned(), index })
    }
}

impl Checkpoints {
    /// The repository, which can also read the objects of these checkpoints.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn index(&self) -> &Path {
        &self.index
    }

    /// The files as they are now: tracked or not, but without ignored ones and the contents of submodules.
    pub async fn take(&self) -> Result<Checkpoint, GitError> {
        let ((tree, left_out), head) = tokio::try_join!(self.tree(), self.repository.head())?;
        Ok(Checkpoint { tree, left_out, head })
    }

    /// The same without what is checked out: the tree, and the files that are not in it.
    pub async fn tree(&self) -> Result<(Tree, Vec<RepoPath>), GitError> {
        let scratch = self.directory.join("scratch");
        let index = scratch.join("index");
        let (from, to, directory) = (self.index.clone(), index.clone(), scratch.clone());
        let objects = self.directory.join("objects");
        let left_over = objects.clone();
        let began = move || {
            if directory.exists() {
                // The last one was interrupted.
                sweep(&left_over);
            }
            copy_index(&from, &to, &directory)
        };
        aside(began).await?;
        let git = self
            .repository
            .git
            .clone()
            .with_variable("GIT_INDEX_FILE", index.clone().into())
            // Parts of a split index would be written next to the user's.
            .with_setting("core.splitIndex=false")
            .with_setting("core.safecrlf=false");
        let written = self.write(&git, &index).await;
        if !matches!(&written, Ok((_, Added { has_failed: false, .. }))) {
            // git was stopped, perhaps in the middle of a large file.
            aside(move || {
                sweep(&objects);
                Ok(())
            })
            .await?;
        }
        let _the_next_one_does = fs::remove_dir_all(&scratch);
        written.map(|(tree, added)| (tree, added.left_out))
    }

    /// Whether it is the name of a tree that can be read.
    pub async fn has(&self, tree: &Tree) -> Result<bool, GitError> {
        match self.repository.git.line(["cat-file", "-t", tree.as_str()]).await {
            Ok(kind) => Ok(kind == b"tree"),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, git: &Git, index: &Path) -> Result<(Tree, Added), GitError> {
        let added = add_changed(git, &self.repository.root, index).await?;
        // A partial clone lacks objects that nothing needs.
        let tree = git.line(["write-tree", "--missing-ok"]).await?;
        Ok((Tree::read(&tree)?, added))
    }

    /// An empty directory, which is removed with the value.
    pub(crate) fn scratch(&self, name: &str) -> Result<Scratch, GitError> {
        let path = self.directory.join(name);
        let made = || {
            if path.exists() {
                fs::remove_dir_all(&path)?;
            }
            fs::create_dir_all(&path)
        };
        made().map_err(|error| unwritable(&path, &error))?;
        Ok(Scratch(path))
    }
}

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _the_next_one_does = fs::remove_dir_all(&self.0);
    }
}

/// A copy in a directory of its own. Whatever an earlier call left behind goes.
pub(crate) fn copy_index(from: &Path, to: &Path, directory: &Path) -> Result<(), GitError> {
    let copied = || {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::create_dir_all(directory)?;
        copy_with_time(from, to)
    };
    copied().map_err(|error| unwritable(to, &error))
}

/// Copies an index, if there is one, with the time of the original: git compares it with the files' to know which may
/// have changed since.
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut original = match fs::File::open(from) {
        // Before the first `git add` there is none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let found = original.metadata()?;
    // The original may be read-only, as a backup or another user leaves it. git replaces the copy, so we must own it.
    let mode = found.permissions().mode() & 0o666 | 0o600;
    let mut copy =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(to)?;
    std::io::copy(&mut original, &mut copy)?;
    copy.set_modified(found.modified()?)
}

/// Removes what git wrote of objects that it never completed. Nothing else may be writing.
fn sweep(objects: &Path) {
    let inside = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = inside(objects).map(|entry| entry.path()).chain([objects.to_owned()]);
    for entry in directories.collect::<Vec<_>>().iter().flat_map(|directory| inside(directory)) {
        if entry.file_name().as_bytes().starts_with(b"tmp_") {
            let _is_tried_again = fs::remove_file(entry.path());
        }
    }
}

/// A path in a list that is separated by colons.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for &byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| GitError::Unexpected { call: "update-index", what: error.to_string() })?
}

pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> GitError {
    GitError::Unwritable { path: path.display().to_string(), reason: error.to_string() }
}
