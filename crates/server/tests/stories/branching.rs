//! Going back in a session: an edited message continues in a new version, and a branch is a session of its own.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use liminal_contract::{
    BranchAt, BranchKind, ChangeScope, ClientMessage, ErrorCode, ItemId, Memory, Project,
    ServerMessage, SessionId, SessionListItem, Timestamp, TurnId,
};
use liminal_scripted_agent::{ScriptBuilder, Step, Steps, script};
use serde_json::{Value, json};

use crate::support::acts::git;
use crate::support::{App, Browser, Launch, in_time};

fn echo() -> ScriptBuilder {
    script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
}

/// A session with two turns, "one" and "two".
async fn two_turns(launch: Launch, agent: &str) -> (App, Browser, Project, SessionId, [TurnId; 2]) {
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, agent).await;
    browser.opens(&session).await;
    let mut turns = Vec::new();
    for content in ["one", "two"] {
        let turn = browser.says_to(&session, content).await;
        browser.sees_end(&turn).await;
        turns.push(turn);
    }
    (app, browser, project, session, [turns[0].clone(), turns[1].clone()])
}

fn branch(
    session: &SessionId,
    (item, at, kind): (ItemId, BranchAt, BranchKind),
    content: Option<&str>,
) -> ClientMessage {
    ClientMessage::SessionBranch {
        session_id: session.clone(),
        item_id: Some(item),
        at,
        kind,
        content: content.map(str::to_owned),
        attachments: Vec::new(),
        restore_files: None,
        paths: None,
        expect: None,
    }
}

async fn branches(
    browser: &mut Browser,
    session: &SessionId,
    place: (ItemId, BranchAt, BranchKind),
    content: Option<&str>,
) -> ServerMessage {
    browser.ask(branch(session, place, content)).await
}

fn created(answer: ServerMessage) -> SessionListItem {
    match answer {
        ServerMessage::SessionCreated { session, .. } => session,
        other => panic!("no session was made: {other:?}"),
    }
}

async fn edits(
    browser: &mut Browser,
    session: &SessionId,
    turn: &TurnId,
    content: &str,
) -> SessionListItem {
    let before = (ItemId::user(turn), BranchAt::Before, BranchKind::Edit);
    created(branches(browser, session, before, Some(content)).await)
}

/// Waits until the transcript has these words, and returns its texts. It may have had them before anybody looked.
async fn reads(browser: &mut Browser, session: &SessionId, words: &str) -> Vec<String> {
    loop {
        let history = browser.opens(session).await;
        let is_there = history
            .entries
            .iter()
            .any(|entry| serde_json::to_string(entry).unwrap().contains(words));
        if is_there {
            return history.texts();
        }
        let is_news = |frame: &Value| {
            let kind = frame["type"].as_str()?;
            let is_it = matches!(kind, "session:upsert" | "session:turn" | "session:facts");
            (is_it && frame["sessionId"] == session.as_str()).then_some(())
        };
        browser.sees(words, is_news).await;
    }
}

/// Waits until a session has had so many turns and none runs.
async fn rests_after(browser: &mut Browser, session: &SessionId, turns: usize) {
    loop {
        let history = browser.opens(session).await;
        if history.turns.len() == turns && history.turns.iter().all(|turn| turn.outcome.is_some()) {
            return;
        }
        let is_turn = |frame: &Value| {
            let is_it = frame["type"] == "session:turn" && frame["sessionId"] == session.as_str();
            is_it.then_some(())
        };
        browser.sees("a turn that begins or ends", is_turn).await;
    }
}

