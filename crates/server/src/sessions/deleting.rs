//! The sessions that are being deleted. Their agents may take seconds to end; no task is started for them meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_contract::SessionId;

#[derive(Clone, Default)]
pub struct Deleting(Arc<Mutex<HashSet<SessionId>>>);

impl Deleting {
    /// `None` if it is being deleted already.
    pub fn begin(&self, session: &SessionId) -> Option<BeingDeleted> {
        let session = session.clone();
        self.lock().insert(session.clone()).then(|| BeingDeleted { all: self.clone(), session })
    }

    pub fn has(&self, session: &SessionId) -> bool {
        self.lock().contains(session)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until it is dropped: the session is gone then, or could not be deleted.
pub struct BeingDeleted {
    all: Deleting,
    session: SessionId,
}

impl Drop for BeingDeleted {
    fn drop(&mut self) {
        self.all.lock().remove(&self.session);
    }
}
