//! An agent that writes faster than we read has to wait; it does not fill our memory. Alone in its file, because it
//! measures the memory of its process.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/processes.rs"]
mod processes;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use liminal_agents::process::{Budget, Exit, Launch};
use processes::{PROGRAM, guard, hostile};

const LINES: usize = 1_000_000;
const BUDGET: usize = 8 * 1024 * 1024;

/// Megabytes this process holds in memory, if the system reports it.
fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0 / 1e6
}

#[tokio::test]
async fn a_flood_at_a_slow_consumer_costs_no_more_than_the_budget() {
    let launch = Launch::new("Flood", PROGRAM, "/").args(["flood", &LINES.to_string()]);
    let flood = launch.spawn(&guard()).await.unwrap();
    let other = hostile("echo").spawn(&guard()).await.unwrap();
    let budget = Budget::default();
    let mut lines = flood.stdout.lines(budget.clone());
    let before = resident();

    let mut queue = VecDeque::new();
    let (mut taken, mut most_held, mut most_resident) = (0, 0, before);
    let mut ended = false;
    while !ended || !queue.is_empty() {
        // The reader reads until it has to wait …
        while !ended {
            let mut next = pin!(lines.next());
            let full = budget.held() + 1024 > BUDGET;
            let line = poll_fn(|context| match next.as_mut().poll(context) {
                Poll::Pending if full => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
                Poll::Ready(line) => Poll::Ready(Some(line)),
            });
            match line.await {
                Some(line) => match line.unwrap() {
                    Some(line) => queue.push_back(line),
                    None => ended = true,
                },
                None => break,
            }
        }
        most_held = most_held.max(budget.held());
        most_resident = f64::max(most_resident, resident());
        // … and only then the consumer takes a few, in order.
        for line in queue.drain(..queue.len().min(2_000)) {
            let text = std::str::from_utf8(&line.bytes).unwrap();
            assert!(text.contains(&format!("\"n\":{taken},")), "{text}");
            taken += 1;
        }
        if taken == 2_000 {
            // In the meantime, another agent is read.
            assert!(flood.process.is_alive());
            other.stdin.write(b"hello\n".to_vec()).await.unwrap();
        }
    }
    println!(
        "{LINES} lines: most held {:.1} MB, memory {before:.1} MB before, {most_resident:.1} MB at most",
        most_held as f64 / 1e6
    );
    assert_eq!((taken, flood.process.exited().await), (LINES, Exit::Code(0)));
    assert!(most_held <= BUDGET);
    // Twice the budget is enough; the whole flood would be more than 100 MB.
    assert!(most_resident - before < 16.8, "{most_resident} MB");
    let mut heard = other.stdout.lines(Budget::default());
    heard.next().await.unwrap();
    assert_eq!(heard.next().await.unwrap().unwrap().bytes, b"hello");
}
