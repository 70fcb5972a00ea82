//! Whatever path an agent names, nothing outside its project is read or changed, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Extent, ProjectFiles};

/// What no agent may ever read.
const SECRET: &str = "not for agents";

#[derive(Debug, Clone)]
enum Ask {
    Read(String, Extent),
    Write(String),
    Directory(String),
}

/// `home/project` with our data directory in it, a secret beside it, and links in every direction.
fn home(home: &Path) -> ProjectFiles {
    let project = home.join("project");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir(project.join("data")).unwrap();
    for secret in [home.join("secret"), project.join("data/token")] {
        fs::write(secret, SECRET).unwrap();
    }
    fs::write(project.join("text"), "one\ntwo\n").unwrap();
    fs::write(project.join("bytes"), b"\xFF\xFE\n\xE2\x80").unwrap();
    for (link, to) in [
        ("up", ".."),
        ("away", "../secret"),
        ("round", "round"),
        ("nowhere", "../new"),
        ("ours", "data"),
        ("src/back", "../src"),
    ] {
        symlink(to, project.join(link)).unwrap();
    }
    let made = std::process::Command::new("mkfifo").arg(project.join("pipe")).status().unwrap();
    assert!(made.success());
    ProjectFiles::open(&project, &project.join("data")).unwrap()
}

/// A path; `HOME` stands for where all this is.
fn path() -> impl Strategy<Value = String> {
    let start = ["", "", "HOME/project/", "HOME/project/", "HOME/", "/", "//", "HOME/project/../"];
    let names = [
        "..",
        ".",
        "",
        "src",
        "text",
        "bytes",
        "new",
        "up",
        "away",
        "round",
        "nowhere",
        "ours",
        "data",
        "token",
        "secret",
        "project",
        "back",
        "pipe",
        "\0",
        "a\0b",
        " ",
        "~",
        "*",
        "\n",
        "\u{202E}é",
    ];
    let name = prop_oneof![
        20 => select(names.to_vec()).prop_map(str::to_owned),
        1 => Just("n".repeat(300)),
        1 => any::<String>(),
    ];
    (select(start.to_vec()), vec(name, 0..6))
        .prop_map(|(start, names)| start.to_owned() + &names.join("/"))
}

fn ask() -> impl Strategy<Value = Ask> {
    let extent = (any::<Option<u32>>(), any::<Option<u32>>());
    prop_oneof![
        (path(), extent).prop_map(|(path, (line, limit))| Ask::Read(path, Extent { line, limit })),
        path().prop_map(Ask::Write),
        path().prop_map(Ask::Directory),
    ]
}

/// All that is below a directory, links not followed.
fn tree(directory: &Path, all: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            tree(&entry.path(), all);
        }
        all.insert(entry.path());
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn an_agent_may_name_any_path(asks in vec(ask(), 1..12)) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let files = home(&root);
        let at = |path: &str| PathBuf::from(path.replace("HOME", &root.display().to_string()));
        for ask in &asks {
            match ask {
                Ask::Read(path, extent) => {
                    if let Ok(text) = files.read(&at(path), *extent) {
                        prop_assert!(!text.contains(SECRET), "read: {path:?}");
                    }
                }
                Ask::Write(path) => {
                    let _refused_or_not = files.write(&at(path), "the agent's");
                }
                Ask::Directory(path) => {
                    if let Ok(found) = files.directory(&at(path)) {
                        let found = found.canonicalize().unwrap();
                        prop_assert!(found.starts_with(root.join("project")), "{path:?}");
                        prop_assert!(!found.starts_with(root.join("project/data")), "{path:?}");
                    }
                }
            }
        }
        let mut left = BTreeSet::new();
        tree(&root, &mut left);
        let project = root.join("project");
        let outside: Vec<_> = left.iter().filter(|path| !path.starts_with(&project)).collect();
        prop_assert_eq!(outside, [&root.join("secret")]);
        let ours: Vec<_> = left.iter().filter(|path| path.starts_with(project.join("data"))).collect();
        prop_assert_eq!(ours, [&project.join("data"), &project.join("data/token")]);
        for secret in [root.join("secret"), project.join("data/token")] {
            prop_assert_eq!(fs::read_to_string(secret).unwrap(), SECRET);
        }
        let is_ours = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "tmp");
        prop_assert_eq!(left.iter().find(is_ours), None, "left behind");
    }
}
