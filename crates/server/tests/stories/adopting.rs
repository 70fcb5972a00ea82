//! Sessions that were made in a terminal: listed when asked for, adopted once, read without their agent.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use liminal_contract::{
    ClientMessage, KeepingProgress, KeepingState, OutsideSession, Project, ServerMessage,
    SessionId, SessionListItem, SessionState,
};
use liminal_scripted_agent::{Steps, script};
use serde_json::{Value, json};

use crate::support::{App, Browser, Launch, descendants, in_time, numbered};

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

/// Keeps all, and waits until that is done.
async fn keep(browser: &mut Browser, project: &Project) {
    let project_id = Some(project.id.clone());
    let asked = ClientMessage::OutsideKeep { project_id, sessions: None };
    assert_eq!(browser.ask(asked).await, ServerMessage::Ok {});
    sees_kept(browser).await;
}

async fn sees_kept(browser: &mut Browser) -> KeepingProgress {
    loop {
        let told = browser.sees_told("outside:progress").await;
        let ServerMessage::OutsideProgress { progress } = told else { panic!("{told:?}") };
        if progress.state != KeepingState::Keeping {
            return progress;
        }
    }
}

fn adopted() -> SessionId {
    SessionId::parse(&format!("claude-code:{OUTSIDE}")).unwrap()
}

#[tokio::test]
async fn a_session_from_the_terminal_is_adopted_once_and_read_without_its_agent() {
    let (app, mut browser, project, _copy) = started().await;
    let ServerMessage::OutsideList { projects, directories, .. } =
        browser.ask(ClientMessage::OutsideList { project_id: None }).await
    else {
        panic!()
    };
    assert_eq!((&projects[0].project_id, projects[0].count), (&project.id, 1));
    assert!(directories.is_empty(), "the project itself is not offered as one");
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
    keep(&mut browser, &project).await;
    std::fs::remove_file(copy).unwrap();
    assert_eq!(browser.opens(&adopted()).await.texts(), ["Mend the cart", "Noted."]);
}

