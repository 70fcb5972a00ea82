mod calls;
mod facts;
mod hostile;
mod storage;

use std::sync::mpsc::channel;

use liminal_contract::{
    AskKind, AskOption, ItemId, ItemStatus, MessageOrigin, Outcome, OutcomeBy, SessionId,
    Timestamp, TurnId, TurnOrigin, TurnOutcome,
};
use liminal_stream::{Growth, Permission, Source, ToolCall, Upsert};

use super::*;

fn session() -> SessionId {
    SessionId::parse("demo:one").unwrap()
}

/// Each item as it is, and the size of its source.
fn identity(item: &StoredItem<'_>) -> rusqlite::Result<(Item, usize)> {
    Ok((item.read()?, item.source.len()))
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn message(index: u64, seq: u64, content: &str, status: ItemStatus) -> Item {
    let turn_id = TurnId::new("t");
    Item {
        upsert: Upsert {
            item_id: ItemId::block(&turn_id, 0, usize::try_from(index).unwrap()),
            turn_id,
            session_id: session(),
            source_timestamp: at(1),
            emitted_at: at(2),
            started_at: at(1),
            status,
            failure: None,
            parent_call_id: None,
            source: Source::message(content, MessageOrigin::Agent),
        },
        index,
        seq,
        request_id: None,
        blocks: None,
    }
}

fn turn(seq: u64, outcome: Option<TurnOutcome>) -> TurnRow {
    TurnRow {
        turn_id: TurnId::new("t"),
        seq,
        origin: TurnOrigin::User,
        started_at: at(1),
        ended_at: outcome.map(|_| at(9)),
        outcome,
        stop_reason: None,
        model_id: Some("m".into()),
        usage: None,
        error_code: None,
        error_message: None,
        details: None,
    }
}

fn grew(seq: u64, text: &str) -> Change {
    let turn_id = TurnId::new("t");
    let growth = Growth {
        item_id: ItemId::block(&turn_id, 0, 0),
        turn_id,
        source_timestamp: at(3),
        emitted_at: at(4),
        text: text.into(),
    };
    Change::Grew { growth: growth.into(), seq }
}

fn commit(journal: &Journal, seq: u64, changes: Vec<Change>) {
    let (done, wait) = channel();
    journal.commit(&session(), seq, changes, Box::new(move || done.send(()).unwrap()));
    wait.recv().unwrap();
}

fn read<T>(journal: &Journal, read: impl FnOnce(&read::Reader<'_>) -> rusqlite::Result<T>) -> T {
    journal.readers.run(read).unwrap()
}

fn contents(page: &Page<Item>) -> Vec<String> {
    page.items
        .iter()
        .map(|item| match &item.upsert.source {
            Source::Message { content, .. } => content.clone(),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn what_was_committed_is_read_back_whole() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let mut item = message(0, 1, "hello", ItemStatus::Complete);
    item.request_id = Some("r".into());
    item.blocks = Some(KeptBlocks { version: 7, html: ["<p>hello</p>"].into_iter().collect() });
    let ended = turn(2, Some(TurnOutcome::Completed));
    commit(
        &journal,
        2,
        vec![Change::Item(Box::new(item.clone())), Change::Turn(Box::new(ended.clone()))],
    );

    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!((page.items, page.turns, page.older), (vec![item], vec![ended], false));
    assert_eq!((page.session.seq, page.session.next_index), (2, 1));
    let request = read(&journal, |reader| reader.request(&session(), "r")).unwrap();
    assert_eq!((request.turn_id.as_str(), request.content.as_str()), ("t", "hello"));
}

#[test]
fn what_was_rendered_is_kept_only_for_the_item_that_was_read() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let items = [(0, 1), (1, 2)];
    let complete = |(index, seq)| message(index, seq, "hello", ItemStatus::Complete);
    commit(&journal, 2, items.map(|item| Change::Item(Box::new(complete(item)))).to_vec());

    let blocks = KeptBlocks { version: 7, html: ["<p>hello</p>"].into_iter().collect() };
    let rendered = items.map(|item| {
        let Item { upsert, seq, .. } = complete(item);
        Rendered { item: upsert.item_id, seq, blocks: blocks.clone() }
    });
    // The second item changes after it was read.
    commit(&journal, 3, vec![Change::Item(Box::new(complete((1, 3))))]);
    journal.keep(&session(), rendered.to_vec());
    // Nor does a session come back that was deleted in the meantime.
    let gone = SessionId::parse("demo:gone").unwrap();
    journal.keep(&gone, rendered.to_vec());
    commit(&journal, 4, Vec::new());

    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    let kept: Vec<_> = page.items.into_iter().map(|item| item.blocks).collect();
    assert_eq!(kept, [Some(blocks), None]);
    assert_eq!(read(&journal, |reader| reader.session(&gone)), None);
}

#[test]
fn a_growing_item_is_read_whole_at_any_moment_and_folded_when_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    commit(&journal, 1, vec![Change::Item(Box::new(message(0, 1, "one ", ItemStatus::Create)))]);
    commit(&journal, 3, vec![grew(2, "two "), grew(3, "three")]);
    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!((contents(&page), page.items[0].seq), (vec!["one two three".to_owned()], 3));

    commit(
        &journal,
        4,
        vec![Change::Item(Box::new(message(0, 4, "one two three", ItemStatus::Complete)))],
    );
    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!(contents(&page), ["one two three"]);
    let connection = Connection::open(home.path().join("journal.db")).unwrap();
    let tails: i64 =
        connection.query_row("SELECT count(*) FROM tail", [], |row| row.get(0)).unwrap();
    assert_eq!(tails, 0);
}

#[test]
fn a_long_history_comes_in_pages_from_its_end_and_a_cursor_brings_what_changed() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let items = (0..450)
        .map(|n| Change::Item(Box::new(message(n, n + 1, &n.to_string(), ItemStatus::Complete))))
        .collect();
    commit(&journal, 450, items);

    let end = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!(
        (end.items.first().unwrap().index, end.items.last().unwrap().index, end.older),
        (250, 449, true)
    );
    let above = read(&journal, |reader| reader.page_before(&session(), 50, identity)).unwrap();
    assert_eq!(
        (above.items.first().unwrap().index, above.items.len(), above.older),
        (0, 50, false)
    );
    let since = read(&journal, |reader| reader.since(&session(), 447, identity)).unwrap();
    assert_eq!(contents(&since), ["447", "448", "449"]);
    let around = read(&journal, |reader| {
        reader.around(&session(), &ItemId::block(&TurnId::new("t"), 0, 100), identity)
    })
    .unwrap();
    assert_eq!(
        (around.items.first().unwrap().index, around.items.last().unwrap().index),
        (50, 249)
    );
    assert_eq!((around.older, around.newer), (true, true));
    let below = read(&journal, |reader| reader.page_after(&session(), 249, identity)).unwrap();
    assert_eq!((below.items[0].index, below.items.len(), below.newer), (250, 200, false));
    let nothing = read(&journal, |reader| reader.page_after(&session(), 449, identity)).unwrap();
    assert_eq!((nothing.items.len(), nothing.newer), (0, false));
    assert_eq!(
        read(&journal, |reader| reader.since(&SessionId::parse("demo:two").unwrap(), 0, identity)),
        None
    );
}

#[test]
fn a_turn_found_running_is_closed_as_interrupted_with_its_words_and_its_questions_void() {
    let home = tempfile::tempdir().unwrap();
    let ask = Permission {
        title: "Run it?".into(),
        options: vec![AskOption {
            option_id: "y".into(),
            name: "Yes".into(),
            kind: AskKind::AllowOnce,
        }],
        ..Permission::default()
    };
    {
        let journal = Journal::open(home.path()).unwrap().journal;
        let mut asked = message(1, 2, "", ItemStatus::Create);
        asked.upsert.source = Source::Permission(ask.clone());
        commit(
            &journal,
            3,
            vec![
                Change::Turn(Box::new(turn(1, None))),
                Change::Item(Box::new(message(0, 1, "half", ItemStatus::Create))),
                Change::Item(Box::new(asked)),
                grew(3, " a word"),
            ],
        );
    }
    let journal = Journal::open(home.path()).unwrap().journal;
    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!(contents(&page)[0], "half a word");
    let void = Permission { outcome: Some(Outcome::without_choice(OutcomeBy::AgentLeft)), ..ask };
    assert_eq!(page.items[1].upsert.source, Source::Permission(void));
    assert_eq!(page.turns[0].outcome, Some(TurnOutcome::Interrupted));
    assert_eq!((page.turns[0].seq, page.session.seq), (5, 5));
}

#[test]
fn a_damaged_journal_is_set_aside_and_a_newer_one_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal.db");
    std::fs::write(
        &path,
        "not a database at all, but long enough to be looked at as one".repeat(20),
    )
    .unwrap();
    let opened = Journal::open(home.path()).unwrap();
    assert!(opened.set_aside.is_some_and(|aside| aside.exists()));
    drop(opened.journal);

    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", schema::VERSION + 1).unwrap();
    drop(connection);
    assert!(matches!(Journal::open(home.path()), Err(JournalError::Newer { .. })));
}

