//! What a script is: which prompts it knows and what the agent does about each, step by step.
//!
//! The same types serve tests (through [`script()`](crate::script()) and its verbs) and files (JSON, see `docs/script.md`).
//! Nothing here knows a wire format; a [`Face`](crate::face::Face) turns steps into messages.

mod about;
mod builder;
mod step;

use serde::{Deserialize, Serialize};

pub use about::{About, Choice, Replay, SeededSession, SessionMode, SlashCommand};
pub use builder::{Act, Branches, ScriptBuilder, Steps, act, answered, script};
pub use step::{
    Ask, Chopped, Crash, Failure, FileDiff, Flood, Image, PlanEntry, PlanStatus, Question,
    ReadFile, Run, RunBy, SayWords, Step, SubAgent, Tool, ToolEnd, ToolOutput, UsageFact,
    WriteFile,
};

/// Everything an agent does, in answer to everything it may be told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What the agent says about itself and which of the protocol it offers.
    #[serde(skip_serializing_if = "is_default")]
    pub about: About,
    /// Done once, when the process starts and before anything is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_launch: Vec<Step>,
    /// Done in each new session, after it was made and without any prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_session: Vec<Step>,
    /// In order; the first that matches a prompt is done.
    pub rules: Vec<Rule>,
}

/// What to do about a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which prompts.
    pub on: When,
    /// In order.
    pub steps: Vec<Step>,
}

/// Which prompts a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The whole prompt, without white space around it.
    Exact(String),
    /// A part of the prompt, whatever the case.
    Contains(String),
    /// Every prompt.
    Any,
}

impl When {
    /// Whether the rule is about this prompt.
    pub fn matches(&self, prompt: &str) -> bool {
        match self {
            Self::Exact(whole) => prompt.trim() == whole,
            Self::Contains(part) => prompt.to_lowercase().contains(&part.to_lowercase()),
            Self::Any => true,
        }
    }
}

impl Script {
    /// Reads a script from its JSON.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The script as JSON, for a file.
    pub fn to_json(&self) -> String {
        // A script holds only what JSON can say, so this can't fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::Script;

    #[test]
    fn the_scripts_in_the_documentation_are_scripts() {
        let page = include_str!("../../../docs/script.md");
        let scripts: Vec<&str> =
            page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(scripts.len(), 2);
        for text in scripts {
            let script = Script::from_json(text).unwrap();
            assert_eq!(Script::from_json(&script.to_json()).unwrap(), script);
        }
    }
}
