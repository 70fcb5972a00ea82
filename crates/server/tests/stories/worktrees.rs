//! Sessions in worktrees of their own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use liminal_contract::{
    BranchFate, ChangeAct, CliType, ClientMessage, Project, ServerMessage, SessionListItem,
    WorkspaceChoice,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::git;
use crate::support::{App, Browser, Launch};

/// A project with a commit, a file that is not committed, and an ignored one that worktrees get.
async fn project(app: &App, browser: &mut Browser) -> (PathBuf, Project) {
    let directory = PathBuf::from(app.directory("project"));
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(directory.join("one.txt"), "one\n").unwrap();
    std::fs::write(directory.join(".gitignore"), "secret.env\nhuge\n").unwrap();
    std::fs::write(directory.join(".worktreeinclude"), "*.env\none.txt\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    std::fs::write(directory.join("one.txt"), "one, changed\n").unwrap();
    std::fs::write(directory.join("secret.env"), "key\n").unwrap();
    std::fs::write(directory.join("huge"), "not asked for\n").unwrap();
    // Nothing runs that the user didn't ask for.
    let hook = directory.join(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}/hooked\n", directory.display())).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    (directory, project)
}

fn creation(project: &Project, bring: bool) -> ClientMessage {
    let workspace = WorkspaceChoice::Worktree {
        base: None,
        name: Some("Fix: the Login!".to_owned()),
        bring: Some(bring),
        setup: None,
    };
    ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace: Some(workspace),
        options: Default::default(),
        confirmed: None,
    }
}

async fn create(browser: &mut Browser, project: &Project, bring: bool) -> SessionListItem {
    match browser.ask(creation(project, bring)).await {
        ServerMessage::SessionCreated { session, .. } => session,
        other => panic!("not created: {other:?}"),
    }
}

#[tokio::test]
async fn a_session_works_in_a_worktree_of_its_own() {
    let agent = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let offer = ClientMessage::WorkspaceOffer { project_id: project.id.clone() };
    match browser.ask(offer).await {
        ServerMessage::WorkspaceOffer { current, branches, uncommitted, .. } => {
            assert_eq!((current.as_deref(), uncommitted), (Some("main"), 1));
            assert_eq!(branches, ["main"]);
        }
        other => panic!("no offer: {other:?}"),
    }

    let first = create(&mut browser, &project, true).await;
    let second = create(&mut browser, &project, false).await;
    let worktree = |session: &SessionListItem| session.worktree.clone().unwrap();
    assert_eq!(worktree(&first).branch, "liminal/fix-the-login");
    assert_eq!(worktree(&second).branch, "liminal/fix-the-login-2");
    let (at, other) = (PathBuf::from(worktree(&first).path), PathBuf::from(worktree(&second).path));
    assert!(
        at.starts_with(app.launch().home().join(".liminal-builder-worktrees/project")),
        "{at:?}"
    );
    let all = app.launch().home().join(".liminal-builder-worktrees");
    assert_eq!(std::fs::metadata(all).unwrap().permissions().mode() & 0o777, 0o700);
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(at.join("one.txt")), "one, changed\n", "brought along");
    assert_eq!(read(other.join("one.txt")), "one\n");
    assert_eq!(read(at.join("secret.env")), "key\n");
    assert!(!at.join("huge").exists() && !directory.join("hooked").exists());

    let turn = browser.says_to(&first.id, "work").await;
    browser.sees_end(&turn).await;
    assert_eq!(read(at.join("made.txt")), "made\n");
    assert!(!directory.join("made.txt").exists() && !other.join("made.txt").exists());
    let find = ClientMessage::FilesFind {
        session_id: Some(first.id.clone()),
        project_id: None,
        query: "made".to_owned(),
        limit: None,
    };
    match browser.ask(find).await {
        ServerMessage::FilesFound { entries, .. } => assert_eq!(entries[0].path, "made.txt"),
        other => panic!("nothing found: {other:?}"),
    }

    let app = app.restart().await;
    let mut browser = app.browser().await;
    let turn = browser.says_to(&first.id, "again").await;
    browser.sees_end(&turn).await;
    assert!(!directory.join("made.txt").exists());
    let doctor = app.launch().command(&["doctor"]).output().await.unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(at.to_str().unwrap()));
}

#[tokio::test]
async fn an_agent_that_does_not_start_leaves_no_worktree() {
    let launch = Launch::new().agent(script().refuse_new(-32000, "not today"));
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    let workspace =
        Some(WorkspaceChoice::Worktree { base: None, name: None, bring: Some(true), setup: None });
    let create = ClientMessage::SessionCreate {
        project_id: project.id.clone(),
        cli_type: CliType::parse("scripted").unwrap(),
        content: None,
        attachments: Vec::new(),
        policy: None,
        workspace,
        options: Default::default(),
        confirmed: None,
    };
    assert!(matches!(browser.ask(create).await, ServerMessage::Error { .. }));
    assert_eq!(git(&directory, &["branch", "--list", "liminal/*"]), "");
    assert_eq!(git(&directory, &["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_worktree_that_git_could_not_make_leaves_no_branch_and_the_next_has_its_name() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = project(&app, &mut browser).await;
    std::fs::write(directory.join(".git/info/attributes"), "one.txt filter=own\n").unwrap();
    git(&directory, &["config", "filter.own.required", "true"]);
    git(&directory, &["config", "filter.own.smudge", "false"]);
    let refused = browser.ask(creation(&project, false)).await;
    assert!(matches!(refused, ServerMessage::Error { .. }), "{refused:?}");
    assert_eq!(git(&directory, &["branch", "--list", "liminal/*"]), "");

    git(&directory, &["config", "filter.own.smudge", "cat"]);
    let made = create(&mut browser, &project, false).await;
    assert_eq!(made.worktree.unwrap().branch, "liminal/fix-the-login");
}

#[tokio::test]
async fn worktrees_of_one_name_made_at_once_are_two() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let (mut one, mut two) = (app.browser().await, app.browser().await);
    let (_directory, project) = project(&app, &mut one).await;
    let (first, second) =
        tokio::join!(create(&mut one, &project, false), create(&mut two, &project, false));
    let mut branches = [first, second].map(|session| session.worktree.unwrap().branch);
    branches.sort();
    assert_eq!(branches, ["liminal/fix-the-login", "liminal/fix-the-login-2"]);
}

#[tokio::test]
async fn a_project_below_its_repository_works_in_the_same_directory_of_a_worktree() {
    let agent = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let (directory, _) = project(&app, &mut browser).await;
    let below = directory.join("packages/shop");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("two.txt"), "two\n").unwrap();
    let project = browser.adds_project(below.to_str().unwrap()).await;
    for bring in [true, false] {
        let session = create(&mut browser, &project, bring).await;
        let worktree = session.worktree.clone().unwrap();
        assert_eq!(worktree.below.as_deref(), Some("packages/shop"));
        let at = PathBuf::from(&worktree.path).join("packages/shop");
        assert_eq!(at.join("two.txt").exists(), bring);
        let turn = browser.says_to(&session.id, "work").await;
        browser.sees_end(&turn).await;
        assert!(at.join("made.txt").exists(), "bring: {bring}");
        let act = ChangeAct::DiscardWorkspace { branch: BranchFate::Keep };
        browser.acts(&session.id, &act).await;
        assert!(!Path::new(&worktree.path).exists());
    }
}
