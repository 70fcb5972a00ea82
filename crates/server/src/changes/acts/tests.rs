//! What an act leaves in the journal and in the repository, without a server around it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use super::*;
use crate::journal::Journal;

/// A repository with one commit and a file that isn't committed, and a data directory beside it.
struct Ground {
    home: tempfile::TempDir,
    root: PathBuf,
    journal: Journal,
    changes: Changes,
}

impl Ground {
    fn new(name: &OsStr) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(&root).unwrap();
        let journal = Journal::open(home.path()).unwrap().journal;
        let changes = Changes::new(home.path(), journal.clone());
        let ground = Self { home, root, journal, changes };
        ground.git(&["init", "--quiet", "--initial-branch", "main"]);
        ground.git(&["config", "user.name", "Ada"]);
        ground.git(&["config", "user.email", "ada@example.org"]);
        ground.git(&["config", "commit.gpgSign", "false"]);
        ground.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
        std::fs::write(ground.root.join("new.txt"), "new\n").unwrap();
        ground
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(&self.root).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    async fn plan(&self, worktree: Option<Worktree>, act: ChangeAct) -> Result<Plan, Failure> {
        let place = ActPlace {
            directory: Ok(self.root.clone()),
            sharing: Sharing::Alone,
            worktree,
            owner: None,
        };
        self.changes.plan(&place, &session(), &act).await
    }

    async fn act(&self, act: ChangeAct) -> Result<ActDone, Failure> {
        let plan = self.plan(None, act).await?;
        self.changes.carry_out(&session(), plan).await
    }

    /// A branch that left `main`, which has had a commit since. Nothing is uncommitted.
    fn worktree(&self) -> Worktree {
        std::fs::remove_file(self.root.join("new.txt")).unwrap();
        self.git(&["checkout", "--quiet", "-b", "side"]);
        self.git(&["checkout", "--quiet", "main"]);
        self.commit("theirs");
        self.git(&["checkout", "--quiet", "side"]);
        let path = self.root.to_str().unwrap().to_owned();
        Worktree { path, branch: "side".into(), base: Some("main".into()), below: None }
    }

    /// Commits everything, with a file named by the first word.
    fn commit(&self, message: &str) {
        let name = message.split_whitespace().next().unwrap();
        std::fs::write(self.root.join(name), message).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// A merge is under way, with a conflict in `theirs`.
    async fn in_conflict(&self) {
        let worktree = self.worktree();
        self.commit("theirs differs");
        let plan = self.plan(Some(worktree), ChangeAct::StartMerge {}).await.ok().unwrap();
        self.changes.carry_out(&session(), plan).await.ok().unwrap();
        assert!(self.read("theirs").contains("<<<<<<<"));
    }

    /// As if the program had been killed before it did anything.
    async fn intends(&self, act: ChangeAct) {
        let plan = self.plan(None, act).await.ok().unwrap();
        let at = Timestamp::from(SystemTime::now());
        let row = plan.deed.ok().unwrap().row("act".into(), ActState::Intended, at).unwrap();
        self.changes.write_acts(&session(), vec![row]).await.unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.root.join(name));
        text.unwrap_or_else(|_missing| "no such file".into())
    }

    fn state(&self, id: &str) -> Option<ActState> {
        self.journal.read_now(|reader| reader.act(&session(), id)).unwrap().map(|row| row.state)
    }
}

fn session() -> SessionId {
    SessionId::parse("demo:one").unwrap()
}

fn commit() -> ChangeAct {
    commit_with("second")
}

fn commit_with(message: &str) -> ChangeAct {
    ChangeAct::Commit { message: message.into(), paths: None }
}

#[tokio::test]
async fn what_the_journal_cannot_hold_is_not_done() {
    let ground = Ground::new(OsStr::from_bytes(b"caf\xe9"));
    let failure = ground.act(commit()).await.err().unwrap();
    assert_eq!(failure.code, ErrorCode::ActRefused);
    assert!(failure.message.contains("UTF-8"), "{}", failure.message);
    assert_eq!(ground.git(&["log", "--format=%s"]), "first");
}

#[tokio::test]
async fn nothing_is_done_once_the_journal_is_closed() {
    let ground = Ground::new(OsStr::new("project"));
    let (done, closed) = std::sync::mpsc::channel();
    ground.journal.close(Box::new(move || done.send(()).unwrap()));
    closed.recv().unwrap();
    let failure = ground.act(commit()).await.err().unwrap();
    assert_eq!(failure.code, ErrorCode::ActRefused);
    assert_eq!(ground.git(&["log", "--format=%s"]), "first");
}

