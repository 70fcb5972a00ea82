//! Who gets in, and who does not. Each story fails when its check is taken away.

use serde_json::json;
use tokio_tungstenite::tungstenite::Error;

use crate::support::{App, Browser, Call, Launch, run};

/// The places that can run commands, each as a request that would succeed but for what a story adds to it.
fn closed_places(app: &App) -> Vec<Call> {
    vec![
        app.call("GET", "/api/anything"),
        app.call("GET", "/api/about"),
        app.call("GET", "/api/session/list?projectId=p"),
        app.call("GET", "/api/session/demo:1/export"),
        app.call("POST", "/api/session/create"),
        app.call("POST", "/api/session/demo:1/send"),
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
        for path in ["/", "/shared/base.css", "/api/health", "/api/prove?nonce=0123456789abcdef"] {
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
    for name in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        let host = format!("{name}:{}", app.port());
        assert_eq!(app.call("GET", "/api/health").host(&host).send().await.status, 200, "{host}");
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
        // An empty subprotocol is not one, so some of these don't even get to the question of the token.
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
async fn the_token_is_traded_for_itself_and_nothing_else() {
    let app = App::start().await;
    let login = |body| app.call("POST", "/api/login").json(&body).send();
    assert_eq!(login(json!({"token": app.token()})).await.json(), json!({"token": app.token()}));
    login(json!({"token": "wrong"})).await.is_refused_with(401, "UNAUTHORIZED");
    login(json!({"code": app.token()})).await.is_refused_with(401, "UNAUTHORIZED");
    login(json!({})).await.is_refused_with(400, "INVALID_MESSAGE");
    login(json!({"code": "x", "token": "y"})).await.is_refused_with(400, "INVALID_MESSAGE");
    login(json!([1])).await.is_refused_with(400, "INVALID_MESSAGE");
}

#[tokio::test]
async fn a_one_time_code_opens_the_door_once() {
    let app = App::start().await;
    let code = app.post("/api/code", &json!({})).await.body;
    let login = || app.call("POST", "/api/login").json(&json!({"code": code})).send();
    assert_eq!(login().await.json(), json!({"token": app.token()}));
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
async fn no_response_sets_a_cookie_or_names_the_token_but_login() {
    let app = App::start().await;
    let token = app.token();
    let mut answers = vec![
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
    answers.push(app.call("POST", "/api/login").json(&json!({"token": token})).send().await);
    assert_eq!(answers.last().unwrap().status, 200);
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

    let rotated = run(&mut app.launch().command(&["token", "--rotate"])).await;

    let new = rotated.stdout.trim_end();
    assert!(rotated.status.success() && new.len() == 64 && new != old, "{rotated:?}");
    assert_eq!((one.sees_close().await, two.sees_close().await), (4001, 4001));
    app.call("POST", "/api/code").bearer(&old).send().await.is_refused_with(401, "UNAUTHORIZED");
    app.call("POST", "/api/login")
        .json(&json!({"code": code}))
        .send()
        .await
        .is_refused_with(401, "UNAUTHORIZED");
    Browser::connect(app.host(), new).await.projects().await;
}
