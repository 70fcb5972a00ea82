//! Every connected browser.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::ws::Utf8Bytes;
use liminal_contract::{Frame, ServerMessage};
use tokio::sync::Notify;

use super::outbox::{Closing, Outbox, to_text};

/// One connected browser, as those who answer it see it.
#[derive(Debug, Clone)]
pub struct Client {
    /// Never used again while the program runs.
    pub id: u64,
    /// What waits to be written to it.
    pub outbox: Arc<Outbox>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Hub {
    clients: Mutex<BTreeMap<u64, Arc<Outbox>>>,
    next_id: AtomicU64,
    left: Notify,
    is_stopping: AtomicBool,
}

impl Hub {
    /// A new connection. It gets every broadcast from now on, until it is [removed](Self::remove).
    pub fn join(&self) -> Client {
        let client =
            Client { id: self.next_id.fetch_add(1, Ordering::Relaxed), outbox: Arc::default() };
        self.clients().insert(client.id, client.outbox.clone());
        if self.is_stopping.load(Ordering::SeqCst) {
            client.outbox.close(Closing::Stopping);
        }
        client
    }

    /// The connection ended.
    pub fn remove(&self, id: u64) {
        self.clients().remove(&id);
        self.left.notify_one();
    }

    /// Waits until no browser is connected. For the one who stops the program.
    pub async fn emptied(&self) {
        while !self.clients().is_empty() {
            self.left.notified().await;
        }
    }

    /// Says something to everyone.
    pub fn broadcast(&self, message: ServerMessage) {
        self.tell(message, None);
    }

    /// Says something to everyone but the one who gets it as a reply.
    pub fn broadcast_to_others(&self, asker: u64, message: ServerMessage) {
        self.tell(message, Some(asker));
    }

    /// Ends every connection, and every one that is still being made.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.close_all(Closing::Stopping);
    }

    /// Ends every connection.
    pub fn close_all(&self, why: Closing) {
        for outbox in self.clients().values() {
            outbox.close(why);
        }
    }

    /// What waits for each of them.
    pub fn outboxes(&self) -> Vec<Arc<Outbox>> {
        self.clients().values().cloned().collect()
    }

    fn tell(&self, message: ServerMessage, except: Option<u64>) {
        let clients = self.clients();
        let others = clients.iter().filter(|(id, _)| Some(**id) != except);
        let mut text: Option<Utf8Bytes> = None;
        for (_, outbox) in others {
            if text.is_none() {
                text = to_text(&Frame { request_id: None, message: message.clone() });
            }
            if let Some(text) = &text {
                outbox.push(text.clone());
            }
        }
    }

    fn clients(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Outbox>>> {
        self.clients.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
