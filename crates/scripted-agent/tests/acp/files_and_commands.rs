//! Files and commands an agent has us read, write and run.

use std::time::Duration;

use liminal_scripted_agent::{Step, Steps, script};
use serde_json::json;

use super::support::App;

#[tokio::test]
async fn an_agent_writes_and_reads_the_projects_files_through_us() {
    let app = App::new(
        script()
            .on_any_prompt()
            .write_file("deep/er/new.txt", "made")
            .command("c", "cat new.txt")
            .read_file("c", "deep/er/new.txt"),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("go").await.how, "completed");
    assert_eq!(std::fs::read_to_string(app.file("deep/er/new.txt")).unwrap(), "made");
    assert!(chat.transcript().contains("made"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn what_is_missing_outside_or_ours_is_refused_with_its_code() {
    let app = App::new(
        script()
            .on_any_prompt()
            .step(Step::RawRequest("fs/read_text_file".into(), json!({"path": "nope.txt"})))
            .step(Step::RawRequest("fs/read_text_file".into(), json!({"path": "/etc/hostname"})))
            .step(Step::RawRequest(
                "fs/write_text_file".into(),
                json!({"path": "../data/x", "content": ""}),
            ))
            .step(Step::RawRequest("terminal/create".into(), json!({"command": "ls", "cwd": "/"})))
            .step(Step::RawRequest("terminal/output".into(), json!({"terminalId": "nope"})))
            .step(Step::RawRequest("fs/read_text_file".into(), json!({}))),
    );
    let mut chat = app.create().await;
    chat.asks("go").await;
    let said = chat.transcript();
    let codes: Vec<&str> = said.match_indices("-32").map(|(at, _)| &said[at..at + 6]).collect();
    assert_eq!(codes, ["-32002", "-32602", "-32602", "-32602", "-32002", "-32602"], "{said}");
    app.stop().await;
}

#[tokio::test]
async fn an_agent_that_may_not_is_told_that_there_is_no_such_method() {
    let script = script()
        .on_any_prompt()
        .step(Step::RawRequest("fs/read_text_file".into(), json!({"path": "a"})))
        .step(Step::RawRequest("terminal/create".into(), json!({"command": "ls"})));
    let app = App::with(script, |setup| (setup.agent.fs, setup.agent.terminal) = (false, false));
    let mut chat = app.create().await;
    chat.asks("go").await;
    assert_eq!(chat.transcript().matches("-32601").count(), 2, "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn a_command_runs_in_the_project_and_its_output_is_the_calls() {
    let app = App::new(
        script()
            .on_any_prompt()
            .command("c", "ls")
            .run_by_client("c", "pwd; echo oops >&2; exit 3"),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("go").await.how, "completed");
    let expected = format!("{}\noops\n", app.project().display());
    assert!(chat.transcript().contains(&expected), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn something_left_behind_does_not_hold_up_the_end_of_a_command() {
    let app = App::new(
        script()
            .on_any_prompt()
            .command("c", "server")
            .run_by_client("c", "sleep 600 & echo started"),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("go").await.how, "completed");
    assert!(chat.transcript().contains("started"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_commands() {
    let app = App::with(
        script()
            .on_any_prompt()
            .command("c", "sleep")
            .run_by_client("c", "echo $$ > pid; echo up; exec sleep 600"),
        |setup| setup.patience.close = Duration::from_millis(100),
    );
    let mut chat = app.create().await;
    chat.send("go").await;
    chat.sees("up").await;
    let pid = std::fs::read_to_string(app.file("pid")).unwrap();
    let process = format!("/proc/{}", pid.trim());
    liminal_agents::CliProvider::kill_session(&app.provider, &chat.id).await.unwrap();
    while std::path::Path::new(&process).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.stop().await;
}