/// Everything in the agent's own files that holds these words.
fn files_with(app: &App, words: &str) -> usize {
    let folders = std::fs::read_dir(app.launch().home().join(".claude/projects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts.filter(|text| text.contains(words)).count()
}

#[tokio::test]
async fn an_edited_message_continues_in_a_new_version_that_the_agent_remembers() {
    let (app, mut browser, project, session, [_, second]) =
        two_turns(Launch::new().claude(echo()), "claude-code").await;
    let newer = edits(&mut browser, &session, &second, "two, better").await;
    let of = newer.branch_of.clone().unwrap();
    assert_eq!(
        (of.session_id, of.kind, of.memory),
        (session.clone(), BranchKind::Edit, Memory::Own)
    );
    assert_eq!(newer.title, of.title, "it goes by the same name");

    let texts = reads(&mut browser, &newer.id, "You said: two, better").await;
    assert_eq!(texts, ["one", "You said: one", "two, better", "You said: two, better"]);
    assert_eq!(
        browser.opens(&session).await.texts(),
        ["one", "You said: one", "two", "You said: two"]
    );
    // The agent's own file of it has what was kept, and not what was replaced. It is written after the words are sent.
    let is_written = async {
        while files_with(&app, "You said: two, better") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(is_written).await.expect("the agent never wrote it");
    assert_eq!(files_with(&app, "You said: one"), 2);

    // The earlier version is only read, in every browser and after a restart.
    let refused = browser.tries_to_say_to(&session, "three").await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionReadOnly, .. }),
        "{refused:?}"
    );
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let rows = browser.sessions(&project).await;
    let old = rows.iter().find(|row| row.id == session).unwrap();
    assert_eq!(old.newer.as_ref(), Some(&newer.id));
    let refused = browser.tries_to_say_to(&session, "three").await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionReadOnly, .. }),
        "{refused:?}"
    );

    // None of the agent's files looks like a session from outside.
    let listed =
        browser.ask(ClientMessage::OutsideList { project_id: Some(project.id.clone()) }).await;
    assert!(
        matches!(&listed, ServerMessage::OutsideList { sessions, .. } if sessions.is_empty()),
        "{listed:?}"
    );

    // Without the newer one it is a session like any other.
    browser
        .ask(ClientMessage::SessionDelete { session_id: newer.id.clone(), worktree: None })
        .await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "three").await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn a_branch_leaves_the_other_session_as_it_is() {
    let (_app, mut browser, project, session, [first, _]) =
        two_turns(Launch::new().claude(echo()), "claude-code").await;
    let answer = ItemId::block(&first, 0, 0);
    let after = (answer, BranchAt::After, BranchKind::Branch);
    let branch = created(branches(&mut browser, &session, after, None).await);
    assert_eq!(branch.branch_of.as_ref().unwrap().memory, Memory::Own);
    assert_eq!(browser.opens(&branch.id).await.texts(), ["one", "You said: one"]);
    for (id, said) in [(&branch.id, "other two"), (&session, "three")] {
        browser.opens(id).await;
        let turn = browser.says_to(id, said).await;
        browser.sees_end(&turn).await;
    }
    assert_eq!(browser.opens(&branch.id).await.texts().len(), 4);
    assert_eq!(browser.opens(&session).await.texts().len(), 6);
    assert!(browser.sessions(&project).await.iter().all(|row| row.newer.is_none()));
}

#[tokio::test]
async fn an_agent_that_cant_go_back_gets_the_transcript_and_the_session_says_so() {
    let (_app, mut browser, _, session, [first, second]) =
        two_turns(Launch::new().agent(echo()), "scripted").await;
    let newer = edits(&mut browser, &session, &second, "two, better").await;
    assert_eq!(newer.branch_of.as_ref().unwrap().memory, Memory::Transcript);
    reads(&mut browser, &newer.id, "can't go back to this point by itself").await;
    let texts = reads(&mut browser, &newer.id, "You said: ").await;
    assert_eq!(texts[..3], ["one", "You said: one", "two, better"]);

    // Before the first message there is nothing to remember.
    let again = edits(&mut browser, &newer.id, &first, "one, better").await;
    assert_eq!(again.branch_of.as_ref().unwrap().memory, Memory::Nothing);
    let texts = reads(&mut browser, &again.id, "You said: one, better").await;
    assert_eq!(texts, ["one, better", "You said: one, better"]);
}

