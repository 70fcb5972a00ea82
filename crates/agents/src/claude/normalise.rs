//! From Claude Code's lines to canonical events. Pure: a line and the time go in, outputs come out.
//!
//! Owns which turn a line belongs to, and how turns begin and end. Does no I/O and never waits: lines for the agent are
//! handed out as replies. The model's messages are in `blocks`, tool results in `results`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use liminal_contract::{
    ItemId, OptionValue, OutcomeBy, SessionId, Severity, SlashCommand, Steers, Timestamp, TurnId,
    TurnOrigin,
};
use liminal_stream::{
    FinalItem, NewItem, Notice, Payload, ResponseStatus, SessionFact, StreamEvent,
};
use serde_json::{Value, json};

use self::blocks::Message;
use self::interludes::OpenCompaction;
use self::plan::Plan;
use self::results::Call;
pub use self::results::{is_marker, is_refusal, local_output};
pub use self::retold::Retold;
use super::options::Options;
use super::start::Initialized;
use super::tasks::Tasks;
use super::wire::{CanUseTool, Command, CommandLifecycle, Line};
use crate::conversation::Asks;
use crate::{Output, modes};

mod asides;
mod asking;
mod blocks;
mod ending;
mod interludes;
mod plan;
mod results;
mod retold;
mod steering;

/// The command that logs in.
pub const LOGIN: &str = "claude auth login";

/// Makes ids for turns that the agent begins on its own.
pub type Mint = Box<dyn FnMut() -> TurnId + Send>;

/// Follows one conversation with Claude Code, across any number of processes.
pub struct Normaliser {
    session: SessionId,
    provider: String,
    project: PathBuf,
    mint: Mint,
    now: Timestamp,
    outputs: Vec<Output>,
    replies: Vec<Value>,
    events: u64,
    agent_ref: String,
    model: String,
    pub options: Options,
    waiting: Option<WaitingMessage>,
    /// Messages that the agent was handed while a turn ran and has not taken up: their ids and words.
    handed: Vec<(String, String)>,
    turn: Option<OpenTurn>,
    asks: Asks<Question>,
    calls: HashMap<String, Call>,
    /// Calls that the user or a rule refused, so they will not run.
    refused: HashSet<String>,
    plan: Plan,
    spent: Option<f64>,
    /// In USD: the cost of what was cleared.
    spent_before: f64,
    tasks: Tasks,
    /// A background task ended: the reason for the next turn, if the agent begins it.
    woken_by: Option<Notice>,
    last_record: Option<String>,
}

/// A message that the agent has not started on yet.
struct WaitingMessage {
    turn: TurnId,
    message: String,
    /// The agent reported that it has something else to do first.
    queued: bool,
    cancelling: bool,
}

struct OpenTurn {
    id: TurnId,
    /// The id of the message that began it; `None` for the agent's own.
    message: Option<String>,
    cancelling: bool,
    /// Exists only for something sent outside a turn: it ends with the line that opened it.
    aside: bool,
    messages: Vec<Message>,
    asked: usize,
    notes: usize,
    retry: Option<ItemId>,
    api_error: Option<ApiError>,
    plan_shown: bool,
    compaction: Option<OpenCompaction>,
    /// When the limit is lifted that stops the turn.
    limited_until: Option<Timestamp>,
    context: Option<u64>,
}

/// Outlives its turn if a background sub-agent asked it.
struct Question {
    request_id: String,
    turn: TurnId,
    /// The call of the sub-agent that asks.
    parent: Option<String>,
    request: Box<CanUseTool>,
}

struct ApiError {
    words: String,
    wants_login: bool,
}

