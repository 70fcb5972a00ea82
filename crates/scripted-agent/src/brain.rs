//! Where an agent's steps come from: a script, or the demo.

use std::path::PathBuf;

use serde_json::Value;

use crate::script::{About, Script, Step};

pub(crate) trait Brain: Send + Sync {
    /// What the agent reports about itself.
    fn about(&self) -> &About;

    /// Performed when the process starts.
    fn on_launch(&self) -> Vec<Step> {
        Vec::new()
    }

    /// Performed in each new session.
    fn on_session(&self) -> Vec<Step> {
        Vec::new()
    }

    /// Performed for a prompt.
    fn answer(&self, prompt: &Prompt) -> Vec<Step>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// All of its text.
    pub(crate) text: String,
    /// Everything else in it, in words.
    pub(crate) attached: Vec<String>,
    pub(crate) cwd: PathBuf,
    /// The number of the turn in the session, from 1.
    pub(crate) turn: u32,
}

impl Prompt {
    /// Of the blocks of a message, in either protocol.
    pub(crate) fn new(blocks: &Value, cwd: PathBuf, turn: u32) -> Self {
        let (mut text, mut attached) = (Vec::new(), Vec::new());
        for block in blocks.as_array().into_iter().flatten() {
            match (&block["uri"], &block["name"]) {
                // As codex passes a link on.
                (Value::String(uri), Value::String(name)) => text.push(format!("[@{name}]({uri})")),
                _ => text.extend(block["text"].as_str().map(str::to_owned)),
            }
            attached.extend(described(block));
        }
        text.extend(blocks.as_str().map(str::to_owned));
        Self { text: text.join("\n"), attached, cwd, turn }
    }

    /// The text, and what came with it.
    pub(crate) fn in_full(&self) -> String {
        let attached = self.attached.iter().map(|what| format!("[{what}]"));
        let text = Some(self.text.clone()).filter(|text| !text.is_empty());
        text.into_iter().chain(attached).collect::<Vec<_>>().join("\n")
    }
}

/// A picture or a text with a name. Text and links are not attached.
fn described(block: &Value) -> Option<String> {
    let (source, resource) = (&block["source"], &block["resource"]);
    let data = block["data"].as_str().or(source["data"].as_str());
    let mime_type = block["mimeType"].as_str().or(source["media_type"].as_str());
    if let (Some(data), Some(mime_type)) = (data, mime_type) {
        return Some(format!("a picture, {mime_type}, {}", size(data.len() / 4 * 3)));
    }
    let (text, uri) = (resource["text"].as_str()?, resource["uri"].as_str()?);
    let name = uri.rsplit('/').next().unwrap_or(uri);
    Some(format!("a text, {name}, {} lines", text.lines().count()))
}

fn size(bytes: usize) -> String {
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} KB", bytes / 1024) }
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
