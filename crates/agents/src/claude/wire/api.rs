//! What the model's API says, as Claude Code passes it on: messages, blocks, streaming events.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An event of the model's streaming API.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApiEvent {
    /// A message of the model begins.
    MessageStart {
        /// What is known of it.
        message: ApiMessage,
    },
    /// A block begins.
    ContentBlockStart {
        /// Which.
        index: usize,
        /// As far as it is known.
        content_block: Block,
    },
    /// A block grows.
    ContentBlockDelta {
        /// Which.
        index: usize,
        /// By what.
        delta: Delta,
    },
    /// A block ends.
    ContentBlockStop {
        /// Which.
        index: usize,
    },
    /// The message is about to end.
    MessageDelta {
        /// What it cost.
        #[serde(default)]
        usage: Option<ApiUsage>,
    },
    /// The message ended.
    MessageStop,
    /// Anything else, such as `ping`.
    #[serde(other)]
    Other,
}

/// A message of the model, or of the user to the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ApiMessage {
    /// The model's id of it.
    pub id: String,
    /// Which model.
    pub model: String,
    /// Its blocks.
    pub content: Content,
    /// Why it ended.
    pub stop_reason: Option<String>,
    /// What it cost.
    pub usage: Option<ApiUsage>,
}

/// A text, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A bare text.
    Text(String),
    /// Blocks.
    Blocks(Vec<Block>),
    /// Something else.
    Other(Value),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Content {
    /// As blocks.
    pub fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Text(text) => vec![Block::Known(KnownBlock::Text { text })],
            Self::Blocks(blocks) => blocks,
            Self::Other(Value::Null) => Vec::new(),
            Self::Other(value) => vec![Block::Other(value)],
        }
    }
}

/// A block of content.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Block {
    /// Of a kind we know.
    Known(KnownBlock),
    /// Of another.
    Other(Value),
}

/// A block of content of a kind we know.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum KnownBlock {
    /// Something said.
    Text {
        /// Markdown.
        text: String,
    },
    /// Something thought.
    Thinking {
        /// Markdown.
        thinking: String,
    },
    /// Something thought that nobody may read.
    RedactedThinking {},
    /// A tool is called.
    #[serde(alias = "server_tool_use", alias = "mcp_tool_use")]
    ToolUse {
        /// The call.
        #[serde(deserialize_with = "not_empty")]
        id: String,
        /// The tool.
        #[serde(deserialize_with = "not_empty")]
        name: String,
        /// Its arguments; empty while they stream.
        #[serde(default)]
        input: Value,
    },
    /// What a tool gave back.
    #[serde(
        alias = "web_search_tool_result",
        alias = "web_fetch_tool_result",
        alias = "mcp_tool_result"
    )]
    ToolResult {
        /// The call.
        #[serde(deserialize_with = "not_empty")]
        tool_use_id: String,
        /// Text or blocks.
        #[serde(default)]
        content: Content,
        /// Whether it failed.
        #[serde(default)]
        is_error: Option<bool>,
    },
    /// A picture.
    Image {
        /// Where it is.
        source: ImageSource,
    },
}

/// Where a picture is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImageSource {
    /// `image/png` and the like.
    pub media_type: String,
    /// Base64.
    pub data: String,
}

/// What a block grows by.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    /// Something said.
    #[serde(rename = "text_delta")]
    Text {
        /// Added.
        text: String,
    },
    /// Something thought.
    #[serde(rename = "thinking_delta")]
    Thinking {
        /// Added.
        thinking: String,
    },
    /// Arguments.
    #[serde(rename = "input_json_delta")]
    InputJson {
        /// Added.
        partial_json: String,
    },
    /// Anything else, such as a signature.
    #[serde(other)]
    Other,
}

/// Tokens as the API counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ApiUsage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Read from a cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Written to a cache.
    pub cache_creation_input_tokens: Option<u64>,
}

/// A call without an id could not be told from another.
fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Err(D::Error::custom("is empty")) } else { Ok(text) }
}
