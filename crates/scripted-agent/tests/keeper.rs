//! A keeper and real processes: requested, started once, crashed, restarted, given up, stopped.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use liminal_agents::lifecycle::{Attempt, Connect, Keeper, Timing};
use liminal_agents::process::{Budget, Launch, Lines, Process, Started, Stdin, Stop};
use liminal_agents::{ProviderError, StatusChange};
use liminal_contract::AgentStatus::{self, Connected, Disconnected, Idle, Reconnecting, Starting};
use liminal_contract::CliType;
use processes::{are_gone, guard, hostile, lives, shell, signal};
use rustix::process::Signal;
use tokio::sync::mpsc;

/// Connected as soon as it reads one line.
struct Program {
    launch: Mutex<Launch>,
    starts: AtomicUsize,
}

struct Link {
    process: Process,
    _stdin: Stdin,
    _lines: tokio::sync::Mutex<Lines>,
}

#[async_trait]
impl Connect for Program {
    type Link = Link;

    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Link>, ProviderError> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let launch = self.launch.lock().unwrap().clone();
        let Started { process, stdin, stdout } = launch.spawn(&guard()).await?;
        attempt.runs(&process);
        let mut lines = stdout.lines(Budget::default());
        match lines.next().await {
            Ok(Some(_hello)) => Ok(Arc::new(Link { process, _stdin: stdin, _lines: lines.into() })),
            Ok(None) | Err(_) => Err(ProviderError::NotConnected {
                name: launch.name,
                reason: "It said nothing.".into(),
                stderr_tail: process.last_words().await,
            }),
        }
    }
}

struct Story {
    keeper: Keeper<Link>,
    program: Arc<Program>,
    statuses: mpsc::UnboundedReceiver<StatusChange>,
}

impl Story {
    fn of(launch: Launch) -> Self {
        Self::timed(launch, |_| {})
    }

    /// Pauses of a millisecond, because these are real processes and real time.
    fn timed(launch: Launch, change: impl FnOnce(&mut Timing)) -> Self {
        let mut timing =
            Timing { back_off: vec![Duration::from_millis(1); 5], ..Timing::default() };
        change(&mut timing);
        let program = Arc::new(Program { launch: Mutex::new(launch), starts: AtomicUsize::new(0) });
        let (tell, statuses) = mpsc::unbounded_channel();
        let cli_type = CliType::parse("hostile").unwrap();
        let connect: Arc<dyn Connect<Link = Link>> = Arc::clone(&program) as _;
        Self {
            keeper: Keeper::new((cli_type, None), "Hostile", timing, connect, tell),
            program,
            statuses,
        }
    }

    /// The next statuses, with the number of the attempt and whether they have the time of the next one.
    async fn says(&mut self, expected: &[(AgentStatus, Option<u32>, bool)]) {
        for expected in expected {
            let change = self.statuses.recv().await.unwrap();
            assert_eq!((change.status, change.attempt, change.retry_at.is_some()), *expected);
        }
    }

    async fn pid(&self) -> i32 {
        self.keeper.link().await.ok().unwrap().process.pid()
    }

    async fn refused(&self) -> String {
        self.keeper.link().await.err().unwrap().to_string()
    }

    fn becomes(&self, launch: Launch) {
        *self.program.launch.lock().unwrap() = launch;
    }

    fn starts(&self) -> usize {
        self.program.starts.load(Ordering::Relaxed)
    }
}

const FIRST_START: [(AgentStatus, Option<u32>, bool); 2] =
    [(Starting, None, false), (Connected, None, false)];

