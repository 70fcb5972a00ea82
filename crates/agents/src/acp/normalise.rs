//! Translates an agent's messages about a session: `session/update` and `session/request_permission` in, canonical
//! events and facts out.
//!
//! Pure: no I/O and no clock. It knows turns, but not why they start and end; the session decides that.

mod call;
mod call_update;
mod codex;
mod compaction;
mod content;
mod elicitation;
mod facts;
mod options;
mod permission;
mod plan;
#[cfg(test)]
mod tests;
mod text;
mod written;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use agent_client_protocol_schema::v1::ToolCallStatus;
use liminal_contract::{
    AskOption, ItemId, Outcome, PlanEntry, SessionId, Timestamp, TurnId, TurnOrigin, Usage,
};
use liminal_stream::{
    AgentError, Compaction, FinalItem, NewItem, Notice, Payload, ResponseStatus, StreamEvent,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::call::{Call, UnstartedCall};
pub(crate) use self::codex::is_idle;
use self::options::Reported;
pub(crate) use self::permission::call_of;
use self::plan::PlanDocument;
use self::text::{OpenText, Text};
pub(crate) use self::written::WrittenFile;
use crate::Output;
use crate::secrets::Secrets;

/// Translates the messages of one session.
pub(crate) struct Normaliser {
    session: SessionId,
    provider_id: String,
    model: String,
    pub reported: Reported,
    /// What errors about MCP servers must not contain.
    pub secrets: Secrets,
    /// Makes the id of a turn that the agent started.
    mint: Box<dyn FnMut() -> TurnId + Send>,
    telling: Telling,
    turn: Option<OpenTurn>,
    /// By the agent's id. A call may be updated after its turn ended.
    calls: HashMap<String, Call>,
    /// By the agent's id; only of the current turn.
    unstarted: HashMap<String, UnstartedCall>,
    /// A call that has ended but may still get output right away.
    ending: Option<String>,
    /// The plan last shown: agents repeat it in later turns.
    last_plan: Vec<PlanEntry>,
    /// Files written through us in this turn that no call has named yet.
    written: Vec<WrittenFile>,
    /// Terminals that calls began to show since [`Self::take_shown`].
    shown: Vec<ShownTerminal>,
    events: u64,
    history_turns: usize,
    history_ids: HashSet<String>,
}

/// What the agent's updates are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// The present.
    Now,
    /// The past. Turn ids are derived from the agent's own ids.
    History,
    /// The past, which the journal already has.
    KnownHistory,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnEnd {
    /// The agent finished.
    Stopped {
        reason: Option<String>,
        usage: Option<Usage>,
    },
    Cancelled {
        reason: Option<String>,
        usage: Option<Usage>,
    },
    Failed(AgentError),
}

/// A call shows a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownTerminal {
    /// May be one of the agent's own.
    pub terminal: String,
    pub call: String,
}

#[derive(Debug)]
struct OpenTurn {
    id: TurnId,
    text: Option<OpenText>,
    plan: Option<Vec<PlanEntry>>,
    /// A plan that is not shown yet.
    document: Option<PlanDocument>,
    /// By the agent's own ids.
    compactions: HashMap<String, Compaction>,
    messages: usize,
    asks: usize,
    notes: usize,
    /// Set if the agent reported that the turn failed; the reason may be empty.
    failure: Option<String>,
    /// The user asked to stop it.
    stopping: bool,
}

impl Normaliser {
    /// `mint` makes the ids of turns that the agent starts.
    pub fn new(
        session: SessionId,
        provider_id: impl Into<String>,
        mint: impl FnMut() -> TurnId + Send + 'static,
    ) -> Self {
        Self {
            session,
            provider_id: provider_id.into(),
            model: String::new(),
            reported: Reported::default(),
            secrets: Secrets::default(),
            mint: Box::new(mint),
            telling: Telling::Now,
            turn: None,
            calls: HashMap::new(),
            unstarted: HashMap::new(),
            ending: None,
            last_plan: Vec::new(),
            written: Vec::new(),
            shown: Vec::new(),
            events: 0,
            history_turns: 0,
            history_ids: HashSet::new(),
        }
    }