#[tokio::test]
async fn an_agent_that_begins_again_does_not_rename_the_conversation() {
    let names = |title: &str| Step::Title(title.to_owned());
    let agent =
        script().on_prompt("better").step(names("Two, better")).say("Yes.").stop("end_turn");
    let agent = agent.on_any_prompt().step(names("One")).say("Yes.").stop("end_turn");
    let (_app, mut browser, project, session, [_, second]) =
        two_turns(Launch::new().agent(agent), "scripted").await;
    let newer = edits(&mut browser, &session, &second, "two, better").await;
    rests_after(&mut browser, &newer.id, 2).await;
    let turn = browser.says_to(&newer.id, "even better").await;
    browser.sees_end(&turn).await;
    let titles = browser.sessions(&project).await.into_iter().filter(|it| it.id == newer.id);
    assert_eq!(titles.map(|it| it.title).collect::<Vec<_>>(), ["One"]);
}

#[tokio::test]
async fn only_whole_sessions_of_an_acp_agent_are_forked() {
    let forks = echo().about(|about| about.fork = true);
    let (_app, mut browser, _, session, [first, second]) =
        two_turns(Launch::new().agent(forks), "scripted").await;
    let end = (ItemId::block(&second, 0, 0), BranchAt::After, BranchKind::Branch);
    let whole = created(branches(&mut browser, &session, end, None).await);
    assert_eq!(whole.branch_of.unwrap().memory, Memory::Own);
    let middle = (ItemId::block(&first, 0, 0), BranchAt::After, BranchKind::Branch);
    let part = created(branches(&mut browser, &session, middle, None).await);
    assert_eq!(part.branch_of.unwrap().memory, Memory::Transcript);
}

#[tokio::test]
async fn an_edit_that_makes_no_sense_changes_nothing() {
    let (_app, mut browser, project, session, [first, second]) =
        two_turns(Launch::new().claude(echo()), "claude-code").await;
    let agents = (ItemId::block(&first, 0, 0), BranchAt::Before, BranchKind::Edit);
    let after = (ItemId::user(&second), BranchAt::After, BranchKind::Edit);
    let nowhere = (ItemId::new("nowhere"), BranchAt::After, BranchKind::Branch);
    let wordless = (ItemId::user(&second), BranchAt::Before, BranchKind::Edit);
    for (place, content) in
        [(agents, Some("x")), (after, Some("x")), (nowhere, None), (wordless, None)]
    {
        let refused = branches(&mut browser, &session, place, content).await;
        assert!(
            matches!(refused, ServerMessage::Error { code: ErrorCode::InvalidMessage, .. }),
            "{refused:?}"
        );
    }
    assert_eq!(browser.sessions(&project).await.len(), 1);
    let turn = browser.says_to(&session, "three").await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn an_edit_waits_for_an_empty_queue_and_stops_what_runs() {
    let agent = script()
        .on_prompt("work")
        .say("Working.")
        .wait_for_cancel()
        .stop("cancelled")
        .on_any_prompt()
        .say("Answer.")
        .stop("end_turn");
    let app = Launch::new().claude(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_text(&session, "Working.").await;
    let queued = browser.queues(&session, "later").await;
    let place = || (ItemId::user(&turn), BranchAt::Before, BranchKind::Edit);
    let refused = branches(&mut browser, &session, place(), Some("other")).await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionBusy, .. }),
        "{refused:?}"
    );
    let remove = liminal_contract::QueueAct::Remove {};
    browser.acts_on(&session, &queued, remove).await;

    let later = Timestamp::from(SystemTime::now()).after(Duration::from_secs(3600));
    let plan = ClientMessage::SessionContinueAt { session_id: session.clone(), at: Some(later) };
    assert_eq!(browser.ask(plan).await, ServerMessage::Ok {});
    let newer = created(branches(&mut browser, &session, place(), Some("other")).await);
    browser.sees_end(&turn).await;
    reads(&mut browser, &newer.id, "Answer.").await;
    let facts = browser.opens(&session).await.facts;
    assert_eq!(facts.continue_at, None, "nothing is sent to a version that was replaced");
}

