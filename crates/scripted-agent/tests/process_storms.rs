//! Nothing is left of a process that ignores SIGTERM and replaces itself every 2 ms, so that a list of processes misses
//! it.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use liminal_agents::process::{
    Budget, GuardCommand, Launch, Lines, ServerMark, Started, Stop, end_leftovers,
};
use processes::{PROGRAM, guard, pids_in, signal};
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

/// A storm ends on its own after this long, whatever the test does.
const LONGEST: Duration = Duration::from_secs(40);

/// How long to wait for the end of a storm.
const PROMISED: Duration = Duration::from_secs(10);

/// Three storms that all hold the write end of one pipe: when it closes, all have ended.
struct Storm {
    _place: tempfile::TempDir,
    pipe: PathBuf,
    hops: tokio::io::Lines<BufReader<pipe::Receiver>>,
    /// Keeps the pipe open until the storm holds it.
    held: Option<pipe::Sender>,
}

impl Storm {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let read = pipe::OpenOptions::new().open_receiver(&pipe).unwrap();
        let held = Some(pipe::OpenOptions::new().open_sender(&pipe).unwrap());
        Self { _place: place, pipe, hops: BufReader::new(read).lines(), held }
    }

    /// The shell command that starts it. All its descendants inherit the signals that the shell ignores.
    fn command(&self, then: &str) -> String {
        let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + LONGEST;
        let storm = format!("{PROGRAM} storm 0 {} >{} &", until.as_millis(), self.pipe.display());
        format!("trap '' TERM INT HUP; {storm} {storm} {storm} {then}")
    }

    /// Waits until it is running.
    async fn blows(&mut self) {
        while self.hop().await.unwrap() < 10 {}
        self.held = None;
    }

    /// Waits until nothing of it is left.
    async fn ends(mut self) {
        let over = async { while self.hop().await.is_some() {} };
        assert!(tokio::time::timeout(PROMISED, over).await.is_ok(), "the storm blows on");
    }

    async fn hop(&mut self) -> Option<u32> {
        let line = self.hops.next_line().await.unwrap()?;
        Some(line.strip_prefix("hop ").unwrap().parse().unwrap())
    }
}

fn launch(storm: &Storm, then: &str) -> Launch {
    Launch::new("Storm", "/bin/sh", "/").args(["-c", &storm.command(then)])
}

/// A stand-in for the server whose agent makes a storm.
async fn server(storm: &Storm, how_it_ends: &str) -> (tokio::process::Child, i32) {
    let mut child = tokio::process::Command::new(PROGRAM)
        .args(["server", how_it_ends, "shell", &storm.command("sleep 600")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = Lines::of(child.stdout.take().unwrap(), Budget::default());
    let [guard] = pids_in(&mut lines, ["guard"]).await;
    (child, guard)
}

#[tokio::test]
async fn a_storm_does_not_outlive_a_server_that_is_killed() {
    for _ in 0..5 {
        let mut storm = Storm::new();
        let (mut server, _) = server(&storm, "wait").await;
        storm.blows().await;
        signal(i32::try_from(server.id().unwrap()).unwrap(), Signal::KILL);
        server.wait().await.unwrap();
        storm.ends().await;
    }
}

#[tokio::test]
async fn a_storm_does_not_outlive_a_server_that_stops() {
    for _ in 0..2 {
        let mut storm = Storm::new();
        let (mut server, _) = server(&storm, "stop").await;
        storm.blows().await;
        server.stdin.take().unwrap().write_all(b"go\n").await.unwrap();
        server.wait().await.unwrap();
        storm.ends().await;
    }
}

#[tokio::test]
async fn a_storm_does_not_outlive_the_agent_that_left_it() {
    let mut storm = Storm::new();
    let Started { process, stdin, .. } = launch(&storm, "read go").spawn(&guard()).await.unwrap();
    storm.blows().await;
    stdin.write(b"go\n".to_vec()).await.unwrap();
    process.gone().await;
    storm.ends().await;
}

#[tokio::test]
async fn a_storm_does_not_outlive_a_guard_that_is_killed() {
    let mut storm = Storm::new();
    let started = launch(&storm, "sleep 600").spawn(&guard()).await.unwrap();
    storm.blows().await;
    signal(i32::try_from(started.process.guard_pid().unwrap()).unwrap(), Signal::KILL);
    started.process.gone().await;
    storm.ends().await;
}

#[tokio::test]
async fn what_a_killed_server_and_its_killed_guard_left_is_swept_by_its_mark() {
    let mut storm = Storm::new();
    let (mut server, guard) = server(&storm, "wait").await;
    storm.blows().await;
    let server_pid = i32::try_from(server.id().unwrap()).unwrap();
    let mark = server_mark_of(guard);
    // The server must not see its guard die.
    signal(server_pid, Signal::STOP);
    processes::is_stopped(server_pid).await;
    signal(guard, Signal::KILL);
    signal(server_pid, Signal::KILL);
    server.wait().await.unwrap();
    storm.blows().await;

    // Another server's storm is not touched, nor one whose guard is alive.
    let other = processes::hostile("echo").spawn(&processes::guard()).await.unwrap();
    let mut mine = GuardCommand::new(PROGRAM);
    mine.server = mark;
    let guarded = processes::hostile("stubborn").spawn(&mine).await.unwrap();
    let [agent, grandchild] = processes::pids(guarded.stdout, ["agent", "grandchild"]).await;
    let sweep = tokio::task::spawn_blocking(move || end_leftovers(&[mark]));
    storm.ends().await;
    assert!(other.process.is_alive());
    assert!(processes::lives(agent) && processes::lives(grandchild));
    guarded.process.stop(Stop::Kill).await;
    sweep.await.unwrap();
    other.process.stop(Stop::Kill).await;
}

/// As in the guard's environment.
fn server_mark_of(guard: i32) -> ServerMark {
    let environment = std::fs::read(Path::new("/proc").join(guard.to_string()).join("environ"));
    let environment = String::from_utf8(environment.unwrap()).unwrap();
    let mark = environment.split('\0').find_map(|entry| entry.strip_prefix("LIMINAL_GUARD=guard:"));
    mark.unwrap().split_once('/').unwrap().0.parse().unwrap()
}
