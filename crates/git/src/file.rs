//! Both versions of a changed file.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::changes::{Change, Kind, NewFile};
use crate::{GitError, RepoPath, Repository};

/// In bytes. Larger files are named but not shown.
pub const LARGEST_FILE: u64 = 1 << 20;

/// A file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    pub old: Content,
    pub new: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no such file.
    None,
    Text(String),
    /// At most [`LARGEST_FILE`].
    Binary(Vec<u8>),
    TooLarge {
        bytes: u64,
    },
    /// A submodule, a directory, a device.
    NoFile,
}

impl Repository {
    /// Both versions of a file from the list of changes.
    pub async fn versions(&self, change: &Change) -> Result<Versions, GitError> {
        if change.kind == Kind::Submodule {
            return Ok(Versions { old: Content::NoFile, new: Content::NoFile });
        }
        let old = match &change.old {
            Some((object, _mode)) => self.object(object).await?,
            None => Content::None,
        };
        let new = if change.kind == Kind::Deleted {
            Content::None
        } else if let NewFile::Object(object) = &change.new {
            self.object(object).await?
        } else {
            let (root, path) = (self.root.clone(), change.path.clone());
            tokio::task::spawn_blocking(move || current(&root, &path))
                .await
                .map_err(|error| unreadable(&change.path, &error))?
                .map_err(|error| unreadable(&change.path, &error))?
        };
        Ok(Versions { old, new })
    }

    /// The text of a file as it is on disk; `None` if it has none.
    pub async fn text_now(&self, path: &str) -> Option<String> {
        let (root, path) = (self.root.clone(), RepoPath::new(path.as_bytes()));
        let read = tokio::task::spawn_blocking(move || current(&root, &path)).await;
        match read {
            Ok(Ok(Content::Text(text))) => Some(text),
            Ok(_) | Err(_) => None,
        }
    }

    async fn object(&self, object: &str) -> Result<Content, GitError> {
        let size = self.git.line(["cat-file", "-s", object]).await.map_err(GitError::or_pruned)?;
        let bytes = String::from_utf8_lossy(&size).parse().unwrap_or(u64::MAX);
        if bytes > LARGEST_FILE {
            return Ok(Content::TooLarge { bytes });
        }
        Ok(Content::of(self.git.run(["cat-file", "blob", object]).await?))
    }
}

impl Content {
    /// git takes a file for binary if there is a zero byte near its beginning. We also need it to be UTF-8.
    fn of(bytes: Vec<u8>) -> Self {
        if bytes.contains(&0) {
            return Self::Binary(bytes);
        }
        String::from_utf8(bytes).map_or_else(|no| Self::Binary(no.into_bytes()), Self::Text)
    }
}

/// The file as it is on disk; a symbolic link is its target's path, as in git. Nothing outside the directory is opened,
/// whatever links an agent puts there.
fn current(root: &Path, path: &RepoPath) -> io::Result<Content> {
    let root = Dir::open_ambient_dir(root, ambient_authority())?;
    let found = match root.symlink_metadata(path.as_path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::None),
        found => found?,
    };
    if found.is_symlink() {
        let target = root.read_link_contents(path.as_path())?;
        return Ok(Content::of(target.into_os_string().into_encoded_bytes()));
    }
    if !found.is_file() {
        return Ok(Content::NoFile);
    }
    if found.len() > LARGEST_FILE {
        return Ok(Content::TooLarge { bytes: found.len() });
    }
    let mut bytes = Vec::new();
    open(&root, path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Ok(Content::TooLarge { bytes: bytes.len() as u64 });
    }
    Ok(Content::of(bytes))
}

/// Does not wait for a writer if the file has become a pipe.
fn open(root: &Dir, path: &RepoPath) -> io::Result<cap_std::fs::File> {
    use cap_std::fs::{OpenOptions, OpenOptionsExt};
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    root.open_with(path.as_path(), OpenOptions::new().read(true).custom_flags(flags as i32))
}

/// The links in a working tree that stand where directories could.
pub(crate) struct Links<'a> {
    root: &'a Path,
    /// Directories, and whether they are links or beyond one.
    seen: HashMap<PathBuf, bool>,
}

impl<'a> Links<'a> {
    pub fn in_tree(root: &'a Path) -> Self {
        Self { root, seen: HashMap::new() }
    }

    /// Whether a path is beyond a link, so that what is found there is another file.
    pub fn lead_to(&mut self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
            return false;
        };
        if let Some(&known) = self.seen.get(parent) {
            return known;
        }
        let is_link = |found: std::fs::Metadata| found.is_symlink();
        let found =
            self.lead_to(parent) || self.root.join(parent).symlink_metadata().is_ok_and(is_link);
        self.seen.insert(parent.to_owned(), found);
        found
    }
}

/// Whether there is no such file, as opposed to one that can't be seen.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Empty for a file that can't be seen.
pub(crate) fn stamp(root: &Path, path: &RepoPath) -> String {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(root.join(path.as_path()));
    found.map_or_else(
        |_error| String::new(),
        |found| format!("{} {} {}", found.size(), found.mtime(), found.mtime_nsec()),
    )
}

/// The number of lines of a text; `None` if it is binary, no file, or over the budget.
pub(crate) fn count_lines(root: &Path, path: &RepoPath, budget: &mut u64) -> Option<usize> {
    let root = Dir::open_ambient_dir(root, ambient_authority()).ok()?;
    let found = root.symlink_metadata(path.as_path()).ok()?;
    if found.is_symlink() {
        return Some(1);
    }
    if !found.is_file() || found.len() > *budget {
        return None;
    }
    *budget -= found.len();
    let mut bytes = Vec::new();
    open(&root, path).ok()?.take(found.len()).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
    Some(ends + usize::from(bytes.last().is_some_and(|&last| last != b'\n')))
}

fn unreadable(path: &RepoPath, reason: &dyn std::fmt::Display) -> GitError {
    GitError::Unreadable { path: path.to_string(), reason: reason.to_string() }
}
