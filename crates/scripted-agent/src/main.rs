//! `scripted-agent`: the deterministic agent as a program of its own, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    liminal_scripted_agent::scripted_main(&args)
}
