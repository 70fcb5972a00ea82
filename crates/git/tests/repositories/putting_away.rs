//! Worktrees that are put away and brought back, whatever state they are in and wherever that is cut short.

use std::path::Path;

use liminal_git::{PutAway, Repository};

use crate::scratch::Scratch;

/// A worktree in the middle of a merge, with a staged file, an untracked and an ignored one.
struct Stage {
    base: Scratch,
    tree: Scratch,
    stores: tempfile::TempDir,
    away: PutAway,
}

async fn stage() -> Stage {
    let (base, tree) = (Scratch::with_commit(), Scratch(tempfile::tempdir().unwrap()));
    base.write(".gitignore", "ignored\n");
    base.commit("ignore");
    let path = tree.path();
    base.git(&["worktree", "add", "--quiet", "-b", "side", path.to_str().unwrap()]);
    tree.write("one.txt", "ours\n");
    tree.commit("ours");
    base.write("one.txt", "theirs\n");
    base.commit("theirs");
    let merged = std::process::Command::new("git")
        .args(["merge", "--quiet", "main"])
        .current_dir(&path)
        .output()
        .unwrap();
    assert!(!merged.status.success(), "there is a conflict");
    tree.write("staged", "staged\n");
    tree.git(&["add", "staged"]);
    tree.write("staged", "and changed\n");
    tree.write("new\nline", "untracked\n");
    tree.write("ignored", "ignored\n");
    let store = tempfile::tempdir().unwrap();
    let repository = Repository::at(&path).await.unwrap();
    let away = repository.put_away(&store.path().join("x")).await.unwrap().unwrap();
    let held = repository.hold(&tree.git(&["rev-parse", "HEAD"])).await.unwrap();
    away.set_ref("refs/liminal/discarded/x", &held).await.unwrap();
    Stage { base, tree, stores: store, away }
}

/// The state of git in a worktree, and the contents of its files.
fn seen(tree: &Scratch) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(tree.path().join(name)).unwrap();
    vec![
        tree.git(&["status", "--porcelain=v2", "--branch", "-z"]),
        tree.git(&["rev-parse", "MERGE_HEAD"]),
        tree.git(&["cat-file", "blob", ":2:one.txt"]),
        tree.git(&["cat-file", "blob", ":3:one.txt"]),
        tree.git(&["cat-file", "blob", ":staged"]),
        read("one.txt"),
        read("staged"),
        read("new\nline"),
        read("ignored"),
    ]
}

