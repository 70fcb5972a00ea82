//! States of the files that could not be recorded in time are never called exact.

use liminal_contract::{
    ChangeAct, ChangeScope, ClientMessage, QueueAct, ServerMessage, SessionId, TurnId,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::{repository, write};
use crate::support::{Browser, Launch, in_time};

const BEFORE_LATE: &str = "The agent may have changed files before the first state was recorded.";
const AFTER_LATE: &str = "The agent had begun its next turn before the last state was recorded.";

/// The paths of a turn's changes and the notes, once both states are recorded.
async fn recorded(
    browser: &mut Browser,
    session: &SessionId,
    turn: &TurnId,
) -> (Vec<String>, Vec<String>) {
    let unknown = "The state before this turn was not recorded.";
    let known = in_time(async {
        loop {
            let scope = ChangeScope::Turn { turn_id: Some(turn.clone()) };
            let session_id = session.clone();
            match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
                ServerMessage::ChangesList { notes, .. } if notes.iter().any(|n| n == unknown) => {}
                ServerMessage::ChangesList { files, notes, .. } => {
                    return (files.into_iter().map(|file| file.path).collect(), notes);
                }
                other => panic!("no list: {other:?}"),
            }
        }
    });
    known.await.expect("the states are recorded in time")
}

#[tokio::test]
async fn a_state_recorded_after_the_agent_began_is_never_called_exact() {
    let agent = script()
        .on_prompt("work")
        .write_file("made.txt", "made\n")
        .say("Half.")
        .wait_for_file("go")
        .say("Done.");
    let (launch, stopped) = Launch::new().agent(agent).git_that_stops("ls-files --modified");
    let app = launch.start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "scripted").await;

    std::fs::write(&stopped.at, "").unwrap();
    let turn = browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Half.").await;
    // The agent works, and the state is not recorded yet: git gets no further than this.
    stopped.reached().await;
    std::fs::remove_file(&stopped.at).unwrap();
    let (_, notes) = recorded(&mut browser, &session, &turn).await;
    assert_eq!(notes, [BEFORE_LATE]);
    write(&directory, "go", "");
    browser.sees_end(&turn).await;

    let (files, notes) = recorded(&mut browser, &session, &turn).await;
    assert_eq!((files, notes), (vec!["go".to_owned()], vec![BEFORE_LATE.to_owned()]));
    let act = ChangeAct::UndoTurn { turn_id: Some(turn), paths: None };
    let preview = browser.previews(&session, &act).await;
    assert!(preview.cannot.iter().any(|words| words == BEFORE_LATE), "{:?}", preview.cannot);
}

#[tokio::test]
async fn a_message_that_the_agent_took_up_by_itself_has_a_state_before_it() {
    let agent = script()
        .on_prompt("work")
        .say("Prose.")
        .wait_for_message()
        .stop("end_turn")
        .on_any_prompt()
        .say("Answer.")
        .stop("end_turn");
    let app = Launch::new().claude(agent).start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Prose.").await;
    let message = browser.queues(&session, "and this").await;
    browser.acts_on(&session, &message, QueueAct::Steer {}).await;
    let turn = TurnId::new(message);
    browser.sees_end(&turn).await;
    let (files, notes) = recorded(&mut browser, &session, &turn).await;
    assert_eq!((files, notes), (Vec::new(), vec![BEFORE_LATE.to_owned()]));
}

#[tokio::test]
async fn a_state_that_the_next_turn_overtook_is_not_called_that_of_the_turn() {
    let agent = script()
        .on_prompt("first")
        .wait_for_file("begin")
        .write_file("one.txt", "one\n")
        .say("Half.")
        .wait_for_file("go")
        .say("First.")
        .on_prompt("second")
        .write_file("two.txt", "two\n")
        .say("Second.");
    let (launch, stopped) = Launch::new().agent(agent).git_that_stops("ls-files --modified");
    let app = launch.start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "scripted").await;

    let first = browser.says_to(&session, "first").await;
    // A busy machine may need longer than the message waits.
    recorded(&mut browser, &session, &first).await;
    write(&directory, "begin", "");
    browser.sees_text(&session, "Half.").await;
    std::fs::write(&stopped.at, "").unwrap();
    write(&directory, "go", "");
    browser.sees_end(&first).await;
    let second = browser.says_to(&session, "second").await;
    browser.sees_text(&session, "Second.").await;
    browser.sees_end(&second).await;
    std::fs::remove_file(&stopped.at).unwrap();

    let late = in_time(async {
        loop {
            let (files, notes) = recorded(&mut browser, &session, &first).await;
            if notes.iter().any(|words| words == AFTER_LATE) {
                return files;
            }
        }
    });
    let files = late.await.expect("it is said in time");
    assert!(files.contains(&"one.txt".to_owned()), "{files:?}");
    let act = ChangeAct::UndoTurn { turn_id: Some(first), paths: None };
    let preview = browser.previews(&session, &act).await;
    assert!(preview.cannot.iter().any(|words| words == AFTER_LATE), "{:?}", preview.cannot);
}
