//! Landing worktrees in their base.

use std::path::{Path, PathBuf};

use liminal_contract::{Body, ChangeAct, ErrorCode, LandHow, PathFate, Project, ServerMessage};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};

use crate::support::acts::{
    commit, git, killed_at, lines, read, repository, sees_settled, undo, worktree, write,
};
use crate::support::{App, Browser, Launch, executable};

fn land(how: LandHow, message: &str) -> ChangeAct {
    ChangeAct::Land { how, message: Some(message.to_owned()) }
}

async fn stage(script: ScriptBuilder) -> (App, Browser, Project, PathBuf) {
    let app = Launch::new().agent(script).start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    (app, browser, project, directory)
}

fn log(at: &Path, branch: &str) -> Vec<String> {
    git(at, &["log", "--format=%s", branch]).lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn two_agents_in_two_worktrees_land_both_and_an_agent_resolves_the_conflict() {
    let agent = script()
        .on_prompt("first")
        .write_file("notes.txt", &lines(&[(1, "first")]))
        .on_prompt("second")
        .write_file("notes.txt", &lines(&[(1, "second"), (9, "nine")]))
        .on_prompt_with("resolve")
        .write_file("notes.txt", &lines(&[(1, "first and second"), (9, "nine")]));
    let (_app, mut browser, project, directory) = stage(agent).await;
    let (one, first) = worktree(&mut browser, &project, "one").await;
    let (two, second) = worktree(&mut browser, &project, "two").await;
    for (session, words) in [(&one, "first"), (&two, "second")] {
        let turn = browser.says_to(session, words).await;
        browser.sees_end(&turn).await;
    }

    let preview = browser.previews(&one, &land(LandHow::Squash, "First")).await;
    assert_eq!(preview.fates(), [("notes.txt*".into(), PathFate::Commit)]);
    browser.acts(&one, &land(LandHow::Squash, "First")).await;
    assert_eq!(log(&directory, "main"), ["First", "first"]);
    assert_eq!(read(&directory, "notes.txt"), lines(&[(1, "first")]), "where it is checked out");
    assert_eq!(git(&directory, &["status", "--porcelain"]), "");

    browser.acts(&two, &commit("Second, a draft")).await;
    let preview = browser.previews(&two, &land(LandHow::Squash, "Second")).await;
    assert_eq!(preview.fates(), [("notes.txt".into(), PathFate::Conflict)]);
    let (code, words) = browser.is_refused(&two, &land(LandHow::Squash, "Second")).await;
    assert_eq!(code, ErrorCode::LandConflict);
    assert!(words.contains("notes.txt"), "{words}");

    browser.acts(&two, &ChangeAct::StartMerge {}).await;
    assert!(read(&second, "notes.txt").contains("<<<<<<<"));
    let (_, words) = browser.is_refused(&two, &commit("too early")).await;
    assert!(words.contains("conflict markers: notes.txt"), "{words}");
    browser.acts(&two, &ChangeAct::AbortMerge {}).await;
    assert_eq!(read(&second, "notes.txt"), lines(&[(1, "second"), (9, "nine")]));

    browser.acts(&two, &ChangeAct::StartMerge {}).await;
    let turn = browser.says_to(&two, "Please resolve the conflicts.").await;
    browser.sees_end(&turn).await;
    browser.acts(&two, &commit("Merge main")).await;
    browser.acts(&two, &land(LandHow::Squash, "Second")).await;
    assert_eq!(log(&directory, "main"), ["Second", "First", "first"]);
    let both = lines(&[(1, "first and second"), (9, "nine")]);
    assert_eq!((read(&directory, "notes.txt"), read(&second, "notes.txt")), (both.clone(), both));

    // Landing twice: the branch moved onto the base, and its old tip is kept.
    write(&first, "more.txt", "more\n");
    browser.acts(&one, &land(LandHow::Merge, "More")).await;
    let landed = log(&directory, "main");
    assert_eq!(landed[0], "Merge main into liminal/one");
    assert!(
        landed.contains(&"More".to_owned()) && landed.contains(&"Second".to_owned()),
        "{landed:?}"
    );
    assert_eq!(read(&directory, "more.txt"), "more\n");
    let kept = git(&directory, &["for-each-ref", "--format=%(refname)", "refs/liminal/landed"]);
    assert!(kept.lines().count() >= 4, "{kept}");
}

#[tokio::test]
async fn a_base_that_is_dirty_or_has_something_in_the_way_is_refused_with_the_names() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "notes.txt", "changed\n");
    write(&at, "new.txt", "new\n");
    browser.acts(&session, &commit("work")).await;
    let (before, act) = (git(&directory, &["rev-parse", "main"]), land(LandHow::Merge, ""));

    write(&directory, "notes.txt", "mine\n");
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("not committed: notes.txt"), "{words}");
    git(&directory, &["checkout", "--quiet", "notes.txt"]);
    write(&directory, "new.txt", "mine\n");
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("in the way") && words.contains("new.txt"), "{words}");
    assert_eq!(git(&directory, &["rev-parse", "main"]), before);
    assert_eq!(read(&directory, "new.txt"), "mine\n");
    std::fs::remove_file(directory.join("new.txt")).unwrap();

    let id = browser.acts(&session, &act).await;
    assert_eq!(read(&directory, "notes.txt"), "changed\n");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(git(&directory, &["rev-parse", "main"]), before);
    assert_eq!(
        (read(&directory, "notes.txt"), read(&directory, "new.txt")),
        (lines(&[]), "no such file".into())
    );
    assert_eq!(read(&at, "notes.txt"), "changed\n", "the worktree keeps its work");
}

