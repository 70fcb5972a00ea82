//! The state of a working tree, kept without touching the repository.

use std::path::Path;
use std::process::Command;

use liminal_git::{Change, Checkpoint, Content, GitError, Kind, LARGEST_UNTRACKED, Repository};
use tempfile::TempDir;

use crate::scratch::{Scratch, fingerprint};

async fn take(scratch: &Scratch, store: &Path) -> Checkpoint {
    let repository = Repository::at(&scratch.path()).await.unwrap();
    repository.checkpoints(store).unwrap().take().await.unwrap()
}

async fn between(
    scratch: &Scratch,
    store: &Path,
    (old, new): (&Checkpoint, &Checkpoint),
) -> Result<Vec<Change>, GitError> {
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store).unwrap();
    Ok(checkpoints.repository().between(&old.tree, &new.tree).await?.files)
}

fn shown(changes: &[Change]) -> Vec<(String, Kind)> {
    changes.iter().map(|change| (change.path.to_string(), change.kind.clone())).collect()
}

#[tokio::test]
async fn two_states_are_compared_whatever_git_knows_of_them() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write("gone.txt", "here\n");
    scratch.write("staged.txt", "staged\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.write(".gitignore", "ignored\n");
    scratch.write("ignored", "secret\n");
    scratch.write("turns.d", "a file\n");
    let before = take(&scratch, store.path()).await;
    assert_eq!(take(&scratch, store.path()).await, before, "nothing changed");

    scratch.write("one.txt", "a\nB\nc\n");
    scratch.write("new/file.txt", "new\n");
    scratch.write("ignored", "other\n");
    std::fs::remove_file(scratch.path().join("gone.txt")).unwrap();
    std::fs::remove_file(scratch.path().join("staged.txt")).unwrap();
    std::fs::remove_file(scratch.path().join("turns.d")).unwrap();
    scratch.write("turns.d/into.txt", "a directory\n");
    scratch.commit("in between");
    let after = take(&scratch, store.path()).await;
    let changes = between(&scratch, store.path(), (&before, &after)).await.unwrap();
    let expected = [
        ("gone.txt", Kind::Deleted),
        ("new/file.txt", Kind::Added),
        ("one.txt", Kind::Modified),
        ("staged.txt", Kind::Deleted),
        ("turns.d", Kind::Deleted),
        ("turns.d/into.txt", Kind::Added),
    ];
    assert_eq!(shown(&changes), expected.map(|(path, kind)| (path.to_owned(), kind)));

    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    let versions = checkpoints.repository().versions(&changes[0]).await.unwrap();
    assert_eq!((versions.old, versions.new), (Content::Text("here\n".into()), Content::None));
}

#[tokio::test]
async fn no_byte_of_the_repository_changes_and_nothing_it_configures_runs() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let marker = scratch.path().join(".git/ran");
    let command = format!("touch {}; cat", marker.display());
    scratch.git(&["config", "filter.evil.clean", &command]);
    scratch.git(&["config", "filter.evil.required", "true"]);
    scratch.git(&["config", "core.fsmonitor", &command]);
    scratch.git(&["config", "core.splitIndex", "true"]);
    scratch.write(".gitattributes", "* filter=evil\n");
    scratch.write("one.txt", "a\nB\nc\n");
    scratch.write("new.txt", "new\n");
    // A crash of git leaves it behind.
    scratch.write(".git/index.lock", "");
    let before = fingerprint(&scratch.path());
    take(&scratch, store.path()).await;
    assert!(!marker.exists());
    assert_eq!(fingerprint(&scratch.path()), before);
}

#[tokio::test]
async fn a_change_in_the_moment_of_the_last_commit_is_noticed() {
    for _ in 0..20 {
        let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
        let before = take(&scratch, store.path()).await;
        scratch.write("one.txt", "a\nX\nc\n");
        assert_ne!(take(&scratch, store.path()).await.tree, before.tree);
    }
}

#[tokio::test]
async fn large_untracked_files_are_named_and_repositories_within_are_left_alone() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write("large.bin", vec![1; usize::try_from(LARGEST_UNTRACKED).unwrap() + 1]);
    scratch.write("inner/file.txt", "of another repository\n");
    let inner = scratch.path().join("inner");
    assert!(
        Command::new("git")
            .args(["init", "--quiet"])
            .current_dir(&inner)
            .status()
            .unwrap()
            .success()
    );
    let checkpoint = take(&scratch, store.path()).await;
    let left_out: Vec<_> = checkpoint.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out, ["large.bin"]);
    let kept = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(checkpoint.tree.as_str(), kept);
}

