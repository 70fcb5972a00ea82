//! Putting files back: a file, a block of lines, a turn, or what another act did.

use std::collections::BTreeSet;
use std::path::Path;

use liminal_contract::{ActPath, BranchAt, ChangeScope, ItemId, PathFate, SessionId, TurnId};
use liminal_git::{End, Left, Planned, RepoPath, Repository, Tree};
use liminal_render::Block;

use super::deed::{Deed, Moved, tree};
use super::{ActPlace, Plan, Preview, Scene, counted, landing, named, refused};
use crate::changes::Changes;
use crate::changes::scope::{AFTER_LATE, BEFORE_LATE, Named};
use crate::changes::turns::{TurnStates, Unknown, around, last_seen};
use crate::failure::Failure;
use crate::journal::{ActState, CheckpointRow, FilesAt, Moment, Reader, Turns};

/// The two states of a scope.
struct Ends {
    /// What someone wants back.
    old: Tree,
    /// What the scope leads to.
    new: Tree,
    /// What could not be recorded in one of them.
    left_out: BTreeSet<String>,
}

impl Changes {
    pub(super) async fn plan_revert(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
        scope: &ChangeScope,
        path: &str,
    ) -> Result<Plan, Failure> {
        let Ends { old, new, left_out } = self.ends(scene, place, session, scope).await?;
        let listed = scene.repository().between(&old, &new).await?.files;
        let Some(file) = listed.into_iter().find(|file| file.path.to_string() == path) else {
            return Err(refused(format!("{path} no longer differs.")));
        };
        let mut paths = BTreeSet::from([file.path.clone()]);
        if let liminal_git::Kind::Renamed { from } = file.kind {
            paths.insert(from);
        }
        let mut planned = scene.checkpoints.plan(&new, &old, &scene.now.tree).await?;
        planned.retain(|each| paths.contains(&each.path));
        leave(&mut planned, &left_out);
        let preview = Preview { summary: format!("Reverted {path}."), ..Preview::default() };
        restoring(scene, planned, |_| Tick::On, preview).await
    }

