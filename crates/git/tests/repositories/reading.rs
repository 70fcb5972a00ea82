//! Reading real repositories in every state that users have them in.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use liminal_git::{Content, Counts, GitError, Kind, Repository};

use crate::scratch::{Scratch, fingerprint};

fn text(content: &str) -> Content {
    Content::Text(content.to_owned())
}

#[tokio::test]
async fn a_directory_without_a_repository_says_so() {
    let plain = tempfile::tempdir().unwrap();
    assert_eq!(Repository::at(plain.path()).await.unwrap_err(), GitError::NotARepository);
    let bare = Scratch(tempfile::tempdir().unwrap());
    bare.git(&["init", "--quiet", "--bare"]);
    assert_eq!(Repository::at(&bare.path()).await.unwrap_err(), GitError::NotARepository);
}

#[tokio::test]
async fn every_kind_of_change_is_listed_with_its_lines() {
    let scratch = Scratch::new(&[]);
    scratch.write("changed.txt", "a\nb\nc\n");
    scratch.write("gone.txt", "x\n");
    scratch.write("moved.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    scratch.write("same.txt", "same\n");
    scratch.commit("first");
    scratch.write("changed.txt", "a\nB\nc\nd\n");
    std::fs::remove_file(scratch.path().join("gone.txt")).unwrap();
    scratch.git(&["mv", "moved.txt", "sub dir.txt"]);
    scratch.write("staged.txt", "s\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.write("new/un tracked.txt", "1\n2");
    scratch.write(".gitignore", "*.log\n");
    scratch.write("noise.log", "ignored\n");
    scratch.write("picture.bin", b"\x00\x01");
    let from = Kind::Renamed { from: liminal_git::RepoPath::new(b"moved.txt") };
    let expected = [
        (".gitignore", Kind::Untracked, Some((1, 0))),
        ("changed.txt", Kind::Modified, Some((2, 1))),
        ("gone.txt", Kind::Deleted, Some((0, 1))),
        ("new/un tracked.txt", Kind::Untracked, Some((2, 0))),
        ("picture.bin", Kind::Untracked, None),
        ("staged.txt", Kind::Added, Some((1, 0))),
        ("sub dir.txt", from, Some((0, 0))),
    ];
    assert_eq!(scratch.listed().await, expected.map(|(p, k, c)| (p.to_owned(), k, c)));
}

#[tokio::test]
async fn a_file_that_was_moved_without_telling_git_is_renamed() {
    let scratch = Scratch::new(&[]);
    for (path, content) in
        [("one.txt", "1\n2\n"), ("a/same.txt", "s\n"), ("b/same.txt", "s\n"), ("empty", "")]
    {
        scratch.write(path, content);
    }
    scratch.write("picture.bin", b"\x00\x01");
    scratch.commit("first");
    let moves = [
        ("one.txt", "two \"2\".txt"),
        ("b/same.txt", "c/same.txt"),
        ("a/same.txt", "other.txt"),
        ("picture.bin", "photo.bin"),
        ("empty", "nothing"),
    ];
    for (from, to) in moves {
        std::fs::create_dir_all(scratch.path().join("c")).unwrap();
        std::fs::rename(scratch.path().join(from), scratch.path().join(to)).unwrap();
    }
    scratch.write("more.txt", "1\n2\n");
    let from = |path: &[u8]| Kind::Renamed { from: liminal_git::RepoPath::new(path) };
    let expected = [
        ("c/same.txt", from(b"a/same.txt"), Some((0, 0))),
        ("empty", Kind::Deleted, Some((0, 0))),
        ("more.txt", from(b"one.txt"), Some((0, 0))),
        ("nothing", Kind::Untracked, Some((0, 0))),
        ("other.txt", from(b"b/same.txt"), Some((0, 0))),
        ("photo.bin", from(b"picture.bin"), None),
        ("two \"2\".txt", Kind::Untracked, Some((2, 0))),
    ];
    assert_eq!(scratch.listed().await, expected.map(|(p, k, c)| (p.to_owned(), k, c)));
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let moved = repository.uncommitted().await.unwrap().files.remove(0);
    let versions = repository.versions(&moved).await.unwrap();
    assert_eq!((versions.old, versions.new), (text("s\n"), text("s\n")));
}

#[tokio::test]
async fn a_file_that_was_only_touched_has_not_changed() {
    let scratch = Scratch::with_commit();
    scratch.write("one.txt", "a\nb\nc\n");
    assert_eq!(scratch.listed().await, []);
}

#[tokio::test]
async fn both_versions_of_a_file_can_be_read() {
    let scratch = Scratch::with_commit();
    scratch.write("one.txt", "a\nB\nc\n");
    scratch.write("two.txt", "new");
    std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("link")).unwrap();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let changes = repository.uncommitted().await.unwrap().files;
    let mut versions = Vec::new();
    for change in &changes {
        let both = repository.versions(change).await.unwrap();
        versions.push((change.path.to_string(), both.old, both.new));
    }
    let expected = [
        ("link", Content::None, text("/etc/passwd")),
        ("one.txt", text("a\nb\nc\n"), text("a\nB\nc\n")),
        ("two.txt", Content::None, text("new")),
    ];
    assert_eq!(versions, expected.map(|(path, old, new)| (path.to_owned(), old, new)));
}

#[tokio::test]
async fn a_link_in_the_way_leads_nowhere_outside() {
    let scratch = Scratch::new(&[]);
    scratch.write("dir/file.txt", "ours\n");
    scratch.commit("first");
    scratch.write("dir/file.txt", "changed\n");
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let changes = repository.uncommitted().await.unwrap().files;
    // An agent swaps the directory after the list was made.
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("file.txt"), "secret").unwrap();
    std::fs::remove_dir_all(scratch.path().join("dir")).unwrap();
    std::os::unix::fs::symlink(outside.path(), scratch.path().join("dir")).unwrap();
    let read = repository.versions(&changes[0]).await;
    assert!(matches!(read, Err(GitError::Unreadable { .. })), "{read:?}");
}

