//! Files that can't be understood: the server starts, reports them, and never overwrites them.

use liminal_contract::{ClientMessage, ErrorCode, ServerMessage};
use serde_json::json;

use crate::support::{App, Launch};

const DAMAGED: [(&str, &str); 11] = [
    ("", "it is empty"),
    ("  \n", "it is empty"),
    ("null", "does not hold a JSON object"),
    ("[]", "does not hold a JSON object"),
    ("{\"version\":1,\"projects\":[{\"id\":\"a\",", "is not JSON"),
    ("{}", "has no `version`"),
    ("{\"version\":1}", "has no `projects`"),
    ("{\"version\":\"1\",\"projects\":[]}", "`version` is unknown"),
    ("{\"version\":1,\"projects\":{}}", "the wrong shape"),
    ("{\"version\":1,\"projects\":[{\"id\":\"a\"}]}", "the wrong shape"),
    ("{\"version\":2,\"projects\":[],\"more\":true}", "written by a newer Liminal Builder"),
];

async fn asks(app: &App, message: ClientMessage) -> (ErrorCode, String) {
    match app.browser().await.ask(message).await {
        ServerMessage::Error { code, message, details, .. } => {
            assert_eq!(
                details.unwrap().path.unwrap(),
                app.file("projects.json").display().to_string()
            );
            (code, message)
        }
        other => panic!("answered as if nothing were wrong: {other:?}"),
    }
}

#[tokio::test]
async fn a_damaged_file_is_named_and_kept() {
    for (text, reason) in DAMAGED {
        let app = Launch::new().file("projects.json", text).start().await;
        let path = app.directory("code");
        for message in [ClientMessage::ProjectList {}, ClientMessage::ProjectAdd { path }] {
            let (code, sentence) = asks(&app, message).await;
            assert_eq!(code, ErrorCode::StoreCorrupt);
            assert!(
                sentence.contains("projects.json") && sentence.contains(reason),
                "{text:?}: {sentence}"
            );
        }
        assert_eq!(std::fs::read_to_string(app.file("projects.json")).unwrap(), text);
        let ended = app.stop().await;
        assert!(ended.status.success());
        assert!(
            ended.stderr.contains("projects.json") && ended.stderr.contains(reason),
            "{}",
            ended.stderr
        );
    }
}

#[tokio::test]
async fn a_damaged_list_of_sessions_is_named_and_kept_and_projects_still_work() {
    let app = Launch::new().file("sessions.json", "{\"version\":1,\"sess").start().await;
    app.browser().await.adds_project(&app.directory("code")).await;
    assert_eq!(
        std::fs::read_to_string(app.file("sessions.json")).unwrap(),
        "{\"version\":1,\"sess"
    );
    assert!(app.stop().await.stderr.contains("sessions.json"));
}

#[tokio::test]
async fn a_repaired_file_is_read_without_a_restart() {
    let app = Launch::new().file("projects.json", "{").start().await;
    assert_eq!(asks(&app, ClientMessage::ProjectList {}).await.0, ErrorCode::StoreCorrupt);
    std::fs::rename(app.file("projects.json"), app.file("damaged.json")).unwrap();
    let mut browser = app.browser().await;
    assert_eq!(browser.projects().await, []);
    let project = browser.adds_project(&app.directory("code")).await;
    assert_eq!(browser.projects().await, [project]);
}

#[tokio::test]
async fn files_of_the_original_are_read_and_a_copy_of_them_is_kept() {
    let launch = Launch::new();
    let home = launch.home().canonicalize().unwrap();
    std::fs::create_dir(home.join("old")).unwrap();
    let old = json!({
        "id": "1f0c9a52-6a9b-4f3e-9a52-2f0c9a526a9b",
        "path": home.join("old"),
        "name": "old",
        "addedAt": "2025-01-02T03:04:05.678Z",
    });
    let original = json!({"version": 1, "data": [old]}).to_string();
    let app = launch.file("projects.json", &original).start().await;
    let mut browser = app.browser().await;
    let listed = browser.projects().await;
    assert_eq!(serde_json::to_value(&listed).unwrap(), json!([old]));
    assert_eq!(
        std::fs::read_to_string(app.file("projects.json")).unwrap(),
        original,
        "reading changes nothing"
    );

    let new = browser.adds_project(&app.directory("new")).await;
    assert_eq!(app.json("projects.json"), json!({"version": 1, "projects": [old, new]}));
    assert_eq!(std::fs::read_to_string(app.file("projects.json.original")).unwrap(), original);
}
