//! Shared by the tests of processes: the hostile agent, and checks for processes that are still running.

#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::collections::HashMap;
use std::time::{Duration, Instant};

use liminal_agents::process::{Budget, GuardCommand, Launch, Lines, Stdout};

/// The agent, and its guard.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hostile-agent");

/// The promise: nothing is left after 10 seconds.
const PROMISED: Duration = Duration::from_secs(10);

pub fn guard() -> GuardCommand {
    GuardCommand::new(PROGRAM)
}

pub fn hostile(role: &str) -> Launch {
    Launch::new("Hostile", PROGRAM, "/").args([role])
}

pub fn shell(script: &str) -> Launch {
    Launch::new("Shell", "/bin/sh", "/").args(["-c", script])
}

/// Reads `name pid` lines until all these names have appeared.
pub async fn pids<const N: usize>(stdout: Stdout, names: [&str; N]) -> [i32; N] {
    let mut lines = stdout.lines(Budget::default());
    let pids = pids_in(&mut lines, names).await;
    // Nothing is read after this, but the pipe stays open.
    std::mem::forget(lines);
    pids
}

pub async fn pids_in<R: tokio::io::AsyncRead + Unpin, const N: usize>(
    lines: &mut Lines<R>,
    names: [&str; N],
) -> [i32; N] {
    let mut heard = HashMap::new();
    while !names.iter().all(|name| heard.contains_key(*name)) {
        let line = lines.next().await.unwrap().expect("it ended before it said who it is");
        let text = String::from_utf8(line.bytes).unwrap();
        let (name, pid) = text.split_once(' ').expect("name and pid");
        heard.insert(name.to_owned(), pid.parse::<i32>().unwrap());
    }
    names.map(|name| heard[name])
}

/// Whether it is running. A zombie is not.
pub fn lives(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
        && state(pid) != Some('Z')
}

/// The state letter, if the system shows it.
pub fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Waits until every thread of a process is stopped, after the signal that does it.
pub async fn is_stopped(pid: i32) {
    let start = Instant::now();
    let is_stopped = |stat: std::path::PathBuf| {
        let stat = std::fs::read_to_string(stat).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    loop {
        let mut threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        if threads.all(|thread| is_stopped(thread.unwrap().path().join("stat"))) {
            return;
        }
        assert!(start.elapsed() < PROMISED, "{pid} goes on");
        tokio::task::yield_now().await;
    }
}

/// Waits until none of them is running.
pub async fn are_gone(pids: &[i32]) {
    let start = Instant::now();
    while let Some(left) = pids.iter().find(|pid| lives(**pid)) {
        assert!(start.elapsed() < PROMISED, "{left} of {pids:?} still lives");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub fn signal(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}