#[tokio::test]
async fn before_the_first_commit_everything_is_new() {
    for init in [&[][..], &["--object-format=sha256"][..]] {
        let scratch = Scratch::new(init);
        scratch.write("staged.txt", "1\n");
        scratch.git(&["add", "staged.txt"]);
        scratch.write("other.txt", "1\n2\n");
        let expected = [
            ("other.txt".to_owned(), Kind::Untracked, Some((2, 0))),
            ("staged.txt".to_owned(), Kind::Added, Some((1, 0))),
        ];
        assert_eq!(scratch.listed().await, expected, "{init:?}");
        let repository = Repository::at(&scratch.path()).await.unwrap();
        assert_eq!(repository.branch().await.unwrap().as_deref(), Some("main"));
    }
}

#[tokio::test]
async fn a_detached_head_has_no_branch() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "--quiet", "--detach"]);
    scratch.write("one.txt", "z\n");
    assert_eq!(Repository::at(&scratch.path()).await.unwrap().branch().await.unwrap(), None);
    assert_eq!(scratch.listed().await, [("one.txt".to_owned(), Kind::Modified, Some((1, 3)))]);
}

#[tokio::test]
async fn a_merge_with_conflicts_names_them() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "--quiet", "-b", "other"]);
    scratch.write("one.txt", "a\nother\nc\n");
    scratch.commit("other");
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("one.txt", "a\nmain\nc\n");
    scratch.commit("main");
    let merged = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "merge", "other"])
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(!merged.status.success(), "there is a conflict");
    let listed = scratch.listed().await;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].0.as_str(), &listed[0].1), ("one.txt", &Kind::Unmerged));
}