#[tokio::test]
async fn a_file_that_is_there_just_as_it_lands_is_not_in_the_way_and_outlives_the_undo() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    write(&directory, "made.txt", "made\n");
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "made.txt", "made\n");
    write(&at, "notes.txt", "changed\n");
    let act = land(LandHow::Squash, "Work");
    let preview = browser.previews(&session, &act).await;
    assert_eq!(preview.cannot, [""; 0]);
    let notes = preview.notes.join(" ");
    assert!(notes.contains("made.txt is in") && notes.contains("the same content"), "{notes}");

    let id = browser.acts(&session, &act).await;
    assert_eq!(log(&directory, "main"), ["Work", "first"]);
    assert_eq!(git(&directory, &["status", "--porcelain"]), "");
    assert_eq!(git(&directory, &["ls-files"]), "made.txt\nnotes.txt");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(log(&directory, "main"), ["first"]);
    assert_eq!(git(&directory, &["status", "--porcelain"]), "?? made.txt");
    assert_eq!(read(&directory, "made.txt"), "made\n");

    // The files are committed by now. Only what is the same on disk counts, and its mode is part of it.
    executable(&directory.join("made.txt"), "made\n");
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("in the way") && words.contains("made.txt"), "{words}");
    assert_eq!(log(&directory, "main"), ["first"]);
}

