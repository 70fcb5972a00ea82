//! The life of a session with Claude Code, played by the scripted agent: starting, crashing, hanging, talking nonsense,
//! resting, ending.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;
#[path = "support/processes.rs"]
mod processes;

use std::time::Duration;

use chat::Chat;
use claude::{Pace, Place, Stage};
use liminal_agents::{CliProvider, History, ProviderError};
use liminal_contract::{AgentStatus, ErrorCode, OutcomeBy};
use liminal_scripted_agent::{Steps, act, answered, script};

fn pid(stage: &Stage) -> i32 {
    let text = std::fs::read_to_string(stage.place.project().join("pid")).unwrap();
    text.trim().parse().unwrap()
}

#[tokio::test]
async fn a_session_lives_from_create_to_kill_and_leaves_nothing() {
    let script = script()
        .on_prompt("who")
        .run("r", "echo $PPID > pid")
        .say("Me.")
        .on_any_prompt()
        .say_prompt()
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    assert!(chat.is_alive());
    let turn = chat.send("who").await;
    assert!(matches!(chat.try_send("again").await, Err(ProviderError::Busy { .. })));
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    let pid = pid(&stage);
    assert_eq!(chat.asks("hello").await.how, "completed");

    stage.provider.kill_session(&chat.id).await.unwrap();
    assert!(!chat.is_alive());
    processes::are_gone(&[pid]).await;
    let error = chat.try_send("anybody?").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn what_does_not_start_is_said_and_leaves_no_session_and_no_process() {
    let missing = Stage::with("no-such-claude", &[], &[], Pace::default(), Place::new());
    assert!(matches!(missing.create().await, Err(ProviderError::NotInstalled { .. })));

    let dies = Stage::with(
        "/bin/sh",
        &["-c", "echo 'Error: settings are broken' >&2; exit 3"],
        &[],
        Pace::default(),
        Place::new(),
    );
    let error = dies.create().await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::SessionCreateFailed);
    assert!(error.to_string().contains("settings are broken"), "{error}");
    assert!(error.details().unwrap().stderr_tail.unwrap().contains("settings are broken"));

    let logged_out = Stage::with(
        "/bin/sh",
        &["-c", "echo 'Please run /login' >&2; exit 1"],
        &[],
        Pace::default(),
        Place::new(),
    );
    let error = logged_out.create().await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::AuthRequired);
    assert_eq!(error.details().unwrap().command.unwrap(), "claude auth login");

    // Long enough for it to say who it is, also on a machine that does much else.
    let pace = Pace { start: Duration::from_secs(5), ..Pace::default() };
    let hangs = "echo $$ > pid; exec sleep 600";
    let silent = Stage::with("/bin/sh", &["-c", hangs], &[], pace, Place::new());
    let error = silent.create().await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::AgentUnavailable);
    processes::are_gone(&[pid(&silent)]).await;

    let stage = Stage::scripted(&script().on_any_prompt().say_prompt().build(), Pace::default());
    std::fs::remove_dir_all(stage.place.project()).unwrap();
    let error = stage.create().await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::SessionCreateFailed);
}

