//! Ends processes that have lost their guard, found by their marks. Linux only: elsewhere a process can't read the
//! environment of another.

use super::mark::{LaunchMark, ServerMark};

/// Ends every process of a launch whose guard was killed. One that cleared its environment is out of reach; the agent
/// itself is not, because the system kills it with its guard. Blocks.
pub(super) fn end_launch(mark: LaunchMark) {
    end_marked(|found| found == mark);
}

/// Ends the processes that the servers with these marks left behind. Waits for those that still have a guard, which
/// ends them. Blocks until none is left.
pub fn end_leftovers(dead: &[ServerMark]) {
    if !dead.is_empty() {
        end_marked(|found| dead.contains(&found.server));
    }
}

#[cfg(target_os = "linux")]
fn end_marked(is_meant: impl Fn(LaunchMark) -> bool) {
    use std::time::Duration;

    use super::tree::{Met, kill, marked};

    /// A process that starts its successor and ends can be missed, so one empty look is not enough.
    const QUIET_LOOKS: u32 = 3;
    const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

    let (mut quiet, mut pause) = (0, SHORTEST_PAUSE);
    while quiet < QUIET_LOOKS {
        let mut guards = 0;
        let met = kill(|visit| guards = marked(&is_meant, visit));
        if met == Met::Nobody && guards == 0 {
            quiet += 1;
            pause = SHORTEST_PAUSE;
        } else {
            quiet = 0;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
        std::thread::sleep(pause);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_marked(_is_meant: impl Fn(LaunchMark) -> bool) {}
