//! Scripts as tests write them: `script().on_prompt("count").say("one ").wait_for_cancel().stop("cancelled")`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    About, Ask, Choice, Crash, Failure, FileDiff, Flood, Image, PlanEntry, PlanStatus, Question,
    ReadFile, Rule, Run, RunBy, SayWords, Script, SeededSession, Step, SubAgent, Tool, ToolEnd,
    ToolOutput, UsageFact, When, WriteFile,
};

/// Begins a script.
pub fn script() -> ScriptBuilder {
    ScriptBuilder { script: Script::default(), place: Place::Launch }
}

/// The steps of a branch: `act().say("yes")`.
pub fn act() -> Act {
    Act::default()
}

/// A script being written. Verbs add to the rule begun last; before any rule, to what is done at launch.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptBuilder {
    script: Script,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Launch,
    Session,
    Rule,
}

/// Steps being written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Act {
    steps: Vec<Step>,
}

/// Where steps can be added. Every verb of a script is here, once, for scripts and for branches.
pub trait Steps: Sized {
    /// Adds any step.
    #[must_use]
    fn step(self, step: Step) -> Self;

    /// Says a piece.
    #[must_use]
    fn say(self, text: &str) -> Self {
        self.step(Step::Say(text.into()))
    }
    /// Says a text word by word.
    #[must_use]
    fn say_words(self, text: &str, every_ms: u64) -> Self {
        self.step(Step::SayWords(SayWords { text: text.into(), every_ms }))
    }
    /// Says the prompt back.
    #[must_use]
    fn say_prompt(self) -> Self {
        self.step(Step::SayPrompt)
    }
    /// Thinks a piece.
    #[must_use]
    fn think(self, text: &str) -> Self {
        self.step(Step::Think(text.into()))
    }
    /// Thinks word by word.
    #[must_use]
    fn think_words(self, text: &str, every_ms: u64) -> Self {
        self.step(Step::ThinkWords(SayWords { text: text.into(), every_ms }))
    }
    /// What is said next is another message.
    #[must_use]
    fn new_message(self) -> Self {
        self.step(Step::NewMessage)
    }
    /// Tells the user's message again.
    #[must_use]
    fn echo_prompt(self) -> Self {
        self.step(Step::EchoPrompt)
    }
    /// Shows a picture (base64).
    #[must_use]
    fn image(self, mime: &str, data: &str) -> Self {
        self.step(Step::Image(Image { mime: mime.into(), data: data.into(), call: None }))
    }
    /// Begins a call.
    #[must_use]
    fn tool(self, tool: Tool) -> Self {
        self.step(Step::Tool(tool))
    }
    /// Begins a command's call: `Bash`, of kind `execute`, titled by the command.
    #[must_use]
    fn command(self, id: &str, command: &str) -> Self {
        self.step(Step::Tool(Tool {
            id: id.into(),
            name: "Bash".into(),
            title: command.into(),
            kind: "execute".into(),
            input: serde_json::json!({ "command": command }),
            locations: Vec::new(),
        }))
    }
    /// A call's output grows.
    #[must_use]
    fn tool_output(self, id: &str, text: &str) -> Self {
        self.step(Step::ToolOutput(ToolOutput { id: id.into(), text: text.into() }))
    }
    /// A call shows the change of a file.
    #[must_use]
    fn diff(self, id: &str, path: &str, old: Option<&str>, new: &str) -> Self {
        self.step(Step::Diff(FileDiff {
            id: id.into(),
            path: path.into(),
            old: old.map(Into::into),
            new: new.into(),
        }))
    }
    /// A call ends well.
    #[must_use]
    fn tool_done(self, id: &str, output: &str) -> Self {
        self.step(Step::ToolEnd(ToolEnd {
            id: id.into(),
            output: output.into(),
            ..ToolEnd::default()
        }))
    }
    /// A call fails.
    #[must_use]
    fn tool_failed(self, id: &str, output: &str) -> Self {
        self.step(Step::ToolEnd(ToolEnd {
            id: id.into(),
            output: output.into(),
            failed: true,
            exit_code: None,
        }))
    }
    /// A call shows a picture (base64).
    #[must_use]
    fn tool_image(self, id: &str, mime: &str, data: &str) -> Self {
        self.step(Step::Image(Image {
            mime: mime.into(),
            data: data.into(),
            call: Some(id.into()),
        }))
    }
    /// Tells the plan.
    #[must_use]
    fn plan(self, entries: &[(&str, PlanStatus)]) -> Self {
        let entries = entries
            .iter()
            .map(|(text, status)| PlanEntry { text: (*text).into(), status: *status });
        self.step(Step::Plan(entries.collect()))
    }
    /// Asks for permission for a call with "Allow", "Always allow" and "Reject", whose ids are `allow`, `always`, `reject`.
    #[must_use]
    fn ask(self, tool: &str, branches: Branches) -> Self {
        self.step(Step::Ask(Ask {
            tool: Some(tool.into()),
            title: String::new(),
            options: usual_options(),
            then: branches.then,
            otherwise: branches.otherwise,
            withdraw_on_file: None,
        }))
    }
    /// Asks for permission with no call before it.
    #[must_use]
    fn ask_out_of_the_blue(self, title: &str, branches: Branches) -> Self {
        self.step(Step::Ask(Ask {
            tool: None,
            title: title.into(),
            options: usual_options(),
            then: branches.then,
            otherwise: branches.otherwise,
            withdraw_on_file: None,
        }))
    }
    /// Asks the user a question with these answers.
    #[must_use]
    fn question(self, id: &str, question: &str, answers: &[&str], branches: Branches) -> Self {
        let options = answers.iter().map(|name| Choice {
            id: (*name).into(),
            name: (*name).into(),
            kind: None,
            description: None,
        });
        self.step(Step::Question(Question {
            id: id.into(),
            question: question.into(),
            header: "Question".into(),
            options: options.collect(),
            multiple: false,
            then: branches.then,
            otherwise: branches.otherwise,
        }))
    }
    /// Runs a command for real, as the call's output.
    #[must_use]
    fn run(self, id: &str, command: &str) -> Self {
        self.step(Step::Run(Run { id: id.into(), command: command.into(), by: RunBy::Agent }))
    }
    /// Runs a command through the client's terminal.
    #[must_use]
    fn run_by_client(self, id: &str, command: &str) -> Self {
        self.step(Step::Run(Run { id: id.into(), command: command.into(), by: RunBy::Client }))
    }
    /// Reads a file for real, as the call's output.
    #[must_use]
    fn read_file(self, id: &str, path: &str) -> Self {
        self.step(Step::ReadFile(ReadFile { id: id.into(), path: path.into() }))
    }
    /// Writes a file for real.
    #[must_use]
    fn write_file(self, path: &str, content: &str) -> Self {
        self.step(Step::WriteFile(WriteFile {
            path: path.into(),
            content: content.into(),
            call: None,
        }))
    }
    /// Writes a file for real, which ends a call.
    #[must_use]
    fn write_file_as(self, id: &str, path: &str, content: &str) -> Self {
        self.step(Step::WriteFile(WriteFile {
            path: path.into(),
            content: content.into(),
            call: Some(id.into()),
        }))
    }
    /// Waits until the user stops the turn.
    #[must_use]
    fn wait_for_cancel(self) -> Self {
        self.step(Step::WaitForCancel)
    }
    /// From here on a cancel changes nothing.
    #[must_use]
    fn ignore_cancel(self) -> Self {
        self.step(Step::IgnoreCancel)
    }
    /// Waits until the test makes this file.
    #[must_use]
    fn wait_for_file(self, path: impl Into<String>) -> Self {
        self.step(Step::WaitForFile(path.into()))
    }
    /// Makes this file, to tell the test.
    #[must_use]
    fn touch(self, path: impl Into<String>) -> Self {
        self.step(Step::Touch(path.into()))
    }
    /// Waits this many milliseconds.
    #[must_use]
    fn pause(self, ms: u64) -> Self {
        self.step(Step::Pause(ms))
    }
    /// Never goes on.
    #[must_use]
    fn hang(self) -> Self {
        self.step(Step::Hang)
    }
    /// Ends the turn with this reason.
    #[must_use]
    fn stop(self, reason: &str) -> Self {
        self.step(Step::Stop(reason.into()))
    }
    /// Ends the turn with an error.
    #[must_use]
    fn fail(self, code: i64, message: &str) -> Self {
        self.step(Step::Fail(Failure { code, message: message.into(), data: None }))
    }
    /// Ends the process with this code and these last words.
    #[must_use]
    fn crash(self, code: i32, stderr: &str) -> Self {
        self.step(Step::Crash(Crash { code, stderr: stderr.into() }))
    }
    /// Writes a line as it stands.
    #[must_use]
    fn raw(self, line: &str) -> Self {
        self.step(Step::Raw(line.into()))
    }
    /// Sends an update as it stands.
    #[must_use]
    fn raw_update(self, update: Value) -> Self {
        self.step(Step::RawUpdate(update))
    }
    /// Sends very many updates.
    #[must_use]
    fn flood(self, count: u64, text: &str) -> Self {
        self.step(Step::Flood(Flood { count, text: text.into() }))
    }
    /// Does this after the turn has ended.
    #[must_use]
    fn after_turn(self, steps: Act) -> Self {
        self.step(Step::AfterTurn(steps.steps))
    }
    /// Writes a line on stderr.
    #[must_use]
    fn stderr(self, line: &str) -> Self {
        self.step(Step::Stderr(line.into()))
    }
    /// The session has a title now.
    #[must_use]
    fn title(self, title: &str) -> Self {
        self.step(Step::Title(title.into()))
    }
    /// What was used so far.
    #[must_use]
    fn usage(self, used: u64, size: u64) -> Self {
        self.step(Step::Usage(UsageFact { used, size, cost_usd: None }))
    }
    /// What a sub-agent does under a call.
    #[must_use]
    fn sub_agent(self, under: &str, steps: Act) -> Self {
        self.step(Step::SubAgent(SubAgent { under: under.into(), steps: steps.steps }))
    }
    /// The same steps again and again.
    #[must_use]
    fn repeat(self, times: u32, steps: Act) -> Self {
        self.step(Step::Repeat(times, steps.steps))
    }
}

