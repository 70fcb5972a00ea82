//! `scripted-agent`: the deterministic agent as a program of its own, for tests; and with `guard`, the guard that
//! agents are started under.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|role| role == "guard") {
        return liminal_agents::process::guard_main();
    }
    liminal_scripted_agent::scripted_main(&args)
}
