//! Worktrees: checkouts that sessions have to themselves.
//!
//! They are beside the data directory, not in it, so that deleting the data directory loses no work. A worktree is
//! made once and belongs to one session. `setup` runs the command that prepares a new one; `discarded` has those that
//! users threw away.

mod discarded;
mod setup;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use liminal_agents::process::GuardCommand;
use liminal_contract::{ErrorCode, Project, ServerMessage, Worktree};
use liminal_git::{Bases, GitError, Repository};
use tokio::sync::Mutex;

use crate::failure::Failure;

/// Branches of ours.
const PREFIX: &str = "liminal/";
/// In characters.
const LONGEST_NAME: usize = 60;

pub use discarded::{About, Discarded};
pub use setup::Ended;

pub struct Workspaces {
    directory: PathBuf,
    /// Ends setup commands.
    guard: GuardCommand,
    /// Two worktrees that are made at the same time need two names.
    making: Mutex<()>,
}

/// What the user wants a worktree to be.
pub struct Wanted {
    pub base: Option<String>,
    pub name: Option<String>,
    /// Whether to copy what is not committed.
    pub bring: bool,
    /// Absent: the project's; empty: none.
    pub setup: Option<String>,
}

impl Workspaces {
    pub fn beside(data_dir: &Path, guard: GuardCommand) -> Self {
        Self { directory: directory(data_dir), guard, making: Mutex::default() }
    }

    /// What a worktree can be made from. `setup` is the project's.
    pub async fn offer(
        &self,
        project: Project,
        setup: Option<String>,
    ) -> Result<ServerMessage, Failure> {
        let repository = Repository::at(Path::new(&project.path)).await?;
        let Bases { current, branches, uncommitted } = repository.bases().await?;
        let project_id = project.id;
        Ok(ServerMessage::WorkspaceOffer { project_id, current, branches, uncommitted, setup })
    }

    /// Makes a worktree. If that fails, nothing of it is left.
    pub async fn make(&self, project: &Project, wanted: Wanted) -> Result<Worktree, Failure> {
        let _one_at_a_time = self.making.lock().await;
        let repository = Repository::at(Path::new(&project.path)).await?;
        let current = repository.branch().await?;
        if let Some(asked) = &wanted.base {
            check_branch(&repository, asked).await?;
        }
        let is_current = wanted.base.is_none() || wanted.base == current;
        if wanted.bring && !is_current {
            let what = "Uncommitted files can only be brought along from the current branch.";
            return Err(Failure::invalid(what));
        }
        let (path, branch) = self.free(&repository, project, wanted.name.as_deref()).await?;
        let base = wanted.base.or(current);
        if let Err(error) = repository.add_worktree(&path, &branch, base.as_deref()).await {
            let _not_empty = std::fs::remove_dir(&path);
            return Err(error.into());
        }
        let filled = async {
            if wanted.bring {
                repository.bring_uncommitted(&path).await?;
            }
            repository.include_ignored(&path).await
        };
        let below = below(&repository, project);
        let worktree = Worktree { path: path.to_string_lossy().into_owned(), branch, base, below };
        let filled = filled.await;
        self.complete(project, worktree, filled).await
    }

    /// Makes a worktree beside another one, with this commit checked out. If that fails, nothing of it is left.
    pub async fn make_like(
        &self,
        project: &Project,
        other: &Worktree,
        commit: &str,
    ) -> Result<Worktree, Failure> {
        let _one_at_a_time = self.making.lock().await;
        let repository = Repository::at(Path::new(&project.path)).await?;
        let name = other.branch.strip_prefix(PREFIX);
        let (path, branch) = self.free(&repository, project, name).await?;
        if let Err(error) = repository.add_worktree(&path, &branch, Some(commit)).await {
            let _not_empty = std::fs::remove_dir(&path);
            return Err(error.into());
        }
        let path_name = path.to_string_lossy().into_owned();
        let worktree = Worktree { path: path_name, branch, ..other.clone() };
        let filled = repository.include_ignored(&path).await;
        self.complete(project, worktree, filled).await
    }

    /// The worktree, once it was filled and has the session's directory. If either failed, it is removed again.
    async fn complete(
        &self,
        project: &Project,
        worktree: Worktree,
        filled: Result<(), GitError>,
    ) -> Result<Worktree, Failure> {
        let complete = filled.map_err(Failure::from).and_then(|()| make_place(&worktree));
        match complete {
            Ok(()) => Ok(worktree),
            Err(failure) => {
                remove(project, &worktree).await;
                Err(failure)
            }
        }
    }

