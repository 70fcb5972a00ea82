//! `liminal backup PATH`: a consistent copy of everything that can't be rebuilt, even while the server runs.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use crate::attachments::Attachments;
use crate::terminal::Stopped;
use crate::workspaces::Discarded;
use crate::{data_dir, journal, workspaces};

/// Each is replaced in one step when it changes, so a plain copy is consistent.
const FILES: [&str; 8] = [
    "projects.json",
    "sessions.json",
    "trust.json",
    "choices.json",
    "comparisons.json",
    "agent-ids.json",
    "keeping.json",
    "agents.json",
];

/// Copies the data directory's databases and lists into a new directory. The token is not copied, and the
/// search index is rebuilt automatically. Returns the text to print.
pub fn backup(data_dir: &Path, to: &Path) -> Result<String, Stopped> {
    let Some(data_dir) = data_dir::check(data_dir).map_err(Stopped::because)? else {
        return Err(Stopped::because(format!(
            "the data directory {} does not exist; choose another with --data-dir",
            data_dir.display()
        )));
    };
    let fails = |path: &Path, error: &dyn std::fmt::Display| {
        Stopped::because(format!(
            "{} could not be written: {error}; remove it and try again with another directory",
            path.display()
        ))
    };
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|error| {
        Stopped::because(format!(
            "cannot create the directory {}: {error}; choose one that does not exist yet",
            to.display()
        ))
    })?;
    // The journal first: it keeps every change of the lists until the file has it.
    journal::copy(&data_dir, to).map_err(|error| fails(to, &error))?;
    // After the journal: whatever it refers to is never deleted.
    Attachments::open(&data_dir).copy(to).map_err(|error| fails(to, &error))?;
    for file in FILES {
        let (from, to) = (data_dir.join(file), to.join(file));
        if from.exists() {
            fs::copy(&from, &to).map_err(|error| fails(&to, &error))?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600))
                .map_err(|error| fails(&to, &error))?;
        }
    }
    let to = to.display();
    let mut words = format!("The backup is in {to}. Open it with `liminal --data-dir {to}`.");
    let worktrees = workspaces::existing(&data_dir);
    if !worktrees.is_empty() {
        words.push_str("\nSessions have worktrees that are not part of it:");
        worktrees.iter().for_each(|path| words.push_str(&format!("\n  {}", path.display())));
    }
    let discarded = Discarded::beside(&data_dir);
    let kept = discarded.read();
    if !kept.is_empty() {
        words.push_str("\nNor are these discarded ones:");
        kept.iter().for_each(|about| words.push_str(&format!("\n  {}", about.words(&discarded))));
    }
    Ok(words)
}
