//! Permissions of one session: asked, answered, void.

use std::sync::Arc;

use agent_client_protocol_schema::v1::RequestId;
use liminal_contract::{Answer, AskOption, ItemId, Outcome, OutcomeBy};
use serde_json::value::RawValue;

use super::{Began, Doing, Session, State, Stop, now};
use crate::Charge;
use crate::acp::connection::Connection;
use crate::acp::envelope::RpcError;
use crate::acp::link::{Link, Waiter};
use crate::acp::normalise::call_of;
use crate::acp::permissions::{refuses, response};
use crate::lifecycle::RunningTurn;

/// A permission that waits for the user.
#[derive(Debug)]
pub(super) struct OpenAsk {
    item: ItemId,
    request: RequestId,
    call: Option<String>,
    options: Vec<AskOption>,
    connection: Arc<Connection<Waiter>>,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerRefused {
    /// Nobody asks that any more.
    Closed,
    /// The agent did not offer it.
    NotOffered,
}

impl Session {
    /// The agent asks. It waits until somebody answers, but not while it is being stopped.
    pub fn ask(
        &self,
        request: &RequestId,
        raw: &RawValue,
        connection: &Arc<Connection<Waiter>>,
        charge: Option<Charge>,
        running: impl FnOnce() -> RunningTurn<Link>,
    ) -> Began {
        let mut state = self.state();
        state.heard = tokio::time::Instant::now();
        let stopping = matches!(
            state.doing,
            Doing::Deaf { .. }
                | Doing::Answering { stop: Stop::Asked { .. }, .. }
                | Doing::Remembering
        );
        if stopping {
            let _gone_anyway = connection.answer(request, Ok(response(None)), charge);
            return Began::Nothing;
        }
        let (item, options, outputs) = match state.normaliser.ask(raw, now()) {
            Ok(asked) => asked,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, raw = ?crate::acp::normalise::cut(raw.get()), "A question is not of its type");
                let error = RpcError::new(RpcError::INVALID_PARAMS, error.to_string());
                let _gone_anyway = connection.answer::<()>(request, Err(error), charge);
                return Began::Nothing;
            }
        };
        let (call, connection) = (call_of(raw), Arc::clone(connection));
        state.asks.push(OpenAsk { item, request: request.clone(), call, options, connection });
        state.emit(outputs, charge);
        state.show_terminals();
        state.notice_own_turn(running)
    }

    /// Somebody answers.
    pub fn answer(
        &self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
    ) -> Result<(), AnswerRefused> {
        let mut state = self.state();
        let at =
            state.asks.iter().position(|ask| ask.item == *item).ok_or(AnswerRefused::Closed)?;
        let chosen = answer.option_id.as_deref();
        let offered = |option: &str| state.asks[at].options.iter().any(|it| it.option_id == option);
        if chosen.is_some_and(|chosen| !offered(chosen)) {
            return Err(AnswerRefused::NotOffered);
        }
        let ask = state.asks.remove(at);
        let refused = refuses(&ask.options, chosen);
        let _gone_anyway = ask.connection.answer(&ask.request, Ok(response(chosen)), None);
        let outcome = Outcome { option_id: answer.option_id.clone(), by };
        let call = ask.call.as_deref().filter(|_| refused);
        let outputs = state.normaliser.settle(ask.item, outcome, call, now());
        state.emit(outputs, None);
        Ok(())
    }

    /// The agent takes its question back. Whether it was one of this session's.
    pub fn withdraw(&self, request: &RequestId) -> bool {
        let mut state = self.state();
        let Some(at) = state.asks.iter().position(|ask| ask.request == *request) else {
            return false;
        };
        let ask = state.asks.remove(at);
        let error = RpcError::new(RpcError::CANCELLED, "Request cancelled");
        let _gone_anyway = ask.connection.answer::<()>(request, Err(error), None);
        let outcome = Outcome { option_id: None, by: OutcomeBy::Cancel };
        let outputs = state.normaliser.settle(ask.item, outcome, None, now());
        state.emit(outputs, None);
        true
    }
}

impl State {
    /// Nobody will answer any more.
    pub(super) fn void_asks(&mut self, by: OutcomeBy) {
        for ask in std::mem::take(&mut self.asks) {
            if by != OutcomeBy::AgentLeft {
                let _gone_anyway = ask.connection.answer(&ask.request, Ok(response(None)), None);
            }
            let outcome = Outcome { option_id: None, by };
            let outputs = self.normaliser.settle(ask.item, outcome, None, now());
            self.emit(outputs, None);
        }
    }
}
