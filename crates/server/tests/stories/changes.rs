//! What changed in a session's directory, for review.

use std::path::{Path, PathBuf};
use std::process::Command;

use liminal_contract::{
    ChangeAct, ChangeScope, ChangeStatus, ChangedFile, ClientMessage, ErrorCode, PathFate,
    ServerMessage, SessionId,
};
use liminal_scripted_agent::{Steps, script};
use rustix::process::Signal;

use crate::support::acts::git;
use crate::support::{App, Browser, Launch, are_gone, descendants, executable, in_time};

fn pipe(directory: &str, name: &str) {
    let made = Command::new("mkfifo").arg(name).current_dir(directory).status().unwrap();
    assert!(made.success());
}

async fn list(browser: &mut Browser, session: &SessionId) -> ServerMessage {
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    browser.ask(ClientMessage::ChangesList { session_id, scope }).await
}

/// The paths of the changes in a scope, with a star for those that the agent may not have made, and the notes.
async fn changed(
    browser: &mut Browser,
    session: &SessionId,
    scope: ChangeScope,
) -> (Vec<String>, Vec<String>) {
    let session_id = session.clone();
    match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
        ServerMessage::ChangesList { files, notes, .. } => {
            let star = |meanwhile| if meanwhile { "*" } else { "" };
            let path = |file: ChangedFile| format!("{}{}", file.path, star(file.meanwhile));
            (files.into_iter().map(path).collect(), notes)
        }
        other => panic!("no list: {other:?}"),
    }
}

/// With one commit of `one.txt`.
fn repository(app: &App) -> String {
    let directory = app.directory("project");
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(Path::new(&directory).join("one.txt"), "one\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    directory
}

/// Every file below a directory, with its content.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// A part of the difference in a file.
async fn part(
    browser: &mut Browser,
    session: &SessionId,
    from: Option<usize>,
    version: Option<String>,
) -> (String, Vec<usize>, Option<String>) {
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    let (path, context, ignore_whitespace, split) = ("one.txt".to_owned(), None, None, None);
    let asked = ClientMessage::ChangesFile {
        session_id,
        scope,
        path,
        listed: None,
        context,
        ignore_whitespace,
        split,
        from,
        version,
    };
    match browser.ask(asked).await {
        ServerMessage::ChangesFile { html, from: at, parts, version, .. } => {
            assert_eq!(at, from.unwrap_or_default());
            (html, parts.iter().map(|part| part.row).collect(), version)
        }
        other => panic!("not the file: {other:?}"),
    }
}

fn whole(session_id: SessionId, scope: ChangeScope, path: String) -> ClientMessage {
    let (context, ignore_whitespace) = (None, None);
    ClientMessage::ChangesFile {
        session_id,
        scope,
        path,
        listed: None,
        context,
        ignore_whitespace,
        split: None,
        from: None,
        version: None,
    }
}

async fn file(browser: &mut Browser, session: &SessionId, path: &str) -> (String, Option<String>) {
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    let path = path.to_owned();
    match browser.ask(whole(session_id, scope, path)).await {
        ServerMessage::ChangesFile { html, note, .. } => (html, note),
        other => panic!("not the file: {other:?}"),
    }
}

#[tokio::test]
async fn the_changes_of_a_sessions_directory_are_listed_and_shown_file_by_file() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;

    match list(&mut browser, &session).await {
        ServerMessage::Error { code, message, .. } => {
            assert_eq!(code, ErrorCode::NotARepository);
            assert!(message.contains("git init"), "{message}");
        }
        other => panic!("not refused: {other:?}"),
    }

    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(Path::new(&directory).join("one.rs"), "fn one() {}\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    std::fs::write(Path::new(&directory).join("one.rs"), "fn one() -> u8 { 1 }\n").unwrap();
    std::fs::write(Path::new(&directory).join("<b>.bin"), b"\0\0").unwrap();
    match list(&mut browser, &session).await {
        ServerMessage::ChangesList { branch, files, more, .. } => {
            assert_eq!((branch.as_deref(), more), (Some("main"), 0));
            let files: Vec<_> =
                files.iter().map(|f| (f.path.as_str(), f.status, f.added, f.removed)).collect();
            let expected = [
                ("<b>.bin", ChangeStatus::Added, None, None),
                ("one.rs", ChangeStatus::Modified, Some(1), Some(1)),
            ];
            assert_eq!(files, expected);
        }
        other => panic!("no list: {other:?}"),
    }
    let (html, note) = file(&mut browser, &session, "one.rs").await;
    assert!(html.contains("u8") && note.is_none(), "{html} {note:?}");
    let (html, note) = file(&mut browser, &session, "<b>.bin").await;
    assert_eq!((html.as_str(), note.as_deref()), ("", Some("Binary file, 2 bytes.")));
    for elsewhere in ["../../etc/passwd", "/etc/passwd", ".git/config"] {
        let (html, note) = file(&mut browser, &session, elsewhere).await;
        let said = note.as_deref();
        assert_eq!((html.as_str(), said), ("", Some("This file no longer differs.")));
    }
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_and_a_large_file_do_not_hide_the_others() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let write = |name: &str, text: &[u8]| std::fs::write(Path::new(&directory).join(name), text);
    git(&directory, &["init", "--quiet"]);
    for name in ["large.txt", "one.txt", "pipe.txt"] {
        write(name, b"first\n").unwrap();
    }
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    write("large.txt", &[b'x'; (1 << 20) + 1]).unwrap();
    write("one.txt", b"second\n").unwrap();
    std::fs::remove_file(Path::new(&directory).join("pipe.txt")).unwrap();
    pipe(&directory, "pipe.txt");

    let listed = list(&mut browser, &session).await;
    let ServerMessage::ChangesList { files, .. } = listed else { panic!("{listed:?}") };
    let paths: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.status)).collect();
    let modified = |path| (path, ChangeStatus::Modified);
    assert_eq!(paths, ["large.txt", "one.txt", "pipe.txt"].map(modified));
    let (html, note) = file(&mut browser, &session, "one.txt").await;
    assert!(html.contains("second") && note.is_none(), "{html} {note:?}");
    for (path, words) in
        [("large.txt", "Too large to show (1 MB)."), ("pipe.txt", "This is no longer a file.")]
    {
        let shown = file(&mut browser, &session, path).await;
        assert_eq!(shown, (String::new(), Some(words.to_owned())));
    }
}

