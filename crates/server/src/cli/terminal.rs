//! What is said in the terminal. Whoever was there may have left, as behind `| head -1`: that is no reason to panic,
//! as `println!` does.

use std::fmt::Display;
use std::io::{self, Write};

use super::Stopped;

/// Says a line on stdout. That nobody reads it any more is no failure: they have what they wanted.
pub fn say(line: impl Display) -> Result<(), Stopped> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Stopped::because(format!("cannot write to stdout: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Says a line about us on stderr.
pub fn complain(line: impl Display) {
    let _nobody_reads = writeln!(io::stderr(), "liminal: {line}");
}
