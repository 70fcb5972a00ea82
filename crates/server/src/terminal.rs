//! Output to the terminal. The reader may be gone, as after `| head -1`; `println!` would panic then, this doesn't.

use std::fmt::Display;
use std::io::{self, Write};

/// Why a command ended early, in one line.
#[derive(Debug)]
pub struct Stopped {
    /// For the user.
    pub line: String,
    /// The exit status.
    pub status: u8,
}

impl Stopped {
    /// The command failed.
    pub fn because(line: impl ToString) -> Self {
        Self { line: line.to_string(), status: 1 }
    }

    /// The command line was wrong.
    pub fn usage(line: impl ToString) -> Self {
        Self { line: line.to_string(), status: 2 }
    }
}

/// Prints a line to stdout. A closed pipe is no failure: the reader has what it wanted.
pub fn say(line: impl Display) -> Result<(), Stopped> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Stopped::because(format!("cannot write to stdout: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line to stderr.
pub fn complain(line: impl Display) {
    let _nobody_reads = writeln!(io::stderr(), "liminal: {line}");
}

/// "3 sessions", "1 session".
pub fn sessions(count: usize) -> String {
    if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") }
}
