//! Deleting sessions. Their agents may take seconds to end; no task is started for them meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_contract::{SessionId, WorktreeFate};

use super::failures::not_found;
use super::registry::ask;
use super::service::SessionService;
use super::task::SessionRequest;
use crate::failure::Failure;

/// The sessions that are being deleted.
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

impl SessionService {
    /// Deletes a session and its transcript permanently. A running turn is stopped first; the agent's own file stays.
    /// If its worktree can't be discarded, nothing is deleted.
    pub async fn delete(
        self: &Arc<Self>,
        session: &SessionId,
        worktree: WorktreeFate,
    ) -> Result<(), Failure> {
        let record = self.record(session)?;
        if worktree == WorktreeFate::Discard {
            self.ask_running(session, SessionRequest::Kill).await?;
            self.discard_worktree(session)
                .await
                .map_err(|failure| failure.about(session.clone()))?;
        }
        // From now on, so that nobody starts its task again while its agent ends.
        let Some(_being_deleted) = self.deleting.begin(session) else {
            return Err(not_found(session));
        };
        let running = self.registry.lock().await.remove(session);
        if let Some(running) = running {
            ask(&running, SessionRequest::Kill).await?;
        }
        if let Ok(provider) = self.around.registry.resolve(&record.cli_type)
            && provider.is_alive(session)
        {
            provider.kill_session(session).await?;
        }
        self.around.refs.add(session.clone()).await;
        let id = session.clone();
        let attached = self.around.journal.read(move |reader| reader.attachments_of(&id)).await?;
        self.around.sessions.remove(session.clone()).await?;
        self.around.unread.remove(session);
        // Its transcript left with its record; this is for what the task committed after that.
        self.written(|journal, committed| journal.delete(session, committed)).await;
        self.around.search.forget(session).await;
        self.around.forget_attachments(attached).await;
        self.around.changes.forget(session).await;
        self.revive_replaced_by(&record).await
    }
}
