//! Directories that became symbolic links: what was in them is gone, wherever the link leads.

use std::os::unix::fs::symlink;
use std::path::Path;

use liminal_git::{Checkpoints, Kind, Left, Repository, Tree};
use tempfile::TempDir;

use crate::scratch::Scratch;

/// With `dd/in` and `dd/in2`.
fn with_directory() -> Scratch {
    let scratch = Scratch::with_commit();
    scratch.write("dd/in", "in\n");
    scratch.write("dd/in2", "in2\n");
    scratch.commit("second");
    scratch
}

async fn checkpoints(scratch: &Scratch, store: &Path) -> Checkpoints {
    Repository::at(&scratch.path()).await.unwrap().checkpoints(store).unwrap()
}

async fn now(checkpoints: &Checkpoints) -> Tree {
    let taken = checkpoints.take().await.unwrap();
    assert_eq!(taken.left_out, []);
    taken.tree
}

/// Each way to put a link in the place of `dd`. Those that move it keep its files as git knows them, times included.
fn replace_by_link(scratch: &Scratch, elsewhere: &Path, way: &str) {
    let dd = scratch.path().join("dd");
    if way.starts_with("moved") {
        let to =
            if way == "moved within" { scratch.path().join("dd2") } else { elsewhere.join("dd") };
        std::fs::rename(&dd, &to).unwrap();
        return symlink(to, dd).unwrap();
    }
    std::fs::remove_dir_all(&dd).unwrap();
    let target = match way {
        "dangling" => Path::new("nowhere"),
        "to itself" => Path::new("dd"),
        _ => elsewhere,
    };
    std::fs::write(elsewhere.join("in"), "other\n").unwrap();
    symlink(target, dd).unwrap();
}

const WAYS: [&str; 5] = ["dangling", "to itself", "other files", "moved within", "moved out"];

#[tokio::test]
async fn a_directory_that_became_a_link_is_recorded_as_one() {
    for way in WAYS {
        let (scratch, store) = (with_directory(), TempDir::new().unwrap());
        let checkpoints = checkpoints(&scratch, store.path()).await;
        let before = now(&checkpoints).await;
        let elsewhere = TempDir::new().unwrap();
        replace_by_link(&scratch, elsewhere.path(), way);
        let after = now(&checkpoints).await;
        let found = checkpoints.repository().differences(&before, &after).await.unwrap();
        let shown = |path: &str| {
            let found = found.iter().find(|each| each.path.to_string() == path).unwrap();
            found.new.as_ref().map(|entry| entry.mode)
        };
        assert_eq!(shown("dd"), Some(0o120_000), "{way}");
        assert_eq!((shown("dd/in"), shown("dd/in2")), (None, None), "{way}");
        let listed = checkpoints.repository().uncommitted().await.unwrap();
        assert_eq!((listed.files.len(), listed.left_out), (3, Vec::new()), "{way}");
    }
}

#[tokio::test]
async fn a_directory_that_became_an_ignored_link_is_recorded_as_gone() {
    let (scratch, store) = (with_directory(), TempDir::new().unwrap());
    let checkpoints = checkpoints(&scratch, store.path()).await;
    scratch.write(".gitignore", "dd\n");
    let before = now(&checkpoints).await;
    replace_by_link(&scratch, store.path(), "dangling");
    let after = now(&checkpoints).await;
    let found = checkpoints.repository().between(&before, &after).await.unwrap().files;
    let found: Vec<_> = found.iter().map(|each| (each.path.to_string(), &each.kind)).collect();
    let gone = |path: &str| (path.to_owned(), &Kind::Deleted);
    assert_eq!(found, [gone("dd/in"), gone("dd/in2")]);
}