#[tokio::test]
async fn an_act_and_the_one_that_undid_it_are_both_in_the_journal() {
    let ground = Ground::new(OsStr::new("project"));
    let made = ground.act(commit()).await.ok().unwrap().undo.unwrap();
    assert_eq!(ground.state(&made), Some(ActState::Done));
    ground.act(ChangeAct::UndoAct { undo: made.clone() }).await.ok().unwrap();
    assert_eq!(ground.state(&made), Some(ActState::Undone));
    assert_eq!(ground.git(&["log", "--format=%s"]), "first");
    assert!(ground.home.path().join("project/new.txt").exists());
}

#[tokio::test]
async fn an_undo_that_left_a_file_can_be_tried_again_until_nothing_is_left() {
    let ground = Ground::new(OsStr::new("project"));
    ground.commit("old words");
    ground.git(&["mv", "old", "moved"]);
    let scope = liminal_contract::ChangeScope::Uncommitted {};
    let revert = ChangeAct::RevertFile { scope, path: "moved".into() };
    let reverted = ground.act(revert).await.ok().unwrap().undo.unwrap();
    assert_eq!([ground.read("old"), ground.read("moved")], ["old words", "no such file"]);

    let undo = ChangeAct::UndoAct { undo: reverted.clone() };
    let plan = ground.plan(None, undo.clone()).await.ok().unwrap();
    ground.write("old", "somebody writes");
    let done = ground.changes.carry_out(&session(), plan).await.ok().unwrap();
    assert!(done.summary.ends_with("Left as they are: old."), "{}", done.summary);
    assert_eq!([ground.read("old"), ground.read("moved")], ["somebody writes", "old words"]);
    assert_eq!((done.undone, ground.state(&reverted)), (None, Some(ActState::Done)));

    // It is still not the version to remove, and this time that is known before.
    let plan = ground.plan(None, undo.clone()).await.ok().unwrap();
    assert_eq!(plan.preview.paths[0].what, liminal_contract::PathFate::Leave);
    ground.write("old", "old words");
    let done = ground.act(undo).await.ok().unwrap();
    assert_eq!([ground.read("old"), ground.read("moved")], ["no such file", "old words"]);
    let undone = (Some(reverted.clone()), Some(ActState::Undone));
    assert_eq!((done.undone, ground.state(&reverted)), undone);
}

#[tokio::test]
async fn aborting_a_merge_names_only_what_git_would_drop() {
    let ground = Ground::new(OsStr::new("project"));
    ground.commit("edited");
    // `main` has no `new.txt` any more.
    ground.in_conflict().await;
    ground.write("untracked", "mine");
    ground.write("edited", "mine too");
    let plan = ground.plan(None, ChangeAct::AbortMerge {}).await.ok().unwrap();
    let words = "What was resolved is dropped, and this can't be undone: new.txt, theirs.";
    assert_eq!(plan.preview.cannot, [words]);
    ground.changes.carry_out(&session(), plan).await.ok().unwrap();
    assert_eq!([ground.read("untracked"), ground.read("edited")], ["mine", "mine too"]);
}

#[tokio::test]
async fn after_a_kill_a_merge_is_aborted_only_if_it_is_the_one_that_was_seen() {
    type Event = fn(&Ground);
    let meanwhile: [(&str, Event); 4] = [
        ("nothing", |_| {}),
        ("half aborted", |ground| ground.write("theirs", "theirs differs")),
        ("resolved", |ground| ground.write("theirs", "both")),
        ("resolved and committed", |ground| {
            ground.write("theirs", "both");
            ground.git(&["commit", "--quiet", "--all", "--message", "both"]);
        }),
    ];
    for (what, happens) in meanwhile {
        let ground = Ground::new(OsStr::new("project"));
        ground.in_conflict().await;
        ground.intends(ChangeAct::AbortMerge {}).await;
        happens(&ground);
        let settled = ground.changes.settle_acts().await.unwrap();
        let (theirs, state, words) = match what.starts_with("resolved") {
            false => ("theirs differs", ActState::Done, "been completed"),
            true => ("both", ActState::Failed, "was left alone"),
        };
        assert_eq!(ground.root.join(".git/MERGE_HEAD").exists(), what == "resolved", "{what}");
        assert_eq!(ground.read("theirs"), theirs, "{what}");
        assert_eq!(ground.state("act"), Some(state), "{what}");
        assert!(settled[0].words.contains(words), "{what}: {}", settled[0].words);
    }
}

