//! A damaged `journal.db` opens, or is set aside unchanged and replaced by a new one.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// A journal of this version, and one of the first.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let mut changes = vec![Change::Turn(Box::new(turn(1, None)))];
    for n in 1..40 {
        let words = format!("{n} said at some length, so that a page is not enough. ").repeat(9);
        changes.push(Change::Item(Box::new(message(n, n + 1, &words, ItemStatus::Complete))));
    }
    changes.push(Change::Item(Box::new(message(0, 41, "open", ItemStatus::Create))));
    changes.push(grew(42, " and growing"));
    changes.push(Change::Stream("another".into()));
    commit(&journal, 42, changes);
    let (done, wait) = channel();
    journal.close(Box::new(move || done.send(()).unwrap()));
    wait.recv().unwrap();
    let first = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/journal-v1.db");
    vec![std::fs::read(home.path().join(FILE)).unwrap(), std::fs::read(first).unwrap()]
});

/// Reads everything that the server reads; the results don't matter.
fn read_all(journal: &Journal) {
    let known = journal.readers.run(|reader| reader.activity()).unwrap_or_default();
    let _damaged = journal.readers.run(|reader| reader.listed());
    let sessions = known.into_iter().map(|(id, _)| id).chain([session()]);
    for id in sessions {
        let _damaged = journal.readers.run(|reader| reader.session(&id));
        let _damaged = journal.readers.run(|reader| reader.turns(&id));
        let _damaged = journal.readers.run(|reader| reader.since(&id, 3, identity));
        let _damaged = journal.readers.run(|reader| reader.page_before(&id, 20, identity));
        let _damaged = journal.readers.run(|reader| reader.page_after(&id, 0, identity));
        let _damaged = journal.readers.run(|reader| reader.end(&id, identity));
    }
}

fn check(home: &Path, bytes: &[u8]) {
    let path = home.join(FILE);
    std::fs::write(&path, bytes).unwrap();
    match Journal::open(home) {
        Ok(Opened { journal, set_aside: Some(aside), .. }) => {
            // SQLite may have updated counters in the header; everything else is unchanged. An old journal may have
            // been migrated before the damage was found.
            let kept = std::fs::read(aside).unwrap();
            if bytes.len() >= 100 && bytes[60..64] == FILES[0][60..64] {
                assert!(kept[100..] == bytes[100..], "set aside as it was");
            }
            assert!(kept.len() >= bytes.len());
            commit(
                &journal,
                1,
                vec![Change::Item(Box::new(message(0, 1, "a", ItemStatus::Create)))],
            );
            let page = read(&journal, |reader| reader.end(&session(), identity)).unwrap();
            assert_eq!(contents(&page), ["a"]);
        }
        Ok(Opened { journal, set_aside: None, .. }) => read_all(&journal),
        Err(JournalError::Newer { .. }) => assert_eq!(std::fs::read(&path).unwrap(), bytes),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_header_that_makes_no_sense_is_damage() {
    // The schema format, and the write version; the property below found both.
    for (at, byte) in [(47, 9), (18, 3)] {
        let home = tempfile::tempdir().unwrap();
        let mut bytes = FILES[0].clone();
        bytes[at] = byte;
        check(home.path(), &bytes);
        let aside = |name: &std::ffi::OsStr| name.to_string_lossy().contains("damaged");
        let mut names = std::fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name());
        assert!(names.any(|name| aside(&name)), "byte {at} was not noticed");
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn the_journal_may_hold_anything(bytes in liminal_hostile::file(FILES.clone())) {
        check(tempfile::tempdir().unwrap().path(), &bytes);
    }
}
