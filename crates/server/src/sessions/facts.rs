//! Everything about a session beside its conversation: its entry in the list, and the facts its agent reported.

use liminal_contract::{
    AgentTask, Attachment, AttachmentKind, Continuation, FactsChange, McpServer, OptionCategory,
    OptionValue, Policy, Prompt, SessionFacts, SessionId, SessionOption, SessionUsage, SetupState,
    SlashCommand, TurnOutcome, Usage, UsageLimit,
};
use liminal_render::visible;
use liminal_stream::{HistoryMark, SessionFact};
use serde::Serialize;

use super::title;
use crate::journal::SessionRow;
use crate::store::{SessionRecord, TitleBy};

/// Bytes of JSON for the options and for the commands: a frame with both stays below 64 KB.
const MOST_OPTIONS: usize = 24 * 1024;
const MOST_COMMANDS: usize = 32 * 1024;
/// Bytes of JSON for the choices of one option.
const MOST_CHOICES: usize = 12 * 1024;
const MOST_LIMITS: usize = 16;
const MOST_TASKS: usize = 40;
const MOST_SERVERS: usize = 40;
/// In characters, for a name or a description.
const LONGEST_WORDS: usize = 200;

pub struct Facts {
    pub record: SessionRecord,
    pub policy: Policy,
    /// How much of the agent's own history was read.
    pub mark: Option<HistoryMark>,
    /// How the last turn ended; `None` while one runs.
    pub last_outcome: Option<TurnOutcome>,
    /// As browsers know them.
    pub shared: SessionFacts,
}

/// What to do about a fact that an agent reported.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every one is the large one")]
pub enum Learnt {
    /// It was known already.
    Nothing,
    /// Commit it and send it to the followers.
    Changed(FactsChange),
    /// A title, unless the session has a better one.
    Title(String),
    /// The model of the running turn.
    Model(String),
    /// The agent's own id of the session.
    AgentRef(String),
    Mark(HistoryMark),
}

impl Facts {
    /// Continues from the state in the journal. `policy` is for a session without its own.
    pub fn new(record: SessionRecord, row: Option<SessionRow>, policy: Policy) -> Self {
        let policy = record.policy.unwrap_or(policy);
        match row {
            Some(row) => {
                let (mark, last_outcome) = (row.mark, row.last_outcome);
                let options = bounded_options(row.facts.options);
                let commands = bounded_commands(row.facts.commands);
                let shared = SessionFacts { options, commands, ..row.facts };
                Self { record, policy, mark, last_outcome, shared }
            }
            None => {
                let shared = Default::default();
                Self { record, policy, mark: None, last_outcome: None, shared }
            }
        }
    }

    pub fn id(&self) -> &SessionId {
        &self.record.id
    }

    /// The agent's own id of the session.
    pub fn agent_ref(&self) -> String {
        self.record.agent_ref.clone().unwrap_or_else(|| self.id().local().to_owned())
    }

    /// The title from the first message, for a session that has none.
    pub fn derived_title(&self, message: &Prompt) -> Option<String> {
        let is_unnamed = self.record.title == title::NEW_SESSION && self.record.title_by.is_none();
        let words = title::derive(&message.content);
        let named = || Some(message.attachments.first()?.name.clone());
        is_unnamed.then(|| words.or_else(named)).flatten()
    }

    pub fn retitle(&mut self, title: String, by: TitleBy) {
        self.record.title = title;
        self.record.title_by = Some(by);
    }

    pub fn learn(&mut self, fact: SessionFact) -> Learnt {
        let before = self.shared.clone();
        match fact {
            SessionFact::Title(title) => return Learnt::Title(title),
            SessionFact::Model(model) => return Learnt::Model(model),
            SessionFact::AgentRef(agent_ref) => {
                self.record.agent_ref = Some(agent_ref.clone());
                return Learnt::AgentRef(agent_ref);
            }
            SessionFact::HistoryMark(mark) => {
                self.mark = Some(mark.clone());
                return Learnt::Mark(mark);
            }
            SessionFact::Asks(asks) => self.shared.asks = asks,
            SessionFact::TakesPictures(takes) => self.shared.takes_pictures = Some(takes),
            SessionFact::Steers(steers) => self.shared.steers = steers,
            SessionFact::Tasks(tasks) => self.shared.tasks = bounded_tasks(tasks),
            SessionFact::Version(version) => self.shared.agent.version = Some(shown(version)),
            SessionFact::Account(account) => self.shared.agent.account = Some(shown(account)),
            SessionFact::Mcp { servers, controls } => {
                self.shared.agent.mcp = bounded_servers(servers);
                self.shared.agent.controls_mcp = controls;
            }
            SessionFact::Elsewhere(elsewhere) => self.shared.elsewhere = elsewhere,
            SessionFact::Options(options) => self.shared.options = bounded_options(options),
            SessionFact::Commands(commands) => self.shared.commands = bounded_commands(commands),
            SessionFact::Usage(usage) => self.shared.usage = Some(self.used(&usage)),
            SessionFact::Limits(limits) => {
                self.shared.usage.get_or_insert_default().limits = bounded_limits(limits);
            }
        }
        let change = before.change_to(&self.shared);
        if change == FactsChange::default() { Learnt::Nothing } else { Learnt::Changed(change) }
    }

    /// Whether the message has pictures and the agent takes none.
    pub fn refuses_pictures_of(&self, prompt: &Prompt) -> bool {
        let is_picture = |it: &Attachment| it.kind == AttachmentKind::Image;
        self.shared.takes_pictures == Some(false) && prompt.attachments.iter().any(is_picture)
    }

