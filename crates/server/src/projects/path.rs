//! From what the user typed to the one spelling of a directory.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A directory that can be a project: canonical, absolute, readable, and not `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPath(String);

/// What was typed is not such a directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RefusedPath {
    /// As it was typed.
    pub path: String,
    /// A sentence.
    pub reason: String,
}

impl ProjectPath {
    /// Follows what was typed to its directory. Touches the disk, so it may take its time.
    pub fn resolve(typed: &str) -> Result<Self, RefusedPath> {
        resolve(typed).map_err(|reason| RefusedPath { path: typed.to_owned(), reason })
    }

    /// The canonical path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// What a leading `~` stands for.
pub(super) fn expand_home(typed: &str) -> Option<PathBuf> {
    let rest = match typed.strip_prefix('~') {
        None => return Some(PathBuf::from(typed)),
        Some("") => "",
        Some(rest) => rest.strip_prefix('/')?,
    };
    let home = env::home_dir().filter(|home| home.is_absolute())?;
    Some(home.join(rest.trim_start_matches('/')))
}

fn resolve(typed: &str) -> Result<ProjectPath, String> {
    if typed.is_empty() {
        return Err("Type the path of a directory.".into());
    }
    let path = expand_home(typed).ok_or("Only ~/ is understood, not another user's home.")?;
    if !path.is_absolute() {
        return Err("Give the whole path, beginning with / or ~/.".into());
    }
    let canonical = fs::canonicalize(&path).map_err(|error| reason(&error))?;
    if canonical == Path::new("/") {
        return Err("The root directory can't be a project; choose a directory in it.".into());
    }
    if !canonical.is_dir() {
        return Err("It is a file; choose a directory.".into());
    }
    // What can't be listed can't be worked in.
    fs::read_dir(&canonical).map_err(|error| reason(&error))?;
    match canonical.into_os_string().into_string() {
        Ok(path) => Ok(ProjectPath(path)),
        Err(_) => Err("Its name is not UTF-8, which agents can't be told.".into()),
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "There is no such directory. Check the spelling, or make it.".into()
        }
        io::ErrorKind::PermissionDenied => {
            "You have no permission to read it. Choose another, or give yourself the right.".into()
        }
        io::ErrorKind::NotADirectory => "A part of the path is a file. Check the spelling.".into(),
        _ => format!("The system says: {error}. Choose another directory."),
    }
}
