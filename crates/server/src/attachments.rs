//! Attached pictures and texts: files named after their content, in a directory beside the journal.
//!
//! A name depends on type and content, so the same picture is stored once, however often it is attached. Files are
//! never decoded, only their headers are read. The journal knows which sessions refer to one; a file that none refers
//! to is deleted a day after it was last uploaded, attached or looked at.

mod header;
mod mentions;

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

pub use header::{Header, Kind};
pub use mentions::{file_uri, mentions, within};

/// The directory in the data directory.
pub const DIRECTORY: &str = "attachments";

/// In bytes.
pub const LARGEST: usize = 20 * 1024 * 1024;

/// How long a file is kept that nobody refers to.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

pub struct Attachments {
    directory: PathBuf,
    /// Held while a file is kept or deleted, so that none is deleted that was just attached. Has the names of those
    /// that were uploaded since they were last attached: a message that is being written may refer to them.
    changing: Mutex<HashSet<String>>,
}

impl Attachments {
    /// Creates nothing: the directory is made for the first attachment.
    pub fn open(data_dir: &Path) -> Self {
        Self { directory: data_dir.join(DIRECTORY), changing: Mutex::default() }
    }

    /// Stores these bytes and returns their name. On disk when this returns.
    pub fn put(&self, kind: Kind, bytes: &[u8]) -> io::Result<String> {
        let name = name(kind, bytes);
        let mut unattached = self.lock();
        unattached.insert(name.clone());
        if self.touch(&name)? {
            return Ok(name);
        }
        match fs::DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let unfinished = self.directory.join(format!("{name}.new"));
        let written = write(&unfinished, bytes)
            .and_then(|()| fs::rename(&unfinished, self.directory.join(&name)))
            .and_then(|()| File::open(&self.directory)?.sync_all());
        if written.is_err() {
            let _may_not_exist = fs::remove_file(&unfinished);
        }
        written.map(|()| name)
    }

