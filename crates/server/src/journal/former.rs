//! The copy of a journal that is kept until the server has run once with a newer schema.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::open::{OpenFailure, beside};
use super::schema::VERSION;

/// Copies a journal before it is migrated. If that fails, it is not migrated.
pub fn keep(path: &Path, version: i64) -> Result<(), OpenFailure> {
    let copy = copy_of(path, version);
    // There is a log only while another program reads the journal.
    let copied = ["", "-wal"].iter().try_for_each(|suffix| {
        let (from, to) = (beside(path, suffix), beside(&copy, suffix));
        if !from.exists() {
            return Ok(());
        }
        fs::copy(&from, &to)?;
        File::open(&to)?.sync_all()
    });
    copied.map_err(|error: io::Error| {
        let _partial_copy = remove(&copy);
        let path = path.to_owned();
        OpenFailure::Other(JournalError::NoCopy { path, reason: error.to_string() })
    })
}

/// Removes the copies, once the server has run with the newer schema and stopped normally.
pub fn remove_all(path: &Path) {
    for version in 1..VERSION {
        let copy = copy_of(path, version);
        if let Err(error) = remove(&copy) {
            tracing::warn!(%error, copy = %copy.display(), "an old copy of the journal could not be removed");
        }
    }
}

fn remove(copy: &Path) -> io::Result<()> {
    ["", "-wal"].iter().try_for_each(|suffix| match fs::remove_file(beside(copy, suffix)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    })
}

/// The path of the copy with this schema version.
pub(super) fn copy_of(path: &Path, version: i64) -> PathBuf {
    beside(path, &format!(".schema-{version}"))
}
