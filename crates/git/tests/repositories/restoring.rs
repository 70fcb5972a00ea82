//! Putting files back, and never losing a byte by it.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use liminal_git::{Checkpoints, End, Left, Planned, Repository, Tree};

use crate::scratch::Scratch;

async fn checkpoints(scratch: &Scratch, store: &Path) -> Checkpoints {
    Repository::at(&scratch.path()).await.unwrap().checkpoints(store).unwrap()
}

async fn now(checkpoints: &Checkpoints) -> Tree {
    checkpoints.take().await.unwrap().tree
}

fn read(scratch: &Scratch, name: &str) -> Option<String> {
    std::fs::read_to_string(scratch.path().join(name)).ok()
}

/// Carries out all of a plan that can be carried out. Returns the states before and after.
async fn restore(checkpoints: &Checkpoints, planned: Vec<Planned>) -> (Tree, Tree) {
    let before = now(checkpoints).await;
    let changes: Vec<_> = planned
        .into_iter()
        .filter(|each| !matches!(each.end, End::Leave(_)))
        .map(|each| (each.path, each.end.entry().cloned()))
        .collect();
    let after = checkpoints.with_paths(&before, &changes).await.unwrap();
    assert_eq!(checkpoints.apply(&before, &after).await.unwrap(), []);
    assert_eq!(now(checkpoints).await, after, "the files are as planned");
    (before, after)
}

#[tokio::test]
async fn an_interrupted_restore_is_completed_from_wherever_it_was() {
    let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
    let checkpoints = checkpoints(&scratch, store.path()).await;
    scratch.write("dir/a.txt", "a\n");
    scratch.write("b.txt", "b\n");
    let before = now(&checkpoints).await;
    std::fs::remove_dir_all(scratch.path().join("dir")).unwrap();
    scratch.write("dir", "a file now\n");
    scratch.write("b.txt", "other\n");
    let after = now(&checkpoints).await;

    // Half of it is done, and the temporary file of a killed program is there.
    std::fs::remove_file(scratch.path().join("dir")).unwrap();
    scratch.write("dir/a.txt", "a\n");
    scratch.write(".liminal-restoring", "half");
    assert_eq!(checkpoints.apply(&after, &before).await.unwrap(), []);
    assert_eq!(now(&checkpoints).await, before);
    assert_eq!(read(&scratch, ".liminal-restoring"), None);

    scratch.write("b.txt", "changed by someone\n");
    let left = checkpoints.apply(&before, &after).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
    assert_eq!(left, [("b.txt".to_owned(), Left::ChangedSince)]);
    assert_eq!(read(&scratch, "b.txt").unwrap(), "changed by someone\n");
    assert_eq!(read(&scratch, "dir").unwrap(), "a file now\n");
}

#[tokio::test]
async fn a_tracked_file_that_became_a_directory_comes_back_with_its_uncommitted_edits() {
    let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
    let checkpoints = checkpoints(&scratch, store.path()).await;
    scratch.write("one.txt", "edited\n");
    let before = now(&checkpoints).await;
    std::fs::remove_file(scratch.path().join("one.txt")).unwrap();
    scratch.write("one.txt/in", "in\n");
    scratch.write("one.txt/deep/in", "in\n");
    let after = checkpoints.take().await.unwrap();
    assert_eq!(after.left_out, []);
    let planned = checkpoints.plan(&after.tree, &before, &after.tree).await.unwrap();
    restore(&checkpoints, planned).await;
    assert_eq!(read(&scratch, "one.txt").unwrap(), "edited\n");
    assert_eq!(checkpoints.apply(&before, &after.tree).await.unwrap(), [], "and back");
    assert_eq!(read(&scratch, "one.txt/deep/in").unwrap(), "in\n");
}

#[tokio::test]
async fn line_ends_come_back_and_filtered_files_are_left() {
    let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
    scratch.write(".gitattributes", "*.bat text eol=crlf\n*.bin filter=lfs\n");
    scratch.write("run.bat", "one\r\ntwo\r\n");
    scratch.write("large.bin", "pointer\n");
    scratch.commit("attributes");
    let checkpoints = checkpoints(&scratch, store.path()).await;
    let before = now(&checkpoints).await;
    scratch.write("run.bat", "changed\r\n");
    scratch.write("large.bin", "changed\n");
    let after = now(&checkpoints).await;
    let planned = checkpoints.plan(&after, &before, &after).await.unwrap();
    let left: Vec<_> = planned
        .iter()
        .filter_map(|each| match &each.end {
            End::Leave(left) => Some((each.path.to_string(), left.clone())),
            End::Put(_) | End::Merged(_) => None,
        })
        .collect();
    assert_eq!(left, [("large.bin".to_owned(), Left::Filtered("lfs".into()))]);
    restore(&checkpoints, planned).await;
    assert_eq!(read(&scratch, "run.bat").unwrap(), "one\r\ntwo\r\n");
    assert_eq!(read(&scratch, "large.bin").unwrap(), "changed\n");
}

