//! A user's message, ready for an agent: its attachments are loaded, and each wire writes them in its own form.

/// The words, and what goes with them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentPrompt {
    /// Markdown.
    pub text: String,
    pub attached: Vec<Attached>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    Picture(Picture),
    /// Text that the user attached: a paste, or lines of a file.
    Text {
        /// Such as `src/main.rs, lines 10 to 20`.
        name: String,
        uri: String,
        text: String,
    },
    /// A file or directory of the workspace.
    File {
        /// Relative to the workspace.
        path: String,
        /// A `file:` URI.
        uri: String,
        /// Whether the text has it as `@path`.
        is_mentioned: bool,
        /// The file itself, if it is a picture: some agents only pass its link on.
        picture: Option<Picture>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub name: String,
    /// A `file:` URI.
    pub uri: String,
    pub mime_type: String,
    /// Base64.
    pub data: String,
}

impl From<&str> for AgentPrompt {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), attached: Vec::new() }
    }
}

/// Attached text for an agent that takes only words: after its name, in a fence that no line of it closes.
pub(crate) fn in_words(name: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{name}:\n\n{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A path as Claude Code reads a mention.
pub(crate) fn mention(path: &str) -> String {
    if path.contains(|letter: char| letter.is_whitespace() || letter == '"') {
        format!("@\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("@{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(in_words("a", "b\n"), "a:\n\n```\nb\n```");
        assert_eq!(in_words("a", "```rust\nb\n```"), "a:\n\n````\n```rust\nb\n```\n````");
    }

    #[test]
    fn a_path_with_spaces_or_quotes_is_quoted() {
        assert_eq!(mention("src/main.rs"), "@src/main.rs");
        assert_eq!(mention("a \"b\".md"), r#"@"a \"b\".md""#);
    }
}
