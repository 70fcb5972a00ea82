//! Acting on changes in one directory: undoing turns, reverting, committing.

use std::path::{Path, PathBuf};

use liminal_contract::{
    Body, ChangeAct, ChangeScope, ClientMessage, ErrorCode, PathFate, ServerMessage, SessionId,
    TurnId,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::acts::{
    acting, commit, git, hook, killed_at, lines, read, repository, sees_settled, undo, write,
};
use crate::support::{App, Browser, Launch, are_gone, in_time};

fn revert(path: &str) -> ChangeAct {
    ChangeAct::RevertFile { scope: ChangeScope::Uncommitted {}, path: path.to_owned() }
}

fn undo_turn(turn: &TurnId) -> ChangeAct {
    ChangeAct::UndoTurn { turn_id: Some(turn.clone()), paths: None }
}

/// Edits `notes.txt` and makes `new.txt` once it may, then two more turns with a file each.
fn three_turns(go: &Path) -> ScriptBuilder {
    let edited = lines(&[(1, "agent")]);
    script()
        .on_prompt("one")
        .say("I begin.")
        .wait_for_file(go.to_str().unwrap())
        .command("c", "edit notes.txt new.txt")
        .write_file("notes.txt", &edited)
        .write_file("new.txt", "new\n")
        .tool_done("c", "")
        .on_prompt("two")
        .command("d", "edit two.txt")
        .write_file("two.txt", "two\n")
        .tool_done("d", "")
        .on_any_prompt()
        .command("e", "edit three.txt")
        .write_file("three.txt", "three\n")
        .tool_done("e", "")
}

/// The turn that edits, with the states before and after it recorded.
async fn edits(app: &App, browser: &mut Browser, session: &SessionId, go: &Path) -> TurnId {
    let turn = browser.says_to(session, "one").await;
    let scope = ChangeScope::Turn { turn_id: Some(turn.clone()) };
    let list = || ClientMessage::ChangesList { session_id: session.clone(), scope: scope.clone() };
    let is_recorded = async {
        while !matches!(browser.ask(list()).await,
            ServerMessage::ChangesList { notes, .. } if notes.is_empty() || !notes[0].contains("not recorded"))
        {
        }
    };
    in_time(is_recorded).await.expect("the state before the turn was never recorded");
    std::fs::write(go, "").unwrap();
    browser.sees_end(&turn).await;
    app.has_recorded(&turn, "after").await;
    browser.sees_told("changes:changed").await;
    turn
}

async fn session_in(app: &App, directory: &Path) -> (Browser, SessionId) {
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    (browser, session)
}

async fn stage(script: ScriptBuilder) -> (App, Browser, SessionId, PathBuf) {
    stage_of(Launch::new().agent(script)).await
}

async fn stage_of(launch: Launch) -> (App, Browser, SessionId, PathBuf) {
    let app = launch.start().await;
    let directory = repository(&app);
    let (browser, session) = session_in(&app, &directory).await;
    (app, browser, session, directory)
}

async fn takes_turn(browser: &mut Browser, session: &SessionId, words: &str) -> TurnId {
    let turn = browser.says_to(session, words).await;
    browser.sees_end(&turn).await;
    turn
}

#[tokio::test]
async fn the_first_of_three_turns_is_undone_and_the_users_own_edit_stays() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let (app, mut browser, session, at) = stage_of(launch.agent(three_turns(&go))).await;
    let first = edits(&app, &mut browser, &session, &go).await;
    write(&at, "notes.txt", &lines(&[(1, "agent"), (9, "mine")]));
    takes_turn(&mut browser, &session, "two").await;
    takes_turn(&mut browser, &session, "three").await;

    let act = undo_turn(&first);
    let preview = browser.previews(&session, &act).await;
    let expected = [("new.txt*".into(), PathFate::Remove), ("notes.txt*".into(), PathFate::Merge)];
    assert_eq!(preview.fates(), expected);
    assert!(preview.notes.iter().any(|words| words.contains("Ignored")), "{:?}", preview.notes);
    assert_eq!(preview.cannot, [""; 0]);
    let id = browser.acts(&session, &act).await;
    assert_eq!(read(&at, "notes.txt"), lines(&[(9, "mine")]));
    assert_eq!(read(&at, "new.txt"), "no such file");
    assert_eq!((read(&at, "two.txt"), read(&at, "three.txt")), ("two\n".into(), "three\n".into()));
    let noted = |body: &Body| match body {
        Body::Notice { text, details, .. } => {
            details.as_ref().and_then(|it| it.undo.clone()).map(|undo| (text.clone(), undo))
        }
        _ => None,
    };
    let (words, undoes) = browser.sees_item(&session, "notice", |item| noted(&item.body)).await;
    assert_eq!((words.as_str(), &undoes), ("Undid a turn in 2 files.", &id));

    browser.acts(&session, &undo(&id)).await;
    assert_eq!(read(&at, "notes.txt"), lines(&[(1, "agent"), (9, "mine")]));
    assert_eq!(read(&at, "new.txt"), "new\n");
    let (_, words) = browser.is_refused(&session, &undo(&id)).await;
    assert!(words.contains("undone already"), "{words}");
}

