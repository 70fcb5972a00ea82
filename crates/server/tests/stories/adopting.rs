//! Sessions that were made in a terminal: listed when asked for, adopted once, read without their agent.

use std::path::PathBuf;

use liminal_contract::{ClientMessage, OutsideSession, Project, ServerMessage, SessionId};
use liminal_scripted_agent::{Steps, script};

use crate::support::{App, Browser, Launch, descendants};

const OUTSIDE: &str = "1b671a64-40d5-491e-99b0-da01ff1f3341";

/// A project with a session of ours, and a copy of its file as if it had been made in a terminal.
async fn started() -> (App, Browser, Project, PathBuf) {
    let app =
        Launch::new().claude(script().on_any_prompt().say("Noted.").stop("end_turn")).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let ours = browser.creates_session(&project, "claude-code").await;
    browser.opens(&ours).await;
    let turn = browser.says_to(&ours, "Mend the cart").await;
    browser.sees_end(&turn).await;
    let kept = app.launch().home().join(".claude/projects");
    let folder = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(folder.join(format!("{}.jsonl", ours.local()))).unwrap();
    let copy = folder.join(format!("{OUTSIDE}.jsonl"));
    std::fs::write(&copy, text.replace(ours.local(), OUTSIDE)).unwrap();
    (app, browser, project, copy)
}

async fn outside(browser: &mut Browser, project: &Project) -> Vec<OutsideSession> {
    let asked = ClientMessage::OutsideList { project_id: Some(project.id.clone()) };
    let ServerMessage::OutsideList { sessions, .. } = browser.ask(asked).await else { panic!() };
    sessions
}

async fn adopt(browser: &mut Browser, project: &Project, agent_ref: &str) {
    let asked = ClientMessage::OutsideAdopt {
        project_id: project.id.clone(),
        cli_type: "claude-code".to_owned().try_into().unwrap(),
        refs: vec![agent_ref.to_owned()],
    };
    assert_eq!(browser.ask(asked).await, ServerMessage::Ok {});
}

fn adopted() -> SessionId {
    SessionId::parse(&format!("claude-code:{OUTSIDE}")).unwrap()
}

#[tokio::test]
async fn a_session_from_the_terminal_is_adopted_once_and_read_without_its_agent() {
    let (app, mut browser, project, _copy) = started().await;
    let ServerMessage::OutsideList { directories, .. } =
        browser.ask(ClientMessage::OutsideList { project_id: None }).await
    else {
        panic!()
    };
    assert_eq!((directories[0].path.as_str(), directories[0].count), (project.path.as_str(), 1));
    let found = outside(&mut browser, &project).await;
    assert_eq!(found.len(), 1, "our own session is not among them");
    assert_eq!((found[0].agent_ref.as_str(), found[0].title.as_str()), (OUTSIDE, "Mend the cart"));

    let app = app.restart().await;
    let mut browser = app.browser().await;
    for _twice in 0..2 {
        adopt(&mut browser, &project, OUTSIDE).await;
    }
    let listed = browser.sessions(&project).await;
    assert_eq!(listed.iter().filter(|session| session.id == adopted()).count(), 1);
    assert_eq!(browser.opens(&adopted()).await.texts(), ["Mend the cart", "Noted."]);
    assert!(descendants(app.pid()).is_empty(), "no agent was started");
    assert!(outside(&mut browser, &project).await.is_empty());

    let turn = browser.says_to(&adopted(), "And the till").await;
    browser.sees_end(&turn).await;
    let texts = browser.opens(&adopted()).await.texts();
    assert_eq!(texts, ["Mend the cart", "Noted.", "And the till", "Noted."]);
}

#[tokio::test]
async fn an_adopted_transcript_stays_when_the_agent_deletes_its_file() {
    let (_app, mut browser, project, copy) = started().await;
    adopt(&mut browser, &project, OUTSIDE).await;
    browser.sees_told("outside:progress").await;
    std::fs::remove_file(copy).unwrap();
    assert_eq!(browser.opens(&adopted()).await.texts(), ["Mend the cart", "Noted."]);
}

#[tokio::test]
async fn what_was_deleted_here_is_not_offered_again() {
    let (_app, mut browser, project, _copy) = started().await;
    adopt(&mut browser, &project, OUTSIDE).await;
    browser.sees_told("outside:progress").await;
    let asked = ClientMessage::SessionDelete { session_id: adopted(), worktree: None };
    browser.ask(asked).await;
    assert!(outside(&mut browser, &project).await.is_empty());
    adopt(&mut browser, &project, OUTSIDE).await;
    assert!(browser.sessions(&project).await.iter().all(|session| session.id != adopted()));
}

#[tokio::test]
async fn a_session_of_another_directory_is_not_adopted() {
    let (app, mut browser, project, copy) = started().await;
    let other = browser.adds_project(&app.directory("other")).await;
    assert!(outside(&mut browser, &other).await.is_empty());
    for agent_ref in [OUTSIDE, "../../etc/passwd", "", copy.to_str().unwrap()] {
        adopt(&mut browser, &other, agent_ref).await;
    }
    assert!(browser.sessions(&other).await.is_empty());
    assert_eq!(outside(&mut browser, &project).await.len(), 1);
}
