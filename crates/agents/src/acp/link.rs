//! One living agent process: reads its lines in order, hands each to whom it is for, and says when it is over.
//!
//! A line is handled completely before the next is read, so the answer to a prompt comes behind the updates before
//! it. What takes time (files, commands) runs elsewhere and answers by itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::RequestId;
use liminal_contract::TurnId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::agent::Offers;
use super::connection::{Closed, Connection, Outgoing};
use super::envelope::{self, Incoming, RpcError};
use super::normalise::cut;
use super::serve;
use super::session::{Began, Session};
use super::shared::Shared;
use crate::process::{Budget, Lines, Noise, ReadError, Stdin};
use crate::{Charge, Metered, NewSession};

/// Updates of sessions that are being made are kept up to this many.
const EARLY: usize = 256;

/// Who waits for an answer of the agent's.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// Somebody who asked for a value.
    Value(oneshot::Sender<Result<Value, NoAnswer>>),
    /// Somebody who wants a session. It must be known before the next line is read.
    Session { new: NewSession, reply: oneshot::Sender<Result<Made, NoAnswer>> },
    /// A turn.
    Prompt { session: Arc<Session>, turn: TurnId },
}

/// A session the agent made.
#[derive(Debug)]
pub(crate) struct Made {
    pub session: Arc<Session>,
    pub output: mpsc::UnboundedReceiver<Metered>,
    pub answer: Value,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// The agent refused.
    #[error("{0}")]
    Refused(RpcError),
    /// The answer makes no sense.
    #[error("{0}")]
    Nonsense(String),
    /// The connection ended.
    #[error("the agent left")]
    Left {
        /// The last it wrote to stderr.
        stderr_tail: String,
    },
    /// It took too long.
    #[error("it did not answer within {} s", .0.as_secs())]
    TooLong(Duration),
}

/// One living agent process.
#[derive(Debug)]
pub(crate) struct Link {
    /// Which start of the agent this is.
    pub generation: u64,
    pub connection: Arc<Connection<Waiter>>,
    pub offers: OnceLock<Offers>,
    pub budget: Budget,
    /// What runs for the agent, by its own ids.
    pub serving: Mutex<HashMap<RequestId, AbortHandle>>,
    pub shared: Arc<Shared>,
    early: Mutex<Early>,
    over: AtomicBool,
}

/// What came for sessions whose making is not answered yet.
#[derive(Debug, Default)]
struct Early {
    making: usize,
    updates: Vec<(String, Box<RawValue>)>,
}

/// How the reading ended.
#[derive(Debug)]
pub(crate) enum ReadEnd {
    /// There is no more.
    Eof,
    /// The agent broke the rules.
    Broken(ReadError),
}

impl Link {
    /// A link that writes into `outgoing`.
    pub fn new(
        shared: Arc<Shared>,
        budget: Budget,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Outgoing>) {
        let (outgoing, lines) = mpsc::unbounded_channel();
        let link = Self {
            generation: shared.next_generation(),
            connection: Arc::new(Connection::new(outgoing)),
            offers: OnceLock::new(),
            budget,
            serving: Mutex::default(),
            shared,
            early: Mutex::default(),
            over: AtomicBool::new(false),
        };
        (Arc::new(link), lines)
    }

    /// What the agent offers. Nothing before the handshake.
    pub fn offers(&self) -> Offers {
        self.offers.get().cloned().unwrap_or_default()
    }

