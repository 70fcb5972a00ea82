//! Which processes are running.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Pid;

use super::in_time;

/// Every descendant of a process, without the process itself.
pub fn descendants(of: Pid) -> Vec<i32> {
    let mut found = vec![of.as_raw_nonzero().get()];
    let mut looked_at = 0;
    while looked_at < found.len() {
        let parent = found[looked_at];
        looked_at += 1;
        let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    found.split_off(1)
}

/// Waits until none of these is alive.
pub async fn are_gone(pids: &[i32]) {
    let gone = async {
        while pids.iter().any(|pid| fs::exists(format!("/proc/{pid}")).unwrap()) {
            tokio::task::yield_now().await;
        }
    };
    if in_time(gone).await.is_none() {
        panic!("still alive: {pids:?}");
    }
}

/// A script that can be run at once. Another process writes it: of what we have open for writing, a child that another
/// story is just starting has a copy, and nobody can run a program that is open for writing.
pub fn executable(path: &Path, script: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success(), "{} was not written", path.display());
}
