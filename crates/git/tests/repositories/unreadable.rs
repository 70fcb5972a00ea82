//! Files that git can't read, or that change while it reads them. Each costs itself and no other.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use liminal_git::{Checkpoint, Checkpoints, GitError, Kind, Left, Repository};
use tempfile::TempDir;

use crate::scratch::Scratch;

/// Root may read and write whatever the modes say. So this runs the test once more, without that right; `true` in the
/// process in which modes count.
fn modes_count(test: &str) -> bool {
    let probe = tempfile::NamedTempFile::new().unwrap();
    set_mode(probe.path().to_owned(), 0);
    if std::fs::File::open(probe.path()).is_err() {
        return true;
    }
    let rights = "-dac_override,-dac_read_search";
    let again = Command::new("setpriv")
        .args([format!("--bounding-set={rights}"), format!("--inh-caps={rights}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("unreadable::{test}")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && said.contains("1 passed"), "{said}");
    false
}

fn set_mode(path: PathBuf, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

async fn checkpoints(scratch: &Scratch, store: &TempDir) -> Checkpoints {
    Repository::at(&scratch.path()).await.unwrap().checkpoints(store.path()).unwrap()
}

fn left_out(checkpoint: &Checkpoint) -> Vec<String> {
    checkpoint.left_out.iter().map(ToString::to_string).collect()
}

async fn changed(checkpoints: &Checkpoints, old: &Checkpoint, new: &Checkpoint) -> Vec<String> {
    let found = checkpoints.repository().differences(&old.tree, &new.tree).await.unwrap();
    found.into_iter().map(|each| each.path.to_string()).collect()
}

/// A program that writes a file again and again, until this is dropped.
struct Rewriting(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Rewriting {
    fn start(path: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || {
            while !stopped.load(Ordering::Relaxed) {
                // In small steps, so that git finds it cut short.
                let mut file = std::fs::File::create(&path).unwrap();
                (0..500).for_each(|_| file.write_all(&[b'x'; 4000]).unwrap());
            }
        };
        Self(stop, Some(std::thread::spawn(work)))
    }
}

impl Drop for Rewriting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

#[tokio::test]
async fn a_file_that_is_rewritten_all_the_time_costs_no_checkpoint() {
    for tracked in [false, true] {
        let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
        if tracked {
            scratch.write("bundle.js", vec![b'y'; 2_000_000]);
            scratch.commit("second");
        }
        let checkpoints = checkpoints(&scratch, &store).await;
        let rewriting = Rewriting::start(scratch.path().join("bundle.js"));
        let mut last = checkpoints.take().await.unwrap();
        for turn in 0..6 {
            scratch.write("one.txt", format!("{turn}\n"));
            let taken = checkpoints.take().await.unwrap();
            assert!(left_out(&taken).iter().all(|path| path == "bundle.js"), "{taken:?}");
            let changed = changed(&checkpoints, &last, &taken).await;
            assert!(changed.contains(&"one.txt".to_owned()), "{changed:?}");
            let listed = scratch.listed().await;
            assert!(listed.iter().any(|(path, ..)| path == "one.txt"), "{listed:?}");
            last = taken;
        }
        drop(rewriting);
        assert_eq!(left_out(&checkpoints.take().await.unwrap()), [""; 0]);
    }
}

#[tokio::test]
async fn files_that_git_refuses_are_left_out_and_cost_no_other() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write(".gitattributes", "*.utf16 working-tree-encoding=UTF-16\n");
    scratch.commit("second");
    let checkpoints = checkpoints(&scratch, &store).await;
    let before = checkpoints.take().await.unwrap();
    // Without the mark that says which byte comes first.
    for name in ["a.utf16", "k\nl.utf16", "z.utf16"] {
        scratch.write(name, "hi\n");
    }
    scratch.write("one.txt", "changed\n");
    for at in 0..50 {
        scratch.write(format!("new/{at}.txt"), "new\n");
    }
    let after = checkpoints.take().await.unwrap();
    assert_eq!(left_out(&after), ["a.utf16", "\"k\\nl.utf16\"", "z.utf16"]);
    assert_eq!(changed(&checkpoints, &before, &after).await.len(), 51);
    assert_eq!(scratch.listed().await.len(), 54);

    scratch.write("one.utf16", "hi\n");
    std::fs::remove_dir_all(scratch.path().join("new")).unwrap();
    scratch.git(&["add", "one.txt"]);
    let alone = checkpoints.take().await.unwrap();
    assert_eq!(left_out(&alone).len(), 4);
}

#[tokio::test]
async fn a_checkpoint_that_can_not_be_written_is_no_fault_of_its_files() {
    if !modes_count("a_checkpoint_that_can_not_be_written_is_no_fault_of_its_files") {
        return;
    }
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let checkpoints = checkpoints(&scratch, &store).await;
    scratch.write("new.txt", "new\n");
    set_mode(store.path().join("objects"), 0o555);
    let failed = checkpoints.take().await;
    set_mode(store.path().join("objects"), 0o755);
    assert!(matches!(failed, Err(GitError::Failed { .. })), "{failed:?}");
}

#[tokio::test]
async fn a_directory_that_nobody_may_read_is_named_and_not_taken_for_deleted() {
    if !modes_count("a_directory_that_nobody_may_read_is_named_and_not_taken_for_deleted") {
        return;
    }
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write("dd/in", "in\n");
    scratch.commit("second");
    let checkpoints = checkpoints(&scratch, &store).await;
    let before = checkpoints.take().await.unwrap();
    scratch.write("one.txt", "changed\n");
    set_mode(scratch.path().join("dd"), 0);
    let after = checkpoints.take().await;
    let listed = Repository::at(&scratch.path()).await.unwrap().uncommitted().await;
    let dirty = checkpoints.repository().dirty().await;
    set_mode(scratch.path().join("dd"), 0o755);
    let after = after.unwrap();
    assert_eq!(left_out(&after), ["dd/in"]);
    assert_eq!(changed(&checkpoints, &before, &after).await, ["one.txt"]);
    let listed = listed.unwrap();
    let names: Vec<_> = listed.files.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(names, ["one.txt"]);
    assert_eq!(listed.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(), ["dd/in"]);
    assert_eq!(dirty.unwrap().len(), 2, "what can't be seen may have changed");
}

#[tokio::test]
async fn a_file_that_nobody_may_read_is_listed_without_counts() {
    if !modes_count("a_file_that_nobody_may_read_is_listed_without_counts") {
        return;
    }
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write("one.txt", "changed\n");
    set_mode(scratch.path().join("one.txt"), 0);
    scratch.write("two.txt", "new\n");
    set_mode(scratch.path().join("two.txt"), 0);
    let listed = scratch.listed().await;
    let expected = [("one.txt", Kind::Modified), ("two.txt", Kind::Untracked)];
    assert_eq!(listed, expected.map(|(path, kind)| (path.to_owned(), kind, None)));
    let taken = checkpoints(&scratch, &store).await.take().await.unwrap();
    assert_eq!(left_out(&taken).len(), 2);
}

#[tokio::test]
async fn a_file_that_could_not_be_recorded_is_never_overwritten() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    let checkpoints = checkpoints(&scratch, &store).await;
    scratch.write("new.utf16", "old\n");
    let before = checkpoints.take().await.unwrap().tree;
    scratch.write(".git/info/attributes", "*.utf16 working-tree-encoding=UTF-16\n");
    scratch.write("new.utf16", "recorded nowhere\n");
    let after = checkpoints.take().await.unwrap();
    assert_eq!(left_out(&after), ["new.utf16"]);
    let left = checkpoints.apply(&after.tree, &before).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
    assert_eq!(left, [("new.utf16".to_owned(), Left::NotRecorded)]);
    let kept = std::fs::read_to_string(scratch.path().join("new.utf16")).unwrap();
    assert_eq!(kept, "recorded nowhere\n");
}

#[tokio::test]
async fn a_read_only_index_is_copied_all_the_same() {
    if !modes_count("a_read_only_index_is_copied_all_the_same") {
        return;
    }
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    set_mode(scratch.path().join(".git/index"), 0o444);
    let checkpoints = checkpoints(&scratch, &store).await;
    let before = checkpoints.take().await.unwrap();
    scratch.write("one.txt", "changed\n");
    let after = checkpoints.take().await.unwrap();
    assert_eq!(changed(&checkpoints, &before, &after).await, ["one.txt"]);
}