#[tokio::test]
async fn what_was_deleted_here_is_not_offered_again() {
    let (_app, mut browser, project, _copy) = started().await;
    keep(&mut browser, &project).await;
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

#[tokio::test]
async fn sessions_of_subdirectories_and_worktrees_belong_to_the_project_and_work_where_they_were_made()
 {
    let (app, mut browser, project, _copy) = started().await;
    let directory = PathBuf::from(&project.path);
    let inner = directory.join("api");
    std::fs::create_dir_all(&inner).unwrap();
    let beside = PathBuf::from(app.directory("beside")).canonicalize().unwrap();
    let kept = directory.join(".git/worktrees/beside");
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::write(kept.join("gitdir"), beside.join(".git").display().to_string()).unwrap();
    app.transcript("inner", &numbered(1), &inner, "In the api");
    app.transcript("beside", &numbered(2), &beside, "In the worktree");

    let found = outside(&mut browser, &project).await;
    let titles: Vec<_> = found.iter().map(|session| session.title.as_str()).collect();
    assert!(titles.contains(&"In the api") && titles.contains(&"In the worktree"), "{titles:?}");
    adopt(&mut browser, &project, &numbered(1)).await;
    let listed = browser.sessions(&project).await;
    let inside = listed.iter().find(|session| session.title == "In the api").unwrap();
    assert_eq!(inside.directory.as_deref(), inner.to_str());

    let session = inside.id.clone();
    browser.opens(&session).await;
    std::fs::remove_dir(&inner).unwrap();
    let refused = app.post(&format!("/api/session/{session}/send"), &json!({"content": "x"})).await;
    assert_eq!(refused.status, 400, "the directory is gone");
    assert_eq!(browser.opens(&session).await.texts(), ["In the api", "Done."]);
}

#[tokio::test]
async fn keeping_stops_when_the_user_says_so_and_goes_on_after_a_restart() {
    let (app, mut browser, project, _copy) = started().await;
    let directory = PathBuf::from(&project.path);
    for number in 0..300 {
        app.transcript("many", &numbered(number), &directory, "One of many");
    }
    let project_id = Some(project.id.clone());
    let asked = ClientMessage::OutsideKeep { project_id, sessions: None };
    assert_eq!(browser.ask(asked).await, ServerMessage::Ok {});
    assert_eq!(browser.ask(ClientMessage::OutsideStop {}).await, ServerMessage::Ok {});
    let stopped = sees_kept(&mut browser).await;
    assert_eq!((stopped.state, stopped.total), (KeepingState::Stopped, 301));
    let kept = browser.sessions(&project).await.len();
    assert!(kept < 300, "{kept}");
    assert_eq!(app.json("keeping.json")["waiting"], json!([]));

    // What waits when the server is killed is kept by the next one.
    let asked = ClientMessage::OutsideKeep { project_id: None, sessions: None };
    assert_eq!(browser.ask(asked).await, ServerMessage::Ok {});
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let all_are_kept = async { while browser.sessions(&project).await.len() < 302 {} };
    in_time(all_are_kept).await.unwrap();
    assert!(outside(&mut browser, &project).await.is_empty(), "each of them once");
}

#[tokio::test]
async fn a_session_kept_in_the_middle_of_a_turn_in_a_terminal_does_not_seem_to_work_for_ever() {
    let (_app, mut browser, project, copy) = started().await;
    let text = std::fs::read_to_string(&copy).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let typed = json!({"type": "user", "uuid": numbered(1), "parentUuid": last["uuid"],
        "cwd": project.path, "message": {"role": "user", "content": "And the door"}});
    std::fs::write(&copy, format!("{text}{typed}\n")).unwrap();
    keep(&mut browser, &project).await;
    let rests = async {
        let is_idle = |it: &SessionListItem| it.id == adopted() && it.state == SessionState::Idle;
        while !browser.sessions(&project).await.iter().any(is_idle) {}
    };
    in_time(rests).await.unwrap();
    assert!(browser.opens(&adopted()).await.texts().contains(&"And the door".to_owned()));
}

#[tokio::test]
async fn files_that_are_damaged_empty_or_huge_are_no_hindrance() {
    let (app, mut browser, project, _copy) = started().await;
    let directory = PathBuf::from(&project.path);
    let path = app.transcript("odd", &numbered(1), &directory, "Half of it");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let folder = path.parent().unwrap();
    std::fs::write(folder.join(format!("{}.jsonl", numbered(2))), "").unwrap();
    std::fs::write(folder.join(format!("{}.jsonl", numbered(3))), b"\x00\xff{\n[]\nnull\n")
        .unwrap();
    std::fs::create_dir(folder.join(format!("{}.jsonl", numbered(4)))).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join(format!("{}.jsonl", numbered(5))))
        .unwrap();
    let huge = app.transcript("odd", &numbered(6), &directory, "Very long");
    let file = std::fs::OpenOptions::new().write(true).open(&huge).unwrap();
    file.set_len(200 * 1024 * 1024).unwrap(); // The rest is zeros, without a line end.

    let found = outside(&mut browser, &project).await;
    let mut titles: Vec<_> = found.iter().map(|session| session.title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Half of it", "Mend the cart", "Very long"]);
    keep(&mut browser, &project).await;
    let session = SessionId::parse(&format!("claude-code:{}", numbered(6))).unwrap();
    assert_eq!(browser.opens(&session).await.texts(), ["Very long", "Done."]);
}

#[tokio::test]
async fn half_an_emoji_hides_no_session_and_costs_no_words() {
    let (app, mut browser, project, _copy) = started().await;
    let path = app.transcript("cut", &numbered(1), Path::new(&project.path), "Party HALF");
    let text = std::fs::read_to_string(&path).unwrap().replace("Done.", "Done HALF.");
    std::fs::write(&path, text.replace("HALF", r"\ud83c")).unwrap();
    let found = outside(&mut browser, &project).await;
    assert!(found.iter().any(|session| session.title == "Party \u{FFFD}"), "{found:?}");
    adopt(&mut browser, &project, &numbered(1)).await;
    let session = SessionId::parse(&format!("claude-code:{}", numbered(1))).unwrap();
    let texts = browser.opens(&session).await.texts();
    assert_eq!(texts, ["Party \u{FFFD}", "Done \u{FFFD}."]);
}

#[tokio::test]
async fn five_thousand_transcripts_are_listed_and_found_by_their_words() {
    let (app, mut browser, project, _copy) = started().await;
    let directory = PathBuf::from(&project.path);
    for number in 0..5000 {
        app.transcript("crowd", &numbered(number), &directory, &format!("Number {number}"));
    }
    assert_eq!(outside(&mut browser, &project).await.len(), 5001);
    let asked = ClientMessage::OutsideFind { query: "number 4321".to_owned() };
    let ServerMessage::OutsideFound { sessions, .. } = browser.ask(asked).await else { panic!() };
    let titles: Vec<_> = sessions.iter().map(|session| session.title.as_str()).collect();
    assert_eq!(titles, ["Number 4321"]);
}

#[tokio::test]
async fn what_an_agent_deletes_soon_is_said_and_new_ones_are_kept_by_themselves_if_the_user_wants()
{
    let (app, mut browser, project, _copy) = started().await;
    let directory = PathBuf::from(&project.path);
    let path = app.transcript("old", &numbered(1), &directory, "Old");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(28 * 24 * 60 * 60);
    std::fs::File::open(&path).unwrap().set_modified(old).unwrap();
    let found = outside(&mut browser, &project).await;
    let due: Vec<_> = found.iter().filter(|session| session.deleted_at.is_some()).collect();
    assert_eq!((found.len(), due.len(), due[0].title.as_str()), (2, 1, "Old"));

    let doctor = app.launch().command(&["doctor", "--port", "0"]).output().await.unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains(", 1 due for deletion"), "{doctor}");
    let asked = ClientMessage::OutsideAutomatic { on: true };
    browser.ask(asked).await;
    sees_kept(&mut browser).await;
    assert_eq!(browser.sessions(&project).await.len(), 3);
    assert!(outside(&mut browser, &project).await.is_empty());
}

