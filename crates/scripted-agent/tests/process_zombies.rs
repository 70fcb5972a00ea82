//! Many starts and stops leave nothing: no zombie, no process, no descriptor. Alone in its file, because it looks at
//! everything its process has.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use liminal_agents::process::{Launch, Stop};
use processes::{guard, hostile, shell};

/// All of them, zombies included.
fn children() -> Vec<i32> {
    let own = std::process::id();
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{own}/task")).unwrap().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().map(|pid| pid.parse::<i32>().unwrap()));
    }
    children
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn two_hundred_starts_and_stops_leave_nothing() {
    // The first start sets up what the runtime needs for children.
    shell("true").spawn(&guard()).await.unwrap().process.gone().await;
    let before = descriptors();

    for _ in 0..50 {
        let ended = shell("exit 1").spawn(&guard()).await.unwrap();
        ended.process.gone().await;
        let killed = hostile("echo").spawn(&guard()).await.unwrap();
        killed.process.stop(Stop::Kill).await;
        let stopped = hostile("echo").spawn(&guard()).await.unwrap();
        stopped.process.stop(Stop::Gently).await;
        shell("sleep 600").spawn(&guard()).await.unwrap().process.stop(Stop::Kill).await;
        let missing = Launch::new("Nobody", "no-such-program-anywhere", "/");
        assert!(missing.spawn(&guard()).await.is_err());
        // The guard of the failed one is reaped in the background.
        while !children().is_empty() {
            tokio::task::yield_now().await;
        }
    }
    // A writer or reader task may be one step behind its process.
    while descriptors() > before {
        tokio::task::yield_now().await;
    }
}