    /// Makes a worktree again whose directory vanished.
    pub async fn renew(&self, project: &Project, worktree: &Worktree) -> Result<(), Failure> {
        let path = Path::new(&worktree.path);
        if path.exists() {
            let what = format!("{} exists. Move it away first.", worktree.path);
            return Err(Failure::new(ErrorCode::ActRefused, what));
        }
        let repository = Repository::at(Path::new(&project.path)).await?;
        if let Some(below) = path.parent() {
            make_private(below).map_err(|error| unwritable(below, &error))?;
        }
        repository.renew_worktree(path, &worktree.branch, worktree.base.as_deref()).await?;
        repository.include_ignored(path).await?;
        make_place(worktree)
    }

    /// Removes a worktree that was just made, and its branch: no session got to work there.
    pub async fn unmake(&self, project: &Project, worktree: &Worktree) {
        // git fails on another one that is only there in part.
        let _one_at_a_time = self.making.lock().await;
        remove(project, worktree).await;
    }

    /// The branch that worktrees are made from, if there is one: `asked`, or the current one.
    pub async fn base(
        &self,
        project: &Project,
        asked: Option<String>,
    ) -> Result<Option<String>, Failure> {
        let repository = Repository::at(Path::new(&project.path)).await?;
        let Some(asked) = asked else { return Ok(repository.branch().await?) };
        check_branch(&repository, &asked).await?;
        Ok(Some(asked))
    }

    /// A directory, which is made so that nobody else takes it, and a branch that doesn't exist yet.
    async fn free(
        &self,
        repository: &Repository,
        project: &Project,
        name: Option<&str>,
    ) -> Result<(PathBuf, String), Failure> {
        let random = uuid::Uuid::new_v4().simple().to_string();
        let name = name.map(slug).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("work-{}", &random[..6]));
        let project = Some(slug(&project.name)).filter(|name| !name.is_empty());
        let below = self.directory.join(project.as_deref().unwrap_or("project"));
        make_private(&below).map_err(|error| unwritable(&below, &error))?;
        for n in 1_u32.. {
            let name = if n == 1 { name.clone() } else { format!("{name}-{n}") };
            let (path, branch) = (below.join(&name), format!("{PREFIX}{name}"));
            if repository.has_branch(&branch).await? {
                continue;
            }
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok((path, branch)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&path, &error)),
            }
        }
        Err(Failure::unexpected())
    }
}

/// Removes a worktree and its branch.
async fn remove(project: &Project, worktree: &Worktree) {
    let removed = async {
        let repository = Repository::at(Path::new(&project.path)).await?;
        repository.discard_worktree(Path::new(&worktree.path), &worktree.branch).await
    };
    if let Err(error) = removed.await {
        tracing::warn!(path = worktree.path, %error, "a worktree could not be removed");
    }
}

/// It may have been deleted since it was offered.
async fn check_branch(repository: &Repository, name: &str) -> Result<(), Failure> {
    if repository.has_branch(name).await? {
        return Ok(());
    }
    let what = format!("There is no branch {name}. Choose another to start from.");
    Err(Failure::new(ErrorCode::ActRefused, what))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("{} could not be created: {error}", path.display());
    Failure::new(ErrorCode::GitFailed, what)
}

/// Makes a directory and those above it, for us alone, as the data directory is: a worktree has what the project has,
/// and perhaps nobody else may read that.
fn make_private(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The project's directory may have no file that git knows.
fn make_place(worktree: &Worktree) -> Result<(), Failure> {
    let place = worktree.directory();
    std::fs::create_dir_all(&place).map_err(|error| unwritable(&place, &error))
}

/// The project's directory, from the repository's topmost one.
fn below(repository: &Repository, project: &Project) -> Option<String> {
    let below = Path::new(&project.path).strip_prefix(repository.root()).ok()?.to_str()?;
    (!below.is_empty()).then(|| below.to_owned())
}

/// Every worktree that exists, whether or not its session does.
pub fn existing(data_dir: &Path) -> Vec<PathBuf> {
    let inside = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        shown.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let mut found: Vec<_> =
        inside(&directory(data_dir)).iter().flat_map(|project| inside(project)).collect();
    found.sort();
    found
}

fn directory(data_dir: &Path) -> PathBuf {
    PathBuf::from(format!("{}-worktrees", data_dir.display()))
}

/// Lower-case letters, digits and hyphens: a directory and a branch can have it as a name.
fn slug(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        'a'..='z' | '0'..='9' => letter,
        'A'..='Z' => letter.to_ascii_lowercase(),
        _ => '-',
    });
    let joined: String = letters.take(LONGEST_NAME).collect();
    joined.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_name_becomes_one_that_a_branch_can_have() {
        assert_eq!(slug("Fix the login/loop!"), "fix-the-login-loop");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("--force"), "force");
        assert_eq!(slug("äöü"), "");
    }
}