#[tokio::test]
async fn a_merge_is_of_the_commit_that_was_planned_whatever_has_its_name_by_then() {
    let ground = Ground::new(OsStr::new("project"));
    let worktree = ground.worktree();
    let planned = ground.git(&["rev-parse", "main"]);
    let plan = ground.plan(Some(worktree), ChangeAct::StartMerge {}).await.ok().unwrap();
    ground.git(&["tag", "main", "side"]);
    let later = ground.git(&["commit-tree", "-p", &planned, "-m", "later", "main^{tree}"]);
    ground.git(&["update-ref", "refs/heads/main", &later]);
    ground.changes.carry_out(&session(), plan).await.ok().unwrap();
    assert_eq!(ground.git(&["rev-parse", "MERGE_HEAD"]), planned);
    let message = std::fs::read_to_string(ground.root.join(".git/MERGE_MSG")).unwrap();
    assert_eq!(message.trim(), "Merge branch 'main'");
}

#[test]
fn a_merge_that_an_earlier_version_began_is_still_understood() {
    let deed = r#"{"kind":"start-merge","root":"/r","branch":"main","before":"b","marked":"m"}"#;
    let deed: Deed = serde_json::from_str(deed).unwrap();
    assert!(matches!(deed, Deed::StartMerge { base_tip: None, .. }), "{deed:?}");
    let deed: Deed = serde_json::from_str(r#"{"kind":"abort-merge","root":"/r"}"#).unwrap();
    assert!(matches!(deed, Deed::AbortMerge { .. }), "{deed:?}");
}

#[tokio::test]
async fn after_a_kill_only_a_commit_with_our_message_is_ours_to_undo() {
    for (message, is_ours) in [("Ours\n\nWith a reason.\n", true), ("Theirs", false)] {
        let ground = Ground::new(OsStr::new("project"));
        ground.intends(commit_with("Ours \n\n\nWith a reason.")).await;
        ground.commit(message);
        let settled = ground.changes.settle_acts().await.unwrap();
        assert_eq!(settled.len(), 1);
        assert_eq!(settled[0].undo.is_some(), is_ours, "{message}");
        assert_eq!(ground.state("act"), Some(ActState::Done));
        let undo = ground.act(ChangeAct::UndoAct { undo: "act".into() }).await;
        assert_eq!(undo.is_ok(), is_ours, "{message}");
    }
}

#[tokio::test]
async fn a_landing_that_did_not_happen_leaves_no_names_behind() {
    let ground = Ground::new(OsStr::new("project"));
    let worktree = ground.worktree();
    ground.commit("ours");
    let land = ChangeAct::Land { how: liminal_contract::LandHow::Squash, message: None };
    let plan = ground.plan(Some(worktree), land).await.ok().unwrap();
    assert!(matches!(&plan.deed, Ok(Deed::Move { keep, .. }) if keep.len() == 2));
    // The base is elsewhere by now.
    ground.git(&["update-ref", "refs/heads/main", "main~1"]);
    assert!(ground.changes.carry_out(&session(), plan).await.is_err());
    assert_eq!(ground.git(&["for-each-ref", "refs/liminal"]), "");
}

#[tokio::test]
async fn an_undone_landing_leaves_no_names_behind() {
    let ground = Ground::new(OsStr::new("project"));
    let worktree = ground.worktree();
    ground.commit("ours");
    let land = ChangeAct::Land { how: liminal_contract::LandHow::Squash, message: None };
    let plan = ground.plan(Some(worktree), land).await.ok().unwrap();
    let landed = ground.changes.carry_out(&session(), plan).await.ok().unwrap();
    assert_eq!(ground.git(&["for-each-ref", "refs/liminal"]).lines().count(), 2);
    ground.act(ChangeAct::UndoAct { undo: landed.undo.unwrap() }).await.ok().unwrap();
    assert_eq!(ground.git(&["for-each-ref", "refs/liminal"]), "");
    assert_eq!(ground.git(&["log", "--format=%s", "side"]), "ours\nfirst");
}

#[tokio::test]
async fn a_landing_after_which_the_base_has_every_commit_keeps_no_names() {
    let ground = Ground::new(OsStr::new("project"));
    let worktree = ground.worktree();
    ground.git(&["merge", "--quiet", "--ff-only", "main"]);
    ground.commit("ours");
    let land = ChangeAct::Land { how: liminal_contract::LandHow::Merge, message: None };
    let plan = ground.plan(Some(worktree), land).await.ok().unwrap();
    ground.changes.carry_out(&session(), plan).await.ok().unwrap();
    assert_eq!(ground.git(&["for-each-ref", "refs/liminal"]), "");
    assert_eq!(ground.git(&["log", "--format=%s", "main"]), "ours\ntheirs\nfirst");
}
