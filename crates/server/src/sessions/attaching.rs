//! A message's attachments: checked and kept as they are when it is sent, and loaded when the agent gets it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use base64::Engine;
use liminal_agents::{AgentPrompt, Attached, Picture};
use liminal_contract::{Attachment, AttachmentKind, AttachmentRef, ErrorCode, Prompt, SessionId};
use liminal_render::visible;
use tokio::task::JoinHandle;

use super::service::{SessionService, Surroundings};
use crate::attachments::{Attachments, Header, Kind, LARGEST, file_uri, mentions, within};
use crate::failure::Failure;

/// Of one message, beside what its text mentions.
const MOST: usize = 50;

/// Of one message, in bytes: what agents take, and what may wait to be written to one.
const MOST_BYTES: u64 = 2 * LARGEST as u64;

/// On a side. More can't be shown by every browser, and no agent takes it.
const MOST_PIXELS: u32 = 16_384;

/// In characters.
const LONGEST_NAME: usize = 200;

/// A mentioned picture that is larger is only mentioned (bytes).
const LARGEST_MENTIONED: u64 = 5 * 1024 * 1024;

/// An uploaded attachment, as the page gets it.
fn uploaded(id: String, name: Option<&str>, bytes: &[u8]) -> Attachment {
    let header = Header::read(bytes);
    let kind = header.map_or(Kind::Text, |header| header.kind);
    let name = name.map(short).filter(|name| !name.is_empty());
    let mut attachment = match kind {
        Kind::Text => {
            let name = name.unwrap_or_else(|| "Pasted text".to_owned());
            let mut paste = Attachment::new(AttachmentKind::Paste, name);
            paste.lines = Some((1, line_count(bytes)));
            paste
        }
        Kind::Png | Kind::Jpeg | Kind::Gif | Kind::Webp => {
            let name = name.unwrap_or_else(|| "Picture".to_owned());
            Attachment::new(AttachmentKind::Image, name)
        }
    };
    (attachment.width, attachment.height) = header.and_then(|header| header.size).unzip();
    attachment.mime_type = Some(kind.mime_type().to_owned());
    stored(attachment, id, bytes)
}

/// The message with its attachments: those that were chosen, and the files that its text mentions. Reads the disk.
pub fn keep(
    store: &Attachments,
    workspace: &Path,
    content: String,
    chosen: Vec<AttachmentRef>,
) -> Result<Prompt, Failure> {
    if chosen.len() > MOST {
        let many =
            format!("A message can have at most {MOST} attachments. Remove some and send again.");
        return Err(Failure::new(ErrorCode::AttachmentTooLarge, many));
    }
    let mut attachments: Vec<Attachment> = Vec::new();
    for chosen in chosen {
        attachments.push(match chosen {
            AttachmentRef::Uploaded { id, name, path, lines } => {
                kept(store, id, name.as_deref(), path, lines)?
            }
            AttachmentRef::InWorkspace { path, lines: None } => {
                within(&path, workspace).ok_or_else(|| gone(&path))?;
                file(path)
            }
            AttachmentRef::InWorkspace { path, lines: Some(lines) } => {
                frozen(store, workspace, &path, lines)?
            }
        });
    }
    for mention in mentions(&content, workspace) {
        let lines = mention.lines.and_then(|at| frozen(store, workspace, &mention.path, at).ok());
        let mut attachment = lines.unwrap_or_else(|| file(mention.path));
        attachment.mentioned = Some(true);
        let is_same =
            |it: &Attachment| (&it.path, it.lines) == (&attachment.path, attachment.lines);
        if !attachments.iter().any(is_same) {
            attachments.push(attachment);
        }
    }
    if attachments.iter().filter_map(|attachment| attachment.bytes).sum::<u64>() > MOST_BYTES {
        let large = "The attachments are larger than 40 MiB together. Remove some and send again.";
        return Err(Failure::new(ErrorCode::AttachmentTooLarge, large));
    }
    Ok(Prompt { content, attachments })
}