#[tokio::test]
async fn a_file_that_only_its_owner_may_read_stays_so() {
    let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
    let path = scratch.path().join("one.txt");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let checkpoints = checkpoints(&scratch, store.path()).await;
    let before = now(&checkpoints).await;
    scratch.write("one.txt", "changed\n");
    let after = now(&checkpoints).await;
    let planned = checkpoints.plan(&after, &before, &after).await.unwrap();
    restore(&checkpoints, planned).await;
    assert_eq!(read(&scratch, "one.txt").unwrap(), "a\nb\nc\n");
    assert_eq!(mode(&path), 0o600);
}

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    /// Someone changes a file: a line, all of it, or whether it exists.
    fn edit(&mut self, scratch: &Scratch) {
        let name = ["a.txt", "b.txt", "dir/c.txt", "dir/d e.txt"][self.below(4)];
        let fresh = format!("line {}\n", self.below(1_000_000));
        let text = match (read(scratch, name), self.below(6)) {
            (Some(_), 0) => return std::fs::remove_file(scratch.path().join(name)).unwrap(),
            (Some(text), 1..=4) => {
                let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
                let at = self.below(lines.len());
                lines[at] = fresh;
                lines.concat()
            }
            _ => (0..8).map(|n| format!("{n} of {fresh}")).collect(),
        };
        scratch.write(name, text);
    }
}

fn files(scratch: &Scratch) -> BTreeMap<&'static str, String> {
    let names = ["a.txt", "b.txt", "dir/c.txt", "dir/d e.txt"];
    names.into_iter().filter_map(|name| Some((name, read(scratch, name)?))).collect()
}

/// Discards the worktree and brings it back.
async fn discards(tree: &Scratch, store: &Path) {
    let repository = Repository::at(&tree.path()).await.unwrap();
    let held = repository.hold(&tree.git(&["rev-parse", "HEAD"])).await.unwrap();
    let away = repository.put_away(&store.join("away")).await.unwrap().unwrap();
    away.set_ref("refs/liminal/discarded/x", &held).await.unwrap();
    away.carry_out().await.unwrap();
    assert!(!away.path.exists());
    away.bring_back().await.unwrap();
    away.forget().await.unwrap();
    away.remove_ref("refs/liminal/discarded/x", None).await.unwrap();
}

/// Whatever stood in a file when an act began is in a file or among the objects after it.
#[tokio::test]
async fn after_any_edits_turns_undos_reverts_discards_and_restores_every_byte_can_be_reached() {
    for seed in [1, 2, 3] {
        let (base, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
        let scratch = Scratch(tempfile::tempdir().unwrap());
        let at = scratch.path();
        base.git(&["worktree", "add", "--quiet", "-b", "side", at.to_str().unwrap()]);
        let checkpoints = checkpoints(&scratch, store.path()).await;
        let (mut chance, mut turns, mut acts, mut ever) =
            (Chance(seed), Vec::new(), Vec::new(), Vec::new());
        for step in 0..18 {
            for _ in 0..=chance.below(3) {
                chance.edit(&scratch);
            }
            let is_turn = step % 3 == 0;
            if is_turn {
                let before = now(&checkpoints).await;
                chance.edit(&scratch);
                turns.push((before, now(&checkpoints).await));
                continue;
            }
            ever.extend(files(&scratch).into_values());
            if chance.below(3) == 0 {
                scratch.git(&["add", "--all"]);
                let staged = scratch.git(&["ls-files", "--stage"]);
                chance.edit(&scratch);
                let before = files(&scratch);
                ever.extend(before.values().cloned());
                // Every act begins with a checkpoint.
                now(&checkpoints).await;
                discards(&scratch, store.path()).await;
                assert_eq!(files(&scratch), before, "seed {seed}");
                assert_eq!(scratch.git(&["ls-files", "--stage"]), staged, "seed {seed}");
                continue;
            }
            let here = now(&checkpoints).await;
            let (from, to) = match chance.below(4) {
                0 if !acts.is_empty() => {
                    let (before, after): &(Tree, Tree) = &acts[chance.below(acts.len())];
                    (after.clone(), before.clone())
                }
                1 => (here.clone(), checkpoints.repository().head_tree().await.unwrap()),
                2 => {
                    // Back to before a turn, with all that came after it.
                    let (before, _) = &turns[chance.below(turns.len())];
                    (turns.last().unwrap().1.clone(), before.clone())
                }
                _ => {
                    let (before, after) = &turns[chance.below(turns.len())];
                    (after.clone(), before.clone())
                }
            };
            let mut planned = checkpoints.plan(&from, &to, &here).await.unwrap();
            planned.retain(|_| chance.below(4) > 0);
            acts.push(restore(&checkpoints, planned).await);
        }
        for text in ever {
            let on_disk = files(&scratch).into_values().any(|each| each == text);
            assert!(on_disk || is_kept(&scratch, store.path(), &text), "seed {seed} lost {text:?}");
        }
    }
}

fn is_kept(scratch: &Scratch, store: &Path, text: &str) -> bool {
    let file = store.join("looked for");
    std::fs::write(&file, text).unwrap();
    let name = scratch.git(&["hash-object", "--no-filters", file.to_str().unwrap()]);
    let has = ["cat-file", "--batch-check"];
    let found = std::process::Command::new("git")
        .args(has)
        .current_dir(scratch.path())
        .stdin(std::fs::File::open(named(store, &name)).unwrap())
        .output()
        .unwrap();
    let is_in_repository = !String::from_utf8_lossy(&found.stdout).contains("missing");
    let loose = store.join("objects").join(&name[..2]).join(&name[2..]);
    is_in_repository || loose.exists() || is_packed(store, &name)
}

/// A file with the name of an object.
fn named(store: &Path, name: &str) -> std::path::PathBuf {
    let file = store.join("asked for");
    std::fs::write(&file, format!("{name}\n")).unwrap();
    file
}

fn is_packed(store: &Path, name: &str) -> bool {
    let packs = std::fs::read_dir(store.join("objects/pack")).into_iter().flatten().flatten();
    packs.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "idx")).any(
        |index| {
            let done = std::process::Command::new("git")
                .arg("show-index")
                .stdin(std::fs::File::open(index).unwrap())
                .output()
                .unwrap();
            String::from_utf8_lossy(&done.stdout).contains(name)
        },
    )
}

