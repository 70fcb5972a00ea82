//! The page and its files.

use serde_json::json;

use crate::support::{App, Launch};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    frame-src 'self'; img-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types liminal";

#[tokio::test]
async fn every_response_carries_the_headers_that_keep_the_page_closed() {
    let app = App::start().await;
    for answer in [
        app.call("GET", "/shell/main.css").send().await,
        app.call("GET", "/nothing").send().await,
        app.call("GET", "/").host("evil.example").send().await,
        app.call("GET", "/api/health").send().await,
        app.call("GET", "/api/session/list").send().await,
    ] {
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_file_that_did_not_change_is_not_sent_again() {
    let app = App::start().await;
    let first = app.call("GET", "/shell/main.css").send().await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    let etag = first.header("etag").unwrap();
    for known in [etag, &format!("W/{etag}"), &format!("\"other\", {etag}")] {
        let again = app.call("GET", "/shell/main.css").header("If-None-Match", known).send().await;
        assert_eq!(
            (again.status, again.body.as_str(), again.header("etag")),
            (304, "", Some(etag)),
            "{known}"
        );
    }
    let changed =
        app.call("GET", "/shell/main.css").header("If-None-Match", "\"other\"").send().await;
    assert_eq!((changed.status, changed.body), (200, first.body));
}

#[tokio::test]
async fn a_document_names_one_script_and_one_style_sheet_that_browsers_may_keep() {
    let app = App::start().await;
    for (page, directory) in [("/", "shell"), ("/portlet/", "portlet"), ("/now/", "now")] {
        let page = app.call("GET", page).send().await;
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let named: Vec<&str> = page
            .body
            .split(['"', '\n'])
            .filter(|it| it.starts_with('/') && (it.ends_with(".js") || it.ends_with(".css")))
            .collect();
        let (version, _) = named[0][1..].split_once('/').unwrap();
        let files = ["css", "js"].map(|kind| format!("/{version}/{directory}/main.{kind}"));
        assert_eq!(named, files, "nothing else is needed");
        for address in &named {
            let file = app.call("GET", address).send().await;
            let kept = file.header("cache-control");
            assert_eq!((file.status, kept), (200, Some("max-age=31536000, immutable")));
            let plain = app.call("GET", &address[version.len() + 1..]).send().await;
            assert_eq!(plain.header("cache-control"), Some("no-cache"));
            assert_eq!(plain.body, file.body, "{address}");
        }
        let script = app.call("GET", &files[1]).send().await.body;
        let is_left = |line: &&str| line.starts_with("import ") || line.starts_with("export ");
        assert_eq!(script.lines().find(is_left), None);
        assert!(script.contains(&format!("// {directory}/main.js\n")));
    }
    assert_eq!(app.call("GET", "/0123456789abcdef/shell/main.js").send().await.status, 404);
}

#[tokio::test]
async fn the_page_is_in_the_binary() {
    // Stories start the program in `/`, where there is no checkout.
    let app = App::start().await;
    for page in ["/", "/portlet/", "/portlet/index.html"] {
        let page = app.call("GET", page).send().await;
        let kind = page.header("content-type");
        assert_eq!((page.status, kind), (200, Some("text/html; charset=utf-8")));
    }
    for path in ["/contract.d.ts", "/package.json", "/../Cargo.toml", "/shared", "/shared/", "//"] {
        assert_eq!(app.call("GET", path).send().await.status, 404, "{path}");
    }
    assert_eq!(app.call("POST", "/").send().await.status, 405);
}

#[tokio::test]
async fn dev_needs_a_checkout() {
    let launch = Launch::new();
    let ended = crate::support::run(&mut launch.command(&["--dev", "--port", "0"])).await;
    ended.failed_with("--dev: no client directory here");
}

#[tokio::test]
async fn a_body_over_one_mebibyte_is_refused() {
    let app = App::start().await;
    let long = json!({"code": "x".repeat(1024 * 1024)});
    app.call("POST", "/api/login").json(&long).send().await.is_refused_with(413, "INVALID_MESSAGE");
    let just_short = json!({"code": "x".repeat(1024 * 1024 - 200), "pageSecret": "0".repeat(64)});
    app.call("POST", "/api/login")
        .json(&just_short)
        .send()
        .await
        .is_refused_with(401, "UNAUTHORIZED");
}