#[tokio::test]
async fn a_worktree_in_the_middle_of_a_merge_comes_back_as_it_was_even_after_gc() {
    let Stage { base, tree, away, stores: _stores } = stage().await;
    let before = seen(&tree);
    away.carry_out().await.unwrap();
    assert!(away.is_away() && !away.path.exists());
    assert_eq!(base.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    base.git(&["branch", "--quiet", "-D", "side"]);
    base.git(&["reflog", "expire", "--expire=now", "--all"]);
    base.git(&["gc", "--quiet", "--prune=now"]);
    let tip = base.git(&["rev-parse", "refs/liminal/discarded/x^1"]);
    away.make_branch("side", &tip).await.unwrap();
    away.make_branch("side", &tip).await.unwrap();
    away.bring_back().await.unwrap();
    assert_eq!(seen(&tree), before);
}

#[tokio::test]
async fn wherever_it_was_cut_short_the_same_call_completes_it() {
    let Stage { base, tree, away, stores: _stores } = stage().await;
    let before = seen(&tree);
    let (files, known) = (away.store.join("files"), away.store.join("git"));
    std::fs::create_dir_all(&away.store).unwrap();
    std::fs::rename(&away.path, &files).unwrap();
    away.carry_out().await.unwrap();
    assert!(known.exists() && !away.private.exists());
    away.carry_out().await.unwrap();

    // The first of two moves back is made.
    std::fs::rename(&known, &away.private).unwrap();
    away.bring_back().await.unwrap();
    away.bring_back().await.unwrap();
    assert_eq!(seen(&tree), before);
    assert!(!away.is_away());

    // And back again if the place is taken: nothing is overwritten.
    away.carry_out().await.unwrap();
    std::fs::create_dir(&away.path).unwrap();
    std::fs::write(away.path.join("mine"), "mine\n").unwrap();
    away.bring_back().await.unwrap_err();
    away.stay_away().await.unwrap();
    assert!(known.exists() && files.exists() && away.path.join("mine").exists());
    assert_eq!(base.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    std::fs::remove_dir_all(&away.path).unwrap();
    away.bring_back().await.unwrap();
    assert_eq!(seen(&tree), before);
}

#[tokio::test]
async fn another_worktree_of_the_same_name_does_not_stop_it() {
    let Stage { base, tree, away, stores: _stores } = stage().await;
    let before = seen(&tree);
    away.carry_out().await.unwrap();
    let other = tempfile::tempdir().unwrap();
    let taken = other.path().join(away.private.file_name().unwrap());
    base.git(&["worktree", "add", "--quiet", "--detach", taken.to_str().unwrap()]);
    assert!(away.private.exists());
    let free = PutAway { private: away.free_private(), ..away };
    free.bring_back().await.unwrap();
    assert_eq!(seen(&tree), before);
    assert!(Path::new(&taken).join("one.txt").exists());
}

#[tokio::test]
async fn what_is_deleted_for_good_is_found_by_nobody_even_if_that_was_cut_short() {
    let Stage { away, stores, .. } = stage().await;
    away.carry_out().await.unwrap();
    std::fs::rename(&away.store, away.store.with_extension("gone")).unwrap();
    assert!(!away.is_away());
    PutAway::forget_the_rest(stores.path()).await;
    assert_eq!(std::fs::read_dir(stores.path()).unwrap().count(), 0);
    away.forget().await.unwrap();
}

#[tokio::test]
async fn the_main_working_tree_is_never_put_away() {
    let scratch = Scratch::with_commit();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    assert_eq!(repository.put_away(Path::new("/nowhere")).await.unwrap(), None);
}

#[tokio::test]
async fn the_commits_of_a_branch_are_held_though_its_worktree_is_elsewhere() {
    let (base, tree) = (Scratch::with_commit(), Scratch(tempfile::tempdir().unwrap()));
    base.git(&["config", "core.logAllRefUpdates", "false"]);
    let path = tree.path();
    base.git(&["worktree", "add", "--quiet", "-b", "side", path.to_str().unwrap()]);
    tree.write("one.txt", "ours\n");
    tree.commit("ours");
    let tip = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["checkout", "--quiet", "--detach", "main"]);
    let store = tempfile::tempdir().unwrap();
    let repository = Repository::at(&path).await.unwrap();
    let away = repository.put_away(&store.path().join("x")).await.unwrap().unwrap();
    let held = repository.hold(&tip).await.unwrap();
    away.set_ref("refs/liminal/discarded/x", &held).await.unwrap();
    away.carry_out().await.unwrap();
    base.git(&["branch", "--quiet", "-D", "side"]);
    base.git(&["gc", "--quiet", "--prune=now"]);
    away.make_branch("side-2", &tip).await.unwrap();
    away.check_out("side-2", "side").await.unwrap();
    away.bring_back().await.unwrap();
    assert_eq!(tree.git(&["rev-parse", "HEAD"]), tree.git(&["rev-parse", "main"]));
    assert_eq!(tree.git(&["branch", "--show-current"]), "", "it was on no branch");
}

#[tokio::test]
async fn locks_of_another_working_tree_are_not_removed() {
    let (base, tree) = (Scratch::with_commit(), Scratch(tempfile::tempdir().unwrap()));
    let path = tree.path();
    base.git(&["worktree", "add", "--quiet", "-b", "side", path.to_str().unwrap()]);
    let own = tree.git(&["rev-parse", "--absolute-git-dir"]);
    let own = Path::new(&own).join("index.lock");
    let theirs = base.path().join(".git/index.lock");
    let since = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for lock in [&own, &theirs] {
        std::fs::write(lock, "").unwrap();
    }
    let until = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let removed = liminal_git::remove_stale_locks(&path, since, until).await;
    assert_eq!(removed, [own]);
    assert!(theirs.exists());
}
