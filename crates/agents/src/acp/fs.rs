//! Files an agent reads and writes through us: those of its session's project and no others.
//!
//! The project is opened once, as a capability, so that `..`, absolute paths and symbolic links can't lead out of
//! it. Our own data directory is refused where a project contains it. All of this blocks: it is called from a
//! thread that may.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

use super::envelope::RpcError;

/// The most that is read at once.
const LARGEST: u64 = 32 << 20;

/// The files of one project.
#[derive(Debug)]
pub(crate) struct ProjectFiles {
    root: PathBuf,
    dir: Dir,
    /// Our own, when it is in this project: relative to the root.
    ours: Option<PathBuf>,
}

/// Which lines to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first, counted from one.
    pub line: Option<u32>,
    /// How many.
    pub limit: Option<u32>,
}

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It is not in the project.
    #[error("{} is outside the project", .0.display())]
    Outside(PathBuf),
    /// It is ours.
    #[error("{} belongs to Liminal Builder", .0.display())]
    Ours(PathBuf),
    /// It is not there.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It is not text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// It is too much for one answer.
    #[error("{} has more than {} MB; read it in parts", .0.display(), LARGEST >> 20)]
    TooLarge(PathBuf),
    /// The system refused.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl From<FileError> for RpcError {
    fn from(error: FileError) -> Self {
        let code = match &error {
            // Agents make new files only when they see exactly this.
            FileError::Missing(_) => RpcError::NOT_FOUND,
            FileError::Outside(_) | FileError::Ours(_) => RpcError::INVALID_PARAMS,
            FileError::NotText(_) | FileError::TooLarge(_) | FileError::Io { .. } => {
                RpcError::INTERNAL
            }
        };
        RpcError::new(code, error.to_string())
    }
}

impl ProjectFiles {
    /// Opens a project. `data_dir` is our own.
    pub fn open(project: &Path, data_dir: &Path) -> io::Result<Self> {
        let root = project.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        let ours = data_dir.canonicalize().ok();
        let ours = ours.and_then(|ours| Some(ours.strip_prefix(&root).ok()?.to_owned()));
        Ok(Self { root, dir, ours })
    }

