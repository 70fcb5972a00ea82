//! A session's history from Claude Code's own file, without a process.
//!
//! Owns where the files are and which bytes of one are read; `index` knows the records and the active branch, `tell`
//! turns them into events through the same normaliser as the live lines. Never writes to these files. A file of any
//! size is streamed twice, never loaded: memory grows with the number of records, not with their size.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use liminal_contract::{SessionId, Severity, Timestamp, TurnId};
use liminal_stream::{HistoryMark, Notice, SessionFact};
use uuid::Uuid;

use self::index::{Index, Range};
use self::tell::Teller;
use super::normalise::{Normaliser, notice};
use crate::{History, Output};

mod index;
mod place;
mod tell;

pub use self::place::record_at;

/// Receives each output and the number of bytes it was read from. Of one record's outputs, the last carries them all.
pub type Say<'a> = &'a mut dyn FnMut(Output, usize);

/// How far before a mark to look for its record, in bytes, before searching the whole file.
const LOOK_BACK: u64 = 256 * 1024;

/// The folder where Claude Code keeps its sessions.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    projects: PathBuf,
}

impl SessionFiles {
    /// Below a configuration directory (`CLAUDE_CONFIG_DIR`, or `~/.claude`).
    pub fn below(config_dir: &Path) -> Self {
        Self { projects: config_dir.join("projects") }
    }

    pub fn folder(&self) -> &Path {
        &self.projects
    }

    /// The file of a session, in whichever project it is. `None` also for an id that could point outside the folder.
    pub fn find(&self, agent_ref: &str) -> Option<PathBuf> {
        if !is_plain_id(agent_ref) {
            return None;
        }
        let name = format!("{agent_ref}.jsonl");
        let mut found: Vec<(std::time::SystemTime, PathBuf)> = fs::read_dir(&self.projects)
            .ok()?
            .filter_map(Result::ok)
            .map(|project| project.path().join(&name))
            .filter_map(|path| {
                // A link could lead out of the folder.
                let about = fs::symlink_metadata(&path).ok()?;
                about.is_file().then(|| (about.modified().unwrap_or(std::time::UNIX_EPOCH), path))
            })
            .collect();
        found.sort();
        found.pop().map(|(_, path)| path)
    }
}

/// Whether an id has only letters, digits and dashes, so that it is safe in a path.
pub fn is_plain_id(agent_ref: &str) -> bool {
    !agent_ref.is_empty()
        && agent_ref.len() <= 64
        && agent_ref.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[derive(Debug, Clone)]
pub struct Reader {
    /// Our id of the session.
    pub session: SessionId,
    /// Canonical and absolute.
    pub project: PathBuf,
    pub path: PathBuf,
}

impl Reader {
    /// Sends the requested part of the history. Blocks, so call it where that is allowed.
    pub fn tell(&self, what: &History, say: Say<'_>) -> io::Result<()> {
        match what {
            History::Known => Ok(()),
            History::All => self.tell_all(say),
            History::After { mark, known } => self.tell_after(mark, known, say),
        }
    }

    /// Sends a notice about the reading itself.
    pub fn remark(&self, notice: Notice, say: Say<'_>) {
        let now = Timestamp::from(std::time::SystemTime::now());
        self.normaliser().tell(notice, now).into_iter().for_each(|output| say(output, 0));
    }

    /// The current end of the file; `None` while it has no record.
    pub fn mark(&self) -> io::Result<Option<HistoryMark>> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        let near =
            Index::read(&mut file, Range { from: length.saturating_sub(LOOK_BACK), to: length })?;
        if let Some(mark) = near.mark() {
            return Ok(Some(mark));
        }
        Ok(Index::read(&mut file, Range::ALL)?.mark())
    }

    fn tell_all(&self, say: Say<'_>) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let index = Index::read(&mut file, Range::ALL)?;
        let mut teller = self.teller();
        teller.tell(&mut file, &index, &index.active_branch(), say)?;
        teller.end(say);
        if let Some(mark) = index.mark() {
            say(Output::Fact(SessionFact::HistoryMark(mark)), 0);
        }
        Ok(())
    }

    /// Sends what was added to the active branch after the mark, except known turns. If the mark's record is no longer
    /// on that branch, the whole history replaces what was sent before.
    fn tell_after(&self, mark: &HistoryMark, known: &[TurnId], say: Say<'_>) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        if length == mark.bytes {
            return Ok(());
        }
        if length > mark.bytes {
            for from in [mark.bytes.saturating_sub(LOOK_BACK), 0] {
                let index = Index::read(&mut file, Range { from, to: u64::MAX })?;
                let added = if *mark == HistoryMark::START {
                    Some(index.active_branch())
                } else {
                    index.branch_after(&mark.last_id)
                };
                let Some(added) = added else { continue };
                if !added.is_empty() {
                    let mut teller = self.teller();
                    teller.leave_out(known);
                    teller.announce(notice(
                        Severity::Info,
                        "The following happened outside Liminal Builder, for example in a terminal.",
                    ));
                    teller.tell(&mut file, &index, &added, say)?;
                    teller.end(say);
                }
                if let Some(mark) = index.mark() {
                    say(Output::Fact(SessionFact::HistoryMark(mark)), 0);
                }
                return Ok(());
            }
        }
        say(Output::HistoryReplaced, 0);
        self.tell_all(say)
    }

    fn teller(&self) -> Teller {
        Teller::new(self.normaliser(), self.path.with_extension("").join("subagents"))
    }

    fn normaliser(&self) -> Normaliser {
        // Turns take their id from a record, so this is only for what belongs to none.
        let mint = || TurnId::new(Uuid::now_v7().to_string());
        let (session, project) = (self.session.clone(), self.project.clone());
        Normaliser::new(session, String::new(), project, None, Box::new(mint))
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