#[tokio::test]
async fn many_who_ask_at_once_share_one_process() {
    let mut story = Story::of(hostile("echo"));
    let asking: Vec<_> = (0..20)
        .map(|_| {
            let keeper = story.keeper.clone();
            tokio::spawn(async move { keeper.link().await.ok().unwrap().process.pid() })
        })
        .collect();
    let pid = story.pid().await;
    for asked in asking {
        assert_eq!(asked.await.unwrap(), pid);
    }
    assert_eq!(story.starts(), 1);
    story.says(&FIRST_START).await;
    assert!(story.keeper.connected().is_some());
    story.keeper.shutdown().await;
    story.says(&[(Idle, None, false)]).await;
    assert!(!lives(pid));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_so_and_not_tried_again() {
    let mut story = Story::of(Launch::new("Hostile", "no-such-program-anywhere", "/"));
    assert_eq!(story.refused().await, "Could not start Hostile. Check that it's installed.");
    story.says(&[(Starting, None, false), (Disconnected, None, false)]).await;
    assert_eq!((story.starts(), story.keeper.status()), (1, Disconnected));
    story.keeper.shutdown().await;
}

#[tokio::test]
async fn a_program_that_ends_before_it_is_ready_leaves_its_last_words() {
    let mut story = Story::of(shell("echo no config file >&2; exit 2"));
    assert_eq!(story.refused().await, "Could not connect to Shell. It said nothing.");
    story.statuses.recv().await.unwrap();
    let change = story.statuses.recv().await.unwrap();
    assert_eq!(change.details.unwrap().stderr_tail.as_deref(), Some("no config file\n"));
}

#[tokio::test]
async fn a_program_that_does_not_get_ready_in_time_is_ended_and_its_words_are_kept() {
    let script = "echo waiting for the network >&2; exec sleep 600";
    let mut story = Story::timed(shell(script), |timing| {
        // Long enough for its words, also on a machine that does much else.
        *timing = timing.clone().starting_within(Some(Duration::from_secs(5)));
    });
    let error = story.keeper.link().await.err().unwrap();
    assert_eq!(error.to_string(), "Could not connect to Hostile. It was not ready within 5 s.");
    assert_eq!(error.details().unwrap().stderr_tail.as_deref(), Some("waiting for the network\n"));
    story.says(&[(Starting, None, false), (Disconnected, None, false)]).await;
}

#[tokio::test]
async fn a_crashed_agent_comes_back_by_itself() {
    let mut story = Story::of(hostile("echo"));
    let first = story.pid().await;
    story.says(&FIRST_START).await;
    signal(first, Signal::KILL);
    story
        .says(&[
            (Disconnected, None, false),
            (Reconnecting, Some(1), true),
            (Reconnecting, Some(1), false),
            (Connected, None, false),
        ])
        .await;
    let second = story.pid().await;
    assert_ne!(first, second);
    story.keeper.shutdown().await;
    assert!(!lives(second));
}

#[tokio::test]
async fn an_agent_that_connects_and_crashes_again_and_again_ends_at_the_users_button() {
    let mut story = Story::of(shell("echo hello; exit 1"));
    // It may have ended before we get it; it only matters that it was started.
    let _gone_already = story.keeper.link().await;
    story.says(&FIRST_START).await;
    for attempt in 1..=5 {
        story
            .says(&[
                (Disconnected, None, false),
                (Reconnecting, Some(attempt), true),
                (Reconnecting, Some(attempt), false),
                (Connected, None, false),
            ])
            .await;
    }
    story.says(&[(Disconnected, None, false)]).await;
    assert_eq!(story.starts(), 6);
    assert!(story.refused().await.ends_with("Use Reconnect to try again."));
    assert_eq!(story.starts(), 6);

    story.becomes(hostile("echo"));
    story.keeper.reconnect().await.ok().unwrap();
    story.says(&[(Reconnecting, None, false), (Connected, None, false)]).await;
    story.keeper.shutdown().await;
}

#[tokio::test]
async fn restarts_that_fail_are_tried_five_times() {
    let mut story = Story::of(hostile("echo"));
    let first = story.pid().await;
    story.says(&FIRST_START).await;
    story.becomes(Launch::new("Hostile", "no-such-program-anywhere", "/"));
    signal(first, Signal::KILL);
    story.says(&[(Disconnected, None, false)]).await;
    for attempt in 1..=5 {
        story
            .says(&[(Reconnecting, Some(attempt), true), (Reconnecting, Some(attempt), false)])
            .await;
    }
    story.says(&[(Disconnected, None, false)]).await;
    assert_eq!(story.starts(), 6);
    assert_eq!(story.refused().await, "Could not start Hostile. Check that it's installed.");
    story.keeper.shutdown().await;
}

#[tokio::test]
async fn an_idle_agent_is_stopped_and_the_next_who_asks_gets_a_new_one() {
    let mut story = Story::timed(hostile("echo"), |timing| timing.idle = Duration::from_millis(50));
    // It is not idle while a turn runs.
    let turn = story.keeper.turn();
    let first = story.pid().await;
    story.says(&FIRST_START).await;
    turn.complete();
    story.says(&[(Idle, None, false)]).await;
    assert!(story.keeper.connected().is_none());
    let turn = story.keeper.turn();
    let second = story.pid().await;
    assert!(first != second && !lives(first) && lives(second));
    story.says(&FIRST_START).await;
    drop(turn);
    story.keeper.shutdown().await;
}

#[tokio::test]
async fn reconnecting_a_connected_agent_replaces_its_process() {
    let mut story = Story::of(hostile("echo"));
    let first = story.pid().await;
    story.says(&FIRST_START).await;
    let second = story.keeper.reconnect().await.ok().unwrap().process.pid();
    assert!(first != second && !lives(first) && lives(second));
    story.says(&[(Reconnecting, None, false), (Connected, None, false)]).await;
    story.keeper.shutdown().await;
}

#[tokio::test]
async fn shutting_down_under_a_start_leaves_nothing_and_refuses_who_waits() {
    let mut story = Story::of(hostile("silent"));
    let waits = {
        let keeper = story.keeper.clone();
        tokio::spawn(async move { keeper.link().await.err().unwrap().to_string() })
    };
    story.says(&[(Starting, None, false)]).await;
    story.keeper.shutdown().await;
    assert_eq!(waits.await.unwrap(), "Could not connect to Hostile. The server is stopping.");
    assert_eq!(story.refused().await, "Could not connect to Hostile. The server is stopping.");
}

#[tokio::test]
async fn an_agent_nobody_can_ask_for_any_more_is_ended() {
    let story = Story::of(hostile("echo"));
    let pid = story.pid().await;
    drop(story);
    are_gone(&[pid]).await;
}

#[tokio::test]
async fn the_trouble_of_one_agent_is_not_anothers() {
    let sound = Story::of(hostile("echo"));
    let pid = sound.pid().await;
    let mut broken = Story::of(shell("echo hello; exit 1"));
    let _gone_already = broken.keeper.link().await;
    while broken.keeper.status() != Disconnected || broken.starts() < 6 {
        broken.statuses.recv().await.unwrap();
    }
    assert_eq!((sound.pid().await, sound.starts()), (pid, 1));
    sound.keeper.link().await.ok().unwrap().process.stop(Stop::Kill).await;
    sound.keeper.shutdown().await;
}
