//! What a face must be able to say. The engine performs steps on it and knows no wire format.

use std::io;

use serde_json::Value;

use crate::script::{Ask, FileDiff, Image, PlanEntry, Question, Tool, ToolEnd, UsageFact};
use crate::wire::Wire;

/// One turn of one session, on one of the two wires.
pub(crate) trait Face {
    fn say(&mut self, text: &str);
    fn think(&mut self, text: &str);
    /// What is said next is another message.
    fn new_message(&mut self);
    fn echo(&mut self, prompt: &str);
    fn image(&mut self, image: &Image);

    fn tool(&mut self, tool: &Tool);
    fn tool_output(&mut self, id: &str, text: &str);
    fn diff(&mut self, diff: &FileDiff);
    fn tool_end(&mut self, end: &ToolEnd);
    fn plan(&mut self, entries: &[PlanEntry]);

    /// Asks and waits. `withdraw` says when the agent takes its question back.
    fn ask(&mut self, ask: &Ask, withdraw: &dyn Fn() -> bool) -> Answer;
    /// Asks and waits.
    fn question(&mut self, question: &Question) -> Answer;

    fn read_file(&mut self, path: &str) -> io::Result<String>;
    fn write_file(&mut self, path: &str, content: &str) -> io::Result<()>;
    /// Runs a command through the client. `None` where the client offers no terminals.
    fn run_by_client(&mut self, id: &str, command: &str) -> Option<Ran>;

    fn title(&mut self, title: &str);
    fn usage(&mut self, usage: &UsageFact);
    /// What follows is a sub-agent's under this call; `None` ends that.
    fn under(&mut self, call: Option<&str>);
    fn api_retry(&mut self, attempt: u32, of: u32);

    fn raw_update(&mut self, update: &Value);
    fn raw_request(&mut self, method: &str, params: &Value) -> Value;
    fn flood(&mut self, text: &str, count: u64);
    /// A line of this many bytes.
    fn huge_line(&mut self, bytes: u64);
    fn wire(&self) -> &Wire;

    /// Keeps what must outlive the process, which ends now.
    fn keep(&mut self);
}

/// What came back to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This option.
    Chosen(String),
    /// None: refused without choice, or taken back.
    Nothing,
    /// The turn was stopped.
    Cancelled,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ran {
    /// `None` when a signal ended it.
    pub(crate) exit_code: Option<i32>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// With this reason.
    Stop(String),
    /// The user stopped it.
    Cancelled,
    /// With an error.
    Fail(crate::script::Failure),
}