/// The message as an agent gets it. Reads the disk.
fn load(store: &Attachments, workspace: &Path, prompt: &Prompt) -> AgentPrompt {
    let attached = |attachment: &Attachment| match attachment.kind {
        AttachmentKind::Image => picture(store, attachment).map(Attached::Picture),
        AttachmentKind::Lines | AttachmentKind::Paste => text(store, workspace, attachment),
        AttachmentKind::File => mentioned(workspace, attachment),
    };
    let lost = |attachment: &Attachment| {
        // A path in the text that names nothing any more is only words.
        (attachment.mentioned != Some(true)).then(|| Attached::Text {
            name: attachment.name.clone(),
            uri: "attachment:///lost".to_owned(),
            text: "(This attachment no longer exists.)".to_owned(),
        })
    };
    let attached = prompt.attachments.iter().filter_map(|it| attached(it).or_else(|| lost(it)));
    AgentPrompt { text: prompt.content.clone(), attached: attached.collect() }
}

/// The same, on a blocking thread if there is anything to read.
pub async fn loaded(store: Arc<Attachments>, workspace: PathBuf, prompt: Prompt) -> AgentPrompt {
    if prompt.attachments.is_empty() {
        return AgentPrompt { text: prompt.content, attached: Vec::new() };
    }
    let text = prompt.content.clone();
    let loading = tokio::task::spawn_blocking(move || load(&store, &workspace, &prompt));
    loading.await.unwrap_or(AgentPrompt { text, attached: Vec::new() })
}

fn kept(
    store: &Attachments,
    id: String,
    name: Option<&str>,
    path: Option<String>,
    lines: Option<(u32, u32)>,
) -> Result<Attachment, Failure> {
    let lost = || {
        let name = short(name.unwrap_or("An attachment"));
        let lost = format!("{name} is no longer stored. Remove it, attach it again, and send.");
        Failure::new(ErrorCode::AttachmentNotFound, lost)
    };
    if !store.keep(&id).map_err(|error| unwritten(&error))? {
        return Err(lost());
    }
    let bytes = store.read(&id).map_err(|error| unwritten(&error))?.ok_or_else(lost)?;
    let mut attachment = uploaded(id, name, &bytes);
    if let (AttachmentKind::Paste, Some(path), Some(_)) = (attachment.kind, path, lines) {
        (attachment.kind, attachment.path, attachment.lines) =
            (AttachmentKind::Lines, Some(visible(&path)), lines);
    }
    Ok(attachment)
}

/// Lines of a file, as they are now.
fn frozen(
    store: &Attachments,
    workspace: &Path,
    path: &str,
    (first, last): (u32, u32),
) -> Result<Attachment, Failure> {
    let unsupported = |words: String| Failure::new(ErrorCode::AttachmentUnsupported, words);
    let shown = visible(path);
    let found = within(path, workspace).ok_or_else(|| gone(path))?;
    let bytes = bounded(&found, LARGEST as u64).ok_or_else(|| {
        unsupported(format!("{shown} has no lines to attach. Mention the file instead."))
    })?;
    let text = String::from_utf8(bytes).map_err(|_not_text| {
        unsupported(format!("{shown} is not text. Mention the file instead."))
    })?;
    let at = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let count = line_count(text.as_bytes());
    if first == 0 || first > last || first > count {
        let words = match count {
            _ if first <= count => format!("{shown} has no lines {first} to {last}."),
            1 => format!("{shown} has only 1 line."),
            _ => format!("{shown} has only {count} lines."),
        };
        return Err(unsupported(words));
    }
    let last = last.min(count);
    let lines = text.split_inclusive('\n').skip(at(first) - 1).take(at(last - first) + 1);
    let lines: String = lines.collect();
    // Nobody writes a message with them: the one that freezes them is being sent.
    let put = store.put(Kind::Text, lines.as_bytes()).and_then(|id| store.keep(&id).map(|_| id));
    let id = put.map_err(|error| unwritten(&error))?;
    let mut attachment = Attachment::new(AttachmentKind::Lines, format!("{shown}:{first}-{last}"));
    attachment.mime_type = Some(Kind::Text.mime_type().to_owned());
    (attachment.path, attachment.lines) = (Some(path.to_owned()), Some((first, last)));
    Ok(stored(attachment, id, lines.as_bytes()))
}

