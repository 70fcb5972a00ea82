//! A process under its guard: starting, talking, ending.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use std::path::Path;

use liminal_agents::ProviderError;
use liminal_agents::catalogue::{Catalogue, Overrides};
use liminal_agents::process::{
    Budget, Exit, GuardCommand, Launch, Started, StderrTo, StdinClosed, StdinFrom, Stop,
};
use processes::{PROGRAM, guard, shell};

async fn said(started: Started) -> Vec<String> {
    let mut lines = started.stdout.lines(Budget::default());
    let mut said = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        said.push(String::from_utf8_lossy(&line.bytes).into_owned());
    }
    said
}

#[tokio::test]
async fn a_process_hears_us_and_we_hear_it() {
    let started = Launch::new("Echo", PROGRAM, "/").args(["echo"]).spawn(&guard()).await.unwrap();
    let Started { process, stdin, stdout } = started;
    let mut lines = stdout.lines(Budget::default());
    let first = lines.next().await.unwrap().unwrap();
    assert_eq!(first.bytes, format!("agent {}", process.pid()).into_bytes());

    stdin.write(b"hello\n".to_vec()).await.unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"hello");

    process.stop(Stop::Gently).await;
    assert_eq!(process.exited().await, Exit::Code(0));
    assert!(lines.next().await.unwrap().is_none());
    assert_eq!(process.last_words().await, "echo is here\n");
}

#[tokio::test]
async fn a_write_to_a_process_that_ended_is_an_error() {
    // Its child keeps the pipe open a little longer; that must not look like a reader.
    let started = shell("sleep 600 & exit 7").spawn(&guard()).await.unwrap();
    assert_eq!(started.process.exited().await, Exit::Code(7));
    assert_eq!(started.stdin.write(b"anybody?\n".to_vec()).await, Err(StdinClosed));
    started.process.gone().await;
    assert_eq!(started.stdin.queue(b"anybody?\n".to_vec()), Err(StdinClosed));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_installed() {
    let mut launch = Launch::new("Nobody", "no-such-program-anywhere", "/");
    launch.install = Some("npm install nobody".into());
    let error = launch.spawn(&guard()).await.unwrap_err();
    assert_eq!(
        error,
        ProviderError::NotInstalled {
            name: "Nobody".into(),
            program: "no-such-program-anywhere".into(),
            install: Some("npm install nobody".into()),
        }
    );
    assert_eq!(error.to_string(), "Could not start Nobody. Check that it's installed.");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_not_mistaken_for_a_missing_program() {
    let error =
        Launch::new("Shell", "/bin/sh", "/no/such/place").spawn(&guard()).await.unwrap_err();
    assert!(
        matches!(&error, ProviderError::NotConnected { reason, .. } if reason.contains("/no/such/place"))
    );
}

#[tokio::test]
async fn a_file_that_is_no_program_says_why_it_did_not_run() {
    let error = Launch::new("File", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "/")
        .spawn(&guard())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ProviderError::NotConnected { reason, .. } if reason.contains("denied")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_guard_that_is_not_there_is_named() {
    let error = shell("true").spawn(&GuardCommand::new("/no/guard")).await.unwrap_err();
    assert!(
        matches!(&error, ProviderError::NotConnected { reason, .. } if reason.starts_with("Its guard did not start"))
    );
}

#[tokio::test]
async fn the_environment_is_ours_with_what_was_set_and_without_what_was_removed() {
    let mut launch =
        shell("echo \"[$LIMINAL_TEST_SET] [$HOME] [$PATH]\"; pwd").env("LIMINAL_TEST_SET", "a b");
    launch.env_remove.push("HOME".into());
    launch.cwd = std::fs::canonicalize(std::env::temp_dir()).unwrap();
    let cwd = launch.cwd.display().to_string();
    let path = std::env::var("PATH").unwrap();
    assert_eq!(
        said(launch.spawn(&guard()).await.unwrap()).await,
        [format!("[a b] [] [{path}]"), cwd]
    );
}

#[tokio::test]
async fn stderr_can_follow_stdout_in_order_and_stdin_can_be_nothing() {
    let mut launch = shell("echo one; echo two >&2; cat; echo three");
    launch.stdin = StdinFrom::Nothing;
    launch.stderr = StderrTo::Stdout;
    let started = launch.spawn(&guard()).await.unwrap();
    assert_eq!(started.stdin.queue(b"x".to_vec()), Err(StdinClosed));
    assert_eq!(said(started).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn an_agent_is_not_deaf_to_the_signals_its_guard_does_not_hear() {
    let started = shell("kill -TERM $$; echo deaf").spawn(&guard()).await.unwrap();
    assert_eq!(started.process.exited().await, Exit::Signal(15));
}

#[tokio::test]
async fn only_the_end_of_a_long_stderr_is_kept_and_it_never_blocks() {
    let script = "i=0; while [ $i -lt 3000 ]; do \
                  echo \"line $i: some words to fill the pipe with, and ü\" >&2; i=$((i+1)); done";
    let started = shell(script).spawn(&guard()).await.unwrap();
    started.process.exited().await;
    let words = started.process.last_words().await;
    assert!(words.ends_with("line 2999: some words to fill the pipe with, and ü\n"));
    assert!(words.len() <= 64 * 1024 && words.len() > 63 * 1024, "{}", words.len());
    assert!(!words.starts_with('\u{fffd}'));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_agent_holds_no_pipe_but_its_own_three() {
    const WHAT_I_HOLD: &str = "readlink /proc/$$/fd/*";
    // Descriptors that every child of this test inherits from the test runner.
    let any = std::process::Command::new("/bin/sh").args(["-c", WHAT_I_HOLD]).output().unwrap();
    let any = String::from_utf8_lossy(&any.stdout).into_owned();

    // Other running processes, started at the same time, whose pipes and lifelines must not leak into this one.
    let echo = Launch::new("Echo", PROGRAM, "/").args(["echo"]);
    let others = [echo.spawn(&guard()).await.unwrap(), echo.spawn(&guard()).await.unwrap()];
    let started = shell(WHAT_I_HOLD).spawn(&guard()).await.unwrap();
    let mut held = said(started).await;
    held.retain(|held| held.contains(':') && !any.contains(held));
    assert_eq!(held.len(), 3, "{held:?}");
    for other in others {
        other.process.stop(Stop::Kill).await;
    }
}

#[tokio::test]
async fn an_agents_version_is_what_its_program_says() {
    let catalogue = Catalogue::new(None, &Overrides::default(), Path::new("/opt/liminal"));
    let mut entry = catalogue.entries()[0].clone();
    entry.program = "/bin/sh".into();
    for (script, version) in [
        ("echo; echo Welcome!; echo 'tool 1.2.3 (abc)'; echo 9", Some("1.2.3")),
        ("echo '@scope/tool2 v0.9.0-rc.1'", Some("v0.9.0-rc.1")),
        ("echo build 42 of today", Some("build 42 of today")),
        ("echo hello", None),
        ("exit 1", None),
        // It ignores everything, and does not end on its own.
        ("echo 7; exec sleep 600", Some("7")),
    ] {
        entry.version_args = Some(vec!["-c".into(), script.into()]);
        assert_eq!(entry.version(&guard()).await.as_deref(), version, "{script}");
    }
    entry.program = "no-such-program-anywhere".into();
    assert_eq!(entry.version(&guard()).await, None);
}