impl Normaliser {
    /// For a session with no output yet. `spent` is its cost so far in USD, if known.
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
            outputs: Vec::new(),
            replies: Vec::new(),
            events: 0,
            agent_ref,
            model: String::new(),
            options: Options::default(),
            waiting: None,
            handed: Vec::new(),
            turn: None,
            asks: Asks::default(),
            calls: HashMap::new(),
            refused: HashSet::new(),
            plan: Plan::default(),
            spent,
            spent_before: 0.0,
            tasks: Tasks::default(),
            woken_by: None,
            last_record: None,
        }
    }

    /// The agent's current id of the session; `/clear` changes it.
    pub fn agent_ref(&self) -> &str {
        &self.agent_ref
    }

    /// The id of the last line that the agent will also keep in its history file.
    pub fn last_record(&self) -> Option<&str> {
        self.last_record.as_deref()
    }

    /// Whether a turn, the user's or the agent's own, is running or waiting to run.
    pub fn in_turn(&self) -> bool {
        self.turn.is_some() || self.waiting.is_some() || !self.handed.is_empty()
    }

    /// Whether nothing would be lost if the process ended now.
    pub fn is_idle(&self) -> bool {
        !self.in_turn() && !self.tasks.is_any_running() && self.asks.is_empty()
    }

    /// Lines to write to the agent.
    pub fn take_replies(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.replies)
    }

    /// A new process takes over. `spent` is where its cost count starts, known only for a new conversation.
    pub fn attach(&mut self, spent: Option<f64>) {
        self.spent = spent;
    }

    /// The user's message is on its way; `message` is the id it is sent under.
    pub fn begin(&mut self, turn: TurnId, message: String) {
        self.waiting = Some(WaitingMessage { turn, message, queued: false, cancelling: false });
    }

    pub fn read(&mut self, line: Line, now: Timestamp) -> Vec<Output> {
        self.now = now;
        match line {
            Line::Init(init) => {
                if !init.session_id.is_empty() && init.session_id != self.agent_ref {
                    self.agent_ref.clone_from(&init.session_id);
                    self.fact(SessionFact::AgentRef(init.session_id));
                }
                if init.model != self.model {
                    self.model.clone_from(&init.model);
                    self.fact(SessionFact::Model(init.model));
                }
                let is_new_model = self.options.resolved(&self.model);
                if self.options.mode(&init.permission_mode) || is_new_model {
                    self.report_options();
                }
                self.take_up();
            }
            Line::Stream(line) => self.stream(line),
            Line::Assistant(line) => self.assistant(line),
            Line::User(line) => self.user(*line),
            Line::Result(line) => self.result(*line),
            Line::ControlRequest(request) => self.asked(request),
            Line::ControlResponse(response) => {
                tracing::debug!(request = response.request_id, "unexpected control response");
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
            Line::Tasks { tasks } => self.tasks.listed(tasks, now),
            Line::Status(status) => self.status(&status),
            Line::Compacted(compacted) => self.compacted(&compacted),
            Line::Cleared => self.cleared(),
            Line::Limits(limits) => self.limits(&limits),
            Line::Note(note) => self.note(note),
            Line::CommandOutput { content } => self.command_output(String::new(), &content),
            Line::PermissionDenied { tool_use_id } => {
                self.refused.insert(tool_use_id);
            }
            Line::Quiet => {}
            // An answer may contain the configuration of MCP servers, which is in no log.
            Line::Unknown { kind, .. } if kind.starts_with("control_response") => {
                tracing::info!(kind, "an answer of Claude Code has an unknown shape");
            }
            Line::Unknown { kind, value } => {
                tracing::info!(kind, %value, "unknown line from Claude Code");
            }
        }
        if self.turn.as_ref().is_some_and(|turn| turn.aside) {
            self.close(ResponseStatus::Completed);
        }
        self.report_tasks();
        std::mem::take(&mut self.outputs)
    }

    /// The call that started a task.
    pub fn call_of_task(&self, id: &str) -> Option<String> {
        self.tasks.call_of(id)
    }

    fn report_tasks(&mut self) {
        if let Some(tasks) = self.tasks.news() {
            self.fact(SessionFact::Tasks(tasks));
        }
    }

    /// The slash commands and options, as the answers to `initialize` and `get_settings` list them.
    pub fn initialized(&mut self, said: Initialized, settings: &Value) -> Vec<Output> {
        self.commands(said.commands);
        self.options.initialized(said.models, said.current_permission_mode);
        self.options.settings(settings);
        self.fact(SessionFact::Steers(Steers::AfterStep));
        let about = said.about.into_iter();
        self.outputs.extend(about.map(Output::Fact));
        self.report_options();
        std::mem::take(&mut self.outputs)
    }

    /// The agent accepted the value of an option. `settings` is what it then reports.
    pub fn option_set(
        &mut self,
        id: &str,
        value: &OptionValue,
        settings: Option<&Value>,
    ) -> Vec<Output> {
        self.options.accepted(id, value);
        if let Some(settings) = settings {
            self.options.settings(settings);
        }
        self.report_options();
        std::mem::take(&mut self.outputs)
    }

    fn report_options(&mut self) {
        self.outputs.extend(modes::facts(self.options.list(), None));
    }

    /// The user asked to stop: from now on, an end counts as cancelled.
    pub fn cancel(&mut self, now: Timestamp) -> Vec<Output> {
        self.now = now;
        if let Some(waiting) = &mut self.waiting {
            waiting.cancelling = true;
        }
        if let Some(turn) = &mut self.turn {
            turn.cancelling = true;
        }
        self.settle(OutcomeBy::Cancel, |ask| ask.parent.is_none());
        std::mem::take(&mut self.outputs)
    }

    /// Adds a notice. Outside a turn it gets its own.
    pub fn tell(&mut self, notice: Notice, now: Timestamp) -> Vec<Output> {
        self.now = now;
        self.aside(notice);
        std::mem::take(&mut self.outputs)
    }

    fn aside(&mut self, notice: Notice) {
        let in_turn = self.turn.is_some();
        self.ensure_aside();
        self.notice(notice);
        if !in_turn {
            self.close(ResponseStatus::Completed);
        }
    }

    /// Adds a notice to the running turn, complete at once.
    fn notice(&mut self, notice: Notice) {
        let Some(turn) = &mut self.turn else { return };
        let item_id = ItemId::note(&turn.id, turn.notes);
        turn.notes += 1;
        let notice = Box::new(notice);
        self.start(item_id.clone(), None, NewItem::Notice { notice: notice.clone() });
        self.emit(Payload::ItemDone { item_id, final_item: FinalItem::Notice { notice } });
    }

    /// Begins a turn if none is running.
    fn ensure_turn(&mut self) {
        self.take_up();
        if self.turn.is_none() {
            self.open_own();
            if let Some(why) = self.woken_by.take() {
                self.notice(why);
            }
        }
    }

    /// Opens an aside turn for something that does not begin a turn of its own.
    fn ensure_aside(&mut self) {
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

    /// Begins the turn of the user's message, if the agent has started on it.
    fn take_up(&mut self) {
        if self.turn.is_some() {
            return;
        }
        if let Some(waiting) = self.waiting.take_if(|waiting| !waiting.queued) {
            self.woken_by = None;
            self.open(waiting.turn, TurnOrigin::User, waiting.cancelling);
            if let Some(turn) = &mut self.turn {
                turn.message = Some(waiting.message);
            }
        }
    }

    fn open(&mut self, id: TurnId, origin: TurnOrigin, cancelling: bool) {
        self.turn = Some(OpenTurn {
            id,
            message: None,
            cancelling,
            aside: false,
            messages: Vec::new(),
            asked: 0,
            notes: 0,
            retry: None,
            api_error: None,
            plan_shown: false,
            compaction: None,
            limited_until: None,
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
            return self.handed_lifecycle(&line.command_uuid, &line.state);
        }
        match line.state.as_str() {
            "queued" => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.queued = true;
                }
            }
            "started" => {
                // The agent's own turn before is over; otherwise its end would be taken for the end of this one.
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
        self.outputs.push(Output::Fact(fact));
    }

    /// Emits an event in the running turn.
    fn emit(&mut self, payload: Payload) {
        if let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) {
            self.emit_in(turn, payload);
        }
    }

    fn emit_in(&mut self, turn_id: TurnId, payload: Payload) {
        let event_id = format!("{turn_id}#{}", self.events);
        self.events += 1;
        self.outputs.push(Output::Event(StreamEvent {
            event_id,
            timestamp: self.now,
            turn_id,
            session_id: self.session.clone(),
            payload,
        }));
    }
}

fn control_response(request_id: &str, response: Value) -> Value {
    json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": request_id, "response": response,
    }})
}

/// A notice without actions or details.
pub fn notice(severity: Severity, text: &str) -> Notice {
    Notice { severity, text: text.to_owned(), actions: Vec::new(), details: None }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