fn file(path: String) -> Attachment {
    let mut attachment = Attachment::new(AttachmentKind::File, visible(&path));
    attachment.path = Some(path);
    attachment
}

fn stored(mut attachment: Attachment, id: String, bytes: &[u8]) -> Attachment {
    attachment.url = Some(format!("/api/attachment/{id}"));
    (attachment.id, attachment.bytes) = (Some(id), Some(bytes.len() as u64));
    attachment
}

fn picture(store: &Attachments, attachment: &Attachment) -> Option<Picture> {
    let id = attachment.id.as_deref()?;
    let bytes = store.read(id).ok()??;
    Some(Picture {
        name: attachment.name.clone(),
        uri: file_uri(&store.path(id)?),
        mime_type: attachment.mime_type.clone()?,
        data: base64::engine::general_purpose::STANDARD.encode(bytes),
    })
}

fn text(store: &Attachments, workspace: &Path, attachment: &Attachment) -> Option<Attached> {
    let id = attachment.id.as_deref()?;
    let text = String::from_utf8(store.read(id).ok()??).ok()?;
    let (name, uri) = match (&attachment.path, attachment.lines) {
        (Some(path), Some((first, last))) => (
            format!("{path}, lines {first} to {last}"),
            format!("{}#L{first}-{last}", file_uri(&workspace.join(path))),
        ),
        _ => (attachment.name.clone(), format!("attachment:///{id}")),
    };
    Some(Attached::Text { name, uri, text })
}

fn mentioned(workspace: &Path, attachment: &Attachment) -> Option<Attached> {
    let path = attachment.path.clone()?;
    let found = within(&path, workspace)?;
    let uri = file_uri(&found);
    let bytes = bounded(&found, LARGEST_MENTIONED);
    let picture = bytes.and_then(|bytes| {
        let kind = Header::read(&bytes)?.kind;
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        let mime_type = kind.mime_type().to_owned();
        let (name, uri) = (attachment.name.clone(), uri.clone());
        (kind != Kind::Text).then_some(Picture { name, uri, mime_type, data })
    });
    let is_mentioned = attachment.mentioned == Some(true);
    Some(Attached::File { path, uri, is_mentioned, picture })
}

/// A regular file of limited size. Nothing else is opened: a pipe would never end.
fn bounded(path: &Path, most: u64) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= most).then_some(())?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn line_count(bytes: &[u8]) -> u32 {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let last = usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'));
    u32::try_from(ends + last).unwrap_or(u32::MAX)
}

fn short(name: &str) -> String {
    visible(name.trim()).chars().take(LONGEST_NAME).collect()
}

fn gone(path: &str) -> Failure {
    let path = visible(path);
    let words = format!("{path} is not in this project any more. Remove it and send again.");
    Failure::new(ErrorCode::AttachmentNotFound, words)
}

/// Why an attachment could not be stored or read.
fn unwritten(error: &std::io::Error) -> Failure {
    let words =
        format!("The attachment can't be stored ({error}). Free some disk space, then try again.");
    Failure::new(ErrorCode::StoreFull, words)
}

impl SessionService {
    /// A message of this session as it is kept: its lines are frozen, and the files that it mentions are found.
    pub(super) async fn kept(
        &self,
        session: &SessionId,
        content: String,
        attachments: Vec<AttachmentRef>,
    ) -> Result<Prompt, Failure> {
        let (store, workspace) = (self.around.attachments.clone(), self.directory(session).await?);
        let kept = move || keep(&store, &workspace, content, attachments);
        let kept = tokio::task::spawn_blocking(kept).await;
        let kept = kept.map_err(|_panicked| Failure::unexpected())?;
        kept.map_err(|failure| failure.about(session.clone()))
    }

