//! Scripts as tests write them: `script().on_prompt("count").say("one ").wait_for_cancel().stop("cancelled")`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    About, Ask, Choice, Crash, Failure, FileDiff, Flood, Image, PlanEntry, PlanStatus, Question,
    ReadFile, Rule, Run, RunBy, SayWords, Script, SeededSession, Step, SubAgent, Tool, ToolEnd,
    ToolOutput, UsageFact, When, WriteFile,
};

pub fn script() -> ScriptBuilder {
    ScriptBuilder { script: Script::default(), place: Place::Launch }
}

/// The steps of a branch: `act().say("yes")`.
pub fn act() -> Act {
    Act::default()
}

/// Verbs add steps to the last rule; before the first rule, to the launch.
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

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Act {
    steps: Vec<Step>,
}

/// One line per verb: its arguments, and the step it adds. [`Step`] describes what each step does.
macro_rules! verbs {
    ($($verb:ident($($told:ident: $kind:ty),*) => $step:expr;)*) => {
        /// Adds steps to scripts and branches.
        pub trait Steps: Sized {
            /// Adds any step.
            #[must_use]
            fn step(self, step: Step) -> Self;

            $(
                #[doc = concat!("Adds `", stringify!($step), "`.")]
                #[must_use]
                fn $verb(self, $($told: $kind),*) -> Self {
                    self.step($step)
                }
            )*
        }
    };
}

verbs! {
    say(text: &str) => Step::Say(text.into());
    say_words(text: &str, every_ms: u64) => Step::SayWords(SayWords { text: text.into(), every_ms });
    say_prompt() => Step::SayPrompt;
    think(text: &str) => Step::Think(text.into());
    think_words(text: &str, every_ms: u64) => Step::ThinkWords(SayWords { text: text.into(), every_ms });
    new_message() => Step::NewMessage;
    echo_prompt() => Step::EchoPrompt;
    image(mime: &str, data: &str) => picture(mime, data, None);
    tool_image(id: &str, mime: &str, data: &str) => picture(mime, data, Some(id));
    tool(tool: Tool) => Step::Tool(tool);
    command(id: &str, command: &str) => Step::Tool(bash(id, command));
    tool_output(id: &str, text: &str) => Step::ToolOutput(ToolOutput { id: id.into(), text: text.into() });
    diff(id: &str, path: &str, old: Option<&str>, new: &str) =>
        Step::Diff(FileDiff { id: id.into(), path: path.into(), old: old.map(Into::into), new: new.into() });
    tool_done(id: &str, output: &str) => tool_end(id, output, false);
    tool_failed(id: &str, output: &str) => tool_end(id, output, true);
    plan(entries: &[(&str, PlanStatus)]) => Step::Plan(plan_entries(entries));
    ask(tool: &str, branches: Branches) => permission(Some(tool), "", branches);
    ask_out_of_the_blue(title: &str, branches: Branches) => permission(None, title, branches);
    question(id: &str, question: &str, answers: &[&str], branches: Branches) =>
        ask_user(id, question, answers, branches);
    run(id: &str, command: &str) => Step::Run(Run { id: id.into(), command: command.into(), by: RunBy::Agent });
    run_by_client(id: &str, command: &str) =>
        Step::Run(Run { id: id.into(), command: command.into(), by: RunBy::Client });
    read_file(id: &str, path: &str) => Step::ReadFile(ReadFile { id: id.into(), path: path.into() });
    write_file(path: &str, content: &str) => written(path, content, None);
    write_file_as(id: &str, path: &str, content: &str) => written(path, content, Some(id));
    wait_for_cancel() => Step::WaitForCancel;
    ignore_cancel() => Step::IgnoreCancel;
    wait_for_message() => Step::WaitForMessage;
    wait_for_file(path: impl Into<String>) => Step::WaitForFile(path.into());
    touch(path: impl Into<String>) => Step::Touch(path.into());
    pause(ms: u64) => Step::Pause(ms);
    hang() => Step::Hang;
    stop(reason: &str) => Step::Stop(reason.into());
    fail(code: i64, message: &str) => Step::Fail(Failure { code, message: message.into(), data: None });
    crash(code: i32, stderr: &str) => Step::Crash(Crash { code, stderr: stderr.into() });
    raw(line: &str) => Step::Raw(line.into());
    raw_update(update: Value) => Step::RawUpdate(update);
    flood(count: u64, text: &str) => Step::Flood(Flood { count, text: text.into() });
    after_turn(act: Act) => Step::AfterTurn(act.steps);
    stderr(line: &str) => Step::Stderr(line.into());
    title(title: &str) => Step::Title(title.into());
    usage(used: u64, size: u64) => Step::Usage(UsageFact { used, size, cost_usd: None });
    sub_agent(under: &str, act: Act) => Step::SubAgent(SubAgent { under: under.into(), steps: act.steps });
    repeat(times: u32, act: Act) => Step::Repeat(times, act.steps);
}