    /// Whether the connection has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Asks, and waits for the answer, not longer than `limit`.
    pub async fn request(
        &self,
        method: &str,
        params: &impl Serialize,
        limit: Duration,
    ) -> Result<Value, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        let id = self.send(method, params, Waiter::Value(reply))?;
        self.await_answer(id, answer, limit).await
    }

    /// Makes a session, and waits for it, not longer than `limit`.
    pub async fn make_session(
        &self,
        params: &impl Serialize,
        new: NewSession,
        limit: Duration,
    ) -> Result<Made, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.early().making += 1;
        match self.send("session/new", params, Waiter::Session { new, reply }) {
            Ok(id) => self.await_answer(id, answer, limit).await,
            Err(error) => {
                self.made();
                Err(error)
            }
        }
    }

    fn send(&self, method: &str, params: &impl Serialize, waiter: Waiter) -> Result<i64, NoAnswer> {
        self.connection.request(method, params, waiter).map_err(|Closed| left())
    }

    /// Says so when nobody waits any more: because of the limit, or because the caller was dropped.
    async fn await_answer<T>(
        &self,
        id: i64,
        answer: oneshot::Receiver<Result<T, NoAnswer>>,
        limit: Duration,
    ) -> Result<T, NoAnswer> {
        let mut unanswered = Unanswered { connection: &self.connection, id: Some(id) };
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => {
                unanswered.id = None;
                answer.unwrap_or_else(|_| Err(left()))
            }
            Err(_too_long) => Err(NoAnswer::TooLong(limit)),
        }
    }

    /// Reads until there is no more.
    pub async fn read<R: AsyncRead + Unpin>(self: &Arc<Self>, lines: &mut Lines<R>) -> ReadEnd {
        let mut noise = Noise::new(self.shared.agent.name.clone());
        loop {
            match lines.next().await {
                Ok(Some(line)) => match envelope::read(&line.bytes) {
                    Ok(message) => self.take(message, line.charge),
                    Err(why) => noise.skipped(&line.bytes, &why.to_string()),
                },
                Ok(None) => return ReadEnd::Eof,
                Err(error) => return ReadEnd::Broken(error),
            }
        }
    }

    /// The connection is over: everyone who waits hears what the process said last.
    pub fn close(&self, error: &crate::ProviderError, stderr_tail: &str) {
        self.over.store(true, Ordering::Release);
        for waiter in self.connection.close() {
            let left = || NoAnswer::Left { stderr_tail: stderr_tail.to_owned() };
            match waiter {
                Waiter::Value(reply) => drop(reply.send(Err(left()))),
                Waiter::Session { reply, .. } => drop(reply.send(Err(left()))),
                // Its session ends the turn.
                Waiter::Prompt { .. } => {}
            }
        }
        for (_, task) in self.serving().drain() {
            task.abort();
        }
        self.shared.agent_left(self.generation, error);
    }

    fn take(self: &Arc<Self>, message: Incoming<'_>, charge: Charge) {
        match message {
            Incoming::Response { id, result } => self.answered(&id, result, charge),
            Incoming::Notification { method, params } => self.told(&method, params, charge),
            Incoming::Request { id, method, params } => match method.as_ref() {
                "session/request_permission" => self.asked(&id, params, charge),
                method => serve::serve(self, id, method, params, charge),
            },
        }
    }

    fn told(self: &Arc<Self>, method: &str, params: &RawValue, charge: Charge) {
        match method {
            "session/update" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Told<'a> {
                    session_id: String,
                    #[serde(borrow)]
                    update: &'a RawValue,
                }
                match serde_json::from_str::<Told<'_>>(params.get()) {
                    Ok(told) => self.updated(&told.session_id, told.update, charge),
                    Err(error) => {
                        tracing::warn!(agent = %self.shared.agent.name, %error, raw = ?cut(params.get()), "An update is not of its type");
                    }
                }
            }
            "$/cancel_request" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Cancelled {
                    request_id: RequestId,
                }
                if let Ok(Cancelled { request_id }) = serde_json::from_str(params.get()) {
                    self.withdrawn(&request_id);
                }
            }
            // Agents tell much that is of their own making; it is normal, and not for us.
            method => {
                tracing::debug!(agent = %self.shared.agent.name, ?method, raw = ?cut(params.get()), "A notification we don't know");
            }
        }
    }

    fn updated(self: &Arc<Self>, agent_ref: &str, update: &RawValue, charge: Charge) {
        if let Some(session) = self.shared.by_ref(agent_ref) {
            let began = session.update(update, Some(charge), || self.shared.turn());
            return self.began(began, &session);
        }
        let mut early = self.early();
        if early.making > 0 && early.updates.len() < EARLY {
            early.updates.push((agent_ref.to_owned(), update.to_owned()));
        } else {
            tracing::debug!(agent = %self.shared.agent.name, ?agent_ref, raw = ?cut(update.get()), "An update of a session we don't know");
        }
    }

    fn asked(self: &Arc<Self>, id: &RequestId, params: &RawValue, charge: Charge) {
        match serve::session_of(&self.shared, params) {
            Ok(session) => {
                let connection = &self.connection;
                let began =
                    session.ask(id, params, connection, Some(charge), || self.shared.turn());
                self.began(began, &session);
            }
            Err(error) => {
                let _gone_anyway = self.connection.answer::<()>(id, Err(error), Some(charge));
            }
        }
    }

    fn began(&self, began: Began, session: &Arc<Session>) {
        if began == Began::OwnTurn {
            self.shared.watch_own_turn(Arc::clone(session));
        }
    }

    fn answered(
        self: &Arc<Self>,
        id: &RequestId,
        result: Result<&RawValue, RpcError>,
        charge: Charge,
    ) {
        let Some(waiter) = self.connection.take(id) else {
            tracing::debug!(agent = %self.shared.agent.name, %id, "An answer nobody waits for");
            return;
        };
        let result =
            result.map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap_or(Value::Null));
        match waiter {
            Waiter::Value(reply) => {
                let _asker_left = reply.send(result.map_err(NoAnswer::Refused));
            }
            Waiter::Session { new, reply } => {
                let made = result.map_err(NoAnswer::Refused);
                let made = made.and_then(|answer| self.new_session(answer, new));
                self.made();
                if let Err(Ok(unwanted)) = reply.send(made) {
                    // Who asked gave up meanwhile: nothing is left that was not there before.
                    self.shared.forget_unwanted(self, &unwanted.session);
                }
            }
            Waiter::Prompt { session, turn } => {
                let login = self.shared.agent.login.as_deref();
                let methods = &self.offers().auth_methods;
                session.answered(&turn, result, login, methods, Some(charge));
            }
        }
    }

    fn new_session(self: &Arc<Self>, answer: Value, new: NewSession) -> Result<Made, NoAnswer> {
        let agent_ref = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let agent_ref = agent_ref.ok_or_else(|| {
            NoAnswer::Nonsense("its answer to session/new names no session".to_owned())
        })?;
        let id = new.session_id.unwrap_or_else(|| self.shared.session_id(&agent_ref));
        let (session, output) = self.shared.add(id, agent_ref, new.project_dir);
        session.attach(self.generation, Arc::clone(&self.connection), None);
        session.told_at_start(&answer);
        let early = {
            let mut early = self.early();
            let mine = |update: &mut (String, Box<RawValue>)| update.0 == session.agent_ref;
            early.updates.extract_if(.., mine).collect::<Vec<_>>()
        };
        for (_, update) in early {
            let began = session.update(&update, None, || self.shared.turn());
            self.began(began, &session);
        }
        Ok(Made { session, output, answer })
    }

    fn made(&self) {
        let mut early = self.early();
        early.making = early.making.saturating_sub(1);
        if early.making == 0 {
            early.updates.clear();
        }
    }

    /// The agent takes a request of its own back.
    fn withdrawn(&self, id: &RequestId) {
        let task = self.serving().remove(id);
        if let Some(task) = task {
            task.abort();
            let error = RpcError::new(RpcError::CANCELLED, "Request cancelled");
            let _gone_anyway = self.connection.answer::<()>(id, Err(error), None);
        } else {
            self.shared.withdraw(self.generation, id);
        }
    }

    pub fn serving(&self) -> MutexGuard<'_, HashMap<RequestId, AbortHandle>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn early(&self) -> MutexGuard<'_, Early> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was not answered when this is dropped is given up.
struct Unanswered<'a> {
    connection: &'a Connection<Waiter>,
    id: Option<i64>,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let _gone_anyway = self.connection.cancel_request(id);
        }
    }
}

fn left() -> NoAnswer {
    NoAnswer::Left { stderr_tail: String::new() }
}

/// Writes what is queued to a process, line by line, until it takes no more.
pub(crate) async fn write_to(stdin: Stdin, mut lines: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(Outgoing { line, charge }) = lines.recv().await {
        if stdin.write(line).await.is_err() {
            return;
        }
        drop(charge);
    }
}

#[cfg(test)]
mod tests;
