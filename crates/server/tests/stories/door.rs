//! Who gets in, and who does not. Each story fails when its check is removed.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Error;

use crate::support::{App, Browser, Call, Keyed, Launch, run};

/// The routes that can run commands, each as a request that would succeed without the change a story makes to it.
fn closed_places(app: &App) -> Vec<Call> {
    vec![
        app.call("GET", "/api/anything"),
        app.call("GET", "/api/about"),
        app.call("GET", "/api/session/list?projectId=p"),
        app.call("GET", "/api/session/demo:1/export"),
        app.call("POST", "/api/session/create"),
        app.call("POST", "/api/session/demo:1/send"),
        app.call("GET", "/api/browsers"),
        app.call("DELETE", "/api/browsers/x"),
        app.call("POST", "/api/token/rotate"),
        app.call("POST", "/api/code"),
        app.call("GET", "/ws").upgrade(),
    ]
}

#[tokio::test]
async fn a_name_that_was_pointed_at_us_opens_nothing_not_even_the_page() {
    let app = App::start().await;
    let (port, token) = (app.port(), app.token());
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.2:{port}"),
        String::new(),
    ];
    for host in &foreign {
        for path in ["/", "/shell/main.css", "/api/health", "/api/prove?nonce=0123456789abcdef"] {
            app.call("GET", path).host(host).send().await.is_refused_with(403, "UNAUTHORIZED");
        }
        app.call("POST", "/api/login")
            .host(host)
            .json(&json!({"token": token}))
            .send()
            .await
            .is_refused_with(403, "UNAUTHORIZED");
        for place in closed_places(&app) {
            place.host(host).bearer(token).send().await.is_refused_with(403, "UNAUTHORIZED");
        }
    }
    let without = app.call("GET", "/").no_host().send().await;
    assert!(matches!(without.status, 400 | 403), "{without:?}");
}

#[tokio::test]
async fn a_request_for_two_hosts_is_for_none() {
    let app = App::start().await;
    app.call("GET", "/api/health")
        .header("Host", "evil.example")
        .send()
        .await
        .is_refused_with(403, "UNAUTHORIZED");
    app.call("GET", "http://evil.example/api/health")
        .send()
        .await
        .is_refused_with(403, "UNAUTHORIZED");
}

