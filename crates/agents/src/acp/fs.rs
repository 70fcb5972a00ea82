//! Files that an agent reads and writes through us, limited to its session's project.
//!
//! The project is opened once, as a capability, so that `..`, absolute paths and symbolic links can't lead out of
//! it. Our own data directory is refused if a project contains it. A path is first resolved and then opened step by
//! step without following links, so a link created in between leads nowhere. Everything here blocks: call it from a
//! blocking thread.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{Mode, OFlags, openat};

use super::envelope::RpcError;

/// The largest content of one answer, in bytes.
const LARGEST: u64 = 32 << 20;

/// How far into a file we read to reach the requested lines, in bytes.
const FARTHEST: u64 = 256 << 20;

/// How long one read may take.
const LONGEST: Duration = Duration::from_secs(2);

/// The files of one project.
#[derive(Debug)]
pub(crate) struct ProjectFiles {
    root: PathBuf,
    dir: Dir,
    /// Our data directory relative to the root, if it is in this project.
    ours: Option<PathBuf>,
}

/// Which lines to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first line, counted from one.
    pub line: Option<u32>,
    pub limit: Option<u32>,
}

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("{} is outside the project", .0.display())]
    Outside(PathBuf),
    /// It is in our data directory.
    #[error("{} belongs to Liminal Builder", .0.display())]
    Ours(PathBuf),
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// Too large for one answer.
    #[error("{} has more than {} MB; read it in parts", .0.display(), LARGEST >> 20)]
    TooLarge(PathBuf),
    /// The requested lines are too far into the file.
    #[error(
        "{} is too large: reading stops after {} MB or {} s, and these lines are beyond that",
        .0.display(), FARTHEST >> 20, LONGEST.as_secs()
    )]
    TooFar(PathBuf),
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
}

impl From<FileError> for RpcError {
    fn from(error: FileError) -> Self {
        let code = match &error {
            // Agents create a new file only after exactly this error.
            FileError::Missing(_) => RpcError::NOT_FOUND,
            FileError::Outside(_) | FileError::Ours(_) => RpcError::INVALID_PARAMS,
            FileError::NotText(_)
            | FileError::TooLarge(_)
            | FileError::TooFar(_)
            | FileError::Io { .. } => RpcError::INTERNAL,
        };
        RpcError::new(code, error.to_string())
    }
}

impl ProjectFiles {
    /// `data_dir` is our own, which agents may not touch.
    pub fn open(project: &Path, data_dir: &Path) -> io::Result<Self> {
        let root = project.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        let ours = data_dir.canonicalize().ok();
        let ours = ours.and_then(|ours| Some(ours.strip_prefix(&root).ok()?.to_owned()));
        Ok(Self { root, dir, ours })
    }

