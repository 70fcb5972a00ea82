//! One JSON file, read with suspicion and replaced in one step.
//!
//! A file that can't be understood is never written over: what the user had is worth more than what we know now.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use liminal_contract::{Details, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The version we write, and the only one we read.
const VERSION: u64 = 1;

/// What one file holds, besides its version.
pub trait Document: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The file's name in the data directory.
    const FILE: &'static str;
    /// The key of its list. The TypeScript original said `data` here.
    const LIST: &'static str;
}

/// What was found.
#[derive(Debug)]
pub struct Loaded<D> {
    /// What the file holds; empty when there was none.
    pub document: D,
    /// The original wrote this file; keep a copy before writing it our way.
    pub is_of_the_original: bool,
}

/// Why a file could not be read or replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It is there and can't be understood.
    #[error("{} can't be read: {reason}. It is kept as it is; repair it, or move it away to begin anew.", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It could not be replaced. What it held before is still there.
    #[error("{} could not be written: {reason}. Nothing was changed; make room, or make it writable, and try again.", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The program is stopping.
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

/// Reads the file of this document in `data_dir`.
pub(super) fn load<D: Document>(data_dir: &Path) -> Result<Loaded<D>, StoreError> {
    let file = data_dir.join(D::FILE);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Loaded { document: D::default(), is_of_the_original: false });
        }
        Err(error) => return Err(StoreError::Corrupt { file, reason: error.to_string() }),
    };
    parse(&bytes).map_err(|reason| StoreError::Corrupt { file, reason })
}

fn parse<D: Document>(bytes: &[u8]) -> Result<Loaded<D>, String> {
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
                "it was written by a newer Liminal Builder (version {newer}; this one knows {VERSION})"
            ));
        }
        Some(_) => return Err("its `version` is not one of ours".into()),
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
        Ok(document) => Ok(Loaded { document, is_of_the_original }),
        Err(error) => Err(format!("its contents have the wrong shape ({error})")),
    }
}

/// Replaces the file: temporary file, fsync, rename, fsync of the directory. A crash leaves the old or the new.
pub(super) fn save<D: Document>(data_dir: &Path, document: &D) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Versioned<'a, D> {
        version: u64,
        #[serde(flatten)]
        document: &'a D,
    }
    let file = data_dir.join(D::FILE);
    let write = || -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(&Versioned { version: VERSION, document })?;
        json.push(b'\n');
        let temporary = data_dir.join(format!("{}.tmp", D::FILE));
        let mut out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        out.write_all(&json)?;
        out.sync_all()?;
        fs::rename(&temporary, &file)?;
        File::open(data_dir)?.sync_all()
    };
    write()
        .map_err(|error| StoreError::Unwritable { file: file.clone(), reason: error.to_string() })
}

/// Keeps what the original wrote beside the file, once.
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
