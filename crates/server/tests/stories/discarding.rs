//! Discarding worktrees, which keeps them, and bringing them back.

use std::path::{Path, PathBuf};

use liminal_contract::{
    BranchFate, ChangeAct, ClientMessage, DiscardedWorkspace, ErrorCode, PathFate, Project,
    ServerMessage, SessionId, WorktreeFate,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};

use crate::support::acts::{
    commit, git, killed_at, lines, read, repository, sees_settled, undo, worktree, write,
};
use crate::support::{App, Browser, Launch, in_time, run};

const BRANCH: &str = "liminal/one";

fn discard(branch: BranchFate) -> ChangeAct {
    ChangeAct::DiscardWorkspace { branch }
}

fn bring_back(saved: &str) -> ChangeAct {
    ChangeAct::BringBack { saved: saved.to_owned() }
}

struct Stage {
    app: App,
    browser: Browser,
    project: Project,
    directory: PathBuf,
    session: SessionId,
    at: PathBuf,
}

/// A session with one turn, in a worktree with a commit, a staged file, an edit, an untracked and an ignored one.
async fn stage(launch: Launch) -> Stage {
    let app = launch.start().await;
    let directory = repository(&app);
    write(&directory, ".gitignore", "built\n");
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "ignore"]);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    write(&at, "committed.txt", "committed\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "--message", "work"]);
    write(&at, "staged.txt", "staged\n");
    git(&at, &["add", "."]);
    write(&at, "staged.txt", "staged, then changed\n");
    write(&at, "notes.txt", &lines(&[(1, "mine")]));
    write(&at, "new.txt", "new\n");
    write(&at, "built", "ignored\n");
    Stage { app, browser, project, directory, session, at }
}

fn agent() -> ScriptBuilder {
    script().on_any_prompt().say("Hi.")
}

/// Everything that [`stage`] made is as it was.
fn is_whole(at: &Path) {
    let there = ["committed.txt", "staged.txt", "notes.txt", "new.txt", "built"];
    let expected =
        ["committed\n", "staged, then changed\n", &lines(&[(1, "mine")]), "new\n", "ignored\n"];
    assert_eq!(there.map(|name| read(at, name)), expected.map(str::to_owned));
    assert_eq!(git(at, &["show", ":staged.txt"]), "staged", "what is staged is staged");
    assert_eq!(git(at, &["status", "--porcelain"]), " M notes.txt\nAM staged.txt\n?? new.txt");
    assert_eq!(git(at, &["log", "-1", "--format=%s"]), "work");
}

async fn discarded(browser: &mut Browser) -> Vec<DiscardedWorkspace> {
    match browser.ask(ClientMessage::WorkspaceDiscarded {}).await {
        ServerMessage::WorkspaceDiscarded { workspaces } => workspaces,
        other => panic!("no list: {other:?}"),
    }
}

/// git keeps nothing for us any more.
fn holds_nothing(directory: &Path) {
    let held = git(directory, &["for-each-ref", "refs/liminal/discarded"]);
    assert_eq!(held, "");
}

