//! Starting the server, opening the page, and stopping.

use std::os::unix::fs::PermissionsExt;

use liminal_contract::{ClientMessage, ServerMessage};
use liminal_scripted_agent::{Steps, script};
use rustix::process::Signal;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;

use crate::support::{App, Launch, executable, in_time, run};

#[tokio::test]
async fn a_variable_that_is_no_longer_used_is_named_at_the_start() {
    let app = Launch::new().variable("CLAUDE_ACP_CMD", "claude-code-acp").start().await;
    let said = app.stop().await.stderr;
    assert!(
        said.contains("CLAUDE_ACP_CMD is no longer used") && said.contains("CLAUDE_CMD"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[tokio::test]
async fn it_says_where_it_is_in_exactly_one_line() {
    let app = App::start().await;
    let expected = app.first_line().to_owned();
    let address = format!("Liminal Builder is at http://127.0.0.1:{}/?", app.port());
    let query = expected.strip_prefix(&address).and_then(|rest| rest.split_once("#token="));
    assert_eq!(query.map(|(query, token)| (query.len(), token)), Some((8, app.token())));
    assert_eq!(app.token().len(), 64);
    let ended = app.stop().await;
    assert_eq!((ended.stdout, ended.stderr.as_str()), (expected + "\n", ""));
}

#[tokio::test]
async fn what_it_keeps_is_for_its_owner_alone() {
    let app = App::start().await;
    app.browser().await.adds_project(&app.directory("code")).await;
    let mode =
        |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(app.launch().data_dir()), 0o700);
    for entry in std::fs::read_dir(app.launch().data_dir()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            assert_eq!(mode(path.clone()), 0o600, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn each_signal_to_stop_stops_it_cleanly_with_pages_open() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let app = App::start().await;
        let mut browser = app.browser().await;
        browser.projects().await;
        app.signal(signal);
        assert_eq!(browser.sees_close().await, 1001);
        assert!(app.ended().await.status.success(), "{signal:?}");
    }
}

#[tokio::test]
async fn a_clean_stop_leaves_no_log_beside_a_database() {
    let answers = script().on_any_prompt().say("a needle").stop("end_turn");
    let (app, mut browser, session) = App::with_session(answers).await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let search = || ClientMessage::Search { query: "needle ".into(), limit: None };
    while !matches!(browser.ask(search()).await, ServerMessage::SearchResults { hits, .. } if hits.len() == 1)
    {
    }
    let launch = app.launch().clone();
    let ended = app.stop().await;
    assert_eq!((ended.status.success(), ended.stderr.as_str()), (true, ""));
    let mut kept: Vec<_> = std::fs::read_dir(launch.data_dir())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".db"))
        .collect();
    kept.sort();
    assert_eq!(kept, ["journal.db", "search.db"]);
    let texts = launch.start().await.browser().await.opens(&session).await.texts();
    assert_eq!(texts, ["hello", "a needle"]);
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_keep_it_from_stopping() {
    let app = App::start().await;
    let mut stuck = tokio::net::TcpStream::connect(app.host()).await.unwrap();
    let head =
        format!("POST /api/login HTTP/1.1\r\nHost: {}\r\nContent-Length: 10\r\n\r\n{{", app.host());
    tokio::io::AsyncWriteExt::write_all(&mut stuck, head.as_bytes()).await.unwrap();
    assert!(app.stop().await.status.success());
}

#[tokio::test]
async fn the_second_on_the_same_data_tells_where_the_first_is() {
    let app = App::start().await;
    let second = run(&mut app.launch().command(&["--port", "0"])).await;
    let (begin, end) = (format!("{}/?", app.origin()), format!("#token={}\n", app.token()));
    let said = second.stdout.strip_prefix("Liminal Builder is already running at ").unwrap();
    assert!(said.starts_with(&begin) && said.ends_with(&end), "{said}");
    assert!(second.status.success());
    assert_eq!((second.stdout.lines().count(), second.stderr.as_str()), (1, ""));
    assert_eq!(app.call("GET", "/api/health").send().await.status, 200);
}

#[tokio::test]
async fn after_a_crash_it_starts_again_at_once() {
    let app = App::start().await.crash_and_restart().await;
    assert_eq!(
        app.call("GET", "/api/health").send().await.json(),
        json!({"version": env!("CARGO_PKG_VERSION")})
    );
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_so() {
    let app = App::start().await;
    let other = Launch::new();
    let ended = run(&mut other.command(&["--port", &app.port().to_string()])).await;
    ended.failed_with(&format!("port {} is taken by another program", app.port()));
}

#[tokio::test]
async fn a_data_directory_that_can_not_be_used_is_said_so() {
    let launch = Launch::new();
    let home = launch.home().to_owned();
    std::fs::write(home.join("file"), "").unwrap();
    std::fs::create_dir(home.join("open")).unwrap();
    std::fs::set_permissions(home.join("open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(home.join("open"), home.join("link")).unwrap();
    for (name, words) in [
        ("file", "is not a directory"),
        ("file/below", "cannot use the data directory"),
        ("open", "is open to other users; fix it with: chmod 700"),
        ("link", "is a symbolic link"),
        ("link/", "is a symbolic link"),
    ] {
        let directory = format!("{}/{name}", home.display());
        run(&mut launch.command(&["--data-dir", &directory])).await.failed_with(words);
        run(&mut launch.command(&["token", "--data-dir", &directory])).await.failed_with(words);
    }
    // Nobody can create a directory there, not even root.
    run(&mut launch.command(&["--data-dir", "/proc/liminal"]))
        .await
        .failed_with("cannot use the data directory");
}

async fn first_line_of(pipe: pipe::Receiver) -> String {
    let mut line = String::new();
    in_time(BufReader::new(pipe).read_line(&mut line)).await.expect("nothing was opened").unwrap();
    line
}

#[tokio::test]
async fn the_browser_is_opened_with_a_code_and_never_with_the_token() {
    let launch = Launch::new();
    let (bin, opened) = (launch.home().join("bin"), launch.home().join("opened"));
    std::fs::create_dir(&bin).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(&opened).status().unwrap();
    assert!(fifo.success());
    // Open for reading and writing, so that opening doesn't block.
    let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(&opened).unwrap();
    let opener = format!("#!/bin/sh\necho \"$@\" > {}\n", opened.display());
    for name in ["xdg-open", "open"] {
        executable(&bin.join(name), &opener);
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let app = launch.variable("DISPLAY", ":0").variable("PATH", &path).start().await;

    let address = first_line_of(pipe).await;
    let (page, code) = address.trim_end().split_once("#code=").unwrap();
    assert!(page.starts_with(&format!("{}/?", app.origin())), "{address}");
    assert!(!address.contains(app.token()));
    let login = app
        .call("POST", "/api/login")
        .json(&json!({"code": code, "pageSecret": "0".repeat(64)}))
        .send()
        .await;
    assert_eq!(login.status, 200, "{login:?}");

    // Running the command again opens the page again.
    let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(&opened).unwrap();
    let again = run(&mut app.launch().command(&[])).await;
    assert!(again.stdout.starts_with("Liminal Builder is already running at "), "{again:?}");
    let address = first_line_of(pipe).await;
    assert!(address.starts_with(&format!("{}/?", app.origin())), "{address}");
    assert!(address.contains("#code=") && !address.contains(code) && !address.contains(page));
}

#[tokio::test]
async fn it_listens_where_it_is_told() {
    let app = Launch::new().flag("--host").flag("127.0.0.2").start().await;
    assert!(app.host().starts_with("127.0.0.2:"));
    app.browser().await.projects().await;

    let app = Launch::new()
        .variable("LIMINAL_HOST", "0.0.0.0")
        .flag("--allow-origin")
        .flag("http://box.example:1")
        .start()
        .await;
    assert!(app.host().starts_with("127.0.0.1:"));
    app.browser().await.projects().await;
    assert!(app.stop().await.stderr.contains("plain http can be intercepted"));
}
