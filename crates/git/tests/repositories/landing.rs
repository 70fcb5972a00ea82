//! Merging and listing commits for a landing: nothing that the repository configures runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use liminal_git::{BranchMove, GitError, Merged, RepoPath, Repository};

use crate::scratch::Scratch;

#[tokio::test]
async fn a_merge_runs_no_program_that_the_repository_names_for_it() {
    let scratch = Scratch::with_commit();
    scratch.write(".gitattributes", "one.txt merge=own\n");
    scratch.commit("attributes");
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.write("one.txt", "A\nb\nc\n");
    scratch.commit("side");
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("one.txt", "a\nb\nC\n");
    scratch.commit("main");
    let ran = scratch.path().join("ran");
    scratch.git(&["config", "merge.own.driver", &format!("touch {}", ran.display())]);

    let repository = Repository::at(&scratch.path()).await.unwrap();
    let merged = repository.merge_commits("main", "side").await.unwrap();
    assert!(matches!(merged, Merged::Clean(_)), "{merged:?}");
    scratch.git(&["checkout", "--quiet", "side"]);
    repository.start_merge("main", "Merge main").await.unwrap();
    assert!(!ran.exists());
}

#[tokio::test]
async fn a_merge_that_a_program_is_named_for_ends_as_if_there_were_none() {
    for (base, ours, theirs) in [
        (&b"\0base"[..], &b"\0ours"[..], &b"\0theirs"[..]),
        (b"a\nb\nc\n", b"ours\nb\nc\n", b"theirs\nb\nc\n"),
        (b"a\nb\nc\n", b"ours\nb\nc\n", b"a\nb\ntheirs\n"),
    ] {
        let scratch = Scratch::new(&[]);
        scratch.write(".gitattributes", "file merge=own\n");
        scratch.write("file", base);
        scratch.commit("base");
        scratch.git(&["checkout", "--quiet", "-b", "side"]);
        scratch.write("file", theirs);
        scratch.commit("theirs");
        scratch.git(&["checkout", "--quiet", "main"]);
        scratch.write("file", ours);
        scratch.commit("ours");
        let repository = Repository::at(&scratch.path()).await.unwrap();
        let without = repository.merge_commits("main", "side").await.unwrap();
        scratch.git(&["config", "merge.own.driver", "false"]);
        assert_eq!(repository.merge_commits("main", "side").await.unwrap(), without);
        repository.start_merge("side", "Merge side").await.unwrap();
        let (Merged::Clean(tree) | Merged::Conflicts { marked: tree, .. }) = without;
        let marked = scratch.git(&["cat-file", "blob", &format!("{}:file", tree.as_str())]);
        let found = std::fs::read(scratch.path().join("file")).unwrap();
        assert_eq!(String::from_utf8(found).unwrap().trim().replace("HEAD", "main"), marked);
    }
}

#[tokio::test]
async fn signatures_are_not_checked_where_commits_are_listed() {
    let scratch = Scratch::with_commit();
    let (program, ran) = (scratch.path().join(".git/gpg"), scratch.path().join(".git/ran"));
    let signs =
        "echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo; echo x";
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\n{signs}; echo '-----END PGP SIGNATURE-----'\ntouch {}\n",
        ran.display()
    );
    scratch.executable(&program, &script);
    scratch.git(&["config", "gpg.program", program.to_str().unwrap()]);
    scratch.git(&["config", "log.showSignature", "true"]);
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.git(&["commit", "--quiet", "--allow-empty", "--gpg-sign", "--message", "Signed"]);
    assert!(ran.exists(), "it was signed");
    std::fs::remove_file(&ran).unwrap();

    let repository = Repository::at(&scratch.path()).await.unwrap();
    assert_eq!(repository.subjects("main", "side").await.unwrap(), ["Signed"]);
    repository.hold("side").await.unwrap();
    assert!(!ran.exists());
}

