//! `liminal`: one local program for working with several AI coding agents at once.
//!
//! Everything is in the library; this only calls it.

use std::process::ExitCode;

fn main() -> ExitCode {
    liminal::cli::run()
}