#[test]
fn a_full_disk_holds_everything_back_and_work_resumes_when_there_is_room() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal.db");
    let connection = schema::connect_writer(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(1000000));")
        .unwrap();
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let limit: i64 = connection
        .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get(0))
        .unwrap();
    assert_eq!(limit, pages);
    let readers = Readers { path: path.clone(), idle: Mutex::new(Some(Vec::new())) };
    let journal = Journal::start(connection, readers).unwrap();
    let (done, wait) = channel();
    let big = message(0, 1, &"x".repeat(100_000), ItemStatus::Complete);
    let changes = vec![Change::Item(Box::new(big))];
    journal.commit(&session(), 1, changes, Box::new(move || done.send(()).unwrap()));
    let mut health = journal.health();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(health.wait_for(|health| matches!(health, Health::Full { .. }))).unwrap();
    assert!(wait.try_recv().is_err());
    assert_eq!(read(&journal, |reader| reader.end(&session(), identity)), None);

    Connection::open(&path).unwrap().execute("DELETE FROM filler", []).unwrap();
    wait.recv().unwrap();
    assert_eq!(read(&journal, |reader| reader.end(&session(), identity)).unwrap().items.len(), 1);
    runtime.block_on(health.wait_for(|health| *health == Health::Good)).unwrap();
}