#[tokio::test]
async fn each_of_our_own_names_is_answered() {
    let app = App::start().await;
    let has_v6 = tokio::net::TcpStream::connect(("::1", app.port())).await.is_ok();
    for name in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        let host = format!("{name}:{}", app.port());
        let status = app.call("GET", "/api/health").host(&host).send().await.status;
        assert_eq!(status, if name == "[::1]" && !has_v6 { 403 } else { 200 }, "{host}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_even_with_the_token() {
    let app = App::start().await;
    let (port, token) = (app.port(), app.token());
    let foreign = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("https://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        "http://127.0.0.1".to_owned(),
        String::new(),
    ];
    for origin in &foreign {
        for place in closed_places(&app) {
            place.origin(origin).bearer(token).send().await.is_refused_with(403, "UNAUTHORIZED");
        }
        let login = app.call("POST", "/api/login").json(&json!({"token": token}));
        login.origin(origin).send().await.is_refused_with(403, "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn our_own_page_and_scripts_without_an_origin_are_let_in_with_the_token() {
    let app = App::start().await;
    let (origin, token) = (app.origin(), app.token());
    assert_eq!(
        app.call("POST", "/api/code").origin(&origin).bearer(token).send().await.status,
        200
    );
    assert_eq!(app.call("POST", "/api/code").bearer(token).send().await.status, 200);
    assert_eq!(
        app.call("GET", "/ws").upgrade().origin(&origin).bearer(token).send().await.status,
        101
    );
    assert_eq!(app.call("GET", "/ws").upgrade().bearer(token).send().await.status, 101);
}

#[tokio::test]
async fn without_the_token_everything_that_matters_is_closed() {
    let app = App::start().await;
    let wrong = "0".repeat(64);
    let almost = format!("{}x", &app.token()[..63]);
    for place in closed_places(&app) {
        place.send().await.is_refused_with(401, "UNAUTHORIZED");
    }
    for token in [wrong.as_str(), almost.as_str(), "", &app.token()[..32], "liminal.1"] {
        for place in closed_places(&app) {
            place.bearer(token).send().await.is_refused_with(401, "UNAUTHORIZED");
        }
        let refused = Browser::try_connect(app.host(), token).await.err().unwrap();
        // An empty subprotocol is invalid, so some of these are refused before the token is checked.
        assert!(
            matches!(&refused, Error::Http(answer) if answer.status() == 401),
            "{token:?}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_token_in_the_address_opens_nothing() {
    let app = App::start().await;
    for name in ["token", "access_token", "code"] {
        let query = format!("{name}={}", app.token());
        app.call("GET", &format!("/ws?{query}"))
            .upgrade()
            .send()
            .await
            .is_refused_with(401, "UNAUTHORIZED");
        app.call("GET", &format!("/api/session/list?{query}"))
            .send()
            .await
            .is_refused_with(401, "UNAUTHORIZED");
        app.call("POST", &format!("/api/login?{query}"))
            .send()
            .await
            .is_refused_with(400, "INVALID_MESSAGE");
    }
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let app = App::start().await;
    for kind in
        ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"]
    {
        let form = |path: &str| {
            app.call("POST", path)
                .header("Content-Type", kind)
                .origin("https://evil.example")
                .body("{\"token\":\"x\"}")
        };
        form("/api/login").send().await.is_refused_with(403, "UNAUTHORIZED");
        form("/api/code").send().await.is_refused_with(403, "UNAUTHORIZED");
        form("/").send().await.is_refused_with(403, "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn a_key_is_registered_for_the_token_and_nothing_else() {
    let app = App::start().await;
    let key = Keyed::new_key();
    let login = |body: Value| {
        let mut body = body;
        body["key"] = json!(key);
        app.call("POST", "/api/login").json(&body).send()
    };
    assert_eq!(login(json!({"token": app.token()})).await.status, 200);
    login(json!({"token": "wrong"})).await.is_refused_with(401, "UNAUTHORIZED");
    login(json!({"code": app.token()})).await.is_refused_with(401, "UNAUTHORIZED");
    login(json!({})).await.is_refused_with(400, "INVALID_MESSAGE");
    login(json!({"code": "x", "token": "y"})).await.is_refused_with(400, "INVALID_MESSAGE");
    let bare = |body: Value| app.call("POST", "/api/login").json(&body).send();
    for odd in [
        json!([1]),
        json!({"token": app.token()}),
        json!({"token": app.token(), "key": "AAAA"}),
        json!({"token": app.token(), "pageSecret": "short"}),
        json!({"token": app.token(), "key": key, "pageSecret": "0".repeat(64)}),
    ] {
        bare(odd).await.is_refused_with(400, "INVALID_MESSAGE");
    }
}

#[tokio::test]
async fn a_one_time_code_opens_the_door_once() {
    let app = App::start().await;
    let code = app.post("/api/code", &json!({})).await.body;
    let body = json!({"code": code, "key": Keyed::new_key()});
    let login = || app.call("POST", "/api/login").json(&body).send();
    assert_eq!(login().await.status, 200);
    login().await.is_refused_with(401, "UNAUTHORIZED");
    app.call("POST", "/api/code").bearer(&code).send().await.is_refused_with(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn the_proof_is_bound_to_the_address_it_was_asked_under() {
    let app = App::start().await;
    let prove =
        |host: String| app.call("GET", "/api/prove?nonce=0123456789abcdef").host(&host).send();
    let by_number = prove(app.host().to_owned()).await.json();
    let by_name = prove(format!("localhost:{}", app.port())).await.json();
    assert_eq!(by_number["proof"].as_str().unwrap().len(), 64);
    assert_ne!(by_number, by_name);
    for nonce in ["", "short", "with%20space-0123456789", &"x".repeat(129)] {
        let path = format!("/api/prove?nonce={nonce}");
        app.call("GET", &path).send().await.is_refused_with(400, "INVALID_MESSAGE");
    }
}

#[tokio::test]
async fn an_allowed_origin_adds_exactly_its_pair() {
    let app = Launch::new().flag("--allow-origin").flag("https://box.example").start().await;
    let (host, token) = (app.host().to_owned(), app.token());
    let code = |host: &str, origin: &str| {
        app.call("POST", "/api/code").host(host).origin(origin).bearer(token).send()
    };
    assert_eq!(code("box.example", "https://box.example").await.status, 200);
    assert_eq!(code(&host, &app.origin()).await.status, 200);
    for (host, origin) in [
        ("box.example", "http://box.example"),
        ("box.example", &app.origin()),
        (host.as_str(), "https://box.example"),
        ("box.example:8443", "https://box.example:8443"),
        ("other.box.example", "https://other.box.example"),
    ] {
        code(host, origin).await.is_refused_with(403, "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn no_response_sets_a_cookie_or_names_the_token() {
    let app = App::start().await;
    let token = app.token();
    let answers = vec![
        app.call("POST", "/api/login")
            .json(&json!({"token": token, "key": Keyed::new_key()}))
            .send()
            .await,
        app.call("GET", "/").send().await,
        app.call("GET", "/api/health").send().await,
        app.call("GET", "/api/prove?nonce=0123456789abcdef").send().await,
        app.call("POST", "/api/login").json(&json!({"token": "wrong"})).send().await,
        app.call("POST", "/api/login").body(format!("{{\"token\":\"{token}")).send().await,
        app.get(&format!("/api/{token}")).await,
        app.call("GET", &format!("/{token}")).send().await,
        app.post("/api/code", &json!({})).await,
        app.call("GET", "/ws")
            .upgrade()
            .header("Sec-WebSocket-Protocol", &format!("{token}, liminal.1"))
            .send()
            .await,
    ];
    for answer in &answers {
        let text = format!("{answer:?}");
        assert!(!text.contains(token), "{text}");
    }
    assert!(answers.iter().all(|answer| answer.header("set-cookie").is_none()));
}

#[tokio::test]
async fn the_token_is_in_no_log_however_much_is_logged() {
    let app = Launch::new().variable("RUST_LOG", "trace").start().await;
    let token = app.token().to_owned();
    let mut browser = app.browser().await;
    browser.says(&format!("{{\"type\":\"{token}\"}}")).await;
    browser.sees_error().await;
    app.call("POST", "/api/login").json(&json!({"token": token})).send().await;
    app.get(&format!("/api/nothing?token={token}")).await;
    app.call("GET", &format!("/{token}")).send().await;
    browser.leaves().await;
    let ended = app.stop().await;
    assert!(!ended.stderr.contains(&token), "{}", ended.stderr);
}

#[tokio::test]
async fn a_new_token_voids_the_old_one_everywhere_at_once() {
    let app = App::start().await;
    let old = app.token().to_owned();
    let code = app.post("/api/code", &json!({})).await.body;
    let (mut one, mut two) = (app.browser().await, app.browser().await);
    let keyed = Keyed::logs_in(&app).await;
    let ticket = keyed.gets_ticket().await;
    let mut three = Browser::connect(app.host(), &ticket).await;
    let challenge = keyed.asks_challenge().await;

    let rotated = run(&mut app.launch().command(&["token", "--rotate"])).await;

    let new = rotated.stdout.trim_end();
    assert!(rotated.status.success() && new.len() == 64 && new != old, "{rotated:?}");
    assert_eq!((one.sees_close().await, two.sees_close().await), (4001, 4001));
    assert_eq!(three.sees_close().await, 4001);
    keyed.is_out(&ticket).await;
    keyed.answers(&challenge).await.is_refused_with(401, "UNAUTHORIZED");
    assert_eq!(app.json("door.json")["browsers"], json!([]));
    app.call("POST", "/api/code").bearer(&old).send().await.is_refused_with(401, "UNAUTHORIZED");
    app.call("POST", "/api/login")
        .json(&json!({"code": code, "key": Keyed::new_key()}))
        .send()
        .await
        .is_refused_with(401, "UNAUTHORIZED");
    Browser::connect(app.host(), new).await.projects().await;
}

#[tokio::test]
async fn a_token_that_cannot_be_replaced_still_logs_everyone_out_at_once() {
    let app = App::start().await;
    let mut browser = app.browser().await;
    let token = app.token().to_owned();
    // No file takes the place of a directory.
    std::fs::remove_file(app.file("token")).unwrap();
    std::fs::create_dir(app.file("token")).unwrap();
    app.post("/api/token/rotate", &json!({})).await.is_refused_with(507, "STORE_FULL");
    assert_eq!(browser.sees_close().await, 4001);
    Browser::connect(app.host(), &token).await.projects().await;
}

#[tokio::test]
async fn a_browser_that_answers_the_challenge_gets_in_and_its_key_outlives_us() {
    let app = App::start().await;
    let keyed = Keyed::logs_in(&app).await;
    let ticket = keyed.gets_ticket().await;
    Browser::connect(app.host(), &ticket).await.projects().await;
    assert_eq!(app.call("GET", "/api/about").bearer(&ticket).send().await.status, 200);
    let mode = std::fs::metadata(app.file("door.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let app = app.restart().await;
    // Challenges and tickets ended with the process; the key did not.
    app.call("GET", "/api/about").bearer(&ticket).send().await.is_refused_with(401, "UNAUTHORIZED");
    let keyed = keyed.at(app.host());
    let ticket = keyed.gets_ticket().await;
    Browser::connect(app.host(), &ticket).await.projects().await;
}

#[tokio::test]
async fn an_answer_is_good_once_here_and_for_this_process_alone() {
    let app = App::start().await;
    let keyed = Keyed::logs_in(&app).await;
    let other = Keyed::logs_in(&app).await;

    let challenge = keyed.asks_challenge().await;
    keyed.signs(&challenge, "http://localhost:1").await.is_refused_with(401, "UNAUTHORIZED");
    other.answers(&challenge).await.is_refused_with(401, "UNAUTHORIZED");
    assert_eq!(keyed.answers(&challenge).await.status, 200);
    keyed.answers(&challenge).await.is_refused_with(401, "UNAUTHORIZED");

    // A login belongs to one address, and so do its challenges and tickets.
    let by_name = format!("localhost:{}", app.port());
    keyed.at(&by_name).wants_challenge().await.is_refused_with(401, "UNAUTHORIZED");
    let fresh = keyed.asks_challenge().await;
    keyed.at(&by_name).answers(&fresh).await.is_refused_with(401, "UNAUTHORIZED");
    let ticket = keyed.gets_ticket().await;
    app.call("GET", "/api/about")
        .host(&by_name)
        .bearer(&ticket)
        .send()
        .await
        .is_refused_with(401, "UNAUTHORIZED");

    let before = keyed.asks_challenge().await;
    let app = app.restart().await;
    keyed.at(app.host()).answers(&before).await.is_refused_with(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn a_browser_that_is_removed_is_out_at_once_and_the_others_stay() {
    let app = App::start().await;
    let (gone, stays) = (Keyed::logs_in(&app).await, Keyed::logs_in(&app).await);
    let (old, ticket) = (gone.gets_ticket().await, stays.gets_ticket().await);
    let challenge = gone.asks_challenge().await;
    let mut removed = Browser::connect(app.host(), &old).await;
    let mut other = Browser::connect(app.host(), &ticket).await;

    let path = format!("/api/browsers/{}", gone.id());
    assert_eq!(app.call("DELETE", &path).bearer(&ticket).send().await.status, 204);
    let again = app.call("DELETE", &path).bearer(&ticket).send().await;
    again.is_refused_with(404, "BROWSER_NOT_FOUND");

    assert_eq!(removed.sees_close().await, 4001);
    gone.is_out(&old).await;
    gone.answers(&challenge).await.is_refused_with(401, "UNAUTHORIZED");
    other.projects().await;
    let list = app.call("GET", "/api/browsers").bearer(&ticket).send().await.json();
    let list = list["browsers"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(
        (&list[0]["id"], &list[0]["isCurrent"], &list[0]["origin"]),
        (&json!(stays.id()), &json!(true), &json!(app.origin()))
    );
}

#[tokio::test]
async fn a_new_token_logs_every_browser_out_also_while_no_server_runs() {
    let app = App::start().await;
    let keyed = Keyed::logs_in(&app).await;
    let launch = app.launch().clone().port(app.port());
    app.stop().await;
    assert!(run(&mut launch.command(&["token", "--rotate"])).await.status.success());
    let app = launch.start().await;
    keyed.at(app.host()).wants_challenge().await.is_refused_with(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn the_worker_that_another_program_left_is_told_to_go() {
    let app = App::start().await;
    for path in ["/sw.js", "/", "/api/anything", "/shell/main.js", "/deep/er/worker.mjs"] {
        let answer = app.call("GET", path).header("Service-Worker", "script").send().await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/javascript"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert!(answer.body.contains("registration.unregister()"), "{path}");
    }
    app.call("GET", "/sw.js")
        .host("evil.example")
        .header("Service-Worker", "script")
        .send()
        .await
        .is_refused_with(403, "UNAUTHORIZED");
}

#[tokio::test]
async fn an_address_that_is_anothers_is_said_and_never_answered_for() {
    // Another program that has ::1 with the port that we take on 127.0.0.1.
    let Ok(other) = tokio::net::TcpListener::bind("[::1]:0").await else { return };
    let port = other.local_addr().unwrap().port();
    let app = Launch::new().port(port).start().await;
    for name in ["localhost", "[::1]"] {
        let host = format!("{name}:{port}");
        for path in ["/", "/api/prove?nonce=0123456789abcdef"] {
            app.call("GET", path).host(&host).send().await.is_refused_with(403, "UNAUTHORIZED");
        }
    }
    app.browser().await.projects().await;
    let ended = app.stop().await;
    assert!(ended.stderr.contains(&format!("another program listens on [::1] port {port}")));
}

#[tokio::test]
async fn idle_connections_of_strangers_do_not_keep_the_owner_out() {
    raise_descriptors();
    // As many descriptors as systems allow by default, fewer than the strangers want.
    let app = Launch::new().descriptors(1024).start().await;
    let mut idle = vec![];
    for n in 0..1300 {
        let mut stream = tokio::net::TcpStream::connect(app.host()).await.unwrap();
        // Some send nothing, some never finish their request.
        if n % 2 == 0 {
            let _may_be_closed = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await;
        }
        idle.push(stream);
    }
    let mut browser = app.browser().await;
    browser.projects().await;
    assert_eq!(app.get("/api/about").await.status, 200);
    drop(idle);
    browser.projects().await;
    browser.leaves().await;
    let stderr = app.stop().await.stderr;
    assert_eq!(stderr.matches("connections without a login").count(), 1, "{stderr}");
}

/// Raises our own limit, because the strangers' ends of the connections are in this process.
fn raise_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit })
        .unwrap();
}