/// The arguments of a process, with zeros between them.
fn arguments(pid: i32) -> String {
    let read = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn a_git_that_hangs_does_not_outlive_a_killed_server() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    git(&directory, &["init", "--quiet"]);
    pipe(&directory, ".gitignore");
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    browser.send(ClientMessage::ChangesList { session_id, scope }).await;
    let is_hanging = |pid: &i32| arguments(*pid).contains("\0ls-files\0--others");
    let hanging = in_time(async {
        loop {
            if let Some(pid) = descendants(app.pid()).into_iter().find(is_hanging) {
                return pid;
            }
            tokio::task::yield_now().await;
        }
    });
    let hanging = hanging.await.expect("git reads the pipe");
    app.signal(Signal::KILL);
    app.ended().await;
    are_gone(&[hanging]).await;
}

#[tokio::test]
async fn what_a_turn_changed_is_known_afterwards_and_the_repository_is_as_it_was() {
    let agent = script()
        .on_prompt("work")
        .wait_for_file("begin")
        .command("w", "echo made > made.txt")
        .write_file("made.txt", "made\n")
        .tool_done("w", "")
        .touch("stray.txt")
        .say("Half.")
        .wait_for_file("go")
        .say("Done.")
        .on_any_prompt()
        .say("Yes.");
    let app = Launch::new().agent(agent).start().await;
    let mut browser = app.browser().await;
    let directory = repository(&app);
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let last = ChangeScope::Turn { turn_id: None };
    let (files, notes) = changed(&mut browser, &session, last.clone()).await;
    assert_eq!((files.len(), notes.len()), (0, 1), "{notes:?}");

    std::fs::write(Path::new(&directory).join("before.txt"), "of the user\n").unwrap();
    let repository = Path::new(&directory).join(".git");
    let before = contents(&repository);
    let turn = browser.says_to(&session, "work").await;
    // A busy machine may need longer than the message waits.
    in_time(async {
        let unknown = "The state before this turn was not recorded.";
        while changed(&mut browser, &session, last.clone()).await.1.iter().any(|n| n == unknown) {}
    })
    .await;
    std::fs::write(Path::new(&directory).join("begin"), "").unwrap();
    browser.sees_text(&session, "Half.").await;
    let (files, _) = changed(&mut browser, &session, last.clone()).await;
    assert_eq!(files, ["begin*", "made.txt", "stray.txt*"], "while it works");
    std::fs::write(Path::new(&directory).join("go"), "").unwrap();
    browser.sees_end(&turn).await;
    let next = browser.says_to(&session, "and?").await;
    browser.sees_end(&next).await;
    app.has_recorded(&turn, "after").await;

    let scope = ChangeScope::Turn { turn_id: Some(turn.clone()) };
    let (files, _) = changed(&mut browser, &session, scope.clone()).await;
    assert_eq!(files, ["begin*", "go*", "made.txt", "stray.txt*"]);
    assert_eq!(contents(&repository), before);

    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    std::fs::write(Path::new(&directory).join("later.txt"), "").unwrap();
    assert_eq!(changed(&mut browser, &session, scope.clone()).await.0, files);
    let (session_id, path) = (session.clone(), "made.txt".to_owned());
    match browser.ask(whole(session_id, scope, path)).await {
        ServerMessage::ChangesFile { html, note, .. } => {
            assert!(html.contains("made") && note.is_none(), "{html} {note:?}");
        }
        other => panic!("not the file: {other:?}"),
    }
    assert_eq!(contents(&repository), before);

    assert!(app.file("checkpoints").join(session.as_str()).exists());
    browser.ask(ClientMessage::SessionDelete { session_id: session.clone(), worktree: None }).await;
    assert!(!app.file("checkpoints").join(session.as_str()).exists());
}