#[tokio::test]
async fn an_edit_that_fails_leaves_the_session_and_its_planned_message_as_they_were() {
    let (app, mut browser, project, session, [_, second]) =
        two_turns(Launch::new().agent(echo()), "scripted").await;
    let later = Timestamp::from(SystemTime::now()).after(Duration::from_secs(3600));
    let plan = ClientMessage::SessionContinueAt { session_id: session.clone(), at: Some(later) };
    assert_eq!(browser.ask(plan).await, ServerMessage::Ok {});

    let (script, away) = (app.file("scripted.json"), app.file("away.json"));
    std::fs::rename(&script, &away).unwrap();
    app.kill_agent("scripted");
    let place = (ItemId::user(&second), BranchAt::Before, BranchKind::Edit);
    let refused = branches(&mut browser, &session, place, Some("other")).await;
    assert!(matches!(refused, ServerMessage::Error { .. }), "{refused:?}");
    std::fs::rename(&away, &script).unwrap();

    assert_eq!(browser.sessions(&project).await.len(), 1);
    let planned = browser.opens(&session).await.facts.continue_at;
    assert_eq!(planned.map(|planned| planned.at), Some(later));
    let turn = browser.says_to(&session, "three").await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn after_a_crash_the_edited_message_stands_in_the_new_version() {
    let agent = script().on_prompt("never").hang().on_any_prompt().say("Answer.").stop("end_turn");
    let app = Launch::new().claude(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "one").await;
    browser.sees_end(&turn).await;
    let newer = edits(&mut browser, &session, &turn, "never").await;
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let history = browser.opens(&newer.id).await;
    let waits: Vec<Value> =
        history.facts.queue.messages.iter().map(|queued| json!(queued.content)).collect();
    let said = history.texts().iter().filter(|text| *text == "never").count();
    assert_eq!(said + waits.len(), 1, "in the transcript or in the queue: {:?}", history.texts());
}

/// A session with two turns, each session in a process of its own that starts only while the file exists.
async fn gated() -> (App, Browser, Project, SessionId, [TurnId; 2], PathBuf) {
    let launch = Launch::new();
    let gate = launch.home().join("gate");
    std::fs::write(&gate, "").unwrap();
    let agent = script().wait_for_file(gate.to_str().unwrap());
    let agent = agent.on_any_prompt().say("You said: ").say_prompt().stop("end_turn");
    let launch = launch.agent(agent).processes_per_session("scripted");
    let (app, browser, project, session, turns) = two_turns(launch, "scripted").await;
    std::fs::remove_file(&gate).unwrap();
    (app, browser, project, session, turns, gate)
}

/// Begins an edit, and returns when its agent is starting.
async fn begins_to_edit(
    (app, browser): (&App, &mut Browser),
    session: &SessionId,
    turn: &TurnId,
    content: &str,
) -> String {
    let before = app.agents("scripted");
    let place = (ItemId::user(turn), BranchAt::Before, BranchKind::Edit);
    let request = browser.send(branch(session, place, Some(content))).await;
    let starts = async {
        while app.agents("scripted").iter().all(|agent| before.contains(agent)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(starts).await.expect("no agent was started for the edit");
    request
}

#[tokio::test]
async fn an_edit_of_a_session_that_is_deleted_meanwhile_is_a_session_or_leaves_nothing() {
    let (app, mut browser, project, session, [first, second], gate) = gated().await;
    let mut other = app.browser().await;
    let delete = |session: &SessionId| ClientMessage::SessionDelete {
        session_id: session.clone(),
        worktree: None,
    };
    // Before the first message there is nothing that could be missing.
    let edit = begins_to_edit((&app, &mut browser), &session, &first, "one, better").await;
    other.ask(delete(&session)).await;
    std::fs::write(&gate, "").unwrap();
    let made = created(browser.sees_reply(&edit).await);
    let listed: Vec<_> = browser.sessions(&project).await.into_iter().map(|row| row.id).collect();
    assert_eq!(listed, std::slice::from_ref(&made.id));
    let texts = reads(&mut browser, &made.id, "You said: one, better").await;
    assert_eq!(texts, ["one, better", "You said: one, better"]);

    // What came before the second message is gone, so there is nothing to continue.
    let turn = browser.says_to(&made.id, "two").await;
    browser.sees_end(&turn).await;
    std::fs::remove_file(&gate).unwrap();
    assert_ne!(second, turn);
    let edit = begins_to_edit((&app, &mut browser), &made.id, &turn, "two, better").await;
    other.ask(delete(&made.id)).await;
    std::fs::write(&gate, "").unwrap();
    let refused = browser.sees_reply(&edit).await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionNotFound, .. }),
        "{refused:?}"
    );
    assert_eq!(browser.sessions(&project).await, []);
    let ends = async {
        while !app.agents("scripted").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(ends).await.expect("an agent runs for a session that nobody knows");
}

#[tokio::test]
async fn of_two_edits_at_once_the_second_is_refused_and_leaves_nothing() {
    let (app, mut browser, project, session, [_, second], gate) = gated().await;
    let mut other = app.browser().await;
    let edit = begins_to_edit((&app, &mut browser), &session, &second, "mine").await;
    let place = (ItemId::user(&second), BranchAt::Before, BranchKind::Edit);
    let refused = branches(&mut other, &session, place, Some("theirs")).await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionReadOnly, .. }),
        "{refused:?}"
    );
    std::fs::write(&gate, "").unwrap();
    let newer = created(browser.sees_reply(&edit).await);
    let rows = browser.sessions(&project).await;
    assert_eq!(rows.len(), 2);
    let old = rows.iter().find(|row| row.id == session).unwrap();
    assert_eq!(old.newer.as_ref(), Some(&newer.id));
    let refused = browser.tries_to_say_to(&session, "three").await;
    assert!(
        matches!(refused, ServerMessage::Error { code: ErrorCode::SessionReadOnly, .. }),
        "{refused:?}"
    );
    reads(&mut browser, &newer.id, "You said: mine").await;
}

