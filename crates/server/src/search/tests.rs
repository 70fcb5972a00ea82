use std::sync::mpsc::channel;

use liminal_contract::{
    CliType, ItemStatus, MessageOrigin, ProjectId, TurnId, TurnOrigin, TurnOutcome,
};
use liminal_stream::{Source, ToolCall, Upsert};

use super::*;
use crate::journal::{Change, Item, TurnRow};
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
        let sessions = Arc::new(SessionsFile::open(home.path()));
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
        let session = SessionId::parse(session).unwrap();
        let turn_id = TurnId::new(format!("t{index}"));
        let seq = 2 * index + 2;
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
        let (done, wait) = channel();
        let changes = vec![Change::Item(Box::new(item)), Change::Turn(Box::new(turn))];
        self.journal.commit(&session, seq, changes, Box::new(move || done.send(()).unwrap()));
        wait.recv().unwrap();
    }
}

fn message(content: &str) -> Source {
    Source::Message { content: content.into(), origin: MessageOrigin::Agent }
}

/// Asks until the index has caught up.
async fn finds(search: &Search, query: &str) -> Vec<Hit> {
    for _ in 0..2000 {
        let ServerMessage::SearchResults { hits, .. } =
            search.find(query.into(), None).await.unwrap()
        else {
            panic!("not results")
        };
        if !hits.is_empty() {
            return hits;
        }
        tokio::task::yield_now().await;
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
    for hostile in ["\"", "a AND (", "*", "NEAR(", "text:", "-", "\u{0}", "{}[]^\\"] {
        search.find(hostile.into(), None).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_said_later_is_found_and_what_is_deleted_is_not() {
    let desk = Desk::new().await;
    let search = desk.search();
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    assert_eq!(finds(&search, "needle ").await.len(), 1);
    search.forget(&SessionId::parse("demo:one").unwrap()).await;
    let ServerMessage::SearchResults { hits, .. } =
        search.find("needle ".into(), None).await.unwrap()
    else {
        panic!("not results")
    };
    assert!(hits.is_empty());
    let bytes = std::fs::read(desk.home.path().join("search.db")).unwrap();
    assert!(!bytes.windows(8).any(|window| window == b"a needle"));
}

#[tokio::test]
async fn a_damaged_index_is_made_anew() {
    let desk = Desk::new().await;
    desk.say("demo:one", 0, message("a needle"), ItemStatus::Complete);
    std::fs::write(desk.home.path().join("search.db"), "rubbish".repeat(1000)).unwrap();
    assert_eq!(finds(&desk.search(), "needle ").await.len(), 1);
}