#[tokio::test]
async fn what_was_looked_at_is_not_listed_again_in_any_browser() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = repository(&app);
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    // A busy machine may need longer than the message waits.
    in_time(async {
        let (scope, unknown) = (ChangeScope::Turn { turn_id: None }, "was not recorded");
        while changed(&mut browser, &session, scope.clone())
            .await
            .1
            .iter()
            .any(|n| n.contains(unknown))
        {}
    })
    .await;
    std::fs::write(Path::new(&directory).join("one.txt"), "changed\n").unwrap();

    let since = ChangeScope::SinceLooked {};
    let (session_id, scope) = (session.clone(), since.clone());
    let seen = match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
        ServerMessage::ChangesList { files, state, .. } => {
            assert_eq!(files.len(), 1);
            state
        }
        other => panic!("no list: {other:?}"),
    };
    std::fs::write(Path::new(&directory).join("two.txt"), "after the look\n").unwrap();
    let looked = ClientMessage::SessionLooked { session_id: session.clone(), state: seen };
    assert!(matches!(browser.ask(looked).await, ServerMessage::SessionLooked { .. }));

    let mut phone = app.browser().await;
    assert_eq!(changed(&mut phone, &session, since.clone()).await.0, ["two.txt"]);
    let looked = ClientMessage::SessionLooked { session_id: session.clone(), state: None };
    assert!(matches!(phone.ask(looked).await, ServerMessage::SessionLooked { .. }));
    let seen = changed(&mut browser, &session, since).await.0;
    assert_eq!(seen, ["two.txt"], "only the conversation was looked at");
    for state in ["--output=/tmp/x".to_owned(), "0".repeat(40)] {
        let state = Some(state);
        let looked = ClientMessage::SessionLooked { session_id: session.clone(), state };
        assert!(matches!(
            browser.ask(looked).await,
            ServerMessage::Error { code: ErrorCode::InvalidMessage, .. }
        ));
    }
}

#[tokio::test]
async fn a_file_that_was_too_large_to_record_when_looked_at_is_not_called_new_nor_reverted() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = PathBuf::from(repository(&app));
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let session = browser.creates_session(&project, "scripted").await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    app.has_recorded(&turn, "after").await;
    let large = directory.join("large.bin");
    std::fs::write(&large, vec![b'a'; 12 << 20]).unwrap();
    let since = ChangeScope::SinceLooked {};
    let (session_id, scope) = (session.clone(), since.clone());
    let listed = browser.ask(ClientMessage::ChangesList { session_id, scope }).await;
    let ServerMessage::ChangesList { state, .. } = listed else { panic!("no list: {listed:?}") };
    let looked = ClientMessage::SessionLooked { session_id: session.clone(), state };
    assert!(matches!(browser.ask(looked).await, ServerMessage::SessionLooked { .. }));

    std::fs::write(&large, vec![b'a'; 5 << 20]).unwrap();
    let (files, notes) = changed(&mut browser, &session, since.clone()).await;
    assert_eq!(files, [""; 0]);
    assert!(notes.iter().any(|note| note.ends_with(": large.bin.")), "{notes:?}");
    let act = ChangeAct::RevertFile { scope: since, path: "large.bin".into() };
    let preview = browser.previews(&session, &act).await;
    assert_eq!(preview.fates(), [("large.bin".into(), PathFate::Leave)]);
    browser.is_refused(&session, &act).await;
    assert!(large.exists());
}