/// As somebody who is not root, for whom files can be unreadable.
#[tokio::test]
async fn files_of_others_are_read_if_they_can_be_and_an_unreadable_one_can_be_read_later() {
    let may = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let app = Launch::new().without_root().start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let directory = PathBuf::from(&project.path);
    let written = |number, words| app.transcript("others", &numbered(number), &directory, words);
    let (open, foreign, closed) = (written(1, "Open"), written(2, "Foreign"), written(3, "Closed"));
    let _only_root_can = chown(&foreign, Some(1), Some(1));
    may(&closed, 0o000);
    let below = app.transcript("closed", &numbered(4), &directory, "In a closed folder");
    may(below.parent().unwrap(), 0o000);
    let found = outside(&mut browser, &project).await;
    let mut titles: Vec<_> = found.into_iter().map(|session| session.title).collect();
    titles.sort();
    assert_eq!(titles, ["Foreign", "Open"]);

    may(&open, 0o000);
    let project_id = Some(project.id.clone());
    let asked = ClientMessage::OutsideKeep { project_id, sessions: None };
    assert_eq!(browser.ask(asked).await, ServerMessage::Ok {});
    let kept = sees_kept(&mut browser).await;
    assert_eq!((kept.done, kept.failed), (2, 1));
    let id = |number| SessionId::parse(&format!("claude-code:{}", numbered(number))).unwrap();
    assert_eq!(browser.opens(&id(2)).await.texts(), ["Foreign", "Done."]);
    may(&open, 0o644);
    assert_eq!(browser.opens(&id(1)).await.texts(), ["Open", "Done."]);
    may(below.parent().unwrap(), 0o700);
}

#[tokio::test]
async fn an_agent_is_asked_for_its_own_list_page_by_page_when_the_list_is_opened() {
    let say = |text: &str| {
        let content = json!({"type": "text", "text": text});
        vec![
            json!({"sessionUpdate": "user_message_chunk", "content": content}),
            json!({"sessionUpdate": "agent_message_chunk", "content": content}),
        ]
    };
    let agent = script()
        .knows_session("cart", say("Mend the cart"))
        .knows_session("shed", say("Paint the shed"))
        .knows_session("till", say("Count the till"))
        .on_any_prompt()
        .say("Noted.")
        .stop("end_turn");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let asked = ClientMessage::OutsideAsk { project_id: project.id.clone() };
    let ServerMessage::OutsideList { sessions, .. } = browser.ask(asked.clone()).await else {
        panic!()
    };
    assert!(sessions.is_empty() && app.agents("scripted").is_empty(), "it was never used here");

    let ours = browser.creates_session(&project, "scripted").await;
    assert!(outside(&mut browser, &project).await.is_empty(), "nobody was asked");
    let ServerMessage::OutsideList { sessions, .. } = browser.ask(asked.clone()).await else {
        panic!()
    };
    let mut refs: Vec<_> = sessions.iter().map(|session| session.agent_ref.as_str()).collect();
    refs.sort_unstable();
    assert_eq!(refs, ["cart", "shed", "till"], "a page for each, and not our own {ours}");

    let shed = SessionId::parse("scripted:shed").unwrap();
    let adopt = ClientMessage::OutsideAdopt {
        project_id: project.id.clone(),
        cli_type: shed.cli_type(),
        refs: vec!["shed".to_owned()],
    };
    assert_eq!(browser.ask(adopt).await, ServerMessage::Ok {});
    assert_eq!(browser.opens(&shed).await.texts(), ["Paint the shed", "Paint the shed"]);
    let ServerMessage::OutsideList { sessions, .. } = browser.ask(asked).await else { panic!() };
    assert_eq!(sessions.len(), 2, "what is here is not offered");
}
