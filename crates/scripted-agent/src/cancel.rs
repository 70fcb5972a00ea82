//! Tells waiting threads that the user stopped a turn.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Set once, seen by every waiting thread.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Cancel {
    pub(crate) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wait(&self) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(set, |set| !*set));
    }

    /// Waits at most this long. Returns whether the turn was stopped.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        match self.changed.wait_timeout_while(set, time, |set| !*set) {
            Ok((set, _)) => *set,
            Err(poisoned) => *poisoned.into_inner().0,
        }
    }
}
