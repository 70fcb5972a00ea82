//! The sessions that changed since the browsers that follow Now were last told. Nothing is kept while nobody follows.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use liminal_contract::{ServerMessage, SessionId};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct Stirred {
    is_followed: AtomicBool,
    sessions: Mutex<HashSet<SessionId>>,
    added: Notify,
}

impl Stirred {
    /// A session changed.
    pub fn add(&self, session: &SessionId) {
        if self.is_followed.load(Ordering::SeqCst) {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            if !sessions.contains(session) {
                sessions.insert(session.clone());
                self.added.notify_one();
            }
        }
    }

    /// The session that a message to all browsers is about, if it changes what Now shows.
    pub(super) fn add_of(&self, message: &ServerMessage) {
        match message {
            ServerMessage::SessionCreated { session_id, .. }
            | ServerMessage::SessionTitleUpdated { session_id, .. }
            | ServerMessage::SessionArchived { session_id }
            | ServerMessage::SessionUnarchived { session_id, .. }
            | ServerMessage::SessionChanged { session_id, .. }
            | ServerMessage::SessionDeleted { session_id }
            | ServerMessage::SessionLooked { session_id }
            | ServerMessage::ChangesChanged { session_id, .. }
            | ServerMessage::SessionState { session_id, .. } => self.add(session_id),
            _ => {}
        }
    }

    /// Whether anyone follows. Forgets earlier changes: a session that is still among them would not be noticed again.
    pub fn follow(&self, is_followed: bool) {
        self.is_followed.store(is_followed, Ordering::SeqCst);
        self.take();
    }

    pub fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::SeqCst)
    }

    pub fn take(&self) -> HashSet<SessionId> {
        std::mem::take(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a session was added since the last wait. Supports only one waiter.
    pub async fn added(&self) {
        self.added.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_that_stirred_before_everyone_left_is_noticed_again() {
        let (stirred, session) = (Stirred::default(), SessionId::parse("demo:one").unwrap());
        stirred.follow(true);
        stirred.add(&session);
        stirred.added().await;
        stirred.follow(false);
        stirred.follow(true);
        stirred.add(&session);
        stirred.added().await;
        assert_eq!(stirred.take(), HashSet::from([session]));
    }
}
