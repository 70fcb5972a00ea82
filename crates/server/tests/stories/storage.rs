//! The files, when a disk, a clock, another program or the user interferes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use liminal_contract::{
    ClientMessage, ErrorCode, Project, ServerMessage, SessionId, SessionListItem,
};
use liminal_scripted_agent::{ScriptBuilder, Steps, script};
use rusqlite::Connection;
use serde_json::json;

use crate::support::{App, Browser, Clock, Launch, in_time, run};

fn echo() -> ScriptBuilder {
    script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn")
}

async fn talked(launch: Launch) -> (App, Browser, Project, SessionId) {
    let app = launch.agent(echo()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    says(&mut browser, &session, "one").await;
    (app, browser, project, session)
}

async fn says(browser: &mut Browser, session: &SessionId, words: &str) {
    let turn = browser.says_to(session, words).await;
    browser.sees_end(&turn).await;
}

async fn renames(browser: &mut Browser, session: &SessionId, title: &str) {
    let (session_id, title) = (session.clone(), title.to_owned());
    let answer = browser.ask(ClientMessage::SessionRename { session_id, title }).await;
    assert!(!matches!(answer, ServerMessage::Error { .. }), "{answer:?}");
}

async fn listed(app: &App, project: &Project) -> Vec<SessionListItem> {
    app.browser().await.sessions(project).await
}

/// The files of the data directory whose names contain this.
fn named(launch: &Launch, part: &str) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(launch.data_dir()).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.file_name().unwrap().to_str().unwrap().contains(part)).collect()
}

