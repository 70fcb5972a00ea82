//! Whatever path an agent sends, nothing outside its project is read or changed, and no temporary file remains.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Extent, ProjectFiles};

/// The content of files that no agent may read.
const SECRET: &str = "not for agents";

#[derive(Debug, Clone)]
enum FileRequest {
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

/// A path; `HOME` stands for the test's directory.
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

fn ask() -> impl Strategy<Value = FileRequest> {
    let extent = (any::<Option<u32>>(), any::<Option<u32>>());
    prop_oneof![
        (path(), extent)
            .prop_map(|(path, (line, limit))| FileRequest::Read(path, Extent { line, limit })),
        path().prop_map(FileRequest::Write),
        path().prop_map(FileRequest::Directory),
    ]
}

/// Everything below a directory; links are not followed.
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
                FileRequest::Read(path, extent) => {
                    if let Ok(text) = files.read(&at(path), *extent) {
                        prop_assert!(!text.contains(SECRET), "read: {path:?}");
                    }
                }
                FileRequest::Write(path) => {
                    let _refused_or_not = files.write(&at(path), "the agent's");
                }
                FileRequest::Directory(path) => {
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

/// Calls this while a directory of the project and a link keep swapping places.
#[cfg(target_os = "linux")]
fn while_exchanged(directory: &Path, link: &Path, mut call: impl FnMut()) {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, directory, CWD, link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..500 {
            call();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_link_that_takes_the_place_of_a_directory_meanwhile_leads_nowhere() {
    for (to, secret) in [("..", "secret"), ("data", "token")] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let files = home(&root);
        let project = root.join("project");
        fs::write(project.join("src").join(secret), "the project's").unwrap();
        symlink(to, project.join("turn")).unwrap();
        let asked = project.join("src").join(secret);
        while_exchanged(&project.join("src"), &project.join("turn"), || {
            if let Ok(text) = files.read(&asked, Extent::default()) {
                assert_ne!(text, SECRET, "through {to}");
            }
            let _refused_or_not = files.write(&asked, "the agent's");
            let _refused_or_not = files.write(&project.join("src/new"), "the agent's");
        });
        for secret in [root.join("secret"), project.join("data/token")] {
            assert_eq!(fs::read_to_string(secret).unwrap(), SECRET);
        }
        assert!(!root.join("new").exists() && !project.join("data/new").exists());
    }
}