#[tokio::test]
async fn what_is_in_the_way_of_a_landing_is_said_before_anything_is_committed() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&directory, "mine.txt", "mine\n");
    git(&directory, &["add", "mine.txt"]);
    git(&directory, &["commit", "--quiet", "--message", "mine"]);
    write(&directory, "made.txt", "mine\n");
    write(&at, "made.txt", "made\n");
    write(&at, "notes.txt", "changed\n");
    let act = land(LandHow::Squash, "Work");
    let untouched = || {
        assert_eq!(log(&at, "HEAD"), ["first"]);
        assert_eq!(log(&directory, "main"), ["mine", "first"]);
    };

    let preview = browser.previews(&session, &act).await;
    let words = preview.cannot.join(" ");
    assert!(words.contains("in the way") && words.contains("made.txt"), "{words}");
    assert!(words.contains("Move or remove it, then try again."), "{words}");
    assert_eq!(browser.is_refused(&session, &act).await.1, words);
    untouched();
    write(&directory, "notes.txt", "mine\n");
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("not committed: notes.txt"), "{words}");
    untouched();

    git(&directory, &["checkout", "--quiet", "notes.txt"]);
    write(&directory, "made.txt", "made\n");
    browser.acts(&session, &act).await;
    assert_eq!(log(&directory, "main"), ["Work", "mine", "first"]);
    assert_eq!(git(&directory, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_file_and_a_directory_that_changed_places_land_and_come_back() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let to_directory = |at: &Path| {
        std::fs::remove_file(at.join("notes.txt")).unwrap();
        std::fs::create_dir(at.join("notes.txt")).unwrap();
        write(at, "notes.txt/one", "one\n");
    };
    let to_file = |at: &Path| {
        std::fs::remove_dir_all(at.join("notes.txt")).unwrap();
        write(at, "notes.txt", "file\n");
    };
    let (other, made_before) = worktree(&mut browser, &project, "other").await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    to_directory(&at);
    // Committed by the landing.
    let id = browser.acts(&session, &land(LandHow::Squash, "Directory")).await;
    assert_eq!(read(&directory, "notes.txt/one"), "one\n");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(read(&directory, "notes.txt"), lines(&[]));
    assert_eq!(git(&directory, &["status", "--porcelain"]), "");
    browser.acts(&session, &land(LandHow::Squash, "Directory")).await;

    // A worktree from before that follows.
    write(&made_before, "new.txt", "new\n");
    browser.acts(&other, &commit("New")).await;
    let id = browser.acts(&other, &land(LandHow::Squash, "New")).await;
    assert_eq!(read(&made_before, "notes.txt/one"), "one\n");
    browser.acts(&other, &undo(&id)).await;
    assert_eq!(read(&made_before, "notes.txt"), lines(&[]));

    to_file(&at);
    browser.acts(&session, &commit("File")).await;
    write(&directory, "notes.txt/mine", "mine\n");
    let (_, words) = browser.is_refused(&session, &land(LandHow::Squash, "File")).await;
    assert!(words.contains("in the way") && words.contains("notes.txt/mine. Move"), "{words}");
    assert_eq!(read(&directory, "notes.txt/mine"), "mine\n");
    std::fs::remove_file(directory.join("notes.txt/mine")).unwrap();
    let id = browser.acts(&session, &land(LandHow::Squash, "File")).await;
    assert_eq!(read(&directory, "notes.txt"), "file\n");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(read(&directory, "notes.txt/one"), "one\n");
    for place in [&directory, &at, &made_before] {
        assert_eq!(git(place, &["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn a_base_that_moved_is_merged_in_first_and_one_that_nobody_has_checked_out_moves_too() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "notes.txt", &lines(&[(1, "agent")]));
    browser.acts(&session, &commit("work")).await;
    let act = land(LandHow::Squash, "Work");
    let expect = browser.previews(&session, &act).await.expect;
    write(&directory, "notes.txt", &lines(&[(9, "mine")]));
    git(&directory, &["commit", "--quiet", "--all", "--message", "mine"]);
    let moved = browser.tries_to_act(&session, &act, &expect).await;
    let ServerMessage::Error { code, .. } = moved else { panic!("{moved:?}") };
    assert_eq!(code, ErrorCode::ChangedMeanwhile);

    git(&directory, &["checkout", "--quiet", "-b", "elsewhere"]);
    let notes = browser.previews(&session, &act).await.notes;
    assert!(notes.iter().any(|note| note.contains("main has a new commit")), "{notes:?}");
    browser.acts(&session, &act).await;
    assert_eq!(log(&directory, "main"), ["Work", "mine", "first"]);
    assert_eq!(read(&at, "notes.txt"), lines(&[(1, "agent"), (9, "mine")]));
    assert_eq!(read(&directory, "notes.txt"), lines(&[(9, "mine")]), "another branch is there");
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
    let (_, words) = browser.is_refused(&session, &act).await;
    assert!(words.contains("has everything"), "{words}");
}

#[tokio::test]
async fn a_landing_is_undone_where_the_branches_are_now_and_overwrites_nothing() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    write(&directory, "config", "default\n");
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "config"]);
    let (session, at) = worktree(&mut browser, &project, "one").await;
    let before = git(&directory, &["rev-parse", "main"]);
    git(&at, &["rm", "--quiet", "config"]);
    write(&at, ".gitignore", "config\n");
    write(&at, "notes.txt", "changed\n");
    browser.acts(&session, &commit("work")).await;
    let id = browser.acts(&session, &land(LandHow::Squash, "Work")).await;

    write(&directory, "config", "my own\n");
    let (_, words) = browser.is_refused(&session, &undo(&id)).await;
    assert!(words.contains("in the way") && words.contains("config"), "{words}");
    assert_eq!(read(&directory, "config"), "my own\n");
    std::fs::remove_file(directory.join("config")).unwrap();

    git(&directory, &["checkout", "--quiet", "-b", "feature"]);
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(git(&directory, &["rev-parse", "main"]), before);
    assert_eq!(git(&directory, &["status", "--porcelain"]), "", "feature is as it was");
    assert_eq!(read(&directory, "notes.txt"), "changed\n");
}

#[tokio::test]
async fn nothing_lands_in_a_branch_that_is_being_rebased() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "new.txt", "new\n");
    browser.acts(&session, &commit("work")).await;
    git(&directory, &["commit", "--quiet", "--allow-empty", "--message", "second"]);
    git(&directory, &["-c", "sequence.editor=sed -i 1ibreak", "rebase", "--interactive", "HEAD~1"]);
    let (_, words) = browser.is_refused(&session, &land(LandHow::Merge, "")).await;
    assert!(words.contains("main is being rebased"), "{words}");
}

