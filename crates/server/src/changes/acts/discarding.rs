//! Discarding a session's worktree, which keeps it whole for a while, and bringing it back.

use std::path::Path;
use std::time::SystemTime;

use liminal_contract::{ActPath, BranchFate, DiscardedWorkspace, PathFate, SessionId, Timestamp};
use liminal_git::{PutAway, Repository};

use super::deed::Deed;
use super::{ActPlace, Plan, Preview, Scene, counted, refused};
use crate::changes::Changes;
use crate::failure::Failure;
use crate::workspaces::{About, Discarded};

/// Whose worktree it is, for the list of those that can be brought back.
#[derive(Debug, Clone)]
pub struct Owner {
    pub session: SessionId,
    pub title: String,
    /// The title, or as much of the first message as a commit's subject may have.
    pub task: String,
    /// The title is not only the usual one.
    pub is_named: bool,
    pub project: liminal_contract::Project,
    /// The titles of other sessions that work there.
    pub others: Vec<String>,
}

impl Changes {
    pub(super) async fn plan_discard(
        &self,
        scene: &Scene,
        place: &ActPlace,
        fate: BranchFate,
    ) -> Result<Plan, Failure> {
        let repository = scene.repository();
        let (Some(worktree), Some(owner)) = (&place.worktree, &place.owner) else {
            return Err(refused(
                "This session works in the project itself, so there is nothing to discard.",
            ));
        };
        let saved = uuid::Uuid::now_v7().to_string();
        let store = self.discarded.store(&saved);
        let Some(away) = repository.put_away(&store).await? else {
            let what = format!("{} is not a worktree of its repository.", worktree.path);
            return Err(refused(what));
        };
        if let Some(reason) = away.lock() {
            let words = "This worktree is locked, so it stays";
            return Err(refused(match reason.trim() {
                "" => format!("{words}. `git worktree unlock` unlocks it."),
                reason => format!("{words}: {reason}. `git worktree unlock` unlocks it."),
            }));
        }
        let branch = &worktree.branch;
        let head = scene.head().commit.clone();
        let tip = repository.tip(branch).await?.or(head).ok_or_else(|| {
            refused(format!("{branch} has no commit, so it can't be discarded here."))
        })?;
        let now = SystemTime::now();
        let shown = DiscardedWorkspace {
            saved,
            session_id: owner.session.clone(),
            project_id: owner.project.id.clone(),
            project: owner.project.name.clone(),
            title: owner.title.clone(),
            path: away.path.to_string_lossy().into_owned(),
            branch: branch.clone(),
            at: Timestamp::from(now),
            until: Discarded::until(now),
        };
        let until = day(shown.until);
        let changes = repository.uncommitted().await?;
        let count = changes.files.len() + changes.more;
        let saves = |path: String| ActPath { path, what: PathFate::Save, why: None, ticked: true };
        let mut preview = Preview {
            summary: format!("Discarded the worktree of {branch}. It is kept until {until}."),
            paths: changes.files.iter().map(|file| saves(file.path.to_string())).collect(),
            notes: vec![format!(
                "Everything in it is kept until {until}, ignored files too. Until then Settings \
                 can bring it back."
            )],
            can_undo: true,
            ..Preview::default()
        };
        if count > 0 {
            preview
                .notes
                .push(format!("{} not committed; kept with the worktree.", counted(count)));
        }
        let branch_goes = match fate {
            BranchFate::Keep => {
                preview.notes.push(format!("The branch {branch} stays, with its commits."));
                None
            }
            BranchFate::Remove => {
                let elsewhere =
                    repository.checkouts().await?.into_iter().find(|each| {
                        each.branch.as_ref() == Some(branch) && each.path != away.path
                    });
                if let Some(elsewhere) = elsewhere {
                    let at = elsewhere.path.display();
                    return Err(refused(format!(
                        "{branch} is also checked out in {at}. Keep the branch, or check out another one there."
                    )));
                }
                preview.notes.push(format!(
                    "The branch {branch} is deleted too. Bringing the worktree back restores it."
                ));
                Some((branch.clone(), tip.clone()))
            }
        };
        if !owner.others.is_empty() {
            let others = super::named(owner.others.iter().map(|title| format!("“{title}”")));
            preview.notes.push(format!("These sessions work there too: {others}."));
        }
        let about = About {
            shown,
            common: away.common.clone(),
            private: away.private.clone(),
            tip: tip.clone(),
        };
        let head = scene.head().commit.clone().unwrap_or_default();
        let staged = repository.staged().await?;
        let world = ["discard", branch, &tip, &head, scene.now.tree.as_str(), staged.as_str()];
        let deed = Deed::Discard { about, store, branch: branch_goes };
        Ok(Plan::new(preview, vec![scene.root()], Ok(deed), &world))
    }

