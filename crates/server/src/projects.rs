//! The directories the user works in, in the order they were added.
//!
//! Knows paths and `projects.json` but not sessions: removing a project does not touch its sessions.

mod complete;
mod path;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use liminal_contract::{Details, ErrorCode, Project, ProjectId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::failure::Failure;
use crate::store::{Document, JsonFile, StoreError};

pub use complete::completions;
pub use path::{ProjectPath, RefusedPath, home};

#[derive(Debug)]
pub struct Projects(JsonFile<ProjectsFile>);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProjectsFile {
    projects: Vec<Project>,
    /// Kept, so that adding the directory again restores the same id and its sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Project>,
    /// The command that is run in each new worktree of a project.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    setup: BTreeMap<ProjectId, String>,
}

impl Document for ProjectsFile {
    const FILE: &'static str = "projects.json";
    const LIST: &'static str = "projects";
}

/// Why a project was not added, found or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    #[error("Project path is invalid or inaccessible. {0}")]
    Path(#[from] RefusedPath),
    #[error("Project already exists.")]
    Duplicate { existing: Project },
    #[error(
        "Project not found. It may have been removed in another window; add its directory again to bring it back."
    )]
    NotFound,
    #[error("No project has the directory {path}. {reason}")]
    NotAt {
        /// As it was given.
        path: String,
        /// A sentence with the next step.
        reason: String,
    },
    /// The project exists, its directory doesn't.
    #[error(
        "The project's directory {path} no longer exists or can't be read. Restore it, then try again."
    )]
    Gone { path: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        let message = error.to_string();
        match error {
            ProjectError::Path(refused) => Self::new(ErrorCode::ProjectPathInvalid, message)
                .with_details(Details { path: Some(refused.path), ..Details::default() }),
            ProjectError::Gone { path } => Self::new(ErrorCode::ProjectPathInvalid, message)
                .with_details(Details { path: Some(path), ..Details::default() }),
            ProjectError::Duplicate { existing } => Self::new(ErrorCode::ProjectDuplicate, message)
                .with_details(Details { path: Some(existing.path), ..Details::default() }),
            ProjectError::NotFound => Self::new(ErrorCode::ProjectNotFound, message),
            ProjectError::NotAt { path, .. } => Self::new(ErrorCode::ProjectNotFound, message)
                .with_details(Details { path: Some(path), ..Details::default() }),
            ProjectError::Store(error) => error.into(),
        }
    }
}

impl Projects {
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// Shows all projects, in the order added. No change is reported while `look` runs.
    pub fn look<T>(&self, look: impl FnOnce(&[Project]) -> T) -> Result<T, StoreError> {
        self.0.look(|file| look(&file.projects))
    }

    pub fn get(&self, id: &ProjectId) -> Result<Project, ProjectError> {
        let found =
            self.0.look(|file| file.projects.iter().find(|project| project.id == *id).cloned())?;
        found.ok_or(ProjectError::NotFound)
    }

    /// The same, but fails when its directory is gone.
    pub async fn workable(&self, id: &ProjectId) -> Result<Project, ProjectError> {
        let project = self.get(id)?;
        let path = project.path.clone();
        let is_there = tokio::task::spawn_blocking(move || Path::new(&path).is_dir()).await;
        match is_there {
            Ok(true) => Ok(project),
            Ok(false) | Err(_) => Err(ProjectError::Gone { path: project.path }),
        }
    }

    /// The command that is run in each new worktree of a project.
    pub fn setup(&self, id: &ProjectId) -> Option<String> {
        self.0.look(|file| file.setup.get(id).cloned()).ok().flatten()
    }

    /// Sets that command; an empty one means none. Waits until it is on disk.
    pub async fn set_setup(&self, id: ProjectId, command: String) -> Result<(), ProjectError> {
        let change = move |file: &mut ProjectsFile| {
            if command.is_empty() {
                file.setup.remove(&id);
            } else {
                file.setup.insert(id, command);
            }
            Ok(())
        };
        self.0.change(change, |()| {}).await
    }

    /// Makes the directory a project. `tell` runs once it is on disk, in order with other changes.
    pub async fn add(
        &self,
        path: ProjectPath,
        tell: impl FnOnce(&Project) + Send + 'static,
    ) -> Result<Project, ProjectError> {
        let now = Timestamp::from(SystemTime::now());
        self.0.change(move |file| file.add(&path, now), tell).await
    }

    /// Removes the project. `tell` runs once that is on disk, in order with other changes.
    pub async fn remove(
        &self,
        id: ProjectId,
        tell: impl FnOnce(&ProjectId) + Send + 'static,
    ) -> Result<ProjectId, ProjectError> {
        self.0.change(move |file| file.remove(id), tell).await
    }
}

impl ProjectsFile {
    fn add(&mut self, path: &ProjectPath, now: Timestamp) -> Result<Project, ProjectError> {
        if let Some(existing) = self.projects.iter().find(|project| project.path == path.as_str()) {
            return Err(ProjectError::Duplicate { existing: existing.clone() });
        }
        let known = self.removed.iter().position(|project| project.path == path.as_str());
        let id = match known {
            Some(at) => self.removed.remove(at).id,
            None => ProjectId::new(Uuid::new_v4().to_string()),
        };
        let project = Project {
            id,
            path: path.as_str().to_owned(),
            name: path.name().to_owned(),
            added_at: now,
        };
        self.projects.push(project.clone());
        Ok(project)
    }

    fn remove(&mut self, id: ProjectId) -> Result<ProjectId, ProjectError> {
        let at = self
            .projects
            .iter()
            .position(|project| project.id == id)
            .ok_or(ProjectError::NotFound)?;
        self.removed.push(self.projects.remove(at));
        Ok(id)
    }
}
