//! Rules of this code base that a reader can rely on, because a test does.

use std::fs;
use std::path::{Path, PathBuf};

use liminal_contract::ErrorCode;

use crate::support::{checkout, files};

/// Longer files are hard to hold in one's head.
const MOST_LINES: usize = 500;

#[test]
fn no_file_is_longer_than_one_can_hold_in_ones_head() {
    let root = checkout();
    let mut found = vec![];
    files(&root, &["rs", "js", "mjs", "css"], &mut found);
    assert!(found.len() > 50, "the files were not found");
    let long: Vec<String> = found
        .iter()
        .filter_map(|path| {
            let lines = fs::read_to_string(path).unwrap().lines().count();
            (lines > MOST_LINES)
                .then(|| format!("  {} has {lines}", path.strip_prefix(&root).unwrap().display()))
        })
        .collect();
    assert!(
        long.is_empty(),
        "files over {MOST_LINES} lines:\n{}\nSplit each by what its parts own: `foo.rs` keeps the public type, its parts go into `foo/`.",
        long.join("\n")
    );
}

#[test]
fn docs_errors_lists_every_code_with_its_status() {
    let path = checkout().join("docs/errors.md");
    let listed: Vec<(String, String)> = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split_once("` | "))
        .map(|(code, rest)| (code.to_owned(), rest.split(" | ").next().unwrap().to_owned()))
        .collect();
    let codes: Vec<(String, String)> = ErrorCode::ALL
        .iter()
        .map(|code| {
            (
                serde_json::to_value(code).unwrap().as_str().unwrap().to_owned(),
                code.http_status().to_string(),
            )
        })
        .collect();
    assert_eq!(
        listed, codes,
        "docs/errors.md and ErrorCode differ. The table has one row per code, in the order of ErrorCode::ALL: | `CODE` | status | …"
    );
}

#[test]
fn every_module_says_what_it_owns() {
    let root = checkout();
    let mut found = vec![];
    files(&root.join("crates"), &["rs"], &mut found);
    let silent: Vec<_> = found
        .iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .filter(|path| !fs::read_to_string(path).unwrap().trim_start().starts_with("//!"))
        .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    assert!(
        silent.is_empty(),
        "these begin without `//!` (what they own, what they deliberately do not): {silent:#?}"
    );
}

/// Whether a file or directory of the checkout has this path, or one that ends with it.
fn is_there(root: &Path, named: &str, known: &[PathBuf]) -> bool {
    root.join(named).exists() || known.iter().any(|path| path.ends_with(named))
}

#[test]
fn the_map_and_the_links_lead_to_places_that_exist() {
    let root = checkout();
    let mut known = vec![];
    files(&root, &["rs", "js", "mjs", "css", "md", "ts"], &mut known);
    let folders: Vec<PathBuf> =
        known.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect();
    known.extend(folders);

    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let quoted = map.split('`').skip(1).step_by(2).filter(|quoted| !quoted.contains([' ', '\n']));
    let places: Vec<&str> = quoted
        .filter(|quoted| {
            quoted.contains('/')
                || [".rs", ".js", ".md", ".ts"].iter().any(|end| quoted.ends_with(end))
        })
        .collect();
    assert!(places.len() > 30, "the places were not found: {places:?}");
    let gone: Vec<_> = places.iter().filter(|place| !is_there(&root, place, &known)).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md names what is not there: {gone:#?}");

    let documents = known.iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    for document in documents {
        let text = fs::read_to_string(document).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let target = document.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(target.exists(), "{} links to {link}", document.display());
        }
    }
}
