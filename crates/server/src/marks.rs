//! The marks of servers whose agents may still run: ours, and those of servers that were killed.
//!
//! Guards end an agent whose server is gone. If both were killed at once, the agent's processes stay behind; the next
//! server of the same data directory finds them by the mark kept here.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use liminal_agents::process::{ServerMark, end_leftovers};

/// One mark a line.
const FILE: &str = "processes";

/// The record of marks. Only for the holder of the data directory's lock: all earlier servers are dead then.
#[derive(Debug, Clone)]
pub struct Marks {
    path: Arc<PathBuf>,
    own: ServerMark,
    recorded: Arc<Mutex<Vec<ServerMark>>>,
}

impl Marks {
    /// Records a mark for this server. A separate thread ends the processes that earlier servers left.
    pub fn record(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(FILE);
        let earlier: Vec<ServerMark> = match fs::read_to_string(&path) {
            Ok(lines) => lines.lines().filter_map(|line| line.parse().ok()).collect(),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(cause),
        };
        let marks = Self {
            path: Arc::new(path),
            own: ServerMark::random(),
            recorded: Arc::new(Mutex::new(earlier.clone())),
        };
        marks.change(|recorded| recorded.push(marks.own))?;
        if !earlier.is_empty() {
            let swept = marks.clone();
            thread::Builder::new().name("leftovers".into()).spawn(move || {
                end_leftovers(&earlier);
                swept.forget(|mark| earlier.contains(&mark));
            })?;
        }
        Ok(marks)
    }

    /// The mark on every process that this server starts.
    pub fn own(&self) -> ServerMark {
        self.own
    }

    /// Called when no process of this server is left.
    pub fn close(&self) {
        self.forget(|mark| mark == self.own);
    }

    fn forget(&self, is_over: impl Fn(ServerMark) -> bool) {
        let forgotten = self.change(|recorded| recorded.retain(|mark| !is_over(*mark)));
        if let Err(error) = forgotten {
            let file = self.path.display();
            tracing::warn!(%error, %file, "a mark was not removed; the next start looks for its processes");
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<ServerMark>)) -> io::Result<()> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut recorded);
        if recorded.is_empty() {
            return fs::remove_file(&*self.path);
        }
        let beside = self.path.with_extension("tmp");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        for mark in recorded.iter() {
            writeln!(file, "{mark}")?;
        }
        fs::rename(&beside, &*self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stopped_leaves_no_mark_and_a_killed_one_does() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        Marks::record(dir.path()).unwrap().close();
        assert!(!file.exists());

        let killed = Marks::record(dir.path()).unwrap().own();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{killed}\n"));
        let next = Marks::record(dir.path()).unwrap();
        // The sweep forgets the killed server once none of its processes is left.
        while fs::read_to_string(&file).unwrap() != format!("{}\n", next.own()) {
            thread::yield_now();
        }
        next.close();
        assert!(!file.exists());
    }
}