#[tokio::test]
async fn a_file_that_changed_since_the_plan_stops_the_move_and_the_index_forgets_it() {
    let scratch = Scratch::with_commit();
    let from = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.write("made.txt", "made\n");
    scratch.write("ignored.txt", "ignored\n");
    scratch.commit("side");
    let to = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write(".git/info/exclude", "ignored.txt\n");
    scratch.write("made.txt", "made\n");
    let store = tempfile::tempdir().unwrap();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    let standing = vec![RepoPath::new(b"made.txt")];
    let moved = BranchMove {
        checkout: Some(scratch.path()),
        branch: "main".to_owned(),
        from: from.clone(),
        to,
        standing,
    };
    let refused = async || {
        let failed = moved.carry_out(&checkpoints, "why").await.unwrap_err();
        assert!(matches!(failed, GitError::InTheWay { .. }), "{failed}");
        assert_eq!(scratch.git(&["rev-parse", "main"]), from);
        assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "");
    };
    // git itself would replace an ignored file.
    scratch.write("ignored.txt", "mine\n");
    refused().await;
    std::fs::remove_file(scratch.path().join("ignored.txt")).unwrap();
    scratch.write("made.txt", "mine\n");
    refused().await;
    scratch.write("made.txt", "made\n");
    moved.carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    // Planned before somebody else landed the same: the index is theirs.
    let late = moved.carry_out(&checkpoints, "why").await.unwrap_err();
    assert!(matches!(late, GitError::Failed { .. }), "{late}");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    moved.reversed().carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? made.txt");

    // What is staged stays so, there and back.
    scratch.write("one.txt", "staged\n");
    scratch.git(&["add", "one.txt"]);
    moved.carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "M  one.txt");
    moved.reversed().carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "M  one.txt\n?? made.txt");
}

