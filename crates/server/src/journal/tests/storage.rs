//! The file itself: how much of it an update touches, how it is migrated, and what happens when it is damaged, emptied
//! or removed.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::*;

fn close(journal: &Journal) {
    let (done, wait) = channel();
    journal.close(Box::new(move || done.send(()).unwrap()));
    wait.recv().unwrap();
}

/// A journal as the second version of the schema wrote it, with an item that was still growing.
fn of_the_second_version(home: &Path) {
    let connection = Connection::open(home.join(FILE)).unwrap();
    for migration in &schema::MIGRATIONS[..2] {
        connection.execute_batch(migration).unwrap();
    }
    connection
        .execute_batch(
            r#"PRAGMA user_version = 2;
            INSERT INTO session (session_id, stream, seq) VALUES ('demo:one', 's', 9);
            INSERT INTO turn (session, turn_id, seq, origin, started_at, ended_at, outcome)
                VALUES (1, 't', 9, 'user', 1, 5, 'completed');
            INSERT INTO item (session, idx, seq, item_id, turn_id, kind, status, started_at,
                              source_at, emitted_at, body)
                VALUES (1, 0, 8, 't:0:0', 't', 'message', 'update', 1, 6, 7, 1);
            INSERT INTO body (source) VALUES ('{"type":"message","content":"one ","origin":"agent"}');
            INSERT INTO tail (body, text) VALUES (1, 'two '), (1, 'three');"#,
        )
        .unwrap();
}

#[test]
fn a_session_that_leaves_the_list_leaves_the_journal_in_the_same_commit() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let list = |version, record: Option<&str>| {
        let record = record.map(str::to_owned);
        let (done, wait) = channel();
        let listed = Listed { session: session(), version, record };
        journal.list(listed, Box::new(move || done.send(()).unwrap()));
        wait.recv().unwrap();
    };
    let item = message(0, 1, "secret", ItemStatus::Complete);
    commit(&journal, 1, vec![Change::Item(Box::new(item))]);
    list(1, Some("{}"));
    assert!(read(&journal, |reader| reader.session(&session())).is_some());
    list(2, None);
    assert!(read(&journal, |reader| reader.session(&session())).is_none());
    assert_eq!(read(&journal, |reader| reader.listed()).len(), 1, "the file has yet to follow");

    // An earlier version deleted it only later, and may have been killed before.
    let item = message(0, 1, "secret", ItemStatus::Complete);
    commit(&journal, 1, vec![Change::Item(Box::new(item))]);
    close(&journal);
    let journal = Journal::open(home.path()).unwrap().journal;
    assert!(read(&journal, |reader| reader.session(&session())).is_none());
}

#[test]
fn a_growing_item_costs_at_most_two_pages_a_commit() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    commit(
        &journal,
        2,
        vec![
            Change::Turn(Box::new(turn(1, None))),
            Change::Item(Box::new(message(0, 2, "one ", ItemStatus::Create))),
        ],
    );
    let log = || fs::metadata(home.path().join("journal.db-wal")).unwrap().len();
    let before = log();
    let updates = 300;
    for n in 0..updates {
        commit(&journal, n + 3, vec![grew(n + 3, "some words that were said in a moment ")]);
    }
    let pages = (log() - before) / (4096 + 24);
    assert!(pages <= 2 * updates, "{pages} pages for {updates} updates");
    assert!(pages >= updates, "the log was folded in the meantime, so this proves nothing");
    let row = read(&journal, |reader| reader.session(&session())).unwrap();
    assert_eq!(row.seq, updates + 2);
}

#[test]
fn what_only_grew_is_told_to_who_has_seen_less_of_it() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    commit(
        &journal,
        2,
        vec![
            Change::Item(Box::new(message(0, 1, "one ", ItemStatus::Create))),
            Change::Item(Box::new(message(1, 2, "other", ItemStatus::Complete))),
        ],
    );
    commit(&journal, 4, vec![grew(3, "two "), grew(4, "three")]);
    let since = |seq| read(&journal, |reader| reader.since(&session(), seq, identity)).unwrap();
    assert_eq!(contents(&since(0)), ["one two three", "other"]);
    assert_eq!(contents(&since(3)), ["one two three"]);
    let Item { seq, upsert, .. } = since(3).items.remove(0);
    assert_eq!((seq, upsert.status, upsert.emitted_at), (4, ItemStatus::Update, at(4)));
    assert_eq!(contents(&since(4)), [""; 0]);

    // While its turn runs, its unfinished end is shown in another way than afterwards.
    let ended = turn(5, Some(TurnOutcome::Cancelled));
    commit(&journal, 5, vec![Change::Turn(Box::new(ended))]);
    assert_eq!(contents(&since(4)), ["one two three"]);
    assert_eq!(contents(&since(5)), [""; 0]);
}

