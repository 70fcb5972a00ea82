use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use liminal_contract::{
    CliType, ItemId, ItemStatus, MessageOrigin, ProjectId, Timestamp, TurnId, TurnOrigin,
    TurnOutcome,
};
use liminal_stream::{Source, ToolCall, Upsert};

use super::*;
use crate::journal::{Change, Committed, Item, TurnRow};
use crate::store::SessionRecord;

struct Desk {
    home: tempfile::TempDir,
    journal: Journal,
    sessions: Arc<SessionsFile>,
}

impl Desk {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let sessions = Arc::new(SessionsFile::open(home.path(), &journal));
        for id in ["demo:one", "demo:two"] {
            let record = SessionRecord {
                id: SessionId::parse(id).unwrap(),
                project_id: ProjectId::new("p"),
                cli_type: CliType::parse("demo").unwrap(),
                archived: id == "demo:two",
                title: format!("Title of {id}"),
                last_active_at: Timestamp::from_millis(0),
                created_at: Timestamp::from_millis(0),
                agent_ref: None,
                policy: None,
                title_by: None,
                worktree: None,
                directory: None,
                counts: None,
                branch: None,
                newer: None,
                request: None,
                other: serde_json::Map::new(),
            };
            sessions.put(record).await.unwrap();
        }
        Self { home, journal, sessions }
    }

    fn search(&self) -> Search {
        Search::start(self.home.path(), &self.journal, self.sessions.clone()).unwrap()
    }

    fn say(&self, session: &str, index: u64, source: Source, status: ItemStatus) {
        self.say_at(session, index, 2 * index + 2, source, status);
    }

    /// Writes or replaces the item at an index.
    fn say_at(&self, session: &str, index: u64, seq: u64, source: Source, status: ItemStatus) {
        let (done, wait) = channel();
        let session = SessionId::parse(session).unwrap();
        let committed = Box::new(move || done.send(()).unwrap());
        self.queue(&session, (index, seq), source, status, committed);
        wait.recv().unwrap();
    }

    fn queue(
        &self,
        session: &SessionId,
        (index, seq): (u64, u64),
        source: Source,
        status: ItemStatus,
        committed: Committed,
    ) {
        let turn_id = TurnId::new(format!("t{index}"));
        let mut turn =
            TurnRow::started(turn_id.clone(), seq, TurnOrigin::User, Timestamp::from_millis(0));
        turn.end(Timestamp::from_millis(1), TurnOutcome::Completed);
        let upsert = Upsert {
            item_id: ItemId::block(&turn_id, 0, 0),
            turn_id,
            session_id: session.clone(),
            source_timestamp: Timestamp::from_millis(0),
            emitted_at: Timestamp::from_millis(0),
            started_at: Timestamp::from_millis(0),
            status,
            failure: None,
            parent_call_id: None,
            source,
        };
        let item = Item { upsert, index, seq: seq - 1, request_id: None, blocks: None };
        let changes = vec![Change::Item(Box::new(item)), Change::Turn(Box::new(turn))];
        self.journal.commit(session, seq, changes, committed);
    }
}

fn message(content: &str) -> Source {
    Source::message(content, MessageOrigin::Agent)
}

async fn found(search: &Search, query: &str) -> Vec<Hit> {
    match search.find(query.into(), None).await.unwrap().0 {
        ServerMessage::SearchResults { hits, .. } => hits,
        other => panic!("{other:?}"),
    }
}

/// Searches until the index has caught up, even if it is being rebuilt.
async fn finds(search: &Search, query: &str) -> Vec<Hit> {
    let patience = Instant::now() + Duration::from_secs(30);
    while Instant::now() < patience {
        match search.find(query.into(), None).await {
            Ok((ServerMessage::SearchResults { hits, .. }, _)) if !hits.is_empty() => return hits,
            Ok(_) => {}
            Err(failure) => assert_eq!(failure.code, ErrorCode::StoreCorrupt),
        }
        std::thread::yield_now();
    }
    panic!("{query:?} is not found")
}

#[tokio::test]
async fn what_was_said_in_any_session_is_found_with_its_words_marked() {
    let desk = Desk::new().await;
    desk.say("demo:one", 0, message("Retry the payment with backoff"), ItemStatus::Complete);
    desk.say("demo:two", 0, message("支払いを再試行する"), ItemStatus::Update);
    let call = ToolCall {
        tool_name: "Bash".into(),
        tool_arguments: serde_json::from_str(r#"{"command":"cargo nextest"}"#).unwrap(),
        tool_output: Some("12 passed naïvely".into()),
        ..ToolCall::default()
    };
    desk.say("demo:one", 1, Source::ToolCall(call), ItemStatus::Complete);
    let search = desk.search();

    let hits = finds(&search, "paym").await;
    assert_eq!(
        hits[0].snippet,
        [("Retry the ", false), ("payment", true), (" with backoff ", false)]
            .map(|(text, matched)| Snippet { text: text.into(), matched })
    );
    assert_eq!(
        (hits[0].title.as_str(), hits[0].kind.as_str(), hits[0].index),
        ("Title of demo:one", "message", 0)
    );
    assert_eq!(finds(&search, "再試行 ").await[0].session_id.as_str(), "demo:two");
    assert_eq!(finds(&search, "nextest ").await[0].kind, "tool_call");
    assert_eq!(finds(&search, "naively ").await.len(), 1);
    assert_eq!(finds(&search, "\"payment with\" ").await.len(), 1);
    for hostile in ["\"", "a AND (", "*", "NEAR(", "text:", "-", "\u{0}", "{}[]^\\", "'; --"] {
        search.find(hostile.into(), None).await.unwrap();
    }
    for endless in ["a ", "\"a\" ", "a*", "\"", "日本 ", "\u{301}"] {
        search.find(endless.repeat(100_000), None).await.unwrap();
    }
    assert_eq!(finds(&search, "\"with backoff\" pay").await.len(), 1);
}

#[tokio::test]
async fn what_is_said_later_is_found_and_what_is_deleted_is_not() {
    let desk = Desk::new().await;
    let search = desk.search();
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    assert_eq!(finds(&search, "needle ").await.len(), 1);
    // The item changes; its first text must not survive the deletion either.
    desk.say_at("demo:one", 0, 4, message("a pin"), ItemStatus::Complete);
    assert_eq!(finds(&search, "pin ").await.len(), 1);
    assert!(found(&search, "needle ").await.is_empty());
    desk.say("demo:one", 2, message("a haystack"), ItemStatus::Update);
    assert_eq!(finds(&search, "haystack ").await.len(), 1);
    search.forget(&SessionId::parse("demo:one").unwrap()).await;
    for word in ["needle", "pin", "haystack"] {
        assert!(found(&search, &format!("{word} ")).await.is_empty());
        for file in ["search.db", "search.db-wal"] {
            let bytes = std::fs::read(desk.home.path().join(file)).unwrap();
            let is_there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!is_there, "{word} is in {file}");
        }
    }
}

