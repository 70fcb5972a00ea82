//! Bringing a worktree's branch into its base.
//!
//! Everything is computed first, as commits that are on no branch. Then the base moves, if it is where it was and no
//! file is in the way, and the worktree's branch follows.

use std::path::{Path, PathBuf};

use liminal_contract::{ActPath, Details, ErrorCode, LandHow, PathFate};
use liminal_git::{Merged, RepoPath, Repository, Standing, Tree, UnderWay};

use super::deed::{Deed, Moved};
use super::proposing::{proposed, title_of};
use super::{ActPlace, Plan, Preview, Scene, counted, named, refused};
use crate::failure::Failure;

/// The old tips of branches that moved when they landed, and what they landed on: without these names git would remove
/// what only they have, and a landing could not be undone.
const KEPT: &str = "refs/liminal/landed";

/// A worktree and its base.
pub struct Sides {
    pub branch: String,
    pub tip: String,
    pub base: String,
    pub base_tip: String,
    /// The working tree that has the base checked out.
    pub base_at: Option<PathBuf>,
}

pub async fn sides(scene: &Scene, place: &ActPlace) -> Result<Sides, Failure> {
    let repository = scene.repository();
    let Some(worktree) = &place.worktree else {
        return Err(refused(
            "This session works in the project itself, so there is nothing to land.",
        ));
    };
    let Some(base) = worktree.base.clone() else {
        return Err(refused("This worktree was not made from a branch, so there is no base."));
    };
    let branch = worktree.branch.clone();
    if scene.head().branch.as_ref() != Some(&branch) {
        return Err(refused(format!(
            "The worktree is not on its branch {branch}. Check it out there."
        )));
    }
    if let Some(UnderWay::Other(what)) = repository.under_way() {
        return Err(refused(format!(
            "A {what} is under way in the worktree. Complete or abort it first."
        )));
    }
    let (tip, base_tip) = tokio::try_join!(repository.tip(&branch), repository.tip(&base))?;
    let tip = tip.ok_or_else(|| refused(format!("{branch} has no commit yet.")))?;
    let base_tip =
        base_tip.ok_or_else(|| refused(format!("There is no local branch {base} to land in.")))?;
    let base_at = checked_out(repository, &base).await?;
    Ok(Sides { branch, tip, base, base_tip, base_at })
}

/// Where a branch is checked out. One that is being rebased can't be moved.
async fn checked_out(repository: &Repository, branch: &str) -> Result<Option<PathBuf>, Failure> {
    if repository.is_being_rebased(branch) {
        return Err(refused(format!(
            "{branch} is being rebased. Complete or abort the rebase first."
        )));
    }
    let checkouts = repository.checkouts().await?;
    let at = checkouts.into_iter().find(|each| each.branch.as_deref() == Some(branch));
    Ok(at.map(|each| each.path))
}

/// The files that stand in a checkout just as they would be put there; or why its files can't go from one state to
/// another.
async fn standing(
    repository: &Repository,
    checkout: &Path,
    branch: &str,
    (from, to): (&Tree, &Tree),
) -> Result<Result<Vec<RepoPath>, String>, Failure> {
    if let Some(words) = is_gone(checkout, branch) {
        return Ok(Err(words));
    }
    let there = Repository::at(checkout).await?;
    if let Some(words) = check_clean(&there, checkout, branch).await? {
        return Ok(Err(words));
    }
    let Standing { same, other } = repository.standing(checkout, from, to).await?;
    let at = checkout.display();
    Ok(if other.is_empty() { Ok(same) } else { Err(in_the_way(&at.to_string(), &other)) })
}

fn in_the_way(place: &str, paths: &[RepoPath]) -> String {
    let (names, many) = (named(paths), paths.len());
    let (files, them) =
        if many == 1 { ("This file is", "it") } else { ("These files are", "them") };
    format!("{files} in the way in {place}: {names}. Move or remove {them}, then try again.")
}

pub async fn plan(
    scene: &Scene,
    place: &ActPlace,
    how: LandHow,
    message: Option<&str>,
) -> Result<Plan, Failure> {
    let repository = scene.repository();
    let sides = sides(scene, place).await?;
    let Sides { branch, tip, base, base_tip, base_at } = &sides;
    let subjects = repository.subjects(base_tip, tip).await?;
    let proposal = proposed(&title_of(place, branch), &subjects);
    let message = message.map(str::trim).filter(|message| !message.is_empty());
    let message = message.unwrap_or(&proposal).to_owned();
    let mut preview = Preview {
        summary: format!("Landed {branch} in {base}."),
        message: Some(proposal),
        can_undo: true,
        ..Preview::default()
    };
    let deed = match unready(scene, &sides, &mut preview).await? {
        Some(failure) => Err(failure),
        None => computed(scene, &sides, how, &message, &mut preview).await?,
    };
    let how_word = match how {
        LandHow::Squash => "squash",
        LandHow::Merge => "merge",
    };
    let (now, notes) = (scene.now.tree.as_str(), preview.notes.join("\n"));
    let world = ["land", how_word, branch, tip, base, base_tip, now, &notes];
    let roots = [Some(scene.root()), base_at.clone()].into_iter().flatten().collect();
    Ok(Plan::new(preview, roots, deed, &world))
}