    /// Plans a message that the session sends by itself, or withdraws the plan.
    pub fn plan(&mut self, planned: Option<Continuation>) -> Learnt {
        if self.shared.continue_at == planned {
            return Learnt::Nothing;
        }
        self.shared.continue_at.clone_from(&planned);
        Learnt::Changed(FactsChange { continue_at: Some(planned), ..FactsChange::default() })
    }

    /// Whether the first message waits for the command that prepares the worktree.
    pub fn is_being_set_up(&self) -> bool {
        self.shared.setup.as_ref().is_some_and(|setup| match setup.state {
            SetupState::Running | SetupState::Failed => true,
            SetupState::Done | SetupState::Skipped => false,
        })
    }

    /// Keeps a value of an option that the agent has yet to be told.
    pub fn choose(&mut self, id: &str, value: OptionValue) -> Option<FactsChange> {
        let before = self.shared.clone();
        self.shared.options.iter_mut().find(|option| option.id == id)?.choose(value);
        Some(before.change_to(&self.shared))
    }

    /// The options that the user chose.
    pub fn chosen(&self) -> Vec<(String, OptionValue)> {
        let chosen = self.shared.options.iter().filter(|option| option.chosen);
        chosen.map(|option| (option.id.clone(), option.value.clone())).collect()
    }

    /// Values missing from the agent's usage stay as they were.
    fn used(&self, usage: &Usage) -> SessionUsage {
        let before = self.shared.usage.clone().unwrap_or_default();
        SessionUsage {
            context_used: usage.context_used.or(before.context_used),
            context_size: usage.context_size.or(before.context_size),
            cost_usd: usage.cost_usd.or(before.cost_usd),
            limits: before.limits,
        }
    }
}

/// The permission mode, the model and the effort come first, so the others are dropped if there are too many. An option
/// with too many choices loses the last ones.
fn bounded_options(options: Vec<SessionOption>) -> Vec<SessionOption> {
    let all = options.len();
    let mut left = MOST_OPTIONS;
    let mut kept: Vec<SessionOption> = Vec::new();
    let mut options: Vec<_> = options.into_iter().filter(|option| is_short(&option.id)).collect();
    options.sort_by_key(|option| match option.category {
        OptionCategory::Mode => 0,
        OptionCategory::Model => 1,
        OptionCategory::ThoughtLevel => 2,
        OptionCategory::Other => 3,
    });
    for mut option in options {
        show(&mut option.name);
        option.description.as_mut().map(show);
        option.error.as_mut().map(show);
        let mut choices = std::mem::take(&mut option.choices);
        choices.retain(|choice| is_short(&choice.value));
        for choice in &mut choices {
            show(&mut choice.name);
            choice.description.as_mut().map(show);
            choice.group.as_mut().map(show);
        }
        let Some(rest) = left.checked_sub(size(&option)) else { break };
        let is_flag = matches!(option.value, OptionValue::Flag(_));
        option.choices = within(rest.min(MOST_CHOICES), choices);
        if !is_flag && option.choices.is_empty() {
            continue;
        }
        left = left.saturating_sub(size(&option));
        kept.push(option);
    }
    if kept.len() < all {
        tracing::info!(all, kept = kept.len(), "options of an agent were left out");
    }
    kept
}

/// Ids are sent back to the agent, so they can't be cut.
fn is_short(id: &str) -> bool {
    id.len() <= LONGEST_WORDS && !id.is_empty()
}

fn size(each: &impl Serialize) -> usize {
    serde_json::to_string(each).map_or(usize::MAX, |json| json.len() + 1)
}

fn bounded_limits(mut limits: Vec<UsageLimit>) -> Vec<UsageLimit> {
    limits.truncate(MOST_LIMITS);
    limits.iter_mut().for_each(|limit| show(&mut limit.name));
    limits
}

fn bounded_commands(mut commands: Vec<SlashCommand>) -> Vec<SlashCommand> {
    for command in &mut commands {
        command.name = visible(&command.name);
        show(&mut command.description);
        command.hint.as_mut().map(show);
    }
    within(MOST_COMMANDS, commands)
}

/// The last ones.
fn bounded_tasks(mut tasks: Vec<AgentTask>) -> Vec<AgentTask> {
    tasks.retain(|task| is_short(&task.id));
    tasks.drain(..tasks.len().saturating_sub(MOST_TASKS));
    tasks.iter_mut().for_each(|task| show(&mut task.name));
    tasks
}

fn bounded_servers(mut servers: Vec<McpServer>) -> Vec<McpServer> {
    servers.retain(|server| is_short(&server.name) && visible(&server.name) == server.name);
    servers.truncate(MOST_SERVERS);
    for server in &mut servers {
        server.error.as_mut().map(show);
    }
    servers
}

fn shown(mut text: String) -> String {
    show(&mut text);
    text
}

/// Cuts an agent's words and makes them hide nothing. In this order: a cut could leave a joiner without its letter.
fn show(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_WORDS) {
        text.truncate(end);
    }
    *text = visible(text);
}

/// As many from the start as fit into `bytes` of JSON.
fn within<T: Serialize>(bytes: usize, all: Vec<T>) -> Vec<T> {
    let mut left = bytes;
    let fits = move |each: &T| {
        let bytes = size(each);
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    };
    all.into_iter().take_while(fits).collect()
}

#[cfg(test)]
mod tests;
