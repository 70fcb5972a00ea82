//! Worktrees, and the files that come along.

use liminal_git::Repository;

use crate::scratch::Scratch;

#[tokio::test]
async fn uncommitted_files_come_along_where_files_and_directories_changed_places() {
    let scratch = Scratch::with_commit();
    scratch.write("was/directory/a.txt", "a\n");
    scratch.write("was/directory/b.txt", "b\n");
    scratch.write("was-file", "file\n");
    scratch.write("stays/c.txt", "c\n");
    scratch.write("stays/d.txt", "d\n");
    scratch.commit("second");
    std::fs::remove_dir_all(scratch.path().join("was")).unwrap();
    scratch.write("was", "a file now\n");
    std::fs::remove_file(scratch.path().join("was-file")).unwrap();
    scratch.write("was-file/inside.txt", "a directory now\n");
    std::fs::remove_file(scratch.path().join("stays/c.txt")).unwrap();

    let place = tempfile::tempdir().unwrap();
    let worktree = place.path().join("worktree");
    let repository = Repository::at(&scratch.path()).await.unwrap();
    repository.add_worktree(&worktree, "liminal/x", None).await.unwrap();
    repository.bring_uncommitted(&worktree).await.unwrap();
    let read = |path: &str| std::fs::read_to_string(worktree.join(path)).unwrap();
    assert_eq!(read("was"), "a file now\n");
    assert_eq!(read("was-file/inside.txt"), "a directory now\n");
    assert_eq!(read("stays/d.txt"), "d\n");
    assert!(!worktree.join("stays/c.txt").exists());
}

#[tokio::test]
async fn where_nothing_is_committed_no_worktree_is_made_and_the_reason_is_said() {
    let (scratch, elsewhere) = (Scratch::new(&[]), tempfile::tempdir().unwrap());
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let path = elsewhere.path().join("tree");
    let refused = repository.add_worktree(&path, "side", None).await.unwrap_err();
    assert_eq!(refused.to_string(), "HEAD has no commit to start from. Commit something first.");
    assert!(!path.exists());
}

#[tokio::test]
async fn a_worktree_that_could_not_be_made_leaves_nothing_not_even_if_git_was_killed() {
    let (scratch, elsewhere) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
    scratch.write(".gitattributes", "one.txt filter=own\n");
    scratch.commit("filtered");
    scratch.git(&["config", "filter.own.required", "true"]);
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    let path = link.join("tree");
    // The second ends git and all that it started.
    for smudge in ["false", "kill -KILL 0"] {
        scratch.git(&["config", "filter.own.smudge", smudge]);
        repository.add_worktree(&path, "side", None).await.unwrap_err();
        assert_eq!(scratch.git(&["branch", "--format=%(refname)"]), "refs/heads/main", "{smudge}");
        assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 1, "{smudge}");
        assert!(!path.exists(), "{smudge}");
    }

    // What was there before stays.
    scratch.git(&["branch", "side"]);
    repository.add_worktree(&path, "side", None).await.unwrap_err();
    scratch.git(&["rev-parse", "--verify", "refs/heads/side"]);
    scratch.git(&["config", "filter.own.smudge", "cat"]);
    repository.add_worktree(&path, "other", None).await.unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    repository.add_worktree(&path, "third", None).await.unwrap_err();
    assert_eq!(scratch.git(&["branch", "--list", "third"]), "");
    assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 2, "the one that vanished");
}
