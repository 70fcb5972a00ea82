//! Facts: things an agent reports about a session beside the conversation.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{AgentFacts, AgentTask, Attachment, Comment, Setup, Timestamp, Workspace};

/// Every fact known, with or without a running process. Part of every `session:history`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SessionFacts {
    pub asks: Asks,
    /// The agent's own settings, each with its current value.
    pub options: Vec<SessionOption>,
    pub commands: Vec<SlashCommand>,
    /// Absent until the agent reports any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<SessionUsage>,
    /// A message that will be sent later, by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_at: Option<Continuation>,
    pub queue: MessageQueue,
    /// Whether the agent takes pictures. Absent until it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_pictures: Option<bool>,
    pub steers: Steers,
    /// Comments on changes that are not sent yet, in the order in which they were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Comment>>"))]
    pub comments: Vec<Comment>,
    /// Absent until it is known, and in a project's directory without git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Sub-agents and commands beside the conversation: those that run, and the last that ended.
    pub tasks: Vec<AgentTask>,
    pub agent: AgentFacts,
    /// Somebody works on this session in another program right now. It is followed, and takes no message here.
    pub elsewhere: bool,
}

impl SessionFacts {
    pub fn apply(&mut self, change: FactsChange) {
        let FactsChange {
            asks,
            options,
            commands,
            usage,
            continue_at,
            queue,
            takes_pictures,
            steers,
            agent,
            comments,
            setup,
            tasks,
            workspace,
            elsewhere,
        } = change;
        self.asks = asks.unwrap_or(self.asks);
        if let Some(options) = options {
            self.options = options;
        }
        if let Some(commands) = commands {
            self.commands = commands;
        }
        self.usage = usage.or_else(|| self.usage.take());
        if let Some(continue_at) = continue_at {
            self.continue_at = continue_at;
        }
        if let Some(queue) = queue {
            self.queue = queue;
        }
        self.takes_pictures = takes_pictures.or(self.takes_pictures);
        self.steers = steers.unwrap_or(self.steers);
        if let Some(comments) = comments {
            self.comments = comments;
        }
        self.workspace = workspace.or_else(|| self.workspace.take());
        self.setup = setup.or_else(|| self.setup.take());
        if let Some(tasks) = tasks {
            self.tasks = tasks;
        }
        if let Some(agent) = agent {
            self.agent = agent;
        }
        self.elsewhere = elsewhere.unwrap_or(self.elsewhere);
    }

    /// The change that turns `self` into `after`.
    pub fn change_to(&self, after: &Self) -> FactsChange {
        fn changed<T: PartialEq + Clone>(before: &T, after: &T) -> Option<T> {
            (before != after).then(|| after.clone())
        }
        FactsChange {
            asks: changed(&self.asks, &after.asks),
            options: changed(&self.options, &after.options),
            commands: changed(&self.commands, &after.commands),
            usage: changed(&self.usage, &after.usage).flatten(),
            continue_at: changed(&self.continue_at, &after.continue_at),
            queue: changed(&self.queue, &after.queue),
            takes_pictures: changed(&self.takes_pictures, &after.takes_pictures).flatten(),
            steers: changed(&self.steers, &after.steers),
            comments: changed(&self.comments, &after.comments),
            workspace: changed(&self.workspace, &after.workspace).flatten(),
            setup: changed(&self.setup, &after.setup).flatten(),
            tasks: changed(&self.tasks, &after.tasks),
            agent: changed(&self.agent, &after.agent),
            elsewhere: changed(&self.elsewhere, &after.elsewhere),
        }
    }
}

/// The facts that changed, each in full.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct FactsChange {
    /// Present if it changed; the same for all fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asks>,
    /// The complete list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<SessionOption>>,
    /// The complete list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<SlashCommand>>,
    /// Never withdrawn, so absent means unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<SessionUsage>,
    /// `null` if it was sent or withdrawn.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub continue_at: Option<Option<Continuation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<MessageQueue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_pictures: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steers: Option<Steers>,
    /// The complete list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<Vec<Comment>>,
    /// Never withdrawn, so absent means unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Never withdrawn, so absent means unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// The complete list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<AgentTask>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<bool>,
}

/// Tells `null` from an absent field.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(field).map(Some)
}

impl FactsChange {
    /// Merges this change with a later one.
    pub fn then(self, later: Self) -> Self {
        Self {
            asks: later.asks.or(self.asks),
            options: later.options.or(self.options),
            commands: later.commands.or(self.commands),
            usage: later.usage.or(self.usage),
            continue_at: later.continue_at.or(self.continue_at),
            queue: later.queue.or(self.queue),
            takes_pictures: later.takes_pictures.or(self.takes_pictures),
            steers: later.steers.or(self.steers),
            comments: later.comments.or(self.comments),
            workspace: later.workspace.or(self.workspace),
            setup: later.setup.or(self.setup),
            tasks: later.tasks.or(self.tasks),
            agent: later.agent.or(self.agent),
            elsewhere: later.elsewhere.or(self.elsewhere),
        }
    }
}

