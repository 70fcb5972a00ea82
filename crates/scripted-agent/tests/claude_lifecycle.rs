//! The life of a session with Claude Code, played by the scripted agent: starting, crashing, hanging, talking nonsense,
//! resting, ending.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/claude.rs"]
mod claude;
#[path = "support/processes.rs"]
mod processes;

use std::time::Duration;

use claude::{Ended, Pace, Place, Stage};
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
    let mut talk = stage.create().await.unwrap();
    assert!(talk.is_alive());
    let turn = talk.send("who").await.unwrap();
    assert!(matches!(talk.send("again").await, Err(ProviderError::Busy { .. })));
    assert_eq!(talk.ends(&turn).await, Ended::Completed);
    let pid = pid(&stage);
    assert_eq!(talk.ask("hello").await, Ended::Completed);

    stage.provider.kill_session(&talk.id).await.unwrap();
    assert!(!talk.is_alive());
    processes::are_gone(&[pid]).await;
    let error = talk.send("anybody?").await.unwrap_err();
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

    let pace = Pace { start: Duration::from_millis(200), ..Pace::default() };
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
    let mut talk = stage.create().await.unwrap();
    assert_eq!(talk.ask("before").await, Ended::Completed);
    let Ended::Failed(code, words) = talk.ask("crash").await else { panic!("it must fail") };
    assert_eq!(code, "PROCESS_CRASH");
    assert!(words.contains("exit code 9"), "{words}");
    talk.left().await;
    assert!(talk.texts().contains(&"half a wo".to_owned()));
    assert!(!talk.is_alive());
    stage.status_is(AgentStatus::Disconnected).await;

    assert_eq!(talk.ask("after").await, Ended::Completed);
    talk.sees("after").await;
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
    let mut talk = stage.create().await.unwrap();
    let turn = talk.send("go").await.unwrap();
    let (item, _) = talk.asked().await;
    processes::signal(pid(&stage), rustix::process::Signal::KILL);
    assert!(matches!(talk.ends(&turn).await, Ended::Failed(code, _) if code == "PROCESS_CRASH"));
    assert_eq!(talk.outcome(&item), Some((None, OutcomeBy::AgentLeft)));
    assert!(matches!(talk.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));

    let turn = talk.send("go").await.unwrap();
    let (item, _) = talk.asked().await;
    stage.provider.kill_session(&talk.id).await.unwrap();
    assert_eq!(talk.ends(&turn).await, Ended::Cancelled);
    assert!(matches!(talk.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));
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
    let mut talk = stage.create().await.unwrap();
    assert_eq!(talk.ask("first").await, Ended::Completed);
    let turn = talk.send("stubborn").await.unwrap();
    talk.sees("never").await;
    let error = talk.cancel().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InterruptFailed);
    assert_eq!(talk.ends(&turn).await, Ended::Cancelled);
    assert!(talk.notices()[0].contains("did not stop in time"));
    assert!(talk.is_alive(), "started again");
    assert_eq!(talk.ask("second").await, Ended::Completed);
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
    let mut talk = stage.create().await.unwrap();
    let turn = talk.send("hang").await.unwrap();
    talk.sees("Wait").await;
    let hung = pid(&stage);

    stage.provider.reconnect(Some(&talk.id)).await.unwrap();
    assert!(matches!(talk.ends(&turn).await, Ended::Failed(code, _) if code == "PROCESS_CRASH"));
    processes::are_gone(&[hung]).await;
    assert!(talk.is_alive());
    assert_eq!(talk.ask("again").await, Ended::Completed);
    talk.sees("again").await;
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
    assert_eq!(well.ask("who").await, Ended::Completed);
    let before = pid(&stage);
    stage.provider.reconnect(None).await.unwrap();
    for talk in &mut crashed {
        assert!(matches!(talk.ask("crash").await, Ended::Failed(..)));
        talk.left().await;
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
    assert!(crashed.iter().all(|talk| !talk.is_alive()));

    stage.provider.reconnect(None).await.unwrap();
    assert!(crashed.iter().all(claude::Talk::is_alive));
    assert_eq!(well.ask("who").await, Ended::Completed);
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
    let mut talk = stage.create().await.unwrap();
    assert_eq!(talk.ask("go").await, Ended::Completed);
    assert_eq!(talk.texts().concat(), "ab");
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
    let mut talk = stage.create().await.unwrap();
    let turn = talk.send("ask").await.unwrap();
    let (item, _) = talk.asked().await;
    // Another session, started later and idle from the start, is stopped in the meantime.
    let other = stage.create().await.unwrap();
    stage.status_is(AgentStatus::Idle).await;
    assert!(!other.is_alive());
    assert!(talk.is_alive());
    talk.answer(&item, "allow").await.unwrap();
    assert_eq!(talk.ends(&turn).await, Ended::Completed);
    while talk.is_alive() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!talk.left, "it did not leave, it rests");
    assert_eq!(talk.ask("more").await, Ended::Completed);
    assert!(talk.is_alive());
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_session_is_read_without_a_process_and_taken_up_by_the_next_message() {
    let script = script().on_any_prompt().say_prompt().build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut live = stage.create().await.unwrap();
    assert_eq!(live.ask("remember me").await, Ended::Completed);
    stage.provider.kill_session(&live.id).await.unwrap();

    let mut read = stage.load(live.id.local(), History::All).await.unwrap();
    read.told().await;
    assert!(!read.is_alive());
    assert_eq!(read.texts(), ["remember me", "remember me"]);
    assert_eq!(read.ask("go on").await, Ended::Completed);
    assert!(read.is_alive());

    // A session that is lost says so; one that never had a message simply starts.
    let nobody = uuid::Uuid::new_v4().to_string();
    assert!(matches!(
        stage.load(&nobody, History::All).await,
        Err(ProviderError::SessionUnknown { .. })
    ));
    let mut begun = stage.load(&nobody, History::Known).await.unwrap();
    assert_eq!(begun.ask("hello").await, Ended::Completed);
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
    let mut talk = stage.create().await.unwrap();
    let turn = talk.send("one").await.unwrap();
    let (item, ask) = talk.asked().await;
    let auto = liminal_agents::auto_answer(&ask).unwrap();
    stage.provider.answer(&talk.id, &item, auto, OutcomeBy::Policy).await.unwrap();
    assert_eq!(talk.ends(&turn).await, Ended::Completed);
    assert_eq!(talk.outcome(&item), Some((Some("allow".to_owned()), OutcomeBy::Policy)));

    let turn = talk.send("two").await.unwrap();
    let (item, _) = talk.asked().await;
    talk.answer(&item, "deny").await.unwrap();
    assert_eq!(talk.ends(&turn).await, Ended::Completed);
    assert_eq!(talk.outcome(&item), Some((Some("deny".to_owned()), OutcomeBy::User)));
    let calls = talk.calls();
    assert_eq!((calls[0].1.refused, calls[1].1.refused), (None, Some(true)));
    assert_eq!(talk.texts(), ["Clean.", "Then not."]);
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
    for talk in &all {
        turns.push(talk.send("hi").await.unwrap());
    }
    for (talk, turn) in all.iter_mut().zip(&turns) {
        assert_eq!(talk.ends(turn).await, Ended::Completed);
    }
    stage.provider.shutdown().await;
    assert!(all.iter().all(|talk| !talk.is_alive()));
}
