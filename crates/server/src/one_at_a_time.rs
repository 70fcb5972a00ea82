//! One call at a time in each directory, or for each key of another kind, even if several rooms ask for it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// The keys that are in use.
#[derive(Clone, Default)]
pub struct OneAtATime<K = PathBuf>(Arc<Mutex<HashMap<K, Arc<tokio::sync::Mutex<()>>>>>);

impl<K: Hash + Eq> OneAtATime<K> {
    /// Waits for the others. The key is in use until the guard is dropped.
    pub async fn turn<Q>(&self, key: &Q) -> OwnedMutexGuard<()>
    where
        K: Borrow<Q>,
        Q: ToOwned<Owned = K> + ?Sized,
    {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(key.to_owned()).or_default().clone()
        };
        turn.lock_owned().await
    }

    /// How many others wait while someone uses a key.
    #[cfg(test)]
    pub fn waiting<Q>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One is in the table, and one in the guard.
        turns.get(key).map_or(0, |turn| Arc::strong_count(turn).saturating_sub(2))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_directory_is_used_by_one_at_a_time_and_others_do_not_wait() {
        let turns = OneAtATime::default();
        let first = turns.turn(Path::new("/a")).await;
        drop(turns.turn(Path::new("/b")).await);
        let mut second = Box::pin(turns.turn(Path::new("/a")));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        drop(second.await);
        let _third = turns.turn(Path::new("/c")).await;
        let in_use: Vec<_> = turns.0.lock().unwrap().keys().cloned().collect();
        assert_eq!(in_use, [PathBuf::from("/c")], "a directory that nobody uses takes no memory");
    }
}
