//! The files of a workspace, found as the user types: walked by ignore rules, matched fuzzily.
//!
//! A workspace is walked when it is first asked for, and again when the last walk is no longer fresh. A walk that was
//! slow is repeated behind the answer, so that no key press waits for it. Nothing is read but names.

mod index;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

pub use index::Found;
use index::Index;

use crate::one_at_a_time::OneAtATime;

/// The names of this many workspaces are kept.
const MOST_KEPT: usize = 4;

/// How long a walk counts as fresh.
const FRESH: Duration = Duration::from_secs(2);

/// A walk that took less is repeated before the answer instead of behind it.
const QUICK: Duration = Duration::from_millis(10);

/// How long the first key waits for a walk.
const FIRST_KEY: Duration = Duration::from_millis(12);

/// How long a walk may take before the user hears of it.
const LONGEST_WALK: Duration = Duration::from_secs(10);

/// The walks that are kept, the last used last.
#[derive(Clone, Default)]
pub struct Files {
    kept: Arc<Mutex<Vec<Kept>>>,
    /// One search at a time in each workspace: one that hangs, on a pipe called `.gitignore`, holds one thread only.
    searching: OneAtATime,
}

#[derive(Clone)]
struct Kept {
    root: PathBuf,
    index: Arc<Index>,
    walked_at: Instant,
    took: Duration,
    is_walking: bool,
}

impl Files {
    /// The same as `find`, elsewhere; `None` if it takes too long.
    pub async fn find_in_time(&self, root: PathBuf, query: String, limit: usize) -> Option<Found> {
        let files = self.clone();
        let found = async move {
            let turn = files.searching.turn(&root).await;
            let found = tokio::task::spawn_blocking(move || {
                let _one_at_a_time = turn;
                files.find(&root, &query, limit)
            });
            found.await.ok()
        };
        tokio::time::timeout(LONGEST_WALK, found).await.ok().flatten()
    }

    /// The best matches of `query`, best first; for an empty query what is at the top. Blocks for a walk.
    pub fn find(&self, root: &Path, query: &str, limit: usize) -> Found {
        let Some(kept) = self.kept(root) else {
            if query.is_empty() {
                // The first key: if the walk takes longer, what is at the top has to do until the next key comes.
                let walked = self.walk_behind(root).recv_timeout(FIRST_KEY);
                let index = walked.unwrap_or_else(|_slow| Arc::new(Index::of(walk::top(root))));
                return index.find(query, limit);
            }
            return self.walk(root).find(query, limit);
        };
        if kept.walked_at.elapsed() < FRESH {
            return kept.index.find(query, limit);
        }
        if kept.took < QUICK {
            return self.walk(root).find(query, limit);
        }
        if !kept.is_walking {
            let _not_waited_for = self.walk_behind(root);
        }
        kept.index.find(query, limit)
    }

    /// The last walk of a workspace, which counts as used now.
    fn kept(&self, root: &Path) -> Option<Kept> {
        let mut kept = self.lock();
        let at = kept.iter().position(|kept| kept.root == root)?;
        let found = kept.remove(at);
        kept.push(found.clone());
        Some(found)
    }

    fn walk(&self, root: &Path) -> Arc<Index> {
        let walked_at = Instant::now();
        let index = Arc::new(Index::of(walk::all(root)));
        let (root, took) = (root.to_owned(), walked_at.elapsed());
        let mut kept = self.lock();
        kept.retain(|kept| kept.root != root);
        kept.push(Kept { root, index: index.clone(), walked_at, took, is_walking: false });
        if kept.len() > MOST_KEPT {
            kept.remove(0);
        }
        index
    }

    fn walk_behind(&self, root: &Path) -> mpsc::Receiver<Arc<Index>> {
        if let Some(kept) = self.lock().iter_mut().find(|kept| kept.root == root) {
            kept.is_walking = true;
        }
        let (files, root) = (self.clone(), root.to_owned());
        let (walked, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let _nobody_waits = walked.send(files.walk(&root));
        });
        receiver
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
