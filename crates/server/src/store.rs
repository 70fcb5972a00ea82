//! The JSON files of the data directory: `projects.json`, `sessions.json` and `trust.json`.
//!
//! Owns how a file is read, refused and replaced. What stands in a record is decided by who uses it; the
//! conversation itself lives in the journal.

mod document;
#[cfg(test)]
mod hostile;
mod json_file;
mod sessions_file;
mod trust_file;

use std::path::Path;

pub use document::{Document, StoreError};
pub use json_file::JsonFile;
pub use sessions_file::{SessionRecord, SessionsFile, TitleBy};
pub use trust_file::TrustFile;

/// What is wrong with the files of this data directory. Looks and changes nothing.
pub fn troubles(data_dir: &Path) -> Vec<StoreError> {
    let projects = document::load::<crate::projects::ProjectsFile>(data_dir).err();
    let sessions = document::load::<sessions_file::Sessions>(data_dir).err();
    let trust = document::load::<trust_file::Trusted>(data_dir).err();
    projects.into_iter().chain(sessions).chain(trust).collect()
}
