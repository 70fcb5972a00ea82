//! Which directory a session belongs to: a project's own, one below it, or a worktree of its repository.
//!
//! Reads what git writes in `.git`, and runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories with what they belong to. The closest one that contains a path owns it.
#[derive(Debug)]
pub struct Owners<T> {
    /// The longest first.
    roots: Vec<(PathBuf, T)>,
}

impl<T: Clone> Owners<T> {
    /// From each project's directory. Blocks.
    pub fn new(projects: impl IntoIterator<Item = (PathBuf, T)>) -> Self {
        let with_worktrees = |(directory, owner): (PathBuf, T)| {
            let mut roots: Vec<_> =
                worktrees_of(&directory).into_iter().map(|root| (root, owner.clone())).collect();
            roots.push((directory, owner));
            roots
        };
        let mut roots: Vec<_> = projects.into_iter().flat_map(with_worktrees).collect();
        roots.sort_by_key(|(root, _)| std::cmp::Reverse(root.components().count()));
        Self { roots }
    }

    pub fn of(&self, path: &Path) -> Option<&T> {
        self.roots.iter().find(|(root, _)| path.starts_with(root)).map(|(_, owner)| owner)
    }
}

/// The directory to offer for a session that worked here: its repository's, if it is in one; for a worktree that of the
/// repository it was made from.
pub fn root_of(directory: &Path) -> PathBuf {
    let Some(top) = directory.ancestors().find(|path| path.join(".git").exists()) else {
        return directory.to_owned();
    };
    // In a worktree `.git` is a file that names `<repository>/.git/worktrees/<name>`.
    let main = git_dir(top).and_then(|git_dir| {
        let worktrees = git_dir.parent().filter(|parent| parent.ends_with(".git/worktrees"))?;
        Some(worktrees.parent()?.parent()?.to_owned())
    });
    main.unwrap_or_else(|| top.to_owned())
}

/// Where a project's worktrees have what the project has.
fn worktrees_of(project: &Path) -> Vec<PathBuf> {
    let Some(top) = project.ancestors().find(|path| path.join(".git").is_dir()) else {
        return Vec::new();
    };
    let inside = project.strip_prefix(top).unwrap_or(Path::new(""));
    let kept = fs::read_dir(top.join(".git/worktrees")).into_iter().flatten();
    kept.filter_map(Result::ok)
        .filter_map(|worktree| fs::read_to_string(worktree.path().join("gitdir")).ok())
        .filter_map(|git_file| Some(Path::new(git_file.trim_end()).parent()?.join(inside)))
        .collect()
}

/// What the file `.git` of a worktree names.
fn git_dir(top: &Path) -> Option<PathBuf> {
    let about = fs::symlink_metadata(top.join(".git")).ok()?;
    if !about.is_file() || about.len() > 4096 {
        return None;
    }
    let named = fs::read_to_string(top.join(".git")).ok()?;
    Some(top.join(named.strip_prefix("gitdir:")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with a worktree beside it, as git lays them out.
    fn repository() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let (shop, beside) = (home.path().join("shop"), home.path().join("shop-fix"));
        let kept = shop.join(".git/worktrees/fix");
        fs::create_dir_all(&kept).unwrap();
        fs::create_dir_all(shop.join("api/src")).unwrap();
        fs::create_dir_all(beside.join("api")).unwrap();
        fs::write(kept.join("gitdir"), format!("{}\n", beside.join(".git").display())).unwrap();
        fs::write(beside.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
        (home, shop, beside)
    }

    #[test]
    fn the_closest_project_owns_what_is_below_it_and_in_its_worktrees() {
        let (home, shop, beside) = repository();
        let api = shop.join("api");
        let owners = Owners::new([
            (home.path().to_owned(), "home"),
            (shop.clone(), "shop"),
            (api.clone(), "api"),
        ]);
        let of = |path: &Path| owners.of(path).copied();
        assert_eq!(of(&shop), Some("shop"));
        assert_eq!(of(&shop.join("web/src")), Some("shop"));
        assert_eq!(of(&api.join("src")), Some("api"));
        assert_eq!(of(&beside.join("web")), Some("shop"));
        assert_eq!(of(&beside.join("api")), Some("api"));
        assert_eq!(of(&home.path().join("shopping")), Some("home"));
        assert_eq!(of(Path::new("/")), None);
    }

    #[test]
    fn a_directory_is_offered_as_its_repository() {
        let (home, shop, beside) = repository();
        assert_eq!(root_of(&shop.join("api/src")), shop);
        assert_eq!(root_of(&beside.join("api")), shop);
        let alone = home.path().join("alone/deep");
        assert_eq!(root_of(&alone), alone);
        // A submodule's `.git` is a file too, but it is a repository of its own.
        let module = shop.join("module");
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(root_of(&module), module);
    }
}
