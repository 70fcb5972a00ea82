//! Where sessions work: prepared by a setup command, counted while the agent works, and made again when it vanished.

use std::collections::BTreeMap;
use std::path::PathBuf;

use liminal_contract::{
    ChangeCounts, ChangeScope, CliType, ClientMessage, ErrorCode, Project, ServerMessage,
    SessionId, SessionListItem, SetupAct, SetupState, Workspace, WorkspaceChoice, WorkspaceState,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::git;
use crate::support::{App, Browser, Launch, in_time};

/// With one commit of `one.txt`.
async fn project(app: &App, browser: &mut Browser) -> (PathBuf, Project) {
    let directory = PathBuf::from(app.directory("project"));
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(directory.join("one.txt"), "one\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    (directory, project)
}

async fn create(
    browser: &mut Browser,
    project: &Project,
    setup: Option<&str>,
) -> (SessionListItem, PathBuf) {
    let setup = setup.map(str::to_owned);
    let name = Some("side".to_owned());
    let workspace = Some(WorkspaceChoice::Worktree { base: None, name, bring: None, setup });
    let create = ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace,
        options: BTreeMap::new(),
        confirmed: None,
    };
    match browser.ask(create).await {
        ServerMessage::SessionCreated { session, .. } => {
            let path = PathBuf::from(session.worktree.clone().unwrap().path);
            (session, path)
        }
        other => panic!("not created: {other:?}"),
    }
}

async fn workspace(
    browser: &mut Browser,
    session: &SessionId,
    is_it: impl Fn(&Workspace) -> bool,
) -> Workspace {
    let known = browser.knows(session, |facts| facts.workspace.as_ref().is_some_and(&is_it)).await;
    known.facts.workspace.unwrap()
}

#[tokio::test]
async fn the_first_message_waits_for_the_setup_command_which_is_kept_for_the_next_worktree() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let go = directory.join("go");
    let command = format!(
        "echo preparing; while [ ! -e {} ]; do sleep 0.02; done; touch prepared",
        go.display()
    );
    let (session, path) = create(&mut browser, &project, Some(&command)).await;
    let state = |wanted| {
        move |facts: &liminal_contract::SessionFacts| {
            facts.setup.as_ref().is_some_and(|setup| setup.state == wanted)
        }
    };
    let said = |facts: &liminal_contract::SessionFacts| {
        facts.setup.as_ref().is_some_and(|setup| setup.output.contains("preparing"))
    };
    browser.knows(&session.id, said).await;
    let turn = browser.says_to(&session.id, "work").await;
    assert_eq!(browser.opens(&session.id).await.texts(), ["work"], "the agent has nothing yet");
    std::fs::write(&go, "").unwrap();
    browser.sees_end(&turn).await;
    assert!(path.join("prepared").exists(), "before the agent got the message");
    let history = browser.knows(&session.id, state(SetupState::Done)).await;
    assert_eq!(history.texts(), ["work", "Done."]);
    let made = in_time(async {
        let scope = ChangeScope::Turn { turn_id: Some(turn) };
        let list = ClientMessage::ChangesList { session_id: session.id.clone(), scope };
        let unknown = "The state before this turn was not recorded.";
        loop {
            match browser.ask(list.clone()).await {
                ServerMessage::ChangesList { notes, .. } if notes.iter().any(|n| n == unknown) => {}
                ServerMessage::ChangesList { files, .. } => return files,
                other => panic!("no list: {other:?}"),
            }
        }
    });
    assert_eq!(made.await.expect("a state before the turn"), [], "setting up is not of the turn");

    let offer = ClientMessage::WorkspaceOffer { project_id: project.id.clone() };
    match browser.ask(offer).await {
        ServerMessage::WorkspaceOffer { setup, .. } => assert_eq!(setup, Some(command)),
        other => panic!("no offer: {other:?}"),
    }
    let (second, path) = create(&mut browser, &project, None).await;
    browser.knows(&second.id, state(SetupState::Done)).await;
    assert!(path.join("prepared").exists());
    let (third, _) = create(&mut browser, &project, Some("")).await;
    assert_eq!(browser.opens(&third.id).await.facts.setup, None);
}

#[tokio::test]
async fn a_setup_command_that_fails_can_be_run_again_or_passed_over() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (_, project) = project(&app, &mut browser).await;
    let (session, path) = create(&mut browser, &project, Some("echo no; cat wanted")).await;
    let failed = |facts: &liminal_contract::SessionFacts| {
        facts.setup.as_ref().is_some_and(|setup| setup.state == SetupState::Failed)
    };
    let known = browser.knows(&session.id, failed).await.facts.setup.unwrap();
    assert_eq!(known.exit_code, Some(1));
    assert!(known.output.starts_with("no\n"), "{}", known.output);
    let turn = browser.says_to(&session.id, "work").await;
    let act = |act| ClientMessage::WorkspaceSetup { session_id: session.id.clone(), act };
    assert_eq!(browser.ask(act(SetupAct::Again)).await, ServerMessage::Ok {});
    browser.knows(&session.id, failed).await;
    assert_eq!(browser.opens(&session.id).await.texts(), ["work"]);
    assert_eq!(browser.ask(act(SetupAct::Skip)).await, ServerMessage::Ok {});
    browser.sees_end(&turn).await;
    assert!(!path.join("wanted").exists());
}

