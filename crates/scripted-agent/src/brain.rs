//! Where an agent's steps come from: a script, or the demo's own mind.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::script::{About, Rule, Script, Step};

/// Decides what the agent does.
pub trait Brain: Send + Sync {
    /// What the agent says about itself.
    fn about(&self) -> &About;

    /// What is done when the process starts.
    fn on_launch(&self) -> Vec<Step> {
        Vec::new()
    }

    /// What is done in each new session.
    fn on_session(&self) -> Vec<Step> {
        Vec::new()
    }

    /// What is done about a prompt.
    fn answer(&self, prompt: &Prompt) -> Vec<Step>;
}

/// What the user said, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// All text of it.
    pub text: String,
    /// The session's directory.
    pub cwd: PathBuf,
    /// Which turn of the session this is, from 1.
    pub turn: u32,
}

/// A script and how often each of its rules was used.
#[derive(Debug)]
pub(crate) struct ScriptBrain {
    script: Script,
    used: Mutex<Vec<u32>>,
}

impl ScriptBrain {
    pub(crate) fn new(script: Script) -> Self {
        let used = Mutex::new(vec![0; script.rules.len()]);
        Self { script, used }
    }
}

impl Brain for ScriptBrain {
    fn about(&self) -> &About {
        &self.script.about
    }

    fn on_launch(&self) -> Vec<Step> {
        self.script.on_launch.clone()
    }

    fn on_session(&self) -> Vec<Step> {
        self.script.on_session.clone()
    }

    fn answer(&self, prompt: &Prompt) -> Vec<Step> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = |rule: &Rule, used: u32| rule.times.is_none_or(|times| used < times);
        for (rule, used) in self.script.rules.iter().zip(used.iter_mut()) {
            if free(rule, *used) && rule.on.matches(&prompt.text) {
                *used += 1;
                return rule.steps.clone();
            }
        }
        vec![Step::Say(format!("The script has no rule for {:?}.", prompt.text))]
    }
}
