//! The other commands, and the errors for bad arguments.

use std::process::Stdio;

use liminal_scripted_agent::{Steps, script};

use crate::support::{App, Call, Launch, checkout, executable, in_time, run};

#[tokio::test]
async fn a_bad_value_is_one_line_that_names_it() {
    let launch = Launch::new();
    for (arguments, words) in [
        (&["--port", "http"][..], "--port: \"http\" is not a port"),
        (&["--port", "65536"], "--port: \"65536\" is not a port"),
        (&["--port"], "--port"),
        (&["--host", "no such host"], "--host: \"no such host\" is not an address"),
        (
            &["--host", "0.0.0.0"],
            "--host: \"0.0.0.0\" can be reached from other machines; give the page's address with --allow-origin",
        ),
        (&["--allow-origin", "box.example"], "--allow-origin: \"box.example\" is not of the form"),
        (
            &["--allow-origin", "http://box.example/x"],
            "--allow-origin: \"http://box.example/x\" is not of the form",
        ),
        (&["--colour"], "--colour"),
        (&["dance"], "unknown command \"dance\""),
        (&["serve", "twice"], "twice"),
        (&["--rotate"], "--rotate"),
    ] {
        let ended = run(&mut launch.command(arguments)).await;
        ended.failed_with(words);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
    }
    for (name, value) in [
        ("LIMINAL_PORT", "x"),
        ("LIMINAL_HOST", "256.0.0.1"),
        ("LIMINAL_PERMISSIONS", "never"),
        ("LIMINAL_IDLE_MS", "soon"),
        ("LIMINAL_RETRY_MS", "never"),
        ("CLAUDE_CMD", "claude 'x"),
        ("CODEX_ACP_CMD", "\"codex"),
        ("ACP_START_TIMEOUT_MS", "0"),
        ("ACP_PROMPT_TIMEOUT_MS", "-1"),
        ("RUST_LOG", "liminal=loud"),
    ] {
        run(launch.command(&[]).env(name, value)).await.failed_with(&format!("{name}: {value:?}"));
    }
    assert!(!launch.data_dir().exists(), "nothing was created");
}

#[tokio::test]
async fn a_flag_wins_over_the_environment() {
    let launch = Launch::new()
        .variable("LIMINAL_PORT", "not even a port")
        .variable("LIMINAL_DATA_DIR", "/proc/no");
    let data_dir = launch.data_dir();
    let app = launch.flag("--data-dir").flag(data_dir.to_str().unwrap()).start().await;
    assert!(app.file("token").exists());
}

#[tokio::test]
async fn the_token_is_printed_with_and_without_a_server() {
    let launch = Launch::new();
    let printed = async |arguments: &[&str]| {
        let ended = run(&mut launch.command(arguments)).await;
        assert!(ended.status.success() && ended.stdout.len() == 65, "{ended:?}");
        ended.stdout
    };
    let first = printed(&["token"]).await;
    assert_eq!(printed(&["token"]).await, first);
    let second = printed(&["token", "--rotate"]).await;
    assert_ne!(second, first);
    let app = launch.clone().start().await;
    assert_eq!(app.token(), second.trim_end());
    assert_eq!(printed(&["token"]).await, second);
}