    /// Reads a text file, or some of its lines.
    pub fn read(&self, path: &Path, extent: Extent) -> Result<String, FileError> {
        let failed = |cause| self.failed(path, cause);
        let target = self.existing(path)?;
        let file = self.open_existing(&target).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(not_a_file()));
        }
        let mut reader = BufReader::with_capacity(64 << 10, LimitedReader::with(file));
        for _ in 1..extent.line.unwrap_or(1) {
            if reader.skip_until(b'\n').map_err(failed)? == 0 {
                break;
            }
        }
        let mut bytes = Vec::new();
        let mut wanted = reader.by_ref().take(LARGEST + 1);
        match extent.limit {
            None => {
                wanted.read_to_end(&mut bytes).map_err(failed)?;
            }
            Some(limit) => {
                for _ in 0..limit {
                    if wanted.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                        break;
                    }
                }
            }
        }
        if reader.get_ref().gave_up {
            return Err(FileError::TooFar(path.to_owned()));
        }
        if bytes.len() as u64 > LARGEST {
            return Err(FileError::TooLarge(path.to_owned()));
        }
        String::from_utf8(bytes).map_err(|_| FileError::NotText(path.to_owned()))
    }

    /// Writes a text file atomically and keeps its permissions. Missing directories are created.
    pub fn write(&self, path: &Path, content: &str) -> Result<(), FileError> {
        let failed = |cause| self.failed(path, cause);
        let inside = self.inside(path)?;
        // A link is followed, so that its target changes and the link stays.
        let target = match self.dir.canonicalize(&inside) {
            Ok(target) => target,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.new_path(path, &inside)?
            }
            Err(cause) => return Err(failed(cause)),
        };
        self.refuse_ours(path, &target)?;
        let name = target.file_name().ok_or_else(|| failed(not_a_file()))?;
        let parent = self.parent_of(&target, MissingDirs::Create).map_err(failed)?;
        let before = parent.symlink_metadata(name).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Err(failed(not_a_file()));
        }
        let rights = before.map(|before| before.permissions());
        let beside = beside();
        let written = (|| {
            let mut file =
                parent.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
            if let Some(rights) = rights {
                file.set_permissions(rights)?;
            }
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
            parent.rename(&beside, &parent, name)
        })();
        written.map_err(|cause| {
            let _may_not_be_there = parent.remove_file(&beside);
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

    /// Opens a path that has no links.
    fn open_existing(&self, target: &Path) -> io::Result<File> {
        let parent = self.parent_of(target, MissingDirs::Fail)?;
        // Never wait for a pipe: if nothing ever writes to it, this thread would be lost.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = target.file_name().unwrap_or(".".as_ref());
        Ok(openat(&parent, Path::new(name), flags, Mode::empty())?.into())
    }

    /// The parent directory of a path that has no links. A link created meanwhile is not followed.
    fn parent_of(&self, target: &Path, missing: MissingDirs) -> io::Result<Dir> {
        let mut dir = self.dir.try_clone()?;
        for component in target.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(name) = component else { continue };
            if missing == MissingDirs::Create
                && let Err(cause) = dir.create_dir(name)
                && cause.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(cause);
            }
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = openat(&dir, Path::new(name), flags, Mode::empty())?;
            dir = Dir::from_std_file(next.into());
        }
        Ok(dir)
    }

    /// An existing path, resolved and relative to the root.
    fn existing(&self, path: &Path) -> Result<PathBuf, FileError> {
        let inside = self.inside(path)?;
        let target = self.dir.canonicalize(&inside).map_err(|cause| self.failed(path, cause))?;
        self.refuse_ours(path, &target)?;
        Ok(target)
    }

    /// A new path: its existing part resolved, plus the rest.
    fn new_path(&self, path: &Path, inside: &Path) -> Result<PathBuf, FileError> {
        let mut rest = Vec::new();
        let mut there = inside;
        loop {
            let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                return Err(FileError::Outside(path.to_owned()));
            };
            // A dangling link exists, and writing through it could end up anywhere.
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

    /// Relative to the root. Links are not resolved yet; `..` removes the component before it.
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

    /// An agent may reach the project by another path, such as a link above it.
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
            // cap-std reports a link or a `..` that leads outside this way.
            io::ErrorKind::PermissionDenied if cause.raw_os_error().is_none() => {
                FileError::Outside(path)
            }
            _ => FileError::Io { path, cause },
        }
    }
}

/// What to do about missing directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingDirs {
    Create,
    Fail,
}

/// Stops reading at [`FARTHEST`] or after [`LONGEST`], as if the file ended there.
struct LimitedReader {
    file: io::Take<File>,
    until: Instant,
    gave_up: bool,
}

impl LimitedReader {
    fn with(file: File) -> Self {
        Self { file: file.take(FARTHEST), until: Instant::now() + LONGEST, gave_up: false }
    }
}

impl Read for LimitedReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until || self.file.limit() == 0 {
            self.gave_up = true;
            return Ok(0);
        }
        self.file.read(into)
    }
}

fn not_a_file() -> io::Error {
    io::Error::other("not a regular file")
}

/// A unique temporary name.
fn beside() -> String {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let n = WRITES.fetch_add(1, Ordering::Relaxed);
    format!(".liminal-{}-{n}.tmp", std::process::id())
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
