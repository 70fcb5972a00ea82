//! One thing an agent does. In JSON a step is an object with one key, or a word: `{"say": "hello"}`, `"wait_for_cancel"`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Choice, is_default};

/// One thing an agent does.
///
/// Ids of calls are the script's own names for them; on the wire they get the turn's number behind them from the
/// second turn of a session on, because no agent uses an id twice. Paths are taken from the session's directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A piece of the answer, as one chunk.
    Say(String),
    /// Text in pieces of a size, one by one.
    SayChopped(Chopped),
    /// Text word by word, at a person's reading pace.
    SayWords(SayWords),
    /// The prompt, said back.
    SayPrompt,
    /// A piece of thinking, as one chunk.
    Think(String),
    /// Thinking word by word.
    ThinkWords(SayWords),
    /// What is said next is another message.
    NewMessage,
    /// The user's message, told again as some agents do.
    EchoPrompt,
    /// A picture.
    Image(Image),
    /// A call begins.
    Tool(Tool),
    /// A call's output grows.
    ToolOutput(ToolOutput),
    /// A call changes a file: the change, not the doing of it.
    Diff(FileDiff),
    /// A call is over.
    ToolEnd(ToolEnd),
    /// What the agent means to do; all of it each time.
    Plan(Vec<PlanEntry>),
    /// Asks for permission, waits, and goes on as answered.
    Ask(Ask),
    /// Asks the user something, waits, and goes on as answered.
    Question(Question),
    /// Runs a command for real; its output is the call's.
    Run(Run),
    /// Reads a file for real, through the client where that offers it; its content is the call's output.
    ReadFile(ReadFile),
    /// Writes a file for real, through the client where that offers it.
    WriteFile(WriteFile),
    /// Waits until the user stops the turn. A cancel that comes earlier leads to the step behind this one.
    WaitForCancel,
    /// From here on a cancel changes nothing.
    IgnoreCancel,
    /// Waits until a file is there: how a test holds an agent at a place without any clock.
    WaitForFile(String),
    /// Makes a file: how an agent tells a test where it is.
    Touch(String),
    /// Waits this many milliseconds.
    Pause(u64),
    /// Never goes on.
    Hang,
    /// Ends the turn with this reason (`end_turn`, `cancelled`, `refusal`, `max_tokens`, …).
    Stop(String),
    /// Ends the turn with an error.
    Fail(Failure),
    /// Ends the process.
    Crash(Crash),
    /// A line as it stands, whatever it is.
    Raw(String),
    /// ACP: a `session/update` of this session with this `update`. Claude: the message with `session_id` and `uuid` added.
    RawUpdate(Value),
    /// A request of this method and these params to the client, awaited; what came back is said.
    RawRequest(String, Value),
    /// A line that is not UTF-8.
    InvalidUtf8,
    /// One line of this many bytes, which is valid but for its size.
    HugeLine(u64),
    /// Very many updates as fast as they are taken.
    Flood(Flood),
    /// Done after the turn has ended.
    AfterTurn(Vec<Step>),
    /// A line on stderr.
    Stderr(String),
    /// The session has a title now.
    Title(String),
    /// What was used so far.
    Usage(UsageFact),
    /// What a sub-agent does under a call.
    SubAgent(SubAgent),
    /// Claude: the API failed and is tried again (attempt, of so many).
    ApiRetry(u32, u32),
    /// The same steps again and again.
    Repeat(u32, Vec<Step>),
}

/// Text in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chopped {
    /// All of it.
    pub text: String,
    /// Characters a piece.
    pub size: usize,
    /// Milliseconds between two pieces.
    #[serde(default)]
    pub every_ms: u64,
}

/// Text word by word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SayWords {
    /// All of it.
    pub text: String,
    /// Milliseconds between two words.
    pub every_ms: u64,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// `image/png`, …
    pub mime: String,
    /// Base64.
    pub data: String,
    /// The call that shows it; without one, it is a piece of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// A call begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// The script's name for the call.
    pub id: String,
    /// The tool (`Bash`, `Read`, …).
    pub name: String,
    /// One line for the reader.
    pub title: String,
    /// `read`, `edit`, `execute`, … as ACP has them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// What it is called with.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The files it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
}

/// A call's output grows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOutput {
    /// The call.
    pub id: String,
    /// What its output grows by.
    pub text: String,
}

/// The change a call makes to a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiff {
    /// The call.
    pub id: String,
    /// The file.
    pub path: String,
    /// What it was; absent of a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What it becomes.
    pub new: String,
}

/// A call is over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolEnd {
    /// The call.
    pub id: String,
    /// What its output grows by at the end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Whether it failed.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: bool,
    /// Of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// One thing of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    /// What.
    pub text: String,
    /// How far.
    pub status: PlanStatus,
}

/// How far a thing of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl PlanStatus {
    /// The word on both wires.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

/// Asks for permission.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// The call it is about; absent: a permission with no call before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// One line for the reader, where there is no call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What may be answered. (The Claude face has allow and deny alone: an answer takes the first option of that kind.)
    pub options: Vec<Choice>,
    /// What is done, by the option chosen.
    pub then: BTreeMap<String, Vec<Step>>,
    /// What is done when the option chosen has nothing of its own, or none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
    /// The agent takes its question back when this file is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdraw_on_file: Option<String>,
}

/// Asks the user something.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// The script's name for the call.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// One word above it.
    pub header: String,
    /// What may be answered.
    pub options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(skip_serializing_if = "is_default")]
    pub multiple: bool,
    /// What is done, by the name of the option chosen.
    pub then: BTreeMap<String, Vec<Step>>,
    /// What is done about any other answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
}

/// Runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The call whose output this is.
    pub id: String,
    /// For `sh -c`.
    pub command: String,
    /// Who starts it.
    #[serde(default)]
    pub by: RunBy,
}

/// Who starts a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunBy {
    /// The agent itself.
    #[default]
    Agent,
    /// The client, through `terminal/*`. On the Claude face the agent does.
    Client,
}

/// Reads a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The call that ends with this, well or not.
    pub id: String,
    /// The file.
    pub path: String,
}

/// Writes a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file.
    pub path: String,
    /// All of it.
    pub content: String,
    /// The call that ends with this, well or not; without one, a failure ends the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// An error: a JSON-RPC error on the ACP face, of a turn an API failure on the Claude face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// JSON-RPC; -32000 asks for a login.
    pub code: i64,
    /// The words.
    pub message: String,
    /// Anything more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Ends the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// The exit code.
    pub code: i32,
    /// The last words on stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// Very many updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// How many.
    pub count: u64,
    /// What each says.
    pub text: String,
}

/// What was used so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageFact {
    /// Tokens in the context.
    pub used: u64,
    /// How many fit.
    pub size: u64,
    /// Dollars so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What a sub-agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// The call it works under.
    pub under: String,
    /// What it does.
    pub steps: Vec<Step>,
}