    pub fn set_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
    }

    /// The current turn.
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref().map(|turn| &turn.id)
    }

    /// Whether a call of the current turn is running, as far as the agent has said.
    pub fn works(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            self.calls.values().any(|call| call.is_running() && call.turn == turn.id)
        })
    }

    /// Whether commands of a stopped turn have not ended, as far as the agent has said. True once for each.
    pub fn take_survivors(&mut self) -> bool {
        let survivors = self.calls.values_mut().filter(|call| call.survives_stop());
        survivors.map(Call::end).count() > 0
    }

    /// The agent wrote a file through us: its call shows the change, unless the agent shows it.
    pub fn wrote(&mut self, change: WrittenFile, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.show_file(change, at, &mut out);
        out
    }

    /// The terminals that calls began to show since this was last called.
    pub fn take_shown(&mut self) -> Vec<ShownTerminal> {
        std::mem::take(&mut self.shown)
    }

    /// From here on the agent replays the history.
    pub fn begin_history(&mut self, wanted: bool) {
        self.telling = if wanted { Telling::History } else { Telling::KnownHistory };
    }

    /// From here on updates are about the present.
    pub fn end_history(&mut self, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        if self.telling == Telling::History {
            self.finish_turn(TurnEnd::Stopped { reason: None, usage: None }, at, &mut out);
        }
        self.telling = Telling::Now;
        out
    }

    pub fn begin_turn(&mut self, id: TurnId, origin: TurnOrigin, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.open_turn(id, origin, at, &mut out);
        out
    }

    /// The user asked to stop the current turn: calls that fail from here on were stopped.
    pub fn stop(&mut self) {
        if let Some(open) = &mut self.turn {
            open.stopping = true;
        }
    }

    /// Ends the current turn, if there is one.
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
                    | "plan_update"
                    | "plan_removed"
                    | "notice"
                    | "compaction_update"
                    | "compaction_summary_chunk"
            )
        )
    }

    /// `raw` is the `update` of a `session/update`.
    pub fn update(&mut self, raw: &RawValue, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        let kind = kind_of(raw);
        if !matches!(kind.as_deref(), Some("tool_call" | "tool_call_update")) {
            self.end_call(at, &mut out);
        }
        if !matches!(kind.as_deref(), Some("plan_update" | "plan_removed"))
            && Self::is_conversation(raw)
        {
            self.show_document(at, &mut out);
        }
        let read = match kind.as_deref() {
            Some("user_message_chunk") => self.chunk(Text::User, raw, at, &mut out),
            Some("agent_message_chunk") => self.chunk(Text::Message, raw, at, &mut out),
            Some("agent_thought_chunk") => self.chunk(Text::Thought, raw, at, &mut out),
            Some("tool_call") => self.call(raw, Some(ToolCallStatus::Pending), at, &mut out),
            Some("tool_call_update") => self.call(raw, None, at, &mut out),
            Some("plan") => self.plan(raw, at, &mut out),
            Some("plan_update") => self.plan_update(raw, at, &mut out),
            Some("plan_removed") => self.plan_removed(raw),
            Some("notice") => self.notice(raw, at, &mut out),
            Some("compaction_update") => self.compaction_update(raw, at, &mut out),
            Some("compaction_summary_chunk") => self.compaction_summary(raw, at, &mut out),
            Some(kind) => self.facts(kind, raw, at, &mut out),
            None => Err(serde::de::Error::missing_field("sessionUpdate")),
        };
        if let Err(error) = read {
            let (session, raw) = (&self.session, cut(raw.get()));
            tracing::warn!(%session, %error, ?raw, "Skipped an invalid update");
        }
        out
    }

    /// More output of a terminal that the call shows.
    pub fn terminal_output(&mut self, call: &str, text: String, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.grow_output(call, text, at, &mut out);
        out
    }

    /// The command in a terminal that the call shows ended.
    pub fn terminal_ended(&mut self, call: &str, code: i32, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        self.end_command(call, code, at, &mut out);
        out
    }

    /// `raw` is the `params` of a `session/request_permission`. Returns the permission's item and the offered answers.
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

    /// A permission is settled. `refused` is the call that the user rejected.
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

    /// Adds a notice to the current turn.
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

    /// The current turn. If there is none, the agent has just started one.
    fn turn_for(&mut self, record: Option<&str>, at: Timestamp, out: &mut Vec<Output>) -> TurnId {
        if let Some(open) = &self.turn {
            return open.id.clone();
        }
        let (id, origin) = match self.telling {
            Telling::Now => ((self.mint)(), TurnOrigin::Agent),
            Telling::History | Telling::KnownHistory => {
                // Reading again must give the same ids: the agent's own, or else the turn's number.
                self.history_turns += 1;
                let local = self.session.local();
                let id = match record {
                    Some(record) => format!("{local}.{record}"),
                    None => format!("{local}.{}", self.history_turns),
                };
                // An agent may use an id twice, and a finished turn can't be extended.
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
        // Late updates come soon or never, so old calls are dropped.
        self.calls.retain(|_, call| call.is_remembered());
        self.unstarted.clear();
        self.written.clear();
        self.turn = Some(OpenTurn {
            id: id.clone(),
            text: None,
            plan: None,
            document: None,
            compactions: HashMap::new(),
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
        self.show_document(at, out);
        // Open items of a cancelled or failed turn stay as they are: neither complete nor an error.
        if matches!(end, TurnEnd::Stopped { .. }) {
            self.close_text(at, out);
            self.close_plan(at, out);
            self.close_refused(at, out);
        }
        let Some(OpenTurn { id, .. }) = self.turn.take() else { return };
        if matches!(end, TurnEnd::Cancelled { .. }) {
            // If the agent later reports them as failed, they were stopped instead.
            let left = self.calls.values_mut().filter(|call| call.turn == id);
            left.for_each(|call| call.stopped = true);
        }
        let payload = match end {
            TurnEnd::Stopped { reason, usage } => done(ResponseStatus::Completed, reason, usage),
            TurnEnd::Cancelled { reason, usage } => done(ResponseStatus::Cancelled, reason, usage),
            TurnEnd::Failed(mut error) => {
                error.message = self.secrets.scrub(&error.message);
                Payload::ResponseError { error }
            }
        };
        self.emit(&id, payload, at, out);
    }

    /// The next number of something counted per turn.
    fn count(&mut self, counter: impl FnOnce(&mut OpenTurn) -> &mut usize) -> usize {
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

/// Shortens an agent's text for a log line.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(2000)]
}
