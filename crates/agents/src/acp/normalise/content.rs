//! Content blocks as text and as parts.

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource, ToolCallContent};
use liminal_stream::SourcePart;
use serde_json::value::RawValue;

use super::cut;

/// The content of a call, sorted by how it is shown.
#[derive(Debug, Default)]
pub(super) struct SortedContent {
    /// Plain output.
    pub texts: Vec<String>,
    /// Everything else that is visible.
    pub parts: Vec<SourcePart>,
    /// Terminals whose output belongs here.
    pub terminals: Vec<String>,
}

/// Content of an unknown type is shown as raw JSON.
pub(super) fn sort(content: &[&RawValue]) -> SortedContent {
    let mut sorted = SortedContent::default();
    for raw in content {
        match serde_json::from_str(raw.get()) {
            Ok(ToolCallContent::Content(content)) => match content.content {
                ContentBlock::Text(text) => sorted.texts.push(without_fence(&text.text).to_owned()),
                block => sorted.parts.push(part(&block)),
            },
            Ok(ToolCallContent::Diff(diff)) => {
                let change = diff.meta.as_ref().and_then(|meta| meta.get("kind")?.as_str());
                sorted.parts.push(SourcePart::Diff {
                    path: diff.path.display().to_string(),
                    old: diff.old_text,
                    new: (change != Some("delete")).then_some(diff.new_text),
                    line: None,
                });
            }
            Ok(ToolCallContent::Terminal(terminal)) => {
                sorted.terminals.push(terminal.terminal_id.0.to_string());
            }
            Ok(_) => sorted.parts.push(as_it_came(raw)),
            Err(error) => {
                tracing::warn!(%error, raw = ?cut(raw.get()), "Invalid content in a tool call");
                sorted.parts.push(as_it_came(raw));
            }
        }
    }
    sorted
}

/// A block inside a text.
pub(super) fn markdown(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => {
            format!("[{}]({})", link.title.as_ref().unwrap_or(&link.name), link.uri)
        }
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                let fence = fence_for(&text.text);
                format!("\n{fence}{}\n{}\n{fence}\n", extension(&text.uri), text.text)
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => format!("[{0}]({0})", blob.uri),
            _ => String::new(),
        },
        ContentBlock::Image(image) => match &image.uri {
            Some(uri) => format!("[Picture ({})]({uri})", image.mime_type),
            None => unshown("Picture", &image.mime_type, &image.data),
        },
        ContentBlock::Audio(audio) => unshown("Sound", &audio.mime_type, &audio.data),
        _ => String::new(),
    }
}

/// A placeholder for content that a text can't show. `data` is Base64.
fn unshown(what: &str, mime_type: &str, data: &str) -> String {
    format!(
        "*{what} ({mime_type}, {} KB) can't be shown here*",
        (data.len() * 3 / 4).div_ceil(1024)
    )
}

/// A block that is not plain text, as a part.
fn part(block: &ContentBlock) -> SourcePart {
    match block {
        ContentBlock::Image(image) => {
            SourcePart::Image { mime_type: image.mime_type.clone(), data: image.data.clone() }
        }
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                let language =
                    Some(extension(&text.uri).to_owned()).filter(|name| !name.is_empty());
                SourcePart::Code { text: text.text.clone(), language }
            }
            _ => SourcePart::Text { text: markdown(block) },
        },
        _ => SourcePart::Text { text: markdown(block) },
    }
}

fn as_it_came(raw: &RawValue) -> SourcePart {
    SourcePart::Code { text: raw.get().to_owned(), language: Some("json".to_owned()) }
}

/// Some agents put plain output between fences. If the whole text is one fenced block, returns its content.
fn without_fence(text: &str) -> &str {
    let inner = || {
        let body = text.trim().strip_prefix("```")?.strip_suffix("```")?;
        let (_language, body) = body.split_once('\n')?;
        (!body.contains("```")).then(|| body.strip_suffix('\n').unwrap_or(body))
    };
    inner().unwrap_or(text)
}

/// A fence longer than any in the text.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The file extension at the end of a URI.
fn extension(uri: &str) -> &str {
    let name = uri.rsplit('/').next().unwrap_or_default();
    let name = name.split(['?', '#']).next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) if extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            extension
        }
        _ => "",
    }
}
