//! An agent that misbehaves, for the tests of processes: it ignores the end of its stdin and SIGTERM, and leaves
//! grandchildren in their own process sessions that do the same. Also the guard, and a stand-in for the server that
//! ends in every way a server can.
//!
//! Each of its processes identifies itself on stdout: `name pid`.

use std::io::{BufRead, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use liminal_agents::process::{Budget, GuardCommand, Launch, Stop, guard_main};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(600);

type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["guard", ..] => Ok(guard_main()),
        ["echo"] => echo(),
        ["silent"] => {
            std::thread::sleep(FOR_EVER);
            Ok(ExitCode::SUCCESS)
        }
        ["stubborn"] => {
            orphan("grandchild")?;
            stand_fast("agent")
        }
        ["wrapper"] => {
            // Starts the real agent, waits for it, and passes nothing on to it.
            let status = own(&["stubborn"])?.status()?;
            Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(1))?))
        }
        ["leaver"] => {
            // Ends when asked to, and leaves its child behind.
            orphan("left")?;
            say("agent")?;
            std::io::stdin().read_line(&mut String::new())?;
            Ok(ExitCode::from(3))
        }
        ["parent", name] => {
            own(&[name])?.spawn()?;
            Ok(ExitCode::SUCCESS)
        }
        [name @ ("grandchild" | "left")] => {
            rustix::process::setsid()?;
            stand_fast(name)
        }
        ["storm", hop, until] => storm(hop.parse()?, until.parse()?),
        ["flood", lines] => flood(lines.parse()?),
        ["server", how, ref agent @ ..] => server(how, agent),
        ref unknown => Err(format!("what is {unknown:?}?").into()),
    }
}

/// This program in another role.
fn own(args: &[&str]) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args);
    Ok(command)
}

fn say(name: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{name} {}", std::process::id())?;
    out.flush()
}

/// Starts a process whose parent has ended when this returns.
fn orphan(name: &str) -> std::io::Result<()> {
    own(&["parent", name])?.stdin(Stdio::null()).status().map(drop)
}

/// Does not end on its own.
fn stand_fast(name: &str) -> Outcome {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    say(name)?;
    std::thread::sleep(FOR_EVER);
    Ok(ExitCode::SUCCESS)
}

/// Echoes its stdin, and ends with it.
fn echo() -> Outcome {
    say("agent")?;
    eprintln!("echo is here");
    for line in std::io::stdin().lock().lines() {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", line?)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts its successor and ends, every 2 ms, each time in a new process session. Prints the number of the hop. Bounded
/// in number and time (milliseconds since 1970), so that it always ends.
fn storm(hop: u32, until: u64) -> Outcome {
    const MOST_HOPS: u32 = 10_000;
    let _leads_already = rustix::process::setsid();
    println!("hop {hop}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    if hop < MOST_HOPS && now < Duration::from_millis(until) {
        std::thread::sleep(Duration::from_millis(2));
        own(&["storm", &(hop + 1).to_string(), &until.to_string()])?.spawn()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn flood(lines: u32) -> Outcome {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for n in 0..lines {
        writeln!(
            out,
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"n":{n},"text":"a few words of an answer"}}}}"#
        )?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Starts an agent as the server does, passes on its output, and ends as requested.
fn server(how: &str, agent: &[&str]) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let own = std::env::current_exe()?;
    let launch = match agent {
        ["shell", script] => Launch::new("Shell", "/bin/sh", "/").args(["-c", script]),
        role => Launch::new("Hostile", &own, "/").args(role),
    };
    let started = runtime.block_on(launch.spawn(&GuardCommand::new(&own)))?;
    println!("guard {}", started.process.guard_pid().unwrap_or(0));
    let process = started.process.clone();
    let mut lines = started.stdout.lines(Budget::default());
    runtime.spawn(async move {
        while let Ok(Some(line)) = lines.next().await {
            println!("{}", String::from_utf8_lossy(&line.bytes));
        }
    });
    // The test writes a line when it has read enough.
    runtime.block_on(async {
        let (go, gone) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut word = String::new();
            let _test_gone = std::io::stdin().lock().read_line(&mut word);
            let _ends_anyway = go.send(());
        });
        gone.await
    })?;
    match how {
        "stop" => runtime.block_on(process.stop(Stop::Now)),
        "return" => {}
        "panic" => panic!("as the test wants it"),
        "wait" => std::thread::sleep(FOR_EVER),
        unknown => return Err(format!("what is {unknown:?}?").into()),
    }
    Ok(ExitCode::SUCCESS)
}