/// The messages that wait for their turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct MessageQueue {
    /// Why none of them is sent until the user continues, for the user. Absent: they are sent one after another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// The same for programs. Absent with `held`: a server before this field wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<QueueHold>,
    /// In the order in which they are sent.
    pub messages: Vec<QueuedMessage>,
    /// The last messages that users removed: a repeated send must not bring one back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<RemovedMessage>>"))]
    pub removed: Vec<RemovedMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemovedMessage {
    pub message: String,
    /// The id of the send that queued it.
    pub request_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct QueuedMessage {
    /// The server's id of the message.
    pub message: String,
    /// Markdown.
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Attachment>>"))]
    pub attachments: Vec<Attachment>,
    pub queued_at: Timestamp,
    /// The id of the send that queued it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The agent has it, but has not taken it up yet. Until then it can't be changed.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub handed: bool,
    /// Somebody is editing it. Until they save or cancel, or someone continues, no message of the queue is sent.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub editing: bool,
}

/// Why the messages of a queue are not sent until the user continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum QueueHold {
    Stopped,
    Failed,
    /// The server stopped, perhaps in the middle of a turn.
    Restarted,
    /// For one of these reasons, but another turn began since and nobody has continued the queue.
    Earlier,
    /// It ends when every edit is saved or cancelled, too.
    Editing,
}

/// How a message reaches the agent while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Steers {
    /// The turn is stopped, and the message starts the next one.
    #[default]
    Stop,
    /// The agent takes it up after its current step.
    AfterStep,
    /// The agent takes it up at once, in the middle of a sentence.
    AtOnce,
}

/// Whether an agent asks for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Asks {
    /// Before anything that needs permission.
    #[default]
    Always,
    /// Only before it touches anything outside its workspace.
    OutsideWorkspace,
    /// It acts without asking, and there is no way to make it ask.
    AgentDecides,
}

/// A setting of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SessionOption {
    /// The agent's own id.
    pub id: String,
    /// The name shown to the user.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub category: OptionCategory,
    pub value: OptionValue,
    /// Empty for a flag.
    #[serde(default)]
    pub choices: Vec<OptionChoice>,
    /// The user chose the value, so it is set again when the agent restarts.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub chosen: bool,
    /// The agent doesn't know the value yet: it is set before the next message.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub pending: bool,
    /// Why the user's choice is not the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl SessionOption {
    /// An option that the agent reports.
    pub fn new(id: &str, name: &str, category: OptionCategory, value: OptionValue) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            description: None,
            category,
            value,
            choices: Vec::new(),
            chosen: false,
            pending: false,
            error: None,
        }
    }

    /// Whether the agent offers this value.
    pub fn offers(&self, value: &OptionValue) -> bool {
        match value {
            OptionValue::Flag(_) => matches!(self.value, OptionValue::Flag(_)),
            OptionValue::Choice(_) => self.choice(value).is_some(),
        }
    }

    pub fn choice(&self, value: &OptionValue) -> Option<&OptionChoice> {
        let OptionValue::Choice(value) = value else { return None };
        self.choices.iter().find(|choice| choice.value == *value)
    }

    /// Shows a value that the agent has yet to be told.
    pub fn choose(&mut self, value: OptionValue) {
        (self.value, self.chosen, self.pending, self.error) = (value, true, true, None);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum OptionCategory {
    /// How the agent works, and whether it asks for permission.
    Mode,
    Model,
    ThoughtLevel,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum OptionValue {
    Flag(bool),
    /// The `value` of one of the choices.
    Choice(String),
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(true) => f.write_str("on"),
            Self::Flag(false) => f.write_str("off"),
            Self::Choice(value) => f.write_str(value),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct OptionChoice {
    /// The agent's own id.
    pub value: String,
    /// The name shown to the user.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The heading that it belongs under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// With it the agent does things without asking that it otherwise asks for.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub skips_questions: bool,
}

impl OptionChoice {
    pub fn new(value: &str, name: &str, description: Option<String>) -> Self {
        let (value, name) = (value.to_owned(), name.to_owned());
        Self { value, name, description, group: None, skips_questions: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// What to type after the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The session's usage so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SessionUsage {
    /// Tokens used in the context window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_used: Option<u64>,
    /// Size of the context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub context_size: Option<u64>,
    /// As reported by the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Limits of the account, as far as the agent reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<UsageLimit>>"))]
    pub limits: Vec<UsageLimit>,
}

/// A message that the server sends at a given time, because the agent's limit is lifted then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Continuation {
    /// More than an hour later the server no longer sends it: the user decides.
    pub at: Timestamp,
    /// Markdown.
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct UsageLimit {
    /// The name shown to the user.
    pub name: String,
    /// 100 if it is used up.
    pub used_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
}
