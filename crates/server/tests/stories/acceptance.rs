//! `docs/acceptance.md` is complete and correct: it has every case once, every test it names exists, and a test that
//! several rows name says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{checkout, files};

type Tests = BTreeMap<PathBuf, BTreeSet<String>>;

/// Every case of the five documents and of release 2. `000/TC- 1.1ab` stands for `000/TC-1.1a` and `000/TC-1.1b`.
const CASES: &str = "
000/AC- 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4 2.4b 2.5 3.1 3.2 3.2b 3.3 3.4 3.5 3.6 3.7 4.1 4.2 4.3 4.4 4.5 4.6 4.7 5.1 5.2
000/AC- 5.3 5.4 5.5 5.6
000/TC- 1.1ab 1.2abcd 1.3ab 1.4ab 2.1abc 2.2abcdef 2.3ab 2.4abc 2.5ab 3.1ab 3.2ab 3.3abc 3.4a 3.5ab 3.6abc 3.7abc
000/TC- 4.1ab 4.2ab 4.3ab 4.4abc 4.5ab 4.6ab 4.7a 5.1ab 5.2abcd 5.3a 5.4a 5.5ab 5.6ab
000/test- 1 2 3 4
000/fault- 1 2 3 4 5 6
000/NFR- 1 2 3 4 5
000/threat- 1 2 3 4 5
000/env- LIMINAL_PORT LIMINAL_HOST LIMINAL_DATA_DIR CLAUDE_ACP_CMD CODEX_ACP_CMD ACP_START_TIMEOUT_MS
000/env- ACP_PROMPT_TIMEOUT_MS
000/post- 1 2 3 4 5 6 7 8
000/error- INVALID_MESSAGE PROJECT_PATH_INVALID PROJECT_DUPLICATE SESSION_NOT_FOUND AGENT_UNAVAILABLE
000/error- AGENT_PROTOCOL_ERROR INTERNAL_ERROR
001/ 1 2 3 4 5 6 7 8 9 10 11 12 13
001/AC- 5.1 5.3 5.5
001/TC- 5.1b
002/AC- 1.1 1.2 1.3 2.1 2.2 3.1 3.2 3.3 3.4 4.1 4.2 5.1 5.2 5.3 5.4 6.1 6.2 6.3 6.4 7.1 7.2 7.3 7.4 8.1 8.2 8.3 2.1a
002/TC- 1.1abcdef 1.2abc 1.3ab 2.1abc 2.2ab 3.1abc 3.2abc 3.3abcdefg 3.4abc 4.1abc 4.2abc 5.1abcd 5.2abcdef 5.3ab
002/TC- 5.4abcdef 6.1abcdef 6.2abcd 6.3ab 6.4abc 7.1abc 7.2abc 7.3ab 7.4a 8.1abc 8.2ab 8.3ab
002/route- 1 2 3 4 5 6 7
002/NFR- 1 2 3 4 5 6 7 8 9 10
002/error- UNSUPPORTED_CLI_TYPE SESSION_NOT_FOUND PROJECT_ID_REQUIRED
003/ 1 2 3 4 5 6 7 8 9 10 11 12 13 14
004/AC- 1.1 1.2 1.3 2.1 2.2 3.1 3.2 3.3 3.4 4.1 4.2 5.1 5.2 5.3 5.4 6.1 6.2 6.3 6.4 7.1 7.2 7.3 7.4 8.1 8.2 8.3 5.4f
004/AC- 6.1ae 6.2cd 6.4abc
004/NFR- 1 2 3 4 5
004/error- UNSUPPORTED_CLI_TYPE SESSION_NOT_FOUND PROCESS_CRASH PROTOCOL_ERROR INVALID_STREAM_EVENT INTERRUPT_FAILED
004/error- SESSION_CREATE_FAILED
house/ 0 1 2 3 4 5 6 7 8 9 10
words/ 1 2 3 4 5 6
hardening/ 1 2 3 4 5 6 7 8 9 10 10a
speed/ 1 2 3 4 5 6 7 8 8a
debts/killed- 1 2 3
debts/at-once- 1 2 3
debts/ 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
debts/found- 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
debts/found- 36 37 38 39 40 41 42
controls/ 1 2 3 4 5 6 7 8 9 10 11
composer/ 1abcdef 2 3 3abcdef 4 4a 5 5abcdefghi 6 7 8 9
changes/ 1 2 3 4 5 6 6ab 7 7a 8 9
R2/acts- 1 1a 2 2a 3 4 5 6 6a 7 7a 8 9
now/ 1 2 3 4 5 6 7 8 9
page/ 1 2 3 4 5 6 7 8 9 10 11 12 12a 13 14 15 16 17 18 19 20 21 22 23
proof/ 1 2 3 4 5 6 7 8 9
027/OUT- 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
";

