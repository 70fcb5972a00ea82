//! A session's history from Claude Code's own file, without a process.
//!
//! Owns where the files are and which bytes of one are read; `index` knows the records and the active branch, `tell`
//! turns them into events through the same normaliser as the live lines. Nothing is ever written here. A file of any
//! size is read twice in a stream, never held: memory grows with the number of records, not with their size.

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
mod tell;

/// Takes what is told, with the bytes it was read from: of all that one record tells, the last output has them.
pub type Say<'a> = &'a mut dyn FnMut(Output, usize);

/// How far before a mark is looked for the record it names, before all of the file is.
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

    /// The folder that is searched.
    pub fn folder(&self) -> &Path {
        &self.projects
    }

    /// The file of a session, found by its id in whatever project it is. `None` also for an id that could lead
    /// elsewhere.
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

/// Whether an id is only an id: letters, digits and dashes.
pub fn is_plain_id(agent_ref: &str) -> bool {
    !agent_ref.is_empty()
        && agent_ref.len() <= 64
        && agent_ref.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whose history is read, and for which project.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Our id of the session.
    pub session: SessionId,
    /// Canonical and absolute.
    pub project: PathBuf,
    /// The file.
    pub path: PathBuf,
}

impl Reader {
    /// Tells what of the history is wanted. Blocks: to be called where that is allowed.
    pub fn tell(&self, what: &History, say: Say<'_>) -> io::Result<()> {
        match what {
            History::Known => Ok(()),
            History::All => self.tell_all(say),
            History::After { mark, known } => self.tell_after(mark, known, say),
        }
    }

    /// Something to say about the reading itself.
    pub fn remark(&self, notice: Notice, say: Say<'_>) {
        let now = Timestamp::from(std::time::SystemTime::now());
        self.normaliser().tell(notice, now).into_iter().for_each(|output| say(output, 0));
    }

    /// How far the file goes now; `None` while it has no record.
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

    /// What was added behind the mark on the active branch, but for turns that are known. Where the record of the mark
    /// is no longer on it, all of the history takes the place of what was told before.
    fn tell_after(&self, mark: &HistoryMark, known: &[TurnId], say: Say<'_>) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        if length == mark.bytes {
            return Ok(());
        }
        if length > mark.bytes {
            for from in [mark.bytes.saturating_sub(LOOK_BACK), 0] {
                let index = Index::read(&mut file, Range { from, to: u64::MAX })?;
                let Some(added) = index.branch_after(&mark.last_id) else { continue };
                if !added.is_empty() {
                    let mut teller = self.teller();
                    teller.leave_out(known);
                    teller.announce(notice(
                        Severity::Info,
                        "What follows was said outside Liminal Builder, for example in a terminal.",
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
        // Turns begin with the id of a record, so this is only for what belongs to none.
        let mint = || TurnId::new(Uuid::now_v7().to_string());
        let (session, project) = (self.session.clone(), self.project.clone());
        Normaliser::new(session, String::new(), project, None, Box::new(mint))
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
