//! What the model does, read from the prompt: `FAKE:BASH ls` calls a tool, `FAKE:HANG` never answers. So a test says
//! in one place what is asked and what is answered, and the same words work in every API and in every process.

use std::time::Duration;

/// What the model does with a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Says these words.
    Say(String),
    /// `FAKE:THINK`: thinks, then answers.
    Think {
        /// The thoughts.
        thought: String,
        /// The answer.
        answer: String,
    },
    /// Calls tools, after some words (which may be none).
    Call {
        /// Said before.
        words: String,
        /// In order.
        tools: Vec<Tool>,
    },
    /// `FAKE:LONG n ms`: says n words, one every so often.
    Long {
        /// How many.
        words: usize,
        /// Between two of them.
        pause: Duration,
    },
    /// `FAKE:HEARD`: says what the user wrote before in this conversation, which shows what the agent remembers.
    Heard,
    /// `FAKE:STALL words`: says these words and then nothing more, without ending.
    Stall(String),
    /// `FAKE:HANG`: does not answer at all.
    Hang,
    /// `FAKE:ERR status`: the API fails.
    Fail(u16),
}

/// One call of a tool, in words that every API can translate.
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
        /// Its name.
        name: String,
        /// Its arguments, as JSON.
        arguments: String,
    },
}

impl Act {
    /// What this prompt asks for. Without a `FAKE:` word, an echo. Of several the first counts, up to the line's end: so
    /// the prompt of a sub-agent can have one of its own.
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

/// Answers `FAKE:HEARD`: the prompts so far, without the one that asks.
pub(crate) fn heard(prompts: &[String]) -> String {
    let before = prompts.len().saturating_sub(1);
    format!("You said before: {}", prompts[..before].join(" | "))
}

/// A text in the pieces it is streamed in.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// The first so many words of a long answer.
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
