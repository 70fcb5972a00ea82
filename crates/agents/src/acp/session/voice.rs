//! One session's requests to an ACP agent, and the events made from the agent's messages.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CancelNotification, ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent,
    PromptRequest, RequestId, ResourceLink, TextResourceContents,
};
use liminal_contract::{Answer, ItemId, Outcome, OutcomeBy, Timestamp, TurnId, TurnOrigin};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Asked;
use super::shown::Terminals;
use crate::Output;
use crate::acp::agent::Takes;
use crate::acp::connection::Connection;
use crate::acp::envelope::RpcError;
use crate::acp::link::{Link, Waiter};
use crate::acp::normalise::{Normaliser, TurnEnd, call_of};
use crate::acp::permissions::Wanted;
use crate::conversation::{Asks, Closed, Ended, NotTaken, Unanswered, Voice};
use crate::prompt::in_words;
use crate::{AgentPrompt, Attached, Picture};

pub(crate) struct AcpVoice {
    agent_ref: String,
    pub normaliser: Normaliser,
    pub takes: Takes,
    pub connection: Option<Arc<Connection<Waiter>>>,
    /// When the last part of a conversation arrived.
    pub heard: Instant,
    pub(super) terminals: Terminals,
    /// Our request whose answer ends the turn. A turn that the agent started has none.
    prompt: Option<i64>,
    asks: Asks<PendingAsk>,
    /// Messages that the agent was handed and has not answered for.
    handed: Vec<String>,
}

struct PendingAsk {
    request: RequestId,
    call: Option<String>,
    wanted: Wanted,
}

impl AcpVoice {
    pub fn new(agent_ref: String, normaliser: Normaliser) -> Self {
        Self {
            agent_ref,
            normaliser,
            takes: Takes::default(),
            connection: None,
            heard: Instant::now(),
            terminals: Terminals::default(),
            prompt: None,
            asks: Asks::default(),
            handed: Vec::new(),
        }
    }

    pub fn attached(&mut self, connection: Arc<Connection<Waiter>>, takes: Takes) {
        self.connection = Some(connection);
        self.takes = takes;
        self.heard = Instant::now();
    }

    pub fn is_asking(&self) -> bool {
        !self.asks.is_empty()
    }

    /// `raw` is the `params` of a `session/request_permission` or an `elicitation/create`.
    pub fn ask(
        &mut self,
        request: &RequestId,
        what: Asked,
        raw: &RawValue,
        at: Timestamp,
    ) -> Result<Vec<Output>, serde_json::Error> {
        self.heard = Instant::now();
        let (item, call, wanted, mut outputs) = match what {
            Asked::Permission => {
                let (item, options, outputs) = self.normaliser.ask(raw, at)?;
                (item, call_of(raw), Wanted::Choice(options), outputs)
            }
            Asked::Form => {
                let (item, questions, outputs) = self.normaliser.elicit(raw, at)?;
                (item, None, Wanted::Form(questions), outputs)
            }
        };
        self.asks.open(item, PendingAsk { request: request.clone(), call, wanted });
        self.show_terminals(at, &mut outputs);
        Ok(outputs)
    }

    /// A request that can't be shown: the agent knows, and so must the user.
    pub fn refused(&mut self, what: Asked, why: &str, at: Timestamp) -> Vec<Output> {
        match what {
            Asked::Permission => Vec::new(),
            Asked::Form => self.normaliser.form_refused(why, at),
        }
    }

    /// The agent withdraws a permission. Returns nothing if it is not one of this session's.
    pub fn withdraw(&mut self, request: &RequestId, at: Timestamp) -> Vec<Output> {
        let cancelled = RpcError::new(RpcError::CANCELLED, "Request cancelled");
        let withdrawn = self.asks.void(|question| question.request == *request);
        self.settle(withdrawn, OutcomeBy::Cancel, Some(&Err(cancelled)), at)
    }

    /// Ends the turn and closes its permissions.
    pub fn end_turn(&mut self, end: TurnEnd, by: OutcomeBy, at: Timestamp) -> Vec<Output> {
        self.prompt = None;
        let mut outputs = self.void(by, at);
        outputs.extend(self.normaliser.end_turn(end, at));
        outputs
    }

    /// The agent answered whether it took up a message.
    pub fn steered(
        &mut self,
        message: &str,
        content: String,
        is_taken: bool,
        at: Timestamp,
    ) -> Vec<Output> {
        let handed = self.handed.len();
        self.handed.retain(|handed| handed != message);
        if self.handed.len() == handed {
            return Vec::new();
        }
        let taken = is_taken.then(|| self.normaliser.steered(message, content, at)).flatten();
        taken.unwrap_or_else(|| vec![Output::Returned { message: message.to_owned() }])
    }

    /// Nothing more comes from the agent.
    fn return_handed(&mut self) -> Vec<Output> {
        self.handed.drain(..).map(|message| Output::Returned { message }).collect()
    }

    /// The words, and a link for each file they mention.
    /// Closes all open permissions without an answer.
    fn void(&mut self, by: OutcomeBy, at: Timestamp) -> Vec<Output> {
        let void = self.asks.void(|_| true);
        let reply = (by != OutcomeBy::AgentLeft).then_some(Ok(()));
        self.settle(void, by, reply.as_ref(), at)
    }

    fn settle(
        &mut self,
        questions: Vec<(ItemId, PendingAsk)>,
        by: OutcomeBy,
        reply: Option<&Result<(), RpcError>>,
        at: Timestamp,
    ) -> Vec<Output> {
        let mut outputs = Vec::new();
        for (item, question) in questions {
            if let Some(reply) = reply {
                let cancelled = || question.wanted.cancelled();
                self.reply(&question.request, reply.clone().map(|()| cancelled()));
            }
            let outcome = Outcome::without_choice(by);
            outputs.extend(self.normaliser.settle(item, outcome, None, at));
        }
        outputs
    }

