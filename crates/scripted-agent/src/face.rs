//! The interface of a face. The engine performs steps on it and knows no wire format.

use std::io;

use serde_json::Value;

use crate::script::{
    Ask, FileDiff, Image, PlanEntry, Question, TaskStart, Tool, ToolEnd, UsageFact,
};
use crate::wire::Wire;

/// One turn of one session, in one of the two protocols.
pub(crate) trait Face {
    fn say(&mut self, text: &str);
    fn think(&mut self, text: &str);
    /// Starts a new message.
    fn new_message(&mut self);
    fn echo(&mut self, prompt: &str);
    fn image(&mut self, image: &Image);

    fn tool(&mut self, tool: &Tool);
    fn tool_output(&mut self, id: &str, text: &str);
    fn diff(&mut self, diff: &FileDiff);
    fn tool_end(&mut self, end: &ToolEnd);
    fn plan(&mut self, entries: &[PlanEntry]);

    /// Asks and waits. `withdraw` returns true when the agent withdraws its request.
    fn ask(&mut self, ask: &Ask, withdraw: &dyn Fn() -> bool) -> Answer;
    /// Asks and waits.
    fn question(&mut self, question: &Question) -> Answer;

    fn read_file(&mut self, path: &str) -> io::Result<String>;
    fn write_file(&mut self, path: &str, content: &str) -> io::Result<()>;
    /// Runs a command through the client. `None` if the client offers no terminals.
    fn run_by_client(&mut self, id: &str, command: &str) -> Option<CommandExit>;

    /// Whether a message arrived for the running turn.
    fn has_message(&self) -> bool;

    fn title(&mut self, title: &str);
    fn usage(&mut self, usage: &UsageFact);
    fn task(&mut self, task: &TaskStart);
    /// Returns whether it ran until now.
    fn task_end(&mut self, id: &str) -> bool;
    /// Everything from here on belongs to a sub-agent of this call; `None` ends that.
    fn under(&mut self, call: Option<&str>);
    fn api_retry(&mut self, attempt: u32, of: u32);

    fn raw_update(&mut self, update: &Value);
    fn raw_request(&mut self, method: &str, params: &Value) -> Value;
    fn flood(&mut self, text: &str, count: u64);
    /// A line of this many bytes.
    fn huge_line(&mut self, bytes: u64);
    fn wire(&self) -> &Wire;

    /// Saves what must outlive the process, which ends now.
    fn keep(&mut self);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The id of the option.
    Chosen(String),
    /// No option: refused, or withdrawn.
    Nothing,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandExit {
    /// `None` if a signal ended it.
    pub(crate) exit_code: Option<i32>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// The stop reason.
    Stop(String),
    Cancelled,
    Fail(crate::script::Failure),
}
