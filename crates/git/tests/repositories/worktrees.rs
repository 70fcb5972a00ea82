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
