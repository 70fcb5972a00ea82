//! Bringing a worktree's branch into its base.
//!
//! Everything is computed first, as commits that are on no branch. Then the base moves, if it is where it was and no
//! file is in the way, and the worktree's branch follows.

use std::path::{Path, PathBuf};

use liminal_contract::{ActPath, Details, ErrorCode, LandHow, PathFate};
use liminal_git::{Merged, Repository, Tree, UnderWay};

use super::deed::{Deed, Moved};
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

/// Why the files of a checkout can't go from one commit to another.
async fn obstacle(
    checkout: &Path,
    branch: &str,
    from: &str,
    to: &Tree,
) -> Result<Option<String>, Failure> {
    if let Some(words) = is_gone(checkout, branch) {
        return Ok(Some(words));
    }
    let there = Repository::at(checkout).await?;
    if let Some(words) = check_clean(&there, checkout, branch).await? {
        return Ok(Some(words));
    }
    let paths = there.in_the_way(&there.tree_of(from).await?, to).await?;
    let at = checkout.display();
    let words = || format!("These files are in the way in {at}: {}.", named(&paths));
    Ok((!paths.is_empty()).then(words))
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
    let proposal = proposed(&words_of(branch), &subjects);
    let message = message.map(str::trim).filter(|message| !message.is_empty());
    let message = message.unwrap_or(&proposal).to_owned();
    let mut preview = Preview {
        summary: format!("Landed {branch} in {base}."),
        message: Some(proposal),
        can_undo: true,
        ..Preview::default()
    };
    let deed = match unready(repository, &sides, &mut preview).await? {
        Some(failure) => Err(failure),
        None => computed(scene, &sides, how, &message, &mut preview).await?,
    };
    let how_word = match how {
        LandHow::Squash => "squash",
        LandHow::Merge => "merge",
    };
    let now = scene.now.tree.as_str();
    let world = ["land", how_word, branch, tip, base, base_tip, now];
    let roots = [Some(scene.root()), base_at.clone()].into_iter().flatten().collect();
    Ok(Plan::new(preview, roots, deed, &world))
}

/// What must be done in the worktree before it can land.
async fn unready(
    repository: &Repository,
    Sides { base, .. }: &Sides,
    preview: &mut Preview,
) -> Result<Option<Failure>, Failure> {
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
    Ok(Some(refused("Commit these files first.")))
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
    if let Some(checkout) = base_at {
        if let Some(words) = obstacle(checkout, base, base_tip, &merged).await? {
            preview.cannot.push(words.clone());
            return Ok(Err(refused(words)));
        }
        preview.notes.push(format!(
            "{base} is checked out in {}, so the files there change too.",
            checkout.display()
        ));
        if checkout.join(".gitmodules").exists() {
            preview.notes.push("Submodules stay as they are: run `git submodule update`.".into());
        }
    }
    let ours = repository.in_the_way(&own, &merged).await?;
    if !ours.is_empty() {
        let words = format!("These files are in the way in the worktree: {}.", named(&ours));
        return Ok(Err(refused(words)));
    }
    let new_tip = match (how, behind) {
        (LandHow::Squash, _) => repository.commit_tree(&merged, &[base_tip], message).await?,
        (LandHow::Merge, 0) => tip.clone(),
        (LandHow::Merge, _) => {
            let words = format!("Merge {base} into {branch}");
            repository.commit_tree(&merged, &[tip, base_tip], &words).await?
        }
    };
    Ok(Ok(deed(scene, sides, new_tip)))
}

fn deed(scene: &Scene, sides: &Sides, new_tip: String) -> Deed {
    let Sides { branch, tip, base, base_tip, base_at } = sides;
    let moved = |checkout: &Option<PathBuf>, branch: &String, from: &String| Moved {
        checkout: checkout.clone(),
        branch: branch.clone(),
        from: from.clone(),
        to: new_tip.clone(),
    };
    let (mut moves, mut keep) = (vec![moved(base_at, base, base_tip)], Vec::new());
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
        moved.checkout = checked_out(repository, &moved.branch).await?;
        if let Some(checkout) = &moved.checkout {
            let to = repository.tree_of(&moved.to).await?;
            if let Some(words) = obstacle(checkout, &moved.branch, &moved.from, &to).await? {
                return Err(refused(words));
            }
            roots.push(checkout.clone());
            world.push(checkout.to_string_lossy().into_owned());
        }
        world.extend([moved.branch.clone(), moved.from.clone(), moved.to.clone()]);
    }
    let names = named(moves.iter().map(|moved| &moved.branch));
    let preview = Preview { summary: format!("Moved back: {names}."), ..Preview::default() };
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
        notes: vec!["Abort merge takes it back.".to_owned()],
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

fn path_of(path: String, what: PathFate) -> ActPath {
    ActPath { path, what, why: None, ticked: what == PathFate::Commit }
}

fn conflict(words: String, paths: Vec<String>) -> Failure {
    let details = Details { conflicts: Some(paths), ..Details::default() };
    Failure::new(ErrorCode::LandConflict, words).with_details(details)
}

/// The subject of the only commit, or a title with all of them.
pub fn proposed(title: &str, subjects: &[String]) -> String {
    match subjects {
        [] => title.to_owned(),
        [one] => one.clone(),
        many => {
            let lines: Vec<_> = many.iter().rev().map(|subject| format!("- {subject}")).collect();
            format!("{title}\n\n{}", lines.join("\n"))
        }
    }
}

/// What a branch is named for.
pub fn words_of(branch: &str) -> String {
    branch.strip_prefix("liminal/").unwrap_or(branch).replace('-', " ")
}
