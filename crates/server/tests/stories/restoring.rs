//! Going back in a conversation, with the files.

use std::path::{Path, PathBuf};

use liminal_contract::{
    Body, BranchAt, BranchKind, ChangeAct, ClientMessage, ErrorCode, ItemId, ServerMessage,
    SessionId, SessionListItem, TurnId,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};

use crate::support::acts::{git, lines, read, repository, sees_settled, undo, worktree, write};
use crate::support::{App, Browser, Launch};

/// Each turn writes a file of its own once it may; the second also edits `notes.txt`.
fn agent(launch: &Launch) -> ScriptBuilder {
    let home = launch.home().to_owned();
    let makes = |steps: ScriptBuilder, name: &str| {
        let may = home.join(format!("may-{name}"));
        steps
            .say("I begin.")
            .wait_for_file(may.to_str().unwrap())
            .command(name, &format!("edit {name}.txt notes.txt"))
            .write_file(&format!("{name}.txt"), &format!("{name}\n"))
    };
    let one = makes(script().on_prompt("one"), "one").tool_done("one", "");
    let two = makes(one.on_prompt("two"), "two").write_file("notes.txt", &lines(&[(1, "agent")]));
    makes(two.tool_done("two", "").on_prompt("three"), "three").tool_done("three", "")
}

fn answers(script: ScriptBuilder) -> ScriptBuilder {
    script.on_any_prompt().say("Hello again.")
}

fn launch() -> Launch {
    let launch = Launch::new();
    let agent = answers(agent(&launch));
    launch.agent(agent)
}

/// A session's turn, with the states of the files before and after it recorded.
async fn takes_turn(app: &App, browser: &mut Browser, session: &SessionId, words: &str) -> TurnId {
    let turn = browser.says_to(session, words).await;
    app.has_recorded(&turn, "before").await;
    std::fs::write(app.launch().home().join(format!("may-{words}")), "").unwrap();
    browser.sees_end(&turn).await;
    app.has_recorded(&turn, "after").await;
    browser.sees_state(session, "idle").await;
    turn
}

async fn three_turns(app: &App, browser: &mut Browser, session: &SessionId) -> [TurnId; 3] {
    let one = takes_turn(app, browser, session, "one").await;
    let two = takes_turn(app, browser, session, "two").await;
    [one, two, takes_turn(app, browser, session, "three").await]
}

async fn stage(launch: Launch) -> (App, Browser, SessionId, PathBuf) {
    let app = launch.start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    (app, browser, session, directory)
}

fn back_to(turn: &TurnId) -> ChangeAct {
    ChangeAct::RestoreFiles { item_id: ItemId::user(turn), at: BranchAt::Before, paths: None }
}

fn edit(session: &SessionId, turn: &TurnId, expect: Option<&str>) -> ClientMessage {
    ClientMessage::SessionBranch {
        session_id: session.clone(),
        item_id: Some(ItemId::user(turn)),
        at: BranchAt::Before,
        kind: BranchKind::Edit,
        content: Some("something else".to_owned()),
        attachments: Vec::new(),
        restore_files: Some(true),
        paths: None,
        expect: expect.map(str::to_owned),
    }
}

fn created(answer: ServerMessage) -> SessionListItem {
    match answer {
        ServerMessage::SessionCreated { session, .. } => session,
        other => panic!("no session was made: {other:?}"),
    }
}

fn there(at: &Path) -> Vec<&'static str> {
    ["one.txt", "two.txt", "three.txt"].into_iter().filter(|name| at.join(name).exists()).collect()
}

/// The words and the undo of the notice about files that went back.
async fn sees_note(browser: &mut Browser, session: &SessionId) -> String {
    let noted = |body: &Body| match body {
        Body::Notice { text, details, .. } if text.contains("back to an earlier point") => {
            details.as_ref().and_then(|details| details.undo.clone())
        }
        _ => None,
    };
    let history = browser.opens(session).await;
    match history.entries.iter().find_map(|item| noted(&item.body)) {
        Some(undo) => undo,
        None => browser.sees_item(session, "notice", |item| noted(&item.body)).await,
    }
}

#[tokio::test]
async fn an_edited_message_takes_the_files_back_and_the_users_own_edit_stays() {
    let (app, mut browser, session, at) = stage(launch()).await;
    let [first, second, _] = three_turns(&app, &mut browser, &session).await;
    write(&at, "notes.txt", &lines(&[(1, "agent"), (9, "mine")]));
    write(&at, "mine.txt", "mine\n");
    let preview = browser.previews(&session, &back_to(&second)).await;
    let names: Vec<_> = preview.fates().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["notes.txt*", "three.txt*", "two.txt*"]);
    let newer = created(browser.ask(edit(&session, &second, Some(&preview.expect))).await).id;
    assert_eq!(there(&at), ["one.txt"]);
    assert_eq!(read(&at, "notes.txt"), lines(&[(9, "mine")]));
    assert_eq!(read(&at, "mine.txt"), "mine\n");

    // One click brings them back, in the new version.
    let id = sees_note(&mut browser, &newer).await;
    browser.sees_state(&newer, "idle").await;
    browser.acts(&newer, &undo(&id)).await;
    assert_eq!(there(&at), ["one.txt", "two.txt", "three.txt"]);
    assert_eq!(read(&at, "notes.txt"), lines(&[(1, "agent"), (9, "mine")]));

    // And the new version can go back further: it knows the states of the turns it has in common.
    let preview = browser.previews(&newer, &back_to(&first)).await;
    assert!(preview.fates().iter().any(|(name, _)| name == "one.txt*"), "{:?}", preview.fates());
}

