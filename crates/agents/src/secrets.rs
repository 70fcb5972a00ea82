//! What configurations of MCP servers contain and no text for a user may repeat.

use serde_json::Value;

/// In bytes. Shorter words of a configuration, such as `-y`, are no secrets, and are in every error.
const SHORTEST_SECRET: usize = 4;

/// Words that must not be shown.
#[derive(Default, Clone, PartialEq, Eq)]
pub(crate) struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(…)")
    }
}

impl Secrets {
    /// Everything that configurations contain.
    pub fn of<'a>(configurations: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut secrets = Self::default();
        configurations.into_iter().for_each(|config| secrets.add(config));
        secrets.sorted()
    }

    /// The words of a text that are in no configuration.
    pub fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "…"))
    }

    fn add(&mut self, config: &Value) {
        match config {
            Value::String(text) => {
                // A value may be repeated in part: a token without `Bearer`, an address without its query.
                let is_between = |c: char| !(c.is_alphanumeric() || "-_.+~".contains(c));
                self.0.push(text.clone());
                self.0.extend(text.split(is_between).map(str::to_owned));
            }
            Value::Array(all) => all.iter().for_each(|each| self.add(each)),
            Value::Object(fields) => {
                fields.iter().filter(|(name, _)| *name != "type").for_each(|(_, it)| self.add(it));
            }
            Value::Number(number) => self.0.push(number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The longest first, so that no rest of one stays when a part of it was replaced.
    fn sorted(mut self) -> Self {
        self.0.retain(|secret| secret.len() >= SHORTEST_SECRET);
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        self.0.dedup();
        self
    }
}
