//! A session that another program works on: what it adds to the file is told as it comes, and whether it still does.
//!
//! Claude Code says nowhere that it has a session open. A process of it in the session's directory may have: each has
//! one session, so the files that changed last since it began are taken for theirs. Where no process can be seen, or
//! none is, a file that grows is being worked on, until it was quiet for a while.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use liminal_stream::{HistoryMark, SessionFact};

use super::history::{Reader, Say, Teller, Told};
use crate::process::{Other, others_in};
use crate::{Elsewhere, Output};

/// A file that did not grow for this long is not being worked on.
const QUIET: Duration = Duration::from_secs(120);
/// How often to look for processes while somebody works.
const LOOK_FOR_PROCESSES: Duration = Duration::from_secs(3);

/// By how much the start of a process may be misjudged.
const ROUNDING: Duration = Duration::from_secs(1);

/// A session without a process of ours, while somebody looks at it.
pub(super) struct Watch {
    reader: Reader,
    mark: HistoryMark,
    /// Of the file, up to which it was told.
    length: u64,
    /// Of a turn that goes on.
    teller: Option<Teller>,
    /// When another program last added to it.
    grown: Option<SystemTime>,
    process: Process,
    looked: Option<Instant>,
    told: bool,
}

/// Whether another process has the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    Seen,
    None,
    /// This system doesn't show them.
    Unknown,
}

impl Watch {
    /// Of a file that ends at the mark: nobody added to it.
    pub fn unchanged(reader: Reader, mark: HistoryMark) -> Self {
        let length = mark.bytes;
        Self {
            reader,
            mark,
            length,
            teller: None,
            grown: None,
            process: Process::None,
            looked: None,
            told: false,
        }
    }

    /// Of a file that was just told. Its last turn stays open if it goes on elsewhere; otherwise it ends.
    pub fn told(reader: Reader, told: Told, ours: &HashSet<String>, say: Say<'_>) -> Option<Self> {
        let mark = told.mark.clone()?;
        told.say_mark(say);
        let grown = fs::metadata(&reader.path).and_then(|about| about.modified()).ok();
        let mut watch = Self { grown, teller: Some(told.teller), ..Self::unchanged(reader, mark) };
        if watch.tell_state(ours, say) == Elsewhere::Active
            && let Some(teller) = &mut watch.teller
        {
            teller.tell_typed(say);
        }
        Some(watch)
    }

    /// Tells what was added since, and whether somebody still works on it. `ours` are the sessions that processes of
    /// ours have. Blocks.
    pub fn look(&mut self, ours: &HashSet<String>, say: Say<'_>) -> Elsewhere {
        // A file that is gone doesn't grow.
        let about = fs::metadata(&self.reader.path).ok();
        match about {
            Some(about) if about.len() != self.length => {
                let mut teller = self.teller.take().unwrap_or_else(|| self.reader.teller_of_more());
                let Ok(Some(mark)) = self.reader.tell_on(&mut teller, &self.mark, say) else {
                    teller.end(say);
                    return Elsewhere::Grown;
                };
                teller.tell_typed(say);
                if mark.last_id != self.mark.last_id {
                    self.grown = about.modified().ok();
                    self.looked = None;
                }
                self.length = about.len();
                self.mark = mark.clone();
                self.teller = Some(teller);
                say(Output::Fact(SessionFact::HistoryMark(mark)), 0);
            }
            // The blocks of an answer are written one by one, so its end is believed when nothing follows.
            Some(_) | None => self.end_turn_if(|teller| !teller.is_in_turn(), say),
        }
        self.tell_state(ours, say)
    }

    fn tell_state(&mut self, ours: &HashSet<String>, say: Say<'_>) -> Elsewhere {
        let is_active = self.is_active(ours);
        if !is_active {
            self.end_turn_if(|_| true, say);
        }
        if is_active != self.told {
            self.told = is_active;
            say(Output::Fact(SessionFact::Elsewhere(is_active)), 0);
        }
        if is_active { Elsewhere::Active } else { Elsewhere::Quiet }
    }

    fn end_turn_if(&mut self, is_over: impl FnOnce(&Teller) -> bool, say: Say<'_>) {
        if let Some(mut teller) = self.teller.take_if(|teller| is_over(teller)) {
            teller.end(say);
        }
    }

    fn is_active(&mut self, ours: &HashSet<String>) -> bool {
        // Nobody ever added to it: no process is looked for.
        let Some(grown) = self.grown else { return false };
        if self.looked.is_none_or(|at| at.elapsed() >= LOOK_FOR_PROCESSES) {
            self.looked = Some(Instant::now());
            self.process = process_with(&self.reader, ours);
        }
        let is_recent = SystemTime::now().duration_since(grown).unwrap_or_default() < QUIET;
        match self.process {
            Process::Seen => true,
            Process::Unknown => is_recent,
            // It may run where we can't see it, so a turn that goes on counts.
            Process::None => is_recent && self.teller.as_ref().is_some_and(Teller::is_in_turn),
        }
    }
}

/// Whether a `claude` of somebody else has this session.
fn process_with(reader: &Reader, ours: &HashSet<String>) -> Process {
    let Some(others) = others_in(&reader.project, is_claude) else { return Process::Unknown };
    if has(&others, &reader.path, ours) { Process::Seen } else { Process::None }
}

fn is_claude(arguments: &[String]) -> bool {
    let name = |word: &String| Path::new(word).file_name().map(|name| name.to_owned());
    let mut words = arguments.iter().take(2).filter_map(name);
    words.any(|name| name == "claude" || name == "claude.exe")
        || arguments.get(1).is_some_and(|script| script.contains("/claude-code/"))
}

/// Named by an argument, or among the last files that changed since they began: one for each of them.
fn has(others: &[Other], path: &Path, ours: &HashSet<String>) -> bool {
    let id = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let Some(own) = id(path) else { return false };
    if others.iter().any(|other| other.arguments.iter().any(|word| word.contains(&own))) {
        return true;
    }
    let Some(first) = others.iter().map(|other| other.started).min() else { return false };
    let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let since = |at: &SystemTime| *at + ROUNDING >= first;
    let Some(own_change) = changed(path).filter(since) else { return false };
    let folder = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let newer = folder.into_iter().flatten().flatten().map(|entry| entry.path()).filter(|other| {
        other.extension().is_some_and(|extension| extension == "jsonl")
            && id(other).is_some_and(|id| id != own && !ours.contains(&id))
            && changed(other).is_some_and(|at| at > own_change)
    });
    newer.count() < others.len()
}

#[cfg(test)]
mod tests;