    /// Stores a picture or a text that a message is going to refer to.
    pub async fn attach(
        &self,
        name: Option<String>,
        bytes: Vec<u8>,
        is_declared_picture: bool,
    ) -> Result<Attachment, Failure> {
        let header = Header::read(&bytes).filter(|header| {
            !bytes.is_empty() && (header.kind != Kind::Text || !is_declared_picture)
        });
        let Some(header) = header else {
            let words = "Only pictures (PNG, JPEG, GIF, WebP) and text can be attached. Put other files into the \
                         project and mention them with @.";
            return Err(Failure::new(ErrorCode::AttachmentUnsupported, words));
        };
        if header.size.is_some_and(|(width, height)| width.max(height) > MOST_PIXELS) {
            let words = format!(
                "Pictures can be at most {MOST_PIXELS} pixels wide or high. Make it smaller."
            );
            return Err(Failure::new(ErrorCode::AttachmentTooLarge, words));
        }
        let store = self.around.attachments.clone();
        let stored = tokio::task::spawn_blocking(move || {
            let id = store.put(header.kind, &bytes).map_err(|error| unwritten(&error))?;
            Ok(uploaded(id, name.as_deref(), &bytes))
        });
        stored.await.map_err(|_panicked| Failure::unexpected())?
    }

    /// A stored attachment: its type and its bytes. Its day starts over, as long as a draft shows it.
    pub async fn attachment(&self, id: String) -> Result<(&'static str, Vec<u8>), Failure> {
        let store = self.around.attachments.clone();
        let read = tokio::task::spawn_blocking(move || {
            let lost = || {
                let words = "This attachment is no longer stored.";
                Failure::new(ErrorCode::AttachmentNotFound, words)
            };
            let kind = Kind::of_name(&id).ok_or_else(lost)?;
            let _deleted_below = store.renew(&id).map_err(|error| unwritten(&error))?;
            let bytes = store.read(&id).map_err(|error| unwritten(&error))?.ok_or_else(lost)?;
            Ok((kind.mime_type(), bytes))
        });
        read.await.map_err(|_panicked| Failure::unexpected())?
    }
}

/// How often files that nobody refers to are looked for.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(60 * 60);

/// Deletes attachments that nobody refers to, and worktrees that were discarded long ago, now and then, until the
/// server stops.
pub async fn sweep(service: Weak<SessionService>) {
    while let Some(service) = service.upgrade() {
        service.around.sweep_attachments(|store, used, _| {
            store.sweep(|name| used.contains(name), SystemTime::now())
        });
        service.sweep_discarded().await;
        drop(service);
        tokio::time::sleep(BETWEEN_SWEEPS).await;
    }
}

impl Surroundings {
    /// Deletes those of a deleted session that no other session refers to.
    pub async fn forget_attachments(&self, names: HashSet<String>) {
        if names.is_empty() {
            return;
        }
        let deleted = self.sweep_attachments(move |store, used, at| {
            let unused: Vec<String> = names.difference(used).cloned().collect();
            store.forget(&unused, at)
        });
        let _panicked = deleted.await;
    }

    /// `delete` gets what is referred to, and the time before that was read: what is attached later isn't among it.
    fn sweep_attachments(
        &self,
        delete: impl FnOnce(&Attachments, &HashSet<String>, SystemTime) -> io::Result<usize>
        + Send
        + 'static,
    ) -> JoinHandle<()> {
        let (store, journal) = (self.attachments.clone(), self.journal.clone());
        tokio::task::spawn_blocking(move || {
            let at = SystemTime::now();
            let deleted = match journal.read_now(|reader| reader.attachments()) {
                Ok(used) => delete(&store, &used, at).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match deleted {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "deleted attachments that nobody refers to"),
                Err(error) => tracing::warn!(error, "attachments could not be deleted"),
            }
        })
    }
}