/// What must be done in the worktree before it can land.
async fn unready(
    scene: &Scene,
    sides: &Sides,
    preview: &mut Preview,
) -> Result<Option<Failure>, Failure> {
    let (repository, base) = (scene.repository(), &sides.base);
    if repository.under_way() == Some(UnderWay::Merge) {
        let words = format!(
            "A merge of {base} is under way in the worktree. Commit it or abort it, then land."
        );
        preview.notes.push(words.clone());
        return Ok(Some(conflict(words, Vec::new())));
    }
    let changes = repository.uncommitted().await?;
    if changes.files.is_empty() {
        return Ok(None);
    }
    let many = counted(changes.files.len());
    let they = if changes.files.len() == 1 { "It" } else { "They" };
    preview.notes.push(format!(
        "{many} not committed yet. {they} will be committed first, with this message."
    ));
    let paths = changes.files.iter().map(|file| path_of(file.path.to_string(), PathFate::Commit));
    preview.paths = paths.collect();
    // Known before anything is committed.
    if let Err(words) = base_standing(scene, sides, &expected(scene, sides).await?, preview).await?
    {
        preview.cannot.push(words.clone());
        return Ok(Some(refused(words)));
    }
    Ok(Some(refused("Commit these files first.")))
}

/// What the base would have if everything in the worktree were committed: its files, with those that the branch
/// changed. Where both changed one, only the merge can tell.
async fn expected(scene: &Scene, sides: &Sides) -> Result<Tree, Failure> {
    let repository = scene.repository();
    let base = repository.tree_of(&sides.base_tip).await?;
    let Some((_, fork)) = repository.base(Some(&sides.base)).await? else {
        return Ok(scene.now.tree.clone());
    };
    let changed = repository.differences(&fork, &scene.now.tree).await?;
    let changed: Vec<_> = changed.into_iter().map(|each| (each.path, each.new)).collect();
    Ok(scene.checkpoints.with_paths(&base, &changed).await?)
}

/// The files that stand where the base is checked out just as this state has them, or why it can't land there.
async fn base_standing(
    scene: &Scene,
    Sides { base, base_tip, base_at, .. }: &Sides,
    to: &Tree,
    preview: &mut Preview,
) -> Result<Result<Vec<RepoPath>, String>, Failure> {
    let Some(checkout) = base_at else { return Ok(Ok(Vec::new())) };
    let repository = scene.repository();
    let from = repository.tree_of(base_tip).await?;
    let same = match standing(repository, checkout, base, (&from, to)).await? {
        Ok(same) => same,
        Err(words) => return Ok(Err(words)),
    };
    if !same.is_empty() {
        let are = if same.len() == 1 { "is" } else { "are" };
        let at = checkout.display();
        preview
            .notes
            .push(format!("{} {are} in {at} already, with the same content.", named(&same)));
    }
    Ok(Ok(same))
}