#[tokio::test]
async fn a_branch_is_shown_against_its_base_with_what_is_not_committed_yet() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = repository(&app);
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let (files, notes) = changed(&mut browser, &session, ChangeScope::Branch {}).await;
    assert_eq!(files, [""; 0]);
    assert_eq!(notes, ["This branch has no base to compare it with."]);
    git(&directory, &["checkout", "--quiet", "-b", "fix"]);
    std::fs::write(Path::new(&directory).join("two.txt"), "two\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "second"]);
    std::fs::write(Path::new(&directory).join("three.txt"), "three\n").unwrap();
    let (files, _) = changed(&mut browser, &session, ChangeScope::Branch {}).await;
    assert_eq!(files, ["three.txt", "two.txt"]);
}

#[tokio::test]
async fn a_kill_during_a_checkpoint_loses_neither_the_session_nor_the_repository() {
    // A git that waits before it writes a tree, for as long as a file says so.
    let launch = Launch::new().agent(script().on_any_prompt().say("Done."));
    let tools = launch.home().join("tools");
    let waits = launch.home().join("wait");
    let reached = launch.home().join("reached");
    std::fs::create_dir(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    let program = format!(
        "#!/bin/sh\ncase \"$*\" in *write-tree*)\n  touch {}\n  while [ -e {} ]; do sleep 0.02; done\nesac\n\
         PATH={path} exec git \"$@\"\n",
        reached.display(),
        waits.display()
    );
    executable(&tools.join("git"), &program);
    std::fs::write(&waits, "").unwrap();
    let app = launch.variable("PATH", &format!("{}:{path}", tools.display())).start().await;
    let mut browser = app.browser().await;
    let directory = repository(&app);
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let repository = Path::new(&directory).join(".git");
    let before = contents(&repository);
    std::fs::write(Path::new(&directory).join("one.txt"), "changed\n").unwrap();

    // The message doesn't wait for ever.
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    in_time(async {
        while !reached.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let app = app.crash_and_restart().await;
    std::fs::remove_file(&waits).unwrap();

    let mut browser = app.browser().await;
    assert_eq!(browser.opens(&session).await.texts(), ["work", "Done."]);
    let turn = browser.says_to(&session, "again").await;
    browser.sees_end(&turn).await;
    let (files, _) = changed(&mut browser, &session, ChangeScope::Turn { turn_id: None }).await;
    assert_eq!(files, [""; 0]);
    assert_eq!(contents(&repository), before);
}

#[tokio::test]
async fn the_parts_of_a_long_difference_belong_together_while_the_file_changes() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = repository(&app);
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "scripted").await;
    let write = |word: &str| {
        let lines: String = (1..=500).map(|line| format!("{word} {line}\n")).collect();
        std::fs::write(Path::new(&directory).join("one.txt"), lines).unwrap();
    };

    write("former");
    let (first, parts, version) = part(&mut browser, &session, None, None).await;
    assert_eq!(parts, [0, 200, 400]);
    assert!(first.contains("former 199") && !first.contains("former 200"));
    write("latter");
    let (last, _, same) = part(&mut browser, &session, Some(400), version.clone()).await;
    assert!(last.contains("former 500") && same == version);
    let (now, _, other) = part(&mut browser, &session, None, None).await;
    assert!(now.contains("latter 1") && other != version);
    let (last, _, said) = part(&mut browser, &session, Some(400), version).await;
    assert!(last.contains("latter 500") && said == other, "the former one is no longer known");
}

#[tokio::test]
async fn the_other_sessions_of_a_directory_are_named_plainly_and_archived_ones_are_not() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let project = browser.adds_project(&directory).await;
    git(&directory, &["init", "--quiet"]);
    let session = browser.creates_session(&project, "scripted").await;
    let other = browser.creates_session(&project, "scripted").await;
    let title = "**Fix** the loop.".to_owned();
    browser.ask(ClientMessage::SessionRename { session_id: other.clone(), title }).await;
    assert_eq!(others(&mut browser, &session).await, ["Fix the loop."]);
    browser.ask(ClientMessage::SessionArchive { session_id: other }).await;
    assert_eq!(others(&mut browser, &session).await, [""; 0]);
}

async fn others(browser: &mut Browser, session: &SessionId) -> Vec<String> {
    let (session_id, scope) = (session.clone(), ChangeScope::Uncommitted {});
    match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
        ServerMessage::ChangesList { others, .. } => others,
        other => panic!("no list: {other:?}"),
    }
}