    fn reply(&self, request: &RequestId, result: Result<Value, RpcError>) {
        if let Some(connection) = &self.connection {
            let _gone_anyway = connection.answer(request, result, None);
        }
    }
}

impl Voice for AcpVoice {
    type Link = Link;
    const UNANSWERED: Unanswered = Unanswered::Deafen;

    fn prompt(
        &mut self,
        turn: &TurnId,
        prompt: &AgentPrompt,
        at: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        let connection = self.connection.as_ref().ok_or(Closed)?;
        let agent_ref = self.agent_ref.clone();
        let request = PromptRequest::new(agent_ref.clone(), blocks(prompt, self.takes));
        let waiter = Waiter::Prompt { agent_ref, turn: turn.clone() };
        self.prompt = Some(connection.request("session/prompt", &request, waiter)?);
        let mut outputs = self.normaliser.end_history(at);
        outputs.extend(self.normaliser.begin_turn(turn.clone(), TurnOrigin::User, at));
        Ok(outputs)
    }

    fn unsent(&mut self, turn: &TurnId, at: Timestamp) -> Vec<Output> {
        let mut outputs = self.normaliser.begin_turn(turn.clone(), TurnOrigin::User, at);
        outputs.extend(self.normaliser.end_turn(cancelled(), at));
        outputs
    }

    fn steer(
        &mut self,
        message: &str,
        prompt: &AgentPrompt,
        _its_answer_places_it: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        let connection = self.connection.as_ref().ok_or(Closed)?;
        let agent_ref = self.agent_ref.clone();
        // Without this the agent would answer in a turn that no request began.
        let params = json!({
            "sessionId": agent_ref,
            "prompt": blocks(prompt, self.takes),
            "_meta": {"steering": {"idleBehavior": "promptRequired"}},
        });
        let (message, content) = (message.to_owned(), prompt.text.clone());
        self.handed.push(message.clone());
        let waiter = Waiter::Steer { agent_ref, message, content };
        connection.request("_session/steering", &params, waiter)?;
        Ok(Vec::new())
    }

    fn stop(&mut self, at: Timestamp) -> Vec<Output> {
        if let Some(connection) = &self.connection {
            let cancel = CancelNotification::new(self.agent_ref.clone());
            let _gone_anyway = connection.notify("session/cancel", &cancel);
        }
        self.terminals.stop_turn(self.normaliser.turn());
        self.normaliser.stop();
        match self.prompt {
            Some(_its_answer_follows) => self.void(OutcomeBy::Cancel, at),
            None => self.end_turn(cancelled(), OutcomeBy::Cancel, at),
        }
    }

    fn end(&mut self, why: Ended, at: Timestamp) -> Vec<Output> {
        let mut returned = self.return_handed();
        returned.extend(match why {
            Ended::Unanswered => {
                if let (Some(connection), Some(prompt)) = (&self.connection, self.prompt) {
                    let _gone_anyway = connection.cancel_request(prompt);
                }
                self.end_turn(cancelled(), OutcomeBy::Cancel, at)
            }
            Ended::Released => {
                self.terminals.release_all();
                self.end_turn(cancelled(), OutcomeBy::Cancel, at)
            }
            Ended::Left(error) => {
                self.terminals.release_all();
                let mut outputs = self.normaliser.end_history(at);
                let failed = TurnEnd::Failed(*error);
                outputs.extend(self.end_turn(failed, OutcomeBy::AgentLeft, at));
                outputs
            }
        });
        returned
    }

    fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        at: Timestamp,
    ) -> Result<Vec<Output>, NotTaken> {
        let (question, result) =
            self.asks.answer(item, |question| question.wanted.result(answer))?;
        self.reply(&question.request, Ok(result));
        let outcome = Outcome::of(answer, by);
        let call = question.call.as_deref().filter(|_| question.wanted.refuses(answer));
        Ok(self.normaliser.settle(item.clone(), outcome, call, at))
    }

    fn is_busy(&self) -> bool {
        // An ACP agent works only in turns.
        false
    }

    fn detached(&mut self) {
        self.connection = None;
    }
}

/// The blocks of a prompt: text that the agent can't take as a resource is written out, a picture becomes a link.
fn blocks(prompt: &AgentPrompt, takes: Takes) -> Vec<ContentBlock> {
    let link = |name: &str, uri: &str| ContentBlock::ResourceLink(ResourceLink::new(name, uri));
    let image = |Picture { data, mime_type, .. }: &Picture| {
        ContentBlock::Image(ImageContent::new(data.clone(), mime_type.clone()))
    };
    let mut blocks = Vec::new();
    if !prompt.text.trim().is_empty() {
        blocks.push(prompt.text.clone().into());
    }
    for attached in &prompt.attached {
        match attached {
            Attached::Picture(picture) if takes.pictures => blocks.push(image(picture)),
            Attached::Picture(picture) => blocks.push(link(&picture.name, &picture.uri)),
            Attached::Text { uri, text, .. } if takes.resources => {
                let text = TextResourceContents::new(text.clone(), uri.clone());
                let resource = EmbeddedResourceResource::TextResourceContents(text);
                blocks.push(ContentBlock::Resource(EmbeddedResource::new(resource)));
            }
            Attached::Text { name, text, .. } => blocks.push(in_words(name, text).into()),
            Attached::File { path, uri, picture, .. } => {
                blocks.push(link(path, uri));
                blocks.extend(picture.iter().filter(|_| takes.pictures).map(image));
            }
        }
    }
    blocks
}

fn cancelled() -> TurnEnd {
    TurnEnd::Cancelled { reason: None, usage: None }
}