#[test]
fn the_log_stays_short_under_steady_commits_and_after_a_long_reader() {
    const MOST: u64 = 3 * checkpoint::MOST_PAGES.cast_unsigned() * 4096;
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let log = || std::fs::metadata(home.path().join("journal.db-wal")).unwrap().len();
    let mut seq = 0;
    let mut say = |words: usize| {
        seq += 1;
        let long = message(seq, seq, &"word ".repeat(words), ItemStatus::Complete);
        commit(&journal, seq, vec![Change::Item(Box::new(long))]);
    };
    let mut longest = 0;
    for _ in 0..1500 {
        say(2000);
        longest = longest.max(log());
    }
    assert!(longest < MOST, "{longest} bytes of log");

    let reader = Connection::open(home.path().join("journal.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM item;").unwrap();
    while log() < 2 * MOST {
        say(100_000);
    }
    reader.execute_batch("COMMIT").unwrap();
    for _ in 0..3000 {
        say(1);
        if log() < MOST {
            return;
        }
    }
    panic!("the log stayed at {} bytes after its reader was gone", log());
}

#[test]
fn a_deleted_session_leaves_nothing_of_its_words_in_the_file() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    commit(
        &journal,
        1,
        vec![Change::Item(Box::new(message(0, 1, "a very secret word", ItemStatus::Complete)))],
    );
    let (done, wait) = channel();
    journal.delete(&session(), Box::new(move || done.send(()).unwrap()));
    wait.recv().unwrap();
    assert_eq!(read(&journal, |reader| reader.session(&session())), None);
    let connection = Connection::open(home.path().join("journal.db")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    for file in std::fs::read_dir(home.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|window| window == b"very secret"));
    }
}

