//! One JSON file, read with suspicion and replaced in one step.
//!
//! A file that can't be understood is never overwritten: the user's data is worth more than our state.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use liminal_contract::{Details, ErrorCode, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::replacement::Replacement;

/// The version we write, and the only one we read.
const VERSION: u64 = 1;

/// The contents of one file, without its version.
pub trait Document: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the file in the data directory.
    const FILE: &'static str;
    /// The key of its list. The TypeScript original used `data`.
    const LIST: &'static str;
}

#[derive(Debug)]
pub struct Loaded<D> {
    /// Empty when there was no file.
    pub document: D,
    /// The original wrote this file; keep a copy before writing it our way.
    pub is_of_the_original: bool,
    pub stamp: Stamp,
}

/// Identifies the file we read or wrote: inode, length and modification time. `None` when there is no file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp(Option<(u64, u64, i64, i64)>);

impl Stamp {
    fn of(file: &Path) -> Self {
        let found = fs::metadata(file).ok();
        Self(found.map(|it| (it.ino(), it.len(), it.mtime(), it.mtime_nsec())))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(
        "{} can't be read: {reason}. The file was not changed; repair it, or move it away to start over.",
        file.display()
    )]
    Corrupt { file: PathBuf, reason: String },
    /// It could not be replaced. Its old contents are still there.
    #[error(
        "{} could not be written: {reason}. Nothing was changed; free some disk space or make it writable, \
         then try again.",
        file.display()
    )]
    Unwritable { file: PathBuf, reason: String },
    #[error("Liminal Builder is stopping; nothing was changed. Start it again, then try again.")]
    Stopping,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (code, file) = match &error {
            StoreError::Corrupt { file, .. } => (ErrorCode::StoreCorrupt, Some(file)),
            StoreError::Unwritable { file, .. } => (ErrorCode::StoreFull, Some(file)),
            StoreError::Stopping => (ErrorCode::InternalError, None),
        };
        let path = file.map(|file| file.display().to_string());
        let failure = Self::new(code, error.to_string());
        if path.is_some() {
            failure.with_details(Details { path, ..Details::default() })
        } else {
            failure
        }
    }
}

pub(super) fn load<D: Document>(data_dir: &Path) -> Result<Loaded<D>, StoreError> {
    let file = data_dir.join(D::FILE);
    let stamp = Stamp::of(&file);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Loaded { document: D::default(), is_of_the_original: false, stamp });
        }
        Err(error) => return Err(StoreError::Corrupt { file, reason: error.to_string() }),
    };
    let (document, is_of_the_original) =
        parse(&bytes).map_err(|reason| StoreError::Corrupt { file, reason })?;
    Ok(Loaded { document, is_of_the_original, stamp })
}

/// The document, and whether the original wrote it.
fn parse<D: Document>(bytes: &[u8]) -> Result<(D, bool), String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".into());
    }
    let mut fields: Map<String, Value> = match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err("it does not hold a JSON object".into()),
        Err(error) => return Err(format!("it is not JSON ({error})")),
    };
    match fields.remove("version").as_ref().map(Value::as_u64) {
        Some(Some(VERSION)) => {}
        Some(Some(newer)) if newer > VERSION => {
            return Err(format!(
                "it was written by a newer Liminal Builder (version {newer}; this one reads {VERSION})"
            ));
        }
        Some(_) => return Err("its `version` is unknown".into()),
        None => return Err("it has no `version`".into()),
    }
    let is_of_the_original = !fields.contains_key(D::LIST) && fields.contains_key("data");
    if is_of_the_original && let Some(list) = fields.remove("data") {
        fields.insert(D::LIST.into(), list);
    }
    if !fields.contains_key(D::LIST) {
        return Err(format!("it has no `{}`", D::LIST));
    }
    match serde_json::from_value(Value::Object(fields)) {
        Ok(document) => Ok((document, is_of_the_original)),
        Err(error) => Err(format!("its contents have the wrong shape ({error})")),
    }
}

/// Replaces the file. If someone else changed it, a copy of it is kept.
pub(super) fn save<D: Document>(
    data_dir: &Path,
    document: &D,
    known: Stamp,
) -> Result<Stamp, StoreError> {
    #[derive(Serialize)]
    struct Versioned<'a, D> {
        version: u64,
        #[serde(flatten)]
        document: &'a D,
    }
    let file = data_dir.join(D::FILE);
    let write = || -> io::Result<Stamp> {
        keep_changed(&file, known)?;
        let new = Replacement::write(&file, |out| {
            serde_json::to_writer_pretty(&mut *out, &Versioned { version: VERSION, document })?;
            out.write_all(b"\n")
        })?;
        let stamp = Stamp::of(new.path());
        new.take_place()?;
        Ok(stamp)
    };
    write()
        .map_err(|error| StoreError::Unwritable { file: file.clone(), reason: error.to_string() })
}

/// Keeps a copy of what someone else wrote while we ran, and logs a warning.
fn keep_changed(file: &Path, known: Stamp) -> io::Result<()> {
    let found = Stamp::of(file);
    if found == known || found.0.is_none() {
        return Ok(());
    }
    let stamp = Timestamp::from(SystemTime::now()).to_string().replace([':', '.'], "-");
    let copy = PathBuf::from(format!("{}.changed-{stamp}", file.display()));
    fs::copy(file, &copy)?;
    tracing::warn!(
        "{} was changed while Liminal Builder was running; that version is kept as {}. \
         Stop the server before you edit this file.",
        file.display(),
        copy.display()
    );
    Ok(())
}

/// Keeps a copy of the original's file beside it, once.
pub(super) fn keep_original<D: Document>(data_dir: &Path) -> Result<(), StoreError> {
    let file = data_dir.join(D::FILE);
    let copy = data_dir.join(format!("{}.original", D::FILE));
    if copy.exists() {
        return Ok(());
    }
    fs::copy(&file, &copy)
        .map(|_bytes| ())
        .map_err(|error| StoreError::Unwritable { file: copy, reason: error.to_string() })
}
