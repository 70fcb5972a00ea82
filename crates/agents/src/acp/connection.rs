//! Our side of one JSON-RPC connection: who waits for which answer, and the queue of lines to write.
//!
//! The two directions count their requests apart: an agent's ids begin at zero as ours do, so an answer is looked up
//! among our requests only, and a cancellation of the agent's among its own. No method is known here, and no I/O is
//! done: lines leave through a queue, and who reads calls [`Connection::take`] with each answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::RequestId;
use serde::Serialize;
use tokio::sync::mpsc;

use super::envelope::{self, RpcError};
use crate::Charge;

/// A line to write, and the weight of the request it answers: an agent that asks and does not read its answers is
/// not read either.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// With its line end.
    pub line: Vec<u8>,
    /// Dropped when the line is written.
    pub charge: Option<Charge>,
}

/// The connection is over: nothing can be written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub(crate) struct Closed;

/// Our requests that wait for their answer. `W` says who waits.
#[derive(Debug)]
struct Pending<W> {
    next: i64,
    waiting: BTreeMap<i64, W>,
    closed: bool,
}

/// Our side of a connection.
#[derive(Debug)]
pub(crate) struct Connection<W> {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    pending: Mutex<Pending<W>>,
}

impl<W> Connection<W> {
    /// A connection that writes into the given queue.
    pub fn new(outgoing: mpsc::UnboundedSender<Outgoing>) -> Self {
        let pending = Pending { next: 0, waiting: BTreeMap::new(), closed: false };
        Self { outgoing, pending: Mutex::new(pending) }
    }

    /// Asks. The waiter comes back from [`take`](Self::take) with the answer, or from [`close`](Self::close).
    pub fn request(&self, method: &str, params: &impl Serialize, waiter: W) -> Result<i64, Closed> {
        let mut pending = self.pending();
        if pending.closed {
            return Err(Closed);
        }
        let id = pending.next;
        let line = envelope::write_call(Some(id), method, params).map_err(|_| Closed)?;
        self.write(line, None)?;
        pending.next += 1;
        pending.waiting.insert(id, waiter);
        Ok(id)
    }

    /// Tells.
    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        let line = envelope::write_call(None, method, params).map_err(|_| Closed)?;
        self.write(line, None)
    }

    /// Answers a request of the agent's.
    pub fn answer<R: Serialize>(
        &self,
        id: &RequestId,
        result: Result<R, RpcError>,
        charge: Option<Charge>,
    ) -> Result<(), Closed> {
        let line = envelope::write_answer(id, result.as_ref()).map_err(|_| Closed)?;
        self.write(line, charge)
    }

    /// Says that we no longer want to know. The agent may answer all the same.
    pub fn cancel_request(&self, id: i64) -> Result<(), Closed> {
        self.notify("$/cancel_request", &serde_json::json!({ "requestId": id }))
    }

    /// Who waits for this answer. `None`: nobody, or not any more.
    pub fn take(&self, id: &RequestId) -> Option<W> {
        match id {
            RequestId::Number(id) => self.pending().waiting.remove(id),
            RequestId::Null | RequestId::Str(_) => None,
        }
    }

    /// Ends the connection: no request is taken any more, and everyone who waits is handed back.
    pub fn close(&self) -> Vec<W> {
        let mut pending = self.pending();
        pending.closed = true;
        std::mem::take(&mut pending.waiting).into_values().collect()
    }

    fn write(&self, line: Vec<u8>, charge: Option<Charge>) -> Result<(), Closed> {
        self.outgoing.send(Outgoing { line, charge }).map_err(|_| Closed)
    }

    /// A panic while this lock is held leaves plain data behind, which is still right.
    fn pending(&self) -> MutexGuard<'_, Pending<W>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
