//! One thing an agent does. In JSON, a step is an object with one key or a string: `{"say": "hello"}`,
//! `"wait_for_cancel"`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Choice, is_default};

/// One thing an agent does.
///
/// The script chooses the ids of calls. From the second turn of a session on, the turn's number is appended on the
/// wire, because no agent uses an id twice. Paths are relative to the session's directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Sends part of the answer, as one chunk.
    Say(String),
    /// Sends text in pieces of a fixed size.
    SayChopped(Chopped),
    /// Sends text word by word.
    SayWords(SayWords),
    /// Repeats the prompt as its answer.
    SayPrompt,
    /// Sends part of its thinking, as one chunk.
    Think(String),
    /// Sends its thinking word by word.
    ThinkWords(SayWords),
    /// Starts a new message.
    NewMessage,
    /// Sends the user's message back, as some agents do.
    EchoPrompt,
    /// A picture.
    Image(Image),
    Tool(Tool),
    ToolOutput(ToolOutput),
    /// Shows the change a call makes, without making it.
    Diff(FileDiff),
    ToolEnd(ToolEnd),
    /// Sends the whole plan.
    Plan(Vec<PlanEntry>),
    /// Asks for permission, waits, and continues with the branch for the answer.
    Ask(Ask),
    /// Asks a question, waits, and continues with the branch for the answer.
    Question(Question),
    /// Sends an `elicitation/create` with these params, waits, and says the action and the content it got.
    Elicit(Value),
    /// Really runs a command; its output becomes the call's.
    Run(Run),
    /// Really reads a file, through the client if it offers that; its content becomes the call's output.
    ReadFile(ReadFile),
    /// Really writes a file, through the client if it offers that.
    WriteFile(WriteFile),
    /// Waits until the user stops the turn. An earlier cancel jumps to the step after this one.
    WaitForCancel,
    /// Ignores a cancel from here on.
    IgnoreCancel,
    /// Waits until a file exists: a test can hold the agent here without a clock.
    WaitForFile(String),
    /// Waits until a message arrives for the running turn.
    WaitForMessage,
    /// Creates a file: tells a test how far the agent is.
    Touch(String),
    /// Waits this many milliseconds.
    Pause(u64),
    /// Hangs forever.
    Hang,
    /// Ends the turn with this reason (`end_turn`, `cancelled`, `refusal`, `max_tokens`, …).
    Stop(String),
    /// Ends the turn with an error.
    Fail(Failure),
    /// Ends the process.
    Crash(Crash),
    /// Writes a line literally.
    Raw(String),
    /// ACP: sends a `session/update` with this `update`. Claude: sends the message with `session_id` and `uuid` added.
    RawUpdate(Value),
    /// Sends a request to the client, waits for the response, and sends it as its answer.
    RawRequest(String, Value),
    /// Writes a line that is not UTF-8.
    InvalidUtf8,
    /// Writes one line of this many bytes, valid except for its size.
    HugeLine(u64),
    /// Sends very many updates as fast as they are read.
    Flood(Flood),
    /// Performed after the turn has ended.
    AfterTurn(Vec<Step>),
    /// Writes a line to stderr.
    Stderr(String),
    /// Sets the title of the session.
    Title(String),
    Usage(UsageFact),
    /// Starts a background task. It runs until it is ended or the user stops it.
    Task(TaskStart),
    /// Ends a background task. If the user stopped it before, the steps after this one are left out.
    TaskEnd(String),
    /// Performs steps as a sub-agent of a call.
    SubAgent(SubAgent),
    /// Claude: the API failed and is tried again (attempt, maximum).
    ApiRetry(u32, u32),
    /// Repeats steps.
    Repeat(u32, Vec<Step>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chopped {
    pub text: String,
    /// Characters per piece.
    pub size: usize,
    /// Milliseconds between two pieces.
    #[serde(default)]
    pub every_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SayWords {
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
    /// The call that shows it; without one, it is part of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// Chosen by the script.
    pub id: String,
    /// The tool (`Bash`, `Read`, …).
    pub name: String,
    /// One line.
    pub title: String,
    /// As in ACP: `read`, `edit`, `execute`, …
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOutput {
    pub id: String,
    /// New output.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiff {
    pub id: String,
    pub path: String,
    /// Absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    pub new: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolEnd {
    pub id: String,
    /// The last of its output.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(skip_serializing_if = "is_default")]
    pub failed: bool,
    /// Only for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    pub text: String,
    pub status: PlanStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    Pending,
    InProgress,
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

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// The call that needs permission; absent: a permission without a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// One line, for a permission without a call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The Claude face only knows allow and deny: an answer selects the first option of that kind.
    pub options: Vec<Choice>,
    /// Steps by the id of the chosen option.
    pub then: BTreeMap<String, Vec<Step>>,
    /// Steps for any other option, or for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
    /// The agent withdraws its request when this file exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdraw_on_file: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// Chosen by the script.
    pub id: String,
    pub question: String,
    /// One word.
    pub header: String,
    pub options: Vec<Choice>,
    /// Whether several answers may be chosen.
    #[serde(skip_serializing_if = "is_default")]
    pub multiple: bool,
    /// Steps by the name of the chosen option.
    pub then: BTreeMap<String, Vec<Step>>,
    /// Steps for any other answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The call that gets the output.
    pub id: String,
    /// For `sh -c`.
    pub command: String,
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
    /// The client, through `terminal/*`. On the Claude face, the agent.
    Client,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The call that succeeds or fails with this.
    pub id: String,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    pub path: String,
    pub content: String,
    /// The call that succeeds or fails with this; without one, a failure ends the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// On the ACP face a JSON-RPC error; on the Claude face, an error that ends a turn is an API failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// JSON-RPC; -32000 asks for a login.
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Ends the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// The exit code.
    pub code: i32,
    /// Written to stderr before the end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    pub count: u64,
    /// The text of each.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageFact {
    /// Tokens in the context.
    pub used: u64,
    /// The size of the context window, in tokens.
    pub size: u64,
    /// In total so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// The call that started it.
    pub under: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskStart {
    pub id: String,
    pub name: String,
    /// What it writes.
    #[serde(default)]
    pub output: String,
}