#[tokio::test]
async fn a_turn_whose_files_are_back_is_listed_as_undone_until_they_change_again() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let (app, mut browser, session, at) = stage_of(launch.agent(three_turns(&go))).await;
    let turn = edits(&app, &mut browser, &session, &go).await;
    write(&at, "mine.txt", "mine\n");
    assert!(!is_undone(&mut browser, &session, &turn).await);
    let id = browser.acts(&session, &undo_turn(&turn)).await;
    assert!(is_undone(&mut browser, &session, &turn).await);
    write(&at, ".git/info/exclude", "new.txt\n");
    write(&at, "new.txt", "there, but in no state\n");
    assert!(!is_undone(&mut browser, &session, &turn).await);
    std::fs::remove_file(at.join("new.txt")).unwrap();
    browser.acts(&session, &undo(&id)).await;
    assert!(!is_undone(&mut browser, &session, &turn).await);
}

async fn is_undone(browser: &mut Browser, session: &SessionId, turn: &TurnId) -> bool {
    let (session_id, scope) = (session.clone(), ChangeScope::Turn { turn_id: Some(turn.clone()) });
    let listed = browser.ask(ClientMessage::ChangesList { session_id, scope }).await;
    let ServerMessage::ChangesList { files, undone, .. } = listed else { panic!("{listed:?}") };
    assert_eq!(files.len(), 2, "the turn changed them, whatever became of it");
    undone
}

#[tokio::test]
async fn what_changed_in_the_same_lines_is_left_with_words_and_others_files_are_not_ticked() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let (app, mut browser, session, at) = stage_of(launch.agent(three_turns(&go))).await;
    let turn = edits(&app, &mut browser, &session, &go).await;
    write(&at, "notes.txt", &lines(&[(1, "mine")]));
    write(&at, "new.txt", "mine too\n");
    let preview = browser.previews(&session, &undo_turn(&turn)).await;
    let left = [("new.txt".into(), PathFate::Leave), ("notes.txt".into(), PathFate::Leave)];
    assert_eq!(preview.fates(), left);
    let why: Vec<_> = preview.paths.iter().filter_map(|path| path.why.as_deref()).collect();
    assert_eq!(why, ["It changed since.", "It changed since, in the same lines."]);
    let (_, words) = browser.is_refused(&session, &undo_turn(&turn)).await;
    assert!(words.contains("nothing to put back"), "{words}");

    git(&at, &["checkout", "--quiet", "-b", "elsewhere"]);
    let (_, words) = browser.is_refused(&session, &undo_turn(&turn)).await;
    assert!(words.contains("main") && words.contains("elsewhere"), "{words}");
    assert_eq!(read(&at, "notes.txt"), lines(&[(1, "mine")]));
}

