//! The JSON files of the data directory: `projects.json`, `sessions.json`, `trust.json`, `choices.json`,
//! `comparisons.json`, `agent-ids.json` and `door.json`.
//!
//! Owns how a file is read, refused and replaced, not the meaning of its records. Transcripts are in the journal.

mod choices_file;
mod comparisons_file;
mod document;
#[cfg(test)]
mod hostile;
mod json_file;
mod list;
mod refs_file;
mod sessions_file;
mod trust_file;

use std::path::Path;

pub use choices_file::{Choice, ChoicesFile};
pub use comparisons_file::ComparisonsFile;
pub use document::{Document, StoreError};
pub use json_file::JsonFile;
pub use refs_file::RefsFile;
pub use sessions_file::{BranchRecord, SessionRecord, SessionsFile, TitleBy};
pub use trust_file::TrustFile;

/// The problems with the files of this data directory. Changes nothing. The caller names the types of `projects.json`
/// and `door.json`, whose rooms use this one.
pub fn troubles<Projects: Document, Door: Document>(data_dir: &Path) -> Vec<StoreError> {
    let projects = document::load::<Projects>(data_dir).err();
    let sessions = document::load::<sessions_file::Sessions>(data_dir).err();
    let trust = document::load::<trust_file::Trusted>(data_dir).err();
    let choices = document::load::<choices_file::Choices>(data_dir).err();
    let comparisons = document::load::<comparisons_file::Comparisons>(data_dir).err();
    let refs = document::load::<refs_file::Refs>(data_dir).err();
    let door = document::load::<Door>(data_dir).err();
    [projects, sessions, trust, choices, comparisons, refs, door].into_iter().flatten().collect()
}