#[tokio::test]
async fn a_crash_ends_the_turn_keeps_its_words_and_the_next_message_resumes() {
    let script = script()
        .on_prompt("crash")
        .say("half a wo")
        .crash(9, "out of memory\n")
        .on_any_prompt()
        .say_prompt()
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    assert_eq!(chat.asks("before").await.how, "completed");
    let end = chat.asks("crash").await;
    let (code, words) = (end.how, end.words);
    assert_eq!(code, "ProcessCrash");
    assert!(words.contains("exit code 9"), "{words}");
    chat.sees_it_leave().await;
    assert!(chat.texts().contains(&"half a wo".to_owned()));
    assert!(!chat.is_alive());
    stage.status_is(AgentStatus::Disconnected).await;

    assert_eq!(chat.asks("after").await.how, "completed");
    chat.sees("after").await;
    assert_eq!(
        *stage.statuses.lock().unwrap(),
        [
            AgentStatus::Starting,
            AgentStatus::Connected,
            AgentStatus::Disconnected,
            AgentStatus::Reconnecting,
            AgentStatus::Connected,
        ]
    );
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_crash_voids_the_open_question_and_so_does_the_end_of_the_session() {
    let script = script()
        .on_any_prompt()
        .run("r", "echo $PPID > pid")
        .command("c", "make")
        .ask("c", answered("allow", act().say("Made.")))
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    let turn = chat.send("go").await;
    let (item, _) = chat.asked().await;
    processes::signal(pid(&stage), rustix::process::Signal::KILL);
    assert_eq!(chat.end_of(&turn).await.how, "ProcessCrash");
    assert_eq!(chat.outcome(&item), Some((None, OutcomeBy::AgentLeft)));
    assert!(matches!(chat.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));

    let turn = chat.send("go").await;
    let (item, _) = chat.asked().await;
    stage.provider.kill_session(&chat.id).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    assert!(matches!(chat.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_ended_and_resumed_and_the_user_is_told() {
    let script = script()
        .on_prompt("stubborn")
        .say("never ")
        .ignore_cancel()
        .hang()
        .on_any_prompt()
        .say_prompt()
        .build();
    let pace = Pace { interrupt: Duration::from_millis(300), ..Pace::default() };
    let stage = Stage::scripted(&script, pace);
    let mut chat = stage.create().await.unwrap();
    assert_eq!(chat.asks("first").await.how, "completed");
    let turn = chat.send("stubborn").await;
    chat.sees("never").await;
    let error = chat.cancel().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InterruptFailed);
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    assert!(chat.notices()[0].contains("did not stop in time"));
    assert!(chat.is_alive(), "started again");
    assert_eq!(chat.asks("second").await.how, "completed");
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_restart_ends_a_process_that_only_hangs_and_the_session_goes_on() {
    let script = script()
        .on_prompt("hang")
        .run("r", "echo $PPID > pid")
        .say("Wait")
        .hang()
        .on_any_prompt()
        .say_prompt()
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    let turn = chat.send("hang").await;
    chat.sees("Wait").await;
    let hung = pid(&stage);

    stage.provider.reconnect(Some(&chat.id)).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "ProcessCrash");
    processes::are_gone(&[hung]).await;
    assert!(chat.is_alive());
    assert_eq!(chat.asks("again").await.how, "completed");
    chat.sees("again").await;
    assert_eq!(
        *stage.statuses.lock().unwrap(),
        [
            AgentStatus::Starting,
            AgentStatus::Connected,
            AgentStatus::Reconnecting,
            AgentStatus::Connected,
        ]
    );
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_reconnect_of_all_starts_every_session_that_crashed_and_no_other() {
    let script =
        script().on_prompt("crash").crash(9, "oh\n").on_any_prompt().run("r", "echo $PPID > pid");
    let stage = Stage::scripted(&script.build(), Pace::default());
    let mut crashed = [stage.create().await.unwrap(), stage.create().await.unwrap()];
    let mut well = stage.create().await.unwrap();
    assert_eq!(well.asks("who").await.how, "completed");
    let before = pid(&stage);
    stage.provider.reconnect(None).await.unwrap();
    for chat in &mut crashed {
        assert_eq!(chat.asks("crash").await.how, "ProcessCrash");
        chat.sees_it_leave().await;
    }
    while stage
        .statuses
        .lock()
        .unwrap()
        .iter()
        .filter(|it| **it == AgentStatus::Disconnected)
        .count()
        < 2
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(crashed.iter().all(|chat| !chat.is_alive()));

    stage.provider.reconnect(None).await.unwrap();
    assert!(crashed.iter().all(Chat::is_alive));
    assert_eq!(well.asks("who").await.how, "completed");
    assert_eq!(pid(&stage), before, "it was not touched");
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn noise_between_the_lines_harms_nobody() {
    let script = script()
        .on_any_prompt()
        .say("a")
        .raw("this is no JSON")
        .raw("{\"type\":\"from_the_future\",\"x\":1}")
        .raw("[1,2]")
        .say("b")
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    assert_eq!(chat.asks("go").await.how, "completed");
    assert_eq!(chat.texts().concat(), "ab");
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn an_idle_process_is_stopped_but_not_while_a_question_is_open() {
    let script = script()
        .on_prompt("ask")
        .command("c", "make")
        .ask("c", answered("allow", act().say("Made.")))
        .on_any_prompt()
        .say_prompt()
        .build();
    let pace = Pace { idle: Duration::from_millis(150), ..Pace::default() };
    let stage = Stage::scripted(&script, pace);
    let mut chat = stage.create().await.unwrap();
    let turn = chat.send("ask").await;
    let (item, _) = chat.asked().await;
    // Another session, started later and idle from the start, is stopped in the meantime.
    let other = stage.create().await.unwrap();
    while other.is_alive() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stage.status_is(AgentStatus::Idle).await;
    assert!(chat.is_alive());
    chat.answer(&item, "allow").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    while chat.is_alive() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(chat.left.is_empty(), "it did not leave, it rests");
    assert_eq!(chat.asks("more").await.how, "completed");
    assert!(chat.is_alive());
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_session_is_read_without_a_process_and_taken_up_by_the_next_message() {
    let script = script().on_any_prompt().say_prompt().build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut live = stage.create().await.unwrap();
    assert_eq!(live.asks("remember me").await.how, "completed");
    stage.provider.kill_session(&live.id).await.unwrap();

    let mut read = stage.load(live.id.local(), History::All).await.unwrap();
    read.is_told_the_history().await;
    assert!(!read.is_alive());
    assert_eq!(read.texts(), ["remember me", "remember me"]);
    assert_eq!(read.asks("go on").await.how, "completed");
    assert!(read.is_alive());

    // A session that is lost says so; one that never had a message simply starts.
    let nobody = uuid::Uuid::new_v4().to_string();
    assert!(matches!(
        stage.load(&nobody, History::All).await,
        Err(ProviderError::SessionUnknown { .. })
    ));
    let mut begun = stage.load(&nobody, History::Known).await.unwrap();
    assert_eq!(begun.asks("hello").await.how, "completed");
    for odd in ["../x", "a/b", ".."] {
        let load = liminal_agents::LoadSession {
            session_id: live.id.clone(),
            agent_ref: odd.to_owned(),
            project_dir: stage.place.project(),
            history: History::All,
            options: Vec::new(),
            fork: None,
        };
        assert!(matches!(
            stage.provider.load_session(load).await,
            Err(ProviderError::SessionUnknown { .. })
        ));
    }
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_refusal_and_a_policy_are_told_apart() {
    let script = script()
        .on_any_prompt()
        .command("c", "make clean")
        .ask(
            "c",
            answered("allow", act().tool_done("c", "ok").say("Clean.")).or(act().say("Then not.")),
        )
        .build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    let turn = chat.send("one").await;
    let (item, ask) = chat.asked().await;
    let auto = liminal_agents::auto_answer(&ask).unwrap();
    stage.provider.answer(&chat.id, &item, auto, OutcomeBy::Policy).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(chat.outcome(&item), Some((Some("allow".to_owned()), OutcomeBy::Policy)));

    let turn = chat.send("two").await;
    let (item, _) = chat.asked().await;
    chat.answer(&item, "deny").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(chat.outcome(&item), Some((Some("deny".to_owned()), OutcomeBy::User)));
    let calls = chat.calls();
    assert_eq!((calls[0].1.refused, calls[1].1.refused), (None, Some(true)));
    assert_eq!(chat.texts(), ["Clean.", "Then not."]);
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn ten_sessions_at_the_same_instant_all_answer_and_a_shutdown_ends_them_all() {
    let script = script().on_any_prompt().say_prompt().build();
    let stage = Stage::scripted(&script, Pace::default());
    let talks = tokio::join!(
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
        stage.create(),
    );
    let mut all = <[_; 10]>::from(talks).map(Result::unwrap);
    let mut turns = Vec::new();
    for chat in &mut all {
        turns.push(chat.send("hi").await);
    }
    for (chat, turn) in all.iter_mut().zip(&turns) {
        assert_eq!(chat.end_of(turn).await.how, "completed");
    }
    stage.provider.shutdown().await;
    assert!(all.iter().all(|chat| !chat.is_alive()));
}
