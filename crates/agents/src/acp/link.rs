//! The connection to one running agent process: reads its lines in order, dispatches each, and reports the end.
//!
//! A line is handled completely before the next is read, so the answer to a prompt comes after the updates before it.
//! Slow work (files, commands) runs in its own task, which sends the answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::RequestId;
use liminal_contract::{OptionValue, SessionId, TurnId};
use liminal_stream::SessionFact;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::agent::Offers;
use super::connection::{Connection, Outgoing};
use super::envelope::{self, Incoming, RpcError};
use super::normalise::cut;
use super::serve;
use super::session::{Asked, Session};
use super::shared::Shared;
use crate::conversation::{self, Heard, ReadEnd};
use crate::process::{Budget, Lines, Noise, Stdin};
use crate::{Charge, Metered, NewSession, ProviderError};

/// How many updates are kept for sessions that are still being created.
const EARLY: usize = 256;

/// What to do with an answer from the agent.
#[derive(Debug)]
pub(crate) enum Waiter {
    Value(oneshot::Sender<Result<Value, NoAnswer>>),
    /// Register the new session, which must happen before the next line is read.
    Session {
        new: NewSession,
        reply: oneshot::Sender<Result<CreatedSession, NoAnswer>>,
    },
    /// Report the new options.
    Option {
        agent_ref: String,
        id: String,
        value: OptionValue,
        reply: oneshot::Sender<Result<(), NoAnswer>>,
    },
    /// Place the message in the turn, or return it.
    Steer {
        agent_ref: String,
        message: String,
        content: String,
    },
    /// End this turn.
    Prompt {
        agent_ref: String,
        turn: TurnId,
    },
}

#[derive(Debug)]
pub(crate) struct CreatedSession {
    pub session: Arc<Session>,
    pub output: mpsc::UnboundedReceiver<Metered>,
}

/// Why a request has no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("{0}")]
    Refused(RpcError),
    #[error("{0}")]
    Nonsense(String),
    #[error("the agent exited")]
    Left { stderr_tail: String },
    #[error("it did not answer within {} s", .0.as_secs())]
    TooLong(Duration),
}

#[derive(Debug)]
pub(crate) struct Link {
    /// Which start of the agent this is.
    pub generation: u64,
    pub connection: Arc<Connection<Waiter>>,
    pub offers: OnceLock<Offers>,
    pub budget: Budget,
    /// Requests being served, by the agent's ids.
    pub serving: Mutex<HashMap<RequestId, AbortHandle>>,
    pub shared: Arc<Shared>,
    /// Whose account the agent uses, once it said so.
    account: Mutex<Option<String>>,
    early: Mutex<EarlyUpdates>,
    over: AtomicBool,
}

/// Updates of sessions that the agent has not confirmed yet.
#[derive(Debug, Default)]
struct EarlyUpdates {
    making: usize,
    updates: Vec<(String, Box<RawValue>)>,
}

impl Link {
    /// Also returns the lines to write to the process.
    pub fn new(
        shared: Arc<Shared>,
        generation: u64,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Outgoing>) {
        let (outgoing, lines) = mpsc::unbounded_channel();
        let link = Self {
            generation,
            connection: Arc::new(Connection::new(outgoing)),
            offers: OnceLock::new(),
            budget: Budget::default(),
            serving: Mutex::default(),
            shared,
            account: Mutex::default(),
            early: Mutex::default(),
            over: AtomicBool::new(false),
        };
        (Arc::new(link), lines)
    }

    /// Empty before the handshake.
    pub fn offers(&self) -> Offers {
        self.offers.get().cloned().unwrap_or_default()
    }

    /// What every session of this process can say about its agent.
    pub fn about(&self) -> Vec<SessionFact> {
        let (offers, mcp) = (self.offers(), &self.shared.agent.mcp);
        let account = self.account.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let servers = mcp.shown(&offers.mcp);
        let mcp = (!servers.is_empty()).then_some(SessionFact::Mcp { servers, controls: false });
        let version = offers.version.map(SessionFact::Version);
        version.into_iter().chain(account.map(SessionFact::Account)).chain(mcp).collect()
    }

    /// Waits for the answer, up to `limit`.
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