#[tokio::test]
async fn a_turn_does_not_write_the_list_of_sessions_and_a_crash_loses_nothing_of_it() {
    let (app, mut browser, project, session) = talked(Launch::new()).await;
    // A change by the user is in the file soon.
    renames(&mut browser, &session, "Mine").await;
    let file = app.file("sessions.json");
    let written = async {
        while !fs::read_to_string(&file).is_ok_and(|text| text.contains("Mine")) {
            tokio::task::yield_now().await;
        }
    };
    in_time(written).await.unwrap();
    let other = browser.creates_session(&project, "scripted").await;
    let written = async {
        while !fs::read_to_string(&file).unwrap().contains(other.as_str()) {
            tokio::task::yield_now().await;
        }
    };
    in_time(written).await.unwrap();
    let before = fs::read(&file).unwrap();
    browser.opens(&other).await;
    says(&mut browser, &other, "Title me").await;
    says(&mut browser, &session, "two").await;
    let seen = listed(&app, &project).await;
    assert_eq!(
        seen.iter().map(|each| each.title.as_str()).collect::<Vec<_>>(),
        ["Mine", "Title me"]
    );
    assert!(fs::read(&file).unwrap() == before, "a turn wrote the list");

    let app = app.crash_and_restart().await;
    assert_eq!(listed(&app, &project).await, seen);
    let launch = app.launch().clone();
    app.stop().await;
    assert!(
        fs::read_to_string(launch.data_dir().join("sessions.json")).unwrap().contains("Title me")
    );
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_crash_though_the_list_could_not_be_written() {
    let app = Launch::new().agent(echo()).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    fs::create_dir(app.file("sessions.json.tmp")).unwrap();
    let kept = browser.creates_session(&project, "scripted").await;
    let deleted = browser.creates_session(&project, "scripted").await;
    renames(&mut browser, &kept, "Mine").await;
    let delete = ClientMessage::SessionDelete { session_id: deleted, worktree: None };
    assert!(matches!(browser.ask(delete).await, ServerMessage::SessionDeleted { .. }));
    assert!(!app.file("sessions.json").exists());

    let app = app.crash_and_restart().await;
    let seen = listed(&app, &project).await;
    assert_eq!(
        seen.iter().map(|each| (&each.id, each.title.as_str())).collect::<Vec<_>>(),
        [(&kept, "Mine")]
    );
    fs::remove_dir(app.file("sessions.json.tmp")).unwrap();
    let launch = app.launch().clone();
    app.stop().await;
    assert!(fs::read_to_string(launch.data_dir().join("sessions.json")).unwrap().contains("Mine"));
    let app = launch.start().await;
    assert_eq!(listed(&app, &project).await, seen);
}

#[tokio::test]
async fn a_list_changed_by_hand_while_the_program_runs_is_kept_before_it_is_replaced() {
    let (app, mut browser, _project, session) = talked(Launch::new()).await;
    let by_hand = json!({"version": 1, "projects": []}).to_string();
    fs::write(app.file("projects.json"), &by_hand).unwrap();
    browser.adds_project(&app.directory("other")).await;
    let kept = named(app.launch(), "projects.json.changed-");
    assert_eq!(
        kept.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<Vec<_>>(),
        [by_hand]
    );

    let launch = app.launch().clone();
    fs::write(app.file("sessions.json"), "by hand").unwrap();
    renames(&mut browser, &session, "Mine").await;
    let ended = app.stop().await;
    let kept = named(&launch, "sessions.json.changed-");
    assert_eq!(
        kept.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<Vec<_>>(),
        ["by hand"]
    );
    for file in ["projects.json", "sessions.json"] {
        let said = format!("{file} was changed while Liminal Builder was running");
        assert!(ended.stderr.contains(&said), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn a_journal_removed_while_the_program_runs_is_noticed_before_a_turn_is_acknowledged() {
    for file in ["journal.db", "journal.db-wal"] {
        let (app, mut browser, _project, session) = talked(Launch::new()).await;
        fs::remove_file(app.file(file)).unwrap();
        let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        browser.sends_as(request, &session, "two").await;
        let told = browser.sees_told("error").await;
        let ServerMessage::Error { code, message, .. } = told else { panic!("{told:?}") };
        assert_eq!(code, ErrorCode::StoreCorrupt);
        assert!(message.contains(&format!("{file} was removed")), "{message}");
        assert!(!browser.everything_seen().any(|frame| frame["requestId"] == request));

        // Do what the message says.
        let launch = app.launch().clone();
        app.stop().await;
        let rescued = named(&launch, "journal.db.rescued-").remove(0);
        assert!(message.contains(rescued.to_str().unwrap()), "{message}");
        for part in ["", "-wal", "-shm"] {
            let _not_there = fs::remove_file(launch.data_dir().join(format!("journal.db{part}")));
        }
        fs::rename(rescued, launch.data_dir().join("journal.db")).unwrap();
        let app = launch.start().await;
        let texts = app.browser().await.opens(&session).await.texts();
        assert_eq!(texts, ["one", "You said: one"]);
    }
}

#[tokio::test]
async fn a_journal_that_vanished_or_was_emptied_is_said_at_the_start() {
    let (app, ..) = talked(Launch::new()).await;
    let launch = app.launch().clone();
    let ended = app.stop().await;
    assert!(!ended.stderr.contains("journal.db"), "{}", ended.stderr);
    let path = launch.data_dir().join("journal.db");
    let whole = fs::read(&path).unwrap();
    for empty in [false, true] {
        fs::remove_file(&path).unwrap();
        if empty {
            fs::write(&path, "").unwrap();
        }
        let ended = launch.clone().start().await.stop().await;
        assert!(ended.stderr.contains("journal.db was missing or empty"), "{}", ended.stderr);
    }
    fs::write(&path, whole).unwrap();
    let ended = launch.start().await.stop().await;
    assert_eq!(ended.stderr, "");
}

#[tokio::test]
async fn damage_where_the_start_reads_is_set_aside_and_the_program_starts() {
    let (app, _browser, project, session) = talked(Launch::new()).await;
    let launch = app.launch().clone();
    app.stop().await;
    let path = launch.data_dir().join("journal.db");
    // The SQL index that finds whether the last turn failed.
    let page: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'turn_seq'", [], |row| {
            row.get(0)
        })
        .unwrap();
    let page = usize::try_from(page).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xAA);
    fs::write(&path, &bytes).unwrap();

    let app = launch.clone().start().await;
    assert_eq!(listed(&app, &project).await[0].id, session);
    let ended = app.stop().await;
    assert!(ended.stderr.contains("the journal was damaged and is kept as"), "{}", ended.stderr);
    let aside = named(&launch, "journal.db.damaged-");
    assert!(aside.iter().any(|file| fs::read(file).unwrap() == bytes), "{aside:?}");
}

#[tokio::test]
async fn a_clock_that_jumps_either_way_changes_neither_the_order_nor_what_is_kept() {
    const DAY: i64 = 86_400;
    let clock = Clock::new();
    let (app, mut browser, project, session) = talked(Launch::new().clock(&clock)).await;
    let began = listed(&app, &project).await[0].last_active_at.as_millis();
    clock.jumps(-DAY);
    says(&mut browser, &session, "two").await;
    let earlier = listed(&app, &project).await[0].last_active_at.as_millis();
    assert!(earlier < began, "the story's clock is not the program's");
    let app = app.crash_and_restart().await;
    assert_eq!(listed(&app, &project).await[0].last_active_at.as_millis(), earlier);

    let mut browser = app.browser().await;
    let cursor = browser.opens(&session).await;
    clock.jumps(2 * DAY);
    says(&mut browser, &session, "three").await;
    let spoken: Vec<String> = ["one", "two", "three"]
        .iter()
        .flat_map(|it| [(*it).to_owned(), format!("You said: {it}")])
        .collect();
    let history = browser.opens(&session).await;
    assert_eq!(history.texts(), spoken);
    let turns: Vec<_> = history.turns.iter().map(|turn| turn.turn_id.clone()).collect();
    assert_eq!(
        turns[..2],
        cursor.turns.iter().map(|turn| turn.turn_id.clone()).collect::<Vec<_>>()
    );
    let path = format!("/api/session/{}/export?format=json", session.as_str().replace(':', "%3A"));
    let export = app.get(&path).await.json();
    let exported: Vec<_> =
        export["turns"].as_array().unwrap().iter().map(|turn| turn["turnId"].clone()).collect();
    assert_eq!(exported, turns.iter().map(|turn| json!(turn.as_str())).collect::<Vec<_>>());
    assert!(listed(&app, &project).await[0].last_active_at.as_millis() > began);
}

#[tokio::test]
async fn in_a_data_directory_that_became_read_only_talk_goes_on_and_nothing_acknowledged_is_lost() {
    let (app, mut browser, project, session) = talked(Launch::new().without_root()).await;
    let launch = app.launch().clone();
    let set = |mode| fs::set_permissions(launch.data_dir(), fs::Permissions::from_mode(mode));
    set(0o500).unwrap();
    says(&mut browser, &session, "two").await;
    renames(&mut browser, &session, "Mine").await;
    let path = app.directory("other");
    let refused = browser.ask(ClientMessage::ProjectAdd { path }).await;
    let ServerMessage::Error { code, message, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(code, ErrorCode::StoreFull);
    assert!(message.contains("make it writable"), "{message}");
    assert!(app.stop().await.status.success());
    run(&mut launch.command(&["--port", "0"])).await.failed_with("cannot use the data directory");

    set(0o700).unwrap();
    let app = launch.clone().start().await;
    assert_eq!(listed(&app, &project).await[0].title, "Mine");
    let texts = app.browser().await.opens(&session).await.texts();
    assert_eq!(texts, ["one", "You said: one", "two", "You said: two"]);
}