    pub(super) async fn plan_hunk(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
        (scope, path, hunk): (&ChangeScope, &str, &str),
    ) -> Result<Plan, Failure> {
        let gone = || refused(format!("These lines of {path} are no longer as they were shown."));
        let block = Block::parse(hunk).ok_or_else(|| Failure::invalid("`hunk` names no lines"))?;
        let Ends { old, new, left_out } = self.ends(scene, place, session, scope).await?;
        let differences = scene.repository().differences(&old, &new).await?;
        let difference = differences.into_iter().find(|each| each.path.to_string() == path);
        let difference = difference.ok_or_else(gone)?;
        let (Some(before), Some(after)) = (&difference.old, &difference.new) else {
            return Err(refused(format!("{path} is new or deleted. Revert the whole file.")));
        };
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).map_err(|_binary| refused(format!("{path} isn't text.")))
        };
        let before = text(scene.checkpoints.bytes(before).await?)?;
        let now = text(scene.checkpoints.bytes(after).await?)?;
        let reverted = liminal_render::without_block(&before, &now, block).ok_or_else(gone)?;
        let object = scene.checkpoints.keep(reverted.into_bytes()).await?;
        let entry = liminal_git::Entry { mode: after.mode, object };
        let wanted = [(difference.path, Some(entry))];
        let wanted = scene.checkpoints.with_paths(&new, &wanted).await?;
        let mut planned = scene.checkpoints.plan(&new, &wanted, &scene.now.tree).await?;
        leave(&mut planned, &left_out);
        let summary = format!("Reverted lines of {path}.");
        restoring(scene, planned, |_| Tick::On, Preview { summary, ..Preview::default() }).await
    }

    pub(super) async fn plan_undo_turn(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
        turn: Option<&TurnId>,
        chosen: Option<&[String]>,
    ) -> Result<Plan, Failure> {
        let states = self.turn_states(session, turn).await?.map_err(unknown)?;
        let TurnStates { turn, before, after, texts } = states;
        let after = or_now(after, &turn, scene);
        let mut plan = going_back(scene, place, (before, after), texts, chosen).await?;
        let count = plan.preview.paths.iter().filter(|path| path.ticked).count();
        plan.preview.summary = format!("Undid a turn in {}.", counted(count));
        Ok(plan)
    }

    /// Takes back every turn after a point of the conversation.
    pub(super) async fn plan_restore(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
        point: (&ItemId, BranchAt),
        chosen: Option<&[String]>,
    ) -> Result<Plan, Failure> {
        let turn = self.turn_after(session, point).await?;
        let Some(turn) = turn else {
            return Err(refused("Nothing came after this, so there is nothing to put back."));
        };
        let (id, first) = (session.clone(), turn.clone());
        let read = move |reader: &Reader<'_>| {
            let texts = reader.calls(&id, Turns::Since(&first))?;
            Ok((reader.checkpoints(&id)?, texts, reader.last_turn(&id)?))
        };
        let (rows, texts, last) = self.journal.read(read).await?;
        let last = last.as_ref().unwrap_or(&turn);
        let (before, _) = around(&rows, &turn).map_err(unknown)?;
        let (_, after) = around(&rows, last).map_err(unknown)?;
        let after = or_now(after, last, scene);
        let mut plan = going_back(scene, place, (before, after), texts, chosen).await?;
        let count = plan.preview.paths.iter().filter(|path| path.ticked).count();
        let summary = format!("Put {} back to an earlier point.", counted(count));
        plan.preview.summary = summary;
        Ok(plan)
    }

    /// The first turn after a point; `None` at the end.
    async fn turn_after(
        &self,
        session: &SessionId,
        (item, at): (&ItemId, BranchAt),
    ) -> Result<Option<TurnId>, Failure> {
        let (id, name) = (session.clone(), item.clone());
        let read = move |reader: &Reader<'_>| {
            let Some(item) = reader.item_named(&id, &name)? else { return Ok(None) };
            reader.files_at(&id, item.index + u64::from(at == BranchAt::After))
        };
        match self.journal.read(read).await? {
            Some(FilesAt::Before(turn)) => Ok(Some(turn)),
            Some(FilesAt::Now) => Ok(None),
            Some(FilesAt::WithinTurn) => {
                Err(refused("Within a turn the state of the files is not recorded."))
            }
            None => Err(Failure::invalid("`itemId` names no item of this session")),
        }
    }

    /// The state of the files at a point of the conversation: its tree, and the commit it is based on.
    pub async fn state_at(
        &self,
        session: &SessionId,
        directory: &Path,
        point: (&ItemId, BranchAt),
    ) -> Result<(Tree, String), Failure> {
        let no_commit = || refused("Nothing is committed there yet.");
        let Some(turn) = self.turn_after(session, point).await? else {
            let now = self.checkpoint(session, directory).await?;
            return Ok((now.tree, now.head.commit.ok_or_else(no_commit)?));
        };
        let rows = self.rows(session).await?;
        let (row, _) = around(&rows, &turn).map_err(unknown)?;
        Ok((tree(&row.tree)?, row.head.ok_or_else(no_commit)?))
    }

    /// Gives the files of a new worktree the state that another session's had.
    pub async fn fill(
        &self,
        session: &SessionId,
        root: &Path,
        commit: &str,
        state: &Tree,
    ) -> Result<(), Failure> {
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        let checkpoints = Repository::at(root).await?.checkpoints(&store)?;
        let committed = checkpoints.repository().tree_of(commit).await?;
        let left = checkpoints.apply(&committed, state).await?;
        let Some((path, why)) = left.first() else { return Ok(()) };
        Err(refused(format!("{path} could not be put there. {why}")))
    }

    /// An act that was carried out and can perhaps be undone.
    pub(super) async fn undoable(&self, session: &SessionId, undo: &str) -> Result<Deed, Failure> {
        let (asked, id) = (session.clone(), undo.to_owned());
        let row = self.journal.read(move |reader: &Reader<'_>| reader.act(&asked, &id)).await?;
        let row = row
            .ok_or_else(|| refused("This action is no longer on record, so it can't be undone."))?;
        match row.state {
            ActState::Done => {}
            ActState::Undone => return Err(refused("This was undone already.")),
            ActState::Intended | ActState::Failed => {
                return Err(refused("This was not carried out, so there is nothing to undo."));
            }
        }
        serde_json::from_str(&row.deed).map_err(|_other_version| {
            refused(
                "This was done by another version of Liminal Builder, so it can't be undone here.",
            )
        })
    }

    /// Undoes one of these acts.
    pub(super) async fn plan_undo(
        &self,
        scene: &Scene,
        session: &SessionId,
        undo: &str,
    ) -> Result<Plan, Failure> {
        let mut plan = match self.undoable(session, undo).await? {
            Deed::Restore { before, after, .. } => {
                let (before, after) = (tree(&before)?, tree(&after)?);
                let planned = scene.checkpoints.plan(&after, &before, &scene.now.tree).await?;
                let summary = format!("Undid it: {} put back.", counted(planned.len()));
                let preview = Preview { summary, ..Preview::default() };
                restoring(scene, planned, |_| Tick::On, preview).await?
            }
            Deed::Commit { head, made: Some(commit), branch, .. } => {
                super::committing::plan_uncommit(scene, commit, head, branch).await?
            }
            Deed::Move { moves, keep, .. } => {
                let reversed = |moved: &Moved| Moved {
                    from: moved.to.clone(),
                    to: moved.from.clone(),
                    ..moved.clone()
                };
                let moves: Vec<_> = moves.iter().map(reversed).collect();
                landing::plan_back(scene, moves, keep).await?
            }
            Deed::Commit { made: None, .. }
            | Deed::Uncommit { .. }
            | Deed::StartMerge { .. }
            | Deed::AbortMerge { .. }
            | Deed::PullRequest { .. }
            | Deed::Discard { .. }
            | Deed::BringBack { .. } => return Err(refused("This can't be undone.")),
        };
        plan.undoes = Some(undo.to_owned());
        Ok(plan)
    }

    async fn ends(
        &self,
        scene: &Scene,
        place: &ActPlace,
        session: &SessionId,
        scope: &ChangeScope,
    ) -> Result<Ends, Failure> {
        let (new, left_out) = (scene.now.tree.clone(), BTreeSet::new());
        let nothing = || refused("There is no state to go back to.");
        match scope {
            ChangeScope::Uncommitted {} => {
                Ok(Ends { old: scene.repository().head_tree().await?, new, left_out })
            }
            ChangeScope::Branch {} => {
                let base = place.worktree.as_ref().and_then(|worktree| worktree.base.as_deref());
                let base = scene.repository().base(base).await?;
                Ok(Ends { old: base.ok_or_else(nothing)?.1, new, left_out })
            }
            ChangeScope::SinceLooked {} => {
                let rows = self.rows(session).await?;
                let seen = last_seen(&rows).ok_or_else(nothing)?;
                let left_out = seen.left_out.iter().cloned().collect();
                Ok(Ends { old: tree(&seen.tree)?, new, left_out })
            }
            ChangeScope::Turn { turn_id } => {
                let states = self.turn_states(session, turn_id.as_ref()).await?;
                let TurnStates { turn, before, after, .. } = states.map_err(unknown)?;
                let after = or_now(after, &turn, scene);
                let (old, new) = (tree(&before.tree)?, tree(&after.tree)?);
                let left_out = before.left_out.into_iter().chain(after.left_out).collect();
                Ok(Ends { old, new, left_out })
            }
        }
    }
}