/// What landing does, or why it can't be done.
async fn computed(
    scene: &Scene,
    sides: &Sides,
    how: LandHow,
    message: &str,
    preview: &mut Preview,
) -> Result<Result<Deed, Failure>, Failure> {
    let repository = scene.repository();
    let Sides { branch, tip, base, base_tip, base_at } = sides;
    let apart = repository.apart(base_tip, tip).await?;
    let (behind, ahead) = apart.map_or((0, 0), |apart| (apart.behind, apart.ahead));
    if ahead == 0 {
        return Ok(Err(refused(format!("{base} has everything that {branch} has."))));
    }
    preview.notes.push(match (how, ahead) {
        (_, 1) => format!("One commit goes to {base}."),
        (LandHow::Squash, many) => format!("{many} commits go to {base} as one."),
        (LandHow::Merge, many) => format!("{many} commits go to {base}."),
    });
    let own = repository.tree_of(tip).await?;
    let merged = if behind == 0 {
        own.clone()
    } else {
        preview.notes.push(match behind {
            1 => format!("{base} has a new commit: it is merged in first."),
            many => format!("{base} has {many} new commits: they are merged in first."),
        });
        match repository.merge_commits(tip, base_tip).await? {
            Merged::Clean(tree) => tree,
            Merged::Conflicts { paths, .. } => {
                let names: Vec<_> = paths.iter().map(ToString::to_string).collect();
                let words =
                    format!("{branch} and {base} changed the same lines in {}.", named(&paths));
                let all = names.iter().cloned().map(|path| path_of(path, PathFate::Conflict));
                preview.paths = all.collect();
                return Ok(Err(conflict(words, names)));
            }
        }
    };
    let stays = match base_standing(scene, sides, &merged, preview).await? {
        Ok(stays) => stays,
        Err(words) => {
            preview.cannot.push(words.clone());
            return Ok(Err(refused(words)));
        }
    };
    if let Some(checkout) = base_at {
        preview.notes.push(format!(
            "{base} is checked out in {}, so the files there change too.",
            checkout.display()
        ));
        if checkout.join(".gitmodules").exists() {
            preview.notes.push("Submodules stay as they are: run `git submodule update`.".into());
        }
    }
    let ours = repository.standing(repository.root(), &own, &merged).await?;
    let ours = [ours.same, ours.other].concat();
    if !ours.is_empty() {
        return Ok(Err(refused(in_the_way("the worktree", &ours))));
    }
    let new_tip = match (how, behind) {
        (LandHow::Squash, _) => repository.commit_tree(&merged, &[base_tip], message).await?,
        (LandHow::Merge, 0) => tip.clone(),
        (LandHow::Merge, _) => {
            let words = format!("Merge {base} into {branch}");
            repository.commit_tree(&merged, &[tip, base_tip], &words).await?
        }
    };
    Ok(Ok(deed(scene, sides, new_tip, &stays)))
}

fn deed(scene: &Scene, sides: &Sides, new_tip: String, stays: &[RepoPath]) -> Deed {
    let Sides { branch, tip, base, base_tip, base_at } = sides;
    let moved = |checkout: &Option<PathBuf>, branch: &String, from: &String| Moved {
        checkout: checkout.clone(),
        branch: branch.clone(),
        from: from.clone(),
        to: new_tip.clone(),
        standing: Vec::new(),
    };
    let (mut moves, mut keep) = (vec![moved(base_at, base, base_tip)], Vec::new());
    moves[0].standing = names_of(stays);
    // Otherwise the base has every commit.
    if *tip != new_tip {
        moves.push(moved(&Some(scene.root()), branch, tip));
        let short: String = tip.chars().take(12).collect();
        keep.push((format!("{KEPT}/{branch}/{short}"), tip.clone()));
        keep.push((format!("{KEPT}/{branch}/onto-{short}"), base_tip.clone()));
    }
    let why = format!("liminal: land {branch}");
    Deed::Move { root: scene.root(), why, moves, keep, drop: Vec::new() }
}

/// Why nothing can land in a branch that git takes for checked out somewhere else than it is.
fn is_gone(checkout: &Path, branch: &str) -> Option<String> {
    let at = checkout.display();
    (!checkout.join(".git").exists()).then(|| {
        format!(
            "git says that {branch} is checked out in {at}, but no working tree is there. If it was removed, run \
             `git worktree prune`."
        )
    })
}

/// Why nothing can land in a working tree that isn't clean.
async fn check_clean(
    there: &Repository,
    checkout: &Path,
    branch: &str,
) -> Result<Option<String>, Failure> {
    let at = checkout.display();
    if there.under_way().is_some() {
        return Ok(Some(format!(
            "A merge or rebase is under way in {at}. Complete or abort it first."
        )));
    }
    let dirty = there.dirty().await?;
    Ok((!dirty.is_empty()).then(|| {
        let names = named(&dirty);
        format!(
            "{branch} is checked out in {at} with changes that are not committed: {names}. Commit or \
             stash them first."
        )
    }))
}

