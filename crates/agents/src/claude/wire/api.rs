//! The model's API as Claude Code passes it on: messages, blocks, streaming events.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An event of the model's streaming API.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApiEvent {
    MessageStart {
        message: ApiMessage,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    ContentBlockStop {
        index: usize,
    },
    /// The message is about to end.
    MessageDelta {
        #[serde(default)]
        usage: Option<ApiUsage>,
    },
    MessageStop,
    /// Anything else, such as `ping`.
    #[serde(other)]
    Other,
}

/// A message of the model, or of the user to the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ApiMessage {
    pub id: String,
    pub model: String,
    pub content: Content,
    pub stop_reason: Option<String>,
    pub usage: Option<ApiUsage>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Blocks(Vec<Block>),
    Other(Value),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

/// How Claude Code records that the user stopped it.
pub const INTERRUPTION: &str = "[Request interrupted by user";

impl Content {
    /// Whether it only says that the user stopped the turn.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Text(text) => text.starts_with(INTERRUPTION),
            Self::Blocks(blocks) => matches!(
                &blocks[..],
                [Block::Known(KnownBlock::Text { text })] if text.starts_with(INTERRUPTION)
            ),
            Self::Other(_) => false,
        }
    }

    pub fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Text(text) => vec![Block::Known(KnownBlock::Text { text })],
            Self::Blocks(blocks) => blocks,
            Self::Other(Value::Null) => Vec::new(),
            Self::Other(value) => vec![Block::Other(value)],
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Block {
    Known(KnownBlock),
    Other(Value),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum KnownBlock {
    Text {
        /// Markdown.
        text: String,
    },
    Thinking {
        /// Markdown.
        thinking: String,
    },
    /// Thinking that the provider hides.
    RedactedThinking {},
    #[serde(alias = "server_tool_use", alias = "mcp_tool_use")]
    ToolUse {
        #[serde(deserialize_with = "not_empty")]
        id: String,
        #[serde(deserialize_with = "not_empty")]
        name: String,
        /// Empty while they stream.
        #[serde(default)]
        input: Value,
    },
    #[serde(
        alias = "web_search_tool_result",
        alias = "web_fetch_tool_result",
        alias = "mcp_tool_result"
    )]
    ToolResult {
        #[serde(deserialize_with = "not_empty")]
        tool_use_id: String,
        #[serde(default)]
        content: Content,
        #[serde(default)]
        is_error: Option<bool>,
    },
    Image {
        source: ImageSource,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImageSource {
    /// Such as `image/png`.
    pub media_type: String,
    /// Base64.
    pub data: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    /// A piece of a call's arguments.
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    /// Anything else, such as a signature.
    #[serde(other)]
    Other,
}

/// Tokens as the API counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ApiUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
}

/// Calls without an id can't be told apart.
fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Err(D::Error::custom("is empty")) } else { Ok(text) }
}