/// Plans to go back from `after` to `before`, and says what would happen to each path.
async fn fates(checkpoints: &Checkpoints, after: &Tree, before: &Tree) -> Vec<(String, End)> {
    let now = now(checkpoints).await;
    let planned = checkpoints.plan(after, before, &now).await.unwrap();
    planned.into_iter().map(|each| (each.path.to_string(), each.end)).collect()
}

#[tokio::test]
async fn a_file_that_git_does_not_look_at_is_never_overwritten() {
    type Hide = fn(&Scratch);
    let ways: [Hide; 3] = [
        |scratch| scratch.write(".git/info/exclude", "mine\n"),
        |scratch| {
            scratch.write(".gitignore", "mine\n");
            scratch.git(&["rm", "--quiet", "--cached", "--ignore-unmatch", "mine"]);
        },
        |scratch| {
            scratch.git(&["add", "mine"]);
            scratch.git(&["update-index", "--skip-worktree", "mine"]);
        },
    ];
    for (way, hide) in ways.into_iter().enumerate() {
        let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
        let checkpoints = checkpoints(&scratch, store.path()).await;
        scratch.write("mine", "old\n");
        let before = now(&checkpoints).await;
        scratch.write("mine", "written by the agent\n");
        hide(&scratch);
        let after = now(&checkpoints).await;
        scratch.write("mine", "the user's\n");
        for (path, end) in fates(&checkpoints, &after, &before).await {
            let is_left = end == End::Leave(Left::NotRecorded);
            assert!(is_left || path != "mine" || way == 2, "{way}: {end:?}");
        }
        let left = checkpoints.apply(&after, &before).await.unwrap();
        let left: Vec<_> = left.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
        assert_eq!(left, [("mine".to_owned(), Left::NotRecorded)], "{way}");
        assert_eq!(read(&scratch, "mine").as_deref(), Some("the user's\n"), "{way}");
    }
}

#[tokio::test]
async fn a_file_keeps_its_line_ends_whatever_git_would_write() {
    for (attributes, ends) in [("* text=auto\n", "\r\n"), ("* text eol=crlf\n", "\n")] {
        let (scratch, store) = (Scratch::with_commit(), tempfile::tempdir().unwrap());
        scratch.write(".gitattributes", attributes);
        let checkpoints = checkpoints(&scratch, store.path()).await;
        let old = format!("one{ends}two{ends}");
        scratch.write("file", &old);
        let before = now(&checkpoints).await;
        let new = format!("one{ends}2{ends}");
        scratch.write("file", &new);
        let after = now(&checkpoints).await;
        assert_eq!(checkpoints.apply(&after, &before).await.unwrap(), []);
        assert_eq!(read(&scratch, "file"), Some(old), "{attributes}");
        assert_eq!(checkpoints.apply(&before, &after).await.unwrap(), []);
        assert_eq!(read(&scratch, "file"), Some(new), "{attributes}");

        scratch.write("file", "one\r\n2\n");
        let left = checkpoints.apply(&after, &before).await.unwrap();
        assert!(matches!(&left[..], [(_, Left::LineEnds)]), "{left:?}");
    }
}