    pub(super) async fn plan_bring_back(&self, saved: &str) -> Result<Plan, Failure> {
        let about = self.discarded.find(saved).await?;
        let store = self.discarded.store(saved);
        let away = about.put_away(&store);
        let path = &about.shown.path;
        if away.path.symlink_metadata().is_ok() {
            return Err(refused(format!("{path} exists. Move it away first.")));
        }
        let branch = self.branch_for(&about, &away).await?;
        let private = away.free_private();
        let mut preview = Preview {
            summary: format!("Brought the worktree back to {path}, on {branch}."),
            notes: vec![format!("The worktree comes back to {path}, with all that was in it.")],
            ..Preview::default()
        };
        if branch != about.shown.branch {
            preview.notes.push(format!(
                "{} has other commits by now, so it comes back on a new branch, {branch}.",
                about.shown.branch
            ));
        }
        let world = ["bring-back", saved, &branch, &private.to_string_lossy()];
        let roots = vec![away.path.clone()];
        let deed = Deed::BringBack {
            about: About { private: private.clone(), ..about },
            store,
            branch: branch.clone(),
        };
        Ok(Plan::new(preview, roots, Ok(deed), &world))
    }

    /// Its own branch if that is where it was and nobody has it checked out, else a new one.
    async fn branch_for(&self, about: &About, away: &PutAway) -> Result<String, Failure> {
        let branch = &about.shown.branch;
        let tip = away.tip(&format!("refs/heads/{branch}")).await?;
        let is_free = match tip {
            None => true,
            Some(tip) if tip == about.tip => {
                let checkouts = Repository::checkouts_of(&about.common).await?;
                checkouts.iter().all(|each| each.branch.as_ref() != Some(branch))
            }
            Some(_) => false,
        };
        if is_free {
            return Ok(branch.clone());
        }
        for n in 2_u32.. {
            let name = format!("{branch}-{n}");
            if away.tip(&format!("refs/heads/{name}")).await?.is_none() {
                return Ok(name);
            }
        }
        Err(Failure::unexpected())
    }
}

/// Puts a worktree away. Can be repeated.
pub async fn discard(
    about: &About,
    store: &Path,
    branch: Option<&(String, String)>,
) -> Result<(), Failure> {
    let away = about.put_away(store);
    if !away.is_away() {
        let held = Repository::at(&away.path).await?.hold(&about.tip).await?;
        about.write(store).map_err(|error| refused(format!("Nothing was discarded: {error}.")))?;
        away.set_ref(&about.held(), &held).await?;
    }
    away.carry_out().await?;
    if let Some((branch, tip)) = branch {
        // One that has moved on meanwhile stays.
        let _it_is_kept = away.remove_ref(&format!("refs/heads/{branch}"), Some(tip)).await;
    }
    Ok(())
}

/// As if nothing had been discarded.
pub async fn keep(
    about: &About,
    store: &Path,
    branch: Option<&(String, String)>,
) -> Result<(), Failure> {
    let away = about.put_away(store);
    if let Some((branch, tip)) = branch {
        away.make_branch(branch, tip).await?;
    }
    away.bring_back().await?;
    done_with(&away, &about.held()).await;
    Ok(())
}

/// Brings a worktree back. Can be repeated.
pub async fn bring_back(about: &About, store: &Path, branch: &str) -> Result<(), Failure> {
    let away = about.put_away(store);
    away.make_branch(branch, &about.tip).await?;
    if branch != about.shown.branch {
        away.check_out(branch, &about.shown.branch).await?;
    }
    away.bring_back().await?;
    done_with(&away, &about.held()).await;
    Ok(())
}

/// Takes back what was brought back in part.
pub async fn stay_away(about: &About, store: &Path) -> Result<(), Failure> {
    Ok(about.put_away(store).stay_away().await?)
}

/// The worktree is where it belongs, so nothing depends on this any more.
async fn done_with(away: &PutAway, held: &str) {
    if away.is_away() {
        return;
    }
    for done in [away.forget().await, away.remove_ref(held, None).await] {
        if let Err(error) = done {
            tracing::warn!(%error, "what is left of a discarded worktree was not removed");
        }
    }
}

/// "2026-12-17".
fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}