/// A database written by any released version of the schema opens with all its text. A new version adds a file:
/// `UPDATE_FIXTURES=1 cargo test -p liminal a_journal_of_every_version` writes the one of the current version.
#[test]
fn a_journal_of_every_version_opens_with_its_words() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let item = message(0, 1, "words of long ago", ItemStatus::Complete);
        let ended = turn(2, Some(TurnOutcome::Completed));
        commit(&journal, 2, vec![Change::Item(Box::new(item)), Change::Turn(Box::new(ended))]);
        let file = fixtures.join(format!("journal-v{}.db", schema::VERSION));
        let copy = tempfile::tempdir().unwrap();
        super::copy(home.path(), copy.path()).unwrap();
        std::fs::create_dir_all(&fixtures).unwrap();
        std::fs::copy(copy.path().join(FILE), file).unwrap();
    }
    for version in 1..=schema::VERSION {
        let home = tempfile::tempdir().unwrap();
        std::fs::copy(fixtures.join(format!("journal-v{version}.db")), home.path().join(FILE))
            .unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
        assert_eq!(contents(&page), ["words of long ago"], "version {version}");
    }
}

#[test]
fn a_reader_in_the_middle_learns_of_the_turn_that_runs_at_the_end() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let mut changes: Vec<_> = (0..450)
        .map(|n| Change::Item(Box::new(message(n, n + 1, &n.to_string(), ItemStatus::Complete))))
        .collect();
    changes.push(Change::Turn(Box::new(turn(450, Some(TurnOutcome::Completed)))));
    let running = TurnRow { turn_id: TurnId::new("running"), ..turn(451, None) };
    changes.push(Change::Turn(Box::new(running)));
    commit(&journal, 451, changes);
    let wanted = ItemId::block(&TurnId::new("t"), 0, 3);
    let page = read(&journal, |reader| reader.around(&session(), &wanted, identity)).unwrap();
    let turns: Vec<_> = page.turns.iter().map(|turn| turn.turn_id.as_str()).collect();
    assert_eq!(turns, ["t", "running"]);
}

#[test]
fn an_output_that_went_on_in_other_items_is_found_from_any_of_them_on() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let call = |index: u64, id: &str, call_id: &str, output: &str| {
        let mut item = message(index, index + 1, "", ItemStatus::Complete);
        item.upsert.item_id = ItemId::new(id);
        item.upsert.source = Source::ToolCall(ToolCall {
            call_id: call_id.into(),
            tool_output: Some(output.into()),
            ..ToolCall::default()
        });
        Change::Item(Box::new(item))
    };
    let said = Change::Item(Box::new(message(9, 10, "no call", ItemStatus::Complete)));
    let changes = vec![
        call(0, "c", "c", "eins "),
        call(1, "c+1", "c", "zwei "),
        call(2, "c+2", "c", "drei"),
        call(3, "c+3", "another", "vier"),
        said,
    ];
    commit(&journal, 10, changes);
    let pieces = |id: &str| -> Vec<(String, u64)> {
        let item = ItemId::new(id);
        let pieces = read(&journal, |reader| reader.output_pieces(&session(), &item));
        pieces.into_iter().map(|piece| (piece.item.as_str().to_owned(), piece.bytes)).collect()
    };
    let all: Vec<(String, u64)> =
        [("c", 5), ("c+1", 5), ("c+2", 4)].map(|(a, b)| (a.into(), b)).into();
    assert_eq!(pieces("c"), all);
    assert_eq!(pieces("c+1"), all[1..]);
    assert_eq!(pieces("c+3"), [("c+3".to_owned(), 4)]);
    assert_eq!(pieces("t:0:9"), []);
    let text = read(&journal, |reader| reader.output(&session(), &ItemId::new("c+2")));
    assert_eq!(text, "drei");
}