#[tokio::test]
async fn odd_paths_are_told_apart() {
    let scratch = Scratch::with_commit();
    let names: [&[u8]; 5] = [b"sp ace", b"quo\"te", b"new\nline", b"\xff\xfe", b"-dash"];
    for name in names {
        scratch.write(Path::new(std::ffi::OsStr::from_bytes(name)), "1\n");
    }
    scratch.git(&["add", "--all"]);
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let changes = repository.uncommitted().await.unwrap().files;
    let shown: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(shown, ["-dash", r#""new\nline""#, "quo\"te", "sp ace", r#""\377\376""#]);
    for change in &changes {
        assert_eq!(change.counts, Some(Counts { added: 1, removed: 0 }), "{}", change.path);
        assert_eq!(repository.versions(change).await.unwrap().new, text("1\n"));
    }
}

#[tokio::test]
async fn nothing_the_repository_configures_is_run() {
    let scratch = Scratch::with_commit();
    let ran = scratch.path().join("ran");
    let script = scratch.path().join(".git/script");
    std::fs::write(&script, format!("#!/bin/sh\necho x >> '{}'\ncat\n", ran.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for setting in
        ["core.fsmonitor", "core.pager", "diff.external", "diff.odd.textconv", "diff.odd.command"]
    {
        scratch.git(&["config", setting, script]);
    }
    for setting in ["filter.odd.clean", "filter.odd.smudge", "filter.odd.process"] {
        scratch.git(&["config", setting, script]);
    }
    scratch.git(&["config", "filter.odd.required", "true"]);
    std::fs::write(scratch.path().join(".git/info/attributes"), "* filter=odd diff=odd\n").unwrap();
    let hook = scratch.path().join(".git/hooks/post-index-change");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::copy(script, hook).unwrap();
    scratch.write("one.txt", "a\nB\nc\n");
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let changes = repository.uncommitted().await.unwrap().files;
    let versions = repository.versions(&changes[0]).await.unwrap();
    assert_eq!((versions.old, versions.new), (text("a\nb\nc\n"), text("a\nB\nc\n")));
    assert!(!ran.exists(), "something was run: {}", std::fs::read_to_string(&ran).unwrap());

    // A name that can't be overridden.
    scratch.git(&["config", "filter.a=b.clean", script]);
    let refused = Repository::at(&scratch.path()).await.unwrap_err();
    assert!(
        matches!(&refused, GitError::Filter { name } if name == "filter.a=b.clean"),
        "{refused}"
    );
    assert!(!ran.exists());
}

#[tokio::test]
async fn reading_changes_no_byte_of_the_repository_and_works_while_it_is_locked() {
    let scratch = Scratch::with_commit();
    scratch.write("one.txt", "a\nb\nc\n"); // with a newer time, so that git would like to refresh its index
    scratch.write("one.txt", "changed\n");
    scratch.write(".git/index.lock", "");
    let before = fingerprint(&scratch.path().join(".git"));
    assert_eq!(scratch.listed().await, [("one.txt".to_owned(), Kind::Modified, Some((1, 3)))]);
    assert_eq!(fingerprint(&scratch.path().join(".git")), before);
}

#[tokio::test]
async fn a_submodule_is_listed_when_its_commit_changes_and_nothing_is_run_in_it() {
    let inner = Scratch::with_commit();
    let outer = Scratch::with_commit();
    let inner_path = inner.path();
    outer.git(&["submodule", "--quiet", "add", inner_path.to_str().unwrap(), "inner"]);
    outer.commit("with a submodule");
    std::fs::write(outer.path().join("inner/one.txt"), "dirty\n").unwrap();
    assert_eq!(outer.listed().await, [], "files in it are its own");
    inner.write("two.txt", "2\n");
    inner.commit("second");
    let pull = ["submodule", "--quiet", "update", "--remote", "--force", "inner"];
    outer.git(&pull);
    let changes = outer.changes().await;
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].kind, Kind::Submodule);
    let repository = Repository::at(&outer.path()).await.unwrap();
    assert_eq!(repository.versions(&changes[0]).await.unwrap().new, Content::NoFile);
    assert_eq!(repository.dirty().await.unwrap(), [], "it only has to be updated");
    outer.git(&["add", "inner"]);
    assert_eq!(repository.dirty().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_worktree_and_a_directory_below_see_the_whole_of_their_own() {
    let scratch = Scratch::with_commit();
    let elsewhere = tempfile::tempdir().unwrap();
    let tree = elsewhere.path().canonicalize().unwrap().join("tree");
    scratch.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    std::fs::create_dir(tree.join("sub")).unwrap();
    std::fs::write(tree.join("sub/two.txt"), "2\n").unwrap();
    std::fs::write(tree.join("one.txt"), "1\n").unwrap();
    let repository = Repository::at(&tree.join("sub")).await.unwrap();
    assert_eq!(repository.root(), tree);
    assert_eq!(repository.branch().await.unwrap().as_deref(), Some("side"));
    let files = repository.uncommitted().await.unwrap().files;
    let paths: Vec<String> = files.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["one.txt", "sub/two.txt"]);
    assert_eq!(scratch.listed().await, [], "the other working tree is untouched");
}

#[tokio::test]
async fn long_lists_and_large_files_are_bounded() {
    let scratch = Scratch::with_commit();
    for at in 0..5100 {
        scratch.write(format!("many/{at}"), "");
    }
    let file = std::fs::File::create(scratch.path().join("0-large")).unwrap();
    file.set_len(8 << 40).unwrap();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let changes = repository.uncommitted().await.unwrap();
    assert_eq!((changes.files.len(), changes.more), (5000, 101));
    assert_eq!(changes.files[0].counts, None);
    let new = repository.versions(&changes.files[0]).await.unwrap().new;
    assert_eq!(new, Content::TooLarge { bytes: 8 << 40 });
}