#[tokio::test]
async fn what_the_journal_lacks_at_the_start_is_forgotten() {
    let desk = Desk::new().await;
    let search = desk.search();
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    desk.say("demo:two", 0, message("a pin"), ItemStatus::Complete);
    assert_eq!(finds(&search, "needle ").await.len(), 1);
    assert_eq!(finds(&search, "pin ").await.len(), 1);
    search.close().await;
    // As a server leaves it that is killed while it deletes a session.
    let (done, deleted) = std::sync::mpsc::channel();
    let session = SessionId::parse("demo:one").unwrap();
    desk.journal.delete(&session, Box::new(move || done.send(()).unwrap()));
    deleted.recv().unwrap();
    let search = desk.search();
    let index = rusqlite::Connection::open(desk.home.path().join("search.db")).unwrap();
    let sessions = || -> String {
        let all = "SELECT group_concat(DISTINCT session) FROM doc";
        index.query_row(all, [], |row| row.get(0)).unwrap()
    };
    let begun = Instant::now();
    while sessions() != "demo:two" {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", sessions());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(finds(&search, "pin ").await.len(), 1);
}

#[tokio::test]
async fn a_question_that_found_the_index_behind_is_answered_whole_when_it_has_caught_up() {
    let desk = Desk::new().await;
    let search = desk.search();
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    finds(&search, "needle ").await;
    let writer = Connection::open(desk.home.path().join("search.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    desk.say("demo:one", 1, message("another needle"), ItemStatus::Complete);
    let (first, catching_up) = search.find("needle ".into(), None).await.unwrap();
    let ServerMessage::SearchResults { hits, behind: true, .. } = first else {
        panic!("{first:?}")
    };
    assert_eq!(hits.len(), 1);
    writer.execute_batch("ROLLBACK").unwrap();
    assert!(catching_up.unwrap().done().await);
    let last = search.find_again("needle ".into(), None).await.unwrap();
    let ServerMessage::SearchResults { hits, behind: false, .. } = last else { panic!("{last:?}") };
    assert_eq!(hits.len(), 2);
    assert!(search.find("needle ".into(), None).await.unwrap().1.is_none());
}

#[tokio::test]
async fn a_damaged_index_is_made_anew() {
    let desk = Desk::new().await;
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    std::fs::write(desk.home.path().join("search.db"), "rubbish".repeat(1000)).unwrap();
    assert_eq!(finds(&desk.search(), "needle ").await.len(), 1);
}

#[tokio::test]
async fn an_index_found_damaged_in_use_is_made_anew_without_a_restart() {
    let desk = Desk::new().await;
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    let search = desk.search();
    finds(&search, "needle ").await;
    let vandal = Connection::open(desk.home.path().join("search.db")).unwrap();
    let damaged = vandal.execute("UPDATE words_data SET block = x'0102' WHERE id > 10", []);
    assert!(damaged.unwrap() > 0);
    drop(vandal);
    let failure = search.find("needle ".into(), None).await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::StoreCorrupt, "{}", failure.message);
    assert_eq!(finds(&search, "needle ").await.len(), 1);
    desk.say("demo:one", 1, message("a thread"), ItemStatus::Complete);
    assert_eq!(finds(&search, "thread ").await.len(), 1);
}

#[tokio::test]
async fn a_missing_index_is_made_anew_and_a_session_of_many_lots_is_found_to_its_end() {
    let desk = Desk::new().await;
    let session = SessionId::parse("demo:one").unwrap();
    for n in 0..1_100 {
        let word = if n == 1_099 { "needle" } else { "straw" };
        let place = (n, 2 * n + 2);
        desk.queue(&session, place, message(word), ItemStatus::Complete, Box::new(|| {}));
    }
    let search = desk.search();
    let needle = finds(&search, "needle ").await;
    assert_eq!((needle.len(), needle[0].index), (1, 1_099));
    let ServerMessage::SearchResults { hits, more, .. } =
        search.find("straw ".into(), Some(40)).await.unwrap().0
    else {
        panic!("not results")
    };
    // Of many matches only the newest count.
    assert_eq!((hits.len(), more), (40, true));
    assert!(hits.iter().all(|hit| hit.index >= 1_099 - 500), "{hits:?}");
}
