//! One agent, or a stranger, that takes all it can get: the others continue, the server can stop, and no process is
//! left.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use liminal_contract::{ClientMessage, ServerMessage, TurnEventKind};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use tokio::net::TcpStream;

use crate::support::{Browser, Launch, are_gone, descendants, in_time};

/// An agent that requests a late line of the file `huge` 520 times, reports the first refusal, and ends only when it is
/// killed.
const READER: &str = r#"
trap '' TERM
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
  *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":1}}" ;;
  *'"session/new"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"sessionId\":\"s1\"}}" ;;
  *'"session/prompt"'*)
    n=1000
    while [ $n -lt 1520 ]; do
      n=$((n + 1))
      echo "{\"jsonrpc\":\"2.0\",\"id\":$n,\"method\":\"fs/read_text_file\",\
\"params\":{\"sessionId\":\"s1\",\"path\":\"huge\",\"line\":2}}"
    done ;;
  *'these lines are beyond'*)
    echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1",'\
'"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"refused "}}}}' ;;
  esac
done
while :; do sleep 1; done
"#;

fn answers() -> ScriptBuilder {
    script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
}

fn completed(end: &TurnEventKind) -> bool {
    matches!(end, TurnEventKind::TurnComplete { .. })
}

#[tokio::test]
async fn an_agent_that_reads_a_huge_file_without_end_holds_up_nobody() {
    let launch = Launch::new().agents(&[("reads", answers()), ("other", answers())]);
    let app = launch.started_by("reads", READER).start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    File::create(format!("{directory}/huge")).unwrap().set_len(8 << 40).unwrap();
    let project = browser.adds_project(&directory).await;
    let reads = browser.creates_session(&project, "reads").await;
    let other = browser.creates_session(&project, "other").await;
    browser.opens(&reads).await;
    browser.opens(&other).await;
    browser.says_to(&reads, "read").await;
    browser.sees_text(&reads, "refused refused ").await;

    let turn = browser.says_to(&other, "hello").await;
    assert!(completed(&browser.sees_end(&turn).await));
    let texts = browser.opens(&other).await.texts();
    assert_eq!(texts, ["hello", "You said: hello"]);
    let processes = descendants(app.pid());
    assert!(app.stop().await.status.success());
    are_gone(&processes).await;
}

#[tokio::test]
async fn a_second_interrupt_does_not_wait_for_anybody() {
    let launch = Launch::new().agents(&[("stays", answers())]);
    let app = launch.started_by("stays", READER).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    browser.creates_session(&project, "stays").await;
    let processes = descendants(app.pid());
    app.signal(Signal::INT);
    assert_eq!(browser.sees_close().await, 1001);
    app.signal(Signal::INT);
    assert_eq!(app.ended().await.status.code(), Some(130));
    are_gone(&processes).await;
}

