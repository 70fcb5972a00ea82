//! What the model does, read from the prompt: `FAKE:BASH ls` calls a tool, `FAKE:HANG` never answers. A test has prompt
//! and answer in one place, and the same words work in every API and every process.

use std::time::Duration;

/// The model's reaction to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// `FAKE:TEXT words`, or `FAKE:PLAN step`: the plan of that step, as codex's models write one.
    Say(String),
    /// `FAKE:THINK`: thinks, then answers.
    Think { thought: String, answer: String },
    /// Calls tools, in order.
    Call {
        /// Sent before the calls; may be empty.
        words: String,
        tools: Vec<Tool>,
    },
    /// `FAKE:LONG n ms`: streams n words, with a pause after each.
    Long { words: usize, pause: Duration },
    /// `FAKE:HEARD`: repeats the earlier prompts of this conversation, which shows what the agent remembers.
    Heard,
    /// `FAKE:STALL words`: sends these words, then nothing more, without ending.
    Stall(String),
    /// `FAKE:HANG`: does not answer at all.
    Hang,
    /// `FAKE:ERR status`: the API fails.
    Fail(u16),
}

/// One tool call, in a form that every API can translate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// `FAKE:BASH command`.
    Bash(String),
    /// `FAKE:READ path`.
    Read(String),
    /// `FAKE:EDIT path`: `alpha` becomes `beta`.
    Edit(String),
    /// `FAKE:ASK`: asks which colour.
    Ask,
    /// `FAKE:TASK prompt`: a sub-agent.
    Task(String),
    /// `FAKE:TOOL name {json}`: any tool.
    Named {
        name: String,
        /// JSON.
        arguments: String,
    },
}

impl Act {
    /// What this prompt asks for; without a `FAKE:` word, an echo. The first `FAKE:` word counts, and its text runs to
    /// the end of the line, so that the prompt of a sub-agent can contain another.
    pub fn of(prompt: &str) -> Self {
        let Some((_, rest)) = prompt.split_once("FAKE:") else {
            return Self::Say(format!("Hello from the fake model. You said: {}", prompt.trim()));
        };
        let line = rest.lines().next().unwrap_or_default();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim().to_owned();
        let number = |at: usize| rest.split_whitespace().nth(at).and_then(|text| text.parse().ok());
        let call = |words: &str, tool| Self::Call { words: words.to_owned(), tools: vec![tool] };
        match word {
            "TEXT" => Self::Say(rest),
            "THINK" => Self::Think {
                thought: "First I consider the question. Then I weigh the options. Done."
                    .to_owned(),
                answer: "Here is my considered answer.".to_owned(),
            },
            "BASH" => call("I will run a command.", Tool::Bash(rest)),
            "TWO" => Self::Call {
                words: "Two calls.".to_owned(),
                tools: vec![Tool::Bash(rest), Tool::Bash("echo two".to_owned())],
            },
            "READ" => call("", Tool::Read(rest)),
            "EDIT" => call("", Tool::Edit(rest)),
            "ASK" => call("", Tool::Ask),
            "PLAN" => {
                Self::Say(format!("<proposed_plan>\n# Plan\n\n1. {rest}\n</proposed_plan>\n"))
            }
            "TASK" => call("", Tool::Task(rest)),
            "TOOL" => {
                let (name, arguments) = rest.split_once(' ').unwrap_or((&rest, "{}"));
                call("", Tool::Named { name: name.to_owned(), arguments: arguments.to_owned() })
            }
            "LONG" => Self::Long {
                words: number(0).unwrap_or(50) as usize,
                pause: Duration::from_millis(number(1).unwrap_or(10)),
            },
            "HEARD" => Self::Heard,
            "STALL" => Self::Stall(rest),
            "HANG" => Self::Hang,
            "ERR" => {
                Self::Fail(number(0).and_then(|status| u16::try_from(status).ok()).unwrap_or(500))
            }
            _ => Self::Say(format!("The fake model does not know FAKE:{word}.")),
        }
    }
}

/// The answer to `FAKE:HEARD`: the prompts so far, except the one that asks.
pub(crate) fn heard(prompts: &[String]) -> String {
    let before = prompts.len().saturating_sub(1);
    format!("You said before: {}", prompts[..before].join(" | "))
}

/// A text in pieces, as it is streamed.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// The first words of a long answer.
pub(crate) fn long(words: usize) -> impl Iterator<Item = String> {
    (0..words).map(|word| format!("word{word} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_says_what_is_answered() {
        let cases = [
            ("hi ", Act::Say("Hello from the fake model. You said: hi".to_owned())),
            ("Do it. FAKE:TEXT yes sir", Act::Say("yes sir".to_owned())),
            ("FAKE:ERR 529", Act::Fail(529)),
            ("FAKE:HANG", Act::Hang),
            ("FAKE:HEARD", Act::Heard),
            (
                "FAKE:TASK FAKE:TEXT inner",
                Act::Call {
                    words: String::new(),
                    tools: vec![Tool::Task("FAKE:TEXT inner".to_owned())],
                },
            ),
            ("FAKE:LONG 3 7\nmore", Act::Long { words: 3, pause: Duration::from_millis(7) }),
            (
                "FAKE:READ a/b c.txt",
                Act::Call { words: String::new(), tools: vec![Tool::Read("a/b c.txt".to_owned())] },
            ),
        ];
        for (prompt, act) in cases {
            assert_eq!(Act::of(prompt), act, "{prompt}");
        }
    }
}