fn cases() -> BTreeSet<String> {
    let mut cases = BTreeSet::new();
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let (kind, numbers) = line.split_once(' ').unwrap();
        for number in numbers.split(' ') {
            let letters = number.trim_start_matches(|each: char| !each.is_ascii_lowercase());
            let number = &number[..number.len() - letters.len()];
            if letters.is_empty() {
                cases.insert(format!("{kind}{number}"));
            }
            cases.extend(letters.chars().map(|letter| format!("{kind}{number}{letter}")));
        }
    }
    cases
}

/// The sections of the document, and among them the one with the tests that several rows name.
fn sections() -> (Vec<String>, String) {
    let text = fs::read_to_string(checkout().join("docs/acceptance.md")).unwrap();
    let all = text.split("\n## ").map(str::to_owned);
    let (mut shared, others): (Vec<_>, Vec<_>) =
        all.partition(|section| section.starts_with("Tests that show more than one row\n"));
    assert_eq!(shared.len(), 1, "docs/acceptance.md has one table of tests that several rows name");
    (others, shared.remove(0))
}

/// The rows of a table without the backtick that each begins with.
fn table(section: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split_once("` | ").unwrap())
}

/// A row of the tables: its case and the text about it.
fn rows() -> Vec<(String, String)> {
    let (sections, _) = sections();
    let rows = sections.iter().flat_map(|section| table(section));
    rows.map(|(case, rest)| {
        let (_what, shown) = rest.split_once(" | ").unwrap();
        (case.to_owned(), shown.to_owned())
    })
    .collect()
}

/// The text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The names of the tests, stories or bench rows of a file.
fn tests_of(path: &Path, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_test = false;
    let bench = path.parent().is_some_and(|parent| parent.ends_with("bench/rows"));
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((before, name)) = line.split_once("fn ")
            && (before.is_empty() || before == "async ")
        {
            if std::mem::take(&mut is_test) {
                let end = name.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap();
                found.insert(name[..end].to_owned());
            }
        } else if let Some(title) = line.strip_prefix("test(\"") {
            found.extend(title.split_once("\",").map(|(title, _)| title.to_owned()));
        } else if let Some(title) = line.strip_prefix("test(`") {
            found.extend(title.split_once("`,").map(|(title, _)| title.to_owned()));
        } else if bench && let Some((_, name)) = line.split_once("name: \"") {
            found.extend(name.split_once("\",").map(|(name, _)| name.to_owned()));
        }
    }
    found
}

/// Every file that has tests, and their names.
fn tests() -> Tests {
    let mut found = vec![];
    files(&checkout(), &["rs", "js", "mjs"], &mut found);
    found
        .into_iter()
        .map(|path| {
            let tests = tests_of(&path, &fs::read_to_string(&path).unwrap());
            (path, tests)
        })
        .filter(|(_, tests)| !tests.is_empty())
        .collect()
}

/// The test that the document writes as `file::its name`.
fn named<'a>(tests: &'a Tests, file: &str, test: &str) -> Result<(&'a Path, &'a str), String> {
    let end = format!("/{file}");
    let at: Vec<_> =
        tests.iter().filter(|(path, _)| path.to_string_lossy().ends_with(&end)).collect();
    match at[..] {
        [(path, tests)] => match tests.get(test) {
            Some(test) => Ok((path.as_path(), test.as_str())),
            None => Err(format!("{file} has no test {test:?}")),
        },
        [] => Err(format!("there is no file {file} with tests")),
        _ => Err(format!("{file} could be any of {}", at.len())),
    }
}

