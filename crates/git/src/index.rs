//! The user's index while we change it: with the lock that every git respects, from before a commit until the index
//! knows it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint::{aside, copy_with_time, unwritable};
use crate::command::Git;
use crate::{GitError, Repository};

/// Nobody else changes it until this is dropped.
pub(crate) struct LockedIndex {
    index: PathBuf,
    lock: PathBuf,
}

impl LockedIndex {
    /// Refuses if somebody has the lock.
    pub async fn of(repository: &Repository) -> Result<Self, GitError> {
        let index = repository.private.join("index");
        aside(move || {
            let lock = index.with_extension("lock");
            let taken = fs::OpenOptions::new().write(true).create_new(true).open(&lock);
            match taken {
                Ok(_) => Ok(Self { index, lock }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(GitError::Locked { path: lock.display().to_string() })
                }
                Err(error) => Err(unwritable(&lock, &error)),
            }
        })
        .await
    }

    /// Has a call change a copy, which then takes its place.
    pub async fn change(
        self,
        root: &Path,
        call: impl AsyncFnOnce(Git) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let next = self.index.with_extension("liminal");
        let (from, to) = (self.index.clone(), next.clone());
        let copied = move || {
            // Of a call that was killed: nobody else writes it.
            for left_over in [to.clone(), to.with_extension("liminal.lock")] {
                let _there_is_none = fs::remove_file(left_over);
            }
            copy_with_time(&from, &to).map_err(|error| unwritable(&to, &error))
        };
        aside(copied).await?;
        let git = Git::quiet(root)
            .with_variable("GIT_INDEX_FILE", next.clone().into())
            // Parts of a split index would be written next to the user's.
            .with_setting("core.splitIndex=false");
        call(git).await?;
        aside(move || {
            let replaced = fs::rename(&next, &self.index);
            replaced.map_err(|error| unwritable(&self.index, &error))
        })
        .await
    }
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        let _somebody_removed_it = fs::remove_file(&self.lock);
    }
}