#[tokio::test]
async fn a_landing_that_was_killed_is_completed_or_taken_back() {
    for (call, words, landed) in [
        // Before anything but the index knows of it.
        ("read-tree -m -u", "rolled back", false),
        // Before the base moves, with its files in place.
        (
            "update-ref --create-reflog -m liminal: land liminal/one refs/heads/main",
            "rolled back",
            false,
        ),
        // The base has moved, the worktree has not.
        (
            "update-ref --create-reflog -m liminal: land liminal/one refs/heads/liminal",
            "been completed",
            true,
        ),
    ] {
        let agent = script().on_any_prompt().say("Hi.");
        let (launch, stopped) = Launch::new().agent(agent).git_that_stops(call);
        let app = launch.start().await;
        let directory = repository(&app);
        let mut browser = app.browser().await;
        let project = browser.adds_project(directory.to_str().unwrap()).await;
        let (session, at) = worktree(&mut browser, &project, "one").await;
        let turn = browser.says_to(&session, "hello").await;
        browser.sees_end(&turn).await;
        write(&at, "notes.txt", "changed\n");
        write(&at, "new.txt", "new\n");
        for place in [&directory, &at] {
            write(place, "made.txt", "made\n");
        }
        browser.acts(&session, &commit("work")).await;
        let act = land(LandHow::Squash, "Work");
        let app = killed_at(app, browser, &session, &act, &stopped, || {}).await;
        let mut browser = sees_settled(&app, &session, words).await;
        let there = (read(&directory, "notes.txt"), read(&directory, "new.txt"));
        if landed {
            assert_eq!(log(&directory, "main"), ["Work", "first"]);
            assert_eq!(log(&at, "HEAD"), ["Work", "first"]);
            assert_eq!(there, ("changed\n".into(), "new\n".into()));
        } else {
            assert_eq!(log(&directory, "main"), ["first"]);
            assert_eq!(there, (lines(&[]), "no such file".into()));
            assert_eq!(git(&directory, &["status", "--porcelain"]), "?? made.txt");
            browser.acts(&session, &act).await;
            assert_eq!(log(&directory, "main"), ["Work", "first"]);
        }
        for place in [&directory, &at] {
            assert_eq!(git(place, &["status", "--porcelain"]), "");
            assert_eq!(read(place, "made.txt"), "made\n");
        }
    }
}