#[test]
fn every_case_is_there_once() {
    let mut listed = BTreeSet::new();
    let twice: Vec<_> =
        rows().into_iter().map(|row| row.0).filter(|case| !listed.insert(case.clone())).collect();
    assert!(twice.is_empty(), "docs/acceptance.md has these twice: {twice:#?}");
    let cases = cases();
    let missing: Vec<_> = cases.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&cases).collect();
    assert!(missing.is_empty(), "docs/acceptance.md lacks these: {missing:#?}");
    assert!(
        unknown.is_empty(),
        "docs/acceptance.md has these, which no document has: {unknown:#?}"
    );
}

#[test]
fn every_case_is_shown_by_tests_that_exist_or_says_why_not() {
    let (rows, tests) = (rows(), tests());
    assert!(tests.values().map(BTreeSet::len).sum::<usize>() > 500, "the tests were not found");
    let known: BTreeSet<_> = rows.iter().map(|(case, _)| case.as_str()).collect();
    let mut wrong = vec![];
    for (case, shown) in &rows {
        let says_why = ["Differently: ", "Not shown: "].iter().any(|word| shown.starts_with(word));
        let mut holds = says_why && shown.len() > 50;
        for quoted in quoted(shown) {
            if let Some((file, test)) = quoted.split_once("::") {
                match named(&tests, file, test) {
                    Ok(_) => holds = true,
                    Err(why) => wrong.push(format!("{case}: {why}")),
                }
            } else if known.contains(quoted) && quoted != case {
                holds = true;
            }
        }
        if shown.starts_with("Its cases below.") {
            let of_it = case.replace("/AC-", "/TC-");
            holds = known.iter().any(|case| case.len() > of_it.len() && case.starts_with(&of_it));
        }
        if !holds {
            wrong.push(format!("{case}: nothing shows it, and no reason is given"));
        }
    }
    assert!(wrong.is_empty(), "docs/acceptance.md is wrong:\n  {}", wrong.join("\n  "));
}

#[test]
fn a_test_that_several_rows_name_says_why() {
    let tests = tests();
    let mut named_by: BTreeMap<(&Path, &str), BTreeSet<String>> = BTreeMap::new();
    for (case, shown) in rows() {
        for (file, test) in quoted(&shown).filter_map(|quoted| quoted.split_once("::")) {
            if let Ok(test) = named(&tests, file, test) {
                named_by.entry(test).or_default().insert(case.clone());
            }
        }
    }
    named_by.retain(|_, cases| cases.len() > 1);
    let mut wrong = vec![];
    let (_, shared) = sections();
    for (test, why) in table(&shared) {
        let (file, name) = test.split_once("::").unwrap();
        match named(&tests, file, name) {
            Err(why) => wrong.push(why),
            Ok(found) if named_by.remove(&found).is_none() => {
                wrong.push(format!("{test} stands there twice, or is named by one row only"));
            }
            Ok(_) if why.len() < 40 => wrong.push(format!("{test} has no reason")),
            Ok(_) => {}
        }
    }
    for ((path, test), cases) in named_by {
        wrong.push(format!("{}::{test} is not there: {cases:?} name it", path.display()));
    }
    assert!(
        wrong.is_empty(),
        "\"Tests that show more than one row\" in docs/acceptance.md is wrong:\n  {}",
        wrong.join("\n  ")
    );
}

#[test]
fn nobody_speaks_the_family_of_messages_that_was_replaced() {
    let mut found = vec![];
    files(&checkout().join("client"), &["js", "ts"], &mut found);
    files(&checkout().join("crates/contract/src"), &["rs"], &mut found);
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        for old in ["update", "chunk", "complete", "cancelled", "hello"] {
            let quoted = format!("\"session:{old}\"");
            assert!(!text.contains(&quoted), "{} says {quoted}", path.display());
        }
    }
}

#[test]
fn only_providers_know_what_an_agent_speaks() {
    let server = checkout().join("crates/server/src");
    let mut found = vec![];
    files(&server, &["rs"], &mut found);
    assert!(found.len() > 30, "the files were not found");
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("agent_client_protocol"), "{} speaks ACP", path.display());
        let inside = path.strip_prefix(&server).unwrap();
        if ["http", "journal", "sessions", "ws"].iter().any(|part| inside.starts_with(part)) {
            for wire in ["agents::acp", "agents::claude", "acp::", "claude::"] {
                assert!(!text.contains(wire), "{} reaches into {wire}", path.display());
            }
        }
    }
}
