//! Who descends from whom, and the end of all of them. Linux reads `/proc`; elsewhere only the group is known.

/// One look at who is there.
#[cfg(target_os = "linux")]
pub(super) use linux::{descendants_of, marked_with, signal_all};

/// Whether a round of signals met anybody.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    /// At least one process was there and got it.
    Some,
    /// Nobody is left, or only those that the system does not let us end (of another user).
    Nobody,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Met;

    /// What `/proc/PID/stat` says that matters here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Stat {
        parent: i32,
        zombie: bool,
        started: u64,
    }

    /// A process: its number, and when it started, because numbers are used again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Process {
        pid: i32,
        started: u64,
    }

    /// Everything below `root`, without `root` itself and without the dead that wait to be reaped.
    pub fn descendants_of(root: i32) -> Vec<Process> {
        let all: HashMap<i32, Stat> =
            every_pid().filter_map(|pid| Some((pid, stat(pid)?))).collect();
        let below = |pid: i32| {
            // Bounded by the number of processes, should the picture (not taken at one instant) hold a circle.
            std::iter::successors(Some(pid), |pid| all.get(pid).map(|stat| stat.parent))
                .take(all.len() + 1)
                .skip(1)
                .any(|ancestor| ancestor == root)
        };
        all.iter()
            .filter(|(pid, stat)| !stat.zombie && below(**pid))
            .map(|(pid, stat)| Process { pid: *pid, started: stat.started })
            .collect()
    }

    /// Everything that was started with this `NAME=value` in its environment, whoever its parent is now.
    pub fn marked_with(mark: &str) -> Vec<Process> {
        let marked = |pid: i32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
            })
        };
        every_pid()
            .filter(|pid| marked(*pid))
            .filter_map(|pid| {
                let stat = stat(pid)?;
                (!stat.zombie).then_some(Process { pid, started: stat.started })
            })
            .collect()
    }

    /// Signals each of them, and nobody who took over a number meanwhile.
    pub fn signal_all(processes: &[Process], signal: Signal) -> Met {
        let mut met = Met::Nobody;
        for process in processes {
            let Some(pid) = Pid::from_raw(process.pid) else { continue };
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // The handle names one process for good; now see that it is the one we looked at.
            if stat(process.pid).is_none_or(|stat| stat.started != process.started) {
                continue;
            }
            if pidfd_send_signal(&handle, signal).is_ok() {
                met = Met::Some;
            }
        }
        met
    }

    fn every_pid() -> impl Iterator<Item = i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    fn stat(pid: i32) -> Option<Stat> {
        parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The second field is the program's name in parentheses, and may hold anything, also spaces and `)`.
    fn parse(stat: &[u8]) -> Option<Stat> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let rest = std::str::from_utf8(stat.get(after_name..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        // State is field 3 of the line and the start time field 22.
        let started = fields.nth(17)?.parse().ok()?;
        Some(Stat { parent, zombie: matches!(state, "Z" | "X"), started })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_program_whose_name_looks_like_a_stat_line_is_read_rightly() {
            let line = b"77 (a) S 1 (b) R 12 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2";
            assert_eq!(parse(line), Some(Stat { parent: 12, zombie: false, started: 9876 }));
        }

        #[test]
        fn a_dead_process_that_waits_to_be_reaped_is_a_zombie() {
            let line = b"77 (x) Z 12 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2";
            assert_eq!(parse(line), Some(Stat { parent: 12, zombie: true, started: 9876 }));
        }
    }
}
