//! A session with the real Claude Code that goes from a terminal to us and back, answered by a fake model on loopback.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;
#[path = "support/real.rs"]
mod real_agent;
#[path = "support/real_claude.rs"]
mod real_claude;

use std::time::Duration;

use chat::Chat;
use claude::Pace;
use liminal_agents::{CliProvider, ForkPlace, History};
use liminal_stream::{HistoryMark, SessionFact};
use real_claude::{Real, real};
use tokio::task::JoinHandle;

/// Looks at the session's file as often as a session's task does while somebody works on it.
fn watch(real: &Real, chat: &Chat, mark: HistoryMark) -> JoinHandle<()> {
    let (provider, id) = (real.provider.clone(), chat.id.clone());
    tokio::spawn(async move {
        let mut due = tokio::time::interval(Duration::from_millis(40));
        loop {
            due.tick().await;
            provider.look_elsewhere(&id, &mark).await;
        }
    })
}

/// Whether it was last reported to be in use elsewhere.
fn is_elsewhere(chat: &Chat) -> bool {
    let said = |fact: &SessionFact| match fact {
        SessionFact::Elsewhere(elsewhere) => Some(*elsewhere),
        _ => None,
    };
    chat.facts.iter().rev().find_map(said).unwrap_or(false)
}

fn last_mark(chat: &Chat) -> Option<HistoryMark> {
    chat.facts.iter().rev().find_map(|fact| match fact {
        SessionFact::HistoryMark(mark) => Some(mark.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn a_session_goes_from_a_terminal_to_us_and_back_and_each_side_knows_all_of_it() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let id = uuid::Uuid::new_v4().to_string();
    let mut there = real.terminal(&format!("--session-id={id}"));
    there.says("FAKE:TEXT First.").await;

    // Somebody works on it there: what is said is followed, one turn after the other.
    let mut here = real.load(&id, History::All).await.unwrap();
    here.is_told_the_history().await;
    assert_eq!(here.texts(), ["FAKE:TEXT First.", "First."]);
    here.until("it is in use", is_elsewhere).await;
    let before = here.mark().await;
    let watching = watch(&real, &here, before);
    there.says("FAKE:TEXT Second.").await;
    here.until("the second answer", |chat| chat.texts().len() == 4).await;
    assert_eq!(here.texts()[2..], ["FAKE:TEXT Second.", "Second."]);
    assert!(!here.is_alive(), "no process of ours was started");

    // A copy knows what was said there until now.
    let mut copy = real.fork(&here, ForkPlace::End).await.unwrap();
    assert_eq!(copy.asks("FAKE:HEARD").await.how, "completed");
    let heard = copy.texts().pop().unwrap();
    assert!(heard.contains("First.") && heard.contains("Second."), "{heard}");
    real.provider.kill_session(&copy.id).await.unwrap();

    // It ended there, and goes on here.
    there.ends().await;
    here.until("it is quiet", |chat| !is_elsewhere(chat)).await;
    watching.abort();
    let before = here.mark().await;
    assert_eq!(here.asks("FAKE:HEARD").await.how, "completed");
    let heard = here.texts().pop().unwrap();
    assert!(heard.contains("First.") && heard.contains("Second."), "{heard}");
    let is_newer = |chat: &Chat| last_mark(chat).is_some_and(|mark| mark.bytes > before.bytes);
    here.until("our own mark", is_newer).await;
    let mark = last_mark(&here).unwrap();
    let known = real.load_of(&id, History::Known);
    assert!(!real.provider.has_grown(&known, &mark).await, "nobody else wrote");

    // There again, while our process is idle: it is seen, shown, and known to the process that comes next.
    let mut there = real.terminal(&format!("--resume={id}"));
    there.says("FAKE:TEXT Third.").await;
    there.ends().await;
    assert!(real.provider.has_grown(&known, &mark).await);
    let after = History::After { mark, known: Vec::new() };
    let mut here = real.load(&id, after).await.unwrap();
    here.is_told_the_history().await;
    assert_eq!(here.texts(), ["FAKE:TEXT Third.", "Third."]);
    assert_eq!(here.asks("FAKE:HEARD").await.how, "completed");
    let heard = here.texts().pop().unwrap();
    assert!(heard.contains("Second.") && heard.contains("Third."), "{heard}");
    real.provider.shutdown().await;
}
