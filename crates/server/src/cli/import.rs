//! `liminal import`: keeps sessions that were made in a terminal.
//!
//! A server does the work: the running one, or one that is started for it and ends with it.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use liminal_agents::catalogue::Catalogue;
use liminal_contract::{KeepOutside, KeepingProgress, KeepingState};

use crate::config::Config;
use crate::door::Credential;
use crate::instance::Instance;
use crate::neighbour::{self, Ask};
use crate::outside::{Outside, Seen, directories};
use crate::projects::Projects;
use crate::store::{RefsFile, listed_ids};
use crate::terminal::{Stopped, say, sessions};
use crate::{providers, serve};

/// How often the server is asked how far it is.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// In characters.
const BAR: usize = 30;

/// Which sessions, and what to do with them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// Those of this directory.
    pub project: Option<PathBuf>,
    /// Those of every directory that still exists.
    pub all: bool,
    /// Only say which.
    pub list: bool,
}

pub fn import(config: Config, mut what: Import) -> Result<(), Stopped> {
    if let Some(project) = &mut what.project {
        *project = project.canonicalize().map_err(|error| {
            Stopped::usage(format!("cannot use {}: {error}", project.display()))
        })?;
    }
    let what = &what;
    let Some(seen) = meant(&config, what)? else {
        return say("No sessions made in a terminal were found.");
    };
    if what.list {
        return list(&seen);
    }
    if seen.is_empty() {
        return say(nothing(what));
    }
    let named: Vec<String> = match (&what.project, what.all) {
        (Some(project), _) => vec![project.to_string_lossy().into_owned()],
        (None, true) => directories(&seen, &[]).into_iter().map(|found| found.path).collect(),
        (None, false) => Vec::new(),
    };
    let body = serde_json::to_string(&KeepOutside { directories: named });
    let body = body.map_err(Stopped::because)?;
    match Instance::running(&config.data_dir) {
        Some(address) => {
            let token = Credential::load_or_create(&config.data_dir).map_err(Stopped::because)?;
            keep(&address, &token.reveal(), &body)
        }
        None => serve::during(config, move |address, token| keep(address, token, &body)),
    }
}

/// What the arguments mean, of all that is not here. `None` if no session was ever made in a terminal.
fn meant(config: &Config, what: &Import) -> Result<Option<Vec<Seen>>, Stopped> {
    let data_dir = &config.data_dir;
    let catalogue = Catalogue::read(data_dir, &config.overrides(), &providers::own_executable());
    let projects = Projects::open(data_dir).look(<[_]>::to_vec).map_err(Stopped::because)?;
    if projects.is_empty() && what.project.is_none() && !what.all && !what.list {
        let line = "there is no project yet; name one with --project DIR, or import --all";
        return Err(Stopped::usage(line));
    }
    let mut ours: HashSet<_> = RefsFile::open(data_dir).all().into_iter().collect();
    ours.extend(listed_ids(data_dir).map_err(Stopped::because)?);
    let mut seen = Outside::new(&catalogue, data_dir).found_now(&HashSet::new(), projects);
    if seen.is_empty() {
        return Ok(None);
    }
    seen.retain(|seen| !ours.contains(&seen.id));
    match &what.project {
        Some(project) => seen.retain(|seen| seen.found.cwd.starts_with(project)),
        None if what.all || what.list => {}
        None => seen.retain(|seen| seen.project.is_some()),
    }
    Ok(Some(seen))
}

fn list(seen: &[Seen]) -> Result<(), Stopped> {
    let mut by_directory: Vec<&Path> = seen.iter().map(|seen| seen.found.cwd.as_path()).collect();
    by_directory.sort_unstable();
    by_directory.dedup();
    for directory in by_directory {
        say(directory.display())?;
        for each in seen.iter().filter(|seen| seen.found.cwd == directory) {
            let day = each.found.changed.to_string().chars().take(10).collect::<String>();
            let soon = each.deleted_at.map_or("", |_at| "  (due for deletion)");
            let title = liminal_render::visible(&each.found.title);
            say(format_args!("  {day}  {:<12}  {title}{soon}", each.id.cli_type().as_str()))?;
        }
    }
    let due = seen.iter().filter(|seen| seen.deleted_at.is_some()).count();
    say(format_args!("{}, {due} due for deletion within a week", sessions(seen.len())))
}

