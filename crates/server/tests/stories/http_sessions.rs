//! The session routes, as scripts use them.

use liminal_contract::{Body, Part, TurnEventKind, TurnStatus};
use liminal_scripted_agent::{Image, Step, Steps, script};
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
    app.get("/api/session/list?projectId=none").await.is_refused_with(404, "PROJECT_NOT_FOUND");
    for call in ["load", "send", "cancel", "kill"] {
        let path = format!("/api/session/scripted:none/{call}");
        app.post(&path, &json!({"content": "x"})).await.is_refused_with(404, "SESSION_NOT_FOUND");
    }
    app.get("/api/session/scripted:none/status").await.is_refused_with(404, "SESSION_NOT_FOUND");
    app.get("/api/session/nonsense/status").await.is_refused_with(404, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn a_directory_that_is_no_project_becomes_one() {
    let (app, _directory) = app().await;
    let mut browser = app.browser().await;
    let elsewhere = app.directory("elsewhere");
    let body = |cli_type: &str| json!({"cliType": cli_type, "projectDir": elsewhere});
    let refused = app.post("/api/session/create", &body("nobody")).await;
    refused.is_refused_with(400, "UNSUPPORTED_CLI_TYPE");
    assert_eq!(browser.projects().await.len(), 1, "a request that fails adds nothing");
    for sessions in [1, 2] {
        assert_eq!(app.post("/api/session/create", &body("scripted")).await.status, 201);
        let projects = browser.projects().await;
        assert_eq!((projects.len(), &projects[1].path), (2, &elsewhere));
        assert_eq!(browser.sessions(&projects[1]).await.len(), sessions);
    }
    browser.sees_told("project:added").await;
}

#[tokio::test]
async fn a_script_lists_stops_and_ends_what_it_began() {
    let (app, directory) = app().await;
    let mut browser = app.browser().await;
    let web = browser.projects().await.remove(0);
    let other = browser.adds_project(&app.directory("other")).await;
    let mut made = Vec::new();
    for directory in [&directory, &directory, &other.path] {
        let body = json!({"cliType": "scripted", "projectDir": directory});
        let answer = app.post("/api/session/create", &body).await.json();
        made.push(answer["sessionId"].as_str().unwrap().to_owned());
    }
    let listed = async || {
        let answer = app.get(&format!("/api/session/list?projectId={}", web.id)).await;
        assert_eq!(answer.status, 200);
        let sessions = answer.json()["sessions"].as_array().unwrap().clone();
        for session in &sessions {
            assert_eq!(session["projectId"], web.id.as_str());
            assert_eq!(
                (&session["cliType"], &session["status"]),
                (&json!("scripted"), &json!("open"))
            );
        }
        let mut ids: Vec<String> =
            sessions.iter().map(|each| each["sessionId"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let mut of_web = made[..2].to_vec();
    of_web.sort();
    assert_eq!(listed().await, of_web);

    // The turn that `send` returned is the one that is stopped, and all its items carry its id.
    let session = liminal_contract::SessionId::parse(&made[0]).unwrap();
    browser.opens(&session).await;
    let sent =
        app.post(&format!("/api/session/{session}/send"), &json!({"content": "wait"})).await.json();
    let turn = liminal_contract::TurnId::new(sent["turnId"].as_str().unwrap());
    let cancelled = app.post(&format!("/api/session/{session}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200);
    let end = browser.sees_end(&turn).await;
    assert!(
        matches!(end, TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. }),
        "{end:?}"
    );
    let history = browser.opens(&session).await;
    assert!(!history.entries.is_empty());
    assert!(history.entries.iter().all(|entry| entry.turn_id == turn));

    // Once ended it is not in this list any more; it stays in the sidebar, and other sessions keep their agent.
    assert_eq!(app.post(&format!("/api/session/{session}/kill"), &json!({})).await.status, 200);
    assert_eq!(listed().await, made[1..2]);
    let status = app.get(&format!("/api/session/{session}/status")).await.json();
    assert_eq!((&status["isAlive"], &status["state"]), (&json!(false), &json!("dead")));
    assert_eq!(browser.sessions(&web).await.len(), 2);
}

#[tokio::test]
async fn a_message_over_http_reaches_its_agent_and_every_frame_of_its_turn_has_the_id_returned() {
    let plays = || {
        script()
            .on_any_prompt()
            .say("I look.")
            .command("c", "ls")
            .tool_done("c", "a.txt\n")
            .say("One file.")
            .stop("end_turn")
    };
    let app = Launch::new().agent(plays()).claude(plays()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    for agent in ["claude-code", "scripted"] {
        let session = browser.creates_session(&project, agent).await;
        let send = format!("/api/session/{session}/send");
        let sent = app.post(&send, &json!({"content": "look"})).await;
        assert_eq!(sent.status, 202);
        let turn = liminal_contract::TurnId::new(sent.json()["turnId"].as_str().unwrap());
        let end = browser.sees_end(&turn).await;
        let status = TurnStatus::Completed;
        assert!(matches!(end, TurnEventKind::TurnComplete { status: s, .. } if s == status));
        let frames: Vec<_> = browser
            .everything_seen()
            .filter(|frame| frame["sessionId"] == session.as_str() && frame["payload"].is_object())
            .collect();
        assert!(frames.iter().all(|frame| frame["payload"]["turnId"] == turn.as_str()));
        for kind in ["turn_started", "message", "tool_call", "turn_complete"] {
            assert!(frames.iter().any(|frame| frame["payload"]["type"] == kind), "{agent} {kind}");
        }
        let calls: Vec<_> = frames
            .iter()
            .filter(|frame| frame["payload"]["type"] == "tool_call")
            .map(|frame| frame["payload"]["status"].as_str().unwrap())
            .collect();
        assert_eq!((calls.first(), calls.last()), (Some(&"create"), Some(&"complete")), "{agent}");
    }
}

#[tokio::test]
async fn a_loaded_session_is_open_in_its_status_and_in_the_list() {
    let plays = || script().on_any_prompt().say("ok").stop("end_turn");
    let app = Launch::new().agent(plays()).claude(plays()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let mut sessions = Vec::new();
    for agent in ["claude-code", "scripted"] {
        let session = browser.creates_session(&project, agent).await;
        let turn = browser.says_to(&session, "go").await;
        browser.sees_end(&turn).await;
        sessions.push(session);
    }
    let app = app.restart().await;
    for session in &sessions {
        let status = app.get(&format!("/api/session/{session}/status")).await.json();
        assert_eq!((&status["isAlive"], &status["state"]), (&json!(false), &json!("dead")));
        let loaded = app.post(&format!("/api/session/{session}/load"), &json!({})).await;
        assert_eq!((loaded.status, &loaded.json()["sessionId"]), (200, &json!(session)));
        let status = app.get(&format!("/api/session/{session}/status")).await.json();
        assert_eq!((&status["isAlive"], &status["state"]), (&json!(true), &json!("open")));
    }
    let listed = app.get(&format!("/api/session/list?projectId={}", project.id)).await.json();
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|session| session["status"] == "open"), "{listed:?}");
}

#[tokio::test]
async fn only_pictures_are_served_as_pictures() {
    let pixel = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
    let drawing =
        "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4=";
    let picture = |mime: &str, data: &str| {
        let call = Some("c".to_owned());
        Step::Image(Image { mime: mime.to_owned(), data: data.to_owned(), call })
    };
    let (app, mut browser, session) = App::with_session(
        script()
            .on_any_prompt()
            .command("c", "look")
            .step(picture("image/gif", pixel))
            .step(picture("image/svg+xml", drawing))
            .step(picture("text/html", drawing))
            .step(picture("image/png", "@../../../about"))
            .tool_done("c", ""),
    )
    .await;
    let turn = browser.says_to(&session, "look").await;
    browser.sees_end(&turn).await;
    let history = browser.opens(&session).await;
    let urls: Vec<String> = history
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::ToolCall { parts, .. } => Some(parts),
            _ => None,
        })
        .flatten()
        .filter_map(|part| match part {
            Part::Image { url } => Some(url.clone()),
            _ => None,
        })
        .collect();
    // The others are not images that can be shown, whatever their type or name claims.
    let [url] = &urls[..] else { panic!("{urls:?}") };
    let answer = app.get(url).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/gif")));
    // It needs the token, like every other part of a transcript.
    app.call("GET", url).send().await.is_refused_with(401, "UNAUTHORIZED");
    let elsewhere = format!("/api/session/{session}/image/..%2F..%2Ftoken");
    app.get(&elsewhere).await.is_refused_with(404, "SESSION_NOT_FOUND");
}
