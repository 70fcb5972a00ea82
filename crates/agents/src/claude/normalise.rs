//! From Claude Code's lines to canonical events. Pure: a line and the time go in, what the session says comes out.
//!
//! Owns which turn a line belongs to, and how turns begin and end. Does no I/O, and never waits: what it needs to have
//! written to the agent it hands out as replies. The model's messages are in `blocks`, tool results in `results`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use liminal_contract::{ItemId, OutcomeBy, SessionId, Severity, Timestamp, TurnId, TurnOrigin};
use liminal_stream::{
    FinalItem, NewItem, Notice, Payload, ResponseStatus, SessionFact, SlashCommand, StreamEvent,
};
use serde_json::{Value, json};

use self::blocks::Message;
use self::plan::Plan;
use self::results::Call;
pub use self::results::is_marker;
pub use self::retold::Retold;
use super::wire::{CanUseTool, Command, CommandLifecycle, Line};
use crate::Output;

mod asides;
mod asking;
mod blocks;
mod ending;
mod plan;
mod results;
mod retold;

/// What to type to log in.
pub const LOGIN: &str = "claude auth login";

/// Makes the ids of turns that the agent begins by itself.
pub type Mint = Box<dyn FnMut() -> TurnId + Send>;

/// Follows one conversation with Claude Code, over as many processes as it takes.
pub struct Normaliser {
    session: SessionId,
    provider: String,
    project: PathBuf,
    mint: Mint,
    now: Timestamp,
    said: Vec<Output>,
    replies: Vec<Value>,
    events: u64,
    agent_ref: String,
    model: String,
    waiting: Option<Waiting>,
    turn: Option<Turn>,
    asks: Vec<OpenAsk>,
    calls: HashMap<String, Call>,
    /// Calls that will not run because the user or a rule said no.
    refused: HashSet<String>,
    plan: Plan,
    spent: Option<f64>,
    tasks: BTreeMap<String, Task>,
    last_record: Option<String>,
}

/// A message of the user's that the agent has not taken up yet.
struct Waiting {
    turn: TurnId,
    message: String,
    /// The agent says that it has something else to do first.
    queued: bool,
    cancelling: bool,
}

struct Turn {
    id: TurnId,
    origin: TurnOrigin,
    cancelling: bool,
    /// Only made room for something said outside a turn: it ends with the line that it was opened for.
    aside: bool,
    messages: Vec<Message>,
    asked: usize,
    notes: usize,
    retry: Option<ItemId>,
    api_error: Option<ApiError>,
    plan_shown: bool,
    context: Option<u64>,
}

/// Outlives its turn when a sub-agent asks that works on in the background.
struct OpenAsk {
    request_id: String,
    turn: TurnId,
    item: ItemId,
    /// The call of the sub-agent that asks.
    parent: Option<String>,
    request: Box<CanUseTool>,
}

struct ApiError {
    words: String,
    wants_login: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// The turn waits for it.
    Foreground,
    /// It goes on when the turn ends.
    Background,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// The question is no longer open.
    Closed,
    /// The option was not offered.
    NotOffered,
}

impl Normaliser {
    /// For a session of which nothing was said yet. `spent` is what it has cost so far, where that is known.
    pub fn new(
        session: SessionId,
        agent_ref: String,
        project: PathBuf,
        spent: Option<f64>,
        mint: Mint,
    ) -> Self {
        Self {
            provider: session.cli_type().as_str().to_owned(),
            session,
            project,
            mint,
            now: Timestamp::from_millis(0),
            said: Vec::new(),
            replies: Vec::new(),
            events: 0,
            agent_ref,
            model: String::new(),
            waiting: None,
            turn: None,
            asks: Vec::new(),
            calls: HashMap::new(),
            refused: HashSet::new(),
            plan: Plan::default(),
            spent,
            tasks: BTreeMap::new(),
            last_record: None,
        }
    }

    /// What the agent calls the session now.
    pub fn agent_ref(&self) -> &str {
        &self.agent_ref
    }

    /// The id of the last record that the agent has told and will keep in its history.
    pub fn last_record(&self) -> Option<&str> {
        self.last_record.as_deref()
    }

    /// Whether a turn of the user's or of the agent's own runs, or waits to run.
    pub fn in_turn(&self) -> bool {
        self.turn.is_some() || self.waiting.is_some()
    }

    /// Whether the user may say something: nothing of theirs runs or waits. What the agent does by itself does not
    /// stand in the way.
    pub fn takes_message(&self) -> bool {
        self.waiting.is_none()
            && self.turn.as_ref().is_none_or(|turn| turn.origin == TurnOrigin::Agent)
    }

