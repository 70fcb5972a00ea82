//! Pull requests: the worktree's branch is pushed, and `gh` opens the request.

use liminal_git::has_gh;

use super::deed::Deed;
use super::landing::{Sides, sides};
use super::proposing::{proposed, words_of};
use super::{ActPlace, Plan, Preview, Scene, counted, refused};
use crate::failure::Failure;

pub async fn plan(
    scene: &Scene,
    place: &ActPlace,
    title: &str,
    body: &str,
) -> Result<Plan, Failure> {
    let repository = scene.repository();
    let Sides { branch, tip, base, base_tip, .. } = sides(scene, place).await?;
    let subjects = repository.subjects(&base_tip, &tip).await?;
    if tip == base_tip || repository.is_ancestor(&tip, &base_tip).await? {
        return Err(refused(format!("{base} has everything that {branch} has.")));
    }
    let Some(remote) = repository.remote(&base).await? else {
        return Err(refused(
            "This repository has no remote to push to. Add one with `git remote add`.",
        ));
    };
    let named = place.owner.as_ref().filter(|owner| owner.is_named);
    let title_of = named.map_or_else(|| words_of(&branch), |owner| owner.task.clone());
    let mut preview = Preview {
        summary: format!("Opened a pull request for {branch}."),
        message: Some(proposed(&title_of, &subjects)),
        notes: vec![format!(
            "{branch} will be pushed to {remote}, with a pull request into {base}."
        )],
        ..Preview::default()
    };
    let uncommitted = repository.uncommitted().await?;
    let count = uncommitted.files.len() + uncommitted.more;
    if count > 0 {
        preview.notes.push(format!("{} not committed, so not part of it.", counted(count)));
    }
    let hooks = repository.push_hooks().await?;
    if !hooks.is_empty() {
        preview.notes.push(format!("These hooks run: {}.", hooks.join(", ")));
    }
    let deed = if has_gh() {
        Ok(Deed::PullRequest {
            root: scene.root(),
            remote: remote.clone(),
            branch: branch.clone(),
            base: base.clone(),
            title: title.trim().to_owned(),
            body: body.trim().to_owned(),
            link: None,
        })
    } else {
        let at = quoted(&scene.root().to_string_lossy());
        let (to, what) = (quoted(&remote), quoted(&branch));
        preview.command = Some(format!("git -C {at} push --set-upstream {to} {what}"));
        Err(refused("gh is not installed. Push the branch, then open the pull request yourself."))
    };
    let world = ["pull-request", &branch, &tip, &base, &remote, &hooks.join(" ")];
    Ok(Plan::new(preview, vec![scene.root()], deed, &world))
}

/// As a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_only_subject_or_the_session_with_all_of_them() {
        let subjects = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(proposed("Fix it", &subjects(&["Mend the loop"])), "Mend the loop");
        let both = proposed("Fix it", &subjects(&["second", "first"]));
        assert_eq!(both, "Fix it\n\n- first\n- second");
    }

    #[test]
    fn a_command_to_copy_is_one_command_whatever_the_directory_is_called() {
        assert_eq!(quoted("/home/ada/work"), "/home/ada/work");
        assert_eq!(quoted("it's; rm -r"), r"'it'\''s; rm -r'");
    }
}
