//! Pull requests, opened with a `gh` that says what the story wants it to.

use std::path::{Path, PathBuf};

use liminal_contract::{Body, ChangeAct, ErrorCode, ServerMessage, SessionId};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::{
    commit, git, hook, killed_at, read, repository, sees_settled, worktree, write,
};
use crate::support::{App, Browser, Launch, executable};

const LINK: &str = "https://example.org/ada/work/pull/7";

fn request(title: &str, body: &str) -> ChangeAct {
    ChangeAct::PullRequest { title: title.to_owned(), body: body.to_owned() }
}

/// A `gh` that writes down how it was called and then does this.
fn with_gh(launch: Launch, does: &str) -> Launch {
    let tools = launch.home().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let called = launch.home().join("called");
    let program = format!(
        "#!/bin/sh\nfor each in \"$@\"; do echo \"$each\" >> {}; done\n{does}\n",
        called.display()
    );
    executable(&tools.join("gh"), &program);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    launch.variable("PATH", &path)
}

/// A worktree with a commit, in a repository with a bare one as its remote, which is returned.
async fn stage(launch: Launch) -> (App, Browser, SessionId, PathBuf, PathBuf) {
    let app = launch.agent(script().on_any_prompt().say("Hi.")).start().await;
    let directory = repository(&app);
    let remote = PathBuf::from(app.directory("remote"));
    git(&remote, &["init", "--quiet", "--bare"]);
    git(&directory, &["remote", "add", "origin", remote.to_str().unwrap()]);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    let turn = browser.says_to(&session, "Mend the notes").await;
    browser.sees_end(&turn).await;
    (app, browser, session, at, remote)
}

async fn commits(browser: &mut Browser, session: &SessionId, at: &Path, message: &str) {
    write(at, "notes.txt", &format!("{message}\n"));
    browser.acts(session, &commit(message)).await;
}

fn heads(remote: &Path) -> String {
    git(remote, &["for-each-ref", "--format=%(refname) %(contents:subject)"])
}

async fn proposed(browser: &mut Browser, session: &SessionId) -> (String, Option<String>) {
    match browser.tries_to_preview(session, &request("", "")).await {
        ServerMessage::ChangesPreview { message, command, .. } => (message.unwrap(), command),
        other => panic!("no preview: {other:?}"),
    }
}

#[tokio::test]
async fn a_branch_is_pushed_and_gh_opens_the_request_whose_link_is_shown() {
    let launch = with_gh(Launch::new(), &format!("echo {LINK}"));
    let (app, mut browser, session, at, remote) = stage(launch).await;
    let (_, words) = browser.is_refused(&session, &request("x", "")).await;
    assert!(words.contains("main has everything"), "{words}");
    commits(&mut browser, &session, &at, "First step").await;
    assert_eq!(proposed(&mut browser, &session).await, ("First step".to_owned(), None));
    commits(&mut browser, &session, &at, "Second step").await;
    let (message, _) = proposed(&mut browser, &session).await;
    assert_eq!(message, "Mend the notes\n\n- First step\n- Second step");
    write(&at, "later.txt", "later\n");
    hook(&PathBuf::from(app.directory("project")), "pre-push", "exit 0");
    let notes = browser.previews(&session, &request("", "")).await.notes;
    assert!(notes.iter().any(|note| note.contains("1 file not committed")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("pre-push")), "{notes:?}");

    let (code, words) = browser.is_refused(&session, &request(" ", "body")).await;
    assert_eq!(code, ErrorCode::ActRefused);
    assert!(words.contains("Write a title"), "{words}");
    assert_eq!(heads(&remote), "");
    let act = request("It's mended", "Both\nsteps");
    let expect = browser.previews(&session, &act).await.expect;
    match browser.tries_to_act(&session, &act, &expect).await {
        ServerMessage::ChangesDone { link, undo, .. } => {
            assert_eq!((link.as_deref(), undo), (Some(LINK), None));
        }
        other => panic!("not opened: {other:?}"),
    }
    assert_eq!(heads(&remote), "refs/heads/liminal/one Second step");
    let called = read(app.launch().home(), "called");
    let expected = "pr\ncreate\n--title=It's mended\n--body=Both\nsteps\n--base=main\n\
                    --head=liminal/one\n";
    assert_eq!(called, expected);
    let linked = |body: &Body| match body {
        Body::Notice { details, .. } => details.as_ref().and_then(|details| details.link.clone()),
        _ => None,
    };
    let link = browser.sees_item(&session, "notice", |item| linked(&item.body)).await;
    assert_eq!(link, LINK);
}

#[tokio::test]
async fn what_gh_or_git_says_when_it_fails_is_shown_and_nothing_is_forced() {
    let says = "echo 'GraphQL: No commits between main and one' >&2; exit 1";
    let (_app, mut browser, session, at, remote) = stage(with_gh(Launch::new(), says)).await;
    commits(&mut browser, &session, &at, "Step").await;
    let (code, words) = browser.is_refused(&session, &request("Step", "")).await;
    assert_eq!(code, ErrorCode::GitFailed);
    assert!(words.contains("GraphQL: No commits between"), "{words}");

    // Someone else pushed to the branch.
    let theirs = git(&at, &["commit-tree", "HEAD^{tree}", "-p", "main", "-m", "theirs"]);
    git(
        &at,
        &["push", "--quiet", "--force", "origin", &format!("{theirs}:refs/heads/liminal/one")],
    );
    let (_, words) = browser.is_refused(&session, &request("Step", "")).await;
    assert!(words.contains("rejected"), "{words}");
    assert_eq!(heads(&remote), "refs/heads/liminal/one theirs");
}

#[tokio::test]
async fn without_gh_there_is_a_command_to_copy_and_without_a_remote_a_word() {
    // With nothing on the path but git.
    let launch = Launch::new();
    let tools = launch.home().join("only-git");
    std::fs::create_dir_all(&tools).unwrap();
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|directory| directory.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    std::os::unix::fs::symlink(found, tools.join("git")).unwrap();
    let launch = launch.variable("PATH", tools.to_str().unwrap());
    let (app, mut browser, session, at, _) = stage(launch).await;
    commits(&mut browser, &session, &at, "Step").await;
    let (_, command) = proposed(&mut browser, &session).await;
    let expected = format!("git -C {} push --set-upstream origin liminal/one", at.display());
    assert_eq!(command, Some(expected));
    let (_, words) = browser.is_refused(&session, &request("Step", "")).await;
    assert!(words.contains("gh is not installed"), "{words}");
    git(Path::new(&app.directory("project")), &["remote", "remove", "origin"]);
    let (_, words) = browser.is_refused(&session, &request("Step", "")).await;
    assert!(words.contains("no remote"), "{words}");
}

#[tokio::test]
async fn a_request_that_was_killed_is_said_and_can_be_tried_again() {
    let launch = with_gh(Launch::new(), &format!("echo {LINK}"));
    let (launch, stopped) = launch.git_that_stops("push --set-upstream");
    let (app, mut browser, session, at, _) = stage(launch).await;
    commits(&mut browser, &session, &at, "Step").await;
    let act = request("Step", "");
    let app = killed_at(app, browser, &session, &act, &stopped, || {}).await;
    let mut browser = sees_settled(&app, &session, "Check there whether it is open").await;
    browser.acts(&session, &act).await;
}