#[tokio::test]
async fn while_anyone_works_in_the_directory_nothing_is_done_and_a_moved_world_is_refused() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let agent = script().on_any_prompt().say("Working.").wait_for_file(go.to_str().unwrap());
    let app = launch.agent(agent).start().await;
    let at = repository(&app);
    let (mut browser, session) = session_in(&app, &at).await;
    let projects = browser.projects().await;
    let other = browser.creates_session(&projects[0], "scripted").await;
    write(&at, "notes.txt", "mine\n");
    let expect = browser.previews(&session, &revert("notes.txt")).await.expect;

    let turn = browser.says_to(&other, "work").await;
    browser.sees_state(&other, "running").await;
    let refused = browser.tries_to_act(&session, &revert("notes.txt"), &expect).await;
    let ServerMessage::Error { code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::WorkspaceBusy);
    let (code, words) = browser.is_refused(&session, &commit("no")).await;
    assert_eq!(code, ErrorCode::WorkspaceBusy);
    assert!(words.contains("“work” is still running in this directory"), "{words}");
    let (_, words) = browser.is_refused(&other, &commit("no")).await;
    assert!(words.starts_with("This session is still working."), "{words}");
    std::fs::write(&go, "").unwrap();
    browser.sees_end(&turn).await;
    browser.sees_state(&other, "idle").await;

    write(&at, "notes.txt", "mine, later\n");
    let refused = browser.tries_to_act(&session, &revert("notes.txt"), &expect).await;
    let ServerMessage::Error { code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::ChangedMeanwhile);
    assert_eq!(read(&at, "notes.txt"), "mine, later\n");
    browser.acts(&session, &revert("notes.txt")).await;
    assert_eq!(read(&at, "notes.txt"), lines(&[]));
}

#[tokio::test]
async fn a_file_and_a_block_of_lines_are_reverted_and_everything_odd_keeps_its_form() {
    let (_app, mut browser, session, at) = stage(script().on_any_prompt().say("Hello.")).await;
    write(&at, "run me.sh", "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(at.join("run me.sh"), mode).unwrap();
    std::os::unix::fs::symlink("notes.txt", at.join("link")).unwrap();
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "--message", "second"]);

    write(&at, "notes.txt", &lines(&[(2, "two"), (8, "eight")]));
    let hunk = |hunk: &str| ChangeAct::RevertHunk {
        scope: ChangeScope::Uncommitted {},
        path: "notes.txt".into(),
        hunk: hunk.to_owned(),
    };
    let (_, words) = browser.is_refused(&session, &hunk("3,1:3,1")).await;
    assert!(words.contains("no longer as they were shown"), "{words}");
    browser.acts(&session, &hunk("2,1:2,1")).await;
    assert_eq!(read(&at, "notes.txt"), lines(&[(8, "eight")]));

    std::fs::remove_file(at.join("run me.sh")).unwrap();
    std::fs::remove_file(at.join("link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at.join("link")).unwrap();
    std::fs::create_dir(at.join("deep")).unwrap();
    write(&at, "deep/new.txt", "new\n");
    for path in ["run me.sh", "link", "deep/new.txt"] {
        browser.acts(&session, &revert(path)).await;
    }
    let script = at.join("run me.sh").metadata().unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&script.permissions()) & 0o111, 0o111);
    assert_eq!(std::fs::read_link(at.join("link")).unwrap(), Path::new("notes.txt"));
    assert!(!at.join("deep").exists(), "nor the directory that was made for it");
    assert_eq!(git(&at, &["status", "--porcelain"]), " M notes.txt");
}

