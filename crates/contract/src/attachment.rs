//! What a user sends beside words: pictures, files, lines of files, long pastes.

use serde::{Deserialize, Serialize};

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// Markdown.
    pub content: String,
    pub attachments: Vec<Attachment>,
}

impl From<&str> for Prompt {
    fn from(content: &str) -> Self {
        Self { content: content.to_owned(), attachments: Vec::new() }
    }
}

/// Something to attach: an uploaded attachment, or a file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum AttachmentRef {
    Uploaded {
        /// As `POST /api/attachment` returned it.
        id: String,
        /// The name to show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Where text came from, for lines that are already frozen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<(u32, u32)>,
    },
    InWorkspace {
        /// Relative to the workspace.
        path: String,
        /// First and last, counted from 1. They are kept as they are when the message is sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<(u32, u32)>,
    },
}

/// An attachment of a message, for ever as it was when the message was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Attachment {
    pub kind: AttachmentKind,
    /// The name to show.
    pub name: String,
    /// Absent for a file, of which only the path is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The bytes, on our own origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: Option<u64>,
    /// Relative to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First and last, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// In pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// In pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The message mentions it as `@path`; nobody attached it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mentioned: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AttachmentKind {
    Image,
    /// A file or directory of the workspace, by its path.
    File,
    /// Lines of a file.
    Lines,
    /// Text that belongs to no file.
    Paste,
}

impl Attachment {
    pub fn new(kind: AttachmentKind, name: String) -> Self {
        Self {
            kind,
            name,
            id: None,
            url: None,
            mime_type: None,
            bytes: None,
            path: None,
            lines: None,
            width: None,
            height: None,
            mentioned: None,
        }
    }
}
