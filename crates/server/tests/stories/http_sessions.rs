//! The session routes, as scripts use them.

use liminal_scripted_agent::{Steps, script};
use serde_json::json;

use crate::support::{App, Launch};

async fn app() -> (App, String) {
    let app = Launch::new()
        .agent(
            script()
                .on_prompt("hello")
                .say("Hello.")
                .stop("end_turn")
                .on_prompt("run")
                .command("c1", "seq 3")
                .tool_done("c1", "1\n2\n3\n")
                .stop("end_turn")
                .on_prompt("wait")
                .wait_for_cancel()
                .stop("cancelled"),
        )
        .start()
        .await;
    let directory = app.directory("project");
    app.browser().await.adds_project(&directory).await;
    (app, directory)
}

#[tokio::test]
async fn a_script_makes_a_session_speaks_to_it_and_takes_the_transcript_away() {
    let (app, directory) = app().await;
    let body = json!({"cliType": "scripted", "projectDir": directory});
    let made = app.post("/api/session/create", &body).await;
    assert_eq!(made.status, 201);
    let session = made.json()["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(made.json(), json!({"sessionId": session, "cliType": "scripted"}));

    let mut browser = app.browser().await;
    let id = liminal_contract::SessionId::parse(&session).unwrap();
    browser.opens(&id).await;
    let escaped = session.replace(':', "%3A");
    let sent = app.post(&format!("/api/session/{escaped}/send"), &json!({"content": "run"})).await;
    assert_eq!(sent.status, 202);
    let turn = liminal_contract::TurnId::new(sent.json()["turnId"].as_str().unwrap());
    browser.sees_end(&turn).await;

    let status = app.get(&format!("/api/session/{session}/status")).await;
    assert_eq!(
        status.json(),
        json!({"sessionId": session, "cliType": "scripted", "isAlive": true, "state": "open"})
    );
    let export = app.get(&format!("/api/session/{session}/export?format=md")).await;
    assert!(export.body.contains("## You\n\nrun\n"), "{}", export.body);
    let json_export = app.get(&format!("/api/session/{session}/export?format=json")).await.json();
    assert_eq!(json_export["entries"].as_array().unwrap().len(), 2);
    let item = json_export["entries"][1]["itemId"].as_str().unwrap();
    let output = app.get(&format!("/api/session/{session}/item/{item}/output")).await;
    assert_eq!(output.body, "1\n2\n3\n");
    assert_eq!(app.post(&format!("/api/session/{session}/load"), &json!({})).await.status, 200);
    assert_eq!(app.post(&format!("/api/session/{session}/cancel"), &json!({})).await.status, 200);
    assert_eq!(app.post(&format!("/api/session/{session}/kill"), &json!({})).await.status, 200);
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_with_the_contracts_code() {
    let (app, directory) = app().await;
    let refused =
        |cli_type: &str, directory: &str| json!({"cliType": cli_type, "projectDir": directory});
    app.post("/api/session/create", &refused("no:agent", &directory))
        .await
        .is_refused_with(400, "UNSUPPORTED_CLI_TYPE");
    app.post("/api/session/create", &refused("nobody", &directory))
        .await
        .is_refused_with(400, "UNSUPPORTED_CLI_TYPE");
    app.post("/api/session/create", &refused("scripted", "/no/such/place"))
        .await
        .is_refused_with(404, "PROJECT_NOT_FOUND");
    app.post("/api/session/create", &json!({"cliType": "scripted"}))
        .await
        .is_refused_with(400, "PROJECT_ID_REQUIRED");
    app.get("/api/session/list").await.is_refused_with(400, "PROJECT_ID_REQUIRED");
    for call in ["load", "send", "cancel", "kill"] {
        let path = format!("/api/session/scripted:none/{call}");
        app.post(&path, &json!({"content": "x"})).await.is_refused_with(404, "SESSION_NOT_FOUND");
    }
    app.get("/api/session/scripted:none/status").await.is_refused_with(404, "SESSION_NOT_FOUND");
    app.get("/api/session/nonsense/status").await.is_refused_with(404, "SESSION_NOT_FOUND");
}
