//! The data directory. It is used only if no other user can access it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Why the directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    #[error("the data directory {} is a symbolic link; give the directory itself with --data-dir", .0.display())]
    Symlink(PathBuf),
    #[error("the data directory {} is not a directory; choose another with --data-dir", .0.display())]
    NotADirectory(PathBuf),
    #[error("the data directory {} belongs to another user; choose your own with --data-dir", .0.display())]
    NotOurs(PathBuf),
    #[error("the data directory {path} is open to other users; fix it with: chmod 700 {path}", path = .0.display())]
    Open(PathBuf),
    /// It can't be created, read or written.
    #[error("cannot use the data directory {}: {}; choose another with --data-dir", .0.display(), .1)]
    Unusable(PathBuf, io::Error),
}

/// Creates the directory when it is missing, and checks that it is ours alone and writable.
pub fn prepare(path: &Path) -> Result<PathBuf, DataDirError> {
    if let Some(path) = check(path)? {
        return Ok(path);
    }
    let unusable = |error| DataDirError::Unusable(path.to_owned(), error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(unusable)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(error)),
        // Another user may have created it in the meantime, so it is checked in either case.
        Ok(()) | Err(_) => {}
    }
    check(path)?.ok_or_else(|| unusable(io::ErrorKind::NotFound.into()))
}

/// The same without creating it: `None` when it is missing.
pub fn check(path: &Path) -> Result<Option<PathBuf>, DataDirError> {
    // A trailing slash would make us follow a link.
    let path: PathBuf = path.components().collect();
    let found = match fs::symlink_metadata(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(DataDirError::Unusable(path, error)),
    };
    if found.is_symlink() {
        return Err(DataDirError::Symlink(path));
    }
    if !found.is_dir() {
        return Err(DataDirError::NotADirectory(path));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(DataDirError::NotOurs(path));
    }
    if found.mode() & 0o077 != 0 {
        return Err(DataDirError::Open(path));
    }
    match access(&path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Ok(Some(path)),
        Err(error) => Err(DataDirError::Unusable(path, error.into())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_missing_directory_is_made_for_us_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        assert_eq!(prepare(&path).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(prepare(&path).unwrap(), path);
    }

    #[test]
    fn a_link_is_refused_however_it_is_spelled() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        prepare(&real).unwrap();
        symlink(&real, &link).unwrap();
        for spelled in [link.clone(), link.join(""), link.join(".")] {
            assert!(
                matches!(prepare(&spelled), Err(DataDirError::Symlink(_))),
                "{}",
                spelled.display()
            );
        }
    }

    #[test]
    fn a_directory_open_to_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o701, 0o710] {
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(prepare(dir.path()), Err(DataDirError::Open(_))), "{mode:o}");
        }
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        // Only root can give a directory away; for everyone else, `/` belongs to another user.
        let of_another = if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(dir.path(), Some(1), None).unwrap();
            dir.path()
        } else {
            Path::new("/")
        };
        assert!(matches!(prepare(of_another), Err(DataDirError::NotOurs(_))));
    }

    #[test]
    fn a_file_or_a_place_that_takes_no_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(prepare(&file), Err(DataDirError::NotADirectory(_))));
        assert!(matches!(prepare(&file.join("x")), Err(DataDirError::Unusable(..))));
    }
}
