//! Rules of this code base that tests enforce.

use std::fs;
use std::path::{Path, PathBuf};

use liminal_contract::ErrorCode;

use crate::support::{checkout, files};

/// Longer files are hard to keep in mind.
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
        "files over {MOST_LINES} lines:\n{}\nSplit each by ownership: \
         `foo.rs` keeps the public type, its parts go into `foo/`.",
        long.join("\n")
    );
}

/// Columns of Rust, JavaScript and CSS: what stands further right is read by nobody.
const WIDEST_CODE: usize = 120;

/// Columns of prose in Markdown.
const WIDEST_PROSE: usize = 100;

#[test]
fn no_line_is_wider_than_a_window() {
    let root = checkout();
    let mut found = vec![];
    files(&root, &["rs", "js", "mjs", "css", "md"], &mut found);
    // What the demo says is shown as it is written, one line a paragraph.
    found.retain(|path| !path.to_string_lossy().contains("/demo/texts/"));
    let mut wide = vec![];
    for path in &found {
        let text = fs::read_to_string(path).unwrap();
        let is_prose = path.extension().is_some_and(|end| end == "md");
        let mut in_fence = false;
        for (number, line) in text.lines().enumerate() {
            in_fence ^= is_prose && line.trim_start().starts_with("```");
            // These can't be wrapped.
            let is_fixed =
                is_prose && (in_fence || line.starts_with('|') || line.starts_with("!["));
            let most = if is_prose { WIDEST_PROSE } else { WIDEST_CODE };
            if line.chars().count() > most && !is_fixed {
                wide.push(format!(
                    "{}:{}",
                    path.strip_prefix(&root).unwrap().display(),
                    number + 1
                ));
            }
        }
    }
    assert!(
        wide.is_empty(),
        "{} lines are wider than {WIDEST_CODE} columns ({WIDEST_PROSE} in Markdown):\n{}",
        wide.len(),
        wide.join("\n")
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
        "docs/errors.md and ErrorCode differ. The table has one row per code, \
         in the order of ErrorCode::ALL: | `CODE` | status | …"
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
        "these files lack a `//!` that says what they own and what they don't: {silent:#?}"
    );
}

/// Whether a file or directory of the checkout has this path, or a path that ends with it.
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
    assert!(gone.is_empty(), "ARCHITECTURE.md names paths that don't exist: {gone:#?}");

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

#[test]
fn the_index_of_decisions_has_each_of_them_once() {
    let directory = checkout().join("docs/decisions");
    let index = fs::read_to_string(directory.join("README.md")).unwrap();
    let mut linked: Vec<&str> =
        index.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let mut kept: Vec<String> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    linked.sort_unstable();
    kept.sort_unstable();
    assert_eq!(linked, kept);
}

#[test]
fn the_fuzz_script_runs_every_property() {
    let root = checkout();
    let script = fs::read_to_string(root.join("scripts/fuzz")).unwrap();
    let lines = script.lines().filter(|line| line.starts_with("fuzz liminal"));
    let mut listed: Vec<&str> = lines.filter_map(|line| line.rsplit([' ', ':']).next()).collect();
    let mut found = vec![];
    files(&root.join("crates"), &["rs"], &mut found);
    let texts = found.iter().map(|path| fs::read_to_string(path).unwrap());
    let mut properties: Vec<String> = texts.flat_map(|text| properties_of(&text)).collect();
    listed.sort_unstable();
    properties.sort_unstable();
    assert_eq!(listed, properties, "scripts/fuzz and the property tests of the crates differ");
}

/// The names of the tests in the blocks of `proptest!`.
fn properties_of(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut end = None;
    for line in text.lines() {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        if words.ends_with("proptest! {") {
            end = Some(indent);
        } else if words == "}" && end == Some(indent) {
            end = None;
        } else if end.is_some()
            && let Some(name) = words.strip_prefix("fn ")
        {
            found.extend(name.split('(').next().map(str::to_owned));
        }
    }
    found
}
