//! Performs steps on a face: order, pacing, waiting, branching, ending. Knows no wire format.

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::brain::Prompt;
use crate::cancel::Cancel;
use crate::command;
use crate::face::{Answer, End, Face};
use crate::script::{Failure, Run, RunBy, Step, ToolEnd, WriteFile};

/// How often the agent looks for a file that a test creates.
const FILE_CHECK: Duration = Duration::from_millis(5);

enum Flow {
    /// All steps were performed.
    On,
    /// A step ended the turn.
    End(End),
    /// The user stopped the turn, and no step handles that.
    Cancelled,
}

#[derive(Clone, Copy)]
enum Voice {
    Answer,
    Thought,
}

pub(crate) struct Performance<'a> {
    face: &'a mut dyn Face,
    prompt: &'a Prompt,
    cancel: &'a Cancel,
    /// A cancel has no effect any more: it was handled, or is to be ignored.
    deaf: bool,
    /// A cancel jumped to the step after a `wait_for_cancel`.
    heard: bool,
    later: Vec<Step>,
}

impl<'a> Performance<'a> {
    pub(crate) fn new(face: &'a mut dyn Face, prompt: &'a Prompt, cancel: &'a Cancel) -> Self {
        Self { face, prompt, cancel, deaf: false, heard: false, later: Vec::new() }
    }

    /// Ignores a cancel from the start.
    pub(crate) fn deaf(mut self) -> Self {
        self.deaf = true;
        self
    }

    /// Performs a turn. Returns how it ended, and the steps to perform after that was reported.
    pub(crate) fn perform(mut self, steps: &[Step]) -> (End, Vec<Step>) {
        let end = match self.all(steps) {
            Flow::On if self.heard => End::Cancelled,
            Flow::On => End::Stop("end_turn".into()),
            Flow::End(end) => end,
            Flow::Cancelled => End::Cancelled,
        };
        (end, self.later)
    }

