//! The changes of a session in a repository of every odd kind.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use liminal_contract::{
    ChangeAct, ChangeScope, ClientMessage, ErrorCode, LandHow, ServerMessage, SessionId,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::{read, undo, worktree};
use crate::support::{App, Browser, Launch};

/// May fail: a merge with a conflict does.
fn git(directory: &Path, arguments: &[&str]) {
    Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
}

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

/// With one commit of `one.txt`.
fn repository(app: &App, name: &str, init: &[&str]) -> PathBuf {
    let directory = PathBuf::from(app.directory(name));
    git(&directory, &[&["init", "--quiet", "--initial-branch", "main"], init].concat());
    write(&directory, "one.txt", "a\nb\nc\n");
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    directory
}

/// Two branches that changed the same line, and a call that stops at the conflict.
fn in_conflict(app: &App, name: &str, call: &str) -> PathBuf {
    let directory = repository(app, name, &[]);
    git(&directory, &["checkout", "--quiet", "-b", "other"]);
    write(&directory, "one.txt", "a\nother\nc\n");
    git(&directory, &["commit", "--quiet", "--all", "--message", "other"]);
    git(&directory, &["checkout", "--quiet", "main"]);
    write(&directory, "one.txt", "a\nmain\nc\n");
    git(&directory, &["commit", "--quiet", "--all", "--message", "main"]);
    git(&directory, &["checkout", "--quiet", "other"]);
    git(&directory, &[call, "main"]);
    directory
}

async fn session_in(browser: &mut Browser, directory: &Path) -> SessionId {
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    browser.creates_session(&project, "scripted").await
}

/// The branch and the paths of what is not committed; the first of them can be shown, in every scope nothing fails.
async fn shown(browser: &mut Browser, directory: &Path) -> (Option<String>, Vec<String>) {
    let session = session_in(browser, directory).await;
    let turn = browser.says_to(&session, "work").await;
    browser.sees_end(&turn).await;
    for scope in
        [ChangeScope::Turn { turn_id: None }, ChangeScope::SinceLooked {}, ChangeScope::Branch {}]
    {
        let list = ClientMessage::ChangesList { session_id: session.clone(), scope };
        let listed = browser.ask(list).await;
        assert!(matches!(listed, ServerMessage::ChangesList { .. }), "{directory:?}: {listed:?}");
    }
    let scope = ChangeScope::Uncommitted {};
    let list = ClientMessage::ChangesList { session_id: session.clone(), scope: scope.clone() };
    let (branch, paths) = match browser.ask(list).await {
        ServerMessage::ChangesList { branch, files, .. } => {
            (branch, files.into_iter().map(|file| file.path).collect::<Vec<_>>())
        }
        other => panic!("{directory:?}: {other:?}"),
    };
    for path in paths.iter().take(1).cloned() {
        let (context, ignore_whitespace) = (None, None);
        let session_id = session.clone();
        let scope = scope.clone();
        let ask = ClientMessage::ChangesFile {
            session_id,
            scope,
            path,
            listed: None,
            context,
            ignore_whitespace,
            split: None,
            from: None,
            version: None,
        };
        match browser.ask(ask).await {
            ServerMessage::ChangesFile { html, note, .. } => {
                assert!(!html.is_empty() || note.is_some(), "{directory:?}");
            }
            other => panic!("{directory:?}: {other:?}"),
        }
    }
    (branch, paths)
}

