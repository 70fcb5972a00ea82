//! Transcripts of any length: opened anywhere, read in pages, exported whole.

use liminal_contract::{Body, ClientMessage, ItemId, ServerMessage, SessionId, UpsertObject};
use liminal_scripted_agent::{ScriptBuilder, Steps, act, script};

use crate::support::{App, Browser, in_time};

fn indexes(entries: &[UpsertObject]) -> Vec<u64> {
    entries.iter().map(|entry| entry.index).collect()
}

/// A session with one message from the user and this many from the agent.
async fn long_session(messages: u32) -> (App, Browser, SessionId) {
    let many = script().on_any_prompt().repeat(messages, act().new_message().say("Some words."));
    let (app, mut browser, session) = App::with_session(many).await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_end(&turn).await;
    (app, browser, session)
}

#[tokio::test]
async fn a_long_session_opens_at_its_end_or_at_an_item_and_is_read_in_pages_both_ways() {
    let (_app, mut browser, session) = long_session(700).await;
    let end = browser.opens(&session).await;
    assert_eq!(indexes(&end.entries), (501..701).collect::<Vec<_>>());
    assert_eq!((end.older, end.newer), (true, false));

    let (above, _) = browser.goes_up(&session, 160).await;
    let wanted: ItemId = above.iter().find(|entry| entry.index == 100).unwrap().item_id.clone();
    let middle = browser.opens_around(&session, &wanted).await;
    assert_eq!(indexes(&middle.entries), (50..250).collect::<Vec<_>>());
    assert_eq!((middle.older, middle.newer), (true, true));

    let mut seen = indexes(&middle.entries);
    let mut more = middle.newer;
    while more {
        let (entries, newer) = browser.goes_down(&session, *seen.last().unwrap()).await;
        seen.extend(indexes(&entries));
        more = newer;
    }
    assert_eq!(seen, (50..701).collect::<Vec<_>>());
    let (above, older) = browser.goes_up(&session, 50).await;
    assert_eq!((indexes(&above), older), ((0..50).collect::<Vec<_>>(), false));
}

