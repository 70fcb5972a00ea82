//! Is the program installed, and which version is it? Changes nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::{AgentEntry, Speaks};
use crate::process::{Budget, GuardCommand, Lines, Started, StdinFrom, Stdout, Stop};

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many lines are searched, and how many characters of one are shown.
const LINES: usize = 10;
const LOGIN_LINES: usize = 60;
const SHOWN: usize = 80;

/// Where the system would find this program: in a directory of `path`, or at `program` itself if that is a path.
pub fn find_program(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    if program.as_bytes().contains(&b'/') {
        return is_program(Path::new(program)).then(|| PathBuf::from(program));
    }
    std::env::split_paths(path?).map(|dir| dir.join(program)).find(|at| is_program(at))
}

fn is_program(at: &Path) -> bool {
    at.metadata().is_ok_and(|at| at.is_file() && at.permissions().mode() & 0o111 != 0)
}

impl AgentEntry {
    /// Runs the program under a guard to get its version. `None` if it prints none, fails, or takes too long.
    pub async fn version(&self, guard: &GuardCommand) -> Option<String> {
        let mut launch = self.launch("/");
        launch.args = self.version_args.clone()?;
        launch.stdin = StdinFrom::Nothing;
        let Started { process, stdin: _, stdout } = launch.spawn(guard).await.ok()?;
        let version = timeout(PATIENCE, version_in(stdout.lines(Budget::default()))).await;
        process.stop(Stop::Kill).await;
        version.ok().flatten()
    }
}

impl AgentEntry {
    /// Runs the program under a guard to learn whether somebody is logged in. `None` if it can't say.
    pub async fn is_logged_in(&self, guard: &GuardCommand) -> Option<bool> {
        // A command of the user's own may be anything.
        if self.speaks != Speaks::Claude || self.version_args.is_none() {
            return None;
        }
        let mut launch = self.launch("/");
        launch.args = ["auth", "status"].map(Into::into).to_vec();
        launch.stdin = StdinFrom::Nothing;
        let Started { process, stdin: _, stdout } = launch.spawn(guard).await.ok()?;
        let said = timeout(PATIENCE, login_in(stdout.lines(Budget::default()))).await;
        process.stop(Stop::Kill).await;
        said.ok().flatten()
    }
}

/// What the output says under `loggedIn`. It is JSON, in one line or several.
async fn login_in(mut lines: Lines<Stdout>) -> Option<bool> {
    for _ in 0..LOGIN_LINES {
        let line = lines.next().await.ok()??;
        let text = String::from_utf8_lossy(&line.bytes);
        if let Some((_, value)) = text.split_once("\"loggedIn\":") {
            return Some(value.trim_start().starts_with("true"));
        }
    }
    None
}

/// The first line with a digit in it, which skips greetings and warnings.
async fn version_in(mut lines: Lines<Stdout>) -> Option<String> {
    for _ in 0..LINES {
        let line = lines.next().await.ok()??;
        let text = String::from_utf8_lossy(&line.bytes);
        if text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Some(
                number_in(&text).chars().filter(|c| !c.is_control()).take(SHOWN).collect(),
            );
        }
    }
    None
}

/// Programs print their name too, before or after the number. A line without a word like `1.2` is shown as it is.
fn number_in(line: &str) -> &str {
    let is_number = |word: &&str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    line.split_whitespace().find(is_number).unwrap_or(line.trim())
}