#[tokio::test]
async fn a_merge_that_was_killed_at_its_start_or_its_end_is_there_or_not() {
    for (call, act, words) in [
        ("merge --quiet --no-commit", ChangeAct::StartMerge {}, "rolled back"),
        ("merge --abort", ChangeAct::AbortMerge {}, "been completed"),
    ] {
        let agent = script().on_any_prompt().say("Hi.");
        let (launch, stopped) = Launch::new().agent(agent).git_that_stops(call);
        let app = launch.start().await;
        let directory = repository(&app);
        let mut browser = app.browser().await;
        let project = browser.adds_project(directory.to_str().unwrap()).await;
        let (session, at) = worktree(&mut browser, &project, "one").await;
        let turn = browser.says_to(&session, "hello").await;
        browser.sees_end(&turn).await;
        write(&at, "notes.txt", &lines(&[(1, "ours")]));
        write(&directory, "notes.txt", &lines(&[(1, "theirs")]));
        git(&directory, &["commit", "--quiet", "--all", "--message", "theirs"]);
        browser.acts(&session, &commit("ours")).await;
        if act == (ChangeAct::AbortMerge {}) {
            browser.acts(&session, &ChangeAct::StartMerge {}).await;
            assert!(read(&at, "notes.txt").contains("<<<<<<<"));
            write(&at, "mine.txt", "mine\n");
        }
        let lock = PathBuf::from(git(&at, &["rev-parse", "--absolute-git-dir"])).join("index.lock");
        let left = || std::fs::write(&lock, "").unwrap();
        let app = killed_at(app, browser, &session, &act, &stopped, left).await;
        let mut browser = sees_settled(&app, &session, words).await;
        assert!(!lock.exists());
        assert_eq!(read(&at, "notes.txt"), lines(&[(1, "ours")]));
        assert_eq!(log(&at, "HEAD"), ["ours", "first"]);
        // Nothing stands in the way of the next one.
        if act == (ChangeAct::AbortMerge {}) {
            assert_eq!(read(&at, "mine.txt"), "mine\n");
            std::fs::remove_file(at.join("mine.txt")).unwrap();
        }
        assert_eq!(git(&at, &["status", "--porcelain"]), "");
        browser.acts(&session, &ChangeAct::StartMerge {}).await;
        assert!(read(&at, "notes.txt").contains("<<<<<<<"));
    }
}

#[tokio::test]
async fn a_base_that_is_checked_out_nowhere_any_more_is_said_and_stays() {
    let (app, mut browser, project, directory) = stage(script()).await;
    git(&directory, &["checkout", "--quiet", "-b", "other"]);
    let elsewhere = PathBuf::from(app.directory("elsewhere")).join("main");
    git(&directory, &["worktree", "add", "--quiet", elsewhere.to_str().unwrap(), "main"]);
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "new.txt", "new\n");
    browser.acts(&session, &commit("New")).await;
    std::fs::remove_dir_all(&elsewhere).unwrap();

    let preview = browser.previews(&session, &land(LandHow::Squash, "New")).await;
    let words = preview.cannot.join(" ");
    assert!(words.contains("no working tree is there"), "{words}");
    browser.is_refused(&session, &land(LandHow::Squash, "New")).await;
    assert_eq!(log(&directory, "main"), ["first"]);

    git(&directory, &["worktree", "prune"]);
    browser.acts(&session, &land(LandHow::Squash, "New")).await;
    assert_eq!(log(&directory, "main"), ["New", "first"]);
}

