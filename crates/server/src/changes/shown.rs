//! How a changed file is shown: a row in the list, and its difference.

use base64::Engine;
use liminal_contract::{ChangeStatus, ChangedFile, Pictures};
use liminal_git::{Became, Change, Content, Kind, Versions};
use liminal_render::{Comparison, DiffView, Layout};

pub fn listed(change: &Change) -> ChangedFile {
    let (status, from) = match &change.kind {
        Kind::Added | Kind::Untracked => (ChangeStatus::Added, None),
        Kind::Modified => (ChangeStatus::Modified, None),
        Kind::Deleted => (ChangeStatus::Deleted, None),
        Kind::Renamed { from } => (ChangeStatus::Renamed, Some(from.to_string())),
        Kind::Submodule => (ChangeStatus::Submodule, None),
        Kind::Unmerged => (ChangeStatus::Unmerged, None),
    };
    let (added, removed) = change.counts.map(|counts| (counts.added, counts.removed)).unzip();
    ChangedFile {
        path: change.path.to_string(),
        status,
        from,
        added,
        removed,
        version: change.version(),
        meanwhile: false,
        by: None,
    }
}

pub enum Shown {
    Lines {
        compared: Comparison,
        /// What changed besides.
        note: Option<String>,
    },
    /// A sentence about what can't be shown as lines.
    Note { note: String, pictures: Option<Pictures> },
}

impl Shown {
    pub fn noted(note: String) -> Self {
        Self::Note { note, pictures: None }
    }
}

pub fn shown(change: &Change, versions: Versions, view: DiffView) -> Shown {
    let (old, new) = match (versions.old, versions.new) {
        (Content::NoFile, _) | (_, Content::NoFile) if change.kind == Kind::Submodule => {
            return Shown::noted("The submodule is at another commit.".to_owned());
        }
        (_, Content::NoFile) => return Shown::noted("This is no longer a file.".to_owned()),
        (Content::TooLarge { bytes }, _) | (_, Content::TooLarge { bytes }) => {
            return Shown::noted(format!("Too large to show ({}).", size(bytes)));
        }
        (old @ Content::Binary(_), new) | (old, new @ Content::Binary(_)) => {
            return match in_lfs(as_text(&old), as_text(&new)) {
                Some(note) => Shown::Note { note, pictures: pictures(&old, &new) },
                None => binary(&old, &new),
            };
        }
        (old, new) => (text(old), text(new)),
    };
    if let Some(note) = in_lfs(old.as_deref(), new.as_deref()) {
        return Shown::noted(note);
    }
    let mode = change.became().map(mode_words).map(str::to_owned);
    if old == new {
        let same = || "The content is the same.".to_owned();
        return Shown::noted(mode.unwrap_or_else(same));
    }
    let path = change.path.to_string();
    let compared = Comparison::of(&path, old.as_deref(), new.as_deref(), view);
    if compared.rows(Layout::Unified) == 0 {
        return Shown::noted("Only whitespace changed.".to_owned());
    }
    Shown::Lines { compared, note: mode }
}

fn mode_words(became: Became) -> &'static str {
    match became {
        Became::Executable => "The file became executable.",
        Became::Plain => "The file is no longer executable.",
        Became::Link => "The file became a symbolic link.",
        Became::File => "The symbolic link became a file.",
    }
}

/// A file in Git LFS is a pointer in the repository: what it points to is not compared.
fn in_lfs(old: Option<&str>, new: Option<&str>) -> Option<String> {
    let pointed = |text: Option<&str>| -> Option<u64> {
        let pointer = text?.strip_prefix("version https://git-lfs.github.com/spec/")?;
        pointer.lines().find_map(|line| line.strip_prefix("size "))?.parse().ok()
    };
    match (pointed(old), pointed(new)) {
        (None, None) => None,
        (Some(old), Some(new)) => {
            Some(format!("In Git LFS, {} before, {} now.", size(old), size(new)))
        }
        (Some(only), None) | (None, Some(only)) => Some(format!("In Git LFS, {}.", size(only))),
    }
}

fn as_text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text),
        Content::None | Content::Binary(_) | Content::TooLarge { .. } | Content::NoFile => None,
    }
}

fn text(content: Content) -> Option<String> {
    match content {
        Content::Text(text) => Some(text),
        Content::None | Content::Binary(_) | Content::TooLarge { .. } | Content::NoFile => None,
    }
}

fn binary(old: &Content, new: &Content) -> Shown {
    let bytes = |content: &Content| match content {
        Content::Binary(bytes) => Some(size(bytes.len() as u64)),
        _ => None,
    };
    let note = match (bytes(old), bytes(new), old, new) {
        (Some(old), Some(new), ..) => format!("Binary file, {old} before, {new} now."),
        (Some(only), None, _, Content::None) | (None, Some(only), Content::None, _) => {
            format!("Binary file, {only}.")
        }
        _ => "One version is binary.".to_owned(),
    };
    Shown::Note { note, pictures: pictures(old, new) }
}

/// Both versions, if those that exist are pictures of one kind.
fn pictures(old: &Content, new: &Content) -> Option<Pictures> {
    let kind = |content: &Content| match content {
        Content::Binary(bytes) => picture_type(bytes),
        _ => None,
    };
    let mime_type = kind(new).or_else(|| kind(old))?;
    let encoded = |content: &Content| match content {
        Content::Binary(bytes) if picture_type(bytes) == Some(mime_type) => {
            Some(base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        _ => None,
    };
    let (before, after) = (encoded(old), encoded(new));
    Some(Pictures { mime_type: mime_type.to_owned(), before, after })
}

/// By the first bytes, never by the name.
fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}