#[tokio::test]
async fn chosen_files_are_committed_with_their_hooks_and_taken_back() {
    let (_app, mut browser, session, at) = stage(script().on_any_prompt().say("Hello.")).await;
    write(&at, "notes.txt", "changed\n");
    write(&at, "new.txt", "new\n");
    write(&at, "later.txt", "not yet\n");
    git(&at, &["add", "later.txt"]);
    let paths = Some(vec!["notes.txt".to_owned(), "new.txt".to_owned()]);
    let act = ChangeAct::Commit { message: "Chosen ones\n".into(), paths };
    let before = git(&at, &["rev-parse", "HEAD"]);

    hook(&at, "pre-commit", "echo 'line 3: too long' >&2; echo 'and more'; exit 1");
    let preview = browser.previews(&session, &act).await;
    assert!(preview.notes.iter().any(|note| note.contains("pre-commit")), "{:?}", preview.notes);
    let (code, words) = browser.is_refused(&session, &act).await;
    assert_eq!(code, ErrorCode::GitFailed);
    assert!(words.contains("line 3: too long") && words.contains("and more"), "{words}");
    assert_eq!(git(&at, &["rev-parse", "HEAD"]), before);

    hook(&at, "pre-commit", "echo formatted >> notes.txt; git add notes.txt");
    let id = browser.acts(&session, &act).await;
    let listed = git(&at, &["show", "--name-only", "--format=%an: %s", "HEAD"]);
    assert_eq!(listed, "Ada: Chosen ones\n\nnew.txt\nnotes.txt");
    assert_eq!(git(&at, &["show", "HEAD:notes.txt"]), "changed\nformatted");
    assert_eq!(git(&at, &["status", "--porcelain"]), "A  later.txt");

    git(&at, &["checkout", "--quiet", "-b", "another"]);
    let (_, words) = browser.is_refused(&session, &undo(&id)).await;
    assert!(words.contains("is on main"), "another branch has it too: {words}");
    git(&at, &["checkout", "--quiet", "main"]);
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(git(&at, &["rev-parse", "HEAD"]), before);
    assert_eq!(git(&at, &["status", "--porcelain"]), "A  later.txt\n M notes.txt\n?? new.txt");
    assert_eq!(read(&at, "notes.txt"), "changed\nformatted\n");
}

#[tokio::test]
async fn a_first_commit_and_a_detached_one_are_said() {
    let app = Launch::new().agent(script().on_any_prompt().say("Hello.")).start().await;
    let at = PathBuf::from(app.directory("project"));
    git(&at, &["init", "--quiet", "--initial-branch", "main"]);
    git(&at, &["config", "user.name", "Ada"]);
    git(&at, &["config", "user.email", "ada@example.org"]);
    write(&at, "a.txt", "a\n");
    let (mut browser, session) = session_in(&app, &at).await;
    let notes = browser.previews(&session, &commit("first")).await.notes;
    assert_eq!(notes, ["This is the first commit of main."]);
    let id = browser.acts(&session, &commit("first")).await;
    assert_eq!(git(&at, &["log", "--format=%s"]), "first");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(git(&at, &["status", "--porcelain"]), "?? a.txt");
    browser.acts(&session, &commit("first again")).await;
    git(&at, &["checkout", "--quiet", "--detach"]);
    write(&at, "a.txt", "b\n");
    let notes = browser.previews(&session, &commit("second")).await.notes;
    assert!(notes[0].contains("No branch is checked out"), "{notes:?}");
}

#[tokio::test]
async fn a_commit_leaves_out_what_another_session_may_have_changed_unless_the_user_chooses_it() {
    let agent = script()
        .on_prompt("mine")
        .command("c", "edit mine.txt")
        .write_file("mine.txt", "mine\n")
        .tool_done("c", "")
        .on_any_prompt()
        .command("d", "edit theirs.txt")
        .write_file("theirs.txt", "theirs\n")
        .tool_done("d", "");
    let (_app, mut browser, session, at) = stage(agent).await;
    let turn = browser.says_to(&session, "mine").await;
    browser.sees_end(&turn).await;
    write(&at, "theirs.txt", "by hand\n");
    let alone = browser.previews(&session, &commit("mine")).await;
    let both = [("mine.txt*".into(), PathFate::Commit), ("theirs.txt*".into(), PathFate::Commit)];
    assert_eq!(alone.fates(), both, "nobody else works here");

    let projects = browser.projects().await;
    let other = browser.creates_session(&projects[0], "scripted").await;
    let turn = browser.says_to(&other, "theirs").await;
    browser.sees_end(&turn).await;
    let shared = browser.previews(&session, &commit("mine")).await;
    let mine = [("mine.txt*".into(), PathFate::Commit), ("theirs.txt".into(), PathFate::Commit)];
    assert_eq!(shared.fates(), mine);
    let why: Vec<_> = shared.paths.iter().map(|path| path.why.as_deref()).collect();
    assert_eq!(why, [None, Some("perhaps not by this agent")]);
    browser.acts(&session, &commit("mine")).await;
    assert_eq!(git(&at, &["status", "--porcelain"]), "?? theirs.txt");
    let chosen =
        ChangeAct::Commit { message: "theirs".into(), paths: Some(vec!["theirs.txt".into()]) };
    browser.acts(&session, &chosen).await;
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn an_undo_that_was_killed_is_completed_at_the_next_start() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let (launch, stopped) = launch.agent(three_turns(&go)).git_that_stops("cat-file --filters");
    let app = launch.start().await;
    let at = repository(&app);
    let (mut browser, session) = session_in(&app, &at).await;
    let turn = edits(&app, &mut browser, &session, &go).await;
    let app = killed_at(app, browser, &session, &undo_turn(&turn), &stopped, || {}).await;
    let _browser = sees_settled(&app, &session, "been completed").await;
    assert_eq!((read(&at, "notes.txt"), read(&at, "new.txt")), (lines(&[]), "no such file".into()));
}