#[tokio::test]
async fn a_version_whose_newer_one_is_gone_after_a_crash_can_be_continued() {
    let (app, mut browser, _, session, [_, second]) =
        two_turns(Launch::new().agent(echo()), "scripted").await;
    let newer = edits(&mut browser, &session, &second, "two, better").await;
    let launch = app.launch().clone();
    app.stop().await;
    // As a server leaves it that is killed while it deletes the newer one.
    let file = launch.data_dir().join("sessions.json");
    let mut list: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let sessions = list["sessions"].as_array_mut().unwrap();
    sessions.retain(|row| row["id"] != newer.id.as_str());
    assert_eq!(sessions[0]["newer"], newer.id.as_str());
    std::fs::write(&file, list.to_string()).unwrap();
    let app = launch.start().await;
    let mut browser = app.browser().await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "three").await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn an_earlier_version_is_no_other_session_in_the_directory() {
    let (app, mut browser, _, session, [_, second]) =
        two_turns(Launch::new().agent(echo()), "scripted").await;
    git(app.directory("project"), &["init", "--quiet"]);
    let newer = edits(&mut browser, &session, &second, "two, better").await;
    rests_after(&mut browser, &newer.id, 2).await;
    let (session_id, scope) = (newer.id, ChangeScope::Uncommitted {});
    match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
        ServerMessage::ChangesList { others, .. } => assert_eq!(others, [""; 0]),
        other => panic!("no list: {other:?}"),
    }
}
