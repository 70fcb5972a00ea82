//! `liminal backup PATH`: a consistent copy of everything that cannot be made anew, also while the server runs.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use super::Stopped;
use crate::{data_dir, journal};

/// Each is replaced in one step when it changes, so a plain copy is whole.
const FILES: [&str; 4] = ["projects.json", "sessions.json", "trust.json", "agents.json"];

/// Copies the data directory's databases and lists into a new directory. The token stays where it is, and the search
/// index is made anew by itself. Returns what to tell the user.
pub fn backup(data_dir: &Path, to: &Path) -> Result<String, Stopped> {
    let Some(data_dir) = data_dir::check(data_dir).map_err(Stopped::because)? else {
        return Err(Stopped::because(format!(
            "there is nothing in {} yet; name another directory with --data-dir",
            data_dir.display()
        )));
    };
    let fails = |what: &Path, error: &dyn std::fmt::Display| {
        Stopped::because(format!(
            "{} could not be written: {error}; remove it and try again elsewhere",
            what.display()
        ))
    };
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|error| {
        Stopped::because(format!(
            "cannot make the directory {}: {error}; name one that is not there yet",
            to.display()
        ))
    })?;
    // The lists first: a session that is added meanwhile may then have words and no entry, never the other way round.
    for file in FILES {
        let (from, to) = (data_dir.join(file), to.join(file));
        if from.exists() {
            fs::copy(&from, &to).map_err(|error| fails(&to, &error))?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600))
                .map_err(|error| fails(&to, &error))?;
        }
    }
    journal::copy(&data_dir, to).map_err(|error| fails(to, &error))?;
    let to = to.display();
    Ok(format!("All that is worth keeping is in {to}. `liminal --data-dir {to}` opens it."))
}
