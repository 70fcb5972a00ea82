//! Opens the user's browser, if there is a display.

use std::env;
use std::process::{Command, Stdio};
use std::thread;

pub fn has_display() -> bool {
    if cfg!(target_os = "macos") {
        return env::var_os("SSH_CONNECTION").is_none();
    }
    ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Asks the desktop to open this address. Other users can read command lines, so it must not hold the token.
///
/// The one process that is not started through the guard: it is not an agent, and the browser it may become must
/// outlive us.
pub fn open(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let child = Command::new(opener)
        .arg(address)
        .env_remove(liminal_agents::process::MARK)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match child {
        Ok(mut child) => {
            // Waits as long as the browser runs, so that it leaves no zombie.
            let _no_thread =
                thread::Builder::new().name("browser".into()).spawn(move || child.wait());
        }
        Err(error) => tracing::info!(opener, %error, "could not open a browser"),
    }
}