/// Everything in a working tree but `.git`: directories, links with where they lead, files with what is in them.
fn everything(root: &Path, below: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(root.join(below)).unwrap().map(|entry| entry.unwrap());
    let mut found = Vec::new();
    for entry in entries.filter(|entry| entry.file_name() != ".git") {
        let (path, kind) = (below.join(entry.file_name()), entry.file_type().unwrap());
        if kind.is_symlink() {
            let to = std::fs::read_link(entry.path()).unwrap();
            found.push((path, format!("to {}", to.display())));
        } else if kind.is_dir() {
            found.extend(everything(root, &path));
            found.push((path, "directory".to_owned()));
        } else {
            found.push((path, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

fn changed(scratch: &Scratch, script: &str) {
    let done = Command::new("sh").args(["-ec", script]).current_dir(scratch.path()).status();
    assert!(done.unwrap().success(), "{script}");
}

/// A repository in which `main` is at the first state and `side` at the second, and the move from one to the other.
fn swap(first: &str, second: &str) -> (Scratch, BranchMove) {
    let scratch = Scratch::with_commit();
    changed(&scratch, first);
    scratch.commit("first");
    let from = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    changed(&scratch, second);
    scratch.commit("second");
    let to = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "main"]);
    let (checkout, branch) = (Some(scratch.path()), "main".to_owned());
    (scratch, BranchMove { checkout, branch, from, to, standing: Vec::new() })
}

const SWAPS: [(&str, &str); 6] = [
    ("echo file > d", "rm d; mkdir -p d/deep; echo x > d/x; echo y > d/deep/y"),
    ("mkdir -p d/deep; echo x > d/x; echo y > d/deep/y", "rm -r d; echo file > d"),
    ("mkdir d e; echo x > d/x; echo x > e/x", "rm -r d; ln -s e d"),
    // What is beyond the link is another file.
    ("mkdir e; echo x > e/x; ln -s e d", "rm d; mkdir d; echo other > d/x"),
    ("mkdir -p a/d; echo x > a/d/x; echo z > a/z", "rm -r a/d; echo file > a/d"),
    ("mkdir d; echo x > d/x; echo y > d-y; echo z > d.z", "rm -r d; echo file > d"),
];

#[tokio::test]
async fn a_file_and_a_directory_change_places_there_and_back_also_if_it_was_cut_short() {
    for (first, second) in SWAPS {
        let (scratch, moved) = swap(first, second);
        let (at, store) = (scratch.path(), tempfile::tempdir().unwrap());
        let all = || everything(&at, Path::new(""));
        let clean = || assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{second}");
        let repository = Repository::at(&at).await.unwrap();
        let checkpoints = repository.checkpoints(store.path()).unwrap();
        let before = all();
        moved.carry_out(&checkpoints, "why").await.unwrap();
        let after = all();
        assert_ne!(after, before);
        clean();
        moved.reversed().carry_out(&checkpoints, "why").await.unwrap();
        assert_eq!(all(), before, "{second}");
        clean();

        for has_moved in [false, true] {
            if has_moved {
                scratch.git(&["read-tree", "-m", "-u", &moved.from, &moved.to]);
            }
            moved.settle(&checkpoints, "why").await.unwrap();
            assert_eq!(all(), after, "{second}");
            clean();
            moved.reversed().settle(&checkpoints, "why").await.unwrap();
            assert_eq!(all(), before, "{second}");
            clean();
        }
    }
}

#[tokio::test]
async fn what_the_user_has_where_a_directory_would_go_is_in_the_way_and_named() {
    let (tree, file) = ("mkdir d; echo x > d/x", "echo file > d");
    let (to_file, to_tree) = (format!("rm -r d; {file}"), format!("rm d; {tree}"));
    for (first, second, own, named) in [
        (tree, &to_file, "echo mine > d/mine", "d/mine"),
        (tree, &to_file, "echo mine > d/mine.o", "d/mine.o"),
        (tree, &to_file, "mkdir d/deep; echo mine > d/deep/mine", "d/deep"),
        (tree, &to_file, "mkdir d/empty", "d/empty"),
        (tree, &to_file, "git init --quiet d/own", "d/own"),
        ("echo z > z", &tree.to_owned(), "echo mine > d", "d"),
        ("echo z > z", &tree.to_owned(), "mkdir mine; ln -s mine d", "d"),
        ("echo z > z", &file.to_owned(), "mkdir d; echo mine > d/x.o", "d"),
        ("echo z > z", &file.to_owned(), "mkdir d", "d"),
    ] {
        let (scratch, moved) = swap(first, second);
        let (at, store) = (scratch.path(), tempfile::tempdir().unwrap());
        scratch.write(".git/info/exclude", "*.o\n");
        changed(&scratch, own);
        let repository = Repository::at(&at).await.unwrap();
        let checkpoints = repository.checkpoints(store.path()).unwrap();
        let failed = moved.carry_out(&checkpoints, "why").await.unwrap_err();
        let GitError::InTheWay { names, .. } = failed else { panic!("{own}: {failed}") };
        assert_eq!(names, named, "{own}");
        assert_eq!(scratch.git(&["rev-parse", "main"]), moved.from, "{own}");
        assert_eq!(scratch.git(&["diff", "--name-only", "HEAD"]), "", "{own}");
    }
    // What git was told not to look at.
    for (first, second, own) in [
        (tree, &to_file, "git update-index --assume-unchanged d/x; echo mine > d/x"),
        (tree, &to_file, "git update-index --skip-worktree d/x; echo mine > d/x"),
        (file, &to_tree, "git update-index --assume-unchanged d; echo mine > d"),
        (file, &to_tree, "git update-index --skip-worktree d; rm d; ln -s one.txt d"),
    ] {
        let (scratch, moved) = swap(first, second);
        let store = tempfile::tempdir().unwrap();
        changed(&scratch, own);
        let before = everything(&scratch.path(), Path::new(""));
        let repository = Repository::at(&scratch.path()).await.unwrap();
        let checkpoints = repository.checkpoints(store.path()).unwrap();
        moved.carry_out(&checkpoints, "why").await.unwrap_err();
        assert_eq!(everything(&scratch.path(), Path::new("")), before, "{own}");
        assert_eq!(scratch.git(&["rev-parse", "main"]), moved.from, "{own}");
    }
}