#[tokio::test]
async fn what_a_server_and_its_guards_left_when_they_were_killed_at_once_is_ended_at_the_next_start()
 {
    let leaves =
        "setsid sh -c \"trap '' TERM HUP; while :; do sleep 600; done\" & exec \"$0\" \"$@\"";
    let launch = Launch::new().agent(answers()).started_by("scripted", leaves);
    let app = launch.clone().start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    browser.creates_session(&project, "scripted").await;
    let named = |name: &str| -> Vec<i32> {
        let is_it = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
        };
        descendants(app.pid()).into_iter().filter(is_it).collect()
    };
    // The agent may be up before what it leaves behind is.
    while named("sleep").is_empty() {
        tokio::task::yield_now().await;
    }
    let (guards, left) = (named("liminal-guard"), named("sleep"));
    assert_eq!((guards.len(), left.len()), (1, 1));

    // The server must not see its guard die.
    app.signal(Signal::STOP);
    in_time(async {
        while !is_stopped(app.pid()) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it goes on");
    kill_process(Pid::from_raw(guards[0]).unwrap(), Signal::KILL).unwrap();
    app.signal(Signal::KILL);
    app.ended().await;
    assert!(fs::exists(format!("/proc/{}", left[0])).unwrap());
    let record = fs::read_to_string(launch.data_dir().join("processes")).unwrap();

    // The same as ours, except that another server started it.
    let mark = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c";
    let mut stranger = Command::new("sleep").arg("600").env("LIMINAL_GUARD", mark).spawn().unwrap();
    let app = launch.start().await;
    are_gone(&left).await;
    assert_eq!(stranger.try_wait().unwrap(), None, "somebody else's process was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let swept = async {
        while fs::read_to_string(app.file("processes")).unwrap().contains(record.trim()) {
            tokio::task::yield_now().await;
        }
    };
    assert!(in_time(swept).await.is_some());
    let record = app.file("processes");
    assert!(app.stop().await.status.success());
    assert!(!record.exists());
}

/// Whether every thread of a process is stopped.
fn is_stopped(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    threads.map(|thread| thread.unwrap().path().join("stat")).all(|stat| {
        let stat = fs::read_to_string(stat).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}

/// Runs an agent and then, unless it was only asked for its version, ends only when it is killed.
const SLOW_TO_END: &str = r#"
trap '' TERM HUP
"$0" demo-agent --face claude --script "$SCRIPT" "$@"
case "$*" in *--version*) exit ;; esac
echo $$ > ending && mv ending ended
while :; do sleep 600; done
"#;

#[tokio::test]
async fn while_an_agent_takes_its_time_to_end_others_are_not_kept_waiting() {
    let launch = Launch::new().claude(answers());
    let script = launch.data_dir().join("claude-code.json");
    let command = shell_words::join(["sh", "-c", SLOW_TO_END, env!("CARGO_BIN_EXE_liminal")]);
    let launch =
        launch.variable("SCRIPT", script.to_str().unwrap()).variable("CLAUDE_CMD", &command);
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let directory = app.directory("project");
    let project = browser.adds_project(&directory).await;
    let session = browser.creates_session(&project, "claude-code").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "hello").await;
    browser.sees_end(&turn).await;
    let ended = Path::new(&directory).join("ended");
    assert!(!ended.exists(), "it works until then");
    let delete = ClientMessage::SessionDelete { session_id: session, worktree: None };
    let deleting = browser.send(delete).await;
    in_time(async {
        while !ended.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    let agent = fs::read_to_string(ended).unwrap();
    browser.ask(ClientMessage::SessionList { project_id: project.id, archived: None }).await;
    assert!(fs::exists(format!("/proc/{}", agent.trim())).unwrap(), "the list waited for its end");
    let deleted = browser.sees_reply(&deleting).await;
    assert!(matches!(deleted, ServerMessage::SessionDeleted { .. }), "{deleted:?}");
}

#[tokio::test]
async fn connections_leave_descriptors_for_the_store_and_for_new_agents() {
    let app = Launch::new().agent(answers()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let maximum = getrlimit(Resource::Nofile).maximum;
    prlimit(Some(app.pid()), Resource::Nofile, Rlimit { current: Some(400), maximum }).unwrap();
    let mut connections = Vec::new();
    for _ in 0..600 {
        connections.extend(in_time(TcpStream::connect(app.host())).await.and_then(Result::ok));
    }
    assert_eq!(connections.len(), 600);

    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "hello").await;
    assert!(completed(&browser.sees_end(&turn).await));
    drop(connections);
    // The server may take a moment to notice that they are gone.
    let enters = async {
        loop {
            if let Ok(mut browser) = Browser::try_connect(app.host(), app.token()).await {
                return browser.projects().await;
            }
        }
    };
    in_time(enters).await.unwrap();
}

#[tokio::test]
async fn a_program_that_we_start_gets_the_limit_of_open_files_that_we_were_started_with() {
    let launch =
        Launch::new().agent(script().on_any_prompt().command("c", "limit").run("c", "ulimit -n"));
    let app = launch.few_files().start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    let turn = browser.says_to(&session, "how many?").await;
    browser.sees_end(&turn).await;
    let limits =
        fs::read_to_string(format!("/proc/{}/limits", app.pid().as_raw_nonzero())).unwrap();
    let ours = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let ours: Vec<&str> = ours.split_whitespace().collect();
    assert_eq!(ours[3], ours[4], "the server takes as many as it may");
    assert_ne!(ours[3], "300");
    assert!(browser.everything_seen().any(|frame| frame.to_string().contains("300")));
}