fn picture(mime: &str, data: &str, call: Option<&str>) -> Step {
    Step::Image(Image { mime: mime.into(), data: data.into(), call: call.map(Into::into) })
}

fn bash(id: &str, command: &str) -> Tool {
    Tool {
        id: id.into(),
        name: "Bash".into(),
        title: command.into(),
        kind: "execute".into(),
        input: serde_json::json!({ "command": command }),
        locations: Vec::new(),
    }
}

fn tool_end(id: &str, output: &str, failed: bool) -> Step {
    Step::ToolEnd(ToolEnd { id: id.into(), output: output.into(), failed, exit_code: None })
}

fn plan_entries(entries: &[(&str, PlanStatus)]) -> Vec<PlanEntry> {
    let entry =
        |(text, status): &(&str, PlanStatus)| PlanEntry { text: (*text).into(), status: *status };
    entries.iter().map(entry).collect()
}

/// Asks with "Allow", "Always allow" and "Reject", whose ids are `allow`, `always`, `reject`.
fn permission(tool: Option<&str>, title: &str, branches: Branches) -> Step {
    let option =
        |id: &str, name: &str, kind: &str| Choice { kind: Some(kind.into()), ..choice(id, name) };
    Step::Ask(Ask {
        tool: tool.map(Into::into),
        title: title.into(),
        options: vec![
            option("allow", "Allow", "allow_once"),
            option("always", "Always allow", "allow_always"),
            option("reject", "Reject", "reject_once"),
        ],
        then: branches.then,
        otherwise: branches.otherwise,
        withdraw_on_file: None,
    })
}

fn ask_user(id: &str, question: &str, answers: &[&str], branches: Branches) -> Step {
    Step::Question(Question {
        id: id.into(),
        question: question.into(),
        header: "Question".into(),
        options: answers.iter().map(|name| choice(name, name)).collect(),
        multiple: false,
        then: branches.then,
        otherwise: branches.otherwise,
    })
}

fn choice(id: &str, name: &str) -> Choice {
    Choice { id: id.into(), name: name.into(), kind: None, description: None }
}

fn written(path: &str, content: &str, call: Option<&str>) -> Step {
    Step::WriteFile(WriteFile {
        path: path.into(),
        content: content.into(),
        call: call.map(Into::into),
    })
}

impl Steps for Act {
    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Act {
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
    /// What the agent reports about itself.
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

    /// Adds a session from before the start, with these updates to replay.
    #[must_use]
    pub fn knows_session(self, id: &str, updates: Vec<Value>) -> Self {
        self.about(|about| about.sessions.push(SeededSession { id: id.into(), updates }))
    }

    /// The following steps are performed in each new session, without a prompt.
    #[must_use]
    pub fn on_session(mut self) -> Self {
        self.place = Place::Session;
        self
    }

    /// The following steps answer this prompt.
    #[must_use]
    pub fn on_prompt(self, whole: &str) -> Self {
        self.on(When::Exact(whole.into()))
    }

    /// The following steps answer prompts that contain this.
    #[must_use]
    pub fn on_prompt_with(self, part: &str) -> Self {
        self.on(When::Contains(part.into()))
    }

    /// The following steps answer every prompt that no earlier rule matches.
    #[must_use]
    pub fn on_any_prompt(self) -> Self {
        self.on(When::Any)
    }

    pub fn build(self) -> Script {
        self.script
    }

    fn on(mut self, on: When) -> Self {
        self.place = Place::Rule;
        self.script.rules.push(Rule { on, steps: Vec::new() });
        self
    }
}

/// The steps for each answer: `answered("allow", act().say("thanks")).or(act().say("a pity"))`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branches {
    pub(crate) then: BTreeMap<String, Vec<Step>>,
    pub(crate) otherwise: Vec<Step>,
}

/// Starts the branches of a permission or question.
pub fn answered(option: &str, steps: Act) -> Branches {
    Branches::default().and(option, steps)
}

impl Branches {
    /// The steps for this answer.
    #[must_use]
    pub fn and(mut self, option: &str, steps: Act) -> Self {
        self.then.insert(option.into(), steps.steps);
        self
    }

    /// The steps for any other answer.
    #[must_use]
    pub fn or(mut self, steps: Act) -> Self {
        self.otherwise = steps.steps;
        self
    }
}