#[tokio::test]
async fn a_discarded_worktree_is_kept_whole_and_comes_back_with_one_click() {
    let Stage { app, mut browser, directory, session, at, .. } =
        stage(Launch::new().agent(agent())).await;
    let preview = browser.previews(&session, &discard(BranchFate::Keep)).await;
    let saves = |name: &str| (format!("{name}*"), PathFate::Save);
    assert_eq!(preview.fates(), [saves("new.txt"), saves("notes.txt"), saves("staged.txt")]);
    assert!(preview.notes.iter().any(|note| note.contains("ignored files too")));
    let id = browser.acts(&session, &discard(BranchFate::Keep)).await;
    assert!(!at.exists());
    assert_eq!(git(&directory, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&directory, &["log", "-1", "--format=%s", BRANCH]), "work", "the branch stays");

    let listed = discarded(&mut browser).await;
    assert_eq!((listed[0].branch.as_str(), listed[0].title.as_str()), (BRANCH, "hello"));
    assert_eq!(listed[0].path, at.to_str().unwrap());
    let days = (listed[0].until.as_millis() - listed[0].at.as_millis()) / 86_400_000;
    assert_eq!(days, 30);
    let refused = browser.tries_to_say_to(&session, "hello?").await;
    assert!(matches!(refused, ServerMessage::Error { .. }), "{refused:?}");

    // The user's gc removes nothing of it.
    git(&directory, &["reflog", "expire", "--expire=now", "--all"]);
    git(&directory, &["gc", "--quiet", "--prune=now"]);
    let app = app.restart().await;
    let mut browser = app.browser().await;
    browser.opens(&session).await;
    browser.acts(&session, &undo(&id)).await;
    is_whole(&at);
    assert_eq!(discarded(&mut browser).await, []);
    holds_nothing(&directory);
    let (_, words) = browser.is_refused(&session, &undo(&id)).await;
    assert!(words.contains("undone already"), "{words}");
    let turn = browser.says_to(&session, "hello again").await;
    browser.sees_end(&turn).await;

    // What was discarded again comes back by its own button, and its notice knows.
    let id = browser.acts(&session, &discard(BranchFate::Keep)).await;
    let saved = discarded(&mut browser).await[0].saved.clone();
    let bring_back = ChangeAct::BringBack { saved };
    let expect = browser.previews(&session, &bring_back).await.expect;
    browser.tries_to_act(&session, &bring_back, &expect).await;
    let entries = serde_json::to_string(&browser.opens(&session).await.entries).unwrap();
    assert!(entries.contains(&format!(r#""undone":"{id}""#)), "{entries}");
    is_whole(&at);
}

#[tokio::test]
async fn its_branch_can_go_too_and_comes_back_with_it_under_another_name_if_need_be() {
    let Stage { app: _app, mut browser, project, directory, session, at } =
        stage(Launch::new().agent(agent())).await;
    browser.acts(&session, &discard(BranchFate::Remove)).await;
    assert_eq!(git(&directory, &["branch", "--list", BRANCH]), "");
    let saved = discarded(&mut browser).await.remove(0).saved;
    // Meanwhile someone else makes a branch of that name, and a directory in that place.
    git(&directory, &["branch", BRANCH, "main"]);
    std::fs::create_dir_all(&at).unwrap();
    let (_, words) = browser.is_refused(&session, &bring_back(&saved)).await;
    assert!(words.contains("exists. Move it away first"), "{words}");
    std::fs::remove_dir(&at).unwrap();
    let notes = browser.previews(&session, &bring_back(&saved)).await.notes;
    assert!(notes.iter().any(|note| note.contains("liminal/one-2")), "{notes:?}");
    browser.acts(&session, &bring_back(&saved)).await;
    is_whole(&at);
    assert_eq!(git(&at, &["branch", "--show-current"]), "liminal/one-2");
    assert_eq!(git(&directory, &["log", "-1", "--format=%s", BRANCH]), "ignore", "left alone");
    let row = browser.sessions(&project).await.into_iter().find(|row| row.id == session).unwrap();
    assert_eq!(row.worktree.unwrap().branch, "liminal/one-2");
}

#[tokio::test]
async fn a_git_that_lists_worktrees_only_by_lines_discards_and_brings_back_too() {
    let launch = Launch::new().agent(agent()).git_without("worktree list --porcelain -z");
    let Stage { app: _app, mut browser, directory, session, at, .. } = stage(launch).await;
    let id = browser.acts(&session, &discard(BranchFate::Remove)).await;
    assert_eq!(git(&directory, &["branch", "--list", BRANCH]), "");
    browser.acts(&session, &undo(&id)).await;
    is_whole(&at);
}

#[tokio::test]
async fn a_deleted_session_leaves_its_worktree_or_has_it_discarded() {
    let Stage { app: _app, mut browser, project, directory, session, at } =
        stage(Launch::new().agent(agent())).await;
    let (other, beside) = worktree(&mut browser, &project, "two").await;
    let delete = |session_id: &SessionId, worktree| ClientMessage::SessionDelete {
        session_id: session_id.clone(),
        worktree,
    };
    browser.ask(delete(&other, None)).await;
    assert!(beside.join("notes.txt").exists(), "it stays by default");
    browser.ask(delete(&session, Some(WorktreeFate::Discard))).await;
    assert!(!at.exists());
    assert_eq!(git(&directory, &["log", "-1", "--format=%s", BRANCH]), "work");

    // Nobody has the session any more, and the worktree comes back all the same.
    let saved = discarded(&mut browser).await.remove(0);
    browser.acts(&saved.session_id, &bring_back(&saved.saved)).await;
    is_whole(&at);
    assert_eq!(browser.sessions(&project).await, []);
    holds_nothing(&directory);
}

#[tokio::test]
async fn a_worktree_at_work_is_not_discarded_nor_one_that_is_locked_or_no_worktree() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let waits = script().on_prompt("hello").say("Hi.").on_any_prompt();
    let waits = waits.say("Working.").wait_for_file(go.to_str().unwrap());
    let Stage { app: _app, mut browser, project, session, at, .. } =
        stage(launch.agent(waits)).await;
    let act = discard(BranchFate::Keep);
    let expect = browser.previews(&session, &act).await.expect;
    write(&at, "later.txt", "later\n");
    let moved = browser.tries_to_act(&session, &act, &expect).await;
    let ServerMessage::Error { code, .. } = moved else { panic!("{moved:?}") };
    assert_eq!(code, ErrorCode::ChangedMeanwhile);

    let turn = browser.says_to(&session, "work").await;
    browser.sees_state(&session, "running").await;
    let (code, _) = browser.is_refused(&session, &act).await;
    assert_eq!(code, ErrorCode::WorkspaceBusy);
    std::fs::write(&go, "").unwrap();
    browser.sees_end(&turn).await;
    browser.sees_state(&session, "idle").await;

    git(&at, &["worktree", "lock", "--reason", "on a stick", at.to_str().unwrap()]);
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("locked") && words.contains("on a stick"), "{words}");
    assert!(at.join("later.txt").exists());

    let plain = browser.creates_session(&project, "scripted").await;
    let (_, words) = browser.is_refused(&plain, &act).await;
    assert!(words.contains("nothing to discard"), "{words}");
}

#[tokio::test]
async fn of_two_browsers_that_bring_back_or_discard_at_once_one_is_told_no() {
    let Stage { app, mut browser, session, at, .. } = stage(Launch::new().agent(agent())).await;
    let mut other = app.browser().await;
    let act = discard(BranchFate::Keep);
    let expect = browser.previews(&session, &act).await.expect;
    let (one, two) = tokio::join!(
        browser.tries_to_act(&session, &act, &expect),
        other.tries_to_act(&session, &act, &expect)
    );
    let done = |answer: &ServerMessage| matches!(answer, ServerMessage::ChangesDone { .. });
    assert!(done(&one) != done(&two), "{one:?} {two:?}");
    let saved = discarded(&mut browser).await;
    assert_eq!(saved.len(), 1);
    let act = bring_back(&saved[0].saved);
    let expect = browser.previews(&session, &act).await.expect;
    let forget = ClientMessage::WorkspaceForget { saved: saved[0].saved.clone() };
    let (back, gone) =
        tokio::join!(browser.tries_to_act(&session, &act, &expect), other.ask(forget));
    let forgotten = matches!(gone, ServerMessage::WorkspaceDiscarded { .. });
    assert!(done(&back) != forgotten, "{back:?} {gone:?}");
    if done(&back) {
        is_whole(&at);
    }
    assert_eq!(discarded(&mut browser).await, []);
}

#[tokio::test]
async fn after_thirty_days_it_is_gone_and_so_is_one_that_the_user_deletes_for_good() {
    let Stage { app, mut browser, project, directory, session, at } =
        stage(Launch::new().agent(agent())).await;
    browser.acts(&session, &discard(BranchFate::Keep)).await;
    let (other, _) = worktree(&mut browser, &project, "two").await;
    browser.acts(&other, &discard(BranchFate::Keep)).await;
    let listed = discarded(&mut browser).await;
    let of = |session: &SessionId| {
        listed.iter().find(|each| each.session_id == *session).unwrap().saved.clone()
    };
    let store = at.parent().unwrap().with_file_name(".discarded").join(of(&session));
    let about = read(&store, "about.json");
    let until = listed.iter().find(|each| each.session_id == session).unwrap().until.to_string();
    write(&store, "about.json", &about.replace(&until, "2020-01-01T00:00:00.000Z"));
    browser.ask(ClientMessage::WorkspaceForget { saved: of(&other) }).await;
    let app = app.restart().await;
    let mut browser = app.browser().await;
    let is_swept = async { while !discarded(&mut browser).await.is_empty() {} };
    in_time(is_swept).await.expect("it was never deleted");
    assert!(!store.exists());
    assert_eq!(git(&directory, &["log", "-1", "--format=%s", BRANCH]), "work");
    let (_, words) = browser.is_refused(&session, &bring_back(&of(&session))).await;
    assert!(words.contains("no longer kept"), "{words}");
}

#[tokio::test]
async fn a_discard_that_was_killed_is_completed_or_taken_back() {
    for (call, words, is_gone) in [
        ("update-ref refs/liminal/discarded", "rolled back", false),
        ("update-ref -d refs/heads/liminal/one", "been completed", true),
    ] {
        let (launch, stopped) = Launch::new().agent(agent()).git_that_stops(call);
        let Stage { app, browser, directory, session, at, .. } = stage(launch).await;
        let act = discard(BranchFate::Remove);
        let app = killed_at(app, browser, &session, &act, &stopped, || {}).await;
        let mut browser = sees_settled(&app, &session, words).await;
        assert_eq!(at.exists(), !is_gone);
        let saved = discarded(&mut browser).await;
        assert_eq!(saved.len(), usize::from(is_gone));
        let branch = git(&directory, &["branch", "--list", BRANCH]);
        assert_eq!(branch.is_empty(), is_gone, "{branch}");
        if let Some(saved) = saved.first() {
            browser.acts(&session, &bring_back(&saved.saved)).await;
        }
        is_whole(&at);
        holds_nothing(&directory);
    }
}

#[tokio::test]
async fn a_bringing_back_that_was_killed_is_completed() {
    for call in ["update-ref --create-reflog refs/heads/liminal", "update-ref -d refs/liminal"] {
        let (launch, stopped) = Launch::new().agent(agent()).git_that_stops(call);
        let Stage { app, mut browser, directory, session, at, .. } = stage(launch).await;
        browser.acts(&session, &discard(BranchFate::Remove)).await;
        let saved = discarded(&mut browser).await.remove(0).saved;
        let act = bring_back(&saved);
        let app = killed_at(app, browser, &session, &act, &stopped, || {}).await;
        let mut browser = sees_settled(&app, &session, "been completed").await;
        is_whole(&at);
        assert_eq!(discarded(&mut browser).await, []);
        holds_nothing(&directory);
        browser.acts(&session, &commit("all of it")).await;
    }
}

#[tokio::test]
async fn the_doctor_and_a_backup_name_what_was_discarded() {
    let Stage { app, mut browser, session, .. } = stage(Launch::new().agent(agent())).await;
    browser.acts(&session, &discard(BranchFate::Keep)).await;
    let copy = app.launch().data_dir().with_file_name("copy");
    for command in [&["doctor", "--port", "0"][..], &["backup", copy.to_str().unwrap()]] {
        let said = run(&mut app.launch().command(command)).await.stdout;
        assert!(said.contains(".discarded/"), "{said}");
        assert!(said.contains("/files (liminal/one, kept until 20"), "{said}");
    }
}
