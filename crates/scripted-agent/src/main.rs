//! `scripted-agent`: the deterministic agent as a separate program for tests. Like `liminal`, it is also the guard that
//! agents run under.

use std::process::ExitCode;

use liminal_scripted_agent::agent_main;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("guard") => liminal_agents::process::guard_main(),
        _ => agent_main(&args),
    }
}