    /// Whether the message of this turn was not taken up yet.
    pub fn is_waiting_for(&self, turn: &TurnId) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.turn == *turn)
    }

    /// Whether nothing would be lost if the process ended now.
    pub fn is_idle(&self) -> bool {
        !self.in_turn() && self.tasks.is_empty() && self.asks.is_empty()
    }

    /// Lines to be written to the agent.
    pub fn take_replies(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.replies)
    }

    /// A new process takes the conversation up. What it counts as spent so far is not known unless it is new.
    pub fn attach(&mut self, spent: Option<f64>) {
        self.spent = spent;
        self.tasks.clear();
    }

    /// The user's message, with the id it is sent under, is about to be written.
    pub fn begin(&mut self, turn: TurnId, message: String) {
        self.waiting = Some(Waiting { turn, message, queued: false, cancelling: false });
    }

    /// The message could not be written: there is no such turn.
    pub fn forget(&mut self) {
        self.waiting = None;
    }

    /// Reads one line.
    pub fn read(&mut self, line: Line, now: Timestamp) -> Vec<Output> {
        self.now = now;
        match line {
            Line::Init(init) => {
                if !init.session_id.is_empty() && init.session_id != self.agent_ref {
                    self.agent_ref.clone_from(&init.session_id);
                    self.fact(SessionFact::Other {
                        kind: "agentRef".to_owned(),
                        value: json!(init.session_id),
                    });
                }
                if init.model != self.model {
                    self.model.clone_from(&init.model);
                    self.fact(SessionFact::Model(init.model));
                }
                self.take_up();
            }
            Line::Stream(line) => self.stream(line),
            Line::Assistant(line) => self.assistant(line),
            Line::User(line) => self.user(*line),
            Line::Result(line) => self.result(*line),
            Line::ControlRequest(request) => self.asked(request),
            Line::ControlResponse(response) => {
                tracing::debug!(request = response.request_id, "an answer nobody waits for");
            }
            Line::ControlCancel { request_id } => {
                self.settle(OutcomeBy::Cancel, |ask| ask.request_id == request_id);
            }
            Line::CommandLifecycle(line) => self.lifecycle(&line),
            Line::ApiRetry(retry) => self.retry(&retry),
            Line::Title { title } => self.fact(SessionFact::Title(title)),
            Line::Commands { commands } => self.commands(commands),
            Line::TaskStarted(task) => self.task_started(task),
            Line::TaskUpdated(task) => self.task_updated(&task),
            Line::TaskEnded(task) => self.task_ended(&task),
            Line::Tasks { tasks } => {
                self.tasks.retain(|_, task| *task == Task::Foreground);
                for task in tasks.into_iter().filter(|task| !task.ambient) {
                    self.tasks.insert(task.task_id, Task::Background);
                }
            }
            Line::Compacted(compacted) => self.compacted(&compacted),
            Line::Note(note) => self.note(note),
            Line::CommandOutput { content } => self.system_message(content),
            Line::PermissionDenied { tool_use_id } => {
                self.refused.insert(tool_use_id);
            }
            Line::Quiet => {}
            Line::Unknown { kind, value } => {
                tracing::info!(kind, "Claude Code said something we do not know");
                self.fact(SessionFact::Other { kind, value });
            }
        }
        if self.turn.as_ref().is_some_and(|turn| turn.aside) {
            self.close(ResponseStatus::Completed);
        }
        std::mem::take(&mut self.said)
    }

    /// The slash commands, as the answer to `initialize` lists them.
    pub fn initialized(&mut self, commands: Vec<Command>) -> Vec<Output> {
        self.commands(commands);
        std::mem::take(&mut self.said)
    }

    /// The user asked to stop: what ends from now on was stopped by them.
    pub fn cancel(&mut self, now: Timestamp) -> Vec<Output> {
        self.now = now;
        if let Some(waiting) = &mut self.waiting {
            waiting.cancelling = true;
        }
        if let Some(turn) = &mut self.turn {
            turn.cancelling = true;
        }
        self.settle(OutcomeBy::Cancel, |ask| ask.parent.is_none());
        std::mem::take(&mut self.said)
    }

    /// Something to tell the user. Outside a turn it gets one of its own.
    pub fn tell(&mut self, notice: Notice, now: Timestamp) -> Vec<Output> {
        self.now = now;
        self.aside(notice);
        std::mem::take(&mut self.said)
    }

    fn aside(&mut self, notice: Notice) {
        let in_turn = self.turn.is_some();
        self.make_room();
        self.notice(notice);
        if !in_turn {
            self.close(ResponseStatus::Completed);
        }
    }

    /// One notice in the running turn, final at once.
    fn notice(&mut self, notice: Notice) {
        let Some(turn) = &mut self.turn else { return };
        let item_id = ItemId::note(&turn.id, turn.notes);
        turn.notes += 1;
        let notice = Box::new(notice);
        self.start(item_id.clone(), None, NewItem::Notice { notice: notice.clone() });
        self.emit(Payload::ItemDone { item_id, final_item: FinalItem::Notice { notice } });
    }

    /// The turn that a line of conversation belongs to.
    fn ensure_turn(&mut self) {
        self.take_up();
        if self.turn.is_none() {
            self.open_own();
        }
    }

    /// Something is said that does not begin a turn by itself.
    fn make_room(&mut self) {
        if self.turn.is_none() {
            self.open_own();
            if let Some(turn) = &mut self.turn {
                turn.aside = true;
            }
        }
    }

    fn open_own(&mut self) {
        let id = (self.mint)();
        self.open(id, TurnOrigin::Agent, false);
    }

    /// Begins the turn of the user's message, if the agent has taken it up.
    fn take_up(&mut self) {
        if self.turn.is_some() {
            return;
        }
        if let Some(waiting) = self.waiting.take_if(|waiting| !waiting.queued) {
            self.open(waiting.turn, TurnOrigin::User, waiting.cancelling);
        }
    }

    fn open(&mut self, id: TurnId, origin: TurnOrigin, cancelling: bool) {
        self.turn = Some(Turn {
            id,
            origin,
            cancelling,
            aside: false,
            messages: Vec::new(),
            asked: 0,
            notes: 0,
            retry: None,
            api_error: None,
            plan_shown: false,
            context: None,
        });
        self.emit(Payload::ResponseStart {
            model_id: self.model.clone(),
            provider_id: self.provider.clone(),
            origin,
        });
    }

    fn lifecycle(&mut self, line: &CommandLifecycle) {
        let ours =
            self.waiting.as_ref().is_some_and(|waiting| waiting.message == line.command_uuid);
        if !ours {
            return;
        }
        match line.state.as_str() {
            "queued" => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.queued = true;
                }
            }
            "started" => {
                // What the agent did by itself before is over, or its end would be taken for the end of this turn.
                if self.turn.is_some() {
                    self.close(ResponseStatus::Completed);
                }
                if let Some(waiting) = &mut self.waiting {
                    waiting.queued = false;
                }
            }
            "cancelled" => {
                if self.turn.is_some() {
                    self.close(ResponseStatus::Cancelled);
                }
                if let Some(waiting) = self.waiting.take() {
                    self.open(waiting.turn, TurnOrigin::User, true);
                    self.close(ResponseStatus::Cancelled);
                }
            }
            _ => {}
        }
    }

    fn commands(&mut self, commands: Vec<Command>) {
        if commands.is_empty() {
            return;
        }
        let command = |command: Command| SlashCommand {
            name: command.name,
            description: command.description,
            hint: (!command.argument_hint.is_empty()).then_some(command.argument_hint),
        };
        self.fact(SessionFact::Commands(commands.into_iter().map(command).collect()));
    }

    fn start(&mut self, item_id: ItemId, parent_call_id: Option<String>, item: NewItem) {
        self.emit(Payload::ItemStart { item_id, parent_call_id, item });
    }

    fn fact(&mut self, fact: SessionFact) {
        self.said.push(Output::Fact(fact));
    }

    /// An event of the running turn.
    fn emit(&mut self, payload: Payload) {
        if let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) {
            self.emit_in(turn, payload);
        }
    }

    fn emit_in(&mut self, turn_id: TurnId, payload: Payload) {
        let event_id = format!("{turn_id}#{}", self.events);
        self.events += 1;
        self.said.push(Output::Event(StreamEvent {
            event_id,
            timestamp: self.now,
            turn_id,
            session_id: self.session.clone(),
            payload,
        }));
    }
}

/// The reply to a request of the agent's.
fn control_response(request_id: &str, response: Value) -> Value {
    json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": request_id, "response": response,
    }})
}

/// A notice that only says something.
pub fn notice(severity: Severity, text: &str) -> Notice {
    Notice { severity, text: text.to_owned(), actions: Vec::new(), details: None }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