    /// Creates a session by `session/new` or `session/fork`, waiting up to `limit`.
    pub async fn make_session(
        &self,
        method: &str,
        params: &impl Serialize,
        new: NewSession,
        limit: Duration,
    ) -> Result<CreatedSession, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.early().making += 1;
        match self.send(method, params, Waiter::Session { new, reply }) {
            Ok(id) => self.await_answer(id, answer, limit).await,
            Err(error) => {
                self.made();
                Err(error)
            }
        }
    }

    fn send(&self, method: &str, params: &impl Serialize, waiter: Waiter) -> Result<i64, NoAnswer> {
        self.connection.request(method, params, waiter).map_err(|conversation::Closed| left())
    }

    /// Cancels the request if the limit passes or the caller is dropped.
    async fn await_answer<T>(
        &self,
        id: i64,
        answer: oneshot::Receiver<Result<T, NoAnswer>>,
        limit: Duration,
    ) -> Result<T, NoAnswer> {
        let mut unanswered = CancelOnDrop { connection: &self.connection, id: Some(id) };
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => {
                unanswered.id = None;
                answer.unwrap_or_else(|_| Err(left()))
            }
            Err(_too_long) => Err(NoAnswer::TooLong(limit)),
        }
    }

    pub async fn read<R: AsyncRead + Unpin>(
        self: &Arc<Self>,
        lines: &mut Lines<R>,
        mut noise: Noise,
    ) -> ReadEnd {
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

    /// Ends the connection: every waiter gets the end of the process's stderr.
    pub fn close(&self, error: &ProviderError) {
        let tail = error.details().and_then(|details| details.stderr_tail).unwrap_or_default();
        self.over.store(true, Ordering::Release);
        for waiter in self.connection.close() {
            let left = || NoAnswer::Left { stderr_tail: tail.clone() };
            match waiter {
                Waiter::Value(reply) => drop(reply.send(Err(left()))),
                Waiter::Session { reply, .. } => drop(reply.send(Err(left()))),
                Waiter::Option { reply, .. } => drop(reply.send(Err(left()))),
                // Its session ends the turn below, and returns the message.
                Waiter::Prompt { .. } | Waiter::Steer { .. } => {}
            }
        }
        for (_, task) in self.serving().drain() {
            task.abort();
        }
        let sessions = self.shared.all();
        let runs = |session: &Arc<Session>| session.talk.is_running(self.generation);
        let at_work: Vec<SessionId> =
            sessions.iter().filter(|it| runs(it)).map(|it| it.id.clone()).collect();
        for session in sessions {
            let mut failure = conversation::failure(error);
            let others: Vec<_> = at_work.iter().filter(|it| **it != session.id).cloned().collect();
            if !others.is_empty() {
                failure.details.get_or_insert_default().interrupted = Some(others);
            }
            session.talk.left(self.generation, failure);
        }
    }

    fn take(self: &Arc<Self>, message: Incoming<'_>, charge: Charge) {
        match message {
            Incoming::Response { id, result } => self.answered(&id, result, charge),
            Incoming::Notification { method, params } => self.told(&method, params, charge),
            Incoming::Request { id, method, params } => match method.as_ref() {
                "session/request_permission" => self.asked(&id, Asked::Permission, params, charge),
                "elicitation/create" => self.asked(&id, Asked::Form, params, charge),
                method => serve::serve(self, id, method, params, charge),
            },
        }
    }

    fn told(self: &Arc<Self>, method: &str, params: &RawValue, charge: Charge) {
        match method {
            "session/update" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct UpdateParams<'a> {
                    session_id: String,
                    #[serde(borrow)]
                    update: &'a RawValue,
                }
                match serde_json::from_str::<UpdateParams<'_>>(params.get()) {
                    Ok(told) => self.updated(&told.session_id, told.update, charge),
                    Err(error) => {
                        let (agent, raw) = (&self.shared.agent.name, cut(params.get()));
                        tracing::warn!(%agent, %error, ?raw, "Skipped an invalid update");
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
            "_auth/status_update" => {
                let told: Value = serde_json::from_str(params.get()).unwrap_or_default();
                let text = |key: &str| told["authStatus"][key].as_str().map(str::to_owned);
                let (Some(label), detail) = (text("label"), text("detail")) else { return };
                let account = match detail {
                    Some(detail) => format!("{label} ({detail})"),
                    None => label,
                };
                *self.account.lock().unwrap_or_else(PoisonError::into_inner) = Some(account);
                for session in self.shared.all() {
                    session.say_about(self);
                }
            }
            // Agents send many notifications of their own; that is normal.
            method => {
                let (agent, raw) = (&self.shared.agent.name, cut(params.get()));
                tracing::debug!(%agent, ?method, ?raw, "Skipped an unknown notification");
            }
        }
    }

    fn updated(self: &Arc<Self>, agent_ref: &str, update: &RawValue, charge: Charge) {
        if let Some(session) = self.shared.by_ref(agent_ref) {
            let heard = session.update(self, update, Some(charge));
            return self.began(heard, &session);
        }
        let mut early = self.early();
        if early.making > 0 && early.updates.len() < EARLY {
            early.updates.push((agent_ref.to_owned(), update.to_owned()));
        } else {
            let (agent, raw) = (&self.shared.agent.name, cut(update.get()));
            tracing::debug!(%agent, ?agent_ref, ?raw, "Skipped an update of an unknown session");
        }
    }

    fn asked(self: &Arc<Self>, id: &RequestId, what: Asked, params: &RawValue, charge: Charge) {
        match serve::session_of(&self.shared, params) {
            Ok(session) => {
                let heard = session.ask(self, id, what, params, Some(charge));
                self.began(heard, &session);
            }
            Err(error) => {
                let _gone_anyway = self.connection.answer::<()>(id, Err(error), Some(charge));
            }
        }
    }

    fn began(&self, heard: Heard, session: &Arc<Session>) {
        if heard == Heard::OwnBegan {
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
            tracing::debug!(agent = %self.shared.agent.name, %id, "Skipped an answer to no open request");
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
                    // The requester gave up meanwhile: clean up.
                    self.shared.forget_unwanted(self, &unwanted.session);
                }
            }
            Waiter::Option { agent_ref, id, value, reply } => {
                let set = result.map_err(NoAnswer::Refused).map(|answer| {
                    if let Some(session) = self.shared.by_ref(&agent_ref) {
                        session.option_set(self, &id, &value, &answer);
                    }
                });
                let _asker_left = reply.send(set);
            }
            Waiter::Steer { agent_ref, message, content } => {
                let is_taken = result.is_ok_and(|answer| answer["outcome"] == "injected");
                if let Some(session) = self.shared.by_ref(&agent_ref) {
                    session.steered(self, &message, content, is_taken);
                }
            }
            Waiter::Prompt { agent_ref, turn } => {
                // The session may have been released meanwhile.
                if let Some(session) = self.shared.by_ref(&agent_ref) {
                    let methods = &self.offers().logins.methods;
                    session.answered(self, &turn, result, methods, Some(charge));
                }
            }
        }
    }

    fn new_session(
        self: &Arc<Self>,
        answer: Value,
        new: NewSession,
    ) -> Result<CreatedSession, NoAnswer> {
        let agent_ref = answer.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let agent_ref = agent_ref
            .ok_or_else(|| NoAnswer::Nonsense("its answer has no session id".to_owned()))?;
        let id = new.session_id.unwrap_or_else(|| self.shared.agent.session_id(Some(&agent_ref)));
        let (session, output) =
            self.shared.add(id, agent_ref, new.project_dir, (Vec::new(), new.chosen));
        session.attach(self, None);
        session.facts_at_start(self, &answer);
        let early = {
            let mut early = self.early();
            let mine = |update: &mut (String, Box<RawValue>)| update.0 == session.agent_ref;
            early.updates.extract_if(.., mine).collect::<Vec<_>>()
        };
        for (_, update) in early {
            let heard = session.update(self, &update, None);
            self.began(heard, &session);
        }
        Ok(CreatedSession { session, output })
    }

    fn made(&self) {
        let mut early = self.early();
        early.making = early.making.saturating_sub(1);
        if early.making == 0 {
            early.updates.clear();
        }
    }

    /// The agent cancels one of its own requests.
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

    fn early(&self) -> MutexGuard<'_, EarlyUpdates> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl conversation::Link for Link {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Cancels a request if dropped before its answer.
struct CancelOnDrop<'a> {
    connection: &'a Connection<Waiter>,
    id: Option<i64>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let _gone_anyway = self.connection.cancel_request(id);
        }
    }
}

fn left() -> NoAnswer {
    NoAnswer::Left { stderr_tail: String::new() }
}

/// Writes queued lines to a process until the queue closes or the process stops reading.
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