/// Moves branches back, if they are where an act left them. Where they are checked out may have changed since. Then the
/// commits that it kept need no names.
pub async fn plan_back(
    scene: &Scene,
    mut moves: Vec<Moved>,
    kept: Vec<(String, String)>,
) -> Result<Plan, Failure> {
    let repository = scene.repository();
    let mut world = vec!["unland".to_owned()];
    let mut roots = Vec::new();
    for moved in &mut moves {
        if repository.tip(&moved.branch).await?.as_ref() != Some(&moved.from) {
            let branch = &moved.branch;
            return Err(refused(format!(
                "{branch} has had other commits since, so this can't be undone here."
            )));
        }
        if repository.is_pushed(&moved.from).await? {
            return Err(refused("This was pushed, so it can't be undone here."));
        }
        let checkout = checked_out(repository, &moved.branch).await?;
        if checkout != moved.checkout {
            moved.standing.clear();
        }
        moved.checkout = checkout;
        if let Some(checkout) = &moved.checkout {
            let from = repository.tree_of(&moved.from).await?;
            let to = repository.tree_of(&moved.to).await?;
            match standing(repository, checkout, &moved.branch, (&from, &to)).await? {
                Ok(same) => moved.standing.extend(names_of(&same)),
                Err(words) => return Err(refused(words)),
            }
            roots.push(checkout.clone());
            world.push(checkout.to_string_lossy().into_owned());
        }
        world.extend([moved.branch.clone(), moved.from.clone(), moved.to.clone()]);
    }
    let names = named(moves.iter().map(|moved| &moved.branch));
    let stays: Vec<_> = moves.iter().flat_map(|moved| moved.standing.clone()).collect();
    let notes =
        if stays.is_empty() { Vec::new() } else { vec![format!("Left alone: {}.", named(stays))] };
    let summary = format!("Moved back: {names}.");
    let preview = Preview { summary, notes, ..Preview::default() };
    let why = "liminal: undo landing".to_owned();
    let deed = Deed::Move { root: scene.root(), why, moves, keep: Vec::new(), drop: kept };
    let world: Vec<&str> = world.iter().map(String::as_str).collect();
    Ok(Plan::new(preview, roots, Ok(deed), &world))
}

/// Leaves the conflicts with the base in the worktree, for the agent.
pub async fn plan_merge(scene: &Scene, place: &ActPlace) -> Result<Plan, Failure> {
    let Sides { branch, tip, base, base_tip, .. } = sides(scene, place).await?;
    let uncommitted = scene.repository().uncommitted().await?.files;
    if !uncommitted.is_empty() {
        let names = named(uncommitted.iter().map(|file| &file.path));
        return Err(refused(format!("Commit these files first: {names}.")));
    }
    let summary =
        format!("Started merging {base} into {branch}. The conflicts are marked in the files.");
    let preview = Preview {
        summary,
        notes: vec!["Abort merge undoes this.".to_owned()],
        ..Preview::default()
    };
    // By the names that the deed uses: they stand in the marks, and recovery compares those with the files.
    let (Merged::Clean(marked) | Merged::Conflicts { marked, .. }) =
        scene.repository().merge_commits("HEAD", &base_tip).await?;
    // With what git doesn't track.
    let head = scene.repository().head_tree().await?;
    let differences = scene.repository().differences(&head, &marked).await?;
    let changed: Vec<_> = differences.into_iter().map(|each| (each.path, each.new)).collect();
    let marked = scene.checkpoints.with_paths(&scene.now.tree, &changed).await?;
    let (before, marked) = (scene.now.tree.as_str().to_owned(), marked.as_str().to_owned());
    let world = ["start-merge", &tip, &base_tip, scene.now.tree.as_str()];
    let (root, merged) = (scene.root(), Some(base_tip.clone()));
    let deed = Deed::StartMerge { root, branch: base, base_tip: merged, before, marked };
    Ok(Plan::new(preview, vec![scene.root()], Ok(deed), &world))
}

pub async fn plan_abort(scene: &Scene) -> Result<Plan, Failure> {
    if scene.repository().under_way() != Some(UnderWay::Merge) {
        return Err(refused("No merge is under way here."));
    }
    let summary = "Aborted the merge. The files are as they were before it.".to_owned();
    // git keeps all other files.
    let dropped = scene.repository().staged_paths().await?;
    let names = named(&dropped);
    let cannot = vec![format!("What was resolved is dropped, and this can't be undone: {names}.")];
    let cannot = if dropped.is_empty() { Vec::new() } else { cannot };
    let preview = Preview { summary, cannot, ..Preview::default() };
    let (head, tree) = (scene.head().commit.clone(), Some(scene.now.tree.as_str().to_owned()));
    let deed = Deed::AbortMerge { root: scene.root(), head, tree };
    let world = ["abort-merge", scene.now.tree.as_str()];
    Ok(Plan::new(preview, vec![scene.root()], Ok(deed), &world))
}

/// Files that stay, for the journal. Only those that it can hold do.
fn names_of(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().filter_map(|path| path.as_path().to_str().map(str::to_owned)).collect()
}

fn path_of(path: String, what: PathFate) -> ActPath {
    ActPath { path, what, why: None, ticked: what == PathFate::Commit }
}

fn conflict(words: String, paths: Vec<String>) -> Failure {
    let details = Details { conflicts: Some(paths), ..Details::default() };
    Failure::new(ErrorCode::LandConflict, words).with_details(details)
}
