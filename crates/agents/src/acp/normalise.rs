//! What an agent says about a session, in the words all agents share: `session/update` and
//! `session/request_permission` in, canonical events and facts out.
//!
//! Pure: no I/O and no clock. It knows turns, but not why they begin and end; that is the session's business.

mod call;
mod codex;
mod content;
mod facts;
mod permission;
mod plan;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use agent_client_protocol_schema::v1::ToolCallStatus;
use liminal_contract::{
    AskOption, ItemId, Outcome, PlanEntry, SessionId, Timestamp, TurnId, TurnOrigin, Usage,
};
use liminal_stream::{
    AgentError, FinalItem, NewItem, Notice, Payload, ResponseStatus, SessionFact, StreamEvent,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::call::Call;
pub(crate) use self::facts::modes;
pub(crate) use self::permission::call_of;
use self::text::{OpenText, Text};
use crate::Output;

/// Translates what one session says.
pub(crate) struct Normaliser {
    session: SessionId,
    provider_id: String,
    model: String,
    /// Makes the id of a turn that the agent began by itself.
    mint: Box<dyn FnMut() -> TurnId + Send>,
    telling: Telling,
    turn: Option<Open>,
    /// By the agent's id. A call may be updated after its turn ended.
    calls: HashMap<String, Call>,
    /// A call that has ended but of which more may follow at once.
    ending: Option<String>,
    /// Terminals that calls began to show since last asked.
    shown: Vec<Shown>,
    events: u64,
    history_turns: usize,
    history_ids: HashSet<String>,
}

/// What the agent is telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// What happens.
    Now,
    /// What happened before, in turns whose ids come from the agent's own.
    History,
    /// What happened before and is known.
    KnownHistory,
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnEnd {
    /// The agent stopped by itself.
    Stopped { reason: Option<String>, usage: Option<Usage> },
    /// It was stopped.
    Cancelled { reason: Option<String>, usage: Option<Usage> },
    /// It failed.
    Failed(AgentError),
}

/// A call shows a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The terminal, which may not be one of ours.
    pub terminal: String,
    /// The call.
    pub call: String,
}

/// The turn that is going on.
#[derive(Debug)]
struct Open {
    id: TurnId,
    text: Option<OpenText>,
    plan: Option<Vec<PlanEntry>>,
    messages: usize,
    asks: usize,
    notes: usize,
    /// The agent said that the turn failed, and maybe why.
    failure: Option<String>,
    /// The user wants it to end.
    stopping: bool,
}

impl Normaliser {
    /// For a session that says nothing yet. `mint` makes ids of turns the agent begins by itself.
    pub fn new(
        session: SessionId,
        provider_id: impl Into<String>,
        mint: impl FnMut() -> TurnId + Send + 'static,
    ) -> Self {
        Self {
            session,
            provider_id: provider_id.into(),
            model: String::new(),
            mint: Box::new(mint),
            telling: Telling::Now,
            turn: None,
            calls: HashMap::new(),
            ending: None,
            shown: Vec::new(),
            events: 0,
            history_turns: 0,
            history_ids: HashSet::new(),
        }
    }