/// The state after a turn, or the present one.
fn or_now(after: Option<CheckpointRow>, turn: &TurnId, scene: &Scene) -> CheckpointRow {
    after.unwrap_or_else(|| CheckpointRow {
        turn_id: turn.clone(),
        moment: Moment::After,
        tree: scene.now.tree.as_str().to_owned(),
        is_late: false,
        left_out: scene.now.left_out.iter().map(ToString::to_string).collect(),
        branch: scene.head().branch.clone(),
        head: scene.head().commit.clone(),
    })
}

fn unknown(why: Unknown) -> Failure {
    refused(why.to_string())
}

/// The plan to go from one state back to another. Ticked are the chosen paths, or those that these texts name.
async fn going_back(
    scene: &Scene,
    place: &ActPlace,
    (before, after): (CheckpointRow, CheckpointRow),
    texts: Vec<String>,
    chosen: Option<&[String]>,
) -> Result<Plan, Failure> {
    let (old, new) = (tree(&before.tree)?, tree(&after.tree)?);
    if before.branch != scene.head().branch {
        let named = |branch: &Option<String>| branch.clone().unwrap_or_else(|| "no branch".into());
        let (then, now) = (named(&before.branch), named(&scene.head().branch));
        let words = format!(
            "The turn began on {then} and {now} is checked out now. Check out {then} first."
        );
        return Err(refused(words));
    }
    let mut planned = scene.checkpoints.plan(&new, &old, &scene.now.tree).await?;
    let left_out = before.left_out.into_iter().chain(after.left_out).collect();
    leave(&mut planned, &left_out);
    let directory = place.directory()?;
    let below = directory.canonicalize().unwrap_or_else(|_gone| directory.to_owned());
    let below = below.strip_prefix(scene.root()).map(Path::to_owned).unwrap_or_default();
    let agents = Named { texts, below };
    let rules_changed = planned.iter().any(|each| each.path.as_path().ends_with(".gitignore"));
    let tick = |each: &Planned| {
        let path = each.path.to_string();
        match chosen {
            Some(chosen) if chosen.contains(&path) => Tick::On,
            // Without these rules, the file that is new may be one that was ignored before.
            None if rules_changed && each.end == End::Put(None) => Tick::Off,
            None if agents.has(&path) => Tick::On,
            Some(_) | None => Tick::Off,
        }
    };
    let mut preview = Preview::default();
    if !left_out.is_empty() {
        let names = named(left_out);
        preview
            .cannot
            .push(format!("Not recorded (over 10 MB, unreadable or constantly written): {names}."));
    }
    if before.head != after.head {
        preview.cannot.push("Commits made since stay. Their files are put back.".into());
    }
    if before.is_late {
        preview.cannot.push(BEFORE_LATE.into());
    }
    if after.is_late {
        preview.cannot.push(AFTER_LATE.into());
    }
    preview.notes.push("Ignored files and submodules are not recorded, so they stay.".into());
    restoring(scene, planned, tick, preview).await
}