#[tokio::test]
async fn going_back_with_files_needs_a_look_at_a_world_that_did_not_move() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let waits = agent(&launch).on_prompt("wait").say("Working.");
    let waits = answers(waits.wait_for_file(go.to_str().unwrap()));
    let (app, mut browser, session, at) = stage(launch.agent(waits)).await;
    let [_, second, _] = three_turns(&app, &mut browser, &session).await;
    let refused = |answer: ServerMessage| match answer {
        ServerMessage::Error { code, .. } => code,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(
        refused(browser.ask(edit(&session, &second, None)).await),
        ErrorCode::InvalidMessage
    );
    let expect = browser.previews(&session, &back_to(&second)).await.expect;
    write(&at, "notes.txt", "later\n");
    let answer = browser.ask(edit(&session, &second, Some(&expect))).await;
    assert_eq!(refused(answer), ErrorCode::ChangedMeanwhile);
    assert_eq!(there(&at), ["one.txt", "two.txt", "three.txt"]);

    let expect = browser.previews(&session, &back_to(&second)).await.expect;
    let turn = browser.says_to(&session, "wait").await;
    browser.sees_state(&session, "running").await;
    let answer = browser.ask(edit(&session, &second, Some(&expect))).await;
    assert_eq!(refused(answer), ErrorCode::WorkspaceBusy);
    std::fs::write(&go, "").unwrap();
    browser.sees_end(&turn).await;
    browser.sees_state(&session, "idle").await;
    // It is still a session like any other.
    let turn = browser.says_to(&session, "hello?").await;
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn a_branch_of_a_session_in_a_worktree_gets_a_worktree_with_the_files_of_then() {
    let app = launch().start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    let [_, second, third] = three_turns(&app, &mut browser, &session).await;
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "--message", "all of it"]);
    let branch = |item: ItemId, at| ClientMessage::SessionBranch {
        session_id: session.clone(),
        item_id: Some(item),
        at,
        kind: BranchKind::Branch,
        content: None,
        attachments: Vec::new(),
        restore_files: Some(true),
        paths: None,
        expect: None,
    };
    let made = created(browser.ask(branch(ItemId::user(&second), BranchAt::Before)).await);
    let own = made.worktree.clone().unwrap();
    assert_eq!(own.branch, "liminal/one-2");
    assert_eq!(own.base.as_deref(), Some("main"));
    let new = PathBuf::from(&own.path);
    assert_eq!((there(&new), read(&new, "notes.txt")), (vec!["one.txt"], lines(&[])));
    assert_eq!(git(&new, &["log", "-1", "--format=%s"]), "first", "the commit of then");
    assert_eq!(there(&at), ["one.txt", "two.txt", "three.txt"], "the other one is as it was");

    // Its agent works there, and what it shares with the other session can be undone there.
    browser.opens(&made.id).await;
    let turn = browser.says_to(&made.id, "two").await;
    browser.sees_end(&turn).await;
    assert_eq!(there(&new), ["one.txt", "two.txt"]);
    assert_eq!(read(&at, "notes.txt"), lines(&[(1, "agent")]));

    // At the end, the files as they are now.
    write(&at, "now.txt", "now\n");
    let last = browser.opens(&session).await.entries.last().unwrap().item_id.clone();
    let made = created(browser.ask(branch(last, BranchAt::After)).await);
    let new = PathBuf::from(made.worktree.unwrap().path);
    assert_eq!((there(&new).len(), read(&new, "now.txt")), (3, "now\n".to_owned()));
    assert_eq!(git(&new, &["log", "-1", "--format=%s"]), "all of it");

    // Within a turn nothing is recorded, and then nothing is made.
    let before = git(&directory, &["worktree", "list"]);
    let refused = browser.ask(branch(ItemId::user(&third), BranchAt::After)).await;
    let ServerMessage::Error { message, .. } = refused else { panic!("{refused:?}") };
    assert!(message.contains("Within a turn"), "{message}");
    assert_eq!(git(&directory, &["worktree", "list"]), before);
}

#[tokio::test]
async fn a_killed_edit_puts_the_files_back_and_leaves_the_session_as_it_was() {
    let (launch, stopped) = launch().git_that_stops("cat-file --filters");
    let (app, mut browser, session, at) = stage(launch).await;
    let [_, second, _] = three_turns(&app, &mut browser, &session).await;
    let expect = browser.previews(&session, &back_to(&second)).await.expect;
    std::fs::write(&stopped.at, "").unwrap();
    browser.send(edit(&session, &second, Some(&expect))).await;
    let app = stopped.killed(app).await;
    let mut browser = sees_settled(&app, &session, "been completed").await;
    assert_eq!((there(&at), read(&at, "notes.txt")), (vec!["one.txt"], lines(&[])));
    let turn = browser.says_to(&session, "hello?").await;
    browser.sees_end(&turn).await;
}