#[tokio::test]
async fn a_checkpoint_that_was_cut_short_does_not_stop_the_next() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    std::fs::create_dir_all(store.path().join("scratch")).unwrap();
    std::fs::write(store.path().join("scratch/index.lock"), "").unwrap();
    std::fs::write(store.path().join("scratch/index"), "half").unwrap();
    scratch.write("one.txt", "changed\n");
    take(&scratch, store.path()).await;
    assert!(!store.path().join("scratch").exists());
}

#[tokio::test]
async fn every_kind_of_repository_can_be_kept() {
    let unborn = Scratch::new(&[]);
    let sha256 = Scratch::new(&["--object-format=sha256"]);
    let conflicted = Scratch::with_commit();
    conflicted.git(&["checkout", "--quiet", "-b", "other"]);
    conflicted.write("one.txt", "a\nother\nc\n");
    conflicted.commit("other");
    conflicted.git(&["checkout", "--quiet", "main"]);
    conflicted.write("one.txt", "a\nmain\nc\n");
    conflicted.commit("main");
    Command::new("git").args(["merge", "other"]).current_dir(conflicted.path()).output().unwrap();
    let detached = Scratch::with_commit();
    detached.git(&["checkout", "--quiet", "--detach"]);
    for scratch in [unborn, sha256, conflicted, detached] {
        let store = TempDir::new().unwrap();
        let before = take(&scratch, store.path()).await;
        scratch.write("a \"quoted\"\nname.txt", "new\n");
        let after = take(&scratch, store.path()).await;
        let changes = between(&scratch, store.path(), (&before, &after)).await.unwrap();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].kind, Kind::Added);
    }
}

#[tokio::test]
async fn objects_that_are_gone_are_said() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let before = take(&scratch, store.path()).await;
    scratch.write("one.txt", "changed\n");
    let after = take(&scratch, store.path()).await;
    std::fs::remove_dir_all(store.path().join("objects")).unwrap();
    let compared = between(&scratch, store.path(), (&before, &after)).await;
    assert_eq!(compared, Err(GitError::Pruned));
}

#[tokio::test]
async fn a_branch_is_compared_with_where_it_left_its_base() {
    let scratch = Scratch::with_commit();
    let fork = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let base = async || Repository::at(&scratch.path()).await.unwrap().base(None).await.unwrap();
    assert_eq!(base().await, None, "this is the base");
    scratch.git(&["checkout", "--quiet", "-b", "fix"]);
    scratch.write("two.txt", "two\n");
    scratch.commit("second");
    let (name, tree) = base().await.unwrap();
    assert_eq!((name.as_str(), tree.as_str()), ("main", fork.as_str()));
}

#[tokio::test]
async fn what_git_left_half_written_is_removed() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    take(&scratch, store.path()).await;
    let names = ["pack/tmp_pack_x", "pack/tmp_idx_x", "ab/tmp_obj_x", "tmp_objdir"];
    let half_written = || {
        for name in names {
            let path = store.path().join("objects").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "half").unwrap();
        }
    };
    let left = || -> Vec<_> {
        let objects = store.path().join("objects");
        names.into_iter().filter(|name| objects.join(name).exists()).collect()
    };
    // The server was killed while git wrote.
    half_written();
    std::fs::create_dir(store.path().join("scratch")).unwrap();
    take(&scratch, store.path()).await;
    assert_eq!(left(), [""; 0]);

    // git failed.
    half_written();
    std::fs::write(scratch.path().join(".git/index"), "not an index").unwrap();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    assert!(checkpoints.take().await.is_err());
    assert_eq!(left(), [""; 0]);
}

#[tokio::test]
async fn a_tracked_file_that_became_a_pipe_is_left_out_and_stops_no_other() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let before = take(&scratch, store.path()).await;
    let one = scratch.path().join("one.txt");
    std::fs::remove_file(&one).unwrap();
    assert!(Command::new("mkfifo").arg(&one).status().unwrap().success());
    scratch.write("two.txt", "two\n");
    let after = take(&scratch, store.path()).await;
    assert_eq!(after.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(), ["one.txt"]);
    let changes = between(&scratch, store.path(), (&before, &after)).await.unwrap();
    assert_eq!(shown(&changes), [("two.txt".to_owned(), Kind::Added)]);
}

#[tokio::test]
async fn only_the_names_of_trees_that_exist_are_known() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let taken = take(&scratch, store.path()).await;
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    assert!(checkpoints.has(&taken.tree).await.unwrap());
    let commit = scratch.git(&["rev-parse", "HEAD"]);
    for name in [commit, "0".repeat(40)] {
        let other = liminal_git::Tree::new(&name).unwrap();
        assert!(!checkpoints.has(&other).await.unwrap(), "{name}");
    }
}
