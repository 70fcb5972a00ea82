//! Our side of one JSON-RPC connection: our open requests, and the queue of lines to write.
//!
//! Each direction numbers its own requests: the agent's ids start at zero, as ours do. So an answer is looked up only
//! among our requests, and the agent's cancellation only among its own. This module knows no methods and does no I/O:
//! lines leave through a queue, and the reader calls [`Connection::take`] with each answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::RequestId;
use serde::Serialize;
use tokio::sync::mpsc;

use super::envelope::{self, RpcError};
use crate::Charge;
use crate::conversation::Closed;

/// A line to write, and the charge of the request it answers: if an agent does not read our answers, we stop reading
/// its requests.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Includes the newline.
    pub line: Vec<u8>,
    /// Dropped when the line is written.
    pub charge: Option<Charge>,
}

/// Our requests without an answer yet. `W` says who waits for each.
#[derive(Debug)]
struct Pending<W> {
    next: i64,
    waiting: BTreeMap<i64, W>,
    closed: bool,
}

#[derive(Debug)]
pub(crate) struct Connection<W> {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    pending: Mutex<Pending<W>>,
}

impl<W> Connection<W> {
    pub fn new(outgoing: mpsc::UnboundedSender<Outgoing>) -> Self {
        let pending = Pending { next: 0, waiting: BTreeMap::new(), closed: false };
        Self { outgoing, pending: Mutex::new(pending) }
    }

    /// Sends a request. [`take`](Self::take) returns the waiter on the answer, or [`close`](Self::close) at the end.
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

    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        let line = envelope::write_call(None, method, params).map_err(|_| Closed)?;
        self.write(line, None)
    }

    /// Answers a request from the agent.
    pub fn answer<R: Serialize>(
        &self,
        id: &RequestId,
        result: Result<R, RpcError>,
        charge: Option<Charge>,
    ) -> Result<(), Closed> {
        let line = envelope::write_answer(id, result.as_ref()).map_err(|_| Closed)?;
        self.write(line, charge)
    }

    /// Withdraws our request. The agent may still answer it.
    pub fn cancel_request(&self, id: i64) -> Result<(), Closed> {
        self.notify("$/cancel_request", &serde_json::json!({ "requestId": id }))
    }

    /// Removes and returns the waiter for this answer, if there still is one.
    pub fn take(&self, id: &RequestId) -> Option<W> {
        match id {
            RequestId::Number(id) => self.pending().waiting.remove(id),
            RequestId::Null | RequestId::Str(_) => None,
        }
    }

    /// Ends the connection: refuses further requests and returns all waiters.
    pub fn close(&self) -> Vec<W> {
        let mut pending = self.pending();
        pending.closed = true;
        std::mem::take(&mut pending.waiting).into_values().collect()
    }

    fn write(&self, line: Vec<u8>, charge: Option<Charge>) -> Result<(), Closed> {
        self.outgoing.send(Outgoing { line, charge }).map_err(|_| Closed)
    }

    /// A panic while this lock is held leaves valid plain data behind.
    fn pending(&self) -> MutexGuard<'_, Pending<W>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
