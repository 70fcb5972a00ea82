//! Files and commands that we read, write and run for an agent.

use std::time::Duration;

use liminal_agents::CliProvider;
use liminal_scripted_agent::{Step, Steps, script};
use liminal_stream::Source;
use serde_json::json;

use super::support::{App, appears};

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
async fn a_file_written_through_us_gives_its_call_the_change() {
    let edit = json!({
        "sessionUpdate": "tool_call", "toolCallId": "w", "title": "Write", "kind": "edit",
        "status": "in_progress", "rawInput": {"file": "a.txt"},
    });
    let write = json!({"path": "a.txt", "content": "new\n"});
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "w", "status": "completed"});
    let app = App::new(
        script()
            .on_any_prompt()
            .step(Step::RawUpdate(edit))
            .step(Step::RawRequest("fs/write_text_file".into(), write))
            .step(Step::RawUpdate(done)),
    );
    std::fs::write(app.file("a.txt"), "old\n").unwrap();
    let mut chat = app.create().await;
    chat.asks("go").await;
    let shown = "Edit Write:  [a.txt: \"old\\n\" to \"new\\n\"]";
    assert!(chat.transcript().starts_with(shown), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn a_command_that_survives_a_stop_is_ended_and_the_session_goes_on() {
    let command = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "sleep", "kind": "execute",
        "status": "in_progress",
    });
    let app = App::new(
        script()
            .on_prompt("run")
            .step(Step::RawUpdate(command))
            .wait_for_cancel()
            .stop("cancelled")
            .on_any_prompt()
            .say("I remember."),
    );
    let mut chat = app.create().await;
    chat.send("run").await;
    chat.sees("sleep").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert!(!app.provider.is_alive(&chat.id), "the session is closed");
    assert_eq!(chat.asks("and?").await.how, "completed");
    assert!(app.provider.is_alive(&chat.id));
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
    let exit_code = chat.items.iter().find_map(|item| match &item.source {
        Source::ToolCall(call) => call.exit_code,
        _ => None,
    });
    assert_eq!(exit_code, Some(3));
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
    app.provider.kill_session(&chat.id).await.unwrap();
    while std::path::Path::new(&process).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn a_stop_ends_the_commands_of_its_turn_and_no_others() {
    let keeps = json!({"command": "echo $$ > kept; exec sleep 600"});
    let app = App::new(
        script()
            .on_prompt("serve")
            .step(Step::RawRequest("terminal/create".into(), keeps))
            .on_prompt("work")
            .step(Step::IgnoreCancel)
            .command("c", "sleep")
            .run_by_client("c", "echo $$ > pid; echo up; exec sleep 600"),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("serve").await.how, "completed");
    appears(&app.file("kept")).await;
    chat.send("work").await;
    chat.sees("up").await;
    let [kept, stopped] = ["kept", "pid"].map(|file| {
        let pid = std::fs::read_to_string(app.file(file)).unwrap();
        std::path::PathBuf::from(format!("/proc/{}", pid.trim()))
    });
    // The agent ignores the stop; it only sees that its command ended.
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert!(!stopped.exists() && kept.exists());
    app.stop().await;
    assert!(!kept.exists());
}

#[tokio::test]
async fn a_session_has_no_more_terminals_than_it_may() {
    let create = Step::RawRequest("terminal/create".into(), json!({"command": "true"}));
    let release = json!({"terminalId": "term_1"});
    let app = App::new(
        script()
            .on_any_prompt()
            .step(Step::Repeat(33, vec![create.clone()]))
            .step(Step::RawRequest("terminal/release".into(), release))
            .step(create),
    );
    let mut chat = app.create().await;
    assert_eq!(chat.asks("go").await.how, "completed");
    let said = chat.transcript();
    assert_eq!(said.matches("terminalId").count(), 33, "{said}");
    assert_eq!(said.matches("32 terminals already").count(), 1, "{said}");
    app.stop().await;
}
