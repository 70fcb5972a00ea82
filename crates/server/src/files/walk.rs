//! The names below a directory: files and directories that no ignore file excludes.

use std::path::Path;
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder};

/// More names than this are not kept.
const MOST_NAMES: usize = 500_000;

/// A path relative to the workspace; a directory ends with a slash.
pub struct Name {
    pub path: String,
    /// When a file was last changed.
    pub changed: Option<SystemTime>,
}

/// Everything below `root`.
pub fn all(root: &Path) -> impl Iterator<Item = Name> {
    names(root, None)
}

/// What is directly in `root`.
pub fn top(root: &Path) -> impl Iterator<Item = Name> {
    names(root, Some(1))
}

/// Paths that are not UTF-8 or contain control characters can't be mentioned in a message.
fn names(root: &Path, depth: Option<usize>) -> impl Iterator<Item = Name> {
    let base = root.to_owned();
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .filter_map(Result::ok)
        .filter_map(move |entry| {
            let name = entry.path().strip_prefix(&base).ok()?.to_str()?;
            if name.is_empty() || name.chars().any(char::is_control) {
                return None;
            }
            if is_directory(&entry, &base)? {
                return Some(Name { path: format!("{name}/"), changed: None });
            }
            let changed = entry.metadata().ok().and_then(|about| about.modified().ok());
            Some(Name { path: name.to_owned(), changed })
        })
        .take(MOST_NAMES)
}

/// `None` for a link that leads out of the workspace, or nowhere. Links are listed and not followed.
fn is_directory(entry: &DirEntry, root: &Path) -> Option<bool> {
    if !entry.path_is_symlink() {
        return Some(entry.file_type()?.is_dir());
    }
    let target = entry.path().canonicalize().ok()?;
    target.starts_with(root.canonicalize().ok()?).then(|| target.is_dir())
}