#[tokio::test]
async fn a_repository_in_each_odd_state_is_shown() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let main = Some("main".to_owned());

    let unborn = PathBuf::from(app.directory("unborn"));
    git(&unborn, &["init", "--quiet", "--initial-branch", "main"]);
    write(&unborn, "new.txt", "new\n");
    assert_eq!(shown(&mut browser, &unborn).await, (main.clone(), vec!["new.txt".into()]));

    let detached = repository(&app, "detached", &[]);
    git(&detached, &["checkout", "--quiet", "--detach"]);
    write(&detached, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &detached).await, (None, vec!["one.txt".into()]));

    let merging = in_conflict(&app, "merging", "merge");
    let other = Some("other".to_owned());
    assert_eq!(shown(&mut browser, &merging).await, (other, vec!["one.txt".into()]));
    let rebasing = in_conflict(&app, "rebasing", "rebase");
    assert_eq!(shown(&mut browser, &rebasing).await, (None, vec!["one.txt".into()]));

    let sha256 = repository(&app, "sha256", &["--object-format=sha256"]);
    write(&sha256, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &sha256).await, (main.clone(), vec!["one.txt".into()]));

    let locked = repository(&app, "locked", &[]);
    write(&locked, ".git/index.lock", "");
    write(&locked, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &locked).await, (main.clone(), vec!["one.txt".into()]));

    let outer = repository(&app, "outer", &[]);
    git(&outer, &["submodule", "--quiet", "add", detached.to_str().unwrap(), "inner"]);
    git(&outer, &["commit", "--quiet", "--all", "--message", "with a submodule"]);
    write(&outer, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &outer).await, (main.clone(), vec!["one.txt".into()]));

    let sparse = repository(&app, "sparse", &[]);
    std::fs::create_dir(sparse.join("out")).unwrap();
    write(&sparse, "out/two.txt", "2\n");
    git(&sparse, &["add", "."]);
    git(&sparse, &["commit", "--quiet", "--message", "second"]);
    git(&sparse, &["sparse-checkout", "set", "in"]);
    write(&sparse, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &sparse).await, (main.clone(), vec!["one.txt".into()]));

    let shallow = PathBuf::from(app.directory("shallow"));
    let from = format!("file://{}", sparse.display());
    git(&shallow, &["clone", "--quiet", "--depth", "1", &from, "."]);
    write(&shallow, "one.txt", "changed\n");
    assert_eq!(shown(&mut browser, &shallow).await, (main.clone(), vec!["one.txt".into()]));

    let lfs = repository(&app, "lfs", &[]);
    write(&lfs, ".gitattributes", "*.bin filter=lfs diff=lfs\n");
    git(&lfs, &["config", "filter.lfs.process", "false"]);
    git(&lfs, &["config", "filter.lfs.required", "true"]);
    write(&lfs, "0.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n");
    assert_eq!(shown(&mut browser, &lfs).await.1[..2], [".gitattributes", "0.bin"]);

    let odd = repository(&app, "odd names \" here", &[]);
    for name in [&b"quo\"te"[..], b"new\nline", b"\xff\xfe", b"sp ace"] {
        std::fs::write(odd.join(std::ffi::OsStr::from_bytes(name)), "1\n").unwrap();
    }
    let paths = shown(&mut browser, &odd).await.1;
    assert_eq!(paths, [r#""new\nline""#, "quo\"te", "sp ace", r#""\377\376""#]);

    let bare = PathBuf::from(app.directory("bare"));
    git(&bare, &["init", "--quiet", "--bare"]);
    let none = PathBuf::from(app.directory("none"));
    for directory in [bare, none] {
        let session_id = session_in(&mut browser, &directory).await;
        let scope = ChangeScope::Uncommitted {};
        match browser.ask(ClientMessage::ChangesList { session_id, scope }).await {
            ServerMessage::Error { code, .. } => assert_eq!(code, ErrorCode::NotARepository),
            other => panic!("{directory:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_worktree_lands_in_a_project_whose_path_has_a_line_break() {
    let app = Launch::new().agent(script()).start().await;
    let directory = repository(&app, "we\nird/branch refs\nheads", &[]);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let (session, at) = worktree(&mut browser, &project, "one").await;
    write(&at, "new.txt", "new\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "--message", "New"]);
    let id = browser.acts(&session, &ChangeAct::Land { how: LandHow::Merge, message: None }).await;
    assert_eq!(read(&directory, "new.txt"), "new\n");
    browser.acts(&session, &undo(&id)).await;
    assert_eq!(read(&directory, "new.txt"), "no such file");
    assert_eq!(read(&directory, "one.txt"), "a\nb\nc\n");
}