    /// The model that answers from now on.
    pub fn set_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
    }

    /// The turn that is going on.
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref().map(|turn| &turn.id)
    }

    /// Whether a call of the turn that is going on runs, as far as the agent says.
    pub fn works(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            self.calls.values().any(|call| call.is_running() && call.turn == turn.id)
        })
    }

    /// The terminals that calls began to show since this was last asked.
    pub fn take_shown(&mut self) -> Vec<Shown> {
        std::mem::take(&mut self.shown)
    }

    /// From here on the agent tells what happened before.
    pub fn begin_history(&mut self, wanted: bool) {
        self.telling = if wanted { Telling::History } else { Telling::KnownHistory };
    }

    /// From here on the agent tells what happens.
    pub fn end_history(&mut self, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        if self.telling == Telling::History {
            self.finish_turn(TurnEnd::Stopped { reason: None, usage: None }, at, &mut out);
        }
        self.telling = Telling::Now;
        out
    }

    /// A turn begins.
    pub fn begin_turn(&mut self, id: TurnId, origin: TurnOrigin, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.open_turn(id, origin, at, &mut out);
        out
    }

    /// The user asked to stop the turn that is going on: calls that fail from here on were stopped.
    pub fn stop(&mut self) {
        if let Some(open) = &mut self.turn {
            open.stopping = true;
        }
    }

    /// The turn that is going on ends. Nothing when there is none.
    pub fn end_turn(&mut self, end: TurnEnd, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.finish_turn(end, at, &mut out);
        out
    }

    /// Whether an update is part of a conversation; the others are facts about the session.
    pub fn is_conversation(raw: &RawValue) -> bool {
        matches!(
            kind_of(raw).as_deref(),
            Some(
                "user_message_chunk"
                    | "agent_message_chunk"
                    | "agent_thought_chunk"
                    | "tool_call"
                    | "tool_call_update"
                    | "plan"
                    | "notice"
            )
        )
    }

    /// The agent told something about the session: the `update` of a `session/update`.
    pub fn update(&mut self, raw: &RawValue, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        let kind = kind_of(raw);
        if kind.as_deref() != Some("tool_call_update") {
            self.end_call(at, &mut out);
        }
        let read = match kind.as_deref() {
            Some("user_message_chunk") => self.chunk(Text::User, raw, at, &mut out),
            Some("agent_message_chunk") => self.chunk(Text::Message, raw, at, &mut out),
            Some("agent_thought_chunk") => self.chunk(Text::Thought, raw, at, &mut out),
            Some("tool_call") => self.call(raw, Some(ToolCallStatus::Pending), at, &mut out),
            Some("tool_call_update") => self.call(raw, None, at, &mut out),
            Some("plan") => self.plan(raw, at, &mut out),
            Some("notice") => self.notice(raw, at, &mut out),
            Some(kind) => self.facts(kind, raw, at, &mut out),
            None => Err(serde::de::Error::missing_field("sessionUpdate")),
        };
        if let Err(error) = read {
            let kind = kind.unwrap_or(Cow::Borrowed("session/update"));
            tracing::warn!(session = %self.session, %error, raw = ?cut(raw.get()), "An update is not of its type");
            out.push(other(&kind, raw));
        }
        out
    }

    /// More of a terminal that the call shows.
    pub fn terminal_output(&mut self, call: &str, text: String, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.grow_output(call, text, at, &mut out);
        out
    }

    /// The agent asks: the `params` of a `session/request_permission`. Gives the permission's item and the answers
    /// that are offered.
    pub fn ask(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
    ) -> Result<(ItemId, Vec<AskOption>, Vec<Output>), serde_json::Error> {
        let mut out = Vec::new();
        self.end_call(at, &mut out);
        let (item, options) = self.permission(raw, at, &mut out)?;
        Ok((item, options, out))
    }

    /// A permission is settled. `refused` names the call that is not to be.
    pub fn settle(
        &mut self,
        item: ItemId,
        outcome: Outcome,
        refused: Option<&str>,
        at: Timestamp,
    ) -> Vec<Output> {
        let mut out = Vec::new();
        self.settled(item, outcome, refused, at, &mut out);
        out
    }

    /// Something we have to say in the turn that is going on, complete at once.
    fn say(&mut self, notice: Notice, at: Timestamp, out: &mut Vec<Output>) {
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let item_id = ItemId::note(&turn, self.count(|open| &mut open.notes));
        let notice = Box::new(notice);
        let item = NewItem::Notice { notice: notice.clone() };
        self.emit(
            &turn,
            Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item },
            at,
            out,
        );
        self.emit(
            &turn,
            Payload::ItemDone { item_id, final_item: FinalItem::Notice { notice } },
            at,
            out,
        );
    }

    /// The turn this belongs to. Where there is none the agent began one by itself.
    fn turn_for(&mut self, record: Option<&str>, at: Timestamp, out: &mut Vec<Output>) -> TurnId {
        if let Some(open) = &self.turn {
            return open.id.clone();
        }
        let (id, origin) = match self.telling {
            Telling::Now => ((self.mint)(), TurnOrigin::Agent),
            Telling::History | Telling::KnownHistory => {
                // Reading again must give the same ids, so they are the agent's own, or else the turn's number.
                self.history_turns += 1;
                let local = self.session.local();
                let id = match record {
                    Some(record) => format!("{local}.{record}"),
                    None => format!("{local}.{}", self.history_turns),
                };
                // An agent may use an id twice; a turn that is over takes nothing more.
                let id = match self.history_ids.insert(id.clone()) {
                    true => id,
                    false => format!("{id}.{}", self.history_turns),
                };
                (TurnId::new(id), TurnOrigin::User)
            }
        };
        self.open_turn(id.clone(), origin, at, out);
        id
    }

    fn open_turn(&mut self, id: TurnId, origin: TurnOrigin, at: Timestamp, out: &mut Vec<Output>) {
        self.finish_turn(TurnEnd::Stopped { reason: None, usage: None }, at, out);
        // Late updates come soon or never.
        self.calls.retain(|_, call| call.is_remembered());
        self.turn = Some(Open {
            id: id.clone(),
            text: None,
            plan: None,
            messages: 0,
            asks: 0,
            notes: 0,
            failure: None,
            stopping: false,
        });
        let model_id = self.model.clone();
        let provider_id = self.provider_id.clone();
        self.emit(&id, Payload::ResponseStart { model_id, provider_id, origin }, at, out);
    }

    fn finish_turn(&mut self, end: TurnEnd, at: Timestamp, out: &mut Vec<Output>) {
        let Some(failure) = self.turn.as_mut().map(|open| open.failure.take()) else { return };
        let end = match (end, failure) {
            (TurnEnd::Stopped { .. }, Some(words)) => TurnEnd::Failed(codex::failed(words)),
            (end, _) => end,
        };
        self.end_call(at, out);
        // What is open when a turn is cancelled or fails stays as it is: it is neither complete nor an error.
        if matches!(end, TurnEnd::Stopped { .. }) {
            self.close_text(at, out);
            self.close_plan(at, out);
            self.close_refused(at, out);
        }
        let Some(Open { id, .. }) = self.turn.take() else { return };
        if matches!(end, TurnEnd::Cancelled { .. }) {
            // Their ends may still be told, and then they did not fail either.
            let left = self.calls.values_mut().filter(|call| call.turn == id);
            left.for_each(|call| call.stopped = true);
        }
        let payload = match end {
            TurnEnd::Stopped { reason, usage } => done(ResponseStatus::Completed, reason, usage),
            TurnEnd::Cancelled { reason, usage } => done(ResponseStatus::Cancelled, reason, usage),
            TurnEnd::Failed(error) => Payload::ResponseError { error },
        };
        self.emit(&id, payload, at, out);
    }

    /// The next number of something counted in the turn that is going on.
    fn count(&mut self, counter: impl FnOnce(&mut Open) -> &mut usize) -> usize {
        let Some(open) = self.turn.as_mut() else { return 0 };
        let counter = counter(open);
        let n = *counter;
        *counter += 1;
        n
    }

    fn emit(&mut self, turn: &TurnId, payload: Payload, at: Timestamp, out: &mut Vec<Output>) {
        self.events += 1;
        out.push(Output::Event(StreamEvent {
            event_id: format!("{turn}#{}", self.events),
            timestamp: at,
            turn_id: turn.clone(),
            session_id: self.session.clone(),
            payload,
        }));
    }
}

fn done(status: ResponseStatus, stop_reason: Option<String>, usage: Option<Usage>) -> Payload {
    Payload::ResponseDone { status, finish_reason: None, stop_reason, error: None, usage }
}

/// The `sessionUpdate` of an update.
fn kind_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "sessionUpdate", borrow)]
        kind: Cow<'a, str>,
    }
    serde_json::from_str::<Kind<'_>>(raw.get()).ok().map(|kind| kind.kind)
}

/// Kept as it came.
fn other(kind: &str, raw: &RawValue) -> Output {
    let value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    Output::Fact(SessionFact::Other { kind: kind.to_owned(), value })
}

/// As much of an agent's text as a log line bears.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(2000)]
}
