//! No process of an agent is left when it ends, when its guard ends, or when the server ends in any way; even if it
//! ignores the end of its stdin and SIGTERM and has a grandchild in its own process session that does the same.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use std::process::Stdio;

use liminal_agents::process::{Budget, Exit, Lines, Started, Stop};
use processes::{PROGRAM, are_gone, guard, hostile, lives, pids, pids_in, shell, signal};
use rustix::process::Signal;
use tokio::io::AsyncWriteExt;

/// A stand-in for the server, with a stubborn agent.
struct Server {
    child: tokio::process::Child,
    /// Its guard, its agent, and the agent's grandchild.
    below: [i32; 3],
}

impl Server {
    async fn with(agent: &str, how_it_ends: &str) -> Self {
        let mut child = tokio::process::Command::new(PROGRAM)
            .args(["server", how_it_ends, agent])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = Lines::of(child.stdout.take().unwrap(), Budget::default());
        let below = pids_in(&mut lines, ["guard", "agent", "grandchild"]).await;
        assert!(below.iter().all(|pid| lives(*pid)));
        Self { child, below }
    }

    async fn ends(mut self) {
        self.child.stdin.take().unwrap().write_all(b"go\n").await.unwrap();
        self.child.wait().await.unwrap();
        are_gone(&self.below).await;
    }

    async fn dies_of(mut self, by: Signal) {
        signal(i32::try_from(self.child.id().unwrap()).unwrap(), by);
        self.child.wait().await.unwrap();
        are_gone(&self.below).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_server_that_stops() {
    Server::with("stubborn", "stop").await.ends().await;
}

#[tokio::test]
async fn nothing_outlives_a_server_that_just_returns() {
    Server::with("stubborn", "return").await.ends().await;
}

#[tokio::test]
async fn nothing_outlives_a_server_that_panics() {
    Server::with("stubborn", "panic").await.ends().await;
}

#[tokio::test]
async fn nothing_outlives_a_server_that_is_terminated() {
    Server::with("stubborn", "wait").await.dies_of(Signal::TERM).await;
}

#[tokio::test]
async fn nothing_outlives_a_server_that_is_killed() {
    Server::with("stubborn", "wait").await.dies_of(Signal::KILL).await;
}

#[tokio::test]
async fn nothing_outlives_a_killed_server_whose_agent_is_behind_a_wrapper() {
    Server::with("wrapper", "wait").await.dies_of(Signal::KILL).await;
}

#[tokio::test]
async fn nothing_outlives_a_guard_that_is_killed() {
    let Started { process, stdout, stdin } = hostile("stubborn").spawn(&guard()).await.unwrap();
    let [agent, grandchild] = pids(stdout, ["agent", "grandchild"]).await;
    assert_eq!(agent, process.pid());
    let guard = i32::try_from(process.guard_pid().unwrap()).unwrap();

    signal(guard, Signal::KILL);
    assert_eq!(process.exited().await, Exit::Unseen);
    process.gone().await;
    are_gone(&[guard, agent, grandchild]).await;
    assert!(stdin.write(b"anybody?\n".to_vec()).await.is_err());
}

#[tokio::test]
async fn nothing_outlives_an_agent_that_is_stopped() {
    let Started { process, stdout, .. } = hostile("stubborn").spawn(&guard()).await.unwrap();
    let [agent, grandchild] = pids(stdout, ["agent", "grandchild"]).await;
    process.stop(Stop::Now).await;
    assert_eq!(process.exited().await, Exit::Signal(9));
    assert!(!lives(agent) && !lives(grandchild));
}

#[tokio::test]
async fn an_agent_whose_handle_is_dropped_is_ended() {
    let Started { process, stdout, stdin } = hostile("stubborn").spawn(&guard()).await.unwrap();
    let [agent, grandchild] = pids(stdout, ["agent", "grandchild"]).await;
    drop((process, stdin));
    are_gone(&[agent, grandchild]).await;
}

#[tokio::test]
async fn what_a_killed_wrapper_leaves_is_ended() {
    let Started { process, stdout, .. } = hostile("wrapper").spawn(&guard()).await.unwrap();
    let [agent, grandchild] = pids(stdout, ["agent", "grandchild"]).await;
    assert_ne!(agent, process.pid());
    signal(process.pid(), Signal::KILL);
    assert_eq!(process.exited().await, Exit::Signal(9));
    process.gone().await;
    assert!(!lives(agent) && !lives(grandchild));
}

#[tokio::test]
async fn what_an_agent_that_ended_by_itself_leaves_is_ended() {
    let Started { process, stdin, stdout } = hostile("leaver").spawn(&guard()).await.unwrap();
    let [agent, left] = pids(stdout, ["agent", "left"]).await;
    stdin.write(b"you may go\n".to_vec()).await.unwrap();
    assert_eq!(process.exited().await, Exit::Code(3));
    process.gone().await;
    assert!(!lives(agent) && !lives(left));
}

#[tokio::test]
async fn the_end_of_one_agent_touches_no_other() {
    let echo = hostile("echo").spawn(&guard()).await.unwrap();
    let bystander = shell("echo bystander $$; cat").spawn(&guard()).await.unwrap();
    let [watched] = pids(bystander.stdout, ["bystander"]).await;
    let Started { process, stdout, .. } = hostile("stubborn").spawn(&guard()).await.unwrap();
    let [agent, grandchild] = pids(stdout, ["agent", "grandchild"]).await;

    process.stop(Stop::Kill).await;
    assert!(!lives(agent) && !lives(grandchild));

    let mut lines = echo.stdout.lines(Budget::default());
    lines.next().await.unwrap();
    echo.stdin.write(b"still here\n".to_vec()).await.unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"still here");
    assert!(lives(watched));
    echo.process.stop(Stop::Kill).await;
    bystander.process.stop(Stop::Kill).await;
}

#[tokio::test]
async fn a_guard_does_not_hear_the_signals_of_a_terminal() {
    let echo = hostile("echo").spawn(&guard()).await.unwrap();
    let guard = i32::try_from(echo.process.guard_pid().unwrap()).unwrap();
    for by in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        signal(guard, by);
    }
    let mut lines = echo.stdout.lines(Budget::default());
    lines.next().await.unwrap();
    echo.stdin.write(b"still here\n".to_vec()).await.unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"still here");
    echo.process.stop(Stop::Gently).await;
    assert_eq!(echo.process.exited().await, Exit::Code(0));
}

#[tokio::test]
async fn an_agent_that_hears_sigterm_may_end_by_itself() {
    let script = "trap 'echo goodbye; exit 5' TERM; echo ready $$; while :; do sleep 0.05; done";
    let Started { process, stdout, .. } = shell(script).spawn(&guard()).await.unwrap();
    let mut lines = stdout.lines(Budget::default());
    lines.next().await.unwrap();
    process.stop(Stop::Now).await;
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"goodbye");
    assert_eq!(process.exited().await, Exit::Code(5));
}
