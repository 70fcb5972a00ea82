//! Has the system kill a process when the one that started it ends. With `allocator` the
//! only `unsafe` of the product.

#![allow(unsafe_code, reason = "only `pre_exec` can run code between fork and exec")]

use std::process::Command;

/// The system kills the command's process when its parent (the calling thread) ends, however that happens.
#[cfg(target_os = "linux")]
pub fn die_with_parent(command: &mut Command) {
    use std::io;
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are allowed.
    // It makes two system calls through rustix, which issues them directly, and neither allocates nor locks.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before the line above; then the signal would never come.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()))
            }
        });
    }
}

/// Not available here.
#[cfg(not(target_os = "linux"))]
pub fn die_with_parent(_command: &mut Command) {}
