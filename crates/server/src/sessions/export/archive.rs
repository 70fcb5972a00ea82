//! The export of a session with attachments: one zip, with the transcript and every attached picture and text.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use liminal_contract::SessionId;

use super::super::service::SessionService;
use super::Format;
use super::zip::{Zip, sum};
use crate::attachments::Attachments;
use crate::failure::Failure;
use crate::journal::JournalError;

/// In bytes.
const PIECE: usize = 512 * 1024;

/// Everything that was counted before the first byte was sent.
pub struct Archive {
    zip: Zip,
    transcript: Option<(String, Transcript)>,
    /// The one that is being sent.
    reading: Option<File>,
    attached: Vec<String>,
    store: Arc<Attachments>,
}

/// A transcript in a file without a name: its length and sum come before its text in a zip.
struct Transcript {
    file: File,
    sum: u32,
    length: u64,
}

impl SessionService {
    /// The names of the stored attachments in a session's transcript.
    pub async fn attached_to(&self, session: &SessionId) -> Result<Vec<String>, Failure> {
        let id = session.clone();
        let names = self.around.journal.read(move |reader| reader.attachments_of(&id)).await?;
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        Ok(names)
    }

    /// The transcript and its attachments as one zip.
    pub async fn export_zip(
        &self,
        session: &SessionId,
        format: Format,
        attached: Vec<String>,
        directory: &Path,
    ) -> Result<impl Stream<Item = Result<Vec<u8>, JournalError>> + Send + 'static, Failure> {
        let unwritten = |error: io::Error| Failure::from(JournalError::Read(error.to_string()));
        let mut file = unnamed(directory).map_err(unwritten)?;
        let (mut length, mut total) = (0_u64, 0_u32);
        let mut text = pin!(self.export(session, format)?);
        while let Some(piece) = text.next().await {
            let piece = piece?;
            total = sum(total, piece.as_bytes());
            file.write_all(piece.as_bytes()).map_err(unwritten)?;
            length += piece.len() as u64;
        }
        file.rewind().map_err(unwritten)?;
        let transcript = Transcript { file, sum: total, length };
        let archive = Archive {
            zip: Zip::default(),
            transcript: Some((format!("session.{}", format.extension()), transcript)),
            reading: None,
            attached: attached.into_iter().rev().collect(),
            store: self.around.attachments.clone(),
        };
        Ok(stream::unfold(Some(archive), |archive| async move {
            let step = tokio::task::spawn_blocking(move || archive.map(Archive::next));
            let (piece, archive) = match step.await {
                Ok(Some(next)) => next,
                Ok(None) => return None,
                Err(panicked) => (Err(io::Error::other(panicked)), None),
            };
            Some((piece.map_err(|error| JournalError::Read(error.to_string())), archive))
        }))
    }
}

impl Archive {
    /// The next bytes, and the rest; `None` after the last.
    fn next(mut self) -> (io::Result<Vec<u8>>, Option<Self>) {
        if let Some((name, Transcript { file, sum, length })) = self.transcript.take() {
            self.reading = Some(file);
            return (Ok(self.zip.file(&name, sum, length)), Some(self));
        }
        if let Some(file) = &mut self.reading {
            let mut piece = Vec::new();
            let read = file.take(PIECE as u64).read_to_end(&mut piece);
            match read {
                Ok(0) => self.reading = None,
                Ok(_) => return (Ok(piece), Some(self)),
                Err(error) => return (Err(error), None),
            }
        }
        let Some(name) = self.attached.pop() else { return (Ok(self.zip.end()), None) };
        match self.store.read(&name) {
            // One that is gone is left out: the rest is worth having.
            Ok(None) => (Ok(Vec::new()), Some(self)),
            Ok(Some(bytes)) => {
                let path = format!("attachments/{name}");
                let mut piece = self.zip.file(&path, sum(0, &bytes), bytes.len() as u64);
                piece.extend(bytes);
                (Ok(piece), Some(self))
            }
            Err(error) => (Err(error), None),
        }
    }
}

/// A file that is gone when it is closed.
fn unnamed(directory: &Path) -> io::Result<File> {
    let path = directory.join(format!("export-{}", uuid::Uuid::now_v7()));
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}
