//! Scripts: which prompts the agent knows, and what it does for each, step by step.
//!
//! Tests use these types through [`script()`](crate::script()) and its verbs, files as JSON (see `docs/script.md`).
//! Nothing here knows a wire format; a [`Face`](crate::face::Face) turns steps into messages.

mod about;
mod builder;
mod step;

use serde::{Deserialize, Serialize};

pub use about::{
    About, AgentOption, Choice, Replay, ScriptedServer, SeededSession, SessionMode, SlashCommand,
};
pub use builder::{Act, Branches, ScriptBuilder, Steps, act, answered, script};
pub use step::{
    Ask, Chopped, Crash, Failure, FileDiff, Flood, Image, PlanEntry, PlanStatus, Question,
    ReadFile, Run, RunBy, SayWords, Step, SubAgent, TaskStart, Tool, ToolEnd, ToolOutput,
    UsageFact, WriteFile,
};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What the agent reports about itself, and which parts of the protocol it offers.
    #[serde(skip_serializing_if = "is_default")]
    pub about: About,
    /// Performed once, when the process starts, before it reads anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_launch: Vec<Step>,
    /// Performed in each new session, without a prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_session: Vec<Step>,
    /// The first rule that matches a prompt applies.
    pub rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub on: When,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Equals the prompt, without surrounding white space.
    Exact(String),
    /// Is contained in the prompt, ignoring case.
    Contains(String),
    /// Every prompt.
    Any,
}

impl When {
    pub fn matches(&self, prompt: &str) -> bool {
        match self {
            Self::Exact(whole) => prompt.trim() == whole,
            Self::Contains(part) => prompt.to_lowercase().contains(&part.to_lowercase()),
            Self::Any => true,
        }
    }
}

impl Script {
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub fn to_json(&self) -> String {
        // A script has only types that JSON can represent, so this can't fail.
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
