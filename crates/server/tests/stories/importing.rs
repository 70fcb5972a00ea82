//! `liminal import`: sessions made in a terminal are kept from a shell, with and without a running server.

use std::path::PathBuf;

use crate::support::{App, numbered, run};

/// A server that has seen nothing yet, and three transcripts in two directories.
async fn started() -> (App, PathBuf, PathBuf) {
    let app = App::start().await;
    let [shop, shed] = ["shop", "shed"].map(|name| PathBuf::from(app.directory(name)));
    app.transcript("shop", &numbered(1), &shop, "Mend the cart");
    app.transcript("shop", &numbered(2), &shop, "Count the till");
    app.transcript("shed", &numbered(3), &shed, "Paint the shed");
    (app, shop, shed)
}

#[tokio::test]
async fn import_lists_what_there_is_and_says_what_to_name() {
    let (app, shop, shed) = started().await;
    let listed = run(&mut app.launch().command(&["import", "--list"])).await;
    assert!(listed.status.success(), "{}", listed.stderr);
    let places = [shop.to_str().unwrap(), shed.to_str().unwrap()];
    for part in ["Mend the cart", "Paint the shed", "3 sessions, 0 due", places[0], places[1]] {
        assert!(listed.stdout.contains(part), "{part}: {}", listed.stdout);
    }
    let lost = run(&mut app.launch().command(&["import"])).await;
    lost.failed_with("there is no project yet; name one with --project DIR");
    let gone = run(&mut app.launch().command(&["import", "--project", "/nowhere/at/all"])).await;
    gone.failed_with("/nowhere/at/all");
    assert!(app.browser().await.projects().await.is_empty(), "nothing was added");
}

#[tokio::test]
async fn import_says_that_there_is_nothing_where_no_session_was_made_in_a_terminal() {
    let app = App::start().await;
    for arguments in [["import", "--all"], ["import", "--list"]] {
        let nothing = run(&mut app.launch().command(&arguments)).await;
        assert!(nothing.status.success(), "{}", nothing.stderr);
        assert_eq!(nothing.stdout, "No sessions made in a terminal were found.\n");
    }
}

#[tokio::test]
async fn import_asks_the_running_server_and_its_page_shows_the_sessions() {
    let (app, shop, _shed) = started().await;
    let mut browser = app.browser().await;
    let project = ["import", "--project", shop.to_str().unwrap()];
    let kept = run(&mut app.launch().command(&project)).await;
    assert!(kept.status.success(), "{}", kept.stderr);
    assert!(kept.stdout.contains("Kept 2 of 2 sessions."), "{}", kept.stdout);
    let projects = browser.projects().await;
    let paths: Vec<_> = projects.iter().map(|project| project.path.as_str()).collect();
    assert_eq!(paths, [shop.to_str().unwrap()]);
    let sessions = browser.sessions(&projects[0]).await;
    assert_eq!(sessions.len(), 2);
    assert_eq!(browser.opens(&sessions[0].id).await.texts()[1..], ["Done."]);
    let again = run(&mut app.launch().command(&project)).await;
    assert!(again.stdout.contains("Nothing to import"), "{}", again.stdout);
}

#[tokio::test]
async fn import_of_all_needs_no_server() {
    let (app, _shop, _shed) = started().await;
    let launch = app.launch().clone();
    app.stop().await;
    let kept = run(&mut launch.command(&["import", "--all"])).await;
    assert!(kept.status.success(), "{}", kept.stderr);
    assert!(kept.stdout.contains("Kept 3 of 3 sessions."), "{}", kept.stdout);
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let projects = browser.projects().await;
    assert_eq!(projects.len(), 2);
    let mut count = 0;
    for project in &projects {
        count += browser.sessions(project).await.len();
    }
    assert_eq!(count, 3);
}