#[tokio::test]
async fn a_commit_that_was_killed_is_either_there_or_not_and_its_lock_is_gone() {
    for (call, words, status) in
        [("commit --quiet", "rolled back", " M notes.txt"), ("reset --quiet", "been completed", "")]
    {
        let (launch, stopped) =
            Launch::new().agent(three_turns(Path::new("never"))).git_that_stops(call);
        let app = launch.start().await;
        let at = repository(&app);
        let (mut browser, session) = session_in(&app, &at).await;
        takes_turn(&mut browser, &session, "two").await;
        std::fs::remove_file(at.join("two.txt")).unwrap();
        write(&at, "notes.txt", "changed\n");
        let lock = at.join(".git/index.lock");
        let left = || std::fs::write(&lock, "").unwrap();
        let app = killed_at(app, browser, &session, &commit("kept"), &stopped, left).await;
        let _browser = sees_settled(&app, &session, words).await;
        assert!(!lock.exists());
        assert_eq!(git(&at, &["status", "--porcelain"]), status);
        assert_eq!(read(&at, "notes.txt"), "changed\n");
    }
}

#[tokio::test]
async fn a_killed_commit_is_recognised_although_hooks_changed_its_files_and_its_message() {
    let (launch, stopped) =
        Launch::new().agent(three_turns(Path::new("never"))).git_that_stops("reset --quiet");
    let app = launch.start().await;
    let at = repository(&app);
    let (mut browser, session) = session_in(&app, &at).await;
    takes_turn(&mut browser, &session, "two").await;
    std::fs::remove_file(at.join("two.txt")).unwrap();
    write(&at, "notes.txt", "changed\n");
    hook(&at, "pre-commit", "echo formatted >> notes.txt; git add notes.txt");
    hook(&at, "commit-msg", "echo 'Ticket 7' > \"$1\"");
    let app = killed_at(app, browser, &session, &commit("kept"), &stopped, || {}).await;
    let _browser = sees_settled(&app, &session, "been completed").await;
    assert_eq!(git(&at, &["log", "--format=%s"]), "Ticket 7\nfirst");
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
    assert_eq!(read(&at, "notes.txt"), "changed\nformatted\n");
}

