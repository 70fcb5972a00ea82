//! Asks the system to kill an agent whose guard is gone. The only `unsafe` of this crate.

#![allow(
    unsafe_code,
    reason = "what happens between fork and exec can only be said through `pre_exec`"
)]

use std::process::Command;

/// The command's process is killed by the system when its parent (the calling thread) ends, however it ends.
#[cfg(target_os = "linux")]
pub(super) fn die_with_parent(command: &mut Command) {
    use std::io;
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are allowed.
    // It makes two system calls through rustix, which issues them directly, and neither allocates nor locks.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have gone before the line above; then the signal will never come.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()))
            }
        });
    }
}

/// There is no such thing here; the lifeline alone has to do.
#[cfg(not(target_os = "linux"))]
pub(super) fn die_with_parent(_command: &mut Command) {}
