//! Where an agent's steps come from: a script, or the demo's own mind.

use std::path::PathBuf;

use crate::script::{About, Script, Step};

/// Decides what the agent does.
pub(crate) trait Brain: Send + Sync {
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
pub(crate) struct Prompt {
    /// All text of it.
    pub(crate) text: String,
    /// The session's directory.
    pub(crate) cwd: PathBuf,
    /// Which turn of the session this is, from 1.
    pub(crate) turn: u32,
}

impl Brain for Script {
    fn about(&self) -> &About {
        &self.about
    }

    fn on_launch(&self) -> Vec<Step> {
        self.on_launch.clone()
    }

    fn on_session(&self) -> Vec<Step> {
        self.on_session.clone()
    }

    fn answer(&self, prompt: &Prompt) -> Vec<Step> {
        match self.rules.iter().find(|rule| rule.on.matches(&prompt.text)) {
            Some(rule) => rule.steps.clone(),
            None => vec![Step::Say(format!("The script has no rule for {:?}.", prompt.text))],
        }
    }
}
