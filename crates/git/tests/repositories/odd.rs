//! Repositories in states that few users have, each as it is in the wild.

use std::process::Command;

use liminal_git::{Apart, Content, GitError, Kind, Repository, UnderWay};
use tempfile::TempDir;

use crate::scratch::Scratch;

async fn at(scratch: &Scratch) -> Repository {
    Repository::at(&scratch.path()).await.unwrap()
}

/// Two branches that changed the same line. `other` is checked out.
fn forked() -> Scratch {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "--quiet", "-b", "other"]);
    scratch.write("one.txt", "a\nother\nc\n");
    scratch.commit("other");
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("one.txt", "a\nmain\nc\n");
    scratch.commit("main");
    scratch.git(&["checkout", "--quiet", "other"]);
    scratch
}

fn fails(scratch: &Scratch, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(!done.status.success(), "there is a conflict");
}

#[tokio::test]
async fn a_rebase_and_a_merge_that_stopped_are_named() {
    for (call, doing) in [("rebase", "rebase"), ("merge", "merge"), ("cherry-pick", "cherry-pick")]
    {
        let scratch = forked();
        assert_eq!(at(&scratch).await.doing(), None);
        fails(&scratch, &[call, "main"]);
        let repository = at(&scratch).await;
        assert_eq!(repository.doing(), Some(doing));
        let is_detached = repository.branch().await.unwrap().is_none();
        assert_eq!(is_detached, call == "rebase");
        let listed = scratch.listed().await;
        assert_eq!(listed.len(), 1, "{call}");
        assert_eq!(listed[0].1, Kind::Unmerged);
        let store = TempDir::new().unwrap();
        repository.checkpoints(store.path()).unwrap().take().await.unwrap();
    }
}

#[tokio::test]
async fn ahead_and_behind_are_counted_in_commits() {
    let scratch = forked();
    let repository = at(&scratch).await;
    let apart = repository.apart("main", "HEAD").await.unwrap();
    assert_eq!(apart, Some(Apart { ahead: 1, behind: 1 }));
    assert_eq!(repository.apart("--all", "HEAD").await.unwrap(), None, "never an option");
    let unborn = Scratch::new(&[]);
    assert_eq!(at(&unborn).await.apart("main", "HEAD").await.unwrap(), None);
}

#[tokio::test]
async fn files_that_a_sparse_checkout_leaves_out_are_not_deleted() {
    let scratch = Scratch::with_commit();
    scratch.write("in/a.txt", "a\n");
    scratch.write("out/b.txt", "b\n");
    scratch.commit("second");
    scratch.git(&["sparse-checkout", "set", "in"]);
    assert!(!scratch.path().join("out").exists());
    let store = TempDir::new().unwrap();
    let repository = at(&scratch).await;
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    let before = checkpoints.take().await.unwrap();
    assert_eq!(before.tree, repository.head_tree().await.unwrap());
    scratch.write("in/a.txt", "changed\n");
    let listed = scratch.listed().await;
    assert_eq!(listed, [("in/a.txt".to_owned(), Kind::Modified, Some((1, 1)))]);
    let after = checkpoints.take().await.unwrap();
    let changes = checkpoints.repository().between(&before.tree, &after.tree).await.unwrap();
    assert_eq!(changes.files.len(), 1);
}

#[tokio::test]
async fn a_shallow_clone_has_no_base_beyond_its_end() {
    let origin = forked();
    let clone = Scratch(tempfile::tempdir().unwrap());
    let from = format!("file://{}", origin.path().display());
    clone.git(&["clone", "--quiet", "--depth", "1", "--no-single-branch", &from, "."]);
    clone.write("one.txt", "changed\n");
    assert_eq!(clone.listed().await.len(), 1);
    let repository = at(&clone).await;
    assert_eq!(repository.branch().await.unwrap().as_deref(), Some("other"));
    assert_eq!(repository.base(Some("origin/main")).await.unwrap(), None, "they meet nowhere");
    let store = TempDir::new().unwrap();
    repository.checkpoints(store.path()).unwrap().take().await.unwrap();
}

#[tokio::test]
async fn a_file_in_lfs_is_its_pointer() {
    let scratch = Scratch::new(&[]);
    let pointer = |size: u32| {
        let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
    };
    scratch.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    scratch.write("large.bin", pointer(12345));
    scratch.commit("first");
    // As git lfs installs it; nothing of it may run.
    scratch.git(&["config", "filter.lfs.clean", "false"]);
    scratch.git(&["config", "filter.lfs.process", "false"]);
    scratch.git(&["config", "filter.lfs.required", "true"]);
    scratch.write("large.bin", pointer(99999));
    let changes = scratch.changes().await;
    assert_eq!(changes.len(), 1);
    let versions = at(&scratch).await.versions(&changes[0]).await.unwrap();
    assert_eq!(versions.old, Content::Text(pointer(12345)));
    assert_eq!(versions.new, Content::Text(pointer(99999)));
}