impl Steps for Act {
    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Act {
    /// The steps written.
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

impl Steps for ScriptBuilder {
    fn step(mut self, step: Step) -> Self {
        match (self.place, self.script.rules.last_mut()) {
            (Place::Rule, Some(rule)) => rule.steps.push(step),
            (Place::Session, _) => self.script.on_session.push(step),
            (Place::Launch | Place::Rule, _) => self.script.on_launch.push(step),
        }
        self
    }
}

impl ScriptBuilder {
    /// What the agent says about itself.
    #[must_use]
    pub fn about(mut self, change: impl FnOnce(&mut About)) -> Self {
        change(&mut self.script.about);
        self
    }

    /// Refuses every new session.
    #[must_use]
    pub fn refuse_new(self, code: i64, message: &str) -> Self {
        let refusal = Failure { code, message: message.into(), data: None };
        self.about(|about| about.refuse_new = Some(refusal))
    }

    /// Knows a session from before, with these updates to replay.
    #[must_use]
    pub fn knows_session(self, id: &str, updates: Vec<Value>) -> Self {
        self.about(|about| about.sessions.push(SeededSession { id: id.into(), updates }))
    }

    /// What follows is done in each new session without a prompt.
    #[must_use]
    pub fn on_session(mut self) -> Self {
        self.place = Place::Session;
        self
    }

    /// What follows is done about this prompt.
    #[must_use]
    pub fn on_prompt(self, whole: &str) -> Self {
        self.on(When::Exact(whole.into()))
    }

    /// What follows is done about prompts that contain this.
    #[must_use]
    pub fn on_prompt_with(self, part: &str) -> Self {
        self.on(When::Contains(part.into()))
    }

    /// What follows is done about every prompt no rule before matched.
    #[must_use]
    pub fn on_any_prompt(self) -> Self {
        self.on(When::Any)
    }

    /// The script written.
    pub fn build(self) -> Script {
        self.script
    }

    fn on(mut self, on: When) -> Self {
        self.place = Place::Rule;
        self.script.rules.push(Rule { on, steps: Vec::new() });
        self
    }
}

/// What is done about each answer: `answered("allow", act().say("thanks")).or(act().say("a pity"))`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branches {
    pub(crate) then: BTreeMap<String, Vec<Step>>,
    pub(crate) otherwise: Vec<Step>,
}

/// Begins the branches of a permission or question.
pub fn answered(option: &str, steps: Act) -> Branches {
    Branches::default().and(option, steps)
}

impl Branches {
    /// What is done about this answer.
    #[must_use]
    pub fn and(mut self, option: &str, steps: Act) -> Self {
        self.then.insert(option.into(), steps.steps);
        self
    }

    /// What is done about any other.
    #[must_use]
    pub fn or(mut self, steps: Act) -> Self {
        self.otherwise = steps.steps;
        self
    }
}

fn usual_options() -> Vec<Choice> {
    [
        ("allow", "Allow", "allow_once"),
        ("always", "Always allow", "allow_always"),
        ("reject", "Reject", "reject_once"),
    ]
    .map(|(id, name, kind)| Choice {
        id: id.into(),
        name: name.into(),
        kind: Some(kind.into()),
        description: None,
    })
    .into()
}
