//! Dependencies: listed with a reason, used, from one source, under an allowed licence.
//!
//! `deny.toml` holds the rules; this reads the few lines it needs, because compiling `cargo-deny` would take longer
//! than all other tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{checkout, files};

fn read(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--offline"])
        .current_dir(checkout())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The first quoted text of each line between `begin` and the next line that starts with `end`.
fn entries(text: &str, begin: &str, end: char) -> Vec<String> {
    let list = text.lines().skip_while(|line| *line != begin).skip(1);
    list.take_while(|line| !line.starts_with(end))
        .filter_map(|line| line.split('"').nth(1).map(str::to_owned))
        .collect()
}

/// Names and reasons of the tables of `docs/dependencies.md`.
fn listed() -> BTreeMap<String, String> {
    let text = read("docs/dependencies.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.map(|row| row.split_once("` | ").unwrap())
        .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
        .collect()
}

/// The crates of the workspace, as cargo knows them.
fn our_crates() -> Vec<Value> {
    let text = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&text).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Name, version and licence of every package that is compiled here, including transitive ones.
fn compiled() -> BTreeSet<(String, String, String)> {
    let format = ["--format", "{p};{l}", "--prefix", "none"];
    let tree =
        cargo(&[&["tree", "--workspace", "--edges", "normal,build,dev"][..], &format].concat());
    tree.lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once(';'))
        .map(|(package, licence)| {
            let mut words = package.split(' ');
            let (name, version) = (words.next().unwrap(), words.next().unwrap());
            (name.to_owned(), version.trim_start_matches('v').to_owned(), licence.to_owned())
        })
        .collect()
}

#[test]
fn every_dependency_is_listed_with_its_reason() {
    let manifest = read("Cargo.toml");
    let named = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.contains("path = "))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.to_owned()));
    let tools: Value = serde_json::from_str(&read("package.json")).unwrap();
    assert!(tools.get("dependencies").is_none(), "the page uses no package");
    let tools = tools["devDependencies"].as_object().unwrap().keys().cloned();
    let wanted: BTreeSet<String> = named.chain(tools).collect();
    let listed = listed();
    assert_eq!(listed.keys().cloned().collect::<BTreeSet<_>>(), wanted, "docs/dependencies.md");
    assert!(listed.values().all(|reason| reason.len() > 5), "{listed:#?}");
}

#[test]
fn every_dependency_is_used_and_its_version_is_in_the_root() {
    let mut anywhere = BTreeSet::new();
    for package in our_crates() {
        let manifest = package["manifest_path"].as_str().unwrap();
        let directory = std::path::Path::new(manifest).parent().unwrap();
        let versions = fs::read_to_string(manifest).unwrap();
        let versions = versions.lines().filter(|line| line.contains("version = "));
        assert_eq!(versions.collect::<Vec<_>>(), [""; 0], "{manifest}: versions go into the root");
        let mut sources = vec![];
        files(directory, &["rs"], &mut sources);
        let uses = |name: &str, in_tests: bool| {
            let word = name.replace('-', "_");
            sources.iter().any(|path| {
                let inside = path.strip_prefix(directory).unwrap();
                let is_test = inside.starts_with("tests") || inside.ends_with("tests.rs");
                let text = fs::read_to_string(path).unwrap();
                let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                (in_tests || !is_test)
                    && code.any(|line| {
                        let mut words =
                            line.split(|each: char| !each.is_alphanumeric() && each != '_');
                        words.any(|each| each == word)
                    })
            })
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            assert!(uses(name, for_tests), "{} does not use {name}", package["name"]);
            anywhere.insert(name.to_owned());
        }
    }
    let unused: Vec<_> = listed().into_keys().filter(|name| !anywhere.contains(name)).collect();
    let tools: Value = serde_json::from_str(&read("package.json")).unwrap();
    let unused = unused.iter().filter(|name| tools["devDependencies"].get(name).is_none());
    assert_eq!(unused.collect::<Vec<_>>(), [""; 0], "no crate names these");
}

#[test]
fn everything_comes_from_one_source_and_is_known_by_its_hash() {
    let lock = read("Cargo.lock");
    for package in lock.split("[[package]]").skip(1) {
        let name = package.split('"').nth(1).unwrap();
        if name == "liminal" || name.starts_with("liminal-") {
            continue;
        }
        let from = package.lines().find_map(|line| line.strip_prefix("source = ")).unwrap();
        assert!(from.starts_with("\"registry+") && from.ends_with("/crates.io-index\""), "{name}");
        assert!(package.contains("\nchecksum = "), "{name} has no checksum");
    }
    let lock: Value = serde_json::from_str(&read("package-lock.json")).unwrap();
    for (name, package) in lock["packages"].as_object().unwrap() {
        let is_ours = name.is_empty();
        assert!(is_ours || package["integrity"].is_string(), "{name} has no hash");
        assert!(package.get("resolved").is_none(), "{name} names the registry it was fetched from");
    }
}

/// Whether an SPDX expression allows us a choice among `allowed`.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (permitted, rest) = either(&words, allowed);
    assert!(rest.is_empty(), "not understood: {expression}");
    permitted
}

fn either<'a>(words: &'a [&'a str], allowed: &[String]) -> (bool, &'a [&'a str]) {
    let (mut permitted, mut rest) = both(words, allowed);
    while let ["OR", more @ ..] = rest {
        let (other, after) = both(more, allowed);
        (permitted, rest) = (permitted | other, after);
    }
    (permitted, rest)
}

fn both<'a>(words: &'a [&'a str], allowed: &[String]) -> (bool, &'a [&'a str]) {
    let (mut permitted, mut rest) = one(words, allowed);
    while let ["AND", more @ ..] = rest {
        let (other, after) = one(more, allowed);
        (permitted, rest) = (permitted & other, after);
    }
    (permitted, rest)
}

fn one<'a>(words: &'a [&'a str], allowed: &[String]) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inside @ ..] => match either(inside, allowed) {
            (permitted, [")", rest @ ..]) => (permitted, rest),
            (_, rest) => (false, rest),
        },
        [name, "WITH", exception, rest @ ..] => {
            (allowed.contains(&format!("{name} WITH {exception}")), rest)
        }
        [name, rest @ ..] => (allowed.contains(&(*name).to_owned()), rest),
        [] => (false, words),
    }
}

#[test]
fn every_licence_is_one_we_may_pass_on() {
    let allowed = entries(&read("deny.toml"), "allow = [", ']');
    assert!(allowed.contains(&"MIT".to_owned()), "{allowed:?}");
    for (expression, permitted) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("GPL-3.0/MIT", true),
        ("MIT WITH Odd-exception", false),
        ("", false),
    ] {
        assert_eq!(permits(expression, &allowed), permitted, "{expression}");
    }
    let compiled = compiled();
    assert!(compiled.len() > 200, "{} packages were found", compiled.len());
    let refused: Vec<_> =
        compiled.iter().filter(|(_, _, licence)| !permits(licence, &allowed)).collect();
    assert!(refused.is_empty(), "deny.toml does not allow the licences of {refused:#?}");
    let tools: Value = serde_json::from_str(&read("package-lock.json")).unwrap();
    for (name, package) in tools["packages"].as_object().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(name.is_empty() || permits(licence, &allowed), "{name} is under {licence:?}");
    }
}

#[test]
fn no_package_is_there_twice_unless_we_know_why() {
    let skipped: BTreeSet<String> =
        entries(&read("deny.toml"), "skip = [", ']').into_iter().collect();
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version, _) in compiled() {
        versions.entry(name).or_default().insert(version);
    }
    // As deny.toml names it: up to the first number that is not zero.
    let short = |version: &str| {
        let numbers: Vec<&str> = version.split('.').collect();
        let known = numbers.iter().position(|number| *number != "0").unwrap_or(2) + 1;
        numbers[..known].join(".")
    };
    let twice: BTreeSet<String> = versions
        .iter()
        .flat_map(|(name, versions)| {
            // All but the newest, sorted by number: as text, 10 would come before 9.
            let mut sorted: Vec<&String> = versions.iter().collect();
            let number = |version: &str| -> Vec<u32> {
                version.split(['.', '+', '-']).filter_map(|part| part.parse().ok()).collect()
            };
            sorted.sort_by_key(|version| number(version));
            sorted.pop();
            sorted.into_iter().map(move |version| format!("{name}@{}", short(version)))
        })
        .collect();
    assert_eq!(twice, skipped, "the packages compiled twice, and those deny.toml skips");
}