    /// Reads a text, or some lines of it.
    pub fn read(&self, path: &Path, extent: Extent) -> Result<String, FileError> {
        let failed = |cause| self.failed(path, cause);
        let inside = self.existing(path)?;
        let file = self.dir.open_with(&inside, &reading()).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(not_a_file()));
        }
        let mut reader = BufReader::new(file);
        for _ in 1..extent.line.unwrap_or(1) {
            if reader.skip_until(b'\n').map_err(failed)? == 0 {
                return Ok(String::new());
            }
        }
        let mut bytes = Vec::new();
        match extent.limit {
            None => {
                reader.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
            }
            Some(limit) => {
                let mut reader = reader.take(LARGEST + 1);
                for _ in 0..limit {
                    if reader.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                        break;
                    }
                }
            }
        }
        if bytes.len() as u64 > LARGEST {
            return Err(FileError::TooLarge(path.to_owned()));
        }
        String::from_utf8(bytes).map_err(|_| FileError::NotText(path.to_owned()))
    }

    /// Writes a text: all of it or nothing, under the same name and with the same rights as before. Directories on
    /// the way are made.
    pub fn write(&self, path: &Path, content: &str) -> Result<(), FileError> {
        let failed = |cause| self.failed(path, cause);
        let inside = self.inside(path)?;
        // A link is followed, so that what it leads to is changed and the link stays.
        let target = match self.dir.canonicalize(&inside) {
            Ok(target) => target,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.new_path(path, &inside)?
            }
            Err(cause) => return Err(failed(cause)),
        };
        self.refuse_ours(path, &target)?;
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.dir.create_dir_all(parent).map_err(failed)?;
        }
        let before = self.dir.metadata(&target).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Err(failed(not_a_file()));
        }
        let rights = before.map(|before| before.permissions());
        let beside = beside(&target);
        let written = (|| {
            let mut file =
                self.dir.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
            if let Some(rights) = rights {
                file.set_permissions(rights)?;
            }
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
            self.dir.rename(&beside, &self.dir, &target)
        })();
        written.map_err(|cause| {
            let _may_not_be_there = self.dir.remove_file(&beside);
            failed(cause)
        })
    }

    /// A directory of the project, for a command to run in.
    pub fn directory(&self, path: &Path) -> Result<PathBuf, FileError> {
        let inside = self.existing(path)?;
        let metadata = self.dir.metadata(&inside).map_err(|cause| self.failed(path, cause))?;
        if !metadata.is_dir() {
            return Err(self.failed(path, io::Error::other("not a directory")));
        }
        Ok(self.root.join(inside))
    }

    /// The path of something that exists, relative to the root, without links.
    fn existing(&self, path: &Path) -> Result<PathBuf, FileError> {
        let inside = self.inside(path)?;
        let target = self.dir.canonicalize(&inside).map_err(|cause| self.failed(path, cause))?;
        self.refuse_ours(path, &target)?;
        Ok(target)
    }

    /// The path of something new: what of it exists, without links, and the rest.
    fn new_path(&self, path: &Path, inside: &Path) -> Result<PathBuf, FileError> {
        let mut rest = Vec::new();
        let mut there = inside;
        loop {
            let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                return Err(FileError::Outside(path.to_owned()));
            };
            // A link that leads nowhere is there, and writing through it could lead anywhere.
            if self.dir.symlink_metadata(there).is_ok() {
                return Err(FileError::Outside(path.to_owned()));
            }
            rest.push(name);
            there = parent;
            let found = if there.as_os_str().is_empty() {
                Ok(PathBuf::new())
            } else {
                self.dir.canonicalize(there)
            };
            match found {
                Ok(mut target) => {
                    target.extend(rest.iter().rev());
                    return Ok(target);
                }
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(self.failed(path, cause)),
            }
        }
    }

    /// Relative to the root. Links are not looked at yet, and `..` is undone by name.
    fn inside(&self, path: &Path) -> Result<PathBuf, FileError> {
        let outside = || FileError::Outside(path.to_owned());
        let relative = if path.is_absolute() {
            self.strip_root(path).ok_or_else(outside)?
        } else {
            path.to_owned()
        };
        let mut inside = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    if !inside.pop() {
                        return Err(outside());
                    }
                }
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        if inside.as_os_str().is_empty() { Ok(PathBuf::from(".")) } else { Ok(inside) }
    }

    /// An agent may name the project by another way to it, such as a link above it.
    fn strip_root(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(relative) = path.strip_prefix(&self.root) {
            return Some(relative.to_owned());
        }
        path.ancestors().find_map(|ancestor| {
            let real = ancestor.canonicalize().ok()?;
            let below = real.strip_prefix(&self.root).ok()?;
            Some(below.join(path.strip_prefix(ancestor).ok()?))
        })
    }

    fn refuse_ours(&self, path: &Path, target: &Path) -> Result<(), FileError> {
        match &self.ours {
            Some(ours) if target.starts_with(ours) => Err(FileError::Ours(path.to_owned())),
            _ => Ok(()),
        }
    }

    fn failed(&self, path: &Path, cause: io::Error) -> FileError {
        let path = path.to_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => FileError::Missing(path),
            // This is how the capability says that a link or a `..` leads out of it.
            io::ErrorKind::PermissionDenied if cause.raw_os_error().is_none() => {
                FileError::Outside(path)
            }
            _ => FileError::Io { path, cause },
        }
    }
}

/// A pipe must not be waited for: nobody may ever write into it, and this thread would be lost.
fn reading() -> OpenOptions {
    let mut reading = OpenOptions::new();
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    reading.read(true).custom_flags(i32::try_from(flags).unwrap_or_default());
    reading
}

fn not_a_file() -> io::Error {
    io::Error::other("not a regular file")
}

/// A name in the same directory that nobody else uses.
fn beside(target: &Path) -> PathBuf {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let n = WRITES.fetch_add(1, Ordering::Relaxed);
    let name = format!(".liminal-{}-{n}.tmp", std::process::id());
    target.with_file_name(name)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
