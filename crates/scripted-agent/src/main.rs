//! `scripted-agent`: the deterministic agent as a program of its own, for tests. Also the demo, and the guard that
//! agents run under, as `liminal` itself is.

use std::process::ExitCode;

use liminal_scripted_agent::{demo_main, scripted_main};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("guard") => liminal_agents::process::guard_main(),
        Some("demo") => demo_main(&args[1..]),
        _ => scripted_main(&args),
    }
}
