//! Programs that somebody else started, such as an agent in a terminal. Only looks. On Linux from `/proc`; elsewhere
//! nothing can be said.

use std::path::Path;
use std::time::SystemTime;

/// A process that we did not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    pub started: SystemTime,
    pub arguments: Vec<String>,
}

/// The processes that work in this directory and whose arguments, with the program first, `is_meant` selects. `None`
/// where processes can't be seen.
#[cfg(target_os = "linux")]
pub fn others_in(directory: &Path, is_meant: impl Fn(&[String]) -> bool) -> Option<Vec<Other>> {
    linux::others_in(directory, is_meant)
}

#[cfg(not(target_os = "linux"))]
pub fn others_in(_directory: &Path, _is_meant: impl Fn(&[String]) -> bool) -> Option<Vec<Other>> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::Other;
    use crate::process::mark::NAME;

    /// What the kernel counts the start of a process in, as user space sees it.
    const TICKS_PER_SECOND: f64 = 100.0;

    pub fn others_in(directory: &Path, is_meant: impl Fn(&[String]) -> bool) -> Option<Vec<Other>> {
        let entries = fs::read_dir("/proc").ok()?;
        let running: f64 =
            fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
        let boot = SystemTime::now().checked_sub(Duration::try_from_secs_f64(running).ok()?)?;
        let other = |at: &Path| {
            // A link that we may read only in processes of our own user, which are those that can be meant.
            if fs::read_link(at.join("cwd")).ok()? != directory {
                return None;
            }
            let arguments = words(&fs::read(at.join("cmdline")).ok()?);
            if !is_meant(&arguments) || is_ours(at) {
                return None;
            }
            Some(Other { started: boot + since_boot(at)?, arguments })
        };
        Some(entries.flatten().filter_map(|entry| other(&entry.path())).collect())
    }

    fn words(bytes: &[u8]) -> Vec<String> {
        let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Whether it has the mark of a process that we started, or a descendant of one.
    fn is_ours(at: &Path) -> bool {
        let mark = format!("{NAME}=");
        let environment = fs::read(at.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|each| each.starts_with(mark.as_bytes()))
    }

    fn since_boot(at: &Path) -> Option<Duration> {
        let stat = fs::read_to_string(at.join("stat")).ok()?;
        // After the name in parentheses, which may contain anything, the start is the twentieth field.
        let ticks: f64 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()?;
        Duration::try_from_secs_f64(ticks / TICKS_PER_SECOND).ok()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_program_is_seen_in_its_directory_unless_we_started_it() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().canonicalize().unwrap();
        let started = |marked: bool| {
            let mut command = Command::new("sleep");
            command.arg0("claude").arg("600").current_dir(&directory);
            if marked {
                command.env(super::super::mark::NAME, "x");
            }
            command.spawn().unwrap()
        };
        let mut processes = [started(false), started(true)];
        let is_claude = |words: &[String]| words.first().is_some_and(|program| program == "claude");
        let found = others_in(&directory, is_claude).unwrap();
        let elsewhere = others_in(Path::new("/"), is_claude).unwrap();
        for process in &mut processes {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].arguments, ["claude", "600"]);
        let age = SystemTime::now().duration_since(found[0].started).unwrap_or_default();
        assert!(age < Duration::from_secs(3600), "{age:?}");
        assert!(elsewhere.is_empty());
    }
}
