//! Turns a typed path into the canonical path of a directory.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A directory that can be a project: canonical, absolute, readable, and not `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPath(String);

/// Why the typed path can't be a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RefusedPath {
    /// As it was typed.
    pub path: String,
    /// A full sentence.
    pub reason: String,
}

impl ProjectPath {
    /// Reads the disk, so it may block.
    pub fn resolve(typed: &str) -> Result<Self, RefusedPath> {
        resolve(typed).map_err(|reason| RefusedPath { path: typed.to_owned(), reason })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// Replaces a leading `~`; `None` for another user's home.
pub(super) fn expand_home(typed: &str) -> Option<PathBuf> {
    let rest = match typed.strip_prefix('~') {
        None => return Some(PathBuf::from(typed)),
        Some("") => "",
        Some(rest) => rest.strip_prefix('/')?,
    };
    let home = env::home_dir().filter(|home| home.is_absolute())?;
    Some(home.join(rest.trim_start_matches('/')))
}

/// What `~` stands for, spelled as the paths of projects are: without links. Reads the disk, so it may block.
pub fn home() -> Option<String> {
    expand_home("~")?.canonicalize().ok()?.into_os_string().into_string().ok()
}

fn resolve(typed: &str) -> Result<ProjectPath, String> {
    if typed.is_empty() {
        return Err("Type the path of a directory.".into());
    }
    let path = expand_home(typed).ok_or("Only ~/ is supported, not another user's home.")?;
    if !path.is_absolute() {
        return Err("Enter the full path, starting with / or ~/.".into());
    }
    let canonical = fs::canonicalize(&path).map_err(|error| reason(&error))?;
    if canonical == Path::new("/") {
        return Err("The root directory can't be a project; choose a directory in it.".into());
    }
    if !canonical.is_dir() {
        return Err("It is a file; choose a directory.".into());
    }
    // A directory that can't be listed is of no use to an agent.
    fs::read_dir(&canonical).map_err(|error| reason(&error))?;
    match canonical.into_os_string().into_string() {
        Ok(path) => Ok(ProjectPath(path)),
        Err(_) => {
            Err("The path isn't valid UTF-8. Rename the directory, or choose another.".into())
        }
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "There is no such directory. Check the spelling, or create it.".into()
        }
        io::ErrorKind::PermissionDenied => {
            "You don't have permission to read it. Choose another directory, or change its permissions.".into()
        }
        io::ErrorKind::NotADirectory => "Part of the path is a file. Check the spelling.".into(),
        _ => format!("It can't be opened: {error}. Choose another directory."),
    }
}