#[tokio::test]
async fn a_hook_that_outlives_a_killed_server_is_ended_by_the_next() {
    let (app, mut browser, session, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (hanging, daemon) = (directory.join(".git/hanging"), directory.join(".git/daemon"));
    // Both are complete once they have their names. What has a session of its own is meant to stay.
    let noted = |file: &Path| format!("{0}.new; mv {0}.new {0}", file.display());
    let script = format!(
        "setsid sh -c 'echo $$ > {}; exec sleep 600' > /dev/null 2>&1 &\n\
         sleep 600 > /dev/null 2>&1 &\necho $! > {}\nwait",
        noted(&daemon),
        noted(&hanging)
    );
    hook(&directory, "pre-commit", &script);
    takes_turn(&mut browser, &session, "hello").await;
    write(&directory, "notes.txt", "changed\n");
    let expect = browser.previews(&session, &commit("Never")).await.expect;
    browser.send(acting(&session, &commit("Never"), &expect)).await;
    let both = async {
        while !hanging.exists() || !daemon.exists() {
            tokio::task::yield_now().await;
        }
    };
    in_time(both).await.expect("the hook runs");
    let pid = |file| std::fs::read_to_string(file).unwrap().trim().parse::<i32>().unwrap();
    let (hanging, daemon) = (pid(&hanging), pid(&daemon));
    let launch = app.launch().clone();
    app.signal(Signal::KILL);
    app.ended().await;
    let is_there = |pid: i32| std::fs::exists(format!("/proc/{pid}")).unwrap();
    assert!(is_there(hanging));

    let app = launch.start().await;
    are_gone(&[hanging]).await;
    sees_settled(&app, &session, "rolled back").await;
    assert!(is_there(daemon));
    kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    assert_eq!(git(&directory, &["log", "--format=%s"]), "first");
}

#[tokio::test]
async fn an_undo_of_a_commit_that_was_killed_is_completed_or_taken_back() {
    for (call, words, status, log) in [
        ("update-ref --create-reflog -m liminal: undo commit", "rolled back", "", "kept\nfirst"),
        ("reset --quiet", "been completed", " M notes.txt\n?? new.txt", "first"),
    ] {
        let (launch, stopped) =
            Launch::new().agent(three_turns(Path::new("never"))).git_that_stops(call);
        let app = launch.start().await;
        let at = repository(&app);
        let (mut browser, session) = session_in(&app, &at).await;
        takes_turn(&mut browser, &session, "two").await;
        std::fs::remove_file(at.join("two.txt")).unwrap();
        write(&at, "notes.txt", "changed\n");
        write(&at, "new.txt", "new\n");
        let id = browser.acts(&session, &commit("kept")).await;
        let lock = at.join(".git/index.lock");
        let left = || std::fs::write(&lock, "").unwrap();
        let app = killed_at(app, browser, &session, &undo(&id), &stopped, left).await;
        let _browser = sees_settled(&app, &session, words).await;
        assert!(!lock.exists());
        assert_eq!(git(&at, &["status", "--porcelain"]), status);
        assert_eq!(git(&at, &["log", "--format=%s"]), log);
        let there = (read(&at, "notes.txt"), read(&at, "new.txt"));
        assert_eq!(there, ("changed\n".into(), "new\n".into()));
    }
}

#[tokio::test]
async fn a_file_that_git_cannot_record_is_named_and_neither_listed_as_deleted_nor_overwritten() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let agent = script()
        .on_prompt("one")
        .wait_for_file(go.to_str().unwrap())
        .command("c", "edit odd.txt was.txt new.txt")
        .write_file("odd.txt", "no mark\n")
        .write_file("was.txt", "even")
        .write_file("new.txt", "new\n")
        .tool_done("c", "");
    let (app, mut browser, session, at) = stage_of(launch.agent(agent)).await;
    // git refuses the one without the mark that says which byte comes first, and the other with half a character.
    let encodings =
        "odd.txt working-tree-encoding=UTF-16\nwas.txt working-tree-encoding=UTF-16LE\n";
    write(&at, ".git/info/attributes", encodings);
    std::fs::write(at.join("odd.txt"), b"\xff\xfeo\0\n\0").unwrap();
    write(&at, "was.txt", "odd");
    let turn = edits(&app, &mut browser, &session, &go).await;

    let (session_id, scope) = (session.clone(), ChangeScope::Turn { turn_id: Some(turn.clone()) });
    let listed = browser.ask(ClientMessage::ChangesList { session_id, scope }).await;
    let ServerMessage::ChangesList { files, notes, .. } = listed else { panic!("{listed:?}") };
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["new.txt"]);
    assert!(notes.iter().any(|note| note.contains("odd.txt and 1 more")), "{notes:?}");

    let act = undo_turn(&turn);
    let preview = browser.previews(&session, &act).await;
    let left = |path: &str| (path.to_owned(), PathFate::Leave);
    let expected = [("new.txt*".into(), PathFate::Remove), left("odd.txt"), left("was.txt")];
    assert_eq!(preview.fates(), expected);
    browser.acts(&session, &act).await;
    let now = ["new.txt", "odd.txt", "was.txt"].map(|name| read(&at, name));
    assert_eq!(now, ["no such file", "no mark\n", "even"]);
}
