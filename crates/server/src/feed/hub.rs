//! Every connected browser.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use liminal_contract::{Frame, ServerMessage, SessionId};
use tokio::sync::{Notify, oneshot};

use super::lanes::{Lanes, Place};
use super::outbox::{Closing, Outbox, to_text};
use super::stirred::Stirred;

/// A connected browser, for the code that answers its requests.
#[derive(Debug, Clone)]
pub struct Client {
    /// Never reused while the program runs.
    pub id: u64,
    pub outbox: Arc<Outbox>,
    pub searches: Newest,
    pub finds: Newest,
    lanes: Arc<Lanes>,
}

impl Client {
    /// Puts a request about a session behind those that this browser sent before.
    pub fn queue(&self, session: &SessionId) -> Place {
        self.lanes.take(session)
    }
}

/// The newest of a browser's requests of one kind, of which only the newest matters.
#[derive(Debug, Clone, Default)]
pub struct Newest(Arc<Mutex<Option<oneshot::Sender<()>>>>);

impl Newest {
    /// Replaces the request before. The receiver resolves when the next one replaces this one, or the connection ends.
    pub fn begin(&self) -> oneshot::Receiver<()> {
        let (newest, replaced) = oneshot::channel();
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(newest);
        replaced
    }
}

#[derive(Debug, Default)]
pub struct Hub {
    clients: Mutex<BTreeMap<u64, Connected>>,
    next_id: AtomicU64,
    left: Notify,
    is_stopping: AtomicBool,
    stirred: Stirred,
}

#[derive(Debug)]
struct Connected {
    outbox: Arc<Outbox>,
    /// The login it connected with, if any.
    browser: Option<String>,
}

impl Hub {
    /// A new connection. It gets every broadcast from now on, until it is [removed](Self::remove).
    pub fn join(&self) -> Client {
        self.join_as(None)
    }

    pub fn join_as(&self, browser: Option<String>) -> Client {
        let client = Client {
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            outbox: Arc::default(),
            searches: Newest::default(),
            finds: Newest::default(),
            lanes: Arc::default(),
        };
        self.clients().insert(client.id, Connected { outbox: client.outbox.clone(), browser });
        if self.is_stopping.load(Ordering::SeqCst) {
            client.outbox.close(Closing::Stopping);
        }
        client
    }

    pub fn remove(&self, id: u64) {
        self.clients().remove(&id);
        self.left.notify_one();
    }

    /// Waits until no browser is connected. Supports only one waiter: the code that stops the program.
    pub async fn emptied(&self) {
        while !self.clients().is_empty() {
            self.left.notified().await;
        }
    }

    pub fn broadcast(&self, message: ServerMessage) {
        self.send(message, None);
    }

    /// To everyone except the browser that gets it as its reply.
    pub fn broadcast_to_others(&self, asker: u64, message: ServerMessage) {
        self.send(message, Some(asker));
    }

    /// Ends every connection, including those that are still being made.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.close_all(Closing::Stopping);
    }

    pub fn close_all(&self, why: Closing) {
        for client in self.clients().values() {
            client.outbox.close(why);
        }
    }

    pub fn close_browser(&self, browser: &str, why: Closing) {
        let clients = self.clients();
        let its = clients.values().filter(|client| client.browser.as_deref() == Some(browser));
        its.for_each(|client| client.outbox.close(why));
    }

    pub fn outboxes(&self) -> Vec<Arc<Outbox>> {
        self.clients().values().map(|client| client.outbox.clone()).collect()
    }

    /// For those that follow Now.
    pub fn stirred(&self) -> &Stirred {
        &self.stirred
    }

    fn send(&self, message: ServerMessage, except: Option<u64>) {
        self.stirred.add_of(&message);
        let clients = self.clients();
        let mut others = clients.iter().filter(|(id, _)| Some(**id) != except).peekable();
        if others.peek().is_none() {
            return;
        }
        let text = to_text(&Frame { request_id: None, message });
        for (_, Connected { outbox, .. }) in others {
            outbox.push(text.clone());
        }
    }

    fn clients(&self) -> MutexGuard<'_, BTreeMap<u64, Connected>> {
        self.clients.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
