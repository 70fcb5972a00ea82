//! Committing chosen files, and taking a commit back.

use liminal_contract::{ActPath, PathFate};
use liminal_git::{Kind, UnderWay};

use super::super::scope::Named;
use super::deed::{Deed, Extra};
use super::{Plan, Preview, Scene, counted, named, refused};
use crate::failure::Failure;

/// Of these files, `own` are the session's; without it, all are.
pub async fn plan(
    scene: &Scene,
    message: &str,
    chosen: Option<&[String]>,
    own: Option<&Named>,
) -> Result<Plan, Failure> {
    let repository = scene.repository();
    let under_way = repository.under_way();
    if let Some(UnderWay::Other(what)) = under_way {
        return Err(refused(format!("A {what} is under way here. Complete or abort it first.")));
    }
    let changes = repository.uncommitted().await?;
    if changes.more > 0 {
        return Err(refused(
            "There are too many changed files to commit here. Commit them with git.",
        ));
    }
    let unresolved = repository.unresolved().await?;
    if !unresolved.is_empty() {
        let names = named(unresolved);
        return Err(refused(format!(
            "These files still have conflict markers: {names}. Resolve them first."
        )));
    }
    let is_merge = under_way == Some(UnderWay::Merge);
    if is_merge && !changes.left_out.is_empty() {
        // The commit would have them as they were before the merge.
        let names = named(changes.left_out);
        return Err(refused(format!(
            "git can't read these files: {names}. Make them readable first."
        )));
    }
    let (mut paths, mut shown) = (Vec::new(), Vec::new());
    for file in changes.files {
        let path = file.path.to_string();
        let is_own = is_merge || own.is_none_or(|own| own.has(&path));
        let ticked = is_merge || chosen.map_or(is_own, |chosen| chosen.contains(&path));
        if ticked {
            if let Kind::Renamed { from } = &file.kind {
                paths.push(from.clone());
            }
            paths.push(file.path.clone());
        }
        let why = (!is_own).then(|| "perhaps not by this agent".to_owned());
        shown.push(ActPath { path, what: PathFate::Commit, why, ticked });
    }
    let count = shown.iter().filter(|path| path.ticked).count();
    let on = scene.head().branch.clone().unwrap_or_else(|| "no branch".to_owned());
    let mut notes = Vec::new();
    if scene.head().branch.is_none() {
        notes.push(
            "No branch is checked out: the commit is on none, and git may remove it later.".into(),
        );
    }
    if scene.head().commit.is_none() {
        notes.push(format!("This is the first commit of {on}."));
    }
    if is_merge {
        notes.push(
            "This completes the merge that is under way, so all files are part of it.".into(),
        );
    }
    let hooks = repository.commit_hooks().await?;
    if !hooks.is_empty() {
        notes.push(format!("These hooks run: {}.", hooks.join(", ")));
    }
    let deed = if paths.is_empty() && !is_merge {
        Err(refused("There is nothing to commit."))
    } else if message.trim().is_empty() {
        Err(refused("Write a message for the commit."))
    } else {
        Ok(Deed::Commit {
            root: scene.root(),
            head: scene.head().commit.clone(),
            made: None,
            message: Some(message.to_owned()),
            branch: scene.head().branch.clone(),
        })
    };
    let preview = Preview {
        summary: format!("Committed {} on {on}.", counted(count)),
        paths: shown,
        notes,
        can_undo: true,
        ..Preview::default()
    };
    let head = scene.head().commit.clone().unwrap_or_default();
    let world = ["commit", &on, &head, scene.now.tree.as_str(), &hooks.join(" ")];
    let mut plan = Plan::new(preview, vec![scene.root()], deed, &world);
    plan.extra = Extra { paths, ..Extra::default() };
    Ok(plan)
}

pub async fn plan_uncommit(
    scene: &Scene,
    commit: String,
    parent: Option<String>,
    branch: Option<String>,
) -> Result<Plan, Failure> {
    let repository = scene.repository();
    if let Some(branch) = branch.filter(|branch| scene.head().branch.as_ref() != Some(branch)) {
        return Err(refused(format!(
            "The commit is on {branch}, which isn't checked out now. Check it out first."
        )));
    }
    if scene.head().commit.as_ref() != Some(&commit) {
        return Err(refused(
            "There have been other commits since, so this one can't be undone here.",
        ));
    }
    if repository.is_pushed(&commit).await? {
        return Err(refused("This commit was pushed, so it can't be undone here."));
    }
    let summary = "Undid the commit. Its files are as they were, uncommitted.".to_owned();
    let preview = Preview { summary, ..Preview::default() };
    let branch = scene.head().branch.clone().unwrap_or_default();
    let world = ["uncommit".to_owned(), branch, commit.clone()];
    let deed = Deed::Uncommit { root: scene.root(), commit, parent };
    Ok(Plan::new(preview, vec![scene.root()], Ok(deed), &world.each_ref().map(String::as_str)))
}