#[tokio::test]
async fn a_directory_that_became_a_link_can_be_committed_whole_or_in_part() {
    for (chosen, committed) in
        [(vec!["dd", "dd/in", "dd/in2"], "dd\none.txt"), (vec!["dd/in"], "dd/in2\none.txt")]
    {
        let (scratch, store) = (with_directory(), TempDir::new().unwrap());
        scratch.git(&["config", "user.name", "Ada"]);
        scratch.git(&["config", "user.email", "ada@example.org"]);
        let elsewhere = TempDir::new().unwrap();
        replace_by_link(&scratch, elsewhere.path(), "other files");
        let listed = scratch.changes().await;
        let paths = listed.into_iter().map(|change| change.path);
        let paths: Vec<_> =
            paths.filter(|path| chosen.contains(&path.to_string().as_str())).collect();
        assert_eq!(paths.len(), chosen.len());
        let checkpoints = checkpoints(&scratch, store.path()).await;
        checkpoints.commit("linked", &paths, std::time::Duration::from_secs(30)).await.unwrap();
        assert_eq!(scratch.git(&["ls-tree", "-r", "--name-only", "HEAD"]), committed);
    }
}

#[tokio::test]
async fn a_directory_that_was_moved_and_linked_comes_back_with_its_files() {
    for way in WAYS {
        let (scratch, store) = (with_directory(), TempDir::new().unwrap());
        let checkpoints = checkpoints(&scratch, store.path()).await;
        let before = now(&checkpoints).await;
        let elsewhere = TempDir::new().unwrap();
        replace_by_link(&scratch, elsewhere.path(), way);
        let after = now(&checkpoints).await;
        assert_eq!(checkpoints.apply(&after, &before).await.unwrap(), [], "{way}");
        let dd = scratch.path().join("dd");
        assert!(!dd.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(dd.join("in2")).unwrap(), "in2\n", "{way}");
        assert_eq!(now(&checkpoints).await, before, "{way}");
        if way == "moved out" {
            assert!(elsewhere.path().join("dd/in").exists(), "nothing outside is touched");
        }

        assert_eq!(checkpoints.apply(&before, &after).await.unwrap(), [], "and back: {way}");
        assert_eq!(now(&checkpoints).await, after, "{way}");
    }
}

#[tokio::test]
async fn nothing_is_written_through_a_link_that_stays() {
    let (scratch, store) = (with_directory(), TempDir::new().unwrap());
    let checkpoints = checkpoints(&scratch, store.path()).await;
    let before = now(&checkpoints).await;
    replace_by_link(&scratch, store.path(), "dangling");
    let after = now(&checkpoints).await;
    // Someone pointed the link elsewhere since.
    std::fs::remove_file(scratch.path().join("dd")).unwrap();
    scratch.write("other/kept", "kept\n");
    symlink("other", scratch.path().join("dd")).unwrap();
    let left = checkpoints.apply(&after, &before).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
    assert_eq!(left[0], ("dd".to_owned(), Left::ChangedSince));
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(!scratch.path().join("other/in").exists());
}

#[tokio::test]
async fn nothing_is_removed_through_an_ignored_link_that_took_the_place_of_a_directory() {
    let (scratch, store) = (Scratch::with_commit(), TempDir::new().unwrap());
    scratch.write(".gitignore", "out\n");
    scratch.commit("ignored");
    let checkpoints = checkpoints(&scratch, store.path()).await;
    let before = now(&checkpoints).await;
    scratch.write("out/x", "x\n");
    scratch.git(&["add", "--force", "out/x"]);
    scratch.git(&["commit", "--quiet", "--message", "out"]);
    let after = now(&checkpoints).await;
    std::fs::rename(scratch.path().join("out"), scratch.path().join("keep")).unwrap();
    symlink("keep", scratch.path().join("out")).unwrap();
    let left = checkpoints.apply(&after, &before).await.unwrap();
    assert_eq!(std::fs::read_to_string(scratch.path().join("keep/x")).unwrap(), "x\n");
    let left: Vec<_> = left.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
    let why = "a link is in the place of its directory".to_owned();
    assert_eq!(left, [("out/x".to_owned(), Left::InTheWay(why))]);
}