#[tokio::test]
async fn a_long_transcript_is_taken_away_whole_in_both_formats() {
    let (app, _browser, session) = long_session(2_500).await;
    let markdown = app.get(&format!("/api/session/{session}/export?format=md")).await;
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert!(markdown.body.starts_with("# go\n\n## You\n\ngo\n\nSome words.\n"));
    assert_eq!(markdown.body.matches("Some words.").count(), 2_500);

    let json = app.get(&format!("/api/session/{session}/export?format=json")).await.json();
    let entries: Vec<UpsertObject> = serde_json::from_value(json["entries"].clone()).unwrap();
    assert_eq!(indexes(&entries), (0..2_501).collect::<Vec<_>>());
    assert_eq!((&json["title"], &json["sessionId"]), (&"go".into(), &session.as_str().into()));
    assert_eq!(json["turns"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn what_was_deleted_is_in_no_file_of_ours() {
    let secret = script().on_any_prompt().say("The password is ").say("xylophone").say(" today.");
    let (app, mut browser, session) = App::with_session(secret).await;
    let turn = browser.says_to(&session, "which xylophone?").await;
    browser.sees_end(&turn).await;
    while found(&mut browser, "xylophone ").await < 2 {}
    let holding = || {
        let files = std::fs::read_dir(app.launch().data_dir()).unwrap();
        let mut names: Vec<_> = files
            .map(|file| file.unwrap())
            .filter(|file| file.file_name() != "scripted.json")
            .filter(|file| {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                bytes.windows(9).any(|window| window == b"xylophone")
            })
            .map(|file| file.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert!(holding().iter().any(|name| name.starts_with("journal.db")), "{:?}", holding());
    assert!(holding().iter().any(|name| name.starts_with("search.db")), "{:?}", holding());

    let deleted = browser
        .ask(ClientMessage::SessionDelete { session_id: session.clone(), worktree: None })
        .await;
    assert!(matches!(deleted, ServerMessage::SessionDeleted { .. }), "{deleted:?}");
    assert_eq!(holding(), Vec::<String>::new());
    assert_eq!(found(&mut browser, "xylophone ").await, 0);
}

#[tokio::test]
async fn a_search_that_found_the_index_behind_is_answered_again_unless_another_replaced_it() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("Here.")).await;
    // Nothing can be indexed while another connection writes.
    let index = rusqlite::Connection::open(app.launch().data_dir().join("search.db")).unwrap();
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    browser.says_to(&session, "Where is the needle?").await;
    let search = |query: &str| ClientMessage::Search { query: query.into(), limit: None };
    let replaced = browser.send(search("where ")).await;
    let asked = browser.send(search("needle ")).await;
    for request in [&replaced, &asked] {
        let first = browser.sees_reply(request).await;
        let is_first = matches!(&first, ServerMessage::SearchResults { hits, behind: true, .. } if hits.is_empty());
        assert!(is_first, "{first:?}");
    }
    index.execute_batch("ROLLBACK").unwrap();
    let last = browser.sees_reply(&asked).await;
    let is_last = matches!(&last, ServerMessage::SearchResults { hits, behind: false, .. } if hits.len() == 1);
    assert!(is_last, "{last:?}");
    let answers = browser.everything_seen().filter(|frame| frame["requestId"] == replaced.as_str());
    assert_eq!(answers.count(), 1);
}

#[tokio::test]
async fn what_could_not_be_indexed_is_indexed_later_and_until_then_the_search_says_so() {
    let (app, mut browser, session) =
        App::with_session(script().on_any_prompt().say("Here.")).await;
    let index = rusqlite::Connection::open(app.launch().data_dir().join("search.db")).unwrap();
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    browser.says_to(&session, "Where is the needle?").await;
    let given_up = async {
        while !app.stderr().contains("could not be indexed yet") {
            tokio::task::yield_now().await;
        }
    };
    assert!(in_time(given_up).await.is_some(), "{}", app.stderr());
    let search = ClientMessage::Search { query: "needle ".into(), limit: None };
    let asked = browser.send(search).await;
    let first = browser.sees_reply(&asked).await;
    assert!(matches!(first, ServerMessage::SearchResults { behind: true, .. }), "{first:?}");
    index.execute_batch("ROLLBACK").unwrap();
    let last = browser.sees_reply(&asked).await;
    let ServerMessage::SearchResults { hits, behind, .. } = last else { panic!("{last:?}") };
    assert_eq!((hits.len(), behind), (1, false));
}

/// A call whose output grows by this many lines of a kilobyte each.
fn talkative(lines: u32) -> ScriptBuilder {
    let line = format!("{}\n", "naïve ".repeat(146));
    let kilobytes = line.repeat(64);
    assert_eq!(line.len(), 1023);
    script()
        .about(|about| about.terminal_meta = true)
        .on_any_prompt()
        .command("c", "make noise")
        .repeat(lines / 64, act().tool_output("c", &kilobytes))
        .tool_done("c", "")
}

/// How many items contain these words, as far as they are indexed.
async fn found(browser: &mut Browser, query: &str) -> usize {
    let query = query.into();
    match browser.ask(ClientMessage::Search { query, limit: None }).await {
        ServerMessage::SearchResults { hits, .. } => hits.len(),
        other => panic!("no results: {other:?}"),
    }
}

#[tokio::test]
async fn an_output_of_any_length_is_whole_over_http_and_never_in_the_browser() {
    const LINES: u32 = 12 * 1024;
    let (app, mut browser, session) = App::with_session(talkative(LINES)).await;
    let turn = browser.says_to(&session, "go").await;
    browser.sees_end(&turn).await;
    let whole = u64::from(LINES) * 1023;

    let shown = browser.opens(&session).await.entries;
    let outputs: Vec<(&ItemId, usize, u64)> = shown
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::ToolCall { tool_output: Some(output), output_bytes: Some(bytes), .. } => {
                Some((&entry.item_id, output.len(), *bytes))
            }
            _ => None,
        })
        .collect();
    assert!(!outputs.is_empty());
    assert!(outputs.iter().all(|(_, shown, _)| *shown <= 64 * 1024), "{outputs:?}");
    let call = ItemId::call(&turn, "c");
    let path = format!("/api/session/{session}/item/{call}/output");
    let output = app.get(&path).await;
    assert_eq!(output.header("content-length"), Some(whole.to_string().as_str()));
    assert_eq!(output.body.len() as u64, whole);
    let line = format!("{}\n", "naïve ".repeat(146));
    assert!(output.body.as_bytes().chunks(1023).all(|chunk| chunk == line.as_bytes()));

    let part = app.call("GET", &path).bearer(app.token()).header("Range", "bytes=4092000-8184000");
    let part = part.send().await;
    let range = format!("bytes 4092000-8184000/{whole}");
    assert_eq!((part.status, part.header("content-range")), (206, Some(range.as_str())));
    assert_eq!(part.body.len(), 4_092_001);
    let none = app.call("GET", &path).bearer(app.token()).header("Range", "bytes=99999999-");
    assert_eq!(none.send().await.status, 416);

    let export = app.get(&format!("/api/session/{session}/export?format=json")).await.json();
    let taken = export["entries"].as_array().unwrap().iter();
    let taken: usize = taken.map(|entry| entry["toolOutput"].as_str().map_or(0, str::len)).sum();
    assert_eq!(taken as u64, whole);
}
