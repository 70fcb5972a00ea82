//! The JSON files of the data directory: `projects.json`, `sessions.json`, `trust.json`, `choices.json`,
//! `comparisons.json`, `agent-ids.json`, `keeping.json` and `door.json`.
//!
//! Owns how a file is read, refused and replaced, not the meaning of its records. Transcripts are in the journal.

mod choices_file;
mod comparisons_file;
mod document;
#[cfg(test)]
mod hostile;
mod json_file;
mod keeping_file;
mod list;
mod refs_file;
mod sessions_file;
mod trust_file;

use std::path::Path;

use liminal_contract::SessionId;

use crate::journal;

pub use choices_file::{Choice, ChoicesFile};
pub use comparisons_file::ComparisonsFile;
pub use document::{Document, StoreError};
pub use json_file::JsonFile;
pub use keeping_file::{KeepingFile, Waiting};
pub use refs_file::RefsFile;
pub use sessions_file::{BranchRecord, SessionRecord, SessionsFile, TitleBy};
pub use trust_file::TrustFile;

/// The ids of all sessions, for a command beside a running server. Changes nothing.
pub fn listed_ids(data_dir: &Path) -> Result<Vec<SessionId>, StoreError> {
    let mut ids = document::load::<sessions_file::Sessions>(data_dir)?.document.ids();
    ids.extend(journal::newly_listed(data_dir));
    Ok(ids)
}

/// The problems with the files of this data directory. Changes nothing. The caller names the types of `projects.json`
/// and `door.json`, whose rooms use this one.
pub fn troubles<Projects: Document, Door: Document>(data_dir: &Path) -> Vec<StoreError> {
    let projects = document::load::<Projects>(data_dir).err();
    let sessions = document::load::<sessions_file::Sessions>(data_dir).err();
    let trust = document::load::<trust_file::Trusted>(data_dir).err();
    let choices = document::load::<choices_file::Choices>(data_dir).err();
    let comparisons = document::load::<comparisons_file::Comparisons>(data_dir).err();
    let refs = document::load::<refs_file::Refs>(data_dir).err();
    let keeping = document::load::<keeping_file::Keeping>(data_dir).err();
    let door = document::load::<Door>(data_dir).err();
    let files = [projects, sessions, trust, choices, comparisons, refs, keeping, door];
    files.into_iter().flatten().collect()
}
