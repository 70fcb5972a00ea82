//! Runs a command of the agent, and passes on its output as it comes.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::face::CommandExit;

/// How soon a stopped turn ends a silent command.
const STOP_CHECK: Duration = Duration::from_millis(20);

/// Runs a command for `sh -c` in a directory until it ends or the turn is stopped.
pub(crate) fn run(
    command: &str,
    cwd: &Path,
    stopped: impl Fn() -> bool,
    mut tell: impl FnMut(&str),
) -> std::io::Result<CommandExit> {
    // The shell merges the two streams, so that they keep their order without a pseudo-terminal.
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{command}"))
        .current_dir(cwd)
        .env("CLICOLOR_FORCE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    // A command that writes faster than we read has to wait, as with any pipe; nothing is buffered here.
    let (sender, output) = mpsc::sync_channel(1);
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut block = [0; 8192];
            while let Ok(read @ 1..) = stdout.read(&mut block) {
                if sender.send(block[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    let mut pending = Vec::new();
    loop {
        if stopped() {
            let _already_gone = kill_process_group(Pid::from_child(&child), Signal::KILL);
            break;
        }
        match output.recv_timeout(STOP_CHECK) {
            Ok(bytes) => {
                pending.extend(bytes);
                tell(&take_text(&mut pending));
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    if !pending.is_empty() {
        tell(&String::from_utf8_lossy(&pending));
    }
    Ok(CommandExit { exit_code: child.wait()?.code() })
}

/// Takes all complete characters; an incomplete one at the end stays.
fn take_text(pending: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(pending) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => pending.len(),
    };
    let rest = pending.split_off(whole);
    let text = String::from_utf8_lossy(pending).into_owned();
    *pending = rest;
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_command_that_never_stops_talking_is_ended_when_its_turn_is() {
        let told = Cell::new(0);
        let ran = run("yes", Path::new("/"), || told.get() > 0, |text| told.set(text.len()));
        assert_eq!(ran.unwrap(), CommandExit { exit_code: None });
    }
}