#[tokio::test]
async fn a_setup_command_that_a_restart_cut_short_can_be_run_again_or_passed_over() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let go = directory.join("go");
    let command = format!("echo preparing; while [ ! -e {} ]; do sleep 0.02; done", go.display());
    let (again, _) = create(&mut browser, &project, Some(&command)).await;
    let (passed, _) = create(&mut browser, &project, Some(&command)).await;
    let said = |facts: &liminal_contract::SessionFacts| {
        facts.setup.as_ref().is_some_and(|setup| setup.output.contains("preparing"))
    };
    for session in [&again, &passed] {
        browser.knows(&session.id, said).await;
    }
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let act = |session: &SessionListItem, act| ClientMessage::WorkspaceSetup {
        session_id: session.id.clone(),
        act,
    };
    let is_cut_short = async |browser: &mut Browser, session: &SessionListItem| {
        let setup = browser.opens(&session.id).await.facts.setup.unwrap();
        assert_eq!((setup.state, setup.exit_code), (SetupState::Failed, None));
    };
    is_cut_short(&mut browser, &again).await;
    let turn = browser.says_to(&again.id, "work").await;
    std::fs::write(&go, "").unwrap();
    assert_eq!(browser.ask(act(&again, SetupAct::Again)).await, ServerMessage::Ok {});
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&again.id).await.texts(), ["work", "Done."]);

    std::fs::remove_file(&go).unwrap();
    assert_eq!(browser.ask(act(&passed, SetupAct::Again)).await, ServerMessage::Ok {});
    browser.knows(&passed.id, said).await;
    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    is_cut_short(&mut browser, &passed).await;
    let turn = browser.says_to(&passed.id, "work").await;
    assert_eq!(browser.ask(act(&passed, SetupAct::Skip)).await, ServerMessage::Ok {});
    browser.sees_end(&turn).await;
    assert_eq!(browser.opens(&passed.id).await.texts(), ["work", "Done."]);
}

#[tokio::test]
async fn ahead_and_behind_and_a_worktree_that_vanished_are_said() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let (session, path) = create(&mut browser, &project, None).await;
    let found = workspace(&mut browser, &session.id, |it| it.ahead == Some(0)).await;
    assert_eq!(found.branch.as_deref(), Some("liminal/side"));
    assert_eq!((found.base.as_deref(), found.behind), (Some("main"), Some(0)));
    std::fs::write(path.join("one.txt"), "theirs\n").unwrap();
    git(&path, &["commit", "--quiet", "--all", "--message", "work"]);
    std::fs::write(directory.join("two.txt"), "two\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "second"]);
    let both = |it: &Workspace| (it.ahead, it.behind) == (Some(1), Some(1));
    workspace(&mut browser, &session.id, both).await;

    std::fs::remove_dir_all(&path).unwrap();
    workspace(&mut browser, &session.id, |it| it.state == WorkspaceState::Missing).await;
    match browser.tries_to_say_to(&session.id, "hello?").await {
        ServerMessage::Error { code, message, .. } => {
            assert_eq!(code, ErrorCode::ProjectPathInvalid);
            assert!(message.contains("no longer exists"), "{message}");
        }
        other => panic!("sent: {other:?}"),
    }
    let renew = || ClientMessage::WorkspaceRenew { session_id: session.id.clone() };
    assert_eq!(browser.ask(renew()).await, ServerMessage::Ok {});
    assert_eq!(std::fs::read_to_string(path.join("one.txt")).unwrap(), "theirs\n");
    workspace(&mut browser, &session.id, |it| it.state == WorkspaceState::Ok).await;
    let turn = browser.says_to(&session.id, "go on").await;
    browser.sees_end(&turn).await;
    assert!(matches!(browser.ask(renew()).await, ServerMessage::Error { .. }), "it is there");
}

#[tokio::test]
async fn counts_follow_while_the_agent_works() {
    let agent = script()
        .on_any_prompt()
        .write_file_as("w", "made.txt", "made\nby the agent\n")
        .wait_for_file("go")
        .say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (_, project) = project(&app, &mut browser).await;
    let (session, path) = create(&mut browser, &project, None).await;
    let turn = browser.says_to(&session.id, "work").await;
    match browser.sees_told("changes:changed").await {
        ServerMessage::ChangesChanged { session_id, counts } => {
            assert_eq!(session_id, session.id);
            assert_eq!(counts, ChangeCounts { files: 1, added: 2, removed: 0 });
        }
        other => panic!("{other:?}"),
    }
    std::fs::write(path.join("go"), "").unwrap();
    browser.sees_end(&turn).await;
}

