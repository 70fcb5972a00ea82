//! The directories in which checkpoints are kept, and how much they may take.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use liminal_contract::SessionId;

/// In the data directory.
const DIRECTORY: &str = "checkpoints";
/// In bytes, for all sessions together. Beyond it the sessions that were idle longest lose theirs.
const MOST: u64 = 2 << 30;
/// Measuring reads every directory, so it is done once in this many checkpoints.
const MEASURED_EVERY: usize = 50;

pub struct Kept {
    directory: PathBuf,
    taken: AtomicUsize,
}

impl Kept {
    pub fn below(data_dir: &Path) -> Self {
        Self { directory: data_dir.join(DIRECTORY), taken: AtomicUsize::new(0) }
    }

    /// A session's id has no character that a file name can't have.
    pub fn of(&self, session: &SessionId) -> PathBuf {
        self.directory.join(session.as_str())
    }

    pub async fn remove(&self, store: &Path) {
        let store = store.to_owned();
        let removed = tokio::task::spawn_blocking(move || match fs::remove_dir_all(&store) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, store = %store.display(), "checkpoints were not removed");
            }
            Ok(()) | Err(_) => {}
        });
        let _it_never_panics = removed.await;
    }

    /// Now and then removes the oldest, if there is too much. Nothing waits for it.
    pub fn trim(&self) {
        if self.taken.fetch_add(1, Ordering::Relaxed).is_multiple_of(MEASURED_EVERY) {
            let directory = self.directory.clone();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = trim(&directory, MOST) {
                    tracing::warn!(%error, "old checkpoints were not removed");
                }
            });
        }
    }
}

/// The last one stays, whatever its size: its session is at work.
fn trim(directory: &Path, most: u64) -> io::Result<()> {
    let mut stores = Vec::new();
    for store in fs::read_dir(directory)? {
        let store = store?;
        // Every checkpoint changes it.
        stores.push((store.metadata()?.modified()?, size(&store.path())?, store.path()));
    }
    stores.sort();
    stores.pop();
    let mut total: u64 = stores.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in stores {
        if total <= most {
            break;
        }
        fs::remove_dir_all(path)?;
        total -= bytes;
    }
    Ok(())
}

fn size(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(found) if found.is_dir() => bytes += size(&entry.path())?,
            Ok(found) => bytes += found.len(),
            // A checkpoint is being taken.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn too_many_checkpoints_cost_the_sessions_that_were_idle_longest_theirs() {
        let home = tempfile::tempdir().unwrap();
        for (age, name) in [(30, "old"), (20, "older than new"), (10, "new")] {
            let store = home.path().join(name);
            fs::create_dir_all(store.join("objects")).unwrap();
            fs::write(store.join("objects/some"), [0; 1000]).unwrap();
            let at = SystemTime::now() - Duration::from_secs(age);
            fs::File::open(&store).unwrap().set_modified(at).unwrap();
        }
        let left = || {
            let names = fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        trim(home.path(), 2000).unwrap();
        assert_eq!(left(), ["new", "old", "older than new"]);
        trim(home.path(), 1000).unwrap();
        assert_eq!(left(), ["new", "older than new"]);
        trim(home.path(), 0).unwrap();
        assert_eq!(left(), ["new"]);
    }
}