#[test]
fn an_older_journal_is_migrated_with_what_was_growing_and_its_copy_goes_with_the_next_stop() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    of_the_second_version(home.path());
    let before = fs::read(home.path().join(FILE)).unwrap();
    let copy = former::copy_of(&home.path().join(FILE), 2);

    let journal = Journal::open(home.path()).unwrap().journal;
    let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
    assert_eq!((contents(&page), page.items[0].seq), (vec!["one two three".to_owned()], 8));
    assert_eq!(page.session.seq, 9);
    assert!(fs::read(&copy).unwrap() == before, "the copy is as the journal was");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);

    close(&journal);
    assert!(!copy.exists());
}

#[test]
fn without_room_for_a_copy_an_older_journal_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    of_the_second_version(home.path());
    let path = home.path().join(FILE);
    let before = fs::read(&path).unwrap();
    // A copy can't replace a directory.
    let copy = former::copy_of(&path, 2);
    fs::create_dir(&copy).unwrap();
    assert!(matches!(Journal::open(home.path()), Err(JournalError::NoCopy { .. })));
    assert!(fs::read(&path).unwrap() == before);

    fs::remove_dir(&copy).unwrap();
    assert!(Journal::open(home.path()).is_ok());
}

#[test]
fn damage_in_what_is_read_at_the_start_is_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    // Enough sessions that their table has separate pages.
    for n in 0..300 {
        let id = SessionId::parse(&format!("demo:{n}")).unwrap();
        journal.commit(&id, 0, vec![Change::Active(at(n))], Box::new(|| {}));
    }
    close(&journal);
    drop(journal);
    let path = home.path().join(FILE);
    let page = {
        let connection = Connection::open(&path).unwrap();
        let page: u64 = connection
            .query_row(
                "SELECT max(pageno) FROM dbstat WHERE name = 'session' AND pagetype = 'leaf'",
                [],
                |row| row.get::<_, i64>(0),
            )
            .unwrap()
            .cast_unsigned();
        usize::try_from(page).unwrap()
    };
    let mut bytes = fs::read(&path).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xAA);
    fs::write(&path, &bytes).unwrap();
    let opened = Journal::open(home.path()).unwrap();
    assert!(opened.set_aside.is_some_and(|aside| fs::read(aside).unwrap() == bytes));
    assert_eq!(opened.journal.read_now(|reader| reader.activity()).unwrap(), []);
}

#[test]
fn the_log_of_a_journal_that_is_gone_is_set_aside_not_thrown_away() {
    for how in ["removed", "emptied"] {
        let home = tempfile::tempdir().unwrap();
        let opened = Journal::open(home.path()).unwrap();
        assert!(opened.is_new && opened.set_aside.is_none());
        commit(
            &opened.journal,
            1,
            vec![Change::Item(Box::new(message(0, 1, "a", ItemStatus::Create)))],
        );
        let gone = tempfile::tempdir().unwrap();
        // As after a power failure: with its log.
        let log = fs::read(home.path().join("journal.db-wal")).unwrap();
        fs::write(gone.path().join("journal.db-wal"), &log).unwrap();
        if how == "emptied" {
            fs::write(gone.path().join(FILE), "").unwrap();
        }
        let opened = Journal::open(gone.path()).unwrap();
        assert!(opened.is_new);
        let aside = format!("{}-wal", opened.set_aside.unwrap().display());
        assert!(fs::read(aside).unwrap() == log, "{how}");
    }
}

#[test]
fn a_journal_removed_while_it_is_open_takes_nothing_more_and_its_words_are_saved() {
    for file in ["journal.db", "journal.db-wal"] {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        commit(&journal, 1, vec![Change::Item(Box::new(message(0, 1, "a", ItemStatus::Create)))]);
        let elsewhere = home.path().join("elsewhere");
        fs::rename(home.path().join(file), &elsewhere).unwrap();
        let (done, wait) = channel();
        journal.commit(&session(), 2, vec![grew(2, "b")], Box::new(move || done.send(()).unwrap()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut health = journal.health();
        let is_gone = |health: &Health| matches!(health, Health::Gone { .. });
        let gone = runtime.block_on(health.wait_for(is_gone)).unwrap().clone();
        assert!(wait.try_recv().is_err());
        let Health::Gone { file: missing, rescued: Ok(rescued) } = gone else { panic!("{gone:?}") };
        assert_eq!(missing, home.path().join(file));
        let saved = tempfile::tempdir().unwrap();
        fs::copy(rescued, saved.path().join(FILE)).unwrap();
        let saved = Journal::open(saved.path()).unwrap().journal;
        let page = read(&saved, |reader| reader.end(&session(), identity)).unwrap();
        assert_eq!(contents(&page), ["a"]);

        // Once it is back in place, it is written again.
        fs::rename(&elsewhere, home.path().join(file)).unwrap();
        wait.recv().unwrap();
        let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
        assert_eq!(contents(&page), ["ab"]);
    }
}
