//! The directories in which checkpoints are kept, and how much they may take.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use std::{fs, io};

use liminal_contract::SessionId;

use crate::one_at_a_time::OneAtATime;
use crate::replacement::Replacement;

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

/// A session's checkpoints, as they were when they were measured. Those that were idle longest come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Store {
    /// When the last one was taken.
    last: SystemTime,
    bytes: u64,
    path: PathBuf,
}

impl Kept {
    pub fn below(data_dir: &Path) -> Self {
        Self { directory: data_dir.join(DIRECTORY), taken: AtomicUsize::new(0) }
    }

    /// How many bytes they take and may take.
    pub async fn measured(&self) -> io::Result<(u64, u64)> {
        self.aside(|directory| {
            let bytes = stores(directory)?.iter().map(|store| store.bytes).sum();
            Ok((bytes, limit(directory)))
        })
        .await
    }

    /// How many bytes they may take from now on. [`trim`](Self::trim) makes it so.
    pub async fn limit_to(&self, most: u64) -> io::Result<()> {
        self.aside(move |directory| {
            fs::create_dir_all(directory)?;
            let new = |out: &mut BufWriter<_>| write!(out, "{most}");
            Replacement::write(&directory.join(LIMIT), new)?.take_place()
        })
        .await
    }

    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let directory = self.directory.clone();
        let done = tokio::task::spawn_blocking(move || work(&directory)).await;
        done.map_err(io::Error::other)?
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

    /// Removes those that were idle longest, if there is too much. One that an act is using stays until it is done.
    pub async fn trim(&self, turns: &OneAtATime) -> io::Result<()> {
        for store in self.aside(|directory| excess(directory, limit(directory))).await? {
            let _one_at_a_time = turns.turn(&store.path).await;
            if store.is_idle() {
                self.remove(&store.path).await;
            }
        }
        Ok(())
    }

    /// Trims now and then. Nothing waits for it.
    pub fn trim_soon(self: &Arc<Self>, turns: &OneAtATime) {
        if self.taken.fetch_add(1, Ordering::Relaxed).is_multiple_of(MEASURED_EVERY) {
            let (kept, turns) = (self.clone(), turns.clone());
            tokio::spawn(async move {
                if let Err(error) = kept.trim(&turns).await {
                    tracing::warn!(%error, "old checkpoints were not removed");
                }
            });
        }
    }
}

impl Store {
    /// Whether no checkpoint was taken since it was measured.
    fn is_idle(&self) -> bool {
        fs::metadata(&self.path).and_then(|found| found.modified()).is_ok_and(|at| at == self.last)
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

/// What must go. The last one stays, whatever its size: its session is at work.
fn excess(directory: &Path, most: u64) -> io::Result<Vec<Store>> {
    let mut stores = stores(directory)?;
    let mut total: u64 = stores.iter().map(|store| store.bytes).sum();
    stores.pop();
    let mut going = Vec::new();
    for store in stores {
        if total <= most {
            break;
        }
        total -= store.bytes;
        going.push(store);
    }
    Ok(going)
}

/// The oldest first.
fn stores(directory: &Path) -> io::Result<Vec<Store>> {
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
            let (last, path) = (found.modified()?, store.path());
            stores.push(Store { last, bytes: size(&path)?, path });
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
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    /// One that was last used this many seconds ago, with 1000 bytes.
    fn store(directory: &Path, name: &str, age: u64) {
        let store = directory.join(name);
        fs::create_dir_all(store.join("objects")).unwrap();
        fs::write(store.join("objects/some"), [0; 1000]).unwrap();
        let at = SystemTime::now() - Duration::from_secs(age);
        fs::File::open(&store).unwrap().set_modified(at).unwrap();
    }

    fn left(directory: &Path) -> Vec<String> {
        stores(directory)
            .unwrap()
            .into_iter()
            .map(|store| store.path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    #[tokio::test]
    async fn too_many_checkpoints_cost_the_sessions_that_were_idle_longest_theirs() {
        let home = tempfile::tempdir().unwrap();
        let (kept, turns) = (Kept::below(home.path()), OneAtATime::default());
        let directory = home.path().join(DIRECTORY);
        for (age, name) in [(30, "old"), (20, "older than new"), (10, "new")] {
            store(&directory, name, age);
        }
        for (most, names) in [
            (3000, &["old", "older than new", "new"][..]),
            (2000, &["older than new", "new"]),
            (0, &["new"]),
        ] {
            kept.limit_to(most).await.unwrap();
            kept.trim(&turns).await.unwrap();
            assert_eq!(left(&directory), names);
        }
    }

    #[tokio::test]
    async fn checkpoints_are_not_removed_while_they_are_used_nor_once_they_were() {
        let home = tempfile::tempdir().unwrap();
        let (kept, turns) = (Kept::below(home.path()), OneAtATime::default());
        let directory = home.path().join(DIRECTORY);
        for (age, name) in [(30, "first"), (20, "second"), (10, "third")] {
            store(&directory, name, age);
        }
        kept.limit_to(0).await.unwrap();
        let (first, second) = (directory.join("first"), directory.join("second"));
        let (one, other) = (turns.turn(&first).await, turns.turn(&second).await);
        let use_it = async {
            drop(one);
            // Behind the trimming, which has measured everything by now.
            drop(turns.turn(&first).await);
            store(&directory, "second", 15);
            drop(other);
        };
        let (trimmed, ()) = tokio::join!(kept.trim(&turns), async {
            // It has begun to wait for the first when somebody else is in front of us.
            while turns.waiting(&first) == 0 {
                assert!(first.exists(), "somebody uses it");
                tokio::task::yield_now().await;
            }
            assert!(first.exists());
            use_it.await;
        });
        trimmed.unwrap();
        assert_eq!(left(&directory), ["second", "third"]);
    }

    #[tokio::test]
    async fn the_limit_is_kept_and_takes_effect_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (kept, turns) = (Kept::below(home.path()), OneAtATime::default());
        assert_eq!(kept.measured().await.unwrap(), (0, USUAL_MOST));
        let directory = home.path().join(DIRECTORY);
        store(&directory, "old", 20);
        store(&directory, "new", 10);
        assert_eq!(kept.measured().await.unwrap(), (2000, USUAL_MOST));
        kept.limit_to(1500).await.unwrap();
        kept.trim(&turns).await.unwrap();
        assert_eq!(kept.measured().await.unwrap(), (1000, 1500));
        assert_eq!(Kept::below(home.path()).measured().await.unwrap(), (1000, 1500));
        let mode = fs::metadata(directory.join(LIMIT)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
