//! A file that is replaced as a whole. A crash leaves the old one or the new one, and once the new one has taken its
//! place, it stays there.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The new content of a file, on disk beside it.
pub struct Replacement {
    file: PathBuf,
    temporary: PathBuf,
}

impl Replacement {
    /// Only the user may read it.
    pub fn write(
        file: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut temporary = OsString::from(file);
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        let mut out = BufWriter::new(out);
        write(&mut out)?;
        out.into_inner()?.sync_all()?;
        Ok(Self { file: file.to_owned(), temporary })
    }

    /// Where the new content is for now.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    pub fn take_place(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.file)?;
        match self.file.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_in_one_step_and_only_its_user_may_read_it() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("limit");
        fs::write(&file, "old").unwrap();
        let new = Replacement::write(&file, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_to_string(new.path()).unwrap(), "new");
        new.take_place().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
