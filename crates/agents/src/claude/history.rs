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
pub use self::tell::Teller;
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

/// A history that was told, except for the end of its last turn.
pub struct Told {
    pub teller: Teller,
    /// Where the file ends now; `None` if nothing was read.
    pub mark: Option<HistoryMark>,
}

impl Told {
    /// Ends the last turn, and says how far the file was read.
    pub fn end(mut self, say: Say<'_>) {
        self.teller.end(say);
        self.say_mark(say);
    }

    pub fn say_mark(&self, say: Say<'_>) {
        if let Some(mark) = self.mark.clone() {
            say(Output::Fact(SessionFact::HistoryMark(mark)), 0);
        }
    }
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
    /// Sends the requested part of the history. Its last turn is still open. Blocks, so call it where that is allowed.
    pub fn tell(&self, what: &History, say: Say<'_>) -> io::Result<Told> {
        match what {
            History::Known => Ok(Told { teller: self.teller(), mark: None }),
            History::All => self.tell_all(say),
            History::After { mark, known } => self.tell_after(mark, known, say),
        }
    }

    /// Sends what was added after the mark and continues the turn that `teller` left open. `None` if the conversation
    /// went on from an earlier record, so that all of it must be told again.
    pub fn tell_on(
        &self,
        teller: &mut Teller,
        mark: &HistoryMark,
        say: Say<'_>,
    ) -> io::Result<Option<HistoryMark>> {
        let mut file = self.open()?;
        for from in [mark.bytes.saturating_sub(LOOK_BACK), 0] {
            let index = Index::read(&mut file, Range { from, to: u64::MAX })?;
            if let Some(added) = index.branch_after(&mark.last_id) {
                teller.tell(&mut file, &index, &added, say)?;
                return Ok(index.mark());
            }
        }
        Ok(None)
    }

    /// Whether a message was added after the mark, or before it in place of what was there.
    pub fn has_grown(&self, mark: &HistoryMark) -> io::Result<bool> {
        if fs::metadata(&self.path)?.len() == mark.bytes {
            return Ok(false);
        }
        Ok(self.mark()?.is_none_or(|now| now.last_id != mark.last_id))
    }

    /// Only a regular file: opening a pipe would wait for somebody to write.
    fn open(&self) -> io::Result<File> {
        if !fs::symlink_metadata(&self.path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it isn't a regular file"));
        }
        File::open(&self.path)
    }

    /// Sends a notice about the reading itself.
    pub fn remark(&self, notice: Notice, say: Say<'_>) {
        let now = Timestamp::from(std::time::SystemTime::now());
        self.normaliser().tell(notice, now).into_iter().for_each(|output| say(output, 0));
    }

    /// The current end of the file; `None` while it has no record.
    pub fn mark(&self) -> io::Result<Option<HistoryMark>> {
        let mut file = self.open()?;
        let length = file.metadata()?.len();
        let near =
            Index::read(&mut file, Range { from: length.saturating_sub(LOOK_BACK), to: length })?;
        if let Some(mark) = near.mark() {
            return Ok(Some(mark));
        }
        Ok(Index::read(&mut file, Range::ALL)?.mark())
    }

    fn tell_all(&self, say: Say<'_>) -> io::Result<Told> {
        let mut file = self.open()?;
        let index = Index::read(&mut file, Range::ALL)?;
        let mut teller = self.teller();
        teller.tell(&mut file, &index, &index.active_branch(), say)?;
        Ok(Told { teller, mark: index.mark() })
    }

    /// Sends what was added to the active branch after the mark, except known turns. If the mark's record is no longer
    /// on that branch, the whole history replaces what was sent before.
    fn tell_after(&self, mark: &HistoryMark, known: &[TurnId], say: Say<'_>) -> io::Result<Told> {
        let mut file = self.open()?;
        let length = file.metadata()?.len();
        if length == mark.bytes {
            return Ok(Told { teller: self.teller(), mark: None });
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
                let mut teller = self.teller();
                if !added.is_empty() {
                    teller.leave_out(known);
                    teller.announce(elsewhere_notice());
                    teller.tell(&mut file, &index, &added, say)?;
                }
                return Ok(Told { teller, mark: index.mark() });
            }
        }
        say(Output::HistoryReplaced, 0);
        self.tell_all(say)
    }

    /// Tells what happened elsewhere after everything else was told, and says so.
    pub fn teller_of_more(&self) -> Teller {
        let mut teller = self.teller();
        teller.announce(elsewhere_notice());
        teller
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

fn elsewhere_notice() -> Notice {
    let text = "The following happened outside Liminal Builder, for example in a terminal.";
    notice(Severity::Info, text)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