#[tokio::test]
async fn while_another_git_works_nothing_is_committed_and_later_all_of_it_lands() {
    let agent = script().on_any_prompt().say("Hi.");
    let (_app, mut browser, project, directory) = stage(agent).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    write(&at, "new.txt", "new\n");
    let private = PathBuf::from(git(&at, &["rev-parse", "--absolute-git-dir"]).trim());
    for lock in [private.join("index.lock"), directory.join(".git/index.lock")] {
        std::fs::write(&lock, "").unwrap();
        let (_, words) = browser.is_refused(&session, &land(LandHow::Squash, "New")).await;
        assert!(words.contains("index.lock"), "{words}");
        assert_eq!(log(&directory, "main"), ["first"]);
        assert_eq!(git(&directory, &["status", "--porcelain"]), "");
        std::fs::remove_file(lock).unwrap();
    }
    // The files are committed by now, and that is told.
    let noted = |body: &Body| match body {
        Body::Notice { text, .. } => Some(text.clone()),
        _ => None,
    };
    let words = browser.sees_item(&session, "notice", |item| noted(&item.body)).await;
    assert_eq!(words, "Committed 1 file on liminal/one.");
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
    browser.acts(&session, &land(LandHow::Squash, "New")).await;
    assert_eq!(log(&directory, "main"), ["New", "first"]);
    assert_eq!(read(&directory, "new.txt"), "new\n");
}

#[tokio::test]
async fn a_landing_is_proposed_with_the_sessions_title_if_its_branch_is_named_after_that() {
    let agent = script().on_any_prompt().say("Hi.");
    let (_app, mut browser, project, _) = stage(agent).await;
    for (name, message) in
        [("add-a-file", "Add a file: a.txt"), ("other", "other"), ("a-file", "a file")]
    {
        let (session, at) = worktree(&mut browser, &project, name).await;
        let turn = browser.says_to(&session, "add a file: `a.txt`").await;
        browser.sees_end(&turn).await;
        write(&at, "a.txt", "a\n");
        let preview = browser.previews(&session, &land(LandHow::Squash, "")).await;
        assert_eq!(preview.message.as_deref(), Some(message));
    }
}

#[tokio::test]
async fn a_landing_without_a_message_has_the_proposed_one_also_where_it_commits_first() {
    let (_app, mut browser, project, directory) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "add-words").await;
    for (file, message, landed) in [("a.txt", None, "add words"), ("b.txt", Some(" "), "add words")]
    {
        write(&at, file, "words\n");
        let act = ChangeAct::Land { how: LandHow::Squash, message: message.map(str::to_owned) };
        assert_eq!(browser.previews(&session, &act).await.message.as_deref(), Some(landed));
        browser.acts(&session, &act).await;
        assert_eq!(log(&directory, "main")[0], landed);
    }
    // It was proposed before that commit was made.
    write(&at, "c.txt", "words\n");
    browser.acts(&session, &commit("More words")).await;
    write(&at, "d.txt", "words\n");
    let act = ChangeAct::Land { how: LandHow::Squash, message: None };
    assert_eq!(browser.previews(&session, &act).await.message.as_deref(), Some("More words"));
    browser.acts(&session, &act).await;
    assert_eq!(git(&directory, &["log", "-1", "--format=%B", "main"]).trim(), "More words");
    assert_eq!(read(&directory, "d.txt"), "words\n");
}

#[tokio::test]
async fn a_landing_of_a_long_task_is_proposed_with_as_much_of_it_as_fits_a_subject() {
    let (_app, mut browser, project, _) = stage(script().on_any_prompt().say("Hi.")).await;
    let (session, at) = worktree(&mut browser, &project, "work-1f2e3d").await;
    let task = "payments that hit the ten second gateway timeout are lost, retry them for an hour";
    let turn = browser.says_to(&session, &format!("{task}\nNothing else.")).await;
    browser.sees_end(&turn).await;
    write(&at, "a.txt", "a\n");
    let preview = browser.previews(&session, &land(LandHow::Squash, "")).await;
    let subject = "Payments that hit the ten second gateway timeout are lost, retry them";
    assert_eq!(preview.message.as_deref(), Some(subject));
    browser.acts(&session, &commit("Retry payments")).await;
    let preview = browser.previews(&session, &land(LandHow::Squash, "")).await;
    assert_eq!(preview.message.as_deref(), Some("Retry payments"));
}