#[tokio::test]
async fn a_project_below_the_top_of_its_repository_has_sessions_below_the_top_of_a_worktree() {
    let agent = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (directory, _) = project(&app, &mut browser).await;
    let below = directory.join("apps/web");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("index.txt"), "web\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "web"]);
    let web = browser.adds_project(below.to_str().unwrap()).await;
    let (session, path) = create(&mut browser, &web, None).await;
    let turn = browser.says_to(&session.id, "work").await;
    browser.sees_end(&turn).await;
    assert!(path.join("apps/web/made.txt").exists());
}

#[tokio::test]
async fn two_sessions_in_one_directory_are_told_apart_by_name() {
    let agent = script()
        .on_prompt("first")
        .say("I begin.")
        .wait_for_file("go")
        .command("w", "echo 1 > mine.txt")
        .write_file("mine.txt", "1\n")
        .tool_done("w", "")
        .say("Done.")
        .on_prompt("second")
        .command("w", "echo 2 > theirs.txt")
        .write_file("theirs.txt", "2\n")
        .tool_done("w", "")
        .say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let first = browser.creates_session(&project, "scripted").await;
    let second = browser.creates_session(&project, "scripted").await;
    let turn = browser.says_to(&first, "first").await;
    browser.sees_text(&first, "I begin.").await;
    // A busy machine may need longer than the message waits.
    let scope = ChangeScope::Turn { turn_id: Some(turn.clone()) };
    in_time(async {
        let list =
            || ClientMessage::ChangesList { session_id: first.clone(), scope: scope.clone() };
        while let ServerMessage::ChangesList { notes, .. } = browser.ask(list()).await {
            if !notes.iter().any(|note| note.contains("was not recorded")) {
                break;
            }
        }
    })
    .await;
    let other = browser.says_to(&second, "second").await;
    browser.sees_end(&other).await;
    std::fs::write(directory.join("go"), "").unwrap();
    browser.sees_end(&turn).await;
    match browser.ask(ClientMessage::ChangesList { session_id: first.clone(), scope }).await {
        ServerMessage::ChangesList { files, others, .. } => {
            assert_eq!(others, ["second"]);
            let by = |path: &str| {
                let file = files.iter().find(|file| file.path == path).unwrap();
                (file.meanwhile, file.by.clone())
            };
            assert_eq!(by("mine.txt"), (false, None));
            assert_eq!(by("theirs.txt"), (true, Some("second".to_owned())));
        }
        other => panic!("no list: {other:?}"),
    }
}

#[tokio::test]
async fn the_space_for_checkpoints_is_measured_and_limited() {
    let agent = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    std::fs::write(directory.join("two.txt"), "not in the repository\n").unwrap();
    let session = browser.creates_session(&project, "scripted").await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    app.has_recorded(&turn, "before").await;
    app.has_recorded(&turn, "after").await;
    in_time(async {
        loop {
            match browser.ask(ClientMessage::ChangesStorage { most: None }).await {
                ServerMessage::ChangesStorage { bytes: 0, .. } => {}
                ServerMessage::ChangesStorage { most, .. } => return assert_eq!(most, 2 << 30),
                other => panic!("not measured: {other:?}"),
            }
        }
    })
    .await;
    let most = Some(5 << 30);
    browser.ask(ClientMessage::ChangesStorage { most }).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    match browser.ask(ClientMessage::ChangesStorage { most: None }).await {
        ServerMessage::ChangesStorage { most, .. } => assert_eq!(most, 5 << 30),
        other => panic!("{other:?}"),
    }
    // What is gone is said.
    std::fs::remove_dir_all(app.file("checkpoints").join(session.as_str())).unwrap();
    let scope = ChangeScope::Turn { turn_id: Some(turn) };
    match browser.ask(ClientMessage::ChangesList { session_id: session, scope }).await {
        ServerMessage::ChangesList { files, notes, .. } => {
            assert_eq!(files, []);
            assert!(notes.iter().any(|note| note.contains("were removed")), "{notes:?}");
        }
        other => panic!("no list: {other:?}"),
    }
}

#[tokio::test]
async fn a_base_that_was_deleted_since_it_was_offered_is_named() {
    let app = Launch::new().agent(script().on_any_prompt().say("Hi.")).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let base = Some("gone".to_owned());
    let create = ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace: Some(WorkspaceChoice::Worktree { base, name: None, bring: None, setup: None }),
        options: BTreeMap::new(),
        confirmed: None,
    };
    match browser.ask(create).await {
        ServerMessage::Error { message, .. } => {
            assert_eq!(message, "There is no branch gone. Choose another to start from.");
        }
        other => panic!("created: {other:?}"),
    }
    assert_eq!(git(&directory, &["branch", "--list", "liminal/*"]), "");
}