#[tokio::test]
async fn help_names_every_flag_and_variable() {
    let help = run(&mut Launch::new().command(&["--help"])).await;
    assert!(help.status.success() && help.stderr.is_empty());
    let sources = ["cli.rs", "config.rs"]
        .map(|file| {
            std::fs::read_to_string(checkout().join("crates/server/src").join(file)).unwrap()
        })
        .concat();
    let quoted_behind = |begin: &str| -> Vec<String> {
        let found = sources.split(begin).skip(1);
        found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let flags = quoted_behind("Long(\"");
    let variables = [quoted_behind("variable(\""), quoted_behind("from_env(\"")].concat();
    assert!(flags.len() > 8 && variables.len() > 10, "{flags:?} {variables:?}");
    let commands = ["token", "doctor", "backup", "import", "demo-agent"].map(str::to_owned);
    let flags = flags.iter().map(|flag| format!("--{flag}"));
    for word in flags.chain(variables).chain(commands) {
        assert!(help.stdout.contains(&word), "{word}");
    }
    let version = run(&mut Launch::new().command(&["--version"])).await;
    assert_eq!(version.stdout, format!("liminal {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn the_doctor_tells_what_is_there_and_what_to_type_for_what_is_not() {
    let launch = Launch::new();
    let bin = launch.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    executable(&bin.join("claude"), "#!/bin/sh\necho '9.8.7 (Claude Code)'\n");
    let launch = launch.variable("PATH", &format!("{}:/bin", bin.display()));

    let well = run(&mut launch.command(&["doctor", "--port", "0"])).await;
    assert!(well.status.success(), "{well:?}");
    for words in [
        "will be created on first start",
        "any free port",
        "9.8.7",
        "npm install -g @agentclientprotocol/codex-acp",
        "demo",
    ] {
        assert!(well.stdout.contains(words), "{words} in {}", well.stdout);
    }
    assert!(!launch.data_dir().exists(), "doctor changes nothing");

    let app = launch.clone().start().await;
    let running = run(&mut launch.command(&["doctor"])).await;
    assert!(
        running.stdout.contains(&format!("Liminal Builder is running at {}", app.origin())),
        "{running:?}"
    );

    let elsewhere = Launch::new();
    let taken = run(&mut elsewhere.command(&["doctor", "--port", &app.port().to_string()])).await;
    assert_eq!(taken.status.code(), Some(1));
    assert!(taken.stdout.contains("is taken by another program"), "{taken:?}");
}

#[tokio::test]
async fn nobody_has_to_read_what_is_printed() {
    let launch = Launch::new().file("agents.json", "[");
    let nobody = || std::io::pipe().unwrap().1;
    let elsewhere = launch.home().join("copy");
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["token"],
        &["doctor", "--port", "0"],
        &["backup", elsewhere.to_str().unwrap()],
        &["dance"],
    ] {
        let read = run(&mut launch.command(arguments)).await;
        std::fs::remove_dir_all(&elsewhere).ok();
        let mut unread = launch.command(arguments);
        let status = unread.stdout(nobody()).stderr(nobody()).status().await.unwrap();
        assert_eq!(status, read.status, "{arguments:?}");
        std::fs::remove_dir_all(&elsewhere).ok();
    }
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let mut token = launch.command(&["token"]);
        let token = token.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let unwritten = token.wait_with_output().await.unwrap();
        let words = String::from_utf8(unwritten.stderr).unwrap();
        assert!(words.starts_with("liminal: cannot write to stdout"), "{words}");
        assert_eq!(unwritten.status.code(), Some(1));
    }

    let mut server = launch.command(&["--port", "0"]);
    let mut server = server.stdout(nobody()).stderr(nobody()).spawn().unwrap();
    let address = async {
        loop {
            let lock = std::fs::read_to_string(launch.data_dir().join("server.lock"));
            match lock.unwrap_or_default().strip_prefix("http://") {
                Some(address) if address.ends_with('\n') => break address.trim_end().to_owned(),
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let address = in_time(address).await.unwrap();
    assert_eq!(Call::new(&address, "GET", "/api/health").send().await.status, 200);
    server.kill().await.unwrap();
}

#[tokio::test]
async fn the_doctor_names_what_is_damaged() {
    let launch = Launch::new().file("sessions.json", "{").file("agents.json", "[");
    let launch = launch.file("trust.json", "{").file("search.db", &"rubbish ".repeat(1000));
    let app_dir = launch.data_dir();
    let ended = run(&mut launch.command(&["doctor", "--port", "0"])).await;
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.stdout.contains(&app_dir.join("sessions.json").display().to_string()),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("agents.json"), "{ended:?}");
    assert!(ended.stdout.contains(&app_dir.join("trust.json").display().to_string()), "{ended:?}");
    let of_search = ended.stdout.lines().find(|line| line.starts_with("search.db")).unwrap();
    assert!(of_search.contains("damaged") && of_search.ends_with("it is rebuilt automatically"));
}

#[tokio::test]
async fn a_backup_made_while_the_server_runs_can_be_started_from() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("worth keeping").stop("end_turn")).await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let ended = run(&mut app.launch().command(&["backup", copy.to_str().unwrap()])).await;
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stdout.contains(&format!("--data-dir {}", copy.display())), "{ended:?}");
    let again = run(&mut app.launch().command(&["backup", copy.to_str().unwrap()])).await;
    assert!(!again.status.success(), "a backup is never overwritten");
    app.stop().await;

    let restored = Launch::new().variable("LIMINAL_DATA_DIR", copy.to_str().unwrap()).start().await;
    let mut browser = restored.browser().await;
    assert_eq!(browser.opens(&session).await.texts(), ["hello", "worth keeping"]);
    let doctor = run(&mut restored.launch().command(&["doctor"])).await;
    assert!(doctor.stdout.contains("intact"), "{}", doctor.stdout);
}
