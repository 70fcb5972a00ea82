//! Which sessions ended a turn that the user has not looked at. The journal knows it too; this is for reading it fast.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_contract::SessionId;

#[derive(Clone, Default)]
pub struct Unread(Arc<Mutex<HashSet<SessionId>>>);

impl Unread {
    pub fn extend(&self, sessions: impl IntoIterator<Item = SessionId>) {
        self.lock().extend(sessions);
    }

    pub fn remove(&self, session: &SessionId) {
        self.lock().remove(session);
    }

    pub fn has(&self, session: &SessionId) -> bool {
        self.lock().contains(session)
    }

    pub fn all(&self) -> Vec<SessionId> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