/// Where there is nothing to import, and where else there may be some.
fn nothing(what: &Import) -> String {
    match (&what.project, what.all) {
        (Some(project), _) => {
            format!("Nothing to import: {} has no other session.", project.display())
        }
        (None, true) => {
            "Nothing to import: every session made in a terminal is here already.".to_owned()
        }
        (None, false) => {
            "Nothing to import: your projects have no other session. `liminal import --list` \
             lists those of all directories."
                .to_owned()
        }
    }
}

fn keep(address: &str, token: &str, body: &str) -> Result<(), Stopped> {
    let mut progress = ask(address, token, &Ask::Post(body))?;
    if progress.total == 0 {
        return say("Nothing is left to import.");
    }
    let mut shown = Shown { on_terminal: io::stdout().is_terminal(), tenths: 0 };
    while progress.state == KeepingState::Keeping {
        shown.show(&progress)?;
        thread::sleep(LOOK_AGAIN);
        progress = ask(address, token, &Ask::Get)?;
    }
    shown.show(&progress)?;
    shown.end()?;
    let KeepingProgress { done, total, failed, .. } = progress;
    let stopped =
        if progress.state == KeepingState::Stopped { "; stopped in the page" } else { "" };
    let unread = match failed {
        0 => String::new(),
        failed => format!("; {failed} could not be read yet; open them to try again"),
    };
    say(format_args!("Kept {done} of {}{stopped}{unread}.", sessions(total)))
}

fn ask(address: &str, token: &str, ask: &Ask<'_>) -> Result<KeepingProgress, Stopped> {
    let answer = neighbour::request(address, "/api/outside/keep", token, ask);
    let (status, body) = answer.map_err(|error| {
        Stopped::because(format!(
            "the server at {address} is not responding: {error}; stop it, then try again"
        ))
    })?;
    let body: serde_json::Value = serde_json::from_str(body.trim()).unwrap_or_default();
    if status != 200 {
        let words = body["message"].as_str().unwrap_or("it refused");
        return Err(Stopped::because(words));
    }
    serde_json::from_value(body).map_err(Stopped::because)
}

/// How the progress is shown: a bar that moves, or a line for each tenth.
struct Shown {
    on_terminal: bool,
    tenths: usize,
}

impl Shown {
    fn show(&mut self, progress: &KeepingProgress) -> Result<(), Stopped> {
        let KeepingProgress { done, total, .. } = *progress;
        let tenths = done * 10 / total.max(1);
        if self.on_terminal {
            let mut stdout = io::stdout().lock();
            let _reader_left = write!(stdout, "\r{}", bar(done, total));
            let _reader_left = stdout.flush();
        } else if tenths > self.tenths {
            self.tenths = tenths;
            say(format_args!("{done} of {total}"))?;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Stopped> {
        if self.on_terminal { say("") } else { Ok(()) }
    }
}

fn bar(done: usize, total: usize) -> String {
    let filled = (done * BAR).checked_div(total).unwrap_or(BAR).min(BAR);
    format!("[{}{}] {done} of {total}", "#".repeat(filled), ".".repeat(BAR - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_full_when_all_is_done() {
        assert_eq!(bar(0, 2), format!("[{}] 0 of 2", ".".repeat(BAR)));
        assert_eq!(bar(1, 2), format!("[{}{}] 1 of 2", "#".repeat(15), ".".repeat(15)));
        assert_eq!(bar(2, 2), format!("[{}] 2 of 2", "#".repeat(BAR)));
        assert_eq!(bar(0, 0), format!("[{}] 0 of 0", "#".repeat(BAR)));
    }
}