    /// Where a stored file is; `None` for a name that is not one of ours.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        Kind::of_name(name).map(|_| self.directory.join(name))
    }

    /// Its bytes; `None` if it is not stored.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(path) = self.path(name) else { return Ok(None) };
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Starts its day over. Returns whether it is stored.
    pub fn renew(&self, name: &str) -> io::Result<bool> {
        let _until_kept = self.lock();
        self.touch(name)
    }

    /// The same; a message that is sent refers to it from now on.
    pub fn keep(&self, name: &str) -> io::Result<bool> {
        let mut unattached = self.lock();
        unattached.remove(name);
        self.touch(name)
    }

    /// Deletes the files that are not `used` and whose day is over by `now`.
    pub fn sweep(&self, used: impl Fn(&str) -> bool, now: SystemTime) -> io::Result<usize> {
        self.delete(|_, name, changed| {
            !used(name) && now.duration_since(changed).is_ok_and(|age| age >= KEPT)
        })
    }

    /// Deletes these files, even if their day is not over, except those that were uploaded again since, or attached
    /// after the moment `unused` at which nobody referred to them.
    pub fn forget(&self, names: &[String], unused: SystemTime) -> io::Result<usize> {
        self.delete(|unattached, name, changed| {
            names.iter().any(|each| each == name) && !unattached.contains(name) && changed < unused
        })
    }

    /// Copies every file to another data directory.
    pub fn copy(&self, to: &Path) -> io::Result<()> {
        let to = to.join(DIRECTORY);
        let names = self.names()?;
        if !names.is_empty() {
            fs::DirBuilder::new().mode(0o700).create(&to)?;
        }
        for name in names {
            match fs::copy(self.directory.join(&name), to.join(&name)) {
                // Deleted in the meantime, so nobody refers to it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => {
                    copied?;
                    fs::set_permissions(to.join(&name), Permissions::from_mode(0o600))?;
                }
            }
        }
        Ok(())
    }

    /// `is_over` gets those that are not attached, the name and the time of each file.
    fn delete(
        &self,
        is_over: impl Fn(&HashSet<String>, &str, SystemTime) -> bool,
    ) -> io::Result<usize> {
        let mut deleted = 0;
        for name in self.names()? {
            let path = self.directory.join(&name);
            let mut unattached = self.lock();
            let Ok(changed) = fs::metadata(&path).and_then(|file| file.modified()) else {
                continue;
            };
            if is_over(&unattached, &name, changed) {
                fs::remove_file(&path)?;
                unattached.remove(&name);
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        // One that a crash left unfinished counts as any other that nobody refers to.
        let is_ours = |name: &String| Kind::of_name(name.trim_end_matches(".new")).is_some();
        Ok(names.filter(is_ours).collect())
    }

    fn touch(&self, name: &str) -> io::Result<bool> {
        let Some(path) = self.path(name) else { return Ok(false) };
        match File::options().append(true).open(path) {
            Ok(file) => file.set_modified(SystemTime::now()).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name that these bytes are stored under.
pub fn name(kind: Kind, bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hash = digest.iter().take(16).fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    format!("{hash}-{}.{}", bytes.len(), kind.extension())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests {
    use super::*;

    fn later(hours: u64) -> SystemTime {
        SystemTime::now() + Duration::from_secs(hours * 60 * 60)
    }

    #[test]
    fn the_same_bytes_are_stored_once_and_only_our_names_are_read() {
        let home = tempfile::tempdir().unwrap();
        let attachments = Attachments::open(home.path());
        assert_eq!(attachments.sweep(|_| false, SystemTime::now()).unwrap(), 0);
        let name = attachments.put(Kind::Text, b"hello").unwrap();
        assert_eq!(attachments.put(Kind::Text, b"hello").unwrap(), name);
        assert_eq!(attachments.names().unwrap(), std::slice::from_ref(&name));
        assert_eq!(attachments.read(&name).unwrap().unwrap(), b"hello");
        std::fs::write(home.path().join("secret.txt"), "secret").unwrap();
        for name in ["../secret.txt", "secret.txt", "", "..", "/etc/passwd", "ab-1.txt.new"] {
            assert_eq!(attachments.read(name).unwrap(), None, "{name}");
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = attachments.path(&name).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    }

    #[test]
    fn a_file_that_was_uploaded_again_outlives_the_session_that_had_it() {
        let home = tempfile::tempdir().unwrap();
        let attachments = Attachments::open(home.path());
        let name = attachments.put(Kind::Text, b"twice").unwrap();
        assert!(attachments.keep(&name).unwrap(), "sent");
        attachments.put(Kind::Text, b"twice").unwrap();
        assert!(attachments.renew(&name).unwrap(), "a draft shows it");
        let names = std::slice::from_ref(&name);
        assert_eq!(attachments.forget(names, later(1)).unwrap(), 0);
        assert!(attachments.keep(&name).unwrap(), "sent again");
        assert_eq!(attachments.forget(names, later(1)).unwrap(), 1);
    }

    #[test]
    fn a_file_that_was_attached_since_nobody_referred_to_it_is_not_deleted() {
        let home = tempfile::tempdir().unwrap();
        let attachments = Attachments::open(home.path());
        let name = attachments.put(Kind::Text, b"shared").unwrap();
        let unused = SystemTime::now();
        assert!(attachments.keep(&name).unwrap(), "another session sends it");
        assert_eq!(attachments.forget(std::slice::from_ref(&name), unused).unwrap(), 0);
        assert_eq!(attachments.forget(&[name], later(1)).unwrap(), 1);
    }

    #[test]
    fn what_was_deleted_counts_as_never_uploaded() {
        let home = tempfile::tempdir().unwrap();
        let attachments = Attachments::open(home.path());
        attachments.put(Kind::Text, b"unsent").unwrap();
        assert_eq!(attachments.sweep(|_| false, later(25)).unwrap(), 1);
        assert!(attachments.lock().is_empty());
    }

    #[test]
    fn a_file_is_deleted_a_day_after_it_was_last_used_and_not_while_someone_refers_to_it() {
        let home = tempfile::tempdir().unwrap();
        let attachments = Attachments::open(home.path());
        let [used, idle] =
            [&b"used"[..], b"idle"].map(|it| attachments.put(Kind::Text, it).unwrap());
        let is_used = |name: &str| name == used;
        assert_eq!(attachments.sweep(is_used, later(23)).unwrap(), 0);
        assert!(attachments.keep(&idle).unwrap());
        assert_eq!(attachments.sweep(is_used, later(25)).unwrap(), 1);
        assert!(!attachments.keep(&idle).unwrap());
        assert_eq!(attachments.names().unwrap(), std::slice::from_ref(&used));
        assert!(attachments.keep(&used).unwrap());
        assert_eq!(attachments.forget(&[used], later(1)).unwrap(), 1);
    }
}
