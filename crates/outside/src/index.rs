//! What was read before, by the length and the time of change of each file.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use liminal_contract::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Found, Place, claude, codex};

/// A file with the same stamp is taken for unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub changed: Timestamp,
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    /// Absent for a file that is not a session, so that it isn't read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
}

/// Everything found, by file. Can be deleted at any time: it is then read again.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Index {
    files: HashMap<PathBuf, Entry>,
}

impl Index {
    /// Empty if the bytes are not an index of ours.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub fn write(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Looks at a place again and returns whether anything changed. Blocks. Files that can't be read are logged and
    /// skipped.
    pub fn look(&mut self, place: &Place) -> bool {
        let (root, files) = match place {
            Place::Claude(root) => (root, claude::files(root)),
            Place::Codex(root) => (root, codex::files(root)),
        };
        let mut before: HashMap<PathBuf, Entry> =
            self.files.extract_if(|path, _| path.starts_with(root)).collect();
        let had = before.len();
        let mut is_changed = false;
        for path in files {
            let Some(stamp) = stamp(&path) else { continue };
            let entry = match before.remove(&path).filter(|entry| entry.stamp == stamp) {
                Some(entry) => entry,
                None => {
                    is_changed = true;
                    Entry { stamp, found: read(place, &path, stamp) }
                }
            };
            self.files.insert(path, entry);
        }
        is_changed || (had > 0 && !before.is_empty())
    }

    /// What was found in a place, in no order.
    pub fn found(&self, place: &Place) -> impl Iterator<Item = &Found> {
        let (Place::Claude(root) | Place::Codex(root)) = place.clone();
        let below = self.files.iter().filter(move |(path, _)| path.starts_with(&root));
        below.filter_map(|(_, entry)| entry.found.as_ref())
    }
}

fn read(place: &Place, path: &Path, stamp: Stamp) -> Option<Found> {
    let read = || -> io::Result<Option<Found>> {
        let mut file = File::open(path)?;
        match place {
            Place::Claude(_) => claude::read(path, &mut file, stamp),
            Place::Codex(_) => codex::read(&mut file, stamp),
        }
    };
    let found = read().unwrap_or_else(|error| {
        tracing::debug!(path = %path.display(), %error, "could not read an agent's session file");
        None
    });
    // Any other directory would be one of ours.
    found.filter(|found| found.cwd.is_absolute())
}

/// Only of regular files: a link could lead anywhere, and opening a pipe would hang.
fn stamp(path: &Path) -> Option<Stamp> {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let changed = about.mtime().saturating_mul(1000).saturating_add(about.mtime_nsec() / 1_000_000);
    Some(Stamp { changed: Timestamp::from_millis(changed), bytes: about.len() })
}

/// What is in a directory; nothing if it can't be read.
pub(crate) fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
}
