//! Commits with hooks of all kinds, and while another git works.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use liminal_git::{Checkpoints, GitError, RepoPath, Repository};

use crate::scratch::Scratch;

/// A repository with a changed file and a hook.
async fn with_hook(
    store: &Path,
    name: &str,
    script: &str,
) -> (Scratch, Checkpoints, Vec<RepoPath>) {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "user.name", "Ada"]);
    scratch.git(&["config", "user.email", "ada@example.org"]);
    scratch.executable(format!(".git/hooks/{name}"), &format!("#!/bin/sh\n{script}"));
    scratch.write("one.txt", "changed\n");
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store).unwrap();
    let paths = scratch.changes().await.into_iter().map(|file| file.path).collect();
    (scratch, checkpoints, paths)
}

/// Long enough for git to reach its hooks, also on a machine that does much else.
const TO_START: Duration = Duration::from_secs(8);

#[tokio::test]
async fn a_hook_that_hangs_is_ended_with_all_that_it_started() {
    let store = tempfile::tempdir().unwrap();
    let script = "sleep 1000 &\necho $! > .git/started\nwait\n";
    let (scratch, checkpoints, paths) = with_hook(store.path(), "pre-commit", script).await;
    let refused = checkpoints.commit("never", &paths, TO_START).await.unwrap_err();
    assert!(matches!(refused, GitError::TooSlow { .. }), "{refused}");
    assert_eq!(scratch.git(&["log", "--format=%s"]), "first");
    assert!(!scratch.path().join(".git/index.lock").exists());
    let pid = std::fs::read_to_string(scratch.path().join(".git/started")).unwrap();
    // It has its signal, and ends when the system gets to it.
    let stat = format!("/proc/{}/stat", pid.trim());
    while std::fs::read_to_string(&stat).is_ok_and(|state| !state.contains(" Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_commit_is_made_though_a_hook_leaves_something_running() {
    let store = tempfile::tempdir().unwrap();
    let script = "sleep 1000 &\necho $! > .git/started\n";
    let (scratch, checkpoints, paths) = with_hook(store.path(), "pre-commit", script).await;
    let limit = Duration::from_secs(900);
    checkpoints.commit("made", &paths, limit).await.unwrap();
    assert_eq!(scratch.git(&["log", "--format=%s"]), "made\nfirst");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    let pid = std::fs::read_to_string(scratch.path().join(".git/started")).unwrap();
    let ended = Command::new("kill").arg(pid.trim()).status().unwrap();
    assert!(ended.success(), "what a hook starts on purpose is not ours to end");
}

#[tokio::test]
async fn a_commit_that_was_made_counts_though_a_hook_hangs_after_it() {
    let store = tempfile::tempdir().unwrap();
    let (scratch, checkpoints, paths) =
        with_hook(store.path(), "post-commit", "sleep 1000\n").await;
    checkpoints.commit("made", &paths, TO_START).await.unwrap();
    assert_eq!(scratch.git(&["log", "--format=%s"]), "made\nfirst");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn while_another_git_has_the_index_nothing_is_committed_or_taken_back() {
    let store = tempfile::tempdir().unwrap();
    let (scratch, checkpoints, paths) = with_hook(store.path(), "post-commit", "").await;
    let limit = Duration::from_secs(60);
    let lock = scratch.path().join(".git/index.lock");
    std::fs::write(&lock, "theirs").unwrap();
    let refused = checkpoints.commit("never", &paths, limit).await.unwrap_err();
    assert_eq!(refused, GitError::Locked { path: lock.display().to_string() });
    assert_eq!(scratch.git(&["log", "--format=%s"]), "first");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "theirs");

    std::fs::remove_file(&lock).unwrap();
    let made = checkpoints.commit("made", &paths, limit).await.unwrap();
    let repository = checkpoints.repository();
    let parent = repository.parent(&made).await.unwrap();
    std::fs::write(&lock, "theirs").unwrap();
    let refused = repository.uncommit(&made, parent.as_deref()).await.unwrap_err();
    assert!(matches!(refused, GitError::Locked { .. }), "{refused}");
    assert_eq!(scratch.git(&["log", "--format=%s"]), "made\nfirst");

    std::fs::remove_file(&lock).unwrap();
    repository.uncommit(&made, parent.as_deref()).await.unwrap();
    assert_eq!(scratch.git(&["log", "--format=%s"]), "first");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "M one.txt");
}

#[tokio::test]
async fn a_first_commit_needs_no_index_and_what_a_killed_one_left_is_in_nobodys_way() {
    let (scratch, store) = (Scratch::new(&[]), tempfile::tempdir().unwrap());
    scratch.git(&["config", "user.name", "Ada"]);
    scratch.git(&["config", "user.email", "ada@example.org"]);
    scratch.write("one.txt", "one\n");
    for left_over in ["index.liminal", "index.liminal.lock"] {
        scratch.write(Path::new(".git").join(left_over), "half");
    }
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    let paths: Vec<_> = scratch.changes().await.into_iter().map(|file| file.path).collect();
    let made = checkpoints.commit("made", &paths, Duration::from_secs(60)).await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    repository.uncommit(&made, None).await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? one.txt");
}

#[tokio::test]
async fn a_merge_that_was_cut_short_after_its_commit_leaves_no_conflict_in_the_index() {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "user.name", "Ada"]);
    scratch.git(&["config", "user.email", "ada@example.org"]);
    let ours = scratch.git(&["branch", "--show-current"]);
    scratch.git(&["checkout", "-q", "-b", "theirs"]);
    scratch.write("one.txt", "theirs\n");
    scratch.git(&["commit", "-qam", "theirs"]);
    scratch.git(&["checkout", "-q", &ours]);
    scratch.write("one.txt", "ours\n");
    scratch.git(&["commit", "-qam", "ours"]);
    let parent = scratch.git(&["rev-parse", "HEAD"]);
    let merge = ["merge", "-q", "theirs"];
    let merged = Command::new("git").args(merge).current_dir(scratch.path()).output().unwrap();
    assert!(!merged.status.success(), "they conflict");
    // Resolved to this side, and committed with another index, as we do.
    scratch.write("one.txt", "ours\n");
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let commit =
        scratch.git(&["commit-tree", "-m", "merged", "-p", &parent, "-p", "theirs", &tree]);
    scratch.git(&["update-ref", "HEAD", &commit]);
    std::fs::remove_file(scratch.path().join(".git/MERGE_HEAD")).unwrap();
    assert_ne!(scratch.git(&["ls-files", "--unmerged"]), "");

    let repository = Repository::at(&scratch.path()).await.unwrap();
    repository.index_follows(Some(&parent), &commit).await.unwrap();
    assert_eq!(scratch.git(&["ls-files", "--unmerged"]), "");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}