/// A state without a file doesn't say that there was none, if it could not be recorded.
fn leave(planned: &mut [Planned], left_out: &BTreeSet<String>) {
    for each in planned.iter_mut().filter(|each| left_out.contains(&each.path.to_string())) {
        each.end = End::Leave(Left::NotRecorded);
    }
}

/// Whether a path is part of the act.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tick {
    On,
    Off,
}

/// The plan to put these files back.
async fn restoring(
    scene: &Scene,
    planned: Vec<Planned>,
    tick: impl Fn(&Planned) -> Tick,
    mut preview: Preview,
) -> Result<Plan, Failure> {
    let mut changes: Vec<(RepoPath, Option<liminal_git::Entry>)> = Vec::new();
    let mut offered = String::new();
    for mut each in planned {
        if scene.now.left_out.contains(&each.path) {
            each.end = End::Leave(Left::NotRecorded);
        }
        let is_on = tick(&each) == Tick::On;
        let Planned { path, now, end } = each;
        let shown = path.to_string();
        let (what, why) = match &end {
            End::Put(None) => (PathFate::Remove, None),
            End::Put(Some(_)) if now.is_none() => (PathFate::Create, None),
            End::Put(Some(_)) => (PathFate::Restore, None),
            End::Merged(_) => (PathFate::Merge, None),
            End::Leave(left) => (PathFate::Leave, Some(left.to_string())),
        };
        let ticked = what != PathFate::Leave && is_on;
        offered.push_str(&format!("{shown} {what:?} {:?}\n", end.entry()));
        if ticked {
            changes.push((path, end.entry().cloned()));
        }
        preview.paths.push(ActPath { path: shown, what, why, ticked });
    }
    preview.can_undo = true;
    let before = &scene.now.tree;
    let deed = if changes.is_empty() {
        Err(refused("There is nothing to put back."))
    } else {
        let after = scene.checkpoints.with_paths(before, &changes).await?;
        let (before, after) = (before.as_str().to_owned(), after.as_str().to_owned());
        Ok(Deed::Restore { root: scene.root(), before, after })
    };
    let branch = scene.head().branch.clone().unwrap_or_default();
    let world = ["restore", &branch, before.as_str(), &offered];
    Ok(Plan::new(preview, vec![scene.root()], deed, &world))
}
