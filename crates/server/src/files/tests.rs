use std::fs;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

use liminal_contract::FileKind;

use super::*;

fn workspace(names: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for name in names {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    home
}

fn paths(found: &Found) -> Vec<&str> {
    found.entries.iter().map(|entry| entry.path.as_str()).collect()
}

#[test]
fn the_best_match_comes_first_and_says_which_letters_match() {
    let home = workspace(&["src/journal/write.rs", "src/nightly/job_writer.rs", "readme.md"]);
    let found = Files::default().find(home.path(), "jowr", 10);
    assert_eq!(paths(&found), ["src/nightly/job_writer.rs", "src/journal/write.rs"]);
    assert_eq!(found.entries[1].matched, [4, 5, 12, 13]);
    assert!(!found.more);
}

#[test]
fn an_empty_query_lists_the_top() {
    let home = workspace(&["src/main.rs", "Cargo.toml"]);
    long_ago(home.path(), &["src/main.rs", "Cargo.toml"]);
    let found = Files::default().find(home.path(), "", 10);
    let top = [("src", FileKind::Directory), ("Cargo.toml", FileKind::File)];
    assert!(found.entries.iter().map(|entry| (entry.path.as_str(), entry.kind)).eq(top));
}

#[test]
fn files_that_changed_lately_come_first() {
    let home = workspace(&["a/old.rs", "b/deep/new.rs", "b/newer.rs", "top.rs"]);
    long_ago(home.path(), &["a/old.rs", "top.rs"]);
    let minute = Duration::from_secs(60);
    changed_at(home.path(), "b/deep/new.rs", SystemTime::now() - minute);
    let files = Files::default();
    files.walk(home.path());
    let found = files.find(home.path(), "", 10);
    assert_eq!(paths(&found), ["b/newer.rs", "b/deep/new.rs", "a", "b", "top.rs"]);
    assert_eq!(paths(&files.find(home.path(), "rs", 2)), ["b/newer.rs", "b/deep/new.rs"]);
    assert_eq!(paths(&files.find(home.path(), "old", 1)), ["a/old.rs"], "a better match wins");
}

fn changed_at(root: &Path, name: &str, at: SystemTime) {
    fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(at).unwrap();
}

fn long_ago(root: &Path, names: &[&str]) {
    names.iter().for_each(|name| changed_at(root, name, SystemTime::UNIX_EPOCH));
}

#[test]
fn ignored_files_and_links_that_lead_out_are_not_listed() {
    let home = workspace(&["kept.rs", "target/built.rs", ".git/config.rs", ".github/run.rs"]);
    let outside = workspace(&["secret.rs"]);
    fs::write(home.path().join(".gitignore"), "target\n").unwrap();
    symlink(outside.path(), home.path().join("out.rs")).unwrap();
    symlink("missing.rs", home.path().join("dead.rs")).unwrap();
    symlink("kept.rs", home.path().join("alias.rs")).unwrap();
    symlink(".", home.path().join("loop.rs")).unwrap();
    let found = Files::default().find(home.path(), ".rs", 10);
    let mut paths = paths(&found);
    paths.sort_unstable();
    assert_eq!(paths, [".github/run.rs", "alias.rs", "kept.rs", "loop.rs"]);
}

#[test]
fn a_new_file_is_found_as_soon_as_the_walk_is_no_longer_fresh() {
    let home = workspace(&["old.rs"]);
    let files = Files::default();
    files.walk(home.path());
    fs::write(home.path().join("new.rs"), "").unwrap();
    let age = |kept: &mut Kept, took| {
        kept.walked_at -= FRESH;
        kept.took = took;
    };
    age(&mut files.lock()[0], QUICK);
    assert_eq!(paths(&files.find(home.path(), "rs", 10)), ["old.rs"], "a slow walk is not awaited");
    age(&mut files.lock()[0], Duration::ZERO);
    assert_eq!(paths(&files.find(home.path(), "rs", 10)), ["new.rs", "old.rs"]);
}

#[test]
fn names_with_spaces_and_quotes_are_found_and_the_rest_is_counted() {
    let home = workspace(&["my \"best\" notes.md", "my notes.md", "no\nline.md"]);
    let found = Files::default().find(home.path(), "notes", 1);
    assert_eq!((paths(&found), found.more), (vec!["my notes.md"], true));
    assert_eq!(Files::default().find(home.path(), "line", 9).entries, []);
}

#[test]
fn few_workspaces_are_kept() {
    let files = Files::default();
    let homes: Vec<_> = (0..=MOST_KEPT).map(|_| workspace(&["a"])).collect();
    homes.iter().for_each(|home| drop(files.find(home.path(), "a", 1)));
    assert!(files.kept(homes[0].path()).is_none());
    assert!(files.kept(homes[1].path()).is_some());
}

#[tokio::test(start_paused = true)]
async fn searches_in_a_workspace_take_turns_and_none_waits_longer_than_the_limit() {
    let home = workspace(&["main.rs"]);
    let files = Files::default();
    let find = || files.find_in_time(home.path().to_owned(), "main".into(), 10);
    let hangs = files.searching.turn(home.path()).await;
    let waited_from = tokio::time::Instant::now();
    assert!(find().await.is_none());
    assert_eq!(waited_from.elapsed(), LONGEST_WALK);
    drop(hangs);
    assert_eq!(paths(&find().await.unwrap()), ["main.rs"]);
}
