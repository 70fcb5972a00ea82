//! Going back in a conversation with the real Claude Code, answered by a fake model on loopback.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;
#[path = "support/real.rs"]
mod real_agent;
#[path = "support/real_claude.rs"]
mod real_claude;

use chat::Chat;
use claude::Pace;
use liminal_agents::{AgentPrompt, Attached, CliProvider, Fork, ForkPlace, History, ProviderError};
use liminal_contract::TurnId;
use real_agent::picture;
use real_claude::{Real, real};

/// The messages of the last request, as text.
fn asked(real: &Real) -> String {
    real.model.requests().last().unwrap().body["messages"].to_string()
}

async fn three_turns(real: &Real) -> (Chat, Vec<TurnId>) {
    let mut talk = real.create().await.unwrap();
    let mut turns = Vec::new();
    for fruit in ["apple", "pear", "plum"] {
        let turn = talk.send(&format!("FAKE:TEXT Noted {fruit}.")).await;
        assert_eq!(talk.end_of(&turn).await.how, "completed");
        turns.push(turn);
    }
    (talk, turns)
}

#[tokio::test]
async fn a_fork_remembers_what_was_said_before_its_place_and_nothing_after() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let (mut talk, turns) = three_turns(&real).await;

    let mut edited = real.fork(&talk, ForkPlace::Before(turns[2].clone())).await.unwrap();
    assert_eq!(edited.asks("FAKE:TEXT Instead.").await.how, "completed");
    let messages = asked(&real);
    assert!(messages.contains("Noted apple.") && messages.contains("Noted pear."), "{messages}");
    assert!(!messages.contains("Noted plum"), "{messages}");

    let mut whole = real.fork(&talk, ForkPlace::End).await.unwrap();
    // What is said in the original after that is not part of it, even if the process starts again.
    assert_eq!(talk.asks("FAKE:TEXT Noted fig.").await.how, "completed");
    real.provider.reconnect(Some(&whole.id)).await.unwrap();
    assert_eq!(whole.asks("FAKE:TEXT Further.").await.how, "completed");
    let messages = asked(&real);
    assert!(messages.contains("Noted plum") && !messages.contains("Noted fig"), "{messages}");
    // And it remembers its own words in another process.
    real.provider.reconnect(Some(&whole.id)).await.unwrap();
    assert_eq!(whole.asks("FAKE:TEXT Still.").await.how, "completed");
    assert!(asked(&real).contains("Further."));
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_fork_in_the_middle_of_a_turn_ends_with_those_words() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut talk = real.create().await.unwrap();
    let turn = talk.send("FAKE:BASH echo hello").await;
    assert_eq!(talk.end_of(&turn).await.how, "completed");
    assert_eq!(talk.asks("FAKE:TEXT Noted fig.").await.how, "completed");
    let words = talk.texts().first().unwrap().clone();
    let place = ForkPlace::AfterWords { turn, words: words.clone(), nth: 0 };
    let mut forked = real.fork(&talk, place).await.unwrap();
    assert_eq!(forked.asks("FAKE:TEXT Further.").await.how, "completed");
    let messages = asked(&real);
    assert!(messages.contains(&serde_json::to_string(&words).unwrap()), "{words} in {messages}");
    assert!(!messages.contains("Noted fig"), "{messages}");
    real.provider.shutdown().await;
}

#[tokio::test]
async fn there_is_no_way_back_before_the_first_message_or_a_clear() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let (mut talk, turns) = three_turns(&real).await;
    let at = |agent_ref: String, turn: &TurnId| {
        let (provider, id, place) =
            (real.provider.clone(), talk.id.clone(), ForkPlace::Before(turn.clone()));
        async move { provider.fork_at(&id, &agent_ref, place).await }
    };
    assert_eq!(at(talk.id.local().to_owned(), &turns[0]).await, None);
    assert_eq!(talk.asks("/clear").await.how, "completed");
    talk.knows("the new id", |fact| matches!(fact, liminal_stream::SessionFact::AgentRef(_))).await;
    let now = talk.facts.iter().rev().find_map(|fact| match fact {
        liminal_stream::SessionFact::AgentRef(now) => Some(now.clone()),
        _ => None,
    });
    assert_eq!(talk.asks("FAKE:TEXT Anew.").await.how, "completed");
    let place = ForkPlace::Before(turns[2].clone());
    assert_eq!(real.provider.fork_at(&talk.id, &now.unwrap(), place).await, None);
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_fork_at_an_unknown_record_is_refused_before_the_session_is_made() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let (talk, _) = three_turns(&real).await;
    let fork = real.provider.fork_at(&talk.id, talk.id.local(), ForkPlace::End).await.unwrap();
    let unknown = Fork { at: Some(uuid::Uuid::new_v4().to_string()), ..fork };
    let refused = real.create_in(real.place.project(), Some(unknown)).await.err().unwrap();
    assert!(matches!(refused, ProviderError::SessionRefused { .. }), "{refused:?}");
    real.provider.shutdown().await;
}

/// What Claude Code does when it is resumed in another directory than the one a conversation began in.
#[tokio::test]
async fn a_fork_in_another_directory_remembers_and_works_there() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let (talk, _) = three_turns(&real).await;
    let elsewhere = real.place.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();

    let fork = real.provider.fork_at(&talk.id, talk.id.local(), ForkPlace::End).await.unwrap();
    let mut forked = real.create_in(elsewhere.clone(), Some(fork)).await.unwrap();
    let turn = forked.send("FAKE:BASH pwd > where.txt").await;
    let (item, _) = forked.asked().await;
    forked.answer(&item, "allow").await.unwrap();
    assert_eq!(forked.end_of(&turn).await.how, "completed");
    assert!(asked(&real).contains("Noted plum."), "{}", asked(&real));
    let place = std::fs::read_to_string(elsewhere.join("where.txt")).unwrap();
    assert_eq!(place.trim(), elsewhere.to_str().unwrap());
    // It is kept with the sessions of the new directory.
    let folder = |path: &std::path::Path| {
        let name = path.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        real.place.home().join(".claude/projects").join(name)
    };
    let file = format!("{}.jsonl", forked.id.local());
    assert!(
        folder(&elsewhere).join(&file).exists()
            && !folder(&real.place.project()).join(&file).exists()
    );

    // Resumed without a fork, the session itself goes on.
    let own = talk.id.local().to_owned();
    real.provider.kill_session(&talk.id).await.unwrap();
    let mut resumed = real.load_in(elsewhere, &own, History::Known).await.unwrap();
    assert_eq!(resumed.asks("FAKE:TEXT Here too.").await.how, "completed");
    assert!(asked(&real).contains("Noted plum."), "{}", asked(&real));
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_picture_reaches_the_model_in_a_running_turn() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut talk = real.create().await.unwrap();
    let turn = talk.send("FAKE:BASH echo hello > made.txt").await;
    let (item, _) = talk.asked().await;
    let attached = vec![Attached::Picture(picture("dot.png"))];
    talk.steer(AgentPrompt { text: "Also look at this.".into(), attached }).await;
    talk.answer(&item, "allow").await.unwrap();
    assert_eq!(talk.end_of(&turn).await.how, "completed");
    let messages = asked(&real);
    assert!(
        messages.contains("\"type\":\"image\"") && messages.contains("Also look"),
        "{messages}"
    );
    real.provider.shutdown().await;
}