    fn all(&mut self, steps: &[Step]) -> Flow {
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let flow = if self.stopped() { Flow::Cancelled } else { self.one(step) };
            match flow {
                Flow::On => {}
                Flow::End(end) => return Flow::End(end),
                Flow::Cancelled if matches!(step, Step::WaitForCancel) => self.hear(),
                Flow::Cancelled => {
                    // The steps for a cancel come after `wait_for_cancel`, however early the cancel comes.
                    if !steps.any(|later| matches!(later, Step::WaitForCancel)) {
                        return Flow::Cancelled;
                    }
                    self.hear();
                }
            }
        }
        Flow::On
    }

    fn hear(&mut self) {
        (self.deaf, self.heard) = (true, true);
    }

    fn one(&mut self, step: &Step) -> Flow {
        match step {
            Step::Say(text) => self.face.say(text),
            Step::SayPrompt => self.face.say(&self.prompt.in_full()),
            Step::Think(text) => self.face.think(text),
            Step::SayChopped(text) => {
                return self.paced(&chop(&text.text, text.size), text.every_ms, Voice::Answer);
            }
            Step::SayWords(text) => {
                return self.paced(&words(&text.text), text.every_ms, Voice::Answer);
            }
            Step::ThinkWords(text) => {
                return self.paced(&words(&text.text), text.every_ms, Voice::Thought);
            }
            Step::NewMessage => self.face.new_message(),
            Step::EchoPrompt => self.face.echo(&self.prompt.text),
            Step::Image(image) => self.face.image(image),
            Step::Tool(tool) => self.face.tool(tool),
            Step::ToolOutput(output) => self.face.tool_output(&output.id, &output.text),
            Step::Diff(diff) => self.face.diff(diff),
            Step::ToolEnd(end) => self.face.tool_end(end),
            Step::Plan(entries) => self.face.plan(entries),
            Step::Ask(ask) => {
                let withdraw = ask.withdraw_on_file.as_ref().map(|path| self.path(path));
                let withdrawn = || withdraw.as_ref().is_some_and(|path| path.exists());
                let answer = self.face.ask(ask, &withdrawn);
                return self.branch(&answer, &ask.then, &ask.otherwise);
            }
            Step::Question(question) => {
                let answer = self.face.question(question);
                return self.branch(&answer, &question.then, &question.otherwise);
            }
            Step::Elicit(params) => {
                let answer = &self.face.raw_request("elicitation/create", params)["result"];
                let action = answer["action"].as_str().unwrap_or("nothing");
                let content =
                    answer.get("content").map(|content| format!("\n\n```json\n{content:#}\n```"));
                self.face.say(&format!("Action: {action}.{}", content.unwrap_or_default()));
            }
            Step::Run(run) => return self.run(run),
            Step::ReadFile(file) => {
                let (output, failed) = match self.face.read_file(&file.path) {
                    Ok(content) => (content, false),
                    Err(error) => (error.to_string(), true),
                };
                let id = file.id.clone();
                self.face.tool_end(&ToolEnd { id, output, failed, exit_code: None });
            }
            Step::WriteFile(file) => return self.write_file(file),
            Step::WaitForCancel => {
                self.cancel.wait();
                return Flow::Cancelled;
            }
            Step::IgnoreCancel => self.deaf = true,
            Step::WaitForFile(path) => return self.wait_for_file(path),
            Step::WaitForMessage => return self.wait_for_message(),
            Step::Touch(path) => self.touch(path),
            Step::Pause(ms) => return self.pause(*ms),
            Step::Hang => loop {
                thread::park();
            },
            Step::Stop(reason) if reason == "cancelled" => return Flow::End(End::Cancelled),
            Step::Stop(reason) => return Flow::End(End::Stop(reason.clone())),
            Step::Fail(failure) => return Flow::End(End::Fail(failure.clone())),
            Step::Crash(crash) => {
                self.face.keep();
                say_on_stderr(&crash.stderr);
                std::process::exit(crash.code);
            }
            Step::Raw(line) => self.face.wire().line(line.as_bytes()),
            Step::RawUpdate(update) => self.face.raw_update(update),
            Step::RawRequest(method, params) => {
                let answer = self.face.raw_request(method, params);
                self.face.say(&answer.to_string());
            }
            Step::InvalidUtf8 => self.face.wire().line(b"{\"not\":\"utf-8: \xff\xfe\xc3\x28\"}"),
            Step::HugeLine(bytes) => self.face.huge_line(*bytes),
            Step::Flood(flood) => self.face.flood(&flood.text, flood.count),
            Step::AfterTurn(steps) => self.later.extend(steps.iter().cloned()),
            Step::Stderr(line) => say_on_stderr(line),
            Step::Title(title) => self.face.title(title),
            Step::Usage(usage) => self.face.usage(usage),
            Step::Task(task) => self.face.task(task),
            Step::TaskEnd(id) => {
                if !self.face.task_end(id) {
                    return Flow::End(End::Stop("end_turn".into()));
                }
            }
            Step::SubAgent(sub) => {
                self.face.under(Some(&sub.under));
                let flow = self.all(&sub.steps);
                self.face.under(None);
                return flow;
            }
            Step::ApiRetry(attempt, of) => self.face.api_retry(*attempt, *of),
            Step::Repeat(times, steps) => {
                for _ in 0..*times {
                    match self.all(steps) {
                        Flow::On => {}
                        ended => return ended,
                    }
                }
            }
        }
        Flow::On
    }

    fn stopped(&self) -> bool {
        !self.deaf && self.cancel.is_set()
    }

    fn paced(&mut self, pieces: &[&str], every_ms: u64, voice: Voice) -> Flow {
        for (n, piece) in pieces.iter().enumerate() {
            if n > 0
                && let Flow::Cancelled = self.pause(every_ms)
            {
                return Flow::Cancelled;
            }
            match voice {
                Voice::Answer => self.face.say(piece),
                Voice::Thought => self.face.think(piece),
            }
        }
        Flow::On
    }

    fn pause(&self, ms: u64) -> Flow {
        let time = Duration::from_millis(ms);
        if self.deaf {
            thread::sleep(time);
        } else if self.cancel.wait_for(time) {
            return Flow::Cancelled;
        }
        Flow::On
    }

    fn wait_for_file(&self, path: &str) -> Flow {
        let path = self.path(path);
        while !path.exists() {
            if self.stopped() {
                return Flow::Cancelled;
            }
            thread::sleep(FILE_CHECK);
        }
        Flow::On
    }

    fn wait_for_message(&self) -> Flow {
        while !self.face.has_message() {
            if self.stopped() {
                return Flow::Cancelled;
            }
            thread::sleep(FILE_CHECK);
        }
        Flow::On
    }

    fn touch(&self, path: &str) {
        let path = self.path(path);
        if let Err(error) = std::fs::write(&path, "") {
            say_on_stderr(&format!("could not create {}: {error}", path.display()));
        }
    }

    fn write_file(&mut self, file: &WriteFile) -> Flow {
        let written = self.face.write_file(&file.path, &file.content);
        let words = written.err().map(|error| format!("could not write {}: {error}", file.path));
        match (words, &file.call) {
            (Some(message), None) => {
                return Flow::End(End::Fail(Failure { code: -32603, message, data: None }));
            }
            (None, None) => {}
            (words, Some(id)) => self.face.tool_end(&ToolEnd {
                id: id.clone(),
                failed: words.is_some(),
                output: words.unwrap_or_default(),
                exit_code: None,
            }),
        }
        Flow::On
    }

    fn run(&mut self, run: &Run) -> Flow {
        let by_client = match run.by {
            RunBy::Client => self.face.run_by_client(&run.id, &run.command),
            RunBy::Agent => None,
        };
        let ran = match by_client {
            Some(ran) => Ok(ran),
            None => {
                let (face, cancel, deaf) = (&mut *self.face, self.cancel, self.deaf);
                let stopped = || !deaf && cancel.is_set();
                command::run(&run.command, &self.prompt.cwd, stopped, |text| {
                    face.tool_output(&run.id, text);
                })
            }
        };
        if self.stopped() {
            return Flow::Cancelled;
        }
        let end = match ran {
            Ok(ran) => ToolEnd {
                id: run.id.clone(),
                output: String::new(),
                failed: ran.exit_code != Some(0),
                exit_code: ran.exit_code,
            },
            Err(error) => ToolEnd {
                id: run.id.clone(),
                output: format!("could not run the command: {error}"),
                failed: true,
                exit_code: None,
            },
        };
        self.face.tool_end(&end);
        Flow::On
    }

    fn branch(
        &mut self,
        answer: &Answer,
        then: &std::collections::BTreeMap<String, Vec<Step>>,
        otherwise: &[Step],
    ) -> Flow {
        match answer {
            Answer::Cancelled => Flow::Cancelled,
            Answer::Nothing => self.all(otherwise),
            Answer::Chosen(option) => match then.get(option) {
                Some(steps) => self.all(steps),
                None => self.all(otherwise),
            },
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.prompt.cwd.join(path)
    }
}

/// Text in pieces of `size` characters.
fn chop(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let cut = rest.char_indices().nth(size.max(1)).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Words with the space after them; together they are the whole text.
fn words(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut in_space = false;
    for (at, c) in text.char_indices() {
        if in_space && !c.is_whitespace() {
            pieces.push(&text[start..at]);
            start = at;
        }
        in_space = c.is_whitespace();
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

pub(crate) fn say_on_stderr(text: &str) {
    if !text.is_empty() {
        let _nobody_listens = writeln!(std::io::stderr(), "{text}");
    }
}

#[cfg(test)]
mod tests;