#[tokio::test]
async fn a_worktree_of_a_worktree_is_made_and_made_again() {
    let scratch = Scratch::with_commit();
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let (first, second) = (home.join("first"), home.join("second"));
    at(&scratch).await.add_worktree(&first, "one", None).await.unwrap();
    let inner = Repository::at(&first).await.unwrap();
    inner.add_worktree(&second, "two", Some("one")).await.unwrap();
    std::fs::write(second.join("one.txt"), "of the second\n").unwrap();
    let outer = Repository::at(&second).await.unwrap();
    assert_eq!(outer.branch().await.unwrap().as_deref(), Some("two"));
    assert_eq!(outer.uncommitted().await.unwrap().files.len(), 1);
    assert_eq!(inner.uncommitted().await.unwrap().files.len(), 0);

    std::fs::remove_dir_all(&second).unwrap();
    inner.renew_worktree(&second, "two", Some("one")).await.unwrap();
    assert_eq!(outer.branch().await.unwrap().as_deref(), Some("two"));
    std::fs::remove_dir_all(&second).unwrap();
    scratch.git(&["worktree", "prune"]);
    scratch.git(&["branch", "-D", "two"]);
    inner.renew_worktree(&second, "two", Some("no longer there")).await.unwrap();
    assert_eq!(outer.branch().await.unwrap().as_deref(), Some("two"), "a new one of that name");
}

#[tokio::test]
async fn a_hundred_thousand_files_are_listed_up_to_a_limit() {
    let scratch = Scratch::with_commit();
    let blob = scratch.git(&["rev-parse", "HEAD:one.txt"]);
    let mut index = String::new();
    for at in 0..100_000 {
        index.push_str(&format!("100644 {blob}\tmany/{}/{at}.txt\n", at % 100));
    }
    let list = scratch.path().join(".git/list");
    std::fs::write(&list, index).unwrap();
    let added = Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(scratch.path())
        .stdin(std::fs::File::open(&list).unwrap())
        .status()
        .unwrap();
    assert!(added.success());
    scratch.git(&["commit", "--quiet", "--message", "many"]);
    // Not one of them is on the disk.
    let repository = at(&scratch).await;
    let changes = repository.uncommitted().await.unwrap();
    assert_eq!((changes.files.len(), changes.more), (5000, 95_000));
    let store = TempDir::new().unwrap();
    let checkpoint = repository.checkpoints(store.path()).unwrap().take().await.unwrap();
    let first = scratch.git(&["rev-parse", "HEAD~1^{tree}"]);
    assert_eq!(checkpoint.tree.as_str(), first, "all were deleted");
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_left_out_of_a_checkpoint() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    std::fs::remove_file(scratch.path().join("one.txt")).unwrap();
    let made = Command::new("mkfifo").arg("one.txt").current_dir(scratch.path()).status().unwrap();
    assert!(made.success());
    scratch.write("two.txt", "2\n");
    let repository = at(&scratch).await;
    let checkpoint = repository.checkpoints(store.path()).unwrap().take().await.unwrap();
    let left_out: Vec<_> = checkpoint.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out, ["one.txt"]);
    assert_ne!(checkpoint.tree, repository.head_tree().await.unwrap(), "two.txt is kept");
}

#[tokio::test]
async fn a_directory_that_became_a_file_is_brought_along() {
    let scratch = Scratch::with_commit();
    scratch.write("dir/inner/a.txt", "a\n");
    scratch.write("file", "f\n");
    scratch.commit("second");
    std::fs::remove_dir_all(scratch.path().join("dir")).unwrap();
    scratch.write("dir", "now a file\n");
    std::fs::remove_file(scratch.path().join("file")).unwrap();
    scratch.write("file/now.txt", "a directory\n");
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().canonicalize().unwrap().join("tree");
    let repository = at(&scratch).await;
    repository.add_worktree(&tree, "side", None).await.unwrap();
    repository.bring_uncommitted(&tree).await.unwrap();
    let read = |path: &str| std::fs::read_to_string(tree.join(path)).unwrap();
    assert_eq!(
        (read("dir").as_str(), read("file/now.txt").as_str()),
        ("now a file\n", "a directory\n")
    );
}

#[tokio::test]
async fn a_bare_repository_has_no_files_to_compare() {
    let bare = Scratch(tempfile::tempdir().unwrap());
    bare.git(&["init", "--quiet", "--bare"]);
    let refused = Repository::at(&bare.path()).await.unwrap_err();
    assert_eq!(refused, GitError::NotARepository);
}

#[tokio::test]
async fn a_branch_without_a_commit_has_no_base() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "--quiet", "--orphan", "new"]);
    let repository = at(&scratch).await;
    assert_eq!(repository.base(None).await.unwrap(), None);
    assert_eq!(repository.base(Some("main")).await.unwrap(), None);
}

#[tokio::test]
async fn a_directory_that_is_gone_is_named() {
    let scratch = Scratch::with_commit();
    let (repository, path) = (at(&scratch).await, scratch.path());
    drop(scratch);
    let words = repository.head().await.unwrap_err().to_string();
    assert_eq!(words, format!("{} could not be read: it is no longer there", path.display()));
}

#[tokio::test]
async fn a_merge_that_a_rebase_is_in_the_middle_of_is_part_of_the_rebase() {
    let scratch = Scratch::with_commit();
    let git = scratch.path().join(".git");
    std::fs::write(git.join("MERGE_HEAD"), "").unwrap();
    assert_eq!(at(&scratch).await.under_way(), Some(UnderWay::Merge));
    std::fs::create_dir(git.join("rebase-merge")).unwrap();
    let repository = at(&scratch).await;
    assert_eq!(repository.under_way(), Some(UnderWay::Other("rebase")));
    assert_eq!(repository.doing(), Some("rebase"));
}
