//! Finds processes by descent or by mark, and ends them. On Linux from `/proc`; elsewhere only the process group is
//! known.

#[cfg(target_os = "linux")]
pub(super) use linux::{Met, Process, descendants_of, kill, marked, signal_all};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    use crate::process::mark::{Bearer, LaunchMark};

    /// Whether any process received a signal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Met {
        Somebody,
        /// No process is left, or only those we may not signal (another user's).
        Nobody,
    }

    /// Stopping all of them takes a few looks. If they multiply faster than we stop them, we kill those we have
    /// after this many.
    const LOOKS: usize = 100;

    /// The fields of `/proc/PID/stat` that matter here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Stat {
        parent: i32,
        group: i32,
        session: i32,
        zombie: bool,
        started: u64,
    }

    /// Identified by pid and start time, because pids are reused.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Process {
        pid: i32,
        started: u64,
    }

    /// Stops every process `look` finds until it finds no new one, then kills them. Killed one by one, they could start
    /// others in the meantime; a stopped process can't.
    pub fn kill(mut look: impl FnMut(&mut dyn FnMut(Process))) -> Met {
        let mut stopped = HashSet::new();
        for _ in 0..LOOKS {
            let before = stopped.len();
            look(&mut |process| {
                if !stopped.contains(&process) && signal(process, Signal::STOP) {
                    stopped.insert(process);
                }
            });
            if stopped.len() == before {
                break;
            }
        }
        for process in &stopped {
            signal(*process, Signal::KILL);
        }
        if stopped.is_empty() { Met::Nobody } else { Met::Somebody }
    }

    /// Signals every process `look` finds.
    pub fn signal_all(look: impl FnOnce(&mut dyn FnMut(Process)), by: Signal) {
        look(&mut |process| {
            signal(process, by);
        });
    }

    /// Signals this process, never another one that reused its pid. Returns whether it was signalled.
    fn signal(process: Process, by: Signal) -> bool {
        let Some(pid) = Pid::from_raw(process.pid) else { return false };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        // The handle refers to one process permanently; now check that it is the one we found.
        stat(process.pid).is_some_and(|stat| stat.started == process.started)
            && pidfd_send_signal(&handle, by).is_ok()
    }

    /// Visits all descendants of `root`, parents first, without `root` itself and without zombies. Each is visited as
    /// soon as it is seen: some live for two milliseconds.
    pub fn descendants_of(root: i32, visit: &mut dyn FnMut(Process)) {
        if !fs::exists(format!("/proc/{root}/task/{root}/children")).unwrap_or(false) {
            return descendants_in_all(root, visit);
        }
        let (mut parents, mut seen) = (vec![root], HashSet::new());
        while let Some(parent) = parents.pop() {
            for child in children(parent) {
                let Some(process) = living(child) else { continue };
                if seen.insert(process) {
                    visit(process);
                    parents.push(child);
                }
            }
        }
    }

    fn children(parent: i32) -> Vec<i32> {
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        listed
            .flat_map(|list| list.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    /// The same for a system that does not list children: from the parents of all processes.
    fn descendants_in_all(root: i32, visit: &mut dyn FnMut(Process)) {
        let all: HashMap<i32, Stat> =
            every_pid().into_iter().filter_map(|pid| Some((pid, stat(pid)?))).collect();
        let below = |pid: i32| {
            // Bounded, because the list is not read at one instant and could contain a cycle.
            std::iter::successors(Some(pid), |pid| all.get(pid).map(|stat| stat.parent))
                .take(all.len() + 1)
                .skip(1)
                .any(|ancestor| ancestor == root)
        };
        all.iter()
            .filter(|(pid, stat)| !stat.zombie && below(**pid))
            .for_each(|(pid, stat)| visit(Process { pid: *pid, started: stat.started }));
    }

    /// Visits every process with a mark that `is_meant` selects, whatever its parent is now, except those below a
    /// living guard, and those that never had one and made a session of their own. Returns how many are below one.
    pub fn marked(is_meant: impl Fn(LaunchMark) -> bool, visit: &mut dyn FnMut(Process)) -> usize {
        let mut guarded = 0;
        for pid in every_pid() {
            let Some((bearer, launch)) = mark_of(pid) else { continue };
            if !is_meant(launch) {
                continue;
            }
            let Some(stat) = stat(pid).filter(|stat| !stat.zombie) else { continue };
            match bearer {
                Bearer::Guard => {}
                Bearer::Guarded if has_guard(pid, launch) => guarded += 1,
                // git has a group of its own in our session. Only what left both is in a group named like its session.
                Bearer::Unguarded if stat.group == stat.session => {}
                Bearer::Guarded | Bearer::Unguarded => {
                    visit(Process { pid, started: stat.started });
                }
            }
        }
        guarded
    }

    /// A guard adopts its launch's orphans, so while it lives it is an ancestor of every process of the launch.
    fn has_guard(pid: i32, launch: LaunchMark) -> bool {
        // Bounded for the same reason as above: a cycle.
        std::iter::successors(stat(pid), |below| stat(below.parent))
            .take(1000)
            .any(|it| mark_of(it.parent) == Some((Bearer::Guard, launch)))
    }

    fn mark_of(pid: i32) -> Option<(Bearer, LaunchMark)> {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|byte| *byte == 0).find_map(LaunchMark::parse)
    }

    /// All but our own, newest first: this finds a process that starts its successor and ends before it is gone.
    fn every_pid() -> Vec<i32> {
        let own = getpid().as_raw_pid();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut pids: Vec<i32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != own)
            .collect();
        pids.sort_unstable_by(|a, b| b.cmp(a));
        pids
    }

    fn living(pid: i32) -> Option<Process> {
        let stat = stat(pid)?;
        (!stat.zombie).then_some(Process { pid, started: stat.started })
    }

    fn stat(pid: i32) -> Option<Stat> {
        parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The second field is the program's name in parentheses. It may contain anything, even spaces and `)`.
    fn parse(stat: &[u8]) -> Option<Stat> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let rest = std::str::from_utf8(stat.get(after_name..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        // State is field 3 of the line and the start time field 22.
        let started = fields.nth(15)?.parse().ok()?;
        Some(Stat { parent, group, session, zombie: matches!(state, "Z" | "X"), started })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_program_whose_name_looks_like_a_stat_line_is_read_rightly() {
            let line = b"77 (a) S 1 (b) R 12 77 78 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2";
            let stat = Stat { parent: 12, group: 77, session: 78, zombie: false, started: 9876 };
            assert_eq!(parse(line), Some(stat));
        }

        #[test]
        fn a_dead_process_that_waits_to_be_reaped_is_a_zombie() {
            let line = b"77 (x) Z 12 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2";
            assert!(parse(line).unwrap().zombie);
        }

        #[test]
        fn children_are_found_by_either_way() {
            let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
            let pid = i32::try_from(child.id()).unwrap();
            let own = getpid().as_raw_pid();
            for look in [descendants_of, descendants_in_all] {
                let mut found = Vec::new();
                look(own, &mut |process| found.push(process.pid));
                assert!(found.contains(&pid), "{pid} is not among {found:?}");
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
