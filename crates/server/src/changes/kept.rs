//! The directories in which checkpoints are kept, and how much they may take.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use std::{fs, io};

use liminal_contract::SessionId;

/// In the data directory.
const DIRECTORY: &str = "checkpoints";
/// In that directory: how much all of them may take, in bytes. Without it, [`USUAL_MOST`].
const LIMIT: &str = "limit";
/// In bytes, for all sessions together. Beyond it the sessions that were idle longest lose theirs.
const USUAL_MOST: u64 = 2 << 30;
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

    /// How many bytes they take and may take. With `most`, that is what they may take from now on.
    pub async fn measured(&self, most: Option<u64>) -> io::Result<(u64, u64)> {
        let directory = self.directory.clone();
        let measured = move || {
            if let Some(most) = most {
                fs::create_dir_all(&directory)?;
                let scratch = directory.join("limit.new");
                fs::write(&scratch, most.to_string())?;
                fs::rename(scratch, directory.join(LIMIT))?;
                trim(&directory, most)?;
            }
            let bytes = stores(&directory)?.iter().map(|(_, bytes, _)| bytes).sum();
            Ok((bytes, limit(&directory)))
        };
        tokio::task::spawn_blocking(measured).await.map_err(io::Error::other)?
    }

    /// A session's id has no character that a file name can't have.
    pub fn of(&self, session: &SessionId) -> PathBuf {
        self.directory.join(session.as_str())
    }

    /// Objects never change, so the copy takes no space.
    pub async fn share(&self, from: PathBuf, to: PathBuf) {
        let shared = move || match link_all(&from.join("objects"), &to.join("objects")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a branch has no checkpoints of earlier turns");
            }
            Ok(()) | Err(_) => {}
        };
        let _it_never_panics = tokio::task::spawn_blocking(shared).await;
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
                if let Err(error) = trim(&directory, limit(&directory)) {
                    tracing::warn!(%error, "old checkpoints were not removed");
                }
            });
        }
    }
}

fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    let entries = fs::read_dir(from)?;
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.metadata()?.is_dir() {
            link_all(&entry.path(), &to)?;
        } else if let Err(error) = fs::hard_link(entry.path(), &to)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
    }
    Ok(())
}

/// The last one stays, whatever its size: its session is at work.
fn trim(directory: &Path, most: u64) -> io::Result<()> {
    let mut stores = stores(directory)?;
    let mut total: u64 = stores.iter().map(|(_, bytes, _)| bytes).sum();
    stores.pop();
    for (_, bytes, path) in stores {
        if total <= most {
            break;
        }
        fs::remove_dir_all(path)?;
        total -= bytes;
    }
    Ok(())
}

/// The last checkpoint and the size of each session's, the oldest first.
fn stores(directory: &Path) -> io::Result<Vec<(SystemTime, u64, PathBuf)>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut stores = Vec::new();
    for store in entries {
        let store = store?;
        let found = store.metadata()?;
        if found.is_dir() {
            // Every checkpoint changes it.
            stores.push((found.modified()?, size(&store.path())?, store.path()));
        }
    }
    stores.sort();
    Ok(stores)
}

fn limit(directory: &Path) -> u64 {
    let written = fs::read_to_string(directory.join(LIMIT)).ok();
    written.and_then(|text| text.trim().parse().ok()).unwrap_or(USUAL_MOST)
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
    use std::time::Duration;

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
        trim(home.path(), 3000).unwrap();
        assert_eq!(left(), ["new", "old", "older than new"]);
        trim(home.path(), 2000).unwrap();
        assert_eq!(left(), ["new", "older than new"]);
        trim(home.path(), 0).unwrap();
        assert_eq!(left(), ["new"]);
    }

    #[tokio::test]
    async fn the_limit_is_kept_and_takes_effect_at_once() {
        let home = tempfile::tempdir().unwrap();
        let kept = Kept::below(home.path());
        assert_eq!(kept.measured(None).await.unwrap(), (0, USUAL_MOST));
        for (age, name) in [(2, "old"), (1, "new")] {
            let store = home.path().join(DIRECTORY).join(name);
            fs::create_dir_all(&store).unwrap();
            fs::write(store.join("some"), [0; 1000]).unwrap();
            let at = SystemTime::now() - Duration::from_secs(age);
            fs::File::open(&store).unwrap().set_modified(at).unwrap();
        }
        assert_eq!(kept.measured(None).await.unwrap(), (2000, USUAL_MOST));
        assert_eq!(kept.measured(Some(1500)).await.unwrap(), (1000, 1500));
        assert_eq!(Kept::below(home.path()).measured(None).await.unwrap(), (1000, 1500));
    }
}
