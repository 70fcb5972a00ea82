//! Checks that the journal's files are still where they were opened. SQLite keeps writing to deleted files, and
//! everything written there would be lost when the server stops.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use liminal_contract::Timestamp;
use rusqlite::Connection;

use super::open::{beside, restrict};

/// The files by name and inode. They are checked by name: opening and closing one would release SQLite's locks.
pub struct Presence {
    database: PathBuf,
    files: Vec<(PathBuf, u64)>,
    /// The file that the transcripts were saved to when the files were found missing.
    rescued: Option<PathBuf>,
}

impl Presence {
    pub fn of(path: &Path) -> Self {
        let files = ["", "-wal"].into_iter().filter_map(|suffix| {
            let file = beside(path, suffix);
            Some((file.clone(), inode(&file)?))
        });
        Self { database: path.to_owned(), files: files.collect(), rescued: None }
    }

    pub fn database(&self) -> &Path {
        &self.database
    }

    /// The first file that was removed or replaced.
    pub fn missing(&self) -> Option<PathBuf> {
        let missing = self.files.iter().find(|(file, opened)| inode(file) != Some(*opened))?;
        Some(missing.0.clone())
    }

    /// Saves everything committed so far to a file beside the missing ones, once.
    pub fn rescue(&mut self, connection: &Connection) -> Result<PathBuf, String> {
        if let Some(rescued) = &self.rescued {
            return Ok(rescued.clone());
        }
        let stamp = Timestamp::from(SystemTime::now()).to_string().replace([':', '.'], "-");
        let to = beside(self.database(), &format!(".rescued-{stamp}"));
        restrict(&to).map_err(|error| error.to_string())?;
        connection
            .execute("VACUUM INTO ?1", [to.to_string_lossy()])
            .map_err(|error| error.to_string())?;
        self.rescued = Some(to.clone());
        Ok(to)
    }
}

fn inode(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|found| found.ino())
}
